package config

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	version "github.com/aquasecurity/go-pep440-version"
	"go.yaml.in/yaml/v3"
)

var (
	engineNames = []string{"sglang", "vllm"}
	vendorNames = []string{"amd", "intel", "nvidia"}
	failOnNames = []string{string(FailOnError), string(FailOnWarning), string(FailOnNever)}
)

// spec reads the spec of a Trim or Verify document.
func (d decoder) spec(s *Spec) read {
	known := fields{
		"select":  d.list(d.selector(&s.Select)),
		"keep":    d.list(d.word(&s.Keep)),
		"rules":   d.ruleSettings(&s.Rules),
		"facts":   d.list(d.fact(&s.Facts)),
		"failOn":  d.oneOf((*string)(&s.FailOn), failOnNames...),
		"stamp":   d.truth(&s.Stamp),
		"prune":   d.prune(&s.Prune),
		"monitor": d.monitor(&s.Monitor),
	}
	for name, section := range d.sections(s) {
		known[name] = d.mapping(section)
	}
	return d.mapping(known)
}

// mapping reads a mapping with the given fields.
func (d decoder) mapping(known fields) read {
	return func(node *yaml.Node, path string) error { return d.fields(node, path, known) }
}

// sections are the mappings below spec that hold plain values.
func (d decoder) sections(s *Spec) map[string]fields {
	return map[string]fields{
		"engine": {
			"name":    d.oneOf(&s.Engine.Name, engineNames...),
			"version": d.release(&s.Engine.Version),
			"knows":   d.list(d.word(&s.Engine.Knows)),
		},
		"gpu": {
			"name":              d.text(&s.GPU.Name),
			"vendor":            d.oneOf(&s.GPU.Vendor, vendorNames...),
			"arch":              d.text(&s.GPU.Arch),
			"computeCapability": d.computeCapability(&s.GPU.ComputeCapability),
			"count":             d.whole(&s.GPU.Count, 1),
			"memory":            d.quantity(&s.GPU.Memory, 1),
			"reserve":           d.quantity(&s.GPU.Reserve, 0),
		},
		"model": {
			"name":         d.text(&s.Model.Name),
			"dtype":        d.text(&s.Model.DType),
			"quantization": d.text(&s.Model.Quantization),
			"remoteCode":   d.truth(&s.Model.RemoteCode),
			"config":       d.modelConfig(&s.Model.Config),
		},
		"workload": {
			"peakRunning":    d.whole(&s.Workload.PeakRunning, 1),
			"peakMambaSlots": d.whole(&s.Workload.PeakMambaSlots, 0),
			"prompts":        d.list(d.prompt(&s.Workload.Prompts)),
		},
		"measured": {
			"kvTokens":               d.whole(&s.Measured.KVTokens, 1),
			"kvBytes":                d.quantity(&s.Measured.KVBytes, 1),
			"mambaSlots":             d.whole(&s.Measured.MambaSlots, 0),
			"mambaBytes":             d.quantity(&s.Measured.MambaBytes, 0),
			"prefillTokensPerSecond": d.rate(&s.Measured.PrefillTokensPerSecond),
		},
	}
}

// elsewhere finds the one section that has a field of this name.
func (d decoder) elsewhere(name string) (string, bool) {
	var places []string
	for section, known := range d.sections(&Spec{}) {
		if _, ok := known[name]; ok {
			places = append(places, "spec."+section+"."+name)
		}
	}
	if len(places) != 1 {
		return "", false
	}
	return places[0], true
}

// word reads one element of a list of words.
func (d decoder) word(to *[]string) read {
	return func(node *yaml.Node, path string) error {
		var s string
		if err := d.text(&s)(node, path); err != nil {
			return err
		}
		*to = append(*to, s)
		return nil
	}
}

// release reads a release or a PEP 440 range of releases.
func (d decoder) release(to *string) read {
	return func(node *yaml.Node, path string) error {
		s, ok := d.scalar(node, "!!str")
		if !ok {
			return wrong(path, "a release in quotes such as \"v0.5.16\"", node)
		}
		if _, err := version.NewSpecifiers(s); !isRelease(s) && (err != nil || s == "") {
			return wrong(path, "a release such as v0.5.16, or a range such as >=0.5.10,<0.5.16", node)
		}
		*to = s
		return nil
	}
}

func isRelease(s string) bool {
	_, err := version.Parse(strings.TrimPrefix(s, "v"))
	return err == nil && len(s) <= 64
}

var capabilityForm = regexp.MustCompile(`^[1-9][0-9]?(\.[0-9])?$`)

// computeCapability reads 8.9 or "8.9". A host may have turned 9.0 into 9.
func (d decoder) computeCapability(to *string) read {
	return func(node *yaml.Node, path string) error {
		s, ok := d.scalar(node, "!!str", "!!float", "!!int")
		if !ok || !capabilityForm.MatchString(s) {
			return wrong(path, "a compute capability such as 8.9", node)
		}
		if !strings.Contains(s, ".") {
			s += ".0"
		}
		*to = s
		return nil
	}
}

// prompt reads one class of requests. Tokens and output mean nothing alone; one
// request runs at once where the prompt does not say.
func (d decoder) prompt(to *[]Prompt) read {
	return func(node *yaml.Node, path string) error {
		var tokens, output, running *int64
		err := d.fields(node, path, fields{
			"tokens":  d.whole(&tokens, 1),
			"output":  d.whole(&output, 0),
			"running": d.whole(&running, 1),
		})
		if err != nil {
			return err
		}
		if tokens == nil || output == nil {
			return fmt.Errorf("`%s` needs both `tokens` and `output`", path)
		}
		one := int64(1)
		if running == nil {
			running = &one
		}
		*to = append(*to, Prompt{Tokens: *tokens, Output: *output, Running: *running})
		return nil
	}
}

// fact keeps a mapping for the room that knows what it means.
func (d decoder) fact(to *[]*yaml.Node) read {
	return func(node *yaml.Node, path string) error {
		if err := checkMapping(node, path); err != nil {
			return err
		}
		*to = append(*to, node)
		return nil
	}
}

// checkMapping refuses what later readers could not decode: duplicate keys and
// aliases that hold themselves.
func checkMapping(node *yaml.Node, path string) error {
	if node.Kind != yaml.MappingNode {
		return wrong(path, "a mapping", node)
	}
	if err := node.Decode(&map[string]any{}); err != nil {
		return fmt.Errorf("`%s` cannot be read: %w", path, oneLine(err))
	}
	return nil
}

// oneLine folds the lines of a YAML error.
func oneLine(err error) error {
	return errors.New(strings.Join(strings.Fields(strings.TrimPrefix(err.Error(), "yaml: ")), " "))
}

func (d decoder) prune(to **Prune) read {
	return func(node *yaml.Node, path string) error {
		p := &Prune{}
		if node.Kind == yaml.MappingNode {
			*to = p
			return d.fields(node, path, fields{
				"schedule": d.schedule(&p.Schedule),
				"keepFor":  d.duration(&p.KeepFor),
				"image":    d.unbroken(&p.Image),

				"priorityClassName": d.text(&p.PriorityClassName),
			})
		}
		var on *bool
		if err := d.truth(&on)(node, path); err != nil {
			return wrong(path, "false, or a mapping of schedule, keepFor, image and priorityClassName", node)
		}
		p.Off = !*on
		*to = p
		return nil
	}
}
