// Package edit turns edits on one object into splices of its source.
//
// In come an item, the edits that findings ask for, and a word on whether a
// comment goes with what it stands above; out come splices that change nothing
// else. Each plan is proved: the spliced text is decoded again and must be the
// object with the edits made to its tree, else the plan is refused.
package edit

import (
	"errors"
	"fmt"

	"go.yaml.in/yaml/v3"

	"github.com/trimtab/trimtab/internal/finding"
	"github.com/trimtab/trimtab/internal/setting"
	"github.com/trimtab/trimtab/internal/shell"
	"github.com/trimtab/trimtab/internal/stream"
)

// Conflict is two edits that cannot both be made.
type Conflict struct{ First, Second setting.Path }

// Error names both paths.
func (c *Conflict) Error() string {
	return fmt.Sprintf("the edits of `%s` and `%s` contradict each other", c.First, c.Second)
}

// Refused is an edit that cannot be made without changing something else.
type Refused struct {
	// Path is where the edit was to be made; empty when all edits together
	// are refused.
	Path   setting.Path
	Reason string
}

// Error names the path and the reason.
func (r *Refused) Error() string {
	if len(r.Path) == 0 {
		return "not edited: " + r.Reason
	}
	return fmt.Sprintf("`%s` is not edited: %s", r.Path, r.Reason)
}

// CommentGoes decides whether the block of comment lines directly above what an
// edit removes goes with it. The text comes without the `#` of its lines.
type CommentGoes func(comment string, e finding.Edit) bool

// Plan returns the splices, sorted, that make the edits on the item, none for
// no edits. Paths lead through the item as it is before any of them. A sequence
// that loses its last element goes with its key; a mapping that loses its last
// key becomes {}. Without commentGoes every comment stays.
//
// What is added comes to the end of its list, in the order of the edits and in
// the style of the elements there; a list that does not exist yet becomes the
// last key of its mapping. Comment lines directly below the last element stay
// above what is added if they are indented deeper than the key that holds the
// list; all others, and those behind a blank line, stay below.
//
// It returns a *Conflict or a *Refused; then nothing may be changed.
func Plan(item *stream.Item, edits []finding.Edit, commentGoes CommentGoes) ([]stream.Splice, error) {
	p, err := newPlan(item, edits)
	if err != nil || p == nil {
		return nil, err
	}
	p.commentGoes = commentGoes
	splices, err := p.splices()
	if err != nil {
		return nil, err
	}
	if err := p.prove(splices); err != nil {
		return nil, err
	}
	return splices, nil
}

// plan is what is to become of one item's tree.
type plan struct {
	item        *stream.Item
	data        []byte
	root        *yaml.Node
	layout      stream.Layout
	commentGoes CommentGoes

	// places tells where the nodes on the edits' paths stand.
	places map[*yaml.Node]place
	// order holds the containers that lose a child, in the order of the edits.
	order []*yaml.Node
	// edited holds the nodes of the edits, in their order.
	edited []*yaml.Node
	gone   map[*yaml.Node]finding.Edit // removed elements and values
	set    map[*yaml.Node]finding.Edit // scalars with a new text
	// hollow sequences lost all elements and go with their key.
	hollow map[*yaml.Node]finding.Edit
	// emptied collections stay as {} or [].
	emptied map[*yaml.Node]bool
	text    map[*yaml.Node]scalarText // of the scalars in set
	// pieces are the changes inside scalars, by path, the last of each first.
	pieces map[string][]shell.Splice
	growth map[*yaml.Node]*growth
	grown  []*yaml.Node // the nodes of growth, in the order of the edits
}

// place is where a node stands in its parent.
type place struct {
	parent *yaml.Node
	key    *yaml.Node // of a value in a mapping
	path   setting.Path
}

// newPlan finds the nodes of the edits; nil for no edits.
func newPlan(item *stream.Item, edits []finding.Edit) (*plan, error) {
	edits, pieces, err := whole(changes(edits))
	if err != nil || len(edits) == 0 {
		return nil, err
	}
	root, err := item.Root()
	if err != nil {
		return nil, err
	}
	if root == nil || item.Aliased {
		return nil, &Refused{Reason: "the object is null or an alias"}
	}
	p := &plan{
		item: item, data: item.Source.Data, root: root,
		places: map[*yaml.Node]place{},
		gone:   map[*yaml.Node]finding.Edit{}, set: map[*yaml.Node]finding.Edit{},
		hollow: map[*yaml.Node]finding.Edit{}, emptied: map[*yaml.Node]bool{},
		text: map[*yaml.Node]scalarText{}, growth: map[*yaml.Node]*growth{}, pieces: pieces,
	}
	if p.layout, err = item.Layout(); err != nil {
		return nil, &Refused{Reason: err.Error()}
	}
	for _, e := range edits {
		if err := p.add(e); err != nil {
			return nil, err
		}
	}
	if err := p.checkConflicts(); err != nil {
		return nil, err
	}
	if err := p.checkAnchors(); err != nil {
		return nil, err
	}
	if err := p.checkGrowth(); err != nil {
		return nil, err
	}
	if err := p.cascade(); err != nil {
		return nil, err
	}
	return p, p.chooseTexts()
}

// changes drops the edits that change nothing and the repetitions. An element
// that is added twice comes twice: it may be the value of two flags.
func changes(edits []finding.Edit) []finding.Edit {
	var kept []finding.Edit
	seen := map[string]bool{}
	for _, e := range edits {
		if e.Action == finding.None || e.Action == "" {
			continue
		}
		key := fmt.Sprintf("%s %q %q", e.Action, e.Path, e.Value)
		if e.Action == finding.Remove {
			key = fmt.Sprintf("%s %q", e.Action, e.Path)
		}
		if e.Action == finding.Add || !seen[key] {
			seen[key] = true
			kept = append(kept, e)
		}
	}
	return kept
}

// add notes one edit on the node it is about.
func (p *plan) add(e finding.Edit) error {
	if len(e.Path) == 0 {
		return &Refused{Reason: "an object as a whole is neither removed, set nor added to"}
	}
	if e.Action == finding.Add {
		return p.addition(e)
	}
	if e.Action == finding.Set {
		if created, err := p.creation(e); err != nil || created {
			return err
		}
	}
	node, err := p.find(e.Path)
	if err != nil {
		return err
	}
	p.edited = append(p.edited, node)
	switch e.Action {
	case finding.Remove:
		p.gone[node] = e
		parent := p.places[node].parent
		p.order = append(p.order, parent)
		if merges(parent) {
			return &Refused{Path: e.Path, Reason: mergeReason}
		}
	case finding.Set:
		if node.Kind != yaml.ScalarNode {
			return &Refused{Path: e.Path, Reason: "only a scalar can be set"}
		}
		if first, twice := p.set[node]; twice && first.Value != e.Value {
			return &Conflict{First: first.Path, Second: e.Path}
		}
		if node.Value == e.Value && node.ShortTag() != "!!null" {
			break // as it is
		}
		p.set[node] = e
	default:
		return &Refused{Path: e.Path, Reason: fmt.Sprintf("action %q is no edit of a node", e.Action)}
	}
	return nil
}

// find walks a path and notes the places of its nodes.
func (p *plan) find(path setting.Path) (*yaml.Node, error) {
	node := p.root
	for i, element := range path {
		refuse := func(reason string) error { return &Refused{Path: path[:i+1], Reason: reason} }
		at := place{parent: node, path: path[:i+1]}
		var next *yaml.Node
		switch e := element.(type) {
		case int:
			if node.Kind != yaml.SequenceNode || e < 0 || e >= len(node.Content) {
				return nil, refuse("there is no such element")
			}
			next = node.Content[e]
		case string:
			if e == "<<" {
				return nil, refuse("a merge key is not edited")
			}
			index, count := lookup(node, e)
			if _, merged := lookup(node, "<<"); count == 0 && merged > 0 {
				return nil, refuse("it comes from a merge key (`<<`)")
			}
			if count != 1 {
				return nil, refuse(fmt.Sprintf("there are %d such keys", count))
			}
			at.key, next = node.Content[index], node.Content[index+1]
			if at.key.Kind != yaml.ScalarNode || p.layout[at.key].Explicit {
				return nil, refuse("a key written with `?` is not edited")
			}
		default:
			return nil, refuse("the path holds neither key nor index")
		}
		if next.Kind == yaml.AliasNode {
			return nil, refuse("it is an alias of something that stands elsewhere")
		}
		p.places[next] = at
		node = next
	}
	return node, nil
}

// lookup returns the index of a key in a mapping's content, and how often it
// stands there.
func lookup(n *yaml.Node, key string) (index, count int) {
	if n.Kind != yaml.MappingNode {
		return 0, 0
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key && n.Content[i].Kind == yaml.ScalarNode {
			index, count = i, count+1
		}
	}
	return index, count
}

// ancestors calls visit for the node and each node above it, up to the root.
func (p *plan) ancestors(n *yaml.Node, visit func(*yaml.Node) error) error {
	for {
		if err := visit(n); err != nil || n == p.root {
			return err
		}
		n = p.places[n].parent
	}
}

// checkConflicts refuses a scalar that is set inside of what is removed, and
// drops what is removed inside of what is removed.
func (p *plan) checkConflicts() error {
	for _, n := range p.edited {
		e, isSet := p.set[n]
		if !isSet {
			continue
		}
		err := p.ancestors(n, func(above *yaml.Node) error {
			if removal, ok := p.gone[above]; ok {
				return &Conflict{First: removal.Path, Second: e.Path}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	for _, n := range p.edited {
		if p.insideGone(p.places[n].parent) {
			delete(p.gone, n)
		}
	}
	return nil
}

// insideGone reports whether a node or one above it is removed by an edit.
func (p *plan) insideGone(n *yaml.Node) bool {
	return p.ancestors(n, func(above *yaml.Node) error {
		if _, ok := p.gone[above]; ok {
			return errFound
		}
		return nil
	}) != nil
}

// errFound ends a walk.
var errFound = errors.New("found")

// checkAnchors refuses edits that an alias elsewhere would take part in.
func (p *plan) checkAnchors() error {
	targets, err := p.aliasTargets()
	if err != nil || len(targets) == 0 {
		return err
	}
	for _, n := range p.edited {
		err := p.ancestors(n, func(above *yaml.Node) error {
			if targets[above] {
				return &Refused{Path: p.places[n].path, Reason: "an alias elsewhere stands for it"}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// cascade finds the collections that lose all their children. It refuses to
// take away or empty one beside a merge key.
func (p *plan) cascade() error {
	left := map[*yaml.Node]int{}
	for i := 0; i < len(p.order); i++ {
		n := p.order[i]
		if _, counted := left[n]; !counted {
			left[n] = len(p.left(n))
		}
		if p.leaves(n) || p.emptied[n] || left[n] > 0 || p.growth[n] != nil {
			continue
		}
		at := p.places[n]
		if n != p.root && merges(at.parent) {
			return &Refused{Path: at.path, Reason: mergeReason}
		}
		if n.Kind != yaml.SequenceNode || n == p.root || at.key == nil {
			p.emptied[n] = true
			continue
		}
		e := p.gone[n.Content[0]]
		if n.Style&yaml.FlowStyle != 0 || at.parent.Style&yaml.FlowStyle != 0 {
			p.gone[n] = e
		} else {
			p.hollow[n] = e
		}
		p.order = append(p.order, at.parent)
		if _, counted := left[at.parent]; counted {
			left[at.parent]--
		}
	}
	return nil
}

// mergeReason is why no key beside a merge key goes.
const mergeReason = "its mapping merges another one with `<<`, which may hold the same key"

// merges reports whether a mapping holds a merge key.
func merges(n *yaml.Node) bool {
	_, count := lookup(n, "<<")
	return count > 0
}

// leaves reports whether a value or element goes.
func (p *plan) leaves(n *yaml.Node) bool {
	_, gone := p.gone[n]
	_, hollow := p.hollow[n]
	return gone || hollow
}
