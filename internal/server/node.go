package server

import (
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/trimtab/trimtab/internal/setting"
)

// resolve follows an alias to the node it stands for.
func resolve(node *yaml.Node) *yaml.Node {
	for hops := 0; node != nil && node.Kind == yaml.AliasNode; hops++ {
		if hops > 100 {
			return nil
		}
		node = node.Alias
	}
	return node
}

// at walks mapping keys from a node; nil when a step is missing. A key that is
// not written in the mapping itself is looked for in its merge keys.
func at(node *yaml.Node, keys ...string) *yaml.Node {
	node = resolve(node)
	for _, key := range keys {
		if node == nil || node.Kind != yaml.MappingNode {
			return nil
		}
		node = resolve(value(node, key, 0))
	}
	return node
}

func value(mapping *yaml.Node, key string, depth int) *yaml.Node {
	if mapping == nil || mapping.Kind != yaml.MappingNode || depth > 20 {
		return nil
	}
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		if mapping.Content[i].Value == key {
			return mapping.Content[i+1]
		}
	}
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		if mapping.Content[i].Tag != "!!merge" {
			continue
		}
		merged := resolve(mapping.Content[i+1])
		if merged == nil {
			continue
		}
		if merged.Kind != yaml.SequenceNode {
			merged = &yaml.Node{Kind: yaml.SequenceNode, Content: []*yaml.Node{merged}}
		}
		for _, source := range merged.Content {
			if found := value(resolve(source), key, depth+1); found != nil {
				return found
			}
		}
	}
	return nil
}

// text is the text of a scalar, empty for null, for anything else and for nil.
func text(node *yaml.Node) string {
	node = resolve(node)
	if isNull(node) || node.Kind != yaml.ScalarNode {
		return ""
	}
	return node.Value
}

func isNull(node *yaml.Node) bool {
	return node == nil || node.Tag == "!!null"
}

// integer reads a whole number, also one that is quoted.
func integer(node *yaml.Node) (int64, bool) {
	n, err := strconv.ParseInt(text(node), 10, 64)
	return n, err == nil
}

// field walks a dotted path below a base and returns node and full path.
func field(node *yaml.Node, base setting.Path, dotted string) (*yaml.Node, setting.Path) {
	path := base
	for key := range strings.SplitSeq(dotted, ".") {
		node = at(node, key)
		path = path.Join(key)
	}
	return node, path
}

// Lookup returns the node at a path of an object, nil when it is not there. It
// follows aliases and merge keys.
func Lookup(root *yaml.Node, path setting.Path) *yaml.Node {
	node := resolve(root)
	for _, element := range path {
		switch step := element.(type) {
		case string:
			node = at(node, step)
		case int:
			if node == nil || node.Kind != yaml.SequenceNode || step >= len(node.Content) {
				return nil
			}
			node = resolve(node.Content[step])
		}
	}
	return node
}
