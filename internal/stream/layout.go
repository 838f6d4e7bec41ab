package stream

import (
	"fmt"
	"math"

	"go.yaml.in/yaml/v3"
)

// Span tells where a node stands. All offsets are into Source.Data.
type Span struct {
	// Start is the node's first byte. Its anchor and tag, if it has any, end at
	// Head, and Content is the first byte behind them. End is behind its last
	// byte; comments and line breaks that follow are outside. A node nobody
	// wrote has no length.
	Start, Head, Content, End int
	// Mark is the dash before an element of a block sequence, the colon before a
	// value or the question mark before an explicit key, Comma the comma behind an element, key or value of a flow
	// collection; -1 where there is none.
	Mark, Comma int
	// Explicit keys are written `? key`.
	Explicit bool
	// Indent is the parser's indent at the node, in columns from 0; -1 at the
	// root.
	Indent int
}

// Layout holds the span of every node of a tree.
type Layout map[*yaml.Node]Span

// layouter walks a tree along its text.
type layouter struct {
	region *region
	data   []byte // up to the end of the region
	spans  Layout
	pos    int
	// depth counts the nodes above the current one; the spans of those with more
	// than deepest are not kept.
	depth, deepest int
}

// newLayout finds the spans of all nodes below root, which the region was
// decoded to. It returns an error where text and tree do not agree.
func newLayout(r *region, root *yaml.Node) (Layout, error) {
	return layoutTo(math.MaxInt, r, root)
}

// elementDepth is how many nodes stand above the elements of a list that is a
// key of the root.
const elementDepth = 2

// layoutTo is newLayout of the nodes that have no more than deepest nodes above
// them. The text of the others is looked at as well.
func layoutTo(deepest int, r *region, root *yaml.Node) (Layout, error) {
	l := &layouter{region: r, data: r.data[:r.end], spans: Layout{}, pos: max(r.start, r.blankTo), deepest: deepest}
	if err := l.node(root, -1, false, NoOffset); err != nil {
		return nil, err
	}
	return l.spans, nil
}

// NoOffset stands for a token that is not written.
const NoOffset = -1

func (l *layouter) fail(n *yaml.Node, expected string) error {
	return fmt.Errorf("the text at line %d is written in a way that is not understood: no %s found", l.region.line+n.Line-1, expected)
}

// node walks one node. The parser's indent is indent; mark is the dash or colon
// before the node.
func (l *layouter) node(n *yaml.Node, indent int, flow bool, mark int) error {
	span := Span{Mark: mark, Comma: NoOffset, Indent: indent}
	if unwritten(n) {
		span.Start, span.Head, span.Content, span.End = l.pos, l.pos, l.pos, l.pos
		l.keep(n, span)
		return nil
	}
	start, err := l.region.offset(n.Line, n.Column)
	if err != nil {
		return err
	}
	if start < l.pos || start > len(l.data) {
		return l.fail(n, "node")
	}
	span.Start = start
	l.pos = start
	l.properties()
	span.Head = l.pos
	if n.Kind == yaml.ScalarNode && n.Value == "" && n.Style&^yaml.TaggedStyle == 0 {
		span.Content, span.End = l.pos, l.pos
		l.keep(n, span)
		return nil
	}
	l.skip()
	span.Content = l.pos
	l.depth++
	err = l.content(n, &span, flow)
	l.depth--
	span.End = l.pos
	l.keep(n, span)
	return err
}

func (l *layouter) keep(n *yaml.Node, span Span) {
	if l.depth <= l.deepest {
		l.spans[n] = span
	}
}

// unwritten reports whether a node is a null that no character stands for.
func unwritten(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && n.Value == "" && n.Style == 0 && n.Anchor == "" && n.Tag == "!!null"
}

func (l *layouter) content(n *yaml.Node, span *Span, flow bool) error {
	switch n.Kind {
	case yaml.AliasNode:
		if l.at() != '*' {
			return l.fail(n, "alias")
		}
		l.word()
		return nil
	case yaml.ScalarNode:
		return l.scalar(n, span.Indent, flow)
	case yaml.SequenceNode:
		if n.Style&yaml.FlowStyle != 0 {
			return l.flowSequence(n, span.Indent)
		}
		return l.blockSequence(n)
	case yaml.MappingNode:
		if n.Style&yaml.FlowStyle != 0 {
			return l.flowMapping(n, span)
		}
		return l.blockMapping(n)
	}
	return l.fail(n, "node")
}

// at is the byte at the current position, 0 at the end.
func (l *layouter) at() byte {
	if l.pos < len(l.data) {
		return l.data[l.pos]
	}
	return 0
}

// skip passes blanks, line breaks and comments.
func (l *layouter) skip() { l.pos = skipSpace(l.data, l.pos) }

// skipSpace returns the index of the first byte at or behind i that is no
// blank, line break or comment.
func skipSpace(data []byte, i int) int {
	for i < len(data) {
		switch n := breakAt(data, i); {
		case n > 0:
			i += n
		case isBlank(data[i]):
			i++
		case data[i] == '#':
			for i < len(data) && breakAt(data, i) == 0 {
				i++
			}
		case data[i] == byteOrderMark[0] && i+2 < len(data) && string(data[i:i+3]) == string(byteOrderMark):
			i += 3
		default:
			return i
		}
	}
	return i
}

// properties passes anchors and tags.
func (l *layouter) properties() {
	for next := l.pos; next < len(l.data) && (l.data[next] == '&' || l.data[next] == '!'); {
		l.pos = next
		l.word()
		next = skipSpace(l.data, l.pos)
	}
}

// word passes an anchor, a tag or an alias.
func (l *layouter) word() {
	tag := l.at() == '!'
	for l.pos++; l.pos < len(l.data) && !blankOrEnd(l.data, l.pos); l.pos++ {
		c := l.data[l.pos]
		if !tag && !isAnchor(c) {
			return
		}
	}
}

func isAnchor(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-'
}

func (l *layouter) lineStart(i int) bool { return i == l.region.start || endsBreak(l.data, i) }

func (l *layouter) blockSequence(n *yaml.Node) error {
	indent := NoOffset
	for _, child := range n.Content {
		l.skip()
		if l.at() != '-' || !blankOrEnd(l.data, l.pos+1) {
			return l.fail(child, "dash")
		}
		dash := l.pos
		if indent == NoOffset {
			indent = l.region.columnOf(dash)
		}
		l.pos++
		if err := l.node(child, indent, false, dash); err != nil {
			return err
		}
	}
	return nil
}

func (l *layouter) blockMapping(n *yaml.Node) error {
	indent := l.region.columnOf(l.pos)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		l.skip()
		explicit, mark := l.at() == '?' && blankOrEnd(l.data, l.pos+1), NoOffset
		if explicit {
			mark = l.pos
			l.pos++
		}
		if err := l.node(key, indent, false, mark); err != nil {
			return err
		}
		l.explicit(key, explicit)
		colon := skipSpace(l.data, l.pos)
		switch {
		case colon < len(l.data) && l.data[colon] == ':' && blankOrEnd(l.data, colon+1):
			l.pos = colon + 1
		case explicit:
			colon = NoOffset
		default:
			return l.fail(value, "colon")
		}
		if err := l.node(value, indent, false, colon); err != nil {
			return err
		}
	}
	return nil
}

func (l *layouter) flowSequence(n *yaml.Node, indent int) error {
	if l.at() != '[' {
		return l.fail(n, "bracket")
	}
	l.pos++
	for _, child := range n.Content {
		l.skip()
		if err := l.node(child, indent, true, NoOffset); err != nil {
			return err
		}
		l.comma(child)
	}
	return l.closing(n, ']')
}

// flowMapping walks `{…}`, or the single pair of `[key: value]`.
func (l *layouter) flowMapping(n *yaml.Node, span *Span) error {
	pair := false
	if len(n.Content) > 0 && l.at() != '?' {
		first, err := l.region.offset(n.Content[0].Line, n.Content[0].Column)
		pair = err == nil && first == l.pos
	}
	if !pair {
		if l.at() != '{' {
			return l.fail(n, "brace")
		}
		l.pos++
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if err := l.flowPair(n.Content[i], n.Content[i+1], span.Indent); err != nil {
			return err
		}
		if !pair {
			l.comma(n.Content[i+1])
		}
	}
	if pair {
		return nil
	}
	return l.closing(n, '}')
}

func (l *layouter) flowPair(key, value *yaml.Node, indent int) error {
	l.skip()
	explicit, mark := l.at() == '?' && l.pos+1 < len(l.data) && blankOrEnd(l.data, l.pos+1), NoOffset
	if explicit {
		mark = l.pos
		l.pos++
	}
	if err := l.node(key, indent, true, mark); err != nil {
		return err
	}
	l.explicit(key, explicit)
	colon := skipSpace(l.data, l.pos)
	if colon < len(l.data) && l.data[colon] == ':' {
		l.pos = colon + 1
	} else {
		colon = NoOffset
	}
	return l.node(value, indent, true, colon)
}

// explicit notes whether a key is written with a question mark.
func (l *layouter) explicit(key *yaml.Node, explicit bool) {
	span := l.spans[key]
	span.Explicit = explicit
	l.keep(key, span)
}

// comma passes the comma behind a node, if there is one.
func (l *layouter) comma(n *yaml.Node) {
	if i := skipSpace(l.data, l.pos); i < len(l.data) && l.data[i] == ',' {
		span := l.spans[n]
		span.Comma = i
		l.keep(n, span)
		l.pos = i + 1
	}
}

func (l *layouter) closing(n *yaml.Node, bracket byte) error {
	l.skip()
	if l.at() != bracket {
		return l.fail(n, "closing bracket")
	}
	l.pos++
	return nil
}
