package stream

import "go.yaml.in/yaml/v3"

// SameTree compares two trees: kinds, tags, values, anchors, the order of keys,
// and where aliases lead. Comments and style do not count.
func SameTree(a, b *yaml.Node) bool {
	if a == nil || b == nil {
		return a == b
	}
	inA, inB := map[*yaml.Node]int{}, map[*yaml.Node]int{}
	if !sameShape(a, b, inA, inB) {
		return false
	}
	return sameAliases(a, b, inA, inB)
}

// sameShape compares all but where aliases lead, and numbers the nodes.
func sameShape(a, b *yaml.Node, inA, inB map[*yaml.Node]int) bool {
	if a.Kind != b.Kind || a.ShortTag() != b.ShortTag() || a.Value != b.Value || a.Anchor != b.Anchor || len(a.Content) != len(b.Content) {
		return false
	}
	inA[a], inB[b] = len(inA)+1, len(inB)+1
	for i := range a.Content {
		if !sameShape(a.Content[i], b.Content[i], inA, inB) {
			return false
		}
	}
	return true
}

func sameAliases(a, b *yaml.Node, inA, inB map[*yaml.Node]int) bool {
	if a.Kind == yaml.AliasNode && inA[a.Alias] != inB[b.Alias] {
		return false
	}
	for i := range a.Content {
		if !sameAliases(a.Content[i], b.Content[i], inA, inB) {
			return false
		}
	}
	return true
}
