package edit

import (
	"bytes"
	"encoding/json"
	"sort"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/trimtab/trimtab/internal/stream"
)

// addition is whole lines that come before the line at an offset.
type addition struct {
	offset int
	// depth orders those at one offset: what is deeper stands first.
	depth int
	text  string
}

// grow writes what comes into a node.
func (c *cutter) grow(n *yaml.Node) {
	switch {
	case c.inPlace[n]:
	case n.Kind == yaml.ScalarNode || len(n.Content) == 0:
		if !c.unfold(n) {
			c.fillEmpty(n)
		}
	case n.Style&yaml.FlowStyle != 0:
		c.growFlow(n)
	default:
		parts := children(n)
		_, next := c.source.LineEnd(c.layout[parts[len(parts)-1].value].End)
		c.addLines(n, c.trailing(next, c.above(n)), c.newLines(n))
	}
}

func (c *cutter) addLines(n *yaml.Node, offset int, text string) {
	c.adds = append(c.adds, addition{offset: offset, depth: len(c.places[n].path), text: text})
}

// above is the column of the key or dash that holds a collection. A document
// has none: there it is the column of its own keys or dashes.
func (c *cutter) above(n *yaml.Node) int {
	if n != c.root || c.layout[n].Indent >= 0 {
		return c.layout[n].Indent
	}
	text := c.item.Text()
	if dash := len(text) - len(bytes.TrimLeft(text, " ")); c.item.Element != stream.NoElement && text[dash] == '-' {
		return dash
	}
	return c.layout[n.Content[0]].Indent
}

// trailing returns the start of the line behind the comment lines at next that
// belong to what stands above them: those that follow directly and are indented
// deeper than the column of the key or dash that holds the collection. All other
// comments belong to what follows.
func (c *cutter) trailing(next, column int) int {
	_, end := c.item.Bounds()
	for next < end {
		lineEnd, following := c.source.LineEnd(next)
		line := c.data[next:lineEnd]
		text := bytes.TrimLeft(line, " ")
		if len(text) == 0 || text[0] != '#' || len(line)-len(text) <= column {
			break
		}
		next = following
	}
	return min(next, end)
}

// newLines are the lines that come to a block collection.
func (c *cutter) newLines(n *yaml.Node) string {
	g, newline := c.growth[n], c.newline(c.layout[n].Start)
	if n.Kind == yaml.SequenceNode {
		return c.blockElements(g.elements, c.styleOf(n), newline)
	}
	column := c.layout[n.Content[0]].Indent
	var keys, values []*yaml.Node
	for _, child := range children(n) {
		keys, values = append(keys, child.first), append(values, child.value)
	}
	var b strings.Builder
	indent := strings.Repeat(" ", column)
	for _, k := range g.keys {
		b.WriteString(indent + habitOf(keys, false).write(k.key, false) + ":")
		switch {
		case len(k.elements) > 0:
			b.WriteString(newline + c.blockElements(k.elements, listStyle{dash: column + c.step(n), gap: 1}, newline))
		case len(k.fields) > 0:
			b.WriteString(newline)
			deeper := strings.Repeat(" ", c.indentStep(n))
			for _, f := range k.fields {
				b.WriteString(indent + deeper + habit{}.write(f.Name, false) + ": " + habit{}.write(f.Value, false) + newline)
			}
		default:
			b.WriteString(" " + habitOf(values, false).write(k.text, false) + newline)
		}
	}
	return b.String()
}

// indentStep is how much deeper than a mapping the author puts the keys of a
// mapping in it: as in the first one there, else two.
func (c *cutter) indentStep(n *yaml.Node) int {
	for _, child := range children(n) {
		if child.value.Kind == yaml.MappingNode && child.value.Style&yaml.FlowStyle == 0 && len(child.value.Content) > 0 {
			return max(c.layout[child.value.Content[0]].Indent-c.layout[n.Content[0]].Indent, 1)
		}
	}
	if at, ok := c.places[n]; ok && at.key != nil {
		return max(c.layout[n.Content[0]].Indent-c.layout[at.key].Indent, 1)
	}
	return 2
}

// step is how much deeper than their key the author puts the dashes of a list:
// as beside the new list, else as in the first list of the object, else two.
func (c *cutter) step(parent *yaml.Node) int {
	for _, n := range parent.Content {
		if step, ok := c.stepOf(n); ok {
			return step
		}
	}
	step := 2
	var walk func(n *yaml.Node) bool
	walk = func(n *yaml.Node) bool {
		if n.Kind != yaml.MappingNode && n.Kind != yaml.SequenceNode {
			return false
		}
		for _, child := range n.Content {
			if found, ok := c.stepOf(child); ok && n.Kind == yaml.MappingNode {
				step = found
				return true
			}
			if walk(child) {
				return true
			}
		}
		return false
	}
	walk(c.root)
	return step
}

func (c *cutter) stepOf(n *yaml.Node) (int, bool) {
	if n.Kind != yaml.SequenceNode || n.Style&yaml.FlowStyle != 0 || len(n.Content) == 0 {
		return 0, false
	}
	return c.layout[n.Content[0]].Indent - c.layout[n].Indent, true
}

// newline is the line break that ends the line of an offset, or the one before
// it, or LF.
func (c *cutter) newline(offset int) string {
	if end, next := c.source.LineEnd(offset); next > end {
		return string(c.data[end:next])
	}
	if start := c.source.LineStart(offset); start > 0 {
		end, next := c.source.LineEnd(c.source.LineStart(start - 1))
		return string(c.data[end:next])
	}
	return "\n"
}

// unfold turns a null or an empty `[]` behind a block key into a block list. It
// reports false where only a flow list can stand.
func (c *cutter) unfold(n *yaml.Node) bool {
	at, span := c.places[n], c.layout[n]
	if at.key == nil || c.inFlow(n) || n.Kind == yaml.MappingNode {
		return false
	}
	start := c.head(n)
	if !blank(c.data[start:max(start, span.Content)]) {
		return false
	}
	if n.Kind == yaml.SequenceNode && len(bytes.TrimSpace(c.data[span.Content+1:span.End-1])) > 0 {
		return false
	}
	if span.End > span.Content {
		c.inserts = append(c.inserts, stream.Splice{Offset: start, Delete: span.End - start})
	}
	_, next := c.source.LineEnd(span.End)
	style := listStyle{dash: span.Indent + c.step(at.parent), gap: 1}
	c.addLines(n, c.trailing(next, span.Indent), c.blockElements(c.growth[n].elements, style, c.newline(span.Start)))
	return true
}

// fillEmpty writes into an empty flow collection, or a flow list in place of a
// null.
func (c *cutter) fillEmpty(n *yaml.Node) {
	span, text := c.layout[n], strings.Join(c.flowParts(n), ", ")
	switch {
	case n.Kind != yaml.ScalarNode:
		start := span.Content + 1
		if len(bytes.TrimSpace(c.data[start:span.End-1])) > 0 {
			start = span.End - 1 // behind comments
		}
		c.inserts = append(c.inserts, stream.Splice{Offset: start, Delete: span.End - 1 - start, Insert: text})
	case span.Content == span.End:
		c.inserts = append(c.inserts, stream.Splice{Offset: span.Content, Insert: " [" + text + "]"})
	default:
		c.inserts = append(c.inserts, stream.Splice{Offset: span.Content, Delete: span.End - span.Content, Insert: "[" + text + "]"})
	}
}

// growFlow writes behind the last part of a flow collection that stays, or in
// place of the first where all go: on lines of its own where that part has one.
func (c *cutter) growFlow(n *yaml.Node) {
	parts, texts := children(n), c.flowParts(n)
	last := len(parts) - 1
	comma := "" // behind the last new part, as behind the last old one
	if c.layout[parts[last].value].Comma >= 0 {
		comma = ","
	}
	for last >= 0 && c.leaves(parts[last].value) {
		last--
	}
	at := parts[max(last, 0)]
	start, end := c.layout[at.first].Start, c.layout[at.value].End
	if behind := c.layout[at.value].Comma; behind >= 0 {
		end = behind + 1
	}
	if last >= 0 && c.layout[at.value].Comma < 0 {
		c.inserts = append(c.inserts, stream.Splice{Offset: end, Insert: ","})
	}
	_, next := c.source.LineEnd(end)
	if c.ownsLine(start) && c.restIsComment(end) {
		line := c.source.LineStart(start)
		indent, newline := string(c.data[line:start]), c.newline(start)
		if last < 0 {
			next = line
		}
		c.addLines(n, next, indent+strings.Join(texts, ","+newline+indent)+comma+newline)
		return
	}
	text := strings.Join(texts, ", ") + comma
	switch {
	case last < 0:
		c.fills[start] = text
	case last+1 < len(parts) && c.sameLine(end, c.layout[parts[last+1].first].Start):
		c.fills[c.layout[parts[last+1].first].Start] = text
	default:
		c.inserts = append(c.inserts, stream.Splice{Offset: end, Insert: " " + text})
	}
}

func (c *cutter) sameLine(i, j int) bool {
	return c.source.LineStart(i) == c.source.LineStart(j)
}

// isJSON reports whether the object is written as JSON.
func (c *cutter) isJSON() bool {
	return c.root.Style&yaml.FlowStyle != 0 && json.Valid(c.item.Text())
}

// joinAdditions puts additions of one offset together, those of what is deeper
// first.
func (c *cutter) joinAdditions() []addition {
	sort.SliceStable(c.adds, func(i, j int) bool {
		if c.adds[i].offset != c.adds[j].offset {
			return c.adds[i].offset < c.adds[j].offset
		}
		return c.adds[i].depth > c.adds[j].depth
	})
	var joined []addition
	for _, a := range c.adds {
		if last := len(joined) - 1; last >= 0 && joined[last].offset == a.offset {
			joined[last].text += a.text
			continue
		}
		joined = append(joined, a)
	}
	return joined
}

// spliceLines inserts lines; at the end of a text without a final line break
// the break comes before them.
func (c *cutter) spliceLines(a addition) stream.Splice {
	if c.source.LineStart(a.offset) == a.offset {
		return stream.Splice{Offset: a.offset, Insert: a.text}
	}
	newline := c.newline(a.offset)
	return stream.Splice{Offset: a.offset, Insert: newline + strings.TrimSuffix(a.text, newline)}
}
