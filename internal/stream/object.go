package stream

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// ReplaceSplices returns the splices that put another object where the item
// stands, none where it stands there already. The text is one YAML object in
// block style without `---`; a JSON item becomes JSON. Comments above the first
// key stay, and those behind the last line that are indented no deeper than it; a comment the text begins with is not
// repeated where it stands there already. It returns an error for a text that
// is not one object, for an item that is null or an alias, and where another
// item could not stay as it is.
func (it *Item) ReplaceSplices(text string) ([]Splice, error) {
	o, err := newObject(text)
	if err != nil {
		return nil, err
	}
	span, at, err := it.place()
	if err != nil {
		return nil, err
	}
	splice, err := it.replacement(o, span)
	if err != nil {
		return nil, err
	}
	if string(it.Source.Data[splice.Offset:splice.Offset+splice.Delete]) == splice.Insert {
		return nil, nil
	}
	splices := []Splice{splice}
	return splices, it.Source.proveItems(splices, at, 1, []*yaml.Node{o.root})
}

// place returns where the item's node stands and the item's position in its
// source.
func (it *Item) place() (Span, int, error) {
	root, err := it.Root()
	if err != nil {
		return Span{}, 0, err
	}
	at := slices.Index(it.Source.Items, it)
	if root == nil || it.Aliased || at < 0 {
		return Span{}, 0, errors.New("the object is null, an alias or no item, edit it by hand")
	}
	layout, err := it.Layout()
	if err != nil {
		return Span{}, 0, err
	}
	return layout[root], at, nil
}

func (it *Item) replacement(o object, span Span) (Splice, error) {
	data := it.Source.Data
	if it.Element != NoElement && it.dash() == NoOffset || it.Element == NoElement && json.Valid(it.Text()) {
		text, err := JSON(o.root)
		return Splice{Offset: span.Start, Delete: span.End - span.Start, Insert: text}, err
	}
	newline := it.Source.newline()
	line := max(LineStart(data, span.Start), it.region.start)
	before := data[line:span.Start]
	start, lead, indent := span.Start, "", strings.Repeat(" ", len([]rune(string(before))))
	end, next := LineEnd(data, it.comments(span.End, len(indent)))
	if it.Element == NoElement && len(bytes.Trim(before, " ")) > 0 {
		// The object begins behind `---`.
		start, lead, indent = line+3, newline, ""
	}
	text := o.text
	if head := leadingComment(text); len(bytes.Trim(before, " ")) == 0 && strings.HasSuffix(it.above(line), Indent(head, indent, newline)) {
		text = text[len(head):]
	}
	text = Indent(text, indent, newline)
	if lead == "" {
		text = strings.TrimPrefix(text, indent)
	}
	if next > end {
		text = strings.TrimSuffix(text, newline)
	}
	return Splice{Offset: start, Delete: end - start, Insert: lead + text}, nil
}

// comments returns the end of the comment lines behind end that are indented
// deeper than a column, blank lines between them or not; end if there are none.
func (it *Item) comments(end, column int) int {
	data := it.Source.Data
	for line := end; ; {
		_, line = LineEnd(data, line)
		indent := skipSpaces(data[:it.end], min(line, it.end)) - line
		switch {
		case line >= it.end:
			return end
		case line+indent < it.end && data[line+indent] == '#' && indent > column:
			end = line + indent
		case !blankOrEnd(data[:it.end], line+indent):
			return end
		}
	}
}

// above is the item's text before a line, with a blank for its dash.
func (it *Item) above(line int) string {
	text := bytes.Clone(it.Source.Data[it.start:line])
	if dash := it.dash(); dash != NoOffset && dash < line {
		text[dash-it.start] = ' '
	}
	return string(text)
}

// leadingComment is the comment and blank lines a text begins with.
func leadingComment(text string) string {
	n := 0
	for line := range strings.Lines(text) {
		if trimmed := strings.TrimSpace(line); trimmed != "" && trimmed[0] != '#' {
			break
		}
		n += len(line)
	}
	return text[:n]
}

// RemoveSplices returns the splices that take the item away: a document with
// its `---` and all its comments, an element with its lines and the comments
// below it that are indented deeper than its dash. A comment block above the
// first document that a blank line sets off is the file's and stays. A list
// that loses its only item becomes []. It returns an error for an item that is
// null or an alias, and where another item could not stay as it is.
func (it *Item) RemoveSplices() ([]Splice, error) {
	span, at, err := it.place()
	if err != nil {
		return nil, err
	}
	var tries [][]Splice
	switch {
	case it.Element == NoElement:
		tries = it.withoutDocument(span)
	case it.dash() != NoOffset:
		tries, err = it.withoutLines(span)
	default:
		tries = [][]Splice{it.withoutPart(at)}
	}
	if err != nil {
		return nil, err
	}
	for _, splices := range tries {
		if err = it.Source.proveItems(splices, at, 1, nil); err == nil {
			return splices, nil
		}
	}
	return nil, err
}

// withoutDocument cuts a document; the `...` behind it goes too where nothing
// before needs it.
func (it *Item) withoutDocument(span Span) [][]Splice {
	data := it.Source.Data
	start := it.start
	if marker(data, start) == "" && data[start] != '%' {
		for line := start; line < span.Start; {
			end, next := LineEnd(data, line)
			if len(bytes.TrimSpace(data[line:end])) == 0 {
				start = next
			}
			line = next
		}
		start = min(start, max(LineStart(data, span.Start), it.start))
	}
	cut := func(end int) []Splice { return []Splice{{Offset: start, Delete: end - start}} }
	tries := [][]Splice{cut(it.end)}
	if marker(data, it.end) == "..." {
		_, next := LineEnd(data, it.end)
		tries = append([][]Splice{cut(next)}, tries...)
	}
	return tries
}

// withoutLines cuts an element of a block list.
func (it *Item) withoutLines(span Span) ([][]Splice, error) {
	data := it.Source.Data
	column := it.dash() - it.start
	_, end := LineEnd(data, it.comments(span.End, column))
	cut := Splice{Offset: it.start, Delete: end - it.start}
	if !it.alone() {
		return [][]Splice{{cut}}, nil
	}
	list, err := it.listSpan()
	if err != nil {
		return nil, err
	}
	head := list.Mark + 1
	if list.Head > list.Start {
		head = list.Head
	}
	return [][]Splice{{{Offset: head, Insert: " []"}, cut}}, nil
}

// alone reports whether the item is the only one of its list.
func (it *Item) alone() bool {
	for _, other := range it.Source.Items {
		if other != it && (it.Source.List != nil || other.Index == it.Index) {
			return false
		}
	}
	return true
}

// listSpan is the span of the `items` the item is an element of.
func (it *Item) listSpan() (Span, error) {
	doc, err := it.Source.document(it.start)
	if err != nil {
		return Span{}, err
	}
	root, err := doc.decode()
	if err != nil {
		return Span{}, named(err, it.Source.Name)
	}
	layout, err := newLayout(&doc.region, root)
	if err != nil {
		return Span{}, err
	}
	_, list := child(root, "items")
	return layout[list], nil
}

// document returns the document that holds an offset.
func (s *Source) document(offset int) (*document, error) {
	if s.List != nil {
		return s.List.doc, nil
	}
	docs, err := scanDocuments(s.Data, false)
	if err != nil {
		return nil, named(err, s.Name)
	}
	for i := range docs {
		if docs[i].start <= offset && offset < docs[i].end {
			return &docs[i], nil
		}
	}
	return nil, errors.New("the object is in no document")
}

// withoutPart cuts an element of a flow list and one comma.
func (it *Item) withoutPart(at int) []Splice {
	data := it.Source.Data
	start, end := it.start, it.end
	var splices []Splice
	if i := skipSpace(data, end); i < len(data) && data[i] == ',' {
		end = i + 1
	} else if !it.alone() {
		if i := skipSpace(data, it.Source.Items[at-1].end); data[i] == ',' {
			splices = append(splices, Splice{Offset: i, Delete: 1})
		}
	}
	line := LineStart(data, start)
	lineEnd, next := LineEnd(data, end)
	switch {
	case len(bytes.TrimLeft(data[line:start], " \t")) == 0 && restIsComment(data[:lineEnd], end):
		start, end = line, next
	case end > it.end:
		for end < lineEnd && isBlank(data[end]) {
			end++
		}
	default:
		for start > line && isBlank(data[start-1]) {
			start--
		}
	}
	return append(splices, Splice{Offset: start, Delete: end - start})
}
