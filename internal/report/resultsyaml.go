package report

import (
	"bytes"
	"maps"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// AppendYAML appends the result as the lines of a block mapping, as its YAML
// encoder writes them. The encoder costs ten times as much, and a fleet has
// thousands of results.
func (r Result) AppendYAML(to []byte) []byte {
	to = appendPair(to, "message: ", r.Message)
	to = appendPair(to, "severity: ", r.Severity)
	if ref := r.ResourceRef; ref != nil {
		to = append(to, "resourceRef:\n"...)
		to = appendPair(to, "  apiVersion: ", ref.APIVersion)
		to = appendPair(to, "  kind: ", ref.Kind)
		to = appendPair(to, "  name: ", ref.Name)
		to = appendUnlessEmpty(to, "  namespace: ", ref.Namespace)
	}
	if field := r.Field; field != nil {
		to = append(to, "field:\n"...)
		to = appendPair(to, "  path: ", field.Path)
		to = appendUnlessEmpty(to, "  currentValue: ", field.CurrentValue)
		to = appendUnlessEmpty(to, "  proposedValue: ", field.ProposedValue)
	}
	if file := r.File; file != nil {
		to = append(to, "file:\n"...)
		to = appendPair(to, "  path: ", file.Path)
		if file.Index != 0 {
			to = append(to, "  index: "...)
			to = append(strconv.AppendInt(to, int64(file.Index), 10), '\n')
		}
	}
	if len(r.Tags) > 0 {
		to = append(to, "tags:\n"...)
		for _, name := range slices.Sorted(maps.Keys(r.Tags)) {
			to = appendPair(to, "  "+name+": ", r.Tags[name])
		}
	}
	return to
}

func appendUnlessEmpty(to []byte, key, value string) []byte {
	if value == "" {
		return to
	}
	return appendPair(to, key, value)
}

func appendPair(to []byte, key, value string) []byte {
	to = append(to, key...)
	switch styleOf(value) {
	case plain:
		return append(append(to, value...), '\n')
	case single:
		to = append(append(to, '\''), strings.ReplaceAll(value, "'", "''")...)
		return append(to, "'\n"...)
	case double:
		return append(append(append(to, '"'), value...), "\"\n"...)
	}
	var encoded bytes.Buffer
	encoder := yaml.NewEncoder(&encoded)
	encoder.SetIndent(2)
	if key[0] != ' ' {
		_ = encoder.Encode(map[string]string{"": value}) // a text always encodes
		return append(to, strings.TrimPrefix(encoded.String(), `"": `)...)
	}
	_ = encoder.Encode(map[string]map[string]string{"": {"": value}})
	return append(to, strings.TrimPrefix(encoded.String(), "\"\":\n  \"\": ")...)
}

// style is how a text is written.
type style int

const (
	unsure style = iota // the encoder decides
	plain
	single // in single quotes
	double // in double quotes, without escapes
)

// styleOf is the style of texts that are in no doubt: flags, words and sentences
// in ASCII, whole numbers.
func styleOf(text string) style {
	first := strings.TrimPrefix(text, "--")
	switch {
	case text != "" && strings.Trim(text, "0123456789") == "", text == "true", text == "false", text == "null":
		return double
	case first == "" || !isLetter(first[0]) || text[len(text)-1] == ' ' || otherType(text):
		return unsure
	}
	chosen := plain
	for i := range len(text) {
		switch c := text[i]; {
		case c < ' ' || c > '~':
			return unsure
		case c == ':' && (i == len(text)-1 || text[i+1] == ' '), c == '#' && text[i-1] == ' ':
			chosen = single
		}
	}
	return chosen
}

// otherType tells whether YAML may take a word for a truth value, a number or
// nothing.
func otherType(word string) bool {
	switch strings.ToLower(word) {
	case "y", "n", "yes", "no", "on", "off", "true", "false", "null", "nan", "inf":
		return true
	}
	return false
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
