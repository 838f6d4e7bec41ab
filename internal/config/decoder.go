package config

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"
)

// decoder reads YAML nodes strictly. It is a value without state.
type decoder struct {
	rules []string
	// inHost is true for a config that a host handed over: there are no files.
	inHost bool
	// flat is true in the ConfigMap form, where every value is one scalar and
	// may be quoted or not.
	flat bool
}

// read puts one node, which is never null or an alias, into its place.
type read func(node *yaml.Node, path string) error

// fields are the fields a mapping may have.
type fields map[string]read

func ignore(*yaml.Node, string) error { return nil }

// fields reads a mapping: unknown and repeated fields are errors, a null is a
// field that is not there.
func (d decoder) fields(node *yaml.Node, path string, known fields) error {
	if node.Kind != yaml.MappingNode {
		return wrong(path, "a mapping", node)
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(node.Content); i += 2 {
		key, value := resolve(node.Content[i]), resolve(node.Content[i+1])
		if key.Kind != yaml.ScalarNode {
			return fmt.Errorf("a field name in `%s` must be text, got %s", orRoot(path), describe(key))
		}
		if key.ShortTag() == "!!merge" {
			return fmt.Errorf("`%s` uses the merge key `<<`; write its fields out", orRoot(path))
		}
		field := join(path, key.Value)
		decode, ok := known[key.Value]
		if !ok {
			return d.unknownField(path, key.Value, known)
		}
		if seen[key.Value] {
			return fmt.Errorf("field `%s` stands twice; remove one", field)
		}
		seen[key.Value] = true
		if isNull(value) {
			continue
		}
		if err := decode(value, field); err != nil {
			return err
		}
	}
	return nil
}

func (d decoder) unknownField(path, name string, known fields) error {
	field := join(path, bare(name))
	names := slices.Sorted(maps.Keys(known))
	if near, ok := nearest(name, names); ok {
		return fmt.Errorf("unknown field `%s`; did you mean `%s`?", field, near)
	}
	if place, ok := d.elsewhere(name); ok && !d.flat {
		return fmt.Errorf("unknown field `%s`; did you mean `%s`?", field, place)
	}
	return fmt.Errorf("unknown field `%s`; `%s` takes %s", field, orRoot(path), strings.Join(names, ", "))
}

// list reads a sequence, each element by the same read.
func (d decoder) list(each read) read {
	return func(node *yaml.Node, path string) error {
		if node.Kind != yaml.SequenceNode {
			return wrong(path, "a list", node)
		}
		for i, element := range node.Content {
			element, path := resolve(element), path+"["+strconv.Itoa(i)+"]"
			if isNull(element) {
				return fmt.Errorf("`%s` is empty; remove it", path)
			}
			if err := each(element, path); err != nil {
				return err
			}
		}
		return nil
	}
}

// resolve follows an alias and unwraps a document. What is not there is a null.
func resolve(node *yaml.Node) *yaml.Node {
	for range 100 { // hand-made trees may point at themselves
		switch {
		case node == nil:
			return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null"}
		case node.Kind == yaml.AliasNode:
			node = node.Alias
		case node.Kind == yaml.DocumentNode && len(node.Content) == 1:
			node = node.Content[0]
		default:
			return node
		}
	}
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null"}
}

func isNull(node *yaml.Node) bool {
	return node.Kind == 0 || node.Kind == yaml.DocumentNode ||
		node.Kind == yaml.ScalarNode && node.ShortTag() == "!!null"
}

func join(path, field string) string {
	if path == "" {
		return field
	}
	return path + "." + field
}

func orRoot(path string) string {
	if path == "" {
		return "the document"
	}
	return path
}

// wrong is the error of a value that is not what the field takes.
func wrong(path, want string, node *yaml.Node) error {
	return fmt.Errorf("`%s` must be %s, got %s", path, want, describe(node))
}

// describe names a node in an error.
func describe(node *yaml.Node) string {
	switch {
	case node.Kind == yaml.MappingNode:
		return "a mapping"
	case node.Kind == yaml.SequenceNode:
		return "a list"
	case isNull(node):
		return "nothing"
	}
	return quote(node.Value)
}

func quote(s string) string { return strconv.Quote(clip(s)) }

// bare is a name of the user's between back-quotes, fit for one line.
func bare(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, clip(s))
}

// clip keeps an error on one readable line.
func clip(s string) string {
	const longest = 80
	if r := []rune(s); len(r) > longest {
		return string(r[:longest]) + "…"
	}
	return s
}
