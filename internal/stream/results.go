package stream

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// ResultsSplice returns the splice that appends to the `results` of the
// ResourceList, behind those it holds already; none when there is nothing to
// append. Each result is encoded by its yaml tags. It returns an error where
// `results` is no list. One that appends its own YAML, by the method AppendYAML,
// is not encoded to be written in block style.
func (s *Source) ResultsSplice(results []any) ([]Splice, error) {
	if len(results) == 0 {
		return nil, nil
	}
	if s.List == nil {
		return nil, errors.New("results need a ResourceList")
	}
	w := &resultsWriter{source: s, list: s.List, results: results, newline: "\n"}
	if end, next := LineEnd(s.Data, s.List.doc.start); next-end == 2 && s.Data[end] == '\r' {
		w.newline = "\r\n"
	}
	splice, err := w.splice()
	if err != nil {
		return nil, err
	}
	return []Splice{splice}, nil
}

type resultsWriter struct {
	source  *Source
	list    *ResourceList
	results []any
	newline string
}

// nodeOf encodes a result.
func nodeOf(result any) (*yaml.Node, error) {
	node := &yaml.Node{}
	if err := node.Encode(result); err != nil {
		return nil, fmt.Errorf("a result cannot be written: %w", err)
	}
	return node, nil
}

func (w *resultsWriter) splice() (Splice, error) {
	if w.list.root == nil {
		e, found := w.list.doc.find("results")
		if !found {
			first := w.list.doc.entries[0]
			items, _ := w.list.doc.find("items")
			return w.newKey(skipSpaces(w.source.Data[first.start:], 0), items.start)
		}
		r := &region{data: w.source.Data, start: e.start, end: e.end, line: e.line, blankFrom: e.start, blankTo: e.value}
		root, err := r.decode()
		if err != nil {
			return Splice{}, err
		}
		return w.extend(r, root, root, e.value)
	}
	root := w.list.root
	if _, old := child(root, "results"); old != nil {
		return w.extend(&w.list.doc.region, root, old, NoOffset)
	}
	layout, err := newLayout(&w.list.doc.region, root)
	if err != nil {
		return Splice{}, err
	}
	if root.Style&yaml.FlowStyle != 0 {
		return w.newPair(layout[root.Content[len(root.Content)-1]])
	}
	key, _ := child(root, "items")
	column := layout[root].Content - LineStart(w.source.Data, layout[root].Content)
	return w.newKey(column, LineStart(w.source.Data, layout[key].Start))
}

// newPair adds the key behind the last pair of a flow mapping.
func (w *resultsWriter) newPair(last Span) (Splice, error) {
	text, err := w.flow()
	if last.Comma >= 0 {
		return Splice{Offset: last.Comma + 1, Insert: ` "results": [` + text + "]"}, err
	}
	return Splice{Offset: last.End, Insert: `, "results": [` + text + "]"}, err
}

// newKey adds the key at the end of a block mapping, or at the start of the
// line of `items` where a line break at the end could change the last item.
func (w *resultsWriter) newKey(indent, items int) (Splice, error) {
	text, err := w.block(indent)
	text = strings.Repeat(" ", indent) + "results:" + w.newline + text
	end := w.list.doc.end
	if LineStart(w.source.Data, end) != end {
		return Splice{Offset: items, Insert: text}, err
	}
	return Splice{Offset: end, Insert: text}, err
}

// extend adds to the list that stands there; root is what the region was
// decoded to, old the value of `results`, empty the offset behind its colon.
func (w *resultsWriter) extend(r *region, root, old *yaml.Node, empty int) (Splice, error) {
	if old == nil {
		text, err := w.flow()
		return Splice{Offset: empty, Insert: " [" + text + "]"}, err
	}
	layout, err := newLayout(r, root)
	if err != nil {
		return Splice{}, err
	}
	span := layout[old]
	switch {
	case isNull(old) || old.Kind == yaml.SequenceNode && len(old.Content) == 0:
		text, err := w.flow()
		text = "[" + text + "]"
		if span.Content == span.End {
			text = " " + text
		}
		return Splice{Offset: span.Content, Delete: span.End - span.Content, Insert: text}, err
	case old.Kind != yaml.SequenceNode:
		return Splice{}, errors.New("`results` of the ResourceList is no list")
	case !w.leaveOut(old):
		return Splice{Offset: span.End}, nil
	case old.Style&yaml.FlowStyle != 0:
		last := layout[old.Content[len(old.Content)-1]]
		text, err := w.flow()
		if last.Comma >= 0 {
			return Splice{Offset: last.Comma + 1, Insert: " " + text}, err
		}
		return Splice{Offset: last.End, Insert: ", " + text}, err
	}
	return w.append(layout[old.Content[0]].Mark, span.End)
}

// leaveOut drops the new results that stand in the list already, as on a second
// run over one's own output; false when none is left.
func (w *resultsWriter) leaveOut(old *yaml.Node) bool {
	known := map[string]bool{}
	for _, n := range old.Content {
		if text, ok := resultText(n); ok {
			known[text] = true
		}
	}
	w.results = slices.DeleteFunc(slices.Clone(w.results), func(result any) bool {
		n, err := nodeOf(result)
		if err != nil {
			return false // writing it fails
		}
		text, ok := resultText(n)
		return ok && known[text]
	})
	return len(w.results) > 0
}

// resultText is the same for two results that differ in nothing but their style
// and the order of their keys.
func resultText(n *yaml.Node) (string, bool) {
	var value any
	if n.Decode(&value) != nil {
		return "", false
	}
	return fmt.Sprintf("%#v", value), true
}

// append adds elements behind the block sequence that ends at end and has its
// first dash at dash.
func (w *resultsWriter) append(dash, end int) (Splice, error) {
	data := w.source.Data[:w.list.doc.end]
	text, err := w.block(dash - LineStart(data, dash))
	_, next := LineEnd(data, end)
	// Blank lines may belong to the last block scalar.
	for next < len(data) {
		lineEnd, following := LineEnd(data, next)
		if len(bytes.TrimLeft(data[next:lineEnd], " ")) > 0 {
			break
		}
		next = following
	}
	if LineStart(data, next) != next {
		text = w.newline + strings.TrimSuffix(text, w.newline)
	}
	return Splice{Offset: next, Insert: text}, err
}

// flow writes the new results in flow style, without brackets.
func (w *resultsWriter) flow() (string, error) {
	texts := make([]string, len(w.results))
	for i, result := range w.results {
		n, err := nodeOf(result)
		if err != nil {
			return "", err
		}
		text, err := JSON(n)
		if err != nil {
			return "", err
		}
		texts[i] = text
	}
	return strings.Join(texts, ", "), nil
}

// block writes the new results in block style, each by an encoder of its own:
// an encoder holds all it ever wrote.
func (w *resultsWriter) block(indent int) (string, error) {
	var b bytes.Buffer
	var lines []byte
	for _, result := range w.results {
		if direct, ok := result.(interface{ AppendYAML([]byte) []byte }); ok {
			lines = direct.AppendYAML(lines[:0])
			b.WriteString("- ")
			b.WriteString(strings.TrimPrefix(Indent(string(lines), "  ", "\n"), "  "))
			continue
		}
		n, err := nodeOf(result)
		if err != nil {
			return "", err
		}
		encoder := yaml.NewEncoder(&b)
		encoder.SetIndent(2)
		if err := encoder.Encode(&yaml.Node{Kind: yaml.SequenceNode, Content: []*yaml.Node{n}}); err != nil {
			return "", err
		}
		if err := encoder.Close(); err != nil {
			return "", err
		}
	}
	if indent == 0 && w.newline == "\n" {
		return b.String(), nil
	}
	return Indent(b.String(), strings.Repeat(" ", indent), w.newline), nil
}

// Indent puts a prefix before every line of a text that is not empty, and ends
// lines with newline.
func Indent(text, prefix, newline string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		line, ended := strings.CutSuffix(line, "\n")
		if line != "" {
			b.WriteString(prefix + line)
		}
		if ended {
			b.WriteString(newline)
		}
	}
	return b.String()
}
