package server

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/trimtab/trimtab/internal/finding"
	"github.com/trimtab/trimtab/internal/setting"
	"github.com/trimtab/trimtab/internal/stream"
)

// Left is a container, or a custom resource, that was looked at and is not taken
// for a server.
type Left struct {
	Item      *stream.Item
	Object    finding.Object
	Container string
	Path      setting.Path
	// Why says what it is instead, or what keeps it from being read.
	Why string
	// Twice is true where a key stands twice in the object, so that nobody can
	// tell what it means.
	Twice bool
}

func (s seat) left(why string) Left {
	return Left{Item: s.item, Object: s.object, Container: text(at(s.container, "name")), Path: s.path, Why: why}
}

// unplaced is an object that names an engine and describes no container: the
// values of a chart, or a resource of an operator that nothing here knows.
func unplaced(item *stream.Item, root *yaml.Node, object finding.Object) []Left {
	var path setting.Path
	why := "no place is known in which this kind describes a container"
	switch group, _, _ := strings.Cut(object.APIVersion, "/"); {
	case object.Kind == "HelmRelease":
		path, why = setting.Path{"spec", "values"}, "its values describe no container; render the chart and look at what it writes"
	case !strings.Contains(group, ".") || strings.HasSuffix(group, "k8s.io"):
		return nil // a kind of Kubernetes itself
	default:
		path = setting.Path{"spec"}
	}
	if !choosesEngine(Lookup(root, path), 0) {
		return nil
	}
	return []Left{{Item: item, Object: object, Path: path, Why: why}}
}

// choosesEngine tells whether a mapping below a node has a field for the engine
// with the name of one, an image of one, or fields for one.
func choosesEngine(node *yaml.Node, depth int) bool {
	if node == nil || depth > maxDepth {
		return false
	}
	if node.Kind == yaml.MappingNode {
		for i := 0; i+1 < len(node.Content); i += 2 {
			key, value := strings.ToLower(node.Content[i].Value), strings.ToLower(node.Content[i+1].Value)
			switch {
			case slices.Contains([]string{"vllm", "sglang", "vllmconfig", "sglangconfig"}, key) && node.Content[i+1].Kind == yaml.MappingNode,
				slices.Contains([]string{"engine", "runtime", "backend", "framework"}, key) && (value == "vllm" || value == "sglang"),
				slices.Contains([]string{"image", "repository"}, key) && officialImage(value):
				return true
			}
		}
	}
	return slices.ContainsFunc(node.Content, func(child *yaml.Node) bool { return choosesEngine(child, depth+1) })
}
