package server

import (
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/trimtab/trimtab/internal/setting"
)

// valuesPlaces are where objects hold the values of a chart.
var valuesPlaces = []struct {
	group, kind, pattern string
}{
	{"helm.toolkit.fluxcd.io/", "HelmRelease", "spec.values"},
	{"argoproj.io/", "Application", "spec.source.helm.valuesObject"},
	{"argoproj.io/", "Application", "spec.sources.*.helm.valuesObject"},
}

// valuesSeats are the containers in a chart's values: those of the bjw-s
// app-template with the pod its other values describe, and in any other chart
// the mappings that name an image, a command or arguments.
func valuesSeats(base seat, root *yaml.Node) []seat {
	var seats []seat
	for _, place := range valuesPlaces {
		if base.object.Kind != place.kind || !strings.HasPrefix(base.object.APIVersion, place.group) {
			continue
		}
		for _, path := range expand(root, place.pattern) {
			values := chartValues{base: base, root: Lookup(root, path), path: path}
			values.walk(values.root, path, 0)
			seats = append(seats, values.seats...)
		}
	}
	return seats
}

type chartValues struct {
	base  seat
	root  *yaml.Node
	path  setting.Path
	seats []seat
}

func (v *chartValues) walk(node *yaml.Node, path setting.Path, depth int) {
	if node = resolve(node); node == nil || depth > maxDepth {
		return
	}
	switch node.Kind {
	case yaml.MappingNode:
		if isContainer(node) {
			v.seats = append(v.seats, v.seat(node, path))
		}
		for i := 0; i+1 < len(node.Content); i += 2 {
			v.walk(node.Content[i+1], path.Join(node.Content[i].Value), depth+1)
		}
	case yaml.SequenceNode:
		for i, element := range node.Content {
			v.walk(element, path.Join(i), depth+1)
		}
	}
}

// isContainer tells a container from other values: it has an image, and what
// runs in it where the image does not tell, or arguments alone. A probe has a
// command only.
func isContainer(node *yaml.Node) bool {
	list := func(key string) bool {
		value := at(node, key)
		return value != nil && value.Kind == yaml.SequenceNode
	}
	return imageOf(at(node, "image")) != "" || list("args")
}

func (v *chartValues) seat(node *yaml.Node, path setting.Path) seat {
	own := path[len(v.path):]
	one := v.base.at(path, node, node, nil)
	one.onePod = true
	one.noEnv = at(node, "env") == nil
	if len(own) != 4 || own[0] != "controllers" {
		return one
	}
	controller, name := own[1], own[3]
	one.container = with(one.container, "name", textNode(name))
	kind := text(Lookup(v.root, setting.Path{"controllers", controller, "type"}))
	one.onePod = kind == "" || kind == "deployment" || kind == "daemonset"
	one.podSpec = v.pod(controller)
	volumes, volumeMounts := v.persistence(controller, name)
	one.podSpec = with(one.podSpec, "volumes", volumes)
	one.container = with(one.container, "volumeMounts", volumeMounts)
	if own[2] == "initContainers" {
		one.excluded = "an init container ends before the pod serves"
	}
	return one
}

// pod is the pod of a controller: its own options before those of all pods.
func (v *chartValues) pod(controller any) *yaml.Node {
	pod := &yaml.Node{Kind: yaml.MappingNode}
	for _, options := range []*yaml.Node{Lookup(v.root, setting.Path{"controllers", controller, "pod"}), at(v.root, "defaultPodOptions")} {
		if options == nil || options.Kind != yaml.MappingNode {
			continue
		}
		for i := 0; i+1 < len(options.Content); i += 2 {
			if key := options.Content[i].Value; at(pod, key) == nil {
				pod = with(pod, key, options.Content[i+1])
			}
		}
	}
	return pod
}

// persistence turns the entries that a container mounts into volumes and mounts.
func (v *chartValues) persistence(controller, container any) (volumes, volumeMounts *yaml.Node) {
	volumes, volumeMounts = &yaml.Node{Kind: yaml.SequenceNode}, &yaml.Node{Kind: yaml.SequenceNode}
	entries := at(v.root, "persistence")
	if entries == nil || entries.Kind != yaml.MappingNode {
		return volumes, volumeMounts
	}
	for i := 0; i+1 < len(entries.Content); i += 2 {
		name, entry := entries.Content[i].Value, resolve(entries.Content[i+1])
		if text(at(entry, "enabled")) == "false" {
			continue
		}
		volumes.Content = append(volumes.Content, persistentVolume(name, entry))
		for _, mount := range mountsOf(name, entry, controller, container) {
			volumeMounts.Content = append(volumeMounts.Content, with(mount, "name", textNode(name)))
		}
	}
	return volumes, volumeMounts
}

// mountsOf are the mounts of an entry in one container: those for all, those for
// this one, or /NAME where it lists none.
func mountsOf(name string, entry *yaml.Node, controller, container any) []*yaml.Node {
	own := Lookup(entry, setting.Path{"advancedMounts", controller, container})
	var mounts []*yaml.Node
	for _, list := range []*yaml.Node{at(entry, "globalMounts"), own} {
		if list == nil || list.Kind != yaml.SequenceNode {
			continue
		}
		for _, element := range list.Content {
			mount := mapping("mountPath", textNode(orElse(text(at(element, "path")), "/"+name)))
			if subPath := at(element, "subPath"); subPath != nil {
				mount = with(mount, "subPath", subPath)
			}
			mounts = append(mounts, mount)
		}
	}
	if at(entry, "globalMounts") == nil && at(entry, "advancedMounts") == nil {
		mounts = append(mounts, mapping("mountPath", textNode("/"+name)))
	}
	return mounts
}

func persistentVolume(name string, entry *yaml.Node) *yaml.Node {
	volume := mapping("name", textNode(name))
	source := &yaml.Node{Kind: yaml.MappingNode}
	add := func(key, from string) {
		if value := at(entry, from); value != nil {
			source = with(source, key, value)
		}
	}
	switch text(at(entry, "type")) {
	case "emptyDir":
		add("medium", "medium")
		add("sizeLimit", "sizeLimit")
		return with(volume, "emptyDir", source)
	case "hostPath":
		add("path", "hostPath")
		return with(volume, "hostPath", source)
	case "configMap":
		add("name", "name")
		add("items", "items")
		return with(volume, "configMap", source)
	case "", "persistentVolumeClaim":
		add("claimName", "existingClaim")
		return with(volume, "persistentVolumeClaim", source)
	}
	return volume
}

func textNode(value any) *yaml.Node {
	text, _ := value.(string)
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: text}
}

func orElse(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}
