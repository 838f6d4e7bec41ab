package edit

import (
	"bytes"
	"slices"
	"sort"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/trimtab/trimtab/internal/finding"
	"github.com/trimtab/trimtab/internal/stream"
)

// cut is a run of bytes that goes.
type cut struct {
	start, end int
	// edit is the one the cut is made for.
	edit finding.Edit
	// exact cuts take neither lines nor blanks around them: a comma.
	exact bool
}

// share is a cut whose line begins with a dash that stays.
type share struct {
	cut
	next int // where the first sibling that stays begins
}

// cutter turns a plan into splices.
type cutter struct {
	*plan
	source  *stream.Source
	inline  []cut
	lines   []cut // whole lines
	shares  []share
	inserts []stream.Splice
	adds    []addition
	// fills are the texts that come in place of what is cut at an offset.
	fills map[int]string
	// inPlace holds the collections whose growth stands where their first part
	// stood.
	inPlace map[*yaml.Node]bool
}

// splices returns the plan's splices, sorted.
func (p *plan) splices() ([]stream.Splice, error) {
	c := &cutter{plan: p, source: p.item.Source, fills: map[int]string{}, inPlace: map[*yaml.Node]bool{}}
	done := map[*yaml.Node]bool{}
	for _, n := range p.order {
		if done[n] || p.insideGone(n) {
			continue
		}
		done[n] = true
		if n.Style&yaml.FlowStyle != 0 {
			c.flow(n)
		} else {
			c.block(n)
		}
	}
	for _, n := range p.edited {
		e, ok := p.set[n]
		if !ok {
			continue
		}
		if !done[n] {
			done[n] = true
			c.scalar(n, e)
		}
	}
	for _, n := range p.grown {
		c.grow(n)
	}
	c.inlineCuts()
	c.shareCuts()
	return c.collect(), nil
}

// scalar replaces the text of a scalar.
func (c *cutter) scalar(n *yaml.Node, e finding.Edit) {
	span, text := c.layout[n], c.text[n].text
	if span.Content == span.End {
		text = " " + text
	}
	c.inserts = append(c.inserts, stream.Splice{Offset: span.Content, Delete: span.End - span.Content, Insert: text})
}

// region is what a part of a block collection takes up. Of a hollow sequence it
// is only the key: its elements go one by one, so that comments between stay.
func (c *cutter) region(n *yaml.Node, child part) cut {
	span := c.layout[child.value]
	region := cut{start: c.layout[child.first].Start, end: span.End, edit: c.gone[child.value]}
	if n.Kind == yaml.SequenceNode {
		region.start = span.Mark
	}
	if e, hollow := c.hollow[child.value]; hollow {
		region.end, region.edit = c.head(child.value), e
	}
	return region
}

// head returns where the line of a key ends before its block value: behind the
// colon, or behind the value's anchor and tag.
func (c *cutter) head(value *yaml.Node) int {
	span := c.layout[value]
	if span.Head > span.Start {
		return span.Head
	}
	return span.Mark + 1
}

// block cuts the parts of a block collection that leave it.
func (c *cutter) block(n *yaml.Node) {
	next := -1
	if left := c.left(n); len(left) > 0 {
		next = c.layout[left[0]].Start
		if n.Kind == yaml.SequenceNode {
			next = c.layout[left[0]].Mark
		}
	}
	at := c.places[n]
	if c.emptied[n] && at.key != nil {
		c.inserts = append(c.inserts, stream.Splice{Offset: c.head(n), Insert: " " + empty(n)})
	}
	for i, child := range children(n) {
		if !c.leaves(child.value) {
			continue
		}
		region := c.region(n, child)
		switch {
		case i == 0 && c.emptied[n] && at.key == nil:
			end, _ := c.source.LineEnd(region.end)
			c.inserts = append(c.inserts, stream.Splice{Offset: region.start, Delete: end - region.start, Insert: empty(n)})
		case c.ownsLine(region.start):
			c.cutLines(region)
		case i == 0 && next < 0 && c.growth[n] != nil:
			c.inPlace[n] = true
			end, _ := c.source.LineEnd(region.end)
			text := strings.TrimSuffix(strings.TrimLeft(c.newLines(n), " "), c.newline(region.start))
			c.inserts = append(c.inserts, stream.Splice{Offset: region.start, Delete: end - region.start, Insert: text})
		default:
			c.shares = append(c.shares, share{cut: region, next: next})
		}
	}
}

// empty is how a collection without children is written.
func empty(n *yaml.Node) string {
	if n.Kind == yaml.SequenceNode {
		return "[]"
	}
	return "{}"
}

// ownsLine reports whether only blanks stand before i on its line.
func (c *cutter) ownsLine(i int) bool {
	for i > 0 && isBlank(c.data[i-1]) {
		i--
	}
	return c.source.LineStart(i) == i
}

// restIsComment reports whether only blanks and a comment stand at i and behind
// it on its line.
func (c *cutter) restIsComment(i int) bool {
	end, _ := c.source.LineEnd(i)
	for i < end && isBlank(c.data[i]) {
		i++
	}
	return i == end || c.data[i] == '#'
}

func blank(text []byte) bool { return len(bytes.Trim(text, " \t")) == 0 }

// cutLines cuts the whole lines of a region, and the comment above it if that
// goes with it.
func (c *cutter) cutLines(region cut) {
	start := c.source.LineStart(region.start)
	_, next := c.source.LineEnd(region.end)
	comment := c.commentAbove(start, c.data[start:region.start])
	if comment < start && c.commentGoes != nil && c.commentGoes(commentText(c.data[comment:start]), region.edit) {
		start = comment
	}
	c.lines = append(c.lines, cut{start: start, end: next})
}

// commentAbove returns the start of the block of comment lines with this
// indentation that ends at start, or start if there is none.
func (c *cutter) commentAbove(start int, indent []byte) int {
	top, sign := start, append(bytes.Clone(indent), '#')
	for top > 0 {
		above := c.source.LineStart(top - 1)
		if !bytes.HasPrefix(c.data[above:top], sign) {
			break
		}
		top = above
	}
	return top
}

// commentText is the text of comment lines without their signs.
func commentText(lines []byte) string {
	var texts []string
	for line := range strings.Lines(string(lines)) {
		texts = append(texts, strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(line), "#")))
	}
	return strings.Join(texts, "\n")
}

// flow cuts the parts of a flow collection that leave it.
func (c *cutter) flow(n *yaml.Node) {
	span := c.layout[n]
	if c.emptied[n] {
		text := ""
		start, end := span.Content+1, span.End-1
		if open := c.data[span.Content]; open != '[' && open != '{' || c.layout[n.Content[0]].Start == span.Content {
			start, end, text = span.Content, span.End, empty(n)
		}
		c.inserts = append(c.inserts, stream.Splice{Offset: start, Delete: end - start, Insert: text})
		return
	}
	parts := children(n)
	last := len(parts) - 1
	for last >= 0 && c.leaves(parts[last].value) {
		last--
	}
	// Where the last part has no comma behind it, the last that stays must not
	// have one either, unless something comes behind it.
	if end := c.layout[parts[len(parts)-1].value]; c.growth[n] == nil && last < len(parts)-1 && end.Comma < 0 {
		stays := c.layout[parts[last].value]
		comma := cut{start: stays.Comma, end: stays.Comma + 1, exact: true}
		if comma.start >= 0 && blank(c.data[stays.End:stays.Comma]) {
			comma.start = stays.End
		}
		if stays.Comma >= 0 {
			c.inline = append(c.inline, comma)
		}
	}
	for _, child := range parts {
		if !c.leaves(child.value) {
			continue
		}
		value := c.layout[child.value]
		region := cut{start: c.layout[child.first].Start, end: value.End, edit: c.gone[child.value]}
		if value.Comma >= 0 {
			region.end = value.Comma + 1
		}
		c.inline = append(c.inline, region)
	}
}

// inlineCuts joins the cuts inside of lines and tidies the blanks they leave.
func (c *cutter) inlineCuts() {
	sort.SliceStable(c.inline, func(i, j int) bool { return c.inline[i].start < c.inline[j].start })
	for i := 0; i < len(c.inline); i++ {
		joined := c.inline[i]
		for i+1 < len(c.inline) && blank(c.data[joined.end:max(joined.end, c.inline[i+1].start)]) {
			i++
			joined.end = max(joined.end, c.inline[i].end)
		}
		c.inlineCut(joined)
	}
}

func (c *cutter) inlineCut(region cut) {
	lineEnd, _ := c.source.LineEnd(region.end)
	atEnd := c.restIsComment(region.end)
	fill, filled := c.fills[region.start]
	switch {
	case filled:
		delete(c.fills, region.start)
	case atEnd && !region.exact && c.ownsLine(region.start):
		c.cutLines(region)
		return
	case atEnd && !region.exact:
		for region.start > 0 && isBlank(c.data[region.start-1]) {
			region.start--
		}
	case !region.exact:
		for region.end < lineEnd && isBlank(c.data[region.end]) {
			region.end++
		}
	}
	c.inserts = append(c.inserts, stream.Splice{Offset: region.start, Delete: region.end - region.start, Insert: fill})
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' }

// shareCuts makes the cuts behind a dash that stays: the next sibling moves up
// to the dash, unless lines that stay lie between.
func (c *cutter) shareCuts() {
	whole := joined(c.lines)
	for _, s := range c.shares {
		lineEnd, next := c.source.LineEnd(s.end)
		if covered(whole, next, c.source.LineStart(s.next)) {
			c.lines = append(c.lines, cut{start: s.start, end: s.next})
			continue
		}
		start := s.start
		for start > 0 && isBlank(c.data[start-1]) {
			start--
		}
		c.inserts = append(c.inserts, stream.Splice{Offset: start, Delete: lineEnd - start})
	}
}

// joined sorts whole lines; those that touch or overlap become one.
func joined(lines []cut) []cut {
	slices.SortStableFunc(lines, func(a, b cut) int { return a.start - b.start })
	var whole []cut
	for _, line := range lines {
		if last := len(whole) - 1; last >= 0 && line.start <= whole[last].end {
			whole[last].end = max(whole[last].end, line.end)
			continue
		}
		whole = append(whole, line)
	}
	return whole
}

// covered reports whether joined lines cover all from start to end.
func covered(whole []cut, start, end int) bool {
	behind := sort.Search(len(whole), func(i int) bool { return whole[i].start > start })
	return start >= end || behind > 0 && whole[behind-1].end >= end
}

// collect returns all splices in order. Cuts that touch or overlap become one,
// with the lines that come there.
func (c *cutter) collect() []stream.Splice {
	splices, adds := c.inserts, c.joinAdditions()
	for _, whole := range joined(c.lines) {
		for len(adds) > 0 && adds[0].offset < whole.start {
			splices, adds = append(splices, c.spliceLines(adds[0])), adds[1:]
		}
		text := ""
		for len(adds) > 0 && adds[0].offset <= whole.end {
			text, adds = text+adds[0].text, adds[1:]
		}
		if whole.end == len(c.data) && c.source.LineStart(whole.end) != whole.end {
			text = strings.TrimSuffix(text, c.newline(whole.end))
		}
		splices = append(splices, stream.Splice{Offset: whole.start, Delete: whole.end - whole.start, Insert: text})
	}
	for _, a := range adds {
		splices = append(splices, c.spliceLines(a))
	}
	sort.SliceStable(splices, func(i, j int) bool {
		if splices[i].Offset != splices[j].Offset {
			return splices[i].Offset < splices[j].Offset
		}
		return splices[i].Delete == 0 && splices[j].Delete > 0
	})
	return splices
}
