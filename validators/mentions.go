package validators

import (
	"regexp"

	"go.yaml.in/yaml/v3"

	"github.com/trimtab/trimtab/internal/rule"
	"github.com/trimtab/trimtab/internal/server"
)

// mentions tells whether anything in a server's container besides the entry of
// the variable itself holds its name: a script, a reference, a probe.
func mentions(s rule.Server, variable string) bool {
	root, err := s.Item.Root()
	if err != nil || root == nil {
		return true // what cannot be read may mention it
	}
	word := regexp.MustCompile(`(^|[^A-Za-z0-9_])` + regexp.QuoteMeta(variable) + `([^A-Za-z0-9_]|$)`)
	return holds(server.Lookup(root, s.Path), func(text string) bool { return text != variable && word.MatchString(text) }, 0)
}

// deepest bounds the walk through nodes that hold themselves by an alias.
const deepest = 40

func holds(node *yaml.Node, matches func(string) bool, depth int) bool {
	if node == nil || depth > deepest {
		return false
	}
	if node.Kind == yaml.ScalarNode {
		return matches(node.Value)
	}
	if node.Alias != nil {
		return holds(node.Alias, matches, depth+1)
	}
	for _, child := range node.Content {
		if holds(child, matches, depth+1) {
			return true
		}
	}
	return false
}
