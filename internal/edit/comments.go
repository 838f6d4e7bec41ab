package edit

import (
	"bytes"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/trimtab/trimtab/internal/setting"
	"github.com/trimtab/trimtab/internal/shell"
	"github.com/trimtab/trimtab/internal/stream"
)

// Comments returns what the author wrote about the nodes at the places: the
// block of comment lines directly above each, the comments beside it, and of an
// element of a list the comment on the line of the list's key that is about the
// list, each without its number signs. A place that is not in the item has none.
func Comments(item *stream.Item, places []setting.Path) []string {
	root, err := item.Root()
	if err != nil {
		return nil
	}
	var comments []string
	for _, place := range places {
		place, part, inside := place.Part()
		if inside {
			comments = append(comments, shell.Comments(part.Script.Source(part.Span.Source), part.Span)...)
		}
		node := nodeAt(root, place)
		if node == nil {
			continue
		}
		offset, err := item.Offset(node)
		if err != nil {
			continue
		}
		if above := commentAbove(item.Source, offset); above != "" {
			comments = append(comments, above)
		}
		comments = append(comments, commentsBeside(node)...)
		if beside := commentOfList(item, root, place); beside != "" {
			comments = append(comments, beside)
		}
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
func commentAbove(source *stream.Source, offset int) string {
	start := source.LineStart(offset)
	var block []string
	for start > 0 {
		end := start
		start = source.LineStart(end - 1)
		line := bytes.TrimSpace(source.Data[start:end])
		if !bytes.HasPrefix(line, []byte("#")) {
			break
		}
		block = append(block, withoutSigns(string(line)))
	}
	slices.Reverse(block)
	return strings.Join(block, " ")
}

// withoutSigns is a comment without its number signs.
func withoutSigns(comment string) string { return strings.TrimSpace(strings.TrimLeft(comment, "#")) }

func commentsBeside(node *yaml.Node) []string {
	var comments []string
	if node.LineComment != "" {
		comments = append(comments, withoutSigns(node.LineComment))
	}
	for _, child := range node.Content {
		comments = append(comments, commentsBeside(child)...)
	}
	return comments
}

// commentOfList returns the comment about the list that holds an element, or a
// field of it, as far as it stands on the line of the list's key: behind the
// key, the opening bracket, or the closing one.
func commentOfList(item *stream.Item, root *yaml.Node, place setting.Path) string {
	list := nodeAt(root, listOf(place))
	layout, err := item.Layout()
	if list == nil || err != nil || list.Kind != yaml.SequenceNode || layout[list].Mark < 0 {
		return ""
	}
	span, data := layout[list], item.Source.Data
	head := span.Mark + 1
	if span.Head > span.Start {
		head = span.Head
	}
	_, next := item.Source.LineEnd(span.Mark)
	ends := []int{head}
	if list.Style&yaml.FlowStyle != 0 {
		ends = append(ends, span.Content+1, span.End)
	}
	for _, end := range ends {
		if end > next {
			continue
		}
		if rest := bytes.TrimLeft(data[end:next], " \t]},"); len(rest) > 0 && rest[0] == '#' {
			return withoutSigns(strings.TrimSpace(string(rest)))
		}
	}
	return ""
}

// listOf is the path of the list that a place is an element of, or a field of
// an element; nil for all others.
func listOf(place setting.Path) setting.Path {
	for _, above := range []int{1, 2} {
		if i := len(place) - above; i > 0 {
			_, element := place[i].(int)
			if _, keyed := place[i-1].(string); element && keyed {
				return place[:i]
			}
		}
	}
	return nil
}
