package stream

import (
	"errors"
	"fmt"

	"go.yaml.in/yaml/v3"
)

// parsedItems returns the items below root, which the parser read as a whole.
func parsedItems(source *Source, doc *document, root *yaml.Node) ([]*Item, error) {
	_, list := child(root, "items")
	switch {
	case list == nil:
		return nil, errors.New("the ResourceList has no `items`, add `items: []` if it is empty")
	case isNull(list):
		return []*Item{}, nil
	case list.Kind != yaml.SequenceNode:
		return nil, errors.New("`items` of the ResourceList is no list")
	}
	layout, err := layoutTo(elementDepth, &doc.region, root)
	if err != nil {
		return opaqueItems(source, doc, root, list)
	}
	own := independent(doc, root, list)
	end := doc.blockEnd(root, "items", layout)
	items := make([]*Item, len(list.Content))
	for i, n := range list.Content {
		item := &Item{Source: source, Index: i, Element: i, region: &doc.region, shared: true, decoded: true, tree: root, root: n}
		if n.Kind == yaml.AliasNode {
			item.Aliased, item.root = true, n.Alias
		}
		if isNull(item.root) {
			item.root = nil
		} else if item.root.Kind != yaml.MappingNode {
			return nil, fmt.Errorf("item %d of the list, at line %d, is no object", i, doc.line+n.Line-1)
		}
		span := layout[n]
		item.start, item.end = span.Start, span.End
		if list.Style&yaml.FlowStyle == 0 {
			item.start = LineStart(source.Data, span.Mark)
			item.end = end
			if i+1 < len(list.Content) {
				item.end = LineStart(source.Data, layout[list.Content[i+1]].Mark)
			}
		}
		if own[i] && item.root != nil && doc.detachable(n, span, item.start) {
			item.detach(n, span)
		}
		items[i] = item
	}
	return items, nil
}

// opaqueItems returns the items of a list whose text is written in a way that
// is not understood: they can be read, and their edits are refused for want of
// a layout. The text of each is the whole document.
func opaqueItems(source *Source, doc *document, root, list *yaml.Node) ([]*Item, error) {
	items := make([]*Item, len(list.Content))
	for i, n := range list.Content {
		item := &Item{Source: source, Index: i, Element: i, region: &doc.region, shared: true, decoded: true, tree: root, root: n}
		item.start, item.end = doc.start, doc.end
		if n.Kind == yaml.AliasNode {
			item.Aliased, item.root = true, n.Alias
		}
		switch {
		case isNull(item.root):
			item.root = nil
		case item.root.Kind != yaml.MappingNode:
			return nil, fmt.Errorf("item %d of the list, at line %d, is no object", i, doc.line+n.Line-1)
		}
		items[i] = item
	}
	return items, nil
}

// detachable reports whether the text of an element of a list can be read
// without what stands around it: only blanks stand before its dash, or it has
// brackets of its own, unlike the pair in [key: value].
func (d *document) detachable(n *yaml.Node, span Span, start int) bool {
	if span.Mark != NoOffset {
		return skipSpaces(d.data, start) == span.Mark
	}
	if len(n.Content) == 0 {
		return true
	}
	if unwritten(n.Content[0]) {
		return d.data[span.Content] == '{'
	}
	first, err := d.offset(n.Content[0].Line, n.Content[0].Column)
	return err == nil && first > span.Content
}

// detach gives an item of a list its own region, in which it is decoded again
// when it is asked for. n is its node in the list, span where that stands.
func (it *Item) detach(n *yaml.Node, span Span) {
	r := &region{data: it.Source.Data, start: it.start, end: it.end}
	r.line, r.column = it.Position(n)
	r.column--
	if span.Mark != NoOffset {
		r.column = 0
		r.line -= lineBreaks(r.data[r.start:span.Start])
		r.blankFrom, r.blankTo = span.Mark, span.Mark+1
	}
	it.region, it.shared, it.decoded = r, false, false
	it.tree, it.root = nil, nil
}

// lineBreaks counts the line breaks of data.
func lineBreaks(data []byte) int {
	count := 0
	for i := 0; i < len(data); {
		n := breakAt(data, i)
		if n > 0 {
			count++
		}
		i += max(n, 1)
	}
	return count
}

// independent tells which elements of a list mean the same when they are read
// alone: no alias leads into them or out of them.
func independent(doc *document, root, list *yaml.Node) []bool {
	own := make([]bool, len(list.Content))
	if doc.directive {
		return own
	}
	const outside = -1
	home := map[*yaml.Node]int{}
	var aliases []*yaml.Node
	var from []int
	var walk func(n *yaml.Node, place int)
	walk = func(n *yaml.Node, place int) {
		if n.Anchor != "" {
			home[n] = place
		}
		if n.Kind == yaml.AliasNode {
			aliases, from = append(aliases, n), append(from, place)
		}
		for i, c := range n.Content {
			if n == list {
				walk(c, i)
				continue
			}
			walk(c, place)
		}
	}
	walk(root, outside)
	for i := range own {
		own[i] = true
	}
	for i, alias := range aliases {
		target, place := home[alias.Alias], from[i]
		if target == place {
			continue
		}
		for _, p := range []int{target, place} {
			if p != outside {
				own[p] = false
			}
		}
	}
	return own
}

// blockEnd is the offset of the line on which the key behind this key of a
// block mapping stands, or the end of the document.
func (d *document) blockEnd(root *yaml.Node, key string, layout Layout) int {
	for i := 0; i+3 < len(root.Content); i += 2 {
		if root.Content[i].Value == key {
			next := layout[root.Content[i+2]]
			if next.Explicit {
				return LineStart(d.data, next.Mark)
			}
			return LineStart(d.data, next.Start)
		}
	}
	return d.end
}

// parsedConfig returns the functionConfig of a list the parser read as a whole.
func (l *ResourceList) parsedConfig(source *Source) (*Item, error) {
	key, config := child(l.root, "functionConfig")
	if isNull(config) {
		return nil, nil
	}
	item := &Item{Source: source, Element: NoElement, region: &l.doc.region, shared: true, decoded: true, tree: l.root, root: config}
	if config.Kind == yaml.AliasNode {
		item.Aliased, item.root = true, config.Alias
	}
	layout, err := layoutTo(elementDepth, &l.doc.region, l.root)
	if err != nil { // it is only read: the whole document stands in for its text
		item.start, item.end = l.doc.start, l.doc.end
		return item, nil
	}
	item.start, item.end = layout[key].Start, layout[config].End
	if l.root.Style&yaml.FlowStyle == 0 {
		item.start = LineStart(source.Data, item.start)
		item.end = l.doc.blockEnd(l.root, "functionConfig", layout)
	}
	return item, nil
}
