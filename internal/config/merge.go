package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Merge joins the configs about one server: lists and rules unite, and a field
// that two of them set must have one value. The error of two values names the
// field, both values and both sources. Kind is that of the first config (the
// verb decides on the command line), and so is Name. No configs: Default.
func Merge(configs []*Config) (*Config, error) {
	switch len(configs) {
	case 0:
		return Default(), nil
	case 1:
		return configs[0], nil
	}
	m := merger{said: map[string]string{}}
	merged := &Config{Kind: configs[0].Kind, Name: configs[0].Name}
	var sources []string
	for _, c := range configs {
		if !slices.Contains(sources, c.Source) {
			sources = append(sources, c.Source)
		}
		m.source = c.Label()
		m.spec(&merged.Spec, &c.Spec)
	}
	if m.err != nil {
		return nil, m.err
	}
	merged.Source = strings.Join(sources, ", ")
	merged.Spec.Select = uniteSelectors(configs)
	return merged, nil
}

// merger keeps who said what, and the first conflict.
type merger struct {
	source string
	said   map[string]string
	err    error
}

func (m *merger) spec(to, from *Spec) {
	m.facts(to, from)
	m.measured(&to.Measured, &from.Measured)
	to.Keep = unite(to.Keep, from.Keep)
	to.Facts = uniteBy(to.Facts, from.Facts, func(a, b *yaml.Node) bool { return sameNode(*a, *b) })
	m.rules(to, from)
	text(m, "failOn", &to.FailOn, from.FailOn, equal)
	pointer(m, "stamp", &to.Stamp, from.Stamp, equal)
	m.prune(to, from)
	m.monitor(to, from)
}

func (m *merger) facts(to, from *Spec) {
	text(m, "engine.name", &to.Engine.Name, from.Engine.Name, equal)
	text(m, "engine.version", &to.Engine.Version, from.Engine.Version, sameRelease)
	to.Engine.Knows = unite(to.Engine.Knows, from.Engine.Knows)
	text(m, "gpu.name", &to.GPU.Name, from.GPU.Name, sameWord)
	text(m, "gpu.vendor", &to.GPU.Vendor, from.GPU.Vendor, equal)
	text(m, "gpu.arch", &to.GPU.Arch, from.GPU.Arch, sameWord)
	text(m, "gpu.computeCapability", &to.GPU.ComputeCapability, from.GPU.ComputeCapability, equal)
	pointer(m, "gpu.count", &to.GPU.Count, from.GPU.Count, equal)
	pointer(m, "gpu.memory", &to.GPU.Memory, from.GPU.Memory, sameBytes)
	pointer(m, "gpu.reserve", &to.GPU.Reserve, from.GPU.Reserve, sameBytes)
	text(m, "model.name", &to.Model.Name, from.Model.Name, equal)
	text(m, "model.dtype", &to.Model.DType, from.Model.DType, equal)
	text(m, "model.quantization", &to.Model.Quantization, from.Model.Quantization, equal)
	pointer(m, "model.remoteCode", &to.Model.RemoteCode, from.Model.RemoteCode, equal)
	pointer(m, "model.config", &to.Model.Config, from.Model.Config, sameModelConfig)
	pointer(m, "workload.peakRunning", &to.Workload.PeakRunning, from.Workload.PeakRunning, equal)
	pointer(m, "workload.peakMambaSlots", &to.Workload.PeakMambaSlots, from.Workload.PeakMambaSlots, equal)
	to.Workload.Prompts = unite(to.Workload.Prompts, from.Workload.Prompts)
}

func (m *merger) measured(to, from *Measured) {
	pointer(m, "measured.kvTokens", &to.KVTokens, from.KVTokens, equal)
	pointer(m, "measured.kvBytes", &to.KVBytes, from.KVBytes, sameBytes)
	pointer(m, "measured.mambaSlots", &to.MambaSlots, from.MambaSlots, equal)
	pointer(m, "measured.mambaBytes", &to.MambaBytes, from.MambaBytes, sameBytes)
	pointer(m, "measured.prefillTokensPerSecond", &to.PrefillTokensPerSecond, from.PrefillTokensPerSecond, equal)
}

func (m *merger) rules(to, from *Spec) {
	for _, rule := range slices.Sorted(maps.Keys(from.Rules)) {
		setting := from.Rules[rule]
		var merged *RuleSetting
		if before, ok := to.Rules[rule]; ok {
			merged = &before
		}
		pointer(m, "rules."+rule, &merged, &setting, deepEqual)
		if to.Rules == nil {
			to.Rules = map[string]RuleSetting{}
		}
		to.Rules[rule] = *merged
	}
}

func (m *merger) prune(to, from *Spec) {
	if from.Prune == nil {
		return
	}
	var joined Prune
	var state string
	if to.Prune != nil {
		joined, state = *to.Prune, to.Prune.state()
	}
	text(m, "prune", &state, from.Prune.state(), equal)
	joined.Off = state == "false"
	text(m, "prune.schedule", &joined.Schedule, from.Prune.Schedule, equal)
	pointer(m, "prune.keepFor", &joined.KeepFor, from.Prune.KeepFor, equal)
	text(m, "prune.image", &joined.Image, from.Prune.Image, equal)
	text(m, "prune.priorityClassName", &joined.PriorityClassName, from.Prune.PriorityClassName, equal)
	to.Prune = &joined
}

func (p *Prune) state() string { return strconv.FormatBool(!p.Off) }

// text merges a field whose empty value means absent.
func text[T ~string](m *merger, field string, to *T, from T, same func(a, b T) bool) {
	var before, now *T
	if *to != "" {
		before = to
	}
	if from != "" {
		now = &from
	}
	pointer(m, field, &before, now, same)
	if before != nil {
		*to = *before
	}
}

// pointer merges a field whose nil means absent. The first value stays where
// two are the same.
func pointer[T any](m *merger, field string, to **T, from *T, same func(a, b T) bool) {
	switch {
	case from == nil:
	case *to == nil:
		*to = from
		m.said[field] = m.source
	case !same(**to, *from) && m.err == nil:
		m.err = conflict(field, printed(**to), m.said[field], printed(*from), m.source)
	}
}

func conflict(field, value, source, other, otherSource string) error {
	const remedy = "leave it in one of them, or part them with `select`"
	if value == other {
		return fmt.Errorf("`spec.%s` is not the same in %s and in %s; %s", field, source, otherSource, remedy)
	}
	return fmt.Errorf("`spec.%s` is %s in %s and %s in %s; %s", field, value, source, other, otherSource, remedy)
}

// printed is a value in a message; a mapping is not spelled out.
func printed(value any) string {
	switch v := value.(type) {
	case ModelConfig, yaml.Node, Gateway, map[string]string:
		return "a mapping"
	case fmt.Stringer:
		return v.String()
	case string, FailOn:
		return quote(fmt.Sprint(v))
	}
	return fmt.Sprint(value)
}

func equal[T comparable](a, b T) bool { return a == b }

func deepEqual[T any](a, b T) bool { return reflect.DeepEqual(a, b) }

func sameBytes(a, b Quantity) bool { return a.Bytes == b.Bytes }

func sameWord(a, b string) bool { return plainWord(a) == plainWord(b) }

func sameRelease(a, b string) bool {
	return strings.TrimPrefix(a, "v") == strings.TrimPrefix(b, "v")
}

func sameNode(a, b yaml.Node) bool {
	var left, right any
	return a.Decode(&left) == nil && b.Decode(&right) == nil && reflect.DeepEqual(left, right)
}

// sameModelConfig compares what two files say, wherever they lie.
func sameModelConfig(a, b ModelConfig) bool {
	if len(a.JSON) == 0 || len(b.JSON) == 0 {
		return a.Path == b.Path && len(a.JSON) == len(b.JSON)
	}
	var left, right any
	return bytes.Equal(a.JSON, b.JSON) ||
		json.Unmarshal(a.JSON, &left) == nil && json.Unmarshal(b.JSON, &right) == nil && reflect.DeepEqual(left, right)
}

// unite appends what is not there yet. Repetitions inside one list stay.
func unite[T comparable](to, from []T) []T {
	return uniteBy(to, from, equal)
}

func uniteBy[T any](to, from []T, same func(a, b T) bool) []T {
	joined := slices.Clone(to)
	for _, element := range from {
		if !slices.ContainsFunc(to, func(t T) bool { return same(t, element) }) {
			joined = append(joined, element)
		}
	}
	return joined
}

// uniteSelectors is empty, which means every server, as soon as one config is
// about every server.
func uniteSelectors(configs []*Config) []Selector {
	var joined []Selector
	for _, c := range configs {
		if len(c.Spec.Select) == 0 {
			return nil
		}
		joined = uniteBy(joined, c.Spec.Select, deepEqual)
	}
	return joined
}
