// Package server finds the engine processes that manifests describe. Items go
// in; servers come out, each with the words of its command line, its variables
// and what it asks of the node, all with the place where they stand. It knows
// the shapes of Kubernetes objects and nothing of what a flag means.
package server

import (
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"github.com/trimtab/trimtab/internal/finding"
	"github.com/trimtab/trimtab/internal/parallel"
	"github.com/trimtab/trimtab/internal/setting"
	"github.com/trimtab/trimtab/internal/stream"
)

// Server is one engine process that a manifest describes.
type Server struct {
	Item      *stream.Item
	Object    finding.Object
	Container string
	// Siblings is how many other servers the object holds.
	Siblings int
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
	// OnePod is true when all ranks of the server run in one pod; Nodes is how
	// many pods form one server, nil when the manifest does not say.
	OnePod bool
	Nodes  *int64
	GPUs   GPUs
	// MemoryLimit and MemoryRequest are the container's, as written; the paths
	// lead to them, also where they are not written.
	MemoryLimit, MemoryRequest         string
	MemoryLimitPath, MemoryRequestPath setting.Path
	// OwnShm is true where /dev/shm is the container's own, of the size the
	// container runtime gives it, unless a volume is mounted there.
	OwnShm bool
	// Node are labels that the node of the pod has, by selector or affinity.
	Node map[string]string
	Env  []Variable
	// EnvPath leads to the list of variables, which need not exist; nil where the
	// manifest has no list to add one to.
	EnvPath setting.Path
	// EnvFrom is true when further variables come from ConfigMaps or Secrets.
	EnvFrom bool
	// Reads are the variables that the script around the engine reads.
	Reads []string
	// Operator is llmkube, or empty where the manifest is the pod's own.
	Operator string
	// ModelSource names the checkpoint: hf://org/name@revision, org/name, a path.
	// Empty where nothing names it, or only a variable does.
	ModelSource string
	// Unread are the fields of a custom resource that the operator makes nothing of.
	Unread []UnreadField
	// Knows are patterns of options that a wrapper around the engine adds.
	Knows []string
	// Wrapper is the program around the engine that drops what neither knows; nil
	// where there is none.
	Wrapper *Wrapper

	Mounts []Mount
	Pod    Pod
	// Ports are those of the pod, Probes the container's own.
	Ports  []ContainerPort
	Probes []Probe
	// Part is which part of a service it is.
	Part Part
	// Beside is true where other containers run along with the server's.
	Beside bool
	// Hidden are the fields that another field of the object hides.
	Hidden []HiddenField
	// ServiceLinks is whether Kubernetes tells the containers of the Services in
	// their namespace; nil where the manifest does not say, which means yes.
	ServiceLinks *bool
	// Services are those of the whole input that have an address.
	Services []finding.Object
	// Front are the ports by which Services reach the pod, ServedBy the names of
	// those that select it.
	Front    []FrontPort
	ServedBy []string
	// VolumeUsers are the containers of the whole input that mount a volume which
	// outlives them, the server's own among them. The error is one of decoding.
	VolumeUsers func() ([]VolumeUser, error)

	Labels      map[string]string
	Annotations map[string]string

	flux        []FluxBuild
	commandLine func(gpuCount *int64) []setting.Word
	configMaps  configMaps
	items       []*stream.Item

	// mentioned are the words that the texts of the container hold beside others.
	mentioned map[string]bool
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
	// Card is the name of the devices where the manifest asks for them by name,
	// CardSource the field that does.
	Card, CardSource string
	// Slice is true for a part of a device, a MIG profile.
	Slice bool
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
	// Path leads to the entry, nil where a shell script sets the variable: then
	// Bound names the place of the script.
	Path  setting.Path
	Bound string
	// ValuePath leads to the scalar that holds the value.
	ValuePath setting.Path
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
	servers, _, err := Survey(items)
	return servers, err
}

// Survey is Find, with its error, that also tells what it looked at and left, and
// why.
func Survey(items []*stream.Item) ([]*Server, []Left, error) {
	var servers []*Server
	var left []Left
	input := input{items: items, models: modelIndex{items: items}, runtimes: runtimeIndex{items: items}}
	var candidates []*stream.Item
	for _, item := range items {
		if mayHoldServer(item) {
			candidates = append(candidates, item)
		}
	}
	_ = parallel.Each(len(candidates), func(i int) error {
		_, _ = candidates[i].Root() // which remembers what is wrong
		return nil
	})
	for _, item := range candidates {
		root, err := item.Root()
		if err != nil {
			return nil, nil, err
		}
		if root == nil || root.Kind != yaml.MappingNode {
			continue
		}
		if path, duplicated := item.DuplicateKey(); duplicated {
			// Which of the two a host takes is its own choice.
			left = append(left, Left{Item: item, Object: objectOf(root), Why: "`" + path + "` stands in it twice", Twice: true})
			continue
		}
		found, others, err := input.look(item, root)
		if err != nil {
			return nil, nil, err
		}
		for _, one := range found {
			one.Siblings = len(found) - 1
		}
		servers, left = append(servers, found...), append(left, others...)
	}
	if len(servers) == 0 {
		return nil, left, nil
	}
	return servers, left, input.complete(servers)
}

// input is all items of a run, for objects that point to others.
type input struct {
	items    []*stream.Item
	models   modelIndex
	runtimes runtimeIndex
	claims   claimIndex
}

// complete tells the servers of what stands beside them.
func (in *input) complete(servers []*Server) error {
	users := sync.OnceValues(func() ([]VolumeUser, error) { return volumeUsers(in.items) })
	all, err := services(in.items)
	if err != nil {
		return err
	}
	substituting, err := fluxBuilds(in.items)
	if err != nil {
		return err
	}
	for _, s := range servers {
		s.flux = substituting
		s.VolumeUsers, s.configMaps = users, configMaps{in.items}
		s.tell(all)
		if root, err := s.Item.Root(); err == nil {
			s.Part = partOf(s, root)
		}
		s.items = in.items
	}
	return nil
}

// mayHoldServer is a cheap test on bytes: the name of an engine stands in every
// manifest of a server, or the group of an operator that chooses one.
func mayHoldServer(item *stream.Item) bool {
	return item.MentionsAny(namesOfEngines)
}

var namesOfEngines = stream.Register("vllm", "sglang", "inference.llmkube.dev/", "kubeai.org/", "llmaz.io/", "serving.volcano.sh/", kserveGroup, "llm_configs")

// look finds the servers of one object, and what is there beside them.
func (in *input) look(item *stream.Item, root *yaml.Node) ([]*Server, []Left, error) {
	object := objectOf(root)
	table, err := operatorOf(object)
	switch {
	case err != nil:
		return nil, nil, err
	case table != nil && table.Name == llmkubeTable:
		server, err := llmkubeServer(item, root, object, table, &in.models)
		switch {
		case err != nil:
			return nil, nil, err
		case server == nil:
			return nil, []Left{{Item: item, Object: object, Path: setting.Path{"spec"}, Why: llmkubeLeft(root)}}, nil
		}
		return []*Server{server}, nil, nil
	case table != nil:
		servers, left := table.servers(item, root, object)
		return servers, left, nil
	}
	var servers []*Server
	var left []Left
	seats, err := in.seatsOf(item, root, object)
	if err != nil {
		return nil, nil, err
	}
	if len(seats) == 0 {
		return nil, unplaced(item, root, object), nil
	}
	for _, seat := range seats {
		found, why := seat.servers()
		if len(found) == 0 {
			left = append(left, seat.left(why))
		}
		servers = append(servers, found...)
	}
	return servers, left, nil
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

// ObjectIn reads the identity of an object from its root; missing parts stay
// empty.
func ObjectIn(root *yaml.Node) finding.Object { return objectOf(root) }

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
			Path:    path.Join(i), ValuePath: path.Join(i, "value"),
		})
	}
	return variables
}

func known[T any](value T) *T { return &value }
