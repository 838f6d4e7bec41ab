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
	var found []Query
	wanted, seen := slices.Clone(prefixes), map[string]bool{}
	for len(wanted) > 0 {
		finder := finder{words: wanted, parse: parse}
		words := stream.NewWords(wanted...)
		for _, item := range items {
			if !item.MentionsAny(words) {
				continue
			}
			root, err := item.Root()
			if err != nil || root == nil {
				continue
			}
			finder.item = item
			finder.walk(root, nil, "")
		}
		wanted = nil
		for _, q := range finder.found {
			id := q.Item.Source.Name + "\x00" + q.Path.String() + "\x00" + q.Text + "\x00" + q.Title
			if seen[id] {
				continue
			}
			seen[id] = true
			found = append(found, q)
			if q.Records != "" && !slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(q.Records, prefix) }) {
				wanted = append(wanted, q.Records)
			}
		}
	}
	return found
}

// finder looks for queries in one item after the other.
type finder struct {
	words []string
	parse Parse
	item  *stream.Item
	found []Query
	// inside is set while a document inside a scalar is read: the scalar's path.
	inside *setting.Path
}

// queryKeys are the fields that hold an expression: of panels, rules and
// scalers, of the variables of dashboards, of the rules of a metrics adapter.
var queryKeys = []string{"expr", "query", "seriesQuery"}

// titleKeys are the fields that name what a query stands in.
var titleKeys = []string{"title", "alert", "record", "name"}

func (f *finder) walk(node *yaml.Node, path setting.Path, title string) {
	if node.Kind == yaml.AliasNode {
		return // where it is written it was read
	}
	switch node.Kind {
	case yaml.SequenceNode:
		for i, element := range node.Content {
			f.walk(element, path.Join(i), title)
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
				f.query(value, path.Join(key), title, record)
				continue
			}
			f.walk(value, path.Join(key), title)
		}
	case yaml.ScalarNode:
		if f.inside == nil && f.mentioned(node.Value) {
			f.document(node, path, title)
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

func (f *finder) mentioned(text string) bool {
	return slices.ContainsFunc(f.words, func(word string) bool { return strings.Contains(text, word) })
}

// document reads a dashboard or a rule file that stands in a scalar.
func (f *finder) document(node *yaml.Node, path setting.Path, title string) {
	root := decoded(node.Value)
	if root == nil || root.Kind != yaml.MappingNode && root.Kind != yaml.SequenceNode {
		return
	}
	f.inside = &path
	f.walk(root, nil, title)
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

func (f *finder) query(node *yaml.Node, path setting.Path, title, record string) {
	text, label := node.Value, ""
	if !f.mentioned(text) {
		return
	}
	if parts := labelValues.FindStringSubmatch(text); parts != nil {
		text, label = parts[1], parts[2]
	} else if parts := queryResult.FindStringSubmatch(text); parts != nil {
		text = parts[1]
	}
	expr, err := f.parse(text)
	if err != nil {
		return
	}
	if label != "" && expr.Selector != nil {
		expr.Selector.Labels = append(expr.Selector.Labels, label)
	}
	q := Query{Expr: expr, Item: f.item, Path: path, Text: node.Value, Title: title, Records: record}
	if f.inside != nil {
		q.Path, q.Inside, q.Line = *f.inside, true, max(0, node.Line-1)
	}
	f.found = append(f.found, q)
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
