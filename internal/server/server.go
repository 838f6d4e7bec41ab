// Package server finds the engine processes that manifests describe. Items go
// in; servers come out, each with the words of its command line, its variables
// and what it asks of the node, all with the place where they stand. It knows
// the shapes of Kubernetes objects and nothing of what a flag means.
package server

import (
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/trimtab/trimtab/internal/finding"
	"github.com/trimtab/trimtab/internal/setting"
	"github.com/trimtab/trimtab/internal/stream"
)

// Server is one engine process that a manifest describes.
type Server struct {
	Item      *stream.Item
	Object    finding.Object
	Container string
	// Engine is "vllm" or "sglang", from the runtime field, the command or the
	// image; Mode is how its command line is entered: launch, serve or api.
	Engine string
	Mode   string
	// Image is the image reference as written, empty when the operator chooses.
	Image     string
	ImagePath setting.Path
	// Path leads to the container, or to the spec of a custom resource.
	Path setting.Path
	// Direct tells whether the engine is started without a script in front that
	// could set variables by itself; nil when the manifest does not say.
	Direct *bool
	// OnePod is true when all ranks of the server run in one pod.
	OnePod bool
	GPUs   GPUs
	Env    []Variable
	// EnvPath leads to the list of variables, which need not exist.
	EnvPath setting.Path
	// EnvFrom is true when further variables come from ConfigMaps or Secrets.
	EnvFrom bool
	// Operator is llmkube, or empty where the manifest is the pod's own.
	Operator string
	// ModelSource is where the operator fetches the model: hf://org/name@revision.
	ModelSource string

	Mounts []Mount
	Pod    Pod
	// ServiceLinks is whether Kubernetes tells the containers of the Services in
	// their namespace; nil where the manifest does not say, which means yes.
	ServiceLinks *bool
	// Services are those of the whole input that have an address.
	Services []finding.Object
	// CronJobs are those of the whole input: one of them may prune a volume.
	CronJobs []CronJob

	Labels      map[string]string
	Annotations map[string]string

	commandLine func(gpuCount *int64) []setting.Word
	configMaps  configMaps
}

// GPUs is what one replica of the server asks for.
type GPUs struct {
	// Count is the number of devices, nil when the manifest does not say.
	Count *int64
	// Whole is true when a device plugin hands over whole devices; nil when the
	// manifest does not say.
	Whole *bool
	// Vendor is nvidia, amd, intel or empty.
	Vendor string
	// Source says where the count stands: spec.hardware.gpu.count of Model x.
	Source string
	// Ignored is a count in spec.resources.gpu that the operator does not use
	// because the Model has one.
	Ignored *int64
}

// Variable is one entry of a container's env.
type Variable struct {
	Name string
	// Value is the literal value; Unknown is true for valueFrom and for values
	// that are substituted elsewhere.
	Value   string
	Unknown bool
	Path    setting.Path
}

// CommandLine is what the engine's argument parser receives, in order. What an
// operator derives from the number of GPUs depends on gpuCount; nil means that
// the number is not known.
func (s *Server) CommandLine(gpuCount *int64) []setting.Word {
	return s.commandLine(gpuCount)
}

// Find returns the servers that the items describe, in the order of the items.
// Items that are no servers, and those whose fields have the wrong type, are
// left out; an item that cannot be decoded is an error.
func Find(items []*stream.Item) ([]*Server, error) {
	var servers []*Server
	models := modelIndex{items: items}
	for _, item := range items {
		if !mayHoldServer(item) {
			continue
		}
		root, err := item.Root()
		if err != nil {
			return nil, err
		}
		if root == nil || root.Kind != yaml.MappingNode {
			continue
		}
		if _, duplicated := item.DuplicateKey(); duplicated {
			continue // which of the two a host takes is its own choice
		}
		found, err := findInItem(item, root, &models)
		if err != nil {
			return nil, err
		}
		servers = append(servers, found...)
	}
	if len(servers) == 0 {
		return nil, nil
	}
	jobs, err := cronJobs(items)
	if err != nil {
		return nil, err
	}
	addressed, err := services(items)
	if err != nil {
		return nil, err
	}
	for _, s := range servers {
		s.CronJobs, s.Services, s.configMaps = jobs, addressed, configMaps{items}
	}
	return servers, nil
}

// mayHoldServer is a cheap test on bytes: the name of an engine stands in every
// manifest of a server.
func mayHoldServer(item *stream.Item) bool {
	return item.Mentions("vllm", "sglang")
}

func findInItem(item *stream.Item, root *yaml.Node, models *modelIndex) ([]*Server, error) {
	object := objectOf(root)
	operator, err := loadOperator("llmkube")
	if err != nil {
		return nil, err
	}
	if operator.owns(object) {
		server, err := llmkubeServer(item, root, object, operator, models)
		if server == nil || err != nil {
			return nil, err
		}
		return []*Server{server}, nil
	}
	return podTemplateServers(item, root, object), nil
}

// objectOf reads the identity of an object; missing parts stay empty.
func objectOf(root *yaml.Node) finding.Object {
	return finding.Object{
		APIVersion: text(at(root, "apiVersion")),
		Kind:       text(at(root, "kind")),
		Namespace:  text(at(root, "metadata", "namespace")),
		Name:       text(at(root, "metadata", "name")),
	}
}

// ObjectOf reads the identity of the object an item holds; empty for an item
// that is no object. Errors are those of decoding the item.
func ObjectOf(item *stream.Item) (finding.Object, error) {
	root, err := item.Root()
	if err != nil || root == nil {
		return finding.Object{}, err
	}
	return objectOf(root), nil
}

// stringMap reads a mapping of strings such as labels; other values are left out.
func stringMap(node *yaml.Node) map[string]string {
	values := map[string]string{}
	if node == nil || node.Kind != yaml.MappingNode {
		return values
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		if value := resolve(node.Content[i+1]); value != nil && value.Kind == yaml.ScalarNode {
			values[node.Content[i].Value] = value.Value
		}
	}
	return values
}

// words turns a list of scalars into words. The boolean is false when the node
// is no such list: a manifest whose args are a text or a mapping is no server.
func words(node *yaml.Node, path setting.Path) ([]setting.Word, bool) {
	if isNull(node) {
		return nil, true
	}
	if node.Kind != yaml.SequenceNode {
		return nil, false
	}
	list := make([]setting.Word, 0, len(node.Content))
	for i, element := range node.Content {
		element = resolve(element)
		if element == nil || element.Kind != yaml.ScalarNode {
			return nil, false
		}
		list = append(list, setting.Word{
			Text:    text(element), // null is the empty string, as Kubernetes decodes it
			Unknown: decidedElsewhere(element.Value),
			Origin:  setting.Origin{Kind: setting.Argument, Path: path.Join(i)},
		})
	}
	return list, true
}

// decidedElsewhere tells whether a text holds something that Flux, the kubelet,
// a shell or a template replaces before the engine sees it.
func decidedElsewhere(text string) bool {
	return strings.Contains(text, "${") || strings.Contains(text, "$(") || strings.Contains(text, "{{")
}

// env reads a container's env list. Entries without a name are left out.
func env(node *yaml.Node, path setting.Path) []Variable {
	node = resolve(node)
	if node == nil || node.Kind != yaml.SequenceNode {
		return nil
	}
	var variables []Variable
	for i, element := range node.Content {
		element = resolve(element)
		name := text(at(element, "name"))
		if name == "" {
			continue
		}
		value := at(element, "value")
		variables = append(variables, Variable{
			Name:    name,
			Value:   text(value),
			Unknown: at(element, "valueFrom") != nil || decidedElsewhere(text(value)),
			Path:    path.Join(i),
		})
	}
	return variables
}

func known[T any](value T) *T { return &value }
