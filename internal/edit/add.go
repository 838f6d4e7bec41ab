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
	// lists are new keys at the end of a mapping, each with its elements.
	lists []newList
}

// newList is a sequence that does not exist yet.
type newList struct {
	key      string
	elements []finding.Edit
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
	if parent.Kind != yaml.MappingNode {
		return &Refused{Path: e.Path, Reason: "what it would be a key of is no mapping"}
	}
	if braces := p.layout[parent].Content; parent.Style&yaml.FlowStyle != 0 && p.data[braces] != '{' {
		return &Refused{Path: e.Path, Reason: "its mapping is written without braces"}
	}
	if merges(parent) {
		return &Refused{Path: e.Path, Reason: mergeReason}
	}
	if !utf8.ValidString(key) {
		return &Refused{Path: e.Path, Reason: "the new key is not UTF-8"}
	}
	g := p.grows(parent)
	for i := range g.lists {
		if g.lists[i].key == key {
			g.lists[i].elements = append(g.lists[i].elements, e)
			return nil
		}
	}
	g.lists = append(g.lists, newList{key: key, elements: []finding.Edit{e}})
	return nil
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
	return g.lists[0].elements[0]
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
	for _, list := range g.lists {
		sequence := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
		for _, e := range list.elements {
			sequence.Content = append(sequence.Content, elementNode(e))
		}
		copied.Content = append(copied.Content, stringNode(list.key), sequence)
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
	n := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	for _, f := range e.Fields {
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
