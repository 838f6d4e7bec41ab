package stream

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Quote writes a string, which must be UTF-8, between double quotes so that
// YAML and JSON both read it.
func Quote(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\r':
			b.WriteString(`\r`)
		case r < 0x20 || r >= 0x7f && r < 0xa0 || r == 0x2028 || r == 0x2029 || r == 0xfeff || r == 0xfffe || r == 0xffff:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// JSON writes a tree as JSON on one line. It returns an error for what JSON
// does not have: aliases, merge keys, keys that are no scalars, numbers in
// YAML's own notations.
func JSON(n *yaml.Node) (string, error) {
	var b strings.Builder
	err := writeJSON(&b, n)
	return b.String(), err
}

func writeJSON(b *strings.Builder, n *yaml.Node) error {
	switch n.Kind {
	case yaml.MappingNode:
		b.WriteByte('{')
		for i := 0; i+1 < len(n.Content); i += 2 {
			if i > 0 {
				b.WriteString(", ")
			}
			if n.Content[i].Kind != yaml.ScalarNode || n.Content[i].ShortTag() == "!!merge" {
				return errors.New("a key cannot be written as JSON")
			}
			b.WriteString(Quote(n.Content[i].Value) + ": ")
			if err := writeJSON(b, n.Content[i+1]); err != nil {
				return err
			}
		}
		b.WriteByte('}')
		return nil
	case yaml.SequenceNode:
		b.WriteByte('[')
		for i, child := range n.Content {
			if i > 0 {
				b.WriteString(", ")
			}
			if err := writeJSON(b, child); err != nil {
				return err
			}
		}
		b.WriteByte(']')
		return nil
	case yaml.ScalarNode:
		return writeJSONScalar(b, n)
	}
	return errors.New("an alias cannot be written as JSON")
}

func writeJSONScalar(b *strings.Builder, n *yaml.Node) error {
	if n.ShortTag() == "!!str" {
		b.WriteString(Quote(n.Value))
		return nil
	}
	if !json.Valid([]byte(n.Value)) {
		return fmt.Errorf("%q cannot be written as JSON", n.Value)
	}
	b.WriteString(n.Value)
	return nil
}
