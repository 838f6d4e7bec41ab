package server

import (
	"maps"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/trimtab/trimtab/internal/catalogue"
	"github.com/trimtab/trimtab/internal/finding"
	"github.com/trimtab/trimtab/internal/setting"
	"github.com/trimtab/trimtab/internal/stream"
)

// maxDepth bounds the search for pod specs; real objects stay below ten.
const maxDepth = 40

// podTemplateServers finds pod specs by their structure, a mapping with a list
// of containers, anywhere in the object.
func podTemplateServers(item *stream.Item, root *yaml.Node, object finding.Object) []*Server {
	var servers []*Server
	labels := stringMap(at(root, "metadata", "labels"))
	annotations := stringMap(at(root, "metadata", "annotations"))
	onePod := onePodKinds[object.Kind]
	walkPodSpecs(root, nil, 0, func(podSpec *yaml.Node, path setting.Path) {
		annotations := withTemplate(annotations, stringMap(at(Lookup(root, podSpecParent(path)), "metadata", "annotations")))
		containers := at(podSpec, "containers")
		for i, container := range containers.Content {
			server := containerServer(podSpec, at(Lookup(root, podSpecParent(path)), "metadata", "labels"), resolve(container), path.Join("containers", i))
			if server == nil {
				continue
			}
			server.Item, server.Object, server.OnePod = item, object, onePod
			server.Labels, server.Annotations = labels, annotations
			servers = append(servers, server)
		}
	})
	return servers
}

// podSpecParent is the path of the template, or of the Pod, that holds a pod
// spec and its metadata.
func podSpecParent(path setting.Path) setting.Path {
	if len(path) == 0 {
		return path
	}
	return path[:len(path)-1]
}

// withTemplate adds what a pod template's annotations say to those of the
// object, which win.
func withTemplate(object, template map[string]string) map[string]string {
	both := maps.Clone(template)
	maps.Copy(both, object)
	return both
}

// onePodKinds run a server whole in each pod; in other kinds several pods can
// form one server.
var onePodKinds = map[string]bool{"Deployment": true, "Pod": true, "ReplicaSet": true, "DaemonSet": true}

func walkPodSpecs(node *yaml.Node, path setting.Path, depth int, visit func(*yaml.Node, setting.Path)) {
	if node == nil || depth > maxDepth {
		return
	}
	switch node.Kind {
	case yaml.MappingNode:
		if containers := at(node, "containers"); containers != nil && containers.Kind == yaml.SequenceNode {
			visit(node, path)
		}
		for i := 0; i+1 < len(node.Content); i += 2 {
			walkPodSpecs(node.Content[i+1], path.Join(node.Content[i].Value), depth+1, visit)
		}
	case yaml.SequenceNode:
		for i, element := range node.Content {
			walkPodSpecs(element, path.Join(i), depth+1, visit)
		}
	}
}

// containerServer reads one container; nil when it runs no engine.
func containerServer(podSpec, podLabels, container *yaml.Node, path setting.Path) *Server {
	command, ok := words(at(container, "command"), path.Join("command"))
	if !ok {
		return nil
	}
	args, ok := words(at(container, "args"), path.Join("args"))
	if !ok {
		return nil
	}
	image := text(at(container, "image"))
	started, found := findProgram(append(command[:len(command):len(command)], args...))
	if !found {
		if started, found = imageEntryPoint(image, command, args); !found {
			return nil
		}
	}
	return &Server{
		Container: text(at(container, "name")), Path: path,
		Engine: started.engine, Mode: started.mode,
		Image: image, ImagePath: path.Join("image"),
		Direct: known(started.direct), GPUs: containerGPUs(podSpec, container),
		Env: env(at(container, "env"), path.Join("env")), EnvPath: path.Join("env"), EnvFrom: !isNull(at(container, "envFrom")),
		Mounts:       mounts(at(podSpec, "volumes"), at(container, "volumeMounts")),
		Pod:          podOf(at(podSpec, "securityContext"), at(container, "securityContext"), at(podSpec, "nodeSelector"), at(podSpec, "tolerations"), podLabels),
		ServiceLinks: boolean(at(podSpec, "enableServiceLinks")),
		commandLine:  func(*int64) []setting.Word { return started.arguments },
	}
}

// imageEntryPoint: bare arguments to an official vLLM image go to the server it
// starts: the API server module, `vllm serve` in later releases, which takes no
// more than the module does. SGLang's images start nothing by themselves.
func imageEntryPoint(image string, command, args []setting.Word) (program, bool) {
	engine, official := catalogue.OfficialImage(image)
	if !official || engine != "vllm" || len(command) > 0 {
		return program{}, false
	}
	if len(args) > 0 && !strings.HasPrefix(args[0].Text, "-") && isShell(args[0].Text) {
		return program{}, false
	}
	return program{engine: engine, mode: "api", direct: true, arguments: args}, true
}

func isShell(word string) bool {
	switch word {
	case "sh", "bash", "/bin/sh", "/bin/bash", "/usr/bin/bash":
		return true
	}
	return false
}
