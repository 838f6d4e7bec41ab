// Package monitoring finds what dashboards, alerts, recording rules and scalers
// ask of the metrics of a server. Items go in; queries come out, each with the
// place where it stands. A parser of PromQL is handed in: this package knows the
// shapes of documents, and nothing of what an engine emits.
package monitoring

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/trimtab/trimtab/internal/setting"
	"github.com/trimtab/trimtab/internal/stream"
)

// Expr is a PromQL expression, as far as it asks for metrics.
type Expr struct {
	// Any are operands of which one that finds something is enough: those of `or`.
	Any []Expr
	// All are operands that are all needed.
	All []Expr
	// Selector is what a leaf asks for; nil elsewhere.
	Selector *Selector
}

// Selector asks for the series of one metric.
type Selector struct {
	// Name is the metric, or Pattern what its whole name must match; both are
	// empty where a variable decides it.
	Name, Pattern string
	// Labels are those that a series must bear to be found.
	Labels []string
}

// Parse reads a PromQL expression; the error says that it is none.
type Parse func(text string) (Expr, error)

// Query is an expression that stands in a document.
type Query struct {
	Expr
	Item *stream.Item
	// Path leads to the scalar in the item that holds the expression, or the
	// document with it.
	Path setting.Path
	// Inside is true where the scalar holds a document, and Line counts from 0 the
	// lines of its text before the expression.
	Inside bool
	Line   int
	// Text is the expression as written.
	Text string
	// Title is what the panel or the alert is called; empty where it has no name.
	Title string
	// Records is the series that a recording rule makes of the expression.
	Records string
}

// Find returns the queries of the items that ask for a metric with one of the
// prefixes, or for what recording rules of the same items make of such metrics.
// What the parser does not take is passed over: it may be a template, or meant
// for something else than Prometheus.
func Find(items []*stream.Item, prefixes []string, parse Parse) []Query {
	f := finder{parse: parse, walked: map[*stream.Item]bool{}, wanted: map[string]bool{}}
	for words := prefixes; len(words) > 0; {
		mentioned := stream.NewWords(words...)
		for _, item := range items {
			if f.walked[item] || !item.MentionsAny(mentioned) {
				continue
			}
			f.walked[item] = true
			if root, err := item.Root(); err == nil && root != nil {
				f.item = item
				f.walk(root, "")
			}
		}
		from := len(f.found)
		f.take(words)
		words = nil
		for _, q := range f.found[from:] {
			known := slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(q.Records, prefix) })
			if q.Records != "" && !known && !f.wanted[q.Records] {
				f.wanted[q.Records] = true
				words = append(words, q.Records)
			}
		}
	}
	return f.found
}

// finder looks for queries: it walks each item once, and keeps what may be one
// until a word that it holds is looked for.
type finder struct {
	parse  Parse
	walked map[*stream.Item]bool
	// wanted are the series of recording rules that were looked for.
	wanted  map[string]bool
	waiting []waiting
	found   []Query

	item *stream.Item
	// path leads to where the walk is.
	path setting.Path
	// inside is set while a document inside a scalar is read: the scalar's path.
	inside setting.Path
}

// waiting is the text of a query, or of a document with queries in it.
type waiting struct {
	Query
	isDocument bool
}

// take reads those of the waiting that hold one of the words, and what the
// documents among them hold.
func (f *finder) take(words []string) {
	for {
		ready, rest := []waiting(nil), f.waiting[:0]
		for _, w := range f.waiting {
			if slices.ContainsFunc(words, func(word string) bool { return strings.Contains(w.Text, word) }) {
				ready = append(ready, w)
			} else {
				rest = append(rest, w)
			}
		}
		f.waiting = rest
		if len(ready) == 0 {
			return
		}
		for _, w := range ready {
			if w.isDocument {
				f.document(w.Query)
			} else if expr, ok := f.read(w.Text); ok {
				w.Expr = expr
				f.found = append(f.found, w.Query)
			}
		}
	}
}

// queryKeys are the fields that hold an expression: of panels, rules and
// scalers, of the variables of dashboards, of the rules of a metrics adapter.
var queryKeys = []string{"expr", "query", "seriesQuery"}

// titleKeys are the fields that name what a query stands in.
var titleKeys = []string{"title", "alert", "record", "name"}

// below walks a part of the node where the walk is.
func (f *finder) below(step any, node *yaml.Node, title string) {
	f.path = append(f.path, step)
	f.walk(node, title)
	f.path = f.path[:len(f.path)-1]
}

func (f *finder) walk(node *yaml.Node, title string) {
	if node.Kind == yaml.AliasNode {
		return // where it is written it was read
	}
	switch node.Kind {
	case yaml.SequenceNode:
		for i, element := range node.Content {
			f.below(i, element, title)
		}
	case yaml.MappingNode:
		for i := 0; i+1 < len(node.Content); i += 2 {
			if key, value := node.Content[i].Value, node.Content[i+1]; slices.Contains(titleKeys, key) && value.Kind == yaml.ScalarNode {
				title = value.Value
				break
			}
		}
		record := scalar(node, "record")
		for i := 0; i+1 < len(node.Content); i += 2 {
			key, value := node.Content[i].Value, node.Content[i+1]
			if slices.Contains(queryKeys, key) && value.Kind == yaml.ScalarNode {
				f.wait(value, f.path.Join(key), title, record)
				continue
			}
			f.below(key, value, title)
		}
	case yaml.ScalarNode:
		if f.inside == nil && strings.ContainsAny(node.Value, "{:") {
			f.waiting = append(f.waiting, waiting{Query{Item: f.item, Path: slices.Clone(f.path), Text: node.Value, Title: title}, true})
		}
	}
}

func scalar(mapping *yaml.Node, key string) string {
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		if value := mapping.Content[i+1]; mapping.Content[i].Value == key && value.Kind == yaml.ScalarNode {
			return value.Value
		}
	}
	return ""
}

// wait keeps what may be a query.
func (f *finder) wait(node *yaml.Node, path setting.Path, title, record string) {
	q := Query{Item: f.item, Path: path, Text: node.Value, Title: title, Records: record}
	if f.inside != nil {
		q.Path, q.Inside, q.Line = f.inside, true, max(0, node.Line-1)
	}
	f.waiting = append(f.waiting, waiting{q, false})
}

// document reads a dashboard or a rule file that stands in a scalar.
func (f *finder) document(d Query) {
	root := decoded(d.Text)
	if root == nil || root.Kind != yaml.MappingNode && root.Kind != yaml.SequenceNode {
		return
	}
	f.item, f.inside, f.path = d.Item, d.Path, nil
	f.walk(root, d.Title)
	f.inside = nil
}

// decoded reads YAML or JSON; nil where a text is neither.
func decoded(text string) *yaml.Node {
	var document yaml.Node
	if yaml.Unmarshal([]byte(text), &document) == nil && len(document.Content) == 1 {
		return document.Content[0]
	}
	var value any // JSON that is indented by tabs is no YAML
	if json.Unmarshal([]byte(text), &value) != nil || document.Encode(value) != nil {
		return nil
	}
	return &document
}

var (
	labelValues = regexp.MustCompile(`(?s)^\s*label_values\(\s*(.+?)\s*,\s*([A-Za-z_]\w*)\s*\)\s*$`)
	queryResult = regexp.MustCompile(`(?s)^\s*query_result\((.*)\)\s*$`)
)

// read parses a query, or the query in a function of Grafana's.
func (f *finder) read(text string) (Expr, bool) {
	label := ""
	if parts := labelValues.FindStringSubmatch(text); parts != nil {
		text, label = parts[1], parts[2]
	} else if parts := queryResult.FindStringSubmatch(text); parts != nil {
		text = parts[1]
	}
	expr, err := f.parse(text)
	if err == nil && label != "" && expr.Selector != nil {
		expr.Selector.Labels = append(expr.Selector.Labels, label)
	}
	return expr, err == nil
}

// Selectors returns all that an expression asks for.
func (e Expr) Selectors() []Selector {
	var all []Selector
	if e.Selector != nil {
		all = append(all, *e.Selector)
	}
	for _, part := range slices.Concat(e.Any, e.All) {
		all = append(all, part.Selectors()...)
	}
	return all
}

// Missing returns the selectors of an expression that find nothing, as told by
// empty, where that matters: an operand of `or` may, while another does not.
func (e Expr) Missing(empty func(Selector) bool) []Selector {
	if e.Selector != nil && empty(*e.Selector) {
		return []Selector{*e.Selector}
	}
	var missing []Selector
	for _, part := range e.All {
		missing = append(missing, part.Missing(empty)...)
	}
	var alternatives []Selector
	for _, part := range e.Any {
		if len(part.Selectors()) == 0 {
			continue // a constant beside it does not stand for the metric
		}
		lacks := part.Missing(empty)
		if len(lacks) == 0 {
			return missing
		}
		alternatives = append(alternatives, lacks...)
	}
	return append(missing, alternatives...)
}
