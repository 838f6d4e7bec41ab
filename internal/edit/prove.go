package edit

import (
	"encoding/json"

	"go.yaml.in/yaml/v3"

	"github.com/trimtab/trimtab/internal/stream"
)

// intended returns the tree the edits ask for: a copy of everything the item
// is decoded with, changed. nodes maps the old nodes that stay to the new.
func (p *plan) intended() (*yaml.Node, map[*yaml.Node]*yaml.Node, error) {
	tree, err := p.item.Tree()
	if err != nil {
		return nil, nil, err
	}
	nodes := map[*yaml.Node]*yaml.Node{}
	copied := p.copyNode(tree, nodes)
	for _, n := range nodes {
		if n.Kind != yaml.AliasNode {
			continue
		}
		target, stays := nodes[n.Alias]
		if !stays {
			return nil, nil, &Refused{Reason: "an alias stands for something that would go"}
		}
		n.Alias = target
	}
	return copied, nodes, nil
}

// copyNode copies a node and what stays below it. Aliases still point into the
// old tree.
func (p *plan) copyNode(n *yaml.Node, nodes map[*yaml.Node]*yaml.Node) *yaml.Node {
	copied := *n
	copied.Content = nil
	nodes[n] = &copied
	if _, set := p.set[n]; set {
		copied.Value, copied.Tag = p.set[n].Value, p.text[n].tag
	}
	for i, child := range n.Content {
		value := child
		if n.Kind == yaml.MappingNode && i%2 == 0 {
			value = n.Content[i+1]
		}
		if !p.leaves(value) {
			copied.Content = append(copied.Content, p.copyNode(child, nodes))
		}
	}
	p.grow(n, &copied)
	return &copied
}

// prove decodes the spliced text and demands the intended tree.
func (p *plan) prove(splices []stream.Splice) error {
	want, _, err := p.intended()
	if err != nil {
		return err
	}
	got, err := p.item.DecodeWith(splices)
	if err != nil {
		return &Refused{Reason: "the result would be no valid YAML: " + err.Error()}
	}
	if !stream.SameTree(want, got) {
		return &Refused{Reason: "the result would not read as intended"}
	}
	return p.proveJSON(splices)
}

// proveJSON demands that an object written as JSON stays JSON.
func (p *plan) proveJSON(splices []stream.Splice) error {
	start, _ := p.item.Bounds()
	text := p.item.Text()
	if !json.Valid(text) {
		return nil
	}
	moved := append([]stream.Splice(nil), splices...)
	for i := range moved {
		moved[i].Offset -= start
	}
	result, err := stream.Apply(text, moved)
	if err != nil || !json.Valid(result) {
		return &Refused{Reason: "the result would be no valid JSON"}
	}
	return nil
}
