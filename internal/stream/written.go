package stream

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// Extent is where a byte of a scalar's value is written, in Source.Data. A line
// break that the style folds or drops belongs to the byte it becomes, with the
// blanks around it.
type Extent struct{ From, To int }

// Written returns the extent of each byte of a scalar's value, in the order of
// the bytes. It returns an error where the scalar is written in a way that is
// not understood.
func (it *Item) Written(n *yaml.Node) ([]Extent, error) {
	layout, err := it.Layout()
	if err != nil {
		return nil, err
	}
	span, ok := layout[n]
	if !ok || n.Kind != yaml.ScalarNode {
		return nil, fmt.Errorf("the scalar at line %d has no text of its own", n.Line)
	}
	u := unfolder{data: it.Source.Data[:span.End], pos: span.Content}
	switch {
	case n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		u.block(span, n.Style&yaml.FoldedStyle != 0)
		for len(u.text) < len(n.Value) && n.Value[len(u.text)] == '\n' {
			u.emit('\n', span.End, span.End)
		}
	case n.Style&yaml.DoubleQuotedStyle != 0:
		u.flow(double)
	case n.Style&yaml.SingleQuotedStyle != 0:
		u.flow(single)
	default:
		u.flow(plain)
	}
	if string(u.text) != n.Value {
		return nil, fmt.Errorf("the scalar at line %d is written in a way that is not understood", n.Line)
	}
	return u.extents, nil
}

// PositionIn returns line and column, as Position does, of a byte of a scalar's
// value; those of the scalar where it is written in a way that is not understood.
func (it *Item) PositionIn(n *yaml.Node, at int) (line, column int) {
	line, column = it.Position(n)
	extents, err := it.Written(n)
	start, errStart := it.Offset(n)
	if err != nil || errStart != nil || at < 0 || at >= len(extents) {
		return line, column
	}
	offset := extents[at].From
	between := it.Source.Data[start:offset]
	lines := 0
	for i := 0; i < len(between); i++ {
		if n := breakAt(between, i); n > 0 {
			lines++
			i += n - 1
		}
	}
	return line + lines, 1 + utf8.RuneCount(it.Source.Data[it.Source.LineStart(offset):offset])
}

// unfolder reads a scalar as the parser does, keeping where each byte stands.
type unfolder struct {
	data    []byte // up to the end of the scalar
	pos     int
	text    []byte
	extents []Extent
}

func (u *unfolder) emit(b byte, from, to int) {
	u.text, u.extents = append(u.text, b), append(u.extents, Extent{from, to})
}

// quotes are those of a flow scalar.
type quotes byte

const (
	plain  quotes = 0
	single quotes = '\''
	double quotes = '"'
)

// flow reads a plain or quoted scalar.
func (u *unfolder) flow(style quotes) {
	end := len(u.data)
	if style != plain {
		u.pos, end = u.pos+1, end-1
	}
	for u.pos < end {
		switch c := u.data[u.pos]; {
		case isBlank(c) || breakAt(u.data, u.pos) > 0:
			u.fold(end)
		case style == single && c == '\'':
			u.emit(c, u.pos, u.pos+2)
			u.pos += 2
		case style == double && c == '\\':
			u.escape()
		default:
			u.emit(c, u.pos, u.pos+1)
			u.pos++
		}
	}
}

// fold reads blanks, which are dropped around a line break.
func (u *unfolder) fold(end int) {
	start, breaks := u.pos, 0
	for u.pos < end {
		n := breakAt(u.data, u.pos)
		if n == 0 && !isBlank(u.data[u.pos]) {
			break
		}
		if n > 0 {
			breaks++
		}
		u.pos += max(n, 1)
	}
	switch breaks {
	case 0:
		for i := start; i < u.pos; i++ {
			u.emit(u.data[i], i, i+1)
		}
	case 1:
		u.emit(' ', start, u.pos)
	default:
		u.breaks(breaks-1, start, u.pos)
	}
}

// breaks emits line breaks that are written together.
func (u *unfolder) breaks(count, from, to int) {
	for range count {
		u.emit('\n', from, to)
		from = to
	}
}

// escapes are the single characters behind a backslash.
var escapes = map[byte]string{
	'0': "\x00", 'a': "\a", 'b': "\b", 't': "\t", '\t': "\t", 'n': "\n", 'v': "\v", 'f': "\f", 'r': "\r", 'e': "\x1b",
	' ': " ", '"': "\"", '/': "/", '\\': "\\", 'N': "\u0085", '_': "\u00a0", 'L': "\u2028", 'P': "\u2029", '\'': "'",
}

// escape reads what a backslash begins in double quotes.
func (u *unfolder) escape() {
	start := u.pos
	u.pos++
	if n := breakAt(u.data, u.pos); n > 0 {
		for u.pos += n; u.pos < len(u.data) && isBlank(u.data[u.pos]); {
			u.pos++
		}
		return
	}
	c := u.data[u.pos]
	u.pos++
	digits := map[byte]int{'x': 2, 'u': 4, 'U': 8}[c]
	decoded := escapes[c]
	if digits > 0 && u.pos+digits <= len(u.data) {
		var r rune
		if _, err := fmt.Sscanf(string(u.data[u.pos:u.pos+digits]), "%x", &r); err == nil {
			decoded = string(r)
		}
		u.pos += digits
	}
	for i := range len(decoded) {
		from, to := start, u.pos
		if i > 0 {
			from = to
		}
		u.emit(decoded[i], from, to)
	}
}

// block reads a literal or folded scalar up to its last line that is not empty.
func (u *unfolder) block(span Span, folded bool) {
	header, body := u.line(u.pos)
	indent := u.indent(string(u.data[u.pos:header]), body, span)
	pending, from := 0, body // line breaks since the last text
	moreBefore, begun := false, false
	for body < len(u.data) {
		end, next := u.line(body)
		start := body
		for start < end && start < body+indent && u.data[start] == ' ' {
			start++
		}
		if start < end {
			more := isBlank(u.data[start])
			u.joinLines(pending, from, start, folded && begun && !moreBefore && !more)
			for i := start; i < end; i++ {
				u.emit(u.data[i], i, i+1)
			}
			pending, from, moreBefore, begun = 0, end, more, true
		}
		pending++
		body = next
	}
}

// joinLines emits what the line breaks between two lines of text become.
func (u *unfolder) joinLines(count, from, to int, folds bool) {
	switch {
	case folds && count == 1:
		u.emit(' ', from, to)
	case folds:
		u.breaks(count-1, from, to)
	default:
		u.breaks(count, from, to)
	}
}

// line returns the end of the line at i, and the beginning of the next.
func (u *unfolder) line(i int) (end, next int) {
	for end = i; end < len(u.data); end++ {
		if n := breakAt(u.data, end); n > 0 {
			return end, end + n
		}
	}
	return end, end
}

// indent is how far the lines of a block scalar are indented: as its header
// says, else as its first line that holds more than blanks.
func (u *unfolder) indent(header string, body int, span Span) int {
	if digit := strings.IndexAny(header, "123456789"); digit >= 0 && digit <= 2 {
		return max(span.Indent, 0) + int(header[digit]-'0')
	}
	for body < len(u.data) {
		end, next := u.line(body)
		if line := u.data[body:end]; len(bytes.TrimLeft(line, " ")) > 0 {
			return len(line) - len(bytes.TrimLeft(line, " "))
		}
		body = next
	}
	return 0
}
