package edit

import "go.yaml.in/yaml/v3"

// left returns the children of a collection that stay: elements, or keys.
func (p *plan) left(n *yaml.Node) []*yaml.Node {
	var left []*yaml.Node
	for _, c := range children(n) {
		if !p.leaves(c.value) {
			left = append(left, c.first)
		}
	}
	return left
}

// part is a child of a collection: its first node, a key or the element, and
// the node that stands for it, the value or the element.
type part struct{ first, value *yaml.Node }

func children(n *yaml.Node) []part {
	var parts []part
	if n.Kind == yaml.MappingNode {
		for i := 0; i+1 < len(n.Content); i += 2 {
			parts = append(parts, part{n.Content[i], n.Content[i+1]})
		}
		return parts
	}
	for _, c := range n.Content {
		parts = append(parts, part{c, c})
	}
	return parts
}

// aliasTargets collects the nodes aliases stand for.
func aliasTargets(n *yaml.Node, targets map[*yaml.Node]bool) {
	if n.Kind == yaml.AliasNode {
		targets[n.Alias] = true
	}
	for _, child := range n.Content {
		aliasTargets(child, targets)
	}
}
