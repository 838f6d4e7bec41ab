package stream

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// AppendSplices returns the splices that add objects behind all others, in the
// order given. Each text is one YAML object in block style without `---`; its
// lines may end with LF or CR LF.
//
// In a ResourceList, and where the last document is a v1 List, the objects
// become the last elements: in block style as the others, as JSON in a list in
// flow style. In any other source they become documents at the end. A comment
// directly above the key behind the list stays with that key.
//
// It returns an error for a text that is not one object, and where the objects
// cannot be added without a change to what is there: a last line without line
// break that is part of a block scalar, or a JSON file that holds one object.
func (s *Source) AppendSplices(texts ...string) ([]Splice, error) {
	if len(texts) == 0 {
		return nil, nil
	}
	objects := make([]object, len(texts))
	for i, text := range texts {
		var err error
		if objects[i], err = newObject(text); err != nil {
			return nil, err
		}
	}
	w := &appender{source: s, objects: objects, newline: s.newline()}
	splices, err := w.splices()
	if err != nil {
		return nil, err
	}
	trees := make([]*yaml.Node, len(objects))
	for i, o := range objects {
		trees[i] = o.root
	}
	return splices, s.proveItems(splices, len(s.Items), 0, trees)
}

// object is a text that becomes an item.
type object struct {
	text string // lines that end with LF
	root *yaml.Node
}

func newObject(text string) (object, error) {
	given := []byte(text)
	text = strings.Trim(strings.ReplaceAll(text, "\r\n", "\n"), "\n") + "\n"
	for line := range strings.Lines(text) {
		if marker([]byte(line), 0) != "" || strings.HasPrefix(line, "%") {
			return object{}, errors.New("the new object holds a document marker or a directive, give it without")
		}
	}
	if set := inspect([]byte(text)); set.invalid >= 0 {
		return object{}, errors.New("the new object holds a character that YAML does not allow")
	}
	root, err := decode([]byte(text))
	if err != nil {
		return object{}, fmt.Errorf("the new object is not valid YAML: %w", err)
	}
	if root == nil || root.Kind != yaml.MappingNode || len(root.Content) == 0 || root.Style&yaml.FlowStyle != 0 || root.Column != 1 {
		return object{}, errors.New("the new object is no YAML mapping in block style that starts in the first column")
	}
	if want, err := decode(given); err != nil || !SameTree(want, root) {
		return object{}, errors.New("the new object ends with a scalar that keeps its line breaks, end that with one line break or write it in quotes")
	}
	return object{text: text, root: root}, nil
}

// newline is the line break of the source's first line, LF where it has none.
func (s *Source) newline() string {
	if end, next := LineEnd(s.Data, 0); next > end {
		return string(s.Data[end:next])
	}
	return "\n"
}

type appender struct {
	source  *Source
	objects []object
	newline string
}

func (w *appender) splices() ([]Splice, error) {
	if w.source.List != nil {
		return w.toList(w.source.List.doc, w.source.Items)
	}
	docs, err := scanDocuments(w.source.Data, false)
	if err != nil {
		return nil, named(err, w.source.Name)
	}
	last := len(docs) - 1
	for last >= 0 && !docs[last].content {
		last--
	}
	if last >= 0 {
		items, isList, err := w.listItems(&docs[last])
		if err != nil {
			return nil, err
		}
		if isList {
			return w.toList(&docs[last], items)
		}
	}
	return w.toDocuments(docs)
}

// listItems returns the items of a document that is a v1 List.
func (w *appender) listItems(doc *document) (items []*Item, isList bool, err error) {
	if doc.certain && (doc.scalar("kind") != "List" || doc.scalar("apiVersion") != "v1") {
		return nil, false, nil
	}
	root, err := doc.decode()
	if err != nil {
		return nil, false, named(err, w.source.Name)
	}
	_, list := child(root, "items")
	if value(root, "kind") != "List" || value(root, "apiVersion") != "v1" || list == nil {
		return nil, false, nil
	}
	for _, it := range w.source.Items {
		if it.start >= doc.start && it.start < doc.end {
			if it.Element == NoElement {
				return nil, false, nil
			}
			items = append(items, it)
		}
	}
	return items, true, nil
}

// toDocuments adds the objects behind the last document.
func (w *appender) toDocuments(docs []document) ([]Splice, error) {
	data := w.source.Data
	if strings.HasSuffix(w.source.Name, ".json") {
		return nil, errors.New("the file is JSON and holds one object, make it a `List` or write it as YAML")
	}
	var b strings.Builder
	if LineStart(data, len(data)) != len(data) {
		b.WriteString(w.newline)
	}
	// A document that holds nothing yet takes the first object.
	needsMarker := false
	if last := len(docs) - 1; last >= 0 {
		needsMarker = docs[last].content || docs[last].end < len(data)
	}
	for _, o := range w.objects {
		if needsMarker {
			b.WriteString("---" + w.newline)
		}
		b.WriteString(Indent(o.text, "", w.newline))
		needsMarker = true
	}
	return []Splice{{Offset: len(data), Insert: b.String()}}, nil
}

// toList adds the objects behind the items of a list.
func (w *appender) toList(doc *document, items []*Item) ([]Splice, error) {
	if len(items) == 0 {
		return w.toEmptyList(doc)
	}
	last := items[len(items)-1]
	if dash := last.dash(); dash != NoOffset {
		return []Splice{w.lines(w.behind(doc, last.end), dash-LineStart(w.source.Data, dash))}, nil
	}
	texts, err := w.json()
	if err != nil {
		return nil, err
	}
	return w.behindFlow(last, texts)
}

// dash returns the offset of the dash of an element of a block list, else
// NoOffset.
func (it *Item) dash() int {
	i := skipSpaces(it.Source.Data, it.start)
	if it.Element != NoElement && i < it.end && it.Source.Data[i] == '-' && blankOrEnd(it.Source.Data, i+1) {
		return i
	}
	return NoOffset
}

// behind returns the end of a block list whose last item ends at end: comments
// directly above a key that follows are that key's.
func (w *appender) behind(doc *document, end int) int {
	if end >= doc.end {
		return end
	}
	data := w.source.Data
	column := skipSpaces(data, end) - end
	for end > doc.start {
		above := LineStart(data, end-1)
		indent := skipSpaces(data, above) - above
		if indent > column || data[above+indent] != '#' {
			break
		}
		end = above
	}
	return end
}

// lines puts the objects as block elements with their dashes at a column.
func (w *appender) lines(offset, column int) Splice {
	var b strings.Builder
	pad := strings.Repeat(" ", column)
	for _, o := range w.objects {
		b.WriteString(pad + "- " + strings.TrimPrefix(Indent(o.text, pad+"  ", w.newline), pad+"  "))
	}
	text := b.String()
	if LineStart(w.source.Data, offset) != offset {
		text = w.newline + strings.TrimSuffix(text, w.newline)
	}
	return Splice{Offset: offset, Insert: text}
}

func (w *appender) json() ([]string, error) {
	texts := make([]string, len(w.objects))
	for i, o := range w.objects {
		text, err := JSON(o.root)
		if err != nil {
			return nil, fmt.Errorf("the new object cannot stand in a list in flow style: %w", err)
		}
		texts[i] = text
	}
	return texts, nil
}

// behindFlow adds parts behind the last of a flow list, on lines of their own
// where that has one.
func (w *appender) behindFlow(last *Item, texts []string) ([]Splice, error) {
	data := w.source.Data
	end, comma := last.end, ""
	var splices []Splice
	if i := skipSpace(data, end); i < len(data) && data[i] == ',' {
		end, comma = i+1, ","
	} else {
		splices = append(splices, Splice{Offset: end, Insert: ","})
	}
	line := LineStart(data, last.start)
	lineEnd, next := LineEnd(data, end)
	if indent := data[line:last.start]; len(bytes.TrimLeft(indent, " \t")) == 0 && restIsComment(data[:lineEnd], end) {
		text := string(indent) + strings.Join(texts, ","+w.newline+string(indent)) + comma + w.newline
		return append(splices, Splice{Offset: next, Insert: text}), nil
	}
	text := " " + strings.Join(texts, ", ") + comma
	return append(splices, Splice{Offset: end, Insert: text}), nil
}

// toEmptyList adds the first items: below `items:`, or between its brackets.
func (w *appender) toEmptyList(doc *document) ([]Splice, error) {
	root, err := doc.decode()
	if err != nil {
		return nil, named(err, w.source.Name)
	}
	layout, err := newLayout(&doc.region, root)
	if err != nil {
		return nil, err
	}
	_, list := child(root, "items")
	span := layout[list]
	if list.Kind == yaml.AliasNode || span.Mark == NoOffset {
		return nil, errors.New("`items` is written in a way that cannot be added to, write `items: []`")
	}
	data := w.source.Data
	start, inner := span.Mark+1, ""
	if span.Head > span.Start {
		start = span.Head
	}
	if list.Kind == yaml.SequenceNode {
		inner = string(data[span.Content+1 : span.End-1])
	}
	bare := strings.TrimSpace(inner) == "" && len(bytes.Trim(data[start:max(start, span.Content)], " \t")) == 0
	if root.Style&yaml.FlowStyle == 0 && bare {
		_, next := LineEnd(data, span.End)
		lines := w.lines(next, span.Indent)
		if span.End == span.Content {
			return []Splice{lines}, nil
		}
		return []Splice{{Offset: start, Delete: span.End - start}, lines}, nil
	}
	texts, err := w.json()
	if err != nil {
		return nil, err
	}
	text := strings.Join(texts, ", ")
	switch {
	case list.Kind == yaml.SequenceNode:
		return []Splice{{Offset: span.End - 1, Insert: text}}, nil
	case span.Content == span.End:
		return []Splice{{Offset: start, Insert: " [" + text + "]"}}, nil
	}
	return []Splice{{Offset: span.Content, Delete: span.End - span.Content, Insert: "[" + text + "]"}}, nil
}
