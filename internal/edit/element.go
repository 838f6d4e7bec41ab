package edit

import (
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/trimtab/trimtab/internal/finding"
)

// listStyle is how the elements of a list are written.
type listStyle struct {
	dash, gap int  // the column of the dash and the blanks behind it
	braces    bool // mappings stand in braces
	pad       string
	scalars   habit
	keys      habit
	fields    map[string]habit
}

// styleOf learns how a sequence is written, from the elements that stay if any
// do.
func (c *cutter) styleOf(n *yaml.Node) listStyle {
	flow := n.Style&yaml.FlowStyle != 0
	style := listStyle{gap: 1, fields: map[string]habit{}}
	var keys []*yaml.Node
	values := map[string][]*yaml.Node{}
	var samples []*yaml.Node
	stay := len(c.left(n)) > 0
	for _, element := range n.Content {
		span := c.layout[element]
		style.dash = span.Indent
		if gap := span.Start - span.Mark - 1; !flow && gap > 0 && c.sameLine(span.Mark, span.Start) {
			style.gap = gap
		}
		if stay && c.leaves(element) {
			continue
		}
		samples = append(samples, element)
		if element.Kind != yaml.MappingNode {
			continue
		}
		style.braces = element.Style&yaml.FlowStyle != 0
		style.pad = ""
		if style.braces && isBlank(c.data[span.Content+1]) {
			style.pad = " "
		}
		for _, child := range children(element) {
			keys = append(keys, child.first)
			values[child.first.Value] = append(values[child.first.Value], child.value)
		}
	}
	style.scalars, style.keys = habitOf(samples, flow), habitOf(keys, flow || style.braces)
	for name, samples := range values {
		style.fields[name] = habitOf(samples, flow || style.braces)
	}
	return style
}

// field is how the value of a field is written.
func (s listStyle) field(name string) habit {
	if h, ok := s.fields[name]; ok {
		return h
	}
	return habit{}
}

// flowParts are the texts that come into a flow collection.
func (c *cutter) flowParts(n *yaml.Node) []string {
	g, style := c.growth[n], c.styleOf(n)
	if n.Kind != yaml.MappingNode {
		return c.flowElements(g.elements, style)
	}
	var keys, values []*yaml.Node
	for _, child := range children(n) {
		keys, values = append(keys, child.first), append(values, child.value)
	}
	style = listStyle{keys: habitOf(keys, true), scalars: habitOf(values, true)}
	var texts []string
	if c.isJSON() {
		style.keys, style.scalars = jsonHabit, jsonHabit
	}
	for _, k := range g.keys {
		text := style.scalars.write(k.text, true)
		if len(k.elements) > 0 {
			text = "[" + strings.Join(c.flowElements(k.elements, style), ", ") + "]"
		} else if len(k.fields) > 0 {
			text = strings.Join(c.flowElements([]finding.Edit{{Fields: k.fields}}, listStyle{keys: style.keys}), "")
		}
		texts = append(texts, style.keys.write(k.key, true)+": "+text)
	}
	return texts
}

func (c *cutter) flowElements(elements []finding.Edit, style listStyle) []string {
	if c.isJSON() {
		style = listStyle{pad: style.pad, scalars: jsonHabit, keys: jsonHabit}
		style.fields = map[string]habit{}
		for _, e := range elements {
			for _, f := range e.Fields {
				style.fields[f.Name] = jsonHabit
			}
		}
	}
	var texts []string
	for _, e := range elements {
		texts = append(texts, style.inFlow(e))
	}
	return texts
}

// inFlow writes an element in flow style.
func (s listStyle) inFlow(e finding.Edit) string {
	if len(e.Fields) == 0 {
		return s.scalars.write(e.Value, true)
	}
	var pairs []string
	for _, f := range e.Fields {
		pairs = append(pairs, s.keys.write(f.Name, true)+": "+s.field(f.Name).write(f.Value, true))
	}
	return "{" + s.pad + strings.Join(pairs, ", ") + s.pad + "}"
}

// blockElements writes elements with their dashes.
func (c *cutter) blockElements(elements []finding.Edit, s listStyle, newline string) string {
	var b strings.Builder
	for _, e := range elements {
		b.WriteString(strings.Repeat(" ", s.dash) + "-" + strings.Repeat(" ", s.gap))
		switch {
		case len(e.Fields) == 0:
			b.WriteString(s.scalars.write(e.Value, false) + newline)
			continue
		case s.braces:
			b.WriteString(s.inFlow(e) + newline)
			continue
		}
		for i, f := range e.Fields {
			if i > 0 {
				b.WriteString(strings.Repeat(" ", s.dash+1+s.gap))
			}
			b.WriteString(s.keys.write(f.Name, false) + ": " + s.field(f.Name).write(f.Value, false) + newline)
		}
	}
	return b.String()
}
