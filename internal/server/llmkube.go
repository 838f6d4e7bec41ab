package server

import (
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/trimtab/trimtab/internal/finding"
	"github.com/trimtab/trimtab/internal/setting"
	"github.com/trimtab/trimtab/internal/stream"
)

// llmkube is an InferenceService of the LLMKube operator as the operator's
// deployment builder reads it.
type llmkube struct {
	typed
	command []setting.Word
	model   *yaml.Node
	gpus    GPUs
}

// llmkubeServer reads an InferenceService; nil when its runtime is no engine
// of ours or its lists have the wrong type.
func llmkubeServer(item *stream.Item, root *yaml.Node, object finding.Object, table *operator, models *modelIndex) (*Server, error) {
	path := setting.Path{"spec"}
	spec := at(root, "spec")
	name := text(at(spec, "runtime"))
	service := llmkube{typed: typed{operator: table.Name, runtime: table.Runtimes[name], spec: spec, path: path, mode: llmkubeMode(spec)}}
	if service.runtime == nil {
		return nil, nil
	}
	var ok bool
	if service.command, ok = words(at(spec, "command"), path.Join("command")); !ok {
		return nil, nil
	}
	list := orElse(service.runtime.List, "extraArgs")
	if service.extra, ok = words(at(spec, list), path.Join(list)); !ok {
		return nil, nil
	}
	modelRef := text(at(spec, "modelRef"))
	model, err := models.find(modelRef, object.Namespace)
	if err != nil {
		return nil, err
	}
	if text(at(model, "spec", "hardware", "accelerator")) == "metal" {
		return nil, nil
	}
	service.model = model
	service.typed.fill = service.fill
	service.gpus = service.askedGPUs(modelRef)
	server := &Server{
		Item: item, Object: object, Container: name, Path: path,
		Engine: service.runtime.Engine, Mode: service.runtime.Mode,
		Image: text(at(spec, "image")), ImagePath: path.Join("image"),
		Direct: service.direct(), OnePod: true, GPUs: service.gpus,
		Env: env(at(spec, "env"), path.Join("env")), EnvPath: path.Join("env"), EnvFrom: !isNull(at(spec, "envFrom")),
		Mounts:        mounts(at(spec, "extraVolumes"), at(spec, "extraVolumeMounts"), path.Join("extraVolumeMounts")),
		Pod:           podOf(at(spec, "podSecurityContext"), at(spec, "securityContext"), at(spec, "nodeSelector"), at(spec, "tolerations"), nil),
		MemoryRequest: orElse(text(at(spec, "resources", "hostMemory")), text(at(spec, "resources", "memory"))),
		OwnShm:        true,
		Node:          nodeLabels(spec),
		Operator:      table.Name, ModelSource: text(at(model, "spec", "source")),
		Labels:      stringMap(at(root, "metadata", "labels")),
		Annotations: stringMap(at(root, "metadata", "annotations")),
		Ports:       []ContainerPort{{Name: "http", Number: service.port(), Own: true}},
		Probes:      service.probes(),
		Hidden:      service.hiddenFields(modelRef),
		Unread:      table.unreadFields(name, spec, path),
		commandLine: service.commandLine,
	}
	if name != "generic" {
		server.ServiceLinks = known(false) // the operator writes it, from v0.7.3
	}
	server.MemoryRequestPath = path.Join("resources", "memory")
	if text(at(spec, "resources", "hostMemory")) != "" {
		server.MemoryRequestPath = path.Join("resources", "hostMemory")
	}
	server.Front = service.front()
	// The operator labels its pods so: deployment_builder.go, from v0.5.0.
	server.Pod.Labels = map[string]string{"inference.llmkube.dev/service": object.Name}
	if len(service.command) > 0 || service.runtime.Engine == "" {
		// The user's command replaces the operator's; the arguments stay.
		program, found := service.program(nil)
		if !found {
			return nil, nil
		}
		server.Engine, server.Mode = program.engine, program.mode
		server.Env, server.Reads = program.variables, program.reads
	}
	return server, nil
}

// llmkubeLeft says why an InferenceService is no server of ours.
func llmkubeLeft(root *yaml.Node) string {
	switch name := text(at(root, "spec", "runtime")); name {
	case "":
		return "the runtime is llamacpp where none is named"
	case "vllm", "sglang", "generic":
		return "its command is a script or starts no engine, a list in it has the wrong type, or the agent for macOS runs it"
	default:
		return "the runtime " + name + " is neither vllm nor sglang"
	}
}

// commandLine is the argument list of controller/runtime_*.go BuildArgs: the
// rows in their order, then extraArgs, behind what the user's command holds.
func (l *llmkube) commandLine(gpuCount *int64) []setting.Word {
	if program, found := l.program(gpuCount); found {
		return program.arguments
	}
	return l.typed.words(gpuCount)
}

// program is the engine that the user's command starts with the operator's
// arguments behind it.
func (l *llmkube) program(gpuCount *int64) (program, bool) {
	if len(l.command) == 0 {
		if l.runtime.Engine != "" {
			return program{}, false
		}
		started, why := seat{}.entryPointOf(text(at(l.spec, "image")), l.extra)
		started.variables = env(at(l.spec, "env"), l.path.Join("env"))
		return started, why == ""
	}
	line := append(l.command[:len(l.command):len(l.command)], l.typed.words(gpuCount)...)
	variables := env(at(l.spec, "env"), l.path.Join("env"))
	if started, found := findProgram(l.command); found {
		started.variables = variables
		started.arguments = line[len(l.command)-len(started.arguments):]
		return started, true
	}
	programs, _ := seat{}.scripted(line, variables)
	if len(programs) == 0 {
		return program{}, false
	}
	return programs[0], true
}

// llmkubeMode is what a service is for: as it says, else as the operator infers
// it from the arguments and the path (controller/runtime_args.go,
// resolveServingMode).
func llmkubeMode(spec *yaml.Node) string {
	if mode := text(at(spec, "mode")); mode != "" {
		return mode
	}
	has := func(flag string) bool {
		for _, list := range []string{"extraArgs", "args"} {
			given, _ := words(at(spec, list), nil)
			if (&typed{extra: given}).extraHolds(flag) {
				return true
			}
		}
		return false
	}
	path := text(at(spec, "endpoint", "path"))
	switch {
	case has("--reranking"):
		return "rerank"
	case has("--embedding"), has("--embeddings"):
		return "embedding"
	case strings.Contains(path, "/rerank"):
		return "rerank"
	case strings.Contains(path, "/embeddings"):
		return "embedding"
	}
	return "chat"
}

// fill is what the operator writes by itself where a row names it.
func (l *llmkube) fill(name string) setting.Word {
	origin := setting.Origin{Kind: setting.Operator, Name: l.operator}
	switch name {
	case "{port}":
		return setting.Word{Text: strconv.FormatInt(l.port(), 10), Origin: origin}
	case "{host}":
		return l.bindAddress()
	case "{modelRef}":
		return setting.Word{Text: text(at(l.spec, "modelRef")), Origin: origin}
	case "{model}":
		// A staged directory or a Hub name, by cache mode; no rule depends on it.
		return setting.Word{Text: text(at(l.model, "spec", "source")), Unknown: true, Origin: origin}
	}
	return setting.Word{Text: name, Origin: origin}
}

// port is resolvePort: containerPort, else endpoint.port, whose own default is
// 8080 as soon as endpoint is present, else the runtime's.
func (l *llmkube) port() int64 {
	if port, ok := integer(at(l.spec, "containerPort")); ok {
		return port
	}
	endpoint := at(l.spec, "endpoint")
	if isNull(endpoint) {
		return l.runtime.Port
	}
	if port, ok := integer(at(endpoint, "port")); ok {
		return port
	}
	return 8080
}

// front is the Service that the operator puts before the pods: it targets
// endpoint.port, else 8080, whatever the container listens on.
//
// Source: defilantech/LLMKube@907ac8d8, internal/controller/service_builder.go,
// constructService.
func (l *llmkube) front() []FrontPort {
	target := "8080"
	node, path := field(l.spec, l.path, "endpoint.port")
	if text(node) != "" {
		target = text(node)
	}
	return []FrontPort{{Service: "the operator's own", Target: target, Path: path}}
}

// probes are the user's own, and those that the operator writes in place of each
// that is missing.
//
// Source: defilantech/LLMKube@907ac8d8, internal/controller/runtime_vllm.go and
// runtime_sglang.go, BuildProbes.
func (l *llmkube) probes() []Probe {
	own := probesOf(at(l.spec, "probeOverrides"), l.path.Join("probeOverrides"), func(kind ProbeKind) string {
		return strings.TrimSuffix(string(kind), "Probe")
	})
	for _, standard := range []Probe{
		{Kind: StartupProbe, Period: 10, Failures: 180}, {Kind: LivenessProbe, Period: 15, Failures: 3}, {Kind: ReadinessProbe, Period: 10, Failures: 3},
	} {
		if slices.ContainsFunc(own, func(p Probe) bool { return p.Kind == standard.Kind }) {
			continue
		}
		standard.Handler, standard.Route, standard.Timeout, standard.Port = HTTPGet, "/health", 5, strconv.FormatInt(l.port(), 10)
		standard.Path, standard.Implied = l.path.Join("probeOverrides", strings.TrimSuffix(string(standard.Kind), "Probe")), true
		own = append(own, standard)
	}
	return own
}

func (l *llmkube) bindAddress() setting.Word {
	node, path := field(l.spec, l.path, "bindAddress")
	if address := text(node); address != "" {
		return setting.Word{Text: address, Origin: setting.Origin{Kind: setting.Field, Path: path}}
	}
	return setting.Word{Text: "::", Origin: setting.Origin{Kind: setting.Operator, Name: "llmkube"}}
}

// direct: with a command of the user's own, when that command is the engine;
// without, when the operator starts the engine, or the image is the engine's.
func (l *llmkube) direct() *bool {
	if len(l.command) > 0 {
		program, found := findProgram(l.command)
		return known(found && *program.direct)
	}
	if l.runtime.StartsEngine || officialImage(text(at(l.spec, "image"))) {
		return known(true)
	}
	return nil
}

// askedGPUs is what controller/gpu_resources.go asks the node for: the Model's
// count when it is above zero, else resources.gpu. Without the Model in the
// input neither is known.
func (l *llmkube) askedGPUs(modelRef string) GPUs {
	if l.model == nil {
		return GPUs{}
	}
	gpu := at(l.model, "spec", "hardware", "gpu")
	asked := GPUs{Vendor: strings.ToLower(text(at(gpu, "vendor")))}
	if asked.Vendor == "" {
		asked.Vendor = vendorOf(text(at(gpu, "resourceName")))
	}
	if count, ok := integer(at(gpu, "count")); ok && count > 0 {
		asked.Count, asked.Source = known(count), "spec.hardware.gpu.count of Model "+modelRef
		if own, ok := integer(at(l.spec, "resources", "gpu")); ok {
			asked.Ignored = known(own)
		}
	} else if count, ok := integer(at(l.spec, "resources", "gpu")); ok {
		asked.Count, asked.Source = known(count), "spec.resources.gpu"
	} else if text(at(l.spec, "resources", "gpu")) == "" && text(at(gpu, "count")) == "" {
		asked.Count, asked.Source = known(int64(0)), "no GPU is asked for"
	}
	mode := text(at(l.spec, "resources", "gpuSharing", "mode"))
	asked.Whole = known((mode == "" || mode == "exclusive") && wholeDevice(text(at(gpu, "resourceName"))))
	if !isNull(at(l.spec, "resourceClaims")) || !isNull(at(gpu, "dra")) {
		asked.Count, asked.Whole = nil, nil
	}
	return asked
}

// modelIndex finds LLMKube Models among the items.
type modelIndex struct {
	items  []*stream.Item
	loaded bool
	models []*yaml.Node
}

// find returns the Model of a name in a namespace, or the only one of that
// name; nil when there is none or more than one.
func (m *modelIndex) find(name, namespace string) (*yaml.Node, error) {
	if err := m.load(); err != nil || name == "" {
		return nil, err
	}
	var here, named []*yaml.Node
	for _, model := range m.models {
		object := objectOf(model)
		if object.Name != name {
			continue
		}
		named = append(named, model)
		if object.Namespace == namespace {
			here = append(here, model)
		}
	}
	// Two of one name and namespace belong to two clusters; nobody says which.
	switch {
	case len(here) == 1:
		return here[0], nil
	case len(here) == 0 && len(named) == 1:
		return named[0], nil
	}
	return nil, nil
}

var namedModel = stream.Register("inference.llmkube.dev/")

func (m *modelIndex) load() error {
	if m.loaded {
		return nil
	}
	m.loaded = true
	for _, item := range m.items {
		if !item.MentionsAny(namedModel) {
			continue
		}
		root, err := item.Root()
		if err != nil {
			return err
		}
		object := objectOf(root)
		if object.Kind == "Model" && strings.HasPrefix(object.APIVersion, "inference.llmkube.dev/") {
			m.models = append(m.models, root)
		}
	}
	return nil
}
