package edit

import (
	"strings"

	"go.yaml.in/yaml/v3"
)

// plain reports whether a text needs no quotes to read as this string, to
// parsers of YAML 1.1 too.
func plain(text string, flow bool) bool {
	encoded, err := yaml.Marshal(text)
	if err != nil || string(encoded) != text+"\n" {
		return false
	}
	if !flow {
		return true
	}
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte("["+text+", x]"), &doc); err != nil || len(doc.Content) != 1 {
		return false
	}
	list := doc.Content[0]
	if list.Kind != yaml.SequenceNode || len(list.Content) != 2 {
		return false
	}
	got := list.Content[0]
	return got.Kind == yaml.ScalarNode && got.ShortTag() == "!!str" && got.Value == text
}

// singleQuoted writes a text between single quotes, if they can hold it.
func singleQuoted(text string) (string, bool) {
	for _, r := range text {
		if r < 0x20 || r >= 0x7f && r < 0xa0 || r == 0x2028 || r == 0x2029 || r == 0xfeff || r == 0xfffe || r == 0xffff {
			return "", false
		}
	}
	return "'" + strings.ReplaceAll(text, "'", "''") + "'", true
}

// habit is how an author writes strings.
type habit struct {
	// quotes is the style of those that stand in quotes.
	quotes yaml.Style
	// always says that those in quotes need none, and none stands without.
	always bool
}

// habitOf learns from strings that stand there.
func habitOf(samples []*yaml.Node, flow bool) habit {
	var h habit
	bare := false
	for _, n := range samples {
		quotes := n.Style & (yaml.SingleQuotedStyle | yaml.DoubleQuotedStyle)
		if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!str" || n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
			continue
		}
		if quotes == 0 {
			bare = true
			continue
		}
		h.quotes = quotes
		h.always = h.always || plain(n.Value, flow)
	}
	h.always = h.always && !bare
	return h
}

// write writes a string as the author would.
func (h habit) write(text string, flow bool) string {
	if !h.always && plain(text, flow) {
		return text
	}
	return quoted(text, h.quotes)
}

// jsonHabit is the one of JSON.
var jsonHabit = habit{quotes: yaml.DoubleQuotedStyle, always: true}
