package stream

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

// scalars are the scalars of a tree.
func scalars(n *yaml.Node) []*yaml.Node {
	if n.Kind == yaml.ScalarNode {
		return []*yaml.Node{n}
	}
	var list []*yaml.Node
	for _, child := range n.Content {
		list = append(list, scalars(child)...)
	}
	return list
}

func TestEveryByteOfAScalarIsFoundInItsText(t *testing.T) {
	for name, text := range map[string]string{
		"plain":                  "k: a b  c # d\n",
		"plain over lines":       "k: a b\n  c  \n\n\n  d e\n",
		"single quotes":          "k: 'it''s  a\n  b\n\n  c'\n",
		"double quotes":          "k: \"a\\tb \\\"c\\\" \\\n   d\n  e\\u00e9\\x41 \\\\ \\n\"\n",
		"literal":                "k: |\n  a \\\n    b\n\n  c\nl: 1\n",
		"literal, kept":          "k: |+\n  a\n  b\n\n\n",
		"literal, stripped":      "k: |- # why\n  a\n  b\n",
		"literal with a digit":   "k: |2\n    a\n   b\n",
		"folded":                 "k: >\n  a\n  b\n\n  c\n    more\n  d\n\n\n  e\n",
		"folded, more at first":  "k: >-\n\n   a\n     b\n",
		"in a list":              "k:\n  - |\n    a\n    b\n  - >-\n    c\n    d\n",
		"in a flow list":         "k: [\"a b\", 'c d', e f]\n",
		"windows line breaks":    "k: |\r\n  a\r\n  b\r\n",
		"other characters":       "k: \"é\\n日本 \U0001F600\"\n",
		"folded, one long line":  "k: >\n  a b c\n",
		"empty lines in literal": "k: |\n\n  a\n\n\n  b\n",
	} {
		t.Run(name, func(t *testing.T) {
			source, err := ParseDocuments("a.yaml", []byte("apiVersion: v1\nkind: A\n"+text))
			require.NoError(t, err)
			item := source.Items[0]
			root, err := item.Root()
			require.NoError(t, err)
			found := 0
			for _, n := range scalars(root) {
				if n.Value == "" {
					continue
				}
				extents, err := item.Written(n)
				require.NoError(t, err)
				require.Len(t, extents, len(n.Value))
				for i, e := range extents {
					if written := string(source.Data[e.From:e.To]); !strings.ContainsAny(written, "\\' \n\r") && e.To-e.From == 1 {
						require.Equal(t, n.Value[i:i+1], written)
						found++
					}
					if i > 0 {
						require.GreaterOrEqual(t, e.From, extents[i-1].To)
					}
				}
			}
			require.Positive(t, found)
		})
	}
}

func TestTheLineOfAByteInsideAScalar(t *testing.T) {
	source, err := ParseDocuments("a.yaml", []byte("apiVersion: v1\nkind: A\nspec:\n  - |\n    é --a \\\n      --b\n"))
	require.NoError(t, err)
	item := source.Items[0]
	root, err := item.Root()
	require.NoError(t, err)
	scalar := root.Content[5].Content[0]
	line, column := item.PositionIn(scalar, strings.Index(scalar.Value, "--a"))
	require.Equal(t, []int{5, 7}, []int{line, column})
	line, column = item.PositionIn(scalar, strings.Index(scalar.Value, "--b"))
	require.Equal(t, []int{6, 7}, []int{line, column})
	line, column = item.PositionIn(scalar, 1000)
	require.Equal(t, []int{4, 5}, []int{line, column})
}
