package config

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// configMap reads the flat form: a ConfigMap whose data holds one scalar a
// field. Without data it is a Trim that says nothing.
func (d decoder) configMap(node *yaml.Node, c *Config) error {
	d.flat = true
	return d.fields(node, "", fields{
		"apiVersion": ignore,
		"kind":       ignore,
		"metadata":   metadataName(&c.Name),
		"immutable":  ignore,
		"binaryData": ignore,
		"data":       d.mapping(d.flatFields(c)),
	})
}

// flatFields are the keys of the ConfigMap form, with the meaning of the field
// of the spec they are named after.
func (d decoder) flatFields(c *Config) fields {
	s := &c.Spec
	sections := d.sections(s)
	return fields{
		"mode":                   d.mode(&c.Kind),
		"engine":                 d.engineAt(&s.Engine),
		"knows":                  d.words(&s.Engine.Knows),
		"gpu":                    sections["gpu"]["name"],
		"gpuVendor":              sections["gpu"]["vendor"],
		"gpuArch":                sections["gpu"]["arch"],
		"gpuComputeCapability":   sections["gpu"]["computeCapability"],
		"gpuCount":               sections["gpu"]["count"],
		"gpuMemory":              sections["gpu"]["memory"],
		"gpuReserve":             sections["gpu"]["reserve"],
		"model":                  sections["model"]["name"],
		"modelDtype":             sections["model"]["dtype"],
		"modelQuantization":      sections["model"]["quantization"],
		"modelRemoteCode":        sections["model"]["remoteCode"],
		"peakRunning":            sections["workload"]["peakRunning"],
		"peakMambaSlots":         sections["workload"]["peakMambaSlots"],
		"kvTokens":               sections["measured"]["kvTokens"],
		"kvBytes":                sections["measured"]["kvBytes"],
		"mambaSlots":             sections["measured"]["mambaSlots"],
		"mambaBytes":             sections["measured"]["mambaBytes"],
		"prefillTokensPerSecond": sections["measured"]["prefillTokensPerSecond"],
		"keep":                   d.words(&s.Keep),
		"rules":                  d.flatRules(&s.Rules),
		"failOn":                 d.oneOf((*string)(&s.FailOn), failOnNames...),
		"stamp":                  d.truth(&s.Stamp),
		"prune":                  d.flatPrune(&s.Prune),
	}
}

func (d decoder) mode(to *Mode) read {
	return func(node *yaml.Node, path string) error {
		var word string
		if err := d.oneOf(&word, "trim", "verify")(node, path); err != nil {
			return err
		}
		*to = map[string]Mode{"trim": Trim, "verify": Verify}[word]
		return nil
	}
}

// engineAt reads NAME or NAME@VERSION.
func (d decoder) engineAt(to *Engine) read {
	return func(node *yaml.Node, path string) error {
		var text string
		if err := d.text(&text)(node, path); err != nil {
			return err
		}
		engine, err := parseEngine(text)
		if err != nil {
			return fmt.Errorf("`%s` %w", path, err)
		}
		to.Name, to.Version = engine.Name, engine.Version
		return nil
	}
}

// parseEngine reads NAME or NAME@VERSION. Its errors stand behind a name.
func parseEngine(text string) (Engine, error) {
	name, release, stated := strings.Cut(text, "@")
	if !slices.Contains(engineNames, name) {
		if near, ok := nearest(name, engineNames); ok {
			return Engine{}, fmt.Errorf("names the unknown engine %s; did you mean %q?", quote(name), near)
		}
		return Engine{}, fmt.Errorf("must be sglang or vllm, with a version as in sglang@v0.5.16, got %s", quote(text))
	}
	if stated && !isRelease(release) {
		return Engine{}, fmt.Errorf("must end in a release such as @v0.5.16, got %s", quote(text))
	}
	return Engine{Name: name, Version: release}, nil
}

// words reads a comma-separated list.
func (d decoder) words(to *[]string) read {
	return func(node *yaml.Node, path string) error {
		var text string
		if err := d.text(&text)(node, path); err != nil {
			return err
		}
		words, err := splitWords(text, path)
		*to = words
		return err
	}
}

func splitWords(text, path string) ([]string, error) {
	var words []string
	for word := range strings.SplitSeq(text, ",") {
		word = strings.TrimSpace(word)
		if word == "" {
			return nil, fmt.Errorf("`%s` has an empty entry between its commas: %s", path, quote(text))
		}
		words = append(words, word)
	}
	return words, nil
}

// flatRules reads name=value, comma separated.
func (d decoder) flatRules(to *map[string]RuleSetting) read {
	return func(node *yaml.Node, path string) error {
		var entries []string
		if err := d.words(&entries)(node, path); err != nil {
			return err
		}
		rules := map[string]RuleSetting{}
		for _, entry := range entries {
			name, word, _ := strings.Cut(entry, "=")
			name, word = strings.TrimSpace(name), strings.TrimSpace(word)
			if err := checkRule(name, d.rules); err != nil {
				return fmt.Errorf("`%s`: %w", path, err)
			}
			if _, twice := rules[name]; twice {
				return fmt.Errorf("`%s` sets the rule %q twice; remove one", path, name)
			}
			value := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: word}
			setting, err := d.ruleSetting(value, path+"."+name)
			if err != nil {
				return err
			}
			rules[name] = setting
		}
		*to = rules
		return nil
	}
}

// flatPrune reads true, false, or a schedule.
func (d decoder) flatPrune(to **Prune) read {
	return func(node *yaml.Node, path string) error {
		var on *bool
		if d.truth(&on)(node, path) == nil {
			*to = &Prune{Off: !*on}
			return nil
		}
		p := &Prune{}
		if err := d.schedule(&p.Schedule)(node, path); err != nil {
			return wrong(path, `false or a cron schedule such as "30 4 * * *"`, node)
		}
		*to = p
		return nil
	}
}
