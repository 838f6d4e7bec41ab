package edit

import (
	"bytes"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/trimtab/trimtab/internal/finding"
	"github.com/trimtab/trimtab/internal/stream"
)

// Encode makes the edits by writing the item anew: block style with two blanks
// of indent where it stands, JSON for an item in flow style. It is for hosts
// that write all YAML anew anyway, where Plan refuses. It returns a *Conflict or
// a *Refused where even that is not possible.
func Encode(item *stream.Item, edits []finding.Edit) (stream.Splice, error) {
	p, err := newPlan(item, edits)
	if err != nil || p == nil {
		return stream.Splice{}, err
	}
	want, nodes, err := p.intended()
	if err != nil {
		return stream.Splice{}, err
	}
	// What stands outside of the splice stays in the text.
	trimComments(nodes[p.root])
	span := p.layout[p.root]
	text, err := p.encode(nodes[p.root])
	if err != nil {
		return stream.Splice{}, err
	}
	splice := stream.Splice{Offset: span.Start, Delete: span.End - span.Start, Insert: text}
	got, err := item.DecodeWith([]stream.Splice{splice})
	if err != nil {
		return stream.Splice{}, &Refused{Reason: "the result would be no valid YAML: " + err.Error()}
	}
	if !stream.SameTree(want, got) {
		return stream.Splice{}, &Refused{Reason: "the result would not read as intended"}
	}
	return splice, nil
}

// encode writes the item's new node for its place.
func (p *plan) encode(n *yaml.Node) (string, error) {
	if p.root.Style&yaml.FlowStyle != 0 {
		text, err := stream.JSON(n)
		if err != nil {
			return "", &Refused{Reason: err.Error()}
		}
		return text, nil
	}
	var b bytes.Buffer
	encoder := yaml.NewEncoder(&b)
	encoder.SetIndent(2)
	if err := encoder.Encode(n); err != nil {
		return "", &Refused{Reason: "the object cannot be written: " + err.Error()}
	}
	if err := encoder.Close(); err != nil {
		return "", &Refused{Reason: "the object cannot be written: " + err.Error()}
	}
	start := p.layout[p.root].Start
	indent := strings.Repeat(" ", start-p.item.Source.LineStart(start))
	newline := "\n"
	if end, next := p.item.Source.LineEnd(start); next > end {
		newline = string(p.data[end:next])
	}
	text := stream.Indent(b.String(), indent, newline)
	return strings.TrimSuffix(strings.TrimPrefix(text, indent), newline), nil
}

// trimComments drops the comments that stand before or behind a node's text.
func trimComments(n *yaml.Node) {
	for first := n; ; first = first.Content[0] {
		first.HeadComment = ""
		if len(first.Content) == 0 {
			break
		}
	}
	for last := n; ; last = last.Content[len(last.Content)-1] {
		last.LineComment, last.FootComment = "", ""
		if len(last.Content) == 0 {
			break
		}
		if last.Kind == yaml.MappingNode {
			last.Content[len(last.Content)-2].FootComment = ""
		}
	}
}
