package server

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/trimtab/trimtab/internal/finding"
	"github.com/trimtab/trimtab/internal/setting"
	"github.com/trimtab/trimtab/internal/stream"
)

// resource is one server of a custom resource that a table describes.
type resource struct {
	table  *operator
	root   *yaml.Node
	object finding.Object
	path   setting.Path
}

// servers reads the servers of an object, and says why it describes none.
func (o *operator) servers(item *stream.Item, root *yaml.Node, object finding.Object) ([]*Server, []Left) {
	var servers []*Server
	var left []Left
	for _, path := range expand(root, o.Server) {
		r := resource{table: o, root: root, object: object, path: path}
		server, why := r.server(item)
		if server == nil {
			left = append(left, Left{Item: item, Object: object, Path: path, Why: why})
			continue
		}
		servers = append(servers, server)
	}
	return servers, left
}

func (r resource) server(item *stream.Item) (*Server, string) {
	name := text(Lookup(r.root, bind(r.table.Engine, r.table.Server, r.path)))
	if name == "" {
		name = r.table.Default
	}
	runtime := r.table.Runtimes[name]
	if runtime == nil {
		return nil, "the engine " + name + " is neither vllm nor sglang"
	}
	args, argsPath := r.find(r.table.Args)
	extra, ok := words(args, argsPath)
	if !ok {
		return nil, "its args are no list of texts"
	}
	options, optionsPath := r.find(r.table.Options)
	extra = append(extra, optionWords(options, optionsPath)...)
	variablesNode, variablesPath := r.find(r.table.Env)
	variables, envPath := variablesOf(variablesNode, variablesPath)
	if r.table.EnvMap {
		envPath = nil
	}
	image, imagePath := r.find(r.table.Image)
	model, _ := r.find(r.table.Model)
	line := typed{operator: r.table.Name, runtime: runtime, spec: Lookup(r.root, r.path), path: r.path, extra: extra}
	line.fill = func(name string) setting.Word { return r.fill(name, text(model)) }
	server := &Server{
		Item: item, Object: r.object, Container: r.table.Container, Path: r.path,
		Engine: runtime.Engine, Mode: runtime.Mode,
		Image: imageOf(image), ImagePath: imagePath,
		OnePod: true, GPUs: r.gpus(), Env: variables, EnvPath: envPath,
		Operator: r.table.Name, ModelSource: repository(text(model), nil),
		Labels:      stringMap(at(r.root, "metadata", "labels")),
		Annotations: stringMap(at(r.root, "metadata", "annotations")),
		commandLine: line.words,
	}
	if runtime.StartsEngine {
		server.Direct = known(true)
	}
	if node, _ := r.find(r.table.Nodes); node != nil {
		if nodes, ok := integer(node); ok {
			server.Nodes, server.OnePod = known(nodes), nodes == 1
		}
	}
	return server, ""
}

// find returns the first node of patterns that is there; the path is the first
// pattern's where none is.
func (r resource) find(choices patterns) (*yaml.Node, setting.Path) {
	var first setting.Path
	for i, pattern := range choices {
		path := bind(pattern, r.table.Server, r.path)
		if node := Lookup(r.root, path); !isNull(node) {
			return node, path
		}
		if i == 0 {
			first = path
		}
	}
	return nil, first
}

// fill is what the operator writes by itself.
func (r resource) fill(name, model string) setting.Word {
	origin := setting.Origin{Kind: setting.Operator, Name: r.table.Name}
	switch name {
	case "{model}":
		// The source, or a directory to which the operator has copied it.
		return setting.Word{Text: model, Unknown: true, Origin: origin}
	case "{name}":
		return setting.Word{Text: r.object.Name, Origin: origin}
	case "{unknown}":
		return setting.Word{Unknown: true, Origin: origin}
	}
	return setting.Word{Text: name, Origin: origin}
}

// gpus are the devices a server asks for: as a container would, as a count, or
// by the name of a profile.
func (r resource) gpus() GPUs {
	if resources, _ := r.find(r.table.Resources); resources != nil {
		return containerGPUs(nil, mapping("resources", resources))
	}
	if count, path := r.find(r.table.GPUs); count != nil {
		device := "nvidia.com/gpu"
		if named, _ := r.find(r.table.Device); named != nil {
			device = text(named)
		}
		asked := containerGPUs(nil, mapping("resources", mapping("limits", mapping(device, count))))
		if asked.Count != nil {
			asked.Source = path.String()
		}
		return asked
	}
	profile, path := r.find(r.table.Profile)
	return profileGPUs(text(profile), path)
}

// profileGPUs reads a KubeAI resource profile, NAME:COUNT. The names of the
// chart's profiles begin with the vendor and end with the card, and one unit of
// them is one device (charts/kubeai/values.yaml, resourceProfiles).
func profileGPUs(profile string, path setting.Path) GPUs {
	name, units, _ := strings.Cut(profile, ":")
	vendor, card, isGPU := strings.Cut(name, "-gpu-")
	count, err := strconv.ParseInt(units, 10, 64)
	if !isGPU || err != nil || vendor != "nvidia" && vendor != "amd" {
		return GPUs{}
	}
	return GPUs{Count: known(count), Vendor: vendor, Card: card, CardSource: path.String(), Source: path.String()}
}

// optionWords turns a mapping of options and values into words, sorted by name
// as the operators write them. A switch has no value, or true.
func optionWords(node *yaml.Node, path setting.Path) []setting.Word {
	if node == nil || node.Kind != yaml.MappingNode {
		return nil
	}
	byName := map[string][]setting.Word{}
	var names []string
	for i := 0; i+1 < len(node.Content); i += 2 {
		name, value := node.Content[i].Value, resolve(node.Content[i+1])
		origin := setting.Origin{Kind: setting.Field, Path: path.Join(name)}
		flag := setting.Word{Text: "--" + strings.ReplaceAll(name, "_", "-"), Origin: origin}
		written, ok := optionValue(value)
		if !ok {
			continue
		}
		names = append(names, name)
		byName[name] = []setting.Word{flag}
		for _, text := range written {
			byName[name] = append(byName[name], setting.Word{Text: text, Unknown: decidedElsewhere(text), Origin: origin})
		}
	}
	slices.Sort(names)
	var line []setting.Word
	for _, name := range names {
		line = append(line, byName[name]...)
	}
	return line
}

// optionValue is the words behind an option; false for a switch that is off.
func optionValue(value *yaml.Node) ([]string, bool) {
	switch {
	case isNull(value) || value.Value == "true" || value.Kind == yaml.ScalarNode && value.Value == "":
		return nil, true
	case value.Value == "false":
		return nil, false
	case value.Kind == yaml.ScalarNode:
		return []string{value.Value}, true
	}
	var decoded any
	if value.Decode(&decoded) != nil {
		return nil, false
	}
	encoded, err := json.Marshal(decoded)
	return []string{string(encoded)}, err == nil
}
