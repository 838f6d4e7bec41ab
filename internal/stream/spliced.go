package stream

import (
	"bytes"
	"slices"
	"sort"
)

// Spliced is the source after edits of items, which are splices inside the text
// of each. Of a ResourceList in block style only the edited items are read again;
// the others move. The error is that of Apply or of reading the new text.
func (s *Source) Spliced(edits map[*Item][]Splice) (*Source, error) {
	var splices []Splice
	for _, item := range s.Items {
		splices = append(splices, edits[item]...)
	}
	data, err := Apply(s.Data, splices)
	if err != nil {
		return nil, err
	}
	if s.List == nil || s.List.root != nil {
		return s.Again(data)
	}
	m := mover{old: s, source: &Source{Name: s.Name, Data: data, parser: s.parser}, items: make([]Item, len(s.Items)), regions: make([]region, len(s.Items))}
	for i, item := range s.Items {
		if !m.item(i, item, edits[item]) {
			return s.Again(data)
		}
	}
	m.list()
	return m.source, nil
}

// mover makes the items of the new text.
type mover struct {
	old, source *Source
	items       []Item
	regions     []region
	// bytes and lines are how far what follows moves.
	bytes, lines int
	moves        []move
}

// move is how far what stands from an offset of the old text on moves.
type move struct{ from, bytes, lines int }

// item moves an item, or reads it again where it was edited; false where the line
// scan is not certain of what it is then.
func (m *mover) item(i int, old *Item, splices []Splice) bool {
	start, end := old.start+m.bytes, old.end+m.bytes
	moved := region{
		data: m.source.Data, start: start, line: old.region.line + m.lines, column: old.region.column,
		blankFrom: old.region.blankFrom + m.bytes, blankTo: old.region.blankTo + m.bytes,
	}
	fresh := &m.items[i]
	fresh.Source, fresh.Index, fresh.Element, fresh.region = m.source, old.Index, old.Element, &m.regions[i]
	if len(splices) == 0 {
		fresh.decoded, fresh.tree, fresh.root, fresh.err = old.decoded, old.tree, old.root, old.err
		fresh.holds, fresh.escapes, fresh.looked = old.holds, old.escapes, old.looked
	} else {
		for _, splice := range splices {
			if splice.Offset < old.region.blankTo || splice.Offset+splice.Delete > old.end {
				return false
			}
			end += len(splice.Insert) - splice.Delete
		}
		text := m.source.Data[start:end]
		followed := end < len(m.source.Data)
		if followed && !bytes.HasSuffix(text, []byte("\n")) || !isElement(text, old.region.blankFrom-old.start) {
			return false
		}
		if proven := old.proven; proven.tree != nil && slices.Equal(proven.splices, splices) {
			fresh.settle(proven.tree)
		}
		m.bytes = end - old.end
		m.lines += bytes.Count(text, []byte("\n")) - bytes.Count(old.Text(), []byte("\n"))
		m.moves = append(m.moves, move{old.end, m.bytes, m.lines})
	}
	moved.end = end
	fresh.start, fresh.end = start, end
	m.regions[i] = moved
	m.source.Items = append(m.source.Items, fresh)
	return true
}

// isElement tells whether a text is one element of a block sequence with its dash
// where it was, and nothing else.
func isElement(text []byte, dash int) bool {
	const key = "items:\n"
	docs, err := scanDocuments(append([]byte(key), text...), false)
	if err != nil || len(docs) != 1 || !docs[0].certain || len(docs[0].entries) != 1 {
		return false
	}
	elements, ok := docs[0].elements()
	return ok && len(elements) == 1 && elements[0].dash == len(key)+dash && elements[0].start == len(key)
}

// list moves what stands around the items.
func (m *mover) list() {
	old := m.old.List
	doc := *old.doc
	doc.data, doc.lines, doc.marks, doc.laidOut, doc.layout = m.source.Data, nil, nil, nil, nil
	doc.start, doc.line = m.to(doc.start, doc.line)
	doc.end, _ = m.to(doc.end, 0)
	doc.entries = slices.Clone(doc.entries)
	for i := range doc.entries {
		e := &doc.entries[i]
		e.start, e.line = m.to(e.start, e.line)
		e.end, _ = m.to(e.end, 0)
		e.value, _ = m.to(e.value, 0)
		if e.key != "items" {
			continue
		}
		e.elements = slices.Clone(e.elements)
		for k := range e.elements {
			r := &m.regions[k]
			e.elements[k].start, e.elements[k].line, e.elements[k].dash = r.start, r.line, r.blankFrom
		}
	}
	m.source.List = &ResourceList{APIVersion: old.APIVersion, doc: &doc}
	if was := old.FunctionConfig; was != nil {
		m.source.List.FunctionConfig = m.source.List.certainConfig(m.source)
		m.source.List.FunctionConfig.settle(was.root)
	}
}

// to is where an offset outside of the items, and its line, come to stand.
func (m *mover) to(offset, line int) (int, int) {
	n := sort.Search(len(m.moves), func(i int) bool { return m.moves[i].from > offset })
	if n == 0 {
		return offset, line
	}
	return offset + m.moves[n-1].bytes, line + m.moves[n-1].lines
}
