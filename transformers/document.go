package transformers

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// The parts of a generated document, in the order in which they are written.
type (
	// mapping holds fields; one with an empty value is left out.
	mapping []field
	field   struct {
		key   string
		value any
	}
	// sequence holds elements.
	sequence []any
	// text is a string, quoted where YAML would read something else.
	text string
	// plain is written as it is: a number, a boolean, a word.
	plain string
	// literal is a block of lines that keep their form.
	literal string
)

// texts is a mapping of texts in the order of their keys.
func texts(values map[string]string) mapping {
	var m mapping
	for _, key := range slices.Sorted(maps.Keys(values)) {
		m = append(m, field{yamlText(key), quoted(values[key])})
	}
	return m
}

// quoted is a text that is there also when it is empty.
type quoted string

// number is an integer; nil is left out.
func number(n *int64) plain {
	if n == nil {
		return ""
	}
	return plain(strconv.FormatInt(*n, 10))
}

// document writes the parts as YAML in block style.
func document(m mapping) string {
	var b strings.Builder
	m.write(&b, 0)
	return b.String()
}

func (m mapping) write(b *strings.Builder, indent int) {
	for _, f := range m {
		if isEmpty(f.value) {
			continue
		}
		b.WriteString(strings.Repeat(" ", indent) + f.key + ":")
		writeValue(b, f.value, indent)
	}
}

func isEmpty(value any) bool {
	switch v := value.(type) {
	case mapping:
		return !slices.ContainsFunc(v, func(f field) bool { return !isEmpty(f.value) })
	case sequence:
		return len(v) == 0
	case text:
		return v == ""
	case plain:
		return v == ""
	}
	return false
}

// writeValue writes what stands behind a key, or behind the dash of an element.
func writeValue(b *strings.Builder, value any, indent int) {
	switch v := value.(type) {
	case mapping:
		b.WriteString("\n")
		v.write(b, indent+2)
	case sequence:
		b.WriteString("\n")
		for _, element := range v {
			b.WriteString(strings.Repeat(" ", indent+2) + "-")
			if fields, ok := element.(mapping); ok {
				var inner strings.Builder
				fields.write(&inner, indent+4)
				b.WriteString(" " + strings.TrimLeft(inner.String(), " "))
				continue
			}
			writeValue(b, element, indent+2)
		}
	case text:
		b.WriteString(" " + yamlText(string(v)) + "\n")
	case quoted:
		b.WriteString(" " + yamlText(string(v)) + "\n")
	case plain:
		b.WriteString(" " + string(v) + "\n")
	case literal:
		b.WriteString(" |\n")
		for line := range strings.Lines(string(v)) {
			if strings.TrimSpace(line) != "" {
				b.WriteString(strings.Repeat(" ", indent+2))
			}
			b.WriteString(line)
		}
	}
}
