package server

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/trimtab/trimtab/internal/setting"
)

// UnreadField is a field of a custom resource that the operator accepts and
// makes nothing of for this server.
type UnreadField struct {
	// Name is the flag that the field becomes with another value or on another
	// runtime, else the field's path: spec.contextSize.
	Name string
	Path setting.Path
	// Value is the text of a scalar; empty for a list or a mapping.
	Value string
	// Why says what happens to the field instead, Source where that stands in the
	// operator's own tree.
	Why, Source string
}

// unread is a row of an operator's table about fields that it does not read.
type unread struct {
	Fields []string `yaml:"fields"`
	// Runtimes are those for which it holds.
	Runtimes []string `yaml:"runtimes"`
	// Unless are words of a list for which the operator does look into it.
	Unless []string `yaml:"unless"`
	Why    string   `yaml:"why"`
	Source string   `yaml:"source"`
}

// unreadFields are the fields of a spec that become nothing under a runtime: by
// the table, and switches with the value for which their row writes no word.
func (o *operator) unreadFields(runtime string, spec *yaml.Node, path setting.Path) []UnreadField {
	var found []UnreadField
	for _, entry := range o.Unread {
		if !slices.Contains(entry.Runtimes, runtime) {
			continue
		}
		for _, name := range entry.Fields {
			node, at := field(spec, path, name)
			if node == nil || node.Kind == yaml.ScalarNode && text(node) == "" || entry.looksInto(node) {
				continue
			}
			found = append(found, UnreadField{Name: at.String(), Path: at, Value: text(node), Why: entry.Why, Source: entry.Source})
		}
	}
	if table := o.Runtimes[runtime]; table != nil {
		found = append(found, table.silentSwitches(spec, path)...)
	}
	return found
}

func (u unread) looksInto(list *yaml.Node) bool {
	if list.Kind != yaml.SequenceNode {
		return false
	}
	return slices.ContainsFunc(list.Content, func(element *yaml.Node) bool {
		name, _, _ := strings.Cut(text(element), "=")
		return slices.Contains(u.Unless, name)
	})
}

// silentSwitches are the fields with the value false whose row writes its flag
// for true alone.
func (r *runtime) silentSwitches(spec *yaml.Node, path setting.Path) []UnreadField {
	var found []UnreadField
	for _, row := range r.Rows {
		if row.When != "true" {
			continue
		}
		for _, name := range row.Fields {
			node, at := field(spec, path, name)
			if text(node) != "false" {
				continue
			}
			found = append(found, UnreadField{
				Name: row.Flag, Path: at, Value: "false", Source: r.Source,
				Why: "the operator writes " + row.Flag + " for true and nothing for false, so the engine's own default stands",
			})
		}
	}
	return found
}
