package edit

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/trimtab/trimtab/internal/finding"
	"github.com/trimtab/trimtab/internal/stream"
)

// scalarText is how a new value is written, and the tag it then has.
type scalarText struct{ text, tag string }

// chooseTexts decides how the scalars that are set are written.
func (p *plan) chooseTexts() error {
	for _, n := range p.edited {
		e, ok := p.set[n]
		if !ok {
			continue
		}
		text, err := p.chooseText(n, e)
		if err != nil {
			return err
		}
		p.text[n] = text
	}
	return nil
}

// chooseText keeps the style of the scalar where the value allows.
func (p *plan) chooseText(n *yaml.Node, e finding.Edit) (scalarText, error) {
	if !utf8.ValidString(e.Value) {
		return scalarText{}, &Refused{Path: e.Path, Reason: "the new value is not UTF-8"}
	}
	if p.layout[n].Mark < 0 && p.layout[n].Content == p.layout[n].End {
		return scalarText{}, &Refused{Path: e.Path, Reason: "its key has no colon"}
	}
	candidates := p.candidates(n, e.Value)
	if spliced, ok := p.splicedText(n, p.pieces[e.Path.String()]); ok {
		candidates = append([]string{spliced}, candidates...)
	}
	for _, candidate := range candidates {
		if tag, ok := p.probe(n, candidate, e.Value); ok {
			return scalarText{text: candidate, tag: tag}, nil
		}
	}
	return scalarText{}, &Refused{Path: e.Path, Reason: fmt.Sprintf("%q cannot be written where %q, a %s, stands", e.Value, n.Value, strings.TrimPrefix(n.ShortTag(), "!!"))}
}

// candidates are ways to write a value, the one like the old scalar first.
func (p *plan) candidates(n *yaml.Node, value string) []string {
	double := stream.Quote(value)
	single := "'" + strings.ReplaceAll(value, "'", "''") + "'"
	switch {
	case n.Style&yaml.DoubleQuotedStyle != 0:
		return []string{double}
	case n.Style&yaml.SingleQuotedStyle != 0:
		if strings.ContainsAny(value, "\n\r") {
			return []string{double}
		}
		return []string{single, double}
	case n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		return append(p.blockTexts(n, value), double)
	}
	if strings.ContainsAny(value, "\n\r") {
		return []string{double}
	}
	return []string{value, double}
}

// probe reads a candidate as the parser would at the place of n. It returns the
// tag it then has and whether the value is right and of the old kind.
func (p *plan) probe(n *yaml.Node, candidate, value string) (tag string, ok bool) {
	text := "k: " + candidate + "\n"
	if indent := p.layout[n].Indent; indent > 0 {
		text = "p:\n" + strings.Repeat(" ", indent) + text
	}
	if p.places[n].parent.Style&yaml.FlowStyle != 0 {
		text = "k: [" + candidate + ", x]\n"
	}
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
		return "", false
	}
	got := &doc
	for len(got.Content) > 0 && got.Kind != yaml.ScalarNode {
		if got.Kind == yaml.MappingNode {
			if len(got.Content) != 2 {
				return "", false
			}
			got = got.Content[1]
			continue
		}
		if got.Kind == yaml.SequenceNode && len(got.Content) != 2 {
			return "", false
		}
		got = got.Content[0]
	}
	if got.Kind != yaml.ScalarNode || got.Value != value {
		return "", false
	}
	if n.Style&yaml.TaggedStyle != 0 {
		return n.ShortTag(), true
	}
	return got.ShortTag(), sameKind(n.ShortTag(), got.ShortTag())
}

// sameKind reports whether a value of the new tag may stand where one of the
// old stood: a number for a number, anything for null.
func sameKind(before, after string) bool {
	number := func(tag string) bool { return tag == "!!int" || tag == "!!float" }
	switch {
	case before == "!!null":
		return after != "!!merge"
	case number(before):
		return number(after)
	}
	return before == after
}

// blockTexts are ways to write a value as a block scalar with the header of n,
// changed only in how it ends.
func (p *plan) blockTexts(n *yaml.Node, value string) []string {
	span := p.layout[n]
	if strings.ContainsAny(value, "\r\u0085\u2028\u2029\ufeff") {
		return nil
	}
	headEnd, next := p.item.Source.LineEnd(span.Content)
	header := string(p.data[span.Content:headEnd])
	newline := string(p.data[headEnd:next])
	indent := span.Indent + 2
	if first := strings.TrimLeft(string(p.data[next:max(next, span.End)]), "\r\n"); first != "" {
		indent = len(first) - len(strings.TrimLeft(first, " "))
	}
	if newline == "" || indent < 1 {
		return nil
	}
	if digit := strings.IndexAny(header, "123456789"); digit >= 0 && digit <= 2 {
		indent = max(span.Indent, 0) + int(header[digit]-'0')
	}
	indicators, comment, _ := strings.Cut(header, " ")
	if comment != "" {
		comment = " " + comment
	}
	bare := strings.NewReplacer("-", "", "+", "").Replace(indicators)
	var texts []string
	for _, head := range []string{indicators, bare + "-", bare, bare + "+"} {
		body := value
		if !strings.Contains(head, "-") {
			body = strings.TrimSuffix(body, "\n")
		}
		between := newline
		if n.Style&yaml.FoldedStyle != 0 {
			between += newline
		}
		var lines []string
		for _, line := range strings.Split(body, "\n") {
			if line != "" {
				line = strings.Repeat(" ", indent) + line
			}
			lines = append(lines, line)
		}
		texts = append(texts, head+comment+newline+strings.Join(lines, between))
	}
	return texts
}
