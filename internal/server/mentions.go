package server

import (
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Mentions tells whether anything in a server's container besides the entry of
// the variable itself holds its name as a word: a script, a reference, a probe.
// What cannot be read may mention it.
func (s *Server) Mentions(variable string) bool {
	root, err := s.Item.Root()
	if err != nil || root == nil {
		return true
	}
	container := Lookup(root, s.Path)
	if wordsOf(variable)[0] != variable {
		word := regexp.MustCompile(`(^|[^A-Za-z0-9_])` + regexp.QuoteMeta(variable) + `([^A-Za-z0-9_]|$)`)
		return AnyText(container, func(text string) bool { return text != variable && word.MatchString(text) })
	}
	if s.mentioned == nil {
		s.mentioned = map[string]bool{}
		AnyText(container, func(text string) bool {
			for _, word := range wordsOf(text) {
				if word != text {
					s.mentioned[word] = true
				}
			}
			return false
		})
	}
	return s.mentioned[variable]
}

// wordsOf are the runs of letters, digits and underscores of a text; one empty
// word where it has none.
func wordsOf(text string) []string {
	words := strings.FieldsFunc(text, func(r rune) bool {
		return r != '_' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	})
	if len(words) == 0 {
		return []string{""}
	}
	return words
}

// AnyText tells whether a text of a tree matches. What an alias repeats is read
// once.
func AnyText(node *yaml.Node, matches func(text string) bool) bool {
	read := map[*yaml.Node]bool{}
	var within func(node *yaml.Node) bool
	within = func(node *yaml.Node) bool {
		if node != nil && node.Alias != nil {
			node = node.Alias
		}
		if node == nil || read[node] {
			return false
		}
		if node.Anchor != "" {
			read[node] = true
		}
		if node.Kind == yaml.ScalarNode {
			return matches(node.Value)
		}
		return slices.ContainsFunc(node.Content, within)
	}
	return within(node)
}
