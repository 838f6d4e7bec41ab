package server

import (
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
	runtime *runtime
	spec    *yaml.Node
	path    setting.Path
	command []setting.Word
	extra   []setting.Word
	model   *yaml.Node
	gpus    GPUs
}

// llmkubeServer reads an InferenceService; nil when its runtime is no engine
// of ours or its lists have the wrong type.
func llmkubeServer(item *stream.Item, root *yaml.Node, object finding.Object, table *operator, models *modelIndex) (*Server, error) {
	path := setting.Path{"spec"}
	spec := at(root, "spec")
	name := text(at(spec, "runtime"))
	service := llmkube{runtime: table.Runtimes[name], spec: spec, path: path}
	if service.runtime == nil {
		return nil, nil
	}
	var ok bool
	if service.command, ok = words(at(spec, "command"), path.Join("command")); !ok {
		return nil, nil
	}
	if service.extra, ok = words(at(spec, "extraArgs"), path.Join("extraArgs")); !ok {
		return nil, nil
	}
	modelRef := text(at(spec, "modelRef"))
	model, err := models.find(modelRef, object.Namespace)
	if err != nil {
		return nil, err
	}
	service.model = model
	service.gpus = service.askedGPUs(modelRef)
	server := &Server{
		Item: item, Object: object, Container: name, Path: path,
		Engine: service.runtime.Engine, Mode: service.runtime.Mode,
		Image: text(at(spec, "image")), ImagePath: path.Join("image"),
		Direct: service.direct(), OnePod: true, GPUs: service.gpus,
		Env: env(at(spec, "env"), path.Join("env")), EnvPath: path.Join("env"), EnvFrom: !isNull(at(spec, "envFrom")),
		Mounts:   mounts(at(spec, "extraVolumes"), at(spec, "extraVolumeMounts")),
		Pod:      podOf(at(spec, "podSecurityContext"), at(spec, "securityContext"), at(spec, "nodeSelector"), at(spec, "tolerations"), nil),
		Operator: table.Name, ModelSource: text(at(model, "spec", "source")),
		Labels:       stringMap(at(root, "metadata", "labels")),
		Annotations:  stringMap(at(root, "metadata", "annotations")),
		ServiceLinks: known(false), // the operator writes it, from v0.7.3
		commandLine:  service.commandLine,
	}
	if len(service.command) > 0 {
		// The user's command replaces the operator's; the arguments stay.
		program, found := findProgram(service.command)
		if !found {
			return nil, nil
		}
		server.Engine, server.Mode = program.engine, program.mode
	}
	return server, nil
}

// commandLine is the argument list of controller/runtime_*.go BuildArgs: the
// rows in their order, then extraArgs, behind what the user's command holds.
func (l *llmkube) commandLine(gpuCount *int64) []setting.Word {
	var line []setting.Word
	if program, found := findProgram(l.command); found {
		line = append(line, program.arguments...)
	}
	for _, r := range l.runtime.Rows {
		line = append(line, l.rowWords(r, gpuCount)...)
	}
	return append(line, l.extra...)
}

func (l *llmkube) rowWords(r row, gpuCount *int64) []setting.Word {
	if r.Unless != "" && l.extraHolds(r.Unless) {
		return nil
	}
	for _, required := range r.All {
		node, _ := field(l.spec, l.path, required)
		if v := text(node); v == "" || v == "false" {
			return nil
		}
	}
	switch {
	case r.GPUs == "above-one":
		return l.derivedFromGPUs(r, gpuCount)
	case r.GPUs == "at-least-one" && gpuCount != nil && *gpuCount == 0:
		return nil
	case r.Always != nil:
		return l.operatorWords(r)
	}
	for _, name := range r.Fields {
		node, path := field(l.spec, l.path, name)
		if written, ok := fieldWords(r, node, path); ok {
			if r.GPUs == "at-least-one" && gpuCount == nil {
				markUnknown(written, "gpu.count")
			}
			return written
		}
	}
	return nil
}

// extraHolds is the operator's own look-up of a flag in extraArgs: as the flag
// alone or before an equals sign, spelled with dashes.
func (l *llmkube) extraHolds(flag string) bool {
	for _, word := range l.extra {
		if word.Text == flag || strings.HasPrefix(word.Text, flag+"=") {
			return true
		}
	}
	return false
}

// fieldWords writes a typed field as flag and value; false when the operator
// writes nothing for this value.
func fieldWords(r row, node *yaml.Node, path setting.Path) ([]setting.Word, bool) {
	origin := setting.Origin{Kind: setting.Field, Path: path}
	word := func(t string) setting.Word {
		return setting.Word{Text: t, Unknown: decidedElsewhere(t), Origin: origin}
	}
	if r.List {
		if node == nil || node.Kind != yaml.SequenceNode || len(node.Content) == 0 {
			return nil, false
		}
		list := []setting.Word{word(r.Flag)}
		for _, element := range node.Content {
			list = append(list, word(text(element)))
		}
		return list, true
	}
	v := text(node)
	if v == "" {
		return nil, false
	}
	switch r.When {
	case "true":
		if v != "true" {
			return nil, false
		}
		return []setting.Word{word(r.Flag)}, true
	case "not-auto":
		if v == "auto" {
			return nil, false
		}
	case "above-one":
		if n, err := strconv.ParseInt(v, 10, 64); err == nil && n <= 1 {
			return nil, false
		}
	}
	return []setting.Word{word(r.Flag), word(v)}, true
}

// derivedFromGPUs writes the GPU count behind the flag when it is above one and
// the field that says otherwise is not set.
func (l *llmkube) derivedFromGPUs(r row, gpuCount *int64) []setting.Word {
	if node, _ := field(l.spec, l.path, r.UnlessField); text(node) != "" {
		return nil
	}
	origin := setting.Origin{Kind: setting.Operator, Name: "llmkube"}
	switch {
	case gpuCount == nil:
		return []setting.Word{
			{Text: r.Flag, Origin: origin},
			{Unknown: true, Needs: []string{"gpu.count"}, Origin: origin},
		}
	case *gpuCount > 1:
		return []setting.Word{
			{Text: r.Flag, Origin: origin},
			{Text: strconv.FormatInt(*gpuCount, 10), Origin: origin},
		}
	}
	return nil
}

// operatorWords writes what the operator adds by itself.
func (l *llmkube) operatorWords(r row) []setting.Word {
	origin := setting.Origin{Kind: setting.Operator, Name: "llmkube"}
	var list []setting.Word
	if r.Flag != "" {
		list = append(list, setting.Word{Text: r.Flag, Origin: origin})
	}
	value := setting.Word{Origin: origin}
	switch *r.Always {
	case "":
		return list
	case "{port}":
		value.Text = strconv.FormatInt(l.port(), 10)
	case "{host}":
		value = l.bindAddress()
	case "{modelRef}":
		value.Text = text(at(l.spec, "modelRef"))
	case "{model}":
		// A staged directory or a Hub name, by cache mode; no rule depends on it.
		value.Text, value.Unknown = text(at(l.model, "spec", "source")), true
	}
	return append(list, value)
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
		return known(found && program.direct)
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

func markUnknown(list []setting.Word, need string) {
	for i := 1; i < len(list); i++ {
		list[i].Unknown, list[i].Needs = true, append(list[i].Needs, need)
	}
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

func (m *modelIndex) load() error {
	if m.loaded {
		return nil
	}
	m.loaded = true
	for _, item := range m.items {
		if !item.Mentions("inference.llmkube.dev/") {
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
