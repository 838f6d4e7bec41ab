package stream

import (
	"errors"
	"fmt"

	"go.yaml.in/yaml/v3"
)

// ResourceList is what stands around the items of a KRM function's input.
type ResourceList struct {
	// APIVersion is config.kubernetes.io/v1, or a predecessor.
	APIVersion string
	// FunctionConfig is nil when it is absent or null.
	FunctionConfig *Item

	doc  *document
	root *yaml.Node // nil when the line scan alone found the items
}

// listVersions are the versions of the ResourceList that hosts send.
var listVersions = []string{"config.kubernetes.io/v1", "config.kubernetes.io/v1beta1", "config.kubernetes.io/v1alpha1"}

const plainHint = "use `trimtab trim -` for plain documents"

// ResourceList is ParseResourceList, with its errors, for this parser.
func (p Parser) ResourceList(data []byte) (*Source, error) {
	docs, err := p.documents("", data)
	if err != nil {
		return nil, fmt.Errorf("standard input is no ResourceList: %w; %s", err, plainHint)
	}
	source := &Source{Data: data, parser: p}
	for i := range docs {
		doc := &docs[i]
		if !doc.content {
			continue
		}
		list, err := p.list(doc)
		if err != nil {
			return nil, err
		}
		if list == nil {
			continue
		}
		if source.List != nil {
			return nil, errors.New("standard input holds more than one document, give it one ResourceList; " + plainHint)
		}
		source.List = list
	}
	if source.List == nil {
		return nil, errors.New("standard input is empty, give it one ResourceList; " + plainHint)
	}
	return source, source.List.fill(source)
}

// list returns the ResourceList in a document, nil for a null document.
func (p Parser) list(doc *document) (*ResourceList, error) {
	if doc.certain && doc.scalar("kind") == "ResourceList" {
		list := &ResourceList{APIVersion: doc.scalar("apiVersion"), doc: doc}
		if _, ok := doc.elements(); ok && list.known() {
			return list, nil
		}
	}
	root, err := doc.decode()
	if err != nil {
		return nil, fmt.Errorf("standard input is no ResourceList: %w", err)
	}
	if isNull(root) {
		return nil, nil
	}
	switch kind := value(root, "kind"); kind {
	case "ResourceList":
	case "":
		return nil, fmt.Errorf("standard input is no ResourceList; %s", plainHint)
	default:
		return nil, fmt.Errorf("standard input is no ResourceList but kind %q; %s", kind, plainHint)
	}
	list := &ResourceList{APIVersion: value(root, "apiVersion"), doc: doc, root: root}
	if !list.known() {
		return nil, fmt.Errorf("`apiVersion` %q of the ResourceList is not known, use %q", list.APIVersion, listVersions[0])
	}
	for i := 0; i < len(root.Content); i += 2 {
		key := root.Content[i].Value
		if first, _ := child(root, key); first != root.Content[i] && isListKey(key) {
			return nil, fmt.Errorf("`%s` stands twice in the ResourceList, remove one", key)
		}
	}
	return list, nil
}

func (l *ResourceList) known() bool {
	for _, version := range listVersions {
		if l.APIVersion == version {
			return true
		}
	}
	return false
}

// isListKey reports whether a key of a list means something to us.
func isListKey(key string) bool {
	switch key {
	case "apiVersion", "kind", "items", "functionConfig", "results":
		return true
	}
	return false
}

// fill finds the items and the functionConfig.
func (l *ResourceList) fill(source *Source) error {
	if l.root == nil {
		source.Items = certainItems(source, l.doc)
		l.FunctionConfig = l.certainConfig(source)
	} else {
		items, err := parsedItems(source, l.doc, l.root)
		if err != nil {
			return err
		}
		source.Items = items
		if l.FunctionConfig, err = l.parsedConfig(source); err != nil {
			return err
		}
	}
	if l.FunctionConfig == nil {
		return nil
	}
	config, err := l.FunctionConfig.Root()
	if err != nil {
		return err
	}
	if config == nil {
		l.FunctionConfig = nil
		return nil
	}
	if config.Kind != yaml.MappingNode {
		return errors.New("`functionConfig` is no object, give it `apiVersion`, `kind` and `spec`")
	}
	return nil
}

// find returns the entry of a key of the document's root.
func (d *document) find(key string) (*entry, bool) {
	for i := range d.entries {
		if d.entries[i].key == key {
			return &d.entries[i], true
		}
	}
	return nil, false
}

// scalar is the text of a one-line scalar of the root mapping.
func (d *document) scalar(key string) string {
	if found, ok := d.find(key); ok {
		return found.scalar
	}
	return ""
}

// elements returns the elements below `items`; ok says that they are all of
// them and that each is a mapping.
func (d *document) elements() (elements []element, ok bool) {
	items, found := d.find("items")
	if !found {
		return nil, false
	}
	for _, e := range items.elements {
		if !e.mapping {
			return nil, false
		}
	}
	return items.elements, len(items.elements) > 0 || items.scalar == "[]"
}

// certainItems returns the items the line scan found.
func certainItems(source *Source, doc *document) []*Item {
	elements, ok := doc.elements()
	if !ok {
		return nil
	}
	list, _ := doc.find("items")
	items := make([]Item, len(elements))
	regions := make([]region, len(elements))
	pointers := make([]*Item, len(elements))
	for i, e := range elements {
		end := list.end
		if i+1 < len(elements) {
			end = elements[i+1].start
		}
		regions[i] = region{data: source.Data, start: e.start, end: end, line: e.line, blankFrom: e.dash, blankTo: e.dash + 1}
		items[i] = Item{Source: source, Index: i, Element: i, region: &regions[i], start: e.start, end: end}
		pointers[i] = &items[i]
	}
	return pointers
}

// certainConfig returns the functionConfig the line scan found.
func (l *ResourceList) certainConfig(source *Source) *Item {
	e, found := l.doc.find("functionConfig")
	if !found {
		return nil
	}
	r := &region{data: source.Data, start: e.start, end: e.end, line: e.line, blankFrom: e.start, blankTo: e.value}
	return &Item{Source: source, Element: NoElement, region: r, start: e.start, end: e.end}
}

// child returns a key of a mapping and its value.
func child(n *yaml.Node, key string) (k, v *yaml.Node) {
	if n == nil || n.Kind != yaml.MappingNode {
		return nil, nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Kind == yaml.ScalarNode && n.Content[i].Value == key {
			return n.Content[i], n.Content[i+1]
		}
	}
	return nil, nil
}

// value is the text of a scalar field.
func value(n *yaml.Node, key string) string {
	if _, v := child(n, key); v != nil && v.Kind == yaml.ScalarNode {
		return v.Value
	}
	return ""
}
