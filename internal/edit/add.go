package edit

import (
	"fmt"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/trimtab/trimtab/internal/finding"
	"github.com/trimtab/trimtab/internal/stream"
)

// growth is what comes into a collection.
type growth struct {
	// elements come to the end of a sequence, in this order. Their collection
	// may be a null that becomes a sequence.
	elements []finding.Edit
	// keys come to the end of a mapping.
	keys []newKey
}

// newKey is a key that does not exist yet: of a sequence with elements, of a
// mapping with fields, or of a text.
type newKey struct {
	key      string
	elements []finding.Edit
	fields   []finding.FieldValue
	text     string
	// edit is the first that asks for the key.
	edit finding.Edit
}

// node is the tree of what comes behind the key.
func (k newKey) node() *yaml.Node {
	switch {
	case len(k.elements) > 0:
		sequence := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
		for _, e := range k.elements {
			sequence.Content = append(sequence.Content, elementNode(e))
		}
		return sequence
	case len(k.fields) > 0:
		return fieldsNode(k.fields)
	default:
		return stringNode(k.text)
	}
}

// addition notes one element that is added.
func (p *plan) addition(e finding.Edit) error {
	if err := checkElement(e); err != nil {
		return err
	}
	last := len(e.Path) - 1
	parent, err := p.find(e.Path[:last])
	if err != nil {
		return err
	}
	if key, ok := e.Path[last].(string); ok && key != "<<" {
		if _, count := lookup(parent, key); count == 0 {
			return p.newElement(parent, key, e)
		}
	}
	node, err := p.find(e.Path)
	if err != nil {
		return err
	}
	if node.Kind != yaml.SequenceNode && node.ShortTag() != "!!null" {
		return &Refused{Path: e.Path, Reason: "elements are only added to a list"}
	}
	if p.layout[node].Mark < 0 && p.layout[node].Content == p.layout[node].End {
		return &Refused{Path: e.Path, Reason: "its key has no colon"}
	}
	g := p.grows(node)
	g.elements = append(g.elements, e)
	return nil
}

// newElement notes an element of a sequence that is no key of the mapping yet.
func (p *plan) newElement(parent *yaml.Node, key string, e finding.Edit) error {
	if err := p.takesKey(parent, key, e); err != nil {
		return err
	}
	k := p.newKey(parent, key, e)
	k.elements = append(k.elements, e)
	return nil
}

// creation notes a text whose key is not there yet, or the mapping of whose key.
// It reports false where all is there.
func (p *plan) creation(e finding.Edit) (bool, error) {
	last := len(e.Path) - 1
	key, isKey := e.Path[last].(string)
	if !e.Create || !isKey || last == 0 {
		return false, nil
	}
	if !utf8.ValidString(e.Value) {
		return false, &Refused{Path: e.Path, Reason: "the new text is not UTF-8"}
	}
	above, err := p.find(e.Path[:last-1])
	if err != nil {
		return false, err
	}
	if holder, ok := e.Path[last-1].(string); ok {
		if _, count := lookup(above, holder); count == 0 {
			if err := p.takesKey(above, holder, e); err != nil {
				return false, err
			}
			k := p.newKey(above, holder, e)
			k.fields = append(k.fields, finding.FieldValue{Name: key, Value: e.Value})
			return true, nil
		}
	}
	parent, err := p.find(e.Path[:last])
	if err != nil {
		return false, err
	}
	if _, count := lookup(parent, key); count > 0 {
		return false, nil
	}
	if err := p.takesKey(parent, key, e); err != nil {
		return false, err
	}
	p.newKey(parent, key, e).text = e.Value
	return true, nil
}

// takesKey refuses a new key where none can be written.
func (p *plan) takesKey(parent *yaml.Node, key string, e finding.Edit) error {
	switch {
	case parent.Kind != yaml.MappingNode:
		return &Refused{Path: e.Path, Reason: "what it would be a key of is no mapping"}
	case parent.Style&yaml.FlowStyle != 0 && p.data[p.layout[parent].Content] != '{':
		return &Refused{Path: e.Path, Reason: "its mapping is written without braces"}
	case merges(parent):
		return &Refused{Path: e.Path, Reason: mergeReason}
	case !utf8.ValidString(key):
		return &Refused{Path: e.Path, Reason: "the new key is not UTF-8"}
	}
	return nil
}

// newKey returns what comes behind a new key of a mapping.
func (p *plan) newKey(parent *yaml.Node, key string, e finding.Edit) *newKey {
	g := p.grows(parent)
	for i := range g.keys {
		if g.keys[i].key == key {
			return &g.keys[i]
		}
	}
	g.keys = append(g.keys, newKey{key: key, edit: e})
	return &g.keys[len(g.keys)-1]
}

// checkElement refuses what cannot be an element.
func checkElement(e finding.Edit) error {
	texts, names := []string{e.Value}, map[string]bool{}
	for _, f := range e.Fields {
		if names[f.Name] {
			return &Refused{Path: e.Path, Reason: fmt.Sprintf("the new element would hold `%s` twice", f.Name)}
		}
		names[f.Name] = true
		texts = append(texts, f.Name, f.Value)
	}
	for _, text := range texts {
		if !utf8.ValidString(text) {
			return &Refused{Path: e.Path, Reason: "the new element is not UTF-8"}
		}
	}
	return nil
}

// grows returns what comes into a node.
func (p *plan) grows(n *yaml.Node) *growth {
	if p.growth[n] == nil {
		p.growth[n] = &growth{}
		p.grown = append(p.grown, n)
	}
	return p.growth[n]
}

// first is an edit of the growth, to name it by.
func (g *growth) first() finding.Edit {
	if len(g.elements) > 0 {
		return g.elements[0]
	}
	return g.keys[0].edit
}

// checkGrowth refuses additions to what is removed or set, and those that an
// alias would take part in.
func (p *plan) checkGrowth() error {
	targets, err := p.aliasTargets()
	if err != nil {
		return err
	}
	for _, n := range p.grown {
		added := p.growth[n].first()
		if e, isSet := p.set[n]; isSet {
			return &Conflict{First: e.Path, Second: added.Path}
		}
		err := p.ancestors(n, func(above *yaml.Node) error {
			if removal, ok := p.gone[above]; ok {
				return &Conflict{First: removal.Path, Second: added.Path}
			}
			if targets[above] {
				return &Refused{Path: added.Path, Reason: "an alias elsewhere stands for it"}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// grow makes the additions on the copy of a node.
func (p *plan) grow(n, copied *yaml.Node) {
	g := p.growth[n]
	if g == nil {
		return
	}
	if n.Kind == yaml.ScalarNode {
		copied.Kind, copied.Tag, copied.Value, copied.Style = yaml.SequenceNode, "!!seq", "", 0
	}
	if n.Kind == yaml.SequenceNode && len(n.Content) == 0 && !p.inFlow(n) {
		copied.Style &^= yaml.FlowStyle
	}
	for _, e := range g.elements {
		copied.Content = append(copied.Content, elementNode(e))
	}
	for _, k := range g.keys {
		copied.Content = append(copied.Content, stringNode(k.key), k.node())
	}
}

// inFlow reports whether a node stands inside of a flow collection.
func (p *plan) inFlow(n *yaml.Node) bool {
	at, ok := p.places[n]
	return ok && at.parent.Style&yaml.FlowStyle != 0
}

// elementNode is the tree of a new element.
func elementNode(e finding.Edit) *yaml.Node {
	if len(e.Fields) == 0 {
		return stringNode(e.Value)
	}
	return fieldsNode(e.Fields)
}

func fieldsNode(fields []finding.FieldValue) *yaml.Node {
	n := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	for _, f := range fields {
		n.Content = append(n.Content, stringNode(f.Name), stringNode(f.Value))
	}
	return n
}

func stringNode(text string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: text}
	if !plain(text, false) {
		n.Style = yaml.DoubleQuotedStyle
	}
	return n
}

// aliasTargets returns the nodes that aliases stand for.
func (p *plan) aliasTargets() (map[*yaml.Node]bool, error) {
	tree, err := p.item.Tree()
	if err != nil {
		return nil, err
	}
	targets := map[*yaml.Node]bool{}
	aliasTargets(tree, targets)
	return targets, nil
}

// quoted writes a string between quotes: single ones where the habit is so and
// the text allows.
func quoted(text string, style yaml.Style) string {
	if style&yaml.SingleQuotedStyle != 0 {
		if single, ok := singleQuoted(text); ok {
			return single
		}
	}
	return stream.Quote(text)
}
