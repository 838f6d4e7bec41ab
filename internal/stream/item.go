package stream

import (
	"bytes"
	"fmt"
	"slices"
	"sync"

	"go.yaml.in/yaml/v3"

	"github.com/trimtab/trimtab/internal/setting"
)

// NoElement is the Element of an item that is a whole document.
const NoElement = -1

// Item is one object: a document, or an element of a list.
type Item struct {
	Source *Source
	// Index is the item's position from 0: in its ResourceList, or of its
	// document in the file, counting as kpt does: documents that hold nothing
	// are left out.
	Index int
	// Element is the position in the v1 List or ResourceList the item is an
	// element of; NoElement for a document.
	Element int
	// Aliased items are written as an alias of a node that stands elsewhere:
	// they can be read, not edited.
	Aliased bool

	region     *region
	start, end int
	// shared is true when the region holds more than this item.
	shared  bool
	reading sync.Mutex // of the first call of Root
	decoded bool
	tree    *yaml.Node // the region's root
	root    *yaml.Node
	err     error
	layout  Layout

	// proven is what DecodeWith made last of splices.
	proven struct {
		splices []Splice
		tree    *yaml.Node
	}

	// holds marks the registered words in Text, escapes that others may be hidden
	// there; both are known once looked is set.
	holds           uint64
	escapes, looked bool
}

// settle sets the item's node to the root of its region.
func (it *Item) settle(root *yaml.Node) {
	it.decoded, it.tree, it.root = true, root, root
	if isNull(root) {
		it.root = nil
	}
}

// Root returns the item's node, decoded when it is first asked for: a mapping,
// for a document perhaps a scalar or sequence; nil for an item that is null.
// Aliases inside are not resolved. It returns a *SyntaxError where the YAML
// cannot be read. Root may be called from several goroutines at once; what tells
// of places, such as Layout and Position, only where no other one asks for items
// that share their text.
func (it *Item) Root() (*yaml.Node, error) {
	it.reading.Lock()
	defer it.reading.Unlock()
	if !it.decoded {
		root, err := it.region.decode()
		it.settle(root)
		it.err = named(err, it.Source.Name)
	}
	return it.root, it.err
}

// Together is the same for items that are decoded together.
func (it *Item) Together() any {
	if it.shared {
		return it.Source
	}
	return it
}

// Tree returns the root of the text the item is decoded with. It is Root
// unless the item was parsed together with its neighbours. Text that cannot be
// decoded is an error.
func (it *Item) Tree() (*yaml.Node, error) {
	if _, err := it.Root(); err != nil {
		return nil, err
	}
	return it.tree, nil
}

// DecodeWith returns what Tree would be after the splices. It returns an error
// where they leave the item's own text or make it invalid YAML.
func (it *Item) DecodeWith(splices []Splice) (*yaml.Node, error) {
	r := it.region
	moved := make([]Splice, len(splices))
	for i, s := range splices {
		if s.Offset < max(r.start, r.blankTo) || s.Offset+s.Delete > r.end {
			return nil, fmt.Errorf("a change at offset %d is outside the object", s.Offset)
		}
		s.Offset -= r.start
		moved[i] = s
	}
	text, err := Apply(r.data[r.start:r.end], moved)
	if err != nil {
		return nil, err
	}
	tree, err := decode(r.blanked(text))
	if err == nil {
		it.proven.splices, it.proven.tree = slices.Clone(splices), tree
	}
	return tree, err
}

// Text returns the item's bytes in the source: whole lines, for an element of a
// block sequence up to the next element; the bare value in a flow sequence.
func (it *Item) Text() []byte { return it.Source.Data[it.start:it.end] }

// Bounds returns where Text starts and ends in the source.
func (it *Item) Bounds() (start, end int) { return it.start, it.end }

// Offset returns the offset in Source.Data of the first byte of a node of the
// item. A node of another item, which has no place in its text, is an error.
func (it *Item) Offset(n *yaml.Node) (int, error) {
	return it.region.offset(n.Line, n.Column)
}

// Position returns line and column of a node of the item in the source, both
// from 1; columns count characters.
func (it *Item) Position(n *yaml.Node) (line, column int) {
	column = n.Column
	if n.Line == 1 {
		column += it.region.column
	}
	return it.region.line + n.Line - 1, column
}

// LineInside returns the line of the source, from 1, that holds a line of a
// scalar's text, counted from 0, and the column at which that begins. It is false
// for a scalar that is not written line by line.
func (it *Item) LineInside(n *yaml.Node, line int) (at, column int, ok bool) {
	if n.Kind != yaml.ScalarNode || n.Style&yaml.LiteralStyle == 0 {
		return 0, 0, false
	}
	first, _ := it.Position(n)
	lines := bytes.Split(it.Source.Data, []byte("\n"))
	at = first + 1 + line
	if at > len(lines) {
		return 0, 0, false
	}
	text := lines[at-1]
	return at, 1 + len(text) - len(bytes.TrimLeft(text, " ")), true
}

// Layout returns the spans of the nodes of Tree. It returns an error where the
// text is written in a way that is not understood.
func (it *Item) Layout() (Layout, error) {
	tree, err := it.Tree()
	if err != nil {
		return nil, err
	}
	if it.layout == nil {
		if it.layout, err = it.region.layoutOf(tree); err != nil {
			return nil, err
		}
	}
	return it.layout, nil
}

// Mentions reports whether any of the words may occur in the item. It only
// searches the bytes, so that an item of no interest is never decoded; where
// escapes could hide a word it says yes.
func (it *Item) Mentions(words ...string) bool {
	text := it.Text()
	for _, word := range words {
		if bytes.Contains(text, []byte(word)) {
			return true
		}
	}
	return hasEscape(text)
}

// hasEscape reports whether text holds an escape that stands for a character
// a word is made of, or an escaped line break within one.
func hasEscape(text []byte) bool {
	for {
		i := bytes.IndexByte(text, '\\')
		if i < 0 || i+1 >= len(text) {
			return false
		}
		switch text[i+1] {
		case 'x', 'u', 'U', '/', '\n', '\r':
			return true
		}
		text = text[i+2:]
	}
}

// DuplicateKey returns the path of the first key that stands twice in one
// mapping of the item. What such an object means depends on who reads it.
func (it *Item) DuplicateKey() (path string, ok bool) {
	root, err := it.Root()
	if err != nil || root == nil {
		return "", false
	}
	found := duplicateKey(root)
	slices.Reverse(found)
	return found.String(), found != nil
}

// duplicateKey returns the path of a duplicate key, its last element first.
func duplicateKey(n *yaml.Node) setting.Path {
	if key := repeated(n); key != nil {
		return setting.Path{key.Value}
	}
	for i, c := range n.Content {
		if len(c.Content) == 0 {
			continue
		}
		found := duplicateKey(c)
		switch {
		case found == nil:
		case n.Kind == yaml.SequenceNode:
			return append(found, i)
		default:
			return append(found, n.Content[i-i%2].Value)
		}
	}
	return nil
}

// repeated returns the first key of a mapping that stands there a second time.
func repeated(n *yaml.Node) *yaml.Node {
	if n.Kind != yaml.MappingNode {
		return nil
	}
	seen := make(map[string]bool, len(n.Content)/2)
	for i := 0; i < len(n.Content); i += 2 {
		key := n.Content[i]
		if key.Kind != yaml.ScalarNode {
			continue
		}
		if seen[key.Value] {
			return key
		}
		seen[key.Value] = true
	}
	return nil
}
