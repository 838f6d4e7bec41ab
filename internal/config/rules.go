package config

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/trimtab/trimtab/internal/finding"
)

// The words a rule can be set to, beside a mapping of severity and trim.
var (
	ruleWords     = []string{"off", "info", "warning", "error", "fix", "report"}
	severityWords = []string{"info", "warning", "error", "off"}
)

// ruleSettings reads a mapping of rule names to settings.
func (d decoder) ruleSettings(to *map[string]RuleSetting) read {
	return func(node *yaml.Node, path string) error {
		settings := map[string]RuleSetting{}
		known := fields{}
		for _, rule := range d.rules {
			known[rule] = func(node *yaml.Node, path string) error {
				setting, err := d.ruleSetting(node, path)
				settings[rule] = setting
				return err
			}
		}
		if err := d.checkRules(node, path); err != nil {
			return err
		}
		*to = settings
		return d.fields(node, path, known)
	}
}

// checkRules answers a misspelled rule as a rule, not as a field: the list of
// all rules would be no help.
func (d decoder) checkRules(node *yaml.Node, path string) error {
	if node.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		key := resolve(node.Content[i])
		if key.Kind != yaml.ScalarNode || key.ShortTag() == "!!merge" {
			continue
		}
		if err := checkRule(key.Value, d.rules); err != nil {
			return fmt.Errorf("`%s`: %w", path, err)
		}
	}
	return nil
}

// checkRule returns an error that names the nearest rule.
func checkRule(rule string, known []string) error {
	if slices.Contains(known, rule) {
		return nil
	}
	if near, ok := nearest(rule, known); ok {
		return fmt.Errorf("unknown rule %s; did you mean %q?", quote(rule), near)
	}
	return fmt.Errorf("unknown rule %s; the rules are %s", quote(rule), strings.Join(known, ", "))
}

func (d decoder) ruleSetting(node *yaml.Node, path string) (RuleSetting, error) {
	var setting RuleSetting
	if node.Kind == yaml.MappingNode {
		var severity string
		err := d.fields(node, path, fields{
			"severity": d.offOr(&severity, severityWords),
			"trim":     d.truth(&setting.Trim),
		})
		if err != nil {
			return RuleSetting{}, err
		}
		setting.set(severity)
		return setting, nil
	}
	var word string
	if err := d.offOr(&word, ruleWords)(node, path); err != nil {
		return RuleSetting{}, err
	}
	setting.set(word)
	return setting, nil
}

// offOr reads one of the words; the boolean false is `off`, which YAML 1.1
// hosts turn it into.
func (d decoder) offOr(to *string, words []string) read {
	return func(node *yaml.Node, path string) error {
		if node.Kind == yaml.ScalarNode && strings.EqualFold(node.Value, "false") {
			*to = "off"
			return nil
		}
		return d.oneOf(to, words...)(node, path)
	}
}

func (r *RuleSetting) set(word string) {
	act := word == "fix"
	severity := finding.Severity(word)
	switch word {
	case "":
	case "off":
		r.Off = true
	case "fix", "report":
		r.Trim = &act
	default:
		r.Severity = &severity
	}
}

// String prints the setting as a config writes it.
func (r RuleSetting) String() string {
	switch {
	case r.Off:
		return "off"
	case r.Severity != nil && r.Trim != nil:
		return fmt.Sprintf("{severity: %s, trim: %t}", *r.Severity, *r.Trim)
	case r.Severity != nil:
		return string(*r.Severity)
	case r.Trim != nil && *r.Trim:
		return "fix"
	case r.Trim != nil:
		return "report"
	}
	return "{}"
}
