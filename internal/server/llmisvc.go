package server

import (
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/trimtab/trimtab/internal/setting"
)

// llmisvc is a KServe LLMInferenceService, or its config: pod specs whose
// container `main` is started by the templates of KServe.
//
// Source: kserve@aaac4e294, config/llmisvcconfig/config-llm-*.yaml.
type llmisvc struct {
	spec *yaml.Node
}

// additionalArgs is the variable whose text the templates put behind their own
// options; the others are read by their scripts too.
const additionalArgs = "VLLM_ADDITIONAL_ARGS"

var templateReads = []string{"env/" + additionalArgs, "env/VLLM_API_SERVER_COUNT"}

// complete tells the seats of an object what the templates write. A service
// without a container main of its own has one all the same.
func (l llmisvc) complete(base seat, seats []seat) []seat {
	found := false
	for i := range seats {
		s := &seats[i]
		if text(at(s.container, "name")) != "main" {
			continue
		}
		under := s.path[1] // template, worker, prefill
		found = found || under == "template"
		s.onePod = isNull(at(l.spec, "worker")) && (under != "prefill" || isNull(at(l.spec, "prefill", "worker")))
		s.container = s.draContainer()
		l.hintFor(s, under == "prefill")
	}
	if found || base.object.Kind != "LLMInferenceService" {
		return seats
	}
	main := base.at(setting.Path{"spec", "template"}, mapping("name", &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: "main"}), at(l.spec, "template"), nil)
	main.onePod, main.noEnv = isNull(at(l.spec, "worker")), true
	main.container = main.draContainer()
	l.hintFor(&main, false)
	return append(seats, main)
}

// hintFor: the templates start `vllm serve` in a shell and hand on the user's
// arguments, but arguments that name the model were the whole line up to KServe
// 0.16, and are read as that.
func (l llmisvc) hintFor(s *seat, prefill bool) {
	s.hint.operator, s.hint.knows = "kserve", templateReads
	s.hint.model = repository(text(at(l.spec, "model", "uri")), nil)
	if s.hint.model == "" {
		s.hint.model = repository(text(at(l.spec, "model", "name")), nil)
	}
	s.hint.engine, s.hint.direct = "vllm", known(false)
	for _, argument := range elements(at(s.container, "args")) {
		if flag, _, _ := strings.Cut(argument, "="); flag == "--model" {
			s.hint.mode = "api"
			return
		}
	}
	s.hint.mode = "serve"
	operator := setting.Origin{Kind: setting.Operator, Name: "kserve"}
	s.hint.before = []setting.Word{
		{Text: "/mnt/models", Unknown: true, Origin: operator},
		{Text: "--served-model-name", Origin: operator}, {Text: text(at(l.spec, "model", "name")), Unknown: true, Origin: operator},
		{Text: "--port", Origin: operator}, {Text: "8000", Origin: operator},
	}
	section := setting.Path{"spec"}
	if prefill {
		section = section.Join("prefill")
	}
	s.hint.before = append(s.hint.before, l.parallelism(section)...)
	if !isNull(at(l.spec, "kvCacheOffloading")) {
		s.hint.before = append(s.hint.before, setting.Word{Text: "--kv-transfer-config", Origin: operator}, setting.Word{Unknown: true, Origin: operator})
	}
	s.hint.before = append(s.hint.before, additionalWords(at(s.container, "env"), s.path.Join("env"))...)
	s.hint.before = append(s.hint.before, l.adapters()...)
}

// parallelism are the sizes of a section, spec or spec.prefill. The templates
// without workers render the tensor size (from KServe 0.20), those with workers
// the data-parallel ones, which also decide how many pods there are.
func (l llmisvc) parallelism(section setting.Path) []setting.Word {
	node := l.spec
	if len(section) > 1 {
		node = at(l.spec, "prefill")
	}
	var line []setting.Word
	for _, size := range []struct{ field, flag string }{
		{"tensor", "--tensor-parallel-size"}, {"data", "--data-parallel-size"}, {"dataLocal", "--data-parallel-size-local"},
		{"dataRPCPort", "--data-parallel-rpc-port"},
	} {
		value := text(at(node, "parallelism", size.field))
		if value == "" || (size.field == "tensor") != isNull(at(node, "worker")) {
			continue
		}
		path := section.Join("parallelism", size.field)
		origin := setting.BoundTo(path)
		if size.field == "tensor" {
			origin = setting.Origin{Kind: setting.Field, Path: path}
		}
		line = append(line, setting.Word{Text: size.flag, Origin: origin}, setting.Word{Text: value, Unknown: decidedElsewhere(value), Origin: origin})
	}
	if text(at(node, "parallelism", "expert")) == "true" && !isNull(at(node, "worker")) {
		line = append(line, setting.Word{Text: "--enable-expert-parallel", Origin: setting.BoundTo(section.Join("parallelism", "expert"))})
	}
	return line
}

// adapters are the options that the fields of model.lora become.
func (l llmisvc) adapters() []setting.Word {
	if isNull(at(l.spec, "model", "lora", "adapters")) {
		return nil
	}
	path := setting.Path{"spec", "model", "lora"}
	line := []setting.Word{{Text: "--enable-lora", Origin: setting.BoundTo(path.Join("adapters"))}}
	for _, limit := range []struct{ field, flag string }{
		{"maxRank", "--max-lora-rank"}, {"maxAdapters", "--max-loras"}, {"maxCpuAdapters", "--max-cpu-loras"},
	} {
		if value := text(at(l.spec, "model", "lora", limit.field)); value != "" {
			line = append(line, setting.Word{Text: limit.flag + "=" + value, Origin: setting.BoundTo(path.Join(limit.field))})
		}
	}
	return line
}

// additionalWords are the options in the text of VLLM_ADDITIONAL_ARGS. What a
// shell would take apart otherwise than at blanks is not known.
func additionalWords(list *yaml.Node, path setting.Path) []setting.Word {
	var line []setting.Word
	for _, v := range env(list, path) {
		if v.Name != additionalArgs {
			continue
		}
		origin := setting.BoundTo(v.Path.Join("value"))
		line = nil // the last of a name counts
		if v.Unknown && v.Value == "" || strings.ContainsAny(v.Value, "'\"\\`") {
			return append(line, setting.Word{Text: "$" + additionalArgs, Unknown: true, Origin: origin})
		}
		for _, word := range strings.Fields(v.Value) {
			line = append(line, setting.Word{Text: word, Unknown: strings.Contains(word, "$"), Origin: origin})
		}
	}
	return line
}

// draContainer is the container with the devices that annotations claim for it
// by dynamic resource allocation.
//
// Source: kserve@aaac4e294, docs/samples/llmisvc/managed-dra.
func (s seat) draContainer() *yaml.Node {
	const prefix = kserveGroup + "exp-dra-"
	count, err := strconv.ParseInt(s.annotations[prefix+"device-count"], 10, 64)
	if name := s.annotations[prefix+"container-name"]; err != nil || name != "" && name != text(at(s.container, "name")) {
		return s.container
	}
	device := map[string]string{"gpu.nvidia.com": "nvidia.com/gpu", "gpu.amd.com": "amd.com/gpu"}[s.annotations[prefix+"device-class"]]
	if device == "" || !isNull(at(s.container, "resources", "limits", device)) {
		return s.container
	}
	number := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!int", Value: strconv.FormatInt(count, 10)}
	return replaced(s.container, "resources", mapping("limits", mapping(device, number)))
}
