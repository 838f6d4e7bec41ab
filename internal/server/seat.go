package server

import (
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/trimtab/trimtab/internal/finding"
	"github.com/trimtab/trimtab/internal/setting"
	"github.com/trimtab/trimtab/internal/stream"
)

// seat is a place in an object where a container is described, with the pod
// around it as Kubernetes writes one.
type seat struct {
	item   *stream.Item
	object finding.Object
	// labels are the object's own, annotations those of object and pod template.
	labels, annotations map[string]string
	// onePod is true when a whole server runs in one pod.
	onePod bool
	path   setting.Path
	// container has the fields of a container; image may be a mapping with
	// repository and tag, env a mapping of names and values.
	container, podSpec, podLabels *yaml.Node
	// excluded is why the container does not count though it starts an engine;
	// empty where it counts.
	excluded string
	// hint is what a custom resource says about the program behind the arguments.
	hint hint
	// names are further names that may tell the engine of bare arguments.
	names []string
	// runtime writes words of its own before the container's.
	runtime *runtimeWords
	// card is the name of the devices, where the object asks for them by name.
	card string
	// claims are the resource claims of the input.
	claims claimIndex
	// noEnv is true where there is no list to add a variable to.
	noEnv bool
	// files are the ConfigMaps of the input.
	files configMaps
	// nodes is how many pods form one server, nil when the object does not say.
	nodes *int64
}

// hint is what an object says of a container whose command it does not write.
type hint struct {
	engine, mode string
	// operator writes the words before the container's own arguments.
	operator string
	before   []setting.Word
	// model is the source of the checkpoint, as the resource names it.
	model string
	// direct is whether the engine is started without a script in front.
	direct *bool
	// knows are the options of a wrapper around the engine.
	knows   []string
	wrapper *Wrapper
	// evaluated is true where a shell reads the container's arguments once more.
	evaluated bool
}

// at returns the seat of another container of the same object.
func (s seat) at(path setting.Path, container, podSpec, podLabels *yaml.Node) seat {
	s.path, s.container, s.podSpec, s.podLabels = path, resolve(container), podSpec, podLabels
	return s
}

// servers reads the container: a server for each engine that it runs, none with
// the reason when it runs none.
func (s seat) servers() ([]*Server, string) {
	command, ok := words(at(s.container, "command"), s.path.Join("command"))
	if !ok {
		return nil, "its command is no list of texts"
	}
	args, ok := words(at(s.container, "args"), s.path.Join("args"))
	if !ok {
		return nil, "its args are no list of texts"
	}
	if s.runtime != nil {
		command, args = s.runtime.join(command, args)
	}
	image := imageOf(at(s.container, "image"))
	variables, envPath := variablesOf(at(s.container, "env"), s.path.Join("env"))
	if s.noEnv {
		envPath = nil
	}
	programs, why := s.programs(image, command, args, variables)
	if why != "" {
		return nil, why
	}
	if s.excluded != "" {
		return nil, s.excluded
	}
	var list []*Server
	for _, started := range programs {
		list = append(list, s.server(image, started, envPath))
	}
	return list, ""
}

// server is one engine that the container runs.
func (s seat) server(image string, started program, envPath setting.Path) *Server {
	asked, onePod := s.gpus(), s.onePod && !started.clustered && !clustered(s.podSpec, s.container)
	model := s.hint.model
	if model == "" {
		model = started.checkpoint(started.variables)
	}
	return &Server{
		Item: s.item, Object: s.object, Container: text(at(s.container, "name")), Path: s.path,
		Engine: started.engine, Mode: started.mode,
		Image: image, ImagePath: s.path.Join("image"),
		Direct: started.direct, OnePod: onePod, Nodes: s.nodes, GPUs: asked,
		Env: started.variables, Reads: started.reads, EnvPath: envPath, EnvFrom: !isNull(at(s.container, "envFrom")),
		Mounts:      mounts(at(s.podSpec, "volumes"), at(s.container, "volumeMounts"), s.path.Join("volumeMounts")),
		Pod:         podOf(at(s.podSpec, "securityContext"), at(s.container, "securityContext"), at(s.podSpec, "nodeSelector"), at(s.podSpec, "tolerations"), s.podLabels),
		Node:        nodeLabels(s.podSpec),
		MemoryLimit: text(at(s.container, "resources", "limits", "memory")), MemoryRequest: text(at(s.container, "resources", "requests", "memory")),
		MemoryLimitPath: s.path.Join("resources", "limits", "memory"), MemoryRequestPath: s.path.Join("resources", "requests", "memory"),
		Ports:        portsOf(s.podSpec, s.container),
		Beside:       runsAlong(s.podSpec, s.container),
		Probes:       probesOf(s.container, s.path, func(kind ProbeKind) string { return string(kind) }),
		OwnShm:       image != "" && s.hint.operator == "" && keepsPods(s.object) && text(at(s.podSpec, "hostIPC")) != "true",
		ServiceLinks: boolean(at(s.podSpec, "enableServiceLinks")),
		Labels:       s.labels, Annotations: s.annotations,
		Operator: s.hint.operator, ModelSource: model, Knows: started.knows, Wrapper: started.wrapper,
		commandLine: func(*int64) []setting.Word { return started.arguments },
	}
}

// gpus are the devices the container asks for, by resources or by claims. A node
// that shares its devices in time hands over no whole ones.
func (s seat) gpus() GPUs {
	asked := containerGPUs(s.podSpec, s.container)
	if asked.Count == nil {
		if claimed := s.claims.gpus(s.podSpec, s.container, s.object.Namespace); claimed.Count != nil {
			asked = claimed
		}
	}
	if s.card != "" {
		asked.Card, asked.CardSource = s.card, s.path.String()
	}
	if strings.HasSuffix(nodeLabels(s.podSpec)["nvidia.com/gpu.product"], "-SHARED") {
		asked.Whole = known(false)
	}
	return asked
}

// seatsOf finds the containers of an object: pod specs by their structure, a
// mapping with a list of containers, and those of the places of its kind.
// Errors are those of decoding another item that the object points to.
func (in *input) seatsOf(item *stream.Item, root *yaml.Node, object finding.Object) ([]seat, error) {
	table, err := loadPlaces()
	if err != nil {
		return nil, err
	}
	claims, err := in.resourceClaims()
	if err != nil {
		return nil, err
	}
	base := seat{
		claims: claims, files: configMaps{in.items},
		item: item, object: object, onePod: onePodKinds[object.Kind],
		labels:      stringMap(at(root, "metadata", "labels")),
		annotations: stringMap(at(root, "metadata", "annotations")),
	}
	var seats []seat
	walkPodSpecs(root, nil, 0, func(podSpec *yaml.Node, path setting.Path) {
		template := Lookup(root, podSpecParent(path))
		pod := base
		pod.annotations = withTemplate(base.annotations, stringMap(at(template, "metadata", "annotations")))
		labels := at(template, "metadata", "labels")
		for _, list := range []string{"containers", "initContainers"} {
			containers := at(podSpec, list)
			if containers == nil || containers.Kind != yaml.SequenceNode {
				continue
			}
			for i, container := range containers.Content {
				one := pod.at(path.Join(list, i), container, podSpec, labels)
				if list == "initContainers" && text(at(one.container, "restartPolicy")) != "Always" {
					one.excluded = "an init container ends before the pod serves"
				}
				seats = append(seats, one)
			}
		}
	})
	seats = append(seats, table.placed(base, root)...)
	seats = append(seats, valuesSeats(base, root)...)
	seats = append(seats, raySeats(base, root)...)
	if strings.HasPrefix(object.APIVersion, kserveGroup) {
		switch object.Kind {
		case "InferenceService":
			models, err := kserveSeats(base, root, &in.runtimes)
			if err != nil {
				return nil, err
			}
			seats = append(seats, models...)
		case "LLMInferenceService", "LLMInferenceServiceConfig":
			seats = llmisvc{spec: at(root, "spec")}.complete(base, seats)
		}
	}
	table.settlePods(seats, root)
	return seats, nil
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
// object.
func withTemplate(object, template map[string]string) map[string]string {
	both := maps.Clone(template)
	maps.Copy(both, object)
	return both
}

// onePodKinds run a server whole in each pod; in other kinds several pods can
// form one server.
var onePodKinds = map[string]bool{"Deployment": true, "Pod": true, "ReplicaSet": true, "DaemonSet": true, "Rollout": true}

// keepsPods tells whether the pods of an object get the volumes that stand in it
// and no others. KubeRay and Dynamo mount a /dev/shm of their own, and a chart
// may.
//
// Source: ray-project/kuberay ray-operator/controllers/ray/common/pod.go,
// addEmptyDir of /dev/shm; ai-dynamo/dynamo deploy/operator
// internal/dynamo/graph.go, ApplySharedMemoryVolumeAndMount.
func keepsPods(object finding.Object) bool {
	group, version, grouped := strings.Cut(object.APIVersion, "/")
	if !grouped {
		return version == ""
	}
	if object.Kind == "RayClusterFleet" || object.Kind == "RayClusterReplicaSet" {
		return false
	}
	return slices.Contains([]string{
		"apps", "batch", "leaderworkerset.x-k8s.io", "jobset.x-k8s.io", "argoproj.io", "workloads.x-k8s.io",
		"orchestration.aibrix.ai", "workload.serving.volcano.sh", "serving.kserve.io",
	}, group)
}

// maxDepth bounds the search for pod specs; real objects stay below ten.
const maxDepth = 40

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

// imageOf is the reference of an image, written as one text or, as charts do,
// in parts: registry, repository (or name), tag and digest.
func imageOf(node *yaml.Node) string {
	if node == nil || node.Kind != yaml.MappingNode {
		return text(node)
	}
	reference := text(at(node, "repository"))
	if reference == "" {
		reference = text(at(node, "name"))
	}
	if registry := text(at(node, "registry")); registry != "" && reference != "" {
		reference = strings.TrimSuffix(registry, "/") + "/" + reference
	}
	if tag := text(at(node, "tag")); tag != "" {
		reference += ":" + tag
	}
	if digest := text(at(node, "digest")); digest != "" {
		reference += "@" + digest
	}
	return reference
}

// variablesOf reads a container's variables and tells where one can be added:
// nowhere in a mapping of names and values.
func variablesOf(node *yaml.Node, path setting.Path) ([]Variable, setting.Path) {
	if node == nil || node.Kind != yaml.MappingNode {
		return env(node, path), path
	}
	var variables []Variable
	for i := 0; i+1 < len(node.Content); i += 2 {
		name, value := node.Content[i].Value, resolve(node.Content[i+1])
		if node.Content[i].Tag == "!!merge" || isNull(value) {
			continue
		}
		literal, valuePath := value, path.Join(name)
		if value.Kind == yaml.MappingNode {
			literal, valuePath = at(value, "value"), path.Join(name, "value")
		}
		variables = append(variables, Variable{
			Name: name, Value: text(literal),
			Unknown: literal == nil || decidedElsewhere(text(literal)),
			Path:    path.Join(name), ValuePath: valuePath,
		})
	}
	return variables, nil
}
