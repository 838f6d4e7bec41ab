package server

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/trimtab/trimtab/internal/setting"
	"github.com/trimtab/trimtab/internal/stream"
)

const kserveGroup = "serving.kserve.io/"

// kserveSeats are the containers of a KServe InferenceService that stand in no
// list of containers: predictor.model, which a serving runtime completes.
func kserveSeats(base seat, root *yaml.Node, runtimes *runtimeIndex) ([]seat, error) {
	path := setting.Path{"spec", "predictor", "model"}
	predictor := at(root, "spec", "predictor")
	model := at(predictor, "model")
	if model == nil || model.Kind != yaml.MappingNode {
		return nil, nil
	}
	one := base.at(path, model, predictor, nil)
	one.onePod = isNull(at(predictor, "workerSpec"))
	one.hint.operator = "kserve"
	one.hint.model = repository(text(at(model, "storageUri")), nil)
	name := text(at(model, "runtime"))
	runtime, err := runtimes.find(name, base.object.Namespace)
	if err != nil {
		return nil, err
	}
	format := text(at(model, "modelFormat", "name"))
	switch {
	case runtime != nil:
		one.completeBy(runtime, name)
	case strings.HasPrefix(name, "kserve-huggingfaceserver") || name == "" && format == "huggingface":
		one.hint.huggingface(predictor, base.object.Name)
	case strings.HasPrefix(name, "kserve-vllmserver") || strings.EqualFold(format, "vllm"):
		one.hint.engine, one.hint.mode = "vllm", "api"
	default:
		one.names = []string{name, format}
	}
	if slices.ContainsFunc(elements(at(model, "args")), func(word string) bool { return word == "--backend=huggingface" }) {
		one.excluded = "its backend is Hugging Face's own, not vllm"
	}
	return []seat{one}, nil
}

// huggingface is what KServe's runtime of that name starts: its own program
// around vLLM, with the sizes of a worker specification in front.
//
// Source: kserve@aaac4e294, config/runtimes/kserve-huggingfaceserver*.yaml;
// python/huggingfaceserver/huggingfaceserver/__main__.py.
func (h *hint) huggingface(predictor *yaml.Node, name string) {
	h.engine, h.mode, h.knows = "vllm", "api", []string{anyOption}
	h.direct, h.wrapper = known(false), huggingfaceServer
	operator := setting.Origin{Kind: setting.Operator, Name: "kserve"}
	h.before = []setting.Word{{Text: "--model_name=" + name, Origin: operator}}
	for _, size := range []struct{ field, flag string }{
		{"tensorParallelSize", "--tensor-parallel-size"}, {"pipelineParallelSize", "--pipeline-parallel-size"},
	} {
		if value := text(at(predictor, "workerSpec", size.field)); value != "" {
			origin := setting.BoundTo(setting.Path{"spec", "predictor", "workerSpec", size.field})
			h.before = append(h.before, setting.Word{Text: size.flag + "=" + value, Origin: origin})
		}
	}
}

// completeBy adds what a serving runtime of the input writes: KServe joins the
// arguments of both, the runtime's first, and the model's own fields win.
//
// Source: kserve@aaac4e294, pkg/controller/v1beta1/inferenceservice/utils,
// MergeRuntimeContainers.
func (s *seat) completeBy(runtime *yaml.Node, name string) {
	container := named(at(runtime, "spec", "containers"), "kserve-container")
	if container == nil {
		s.names = []string{name}
		return
	}
	own := s.container
	for _, key := range []string{"command", "image", "volumeMounts", "resources"} {
		if value := at(container, key); value != nil && at(own, key) == nil {
			own = with(own, key, value)
		}
	}
	s.container = own
	s.runtime = &runtimeWords{name: name, container: container, ownCommand: at(own, "command") != at(container, "command")}
	if volumes := at(runtime, "spec", "volumes"); volumes != nil && at(s.podSpec, "volumes") == nil && s.podSpec != nil {
		s.podSpec = with(s.podSpec, "volumes", volumes)
	}
}

// runtimeWords are the words that a serving runtime, another object, writes.
type runtimeWords struct {
	name      string
	container *yaml.Node
	// ownCommand is true where the service has a command of its own.
	ownCommand bool
}

// join puts the runtime's words before those of the service.
func (r *runtimeWords) join(command, args []setting.Word) (joinedCommand, joinedArgs []setting.Word) {
	if !r.ownCommand {
		command = r.words("command")
	}
	return command, append(r.words("args"), args...)
}

func (r *runtimeWords) words(key string) []setting.Word {
	list, _ := words(at(r.container, key), nil)
	for i := range list {
		list[i].Origin = setting.Origin{Kind: setting.Operator, Name: "serving runtime " + r.name}
	}
	return list
}

// elements are the texts of a list of scalars.
func elements(node *yaml.Node) []string {
	if node == nil || node.Kind != yaml.SequenceNode {
		return nil
	}
	var texts []string
	for _, element := range node.Content {
		texts = append(texts, text(element))
	}
	return texts
}

// runtimeIndex finds KServe's serving runtimes among the items.
type runtimeIndex struct {
	items    []*stream.Item
	loaded   bool
	runtimes []*yaml.Node
}

// find returns the runtime of a name: the namespace's own, else the cluster's;
// nil where the input has none, or several.
func (r *runtimeIndex) find(name, namespace string) (*yaml.Node, error) {
	if err := r.load(); err != nil || name == "" {
		return nil, err
	}
	var own, cluster []*yaml.Node
	for _, runtime := range r.runtimes {
		object := objectOf(runtime)
		switch {
		case object.Name != name:
		case object.Kind == "ClusterServingRuntime":
			cluster = append(cluster, runtime)
		case object.Namespace == namespace || object.Namespace == "" || namespace == "":
			own = append(own, runtime)
		}
	}
	if len(own) == 1 {
		return own[0], nil
	}
	if len(own) == 0 && len(cluster) == 1 {
		return cluster[0], nil
	}
	return nil, nil
}

var namedRuntime = stream.Register("ServingRuntime")

func (r *runtimeIndex) load() error {
	if r.loaded {
		return nil
	}
	r.loaded = true
	for _, item := range r.items {
		if !item.MentionsAny(namedRuntime) {
			continue
		}
		root, err := item.Root()
		if err != nil {
			return err
		}
		object := objectOf(root)
		if strings.HasPrefix(object.APIVersion, kserveGroup) && (object.Kind == "ServingRuntime" || object.Kind == "ClusterServingRuntime") {
			r.runtimes = append(r.runtimes, root)
		}
	}
	return nil
}
