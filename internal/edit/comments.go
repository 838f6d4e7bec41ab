package edit

import (
	"bytes"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/trimtab/trimtab/internal/setting"
	"github.com/trimtab/trimtab/internal/stream"
)

// Comments returns what the author wrote about the nodes at the places: the
// block of comment lines directly above each, and the comments beside it, each
// without its number signs. A place that is not in the item has none.
func Comments(item *stream.Item, places []setting.Path) []string {
	root, err := item.Root()
	if err != nil {
		return nil
	}
	var comments []string
	for _, place := range places {
		node := nodeAt(root, place)
		if node == nil {
			continue
		}
		offset, err := item.Offset(node)
		if err != nil {
			continue
		}
		if above := commentAbove(item.Source.Data, offset); above != "" {
			comments = append(comments, above)
		}
		comments = append(comments, commentsBeside(node)...)
	}
	return comments
}

// nodeAt walks a path through the nodes as they are written; nil where it
// leads through an alias or nowhere.
func nodeAt(node *yaml.Node, path setting.Path) *yaml.Node {
	for _, element := range path {
		var next *yaml.Node
		switch step := element.(type) {
		case string:
			for i := 0; node.Kind == yaml.MappingNode && i+1 < len(node.Content); i += 2 {
				if node.Content[i].Value == step {
					next = node.Content[i+1]
				}
			}
		case int:
			if node.Kind == yaml.SequenceNode && step < len(node.Content) {
				next = node.Content[step]
			}
		}
		if next == nil {
			return nil
		}
		node = next
	}
	return node
}

// commentAbove joins the comment lines directly above the line of an offset.
func commentAbove(data []byte, offset int) string {
	start := bytes.LastIndexByte(data[:offset], '\n') + 1
	var block []string
	for start > 0 {
		end := start - 1
		start = bytes.LastIndexByte(data[:end], '\n') + 1
		line := strings.TrimSpace(string(data[start:end]))
		if !strings.HasPrefix(line, "#") {
			break
		}
		block = append([]string{strings.TrimSpace(strings.TrimLeft(line, "#"))}, block...)
	}
	return strings.Join(block, " ")
}

func commentsBeside(node *yaml.Node) []string {
	var comments []string
	if node.LineComment != "" {
		comments = append(comments, strings.TrimSpace(strings.TrimLeft(node.LineComment, "#")))
	}
	for _, child := range node.Content {
		comments = append(comments, commentsBeside(child)...)
	}
	return comments
}
