// Package stream turns bytes into documents and items, and splices into bytes.
//
// In come the bytes of a file, of standard input or of a ResourceList; out go
// items that know their place in those bytes, each decoded when it is first
// asked for. A strict line scan finds the items; whatever it is not certain of
// goes to the YAML parser as a whole. YAML is decoded to decide and never
// encoded to write: a change is a Splice, and what no splice touches stays
// byte for byte.
package stream

import (
	"bytes"
	"errors"
	"sync"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// Source is one input and the items it holds.
type Source struct {
	// Name is the file's path, "-" for standard input, or empty for the
	// ResourceList of a host.
	Name  string
	Data  []byte
	Items []*Item
	// List is what stands around the items of a ResourceList; nil for plain
	// documents.
	List *ResourceList

	parser  Parser
	indexed sync.Once
	looked  sync.Once // for the registered words
	lines   []int     // offsets of line starts, once they are needed
}

// Parser reads sources. The zero value is what everyone but a test wants.
type Parser struct {
	// WholeParse leaves the line scan out: every document goes to the YAML
	// parser as a whole. The items are the same.
	WholeParse bool
}

// ParseDocuments reads the documents of a file or of standard input: YAML or
// JSON. Empty documents are no items. It returns a *SyntaxError for what is not
// YAML.
func ParseDocuments(name string, data []byte) (*Source, error) {
	return Parser{}.Documents(name, data)
}

// ParseResourceList reads the standard input of a KRM function. It returns an
// error for anything but one ResourceList.
func ParseResourceList(data []byte) (*Source, error) {
	return Parser{}.ResourceList(data)
}

// Documents is ParseDocuments, with its errors, for this parser.
func (p Parser) Documents(name string, data []byte) (*Source, error) {
	docs, err := p.documents(name, data)
	if err != nil {
		return nil, err
	}
	source := &Source{Name: name, Data: data, parser: p}
	index := 0
	for i := range docs {
		doc := &docs[i]
		if !doc.content {
			continue
		}
		items, err := documentItems(source, doc, index)
		if err != nil {
			return nil, named(err, name)
		}
		if items == nil {
			continue
		}
		source.Items = append(source.Items, items...)
		index++
	}
	return source, nil
}

// Again reads new text of a source as the source itself was read, with the
// errors of that.
func (s *Source) Again(data []byte) (*Source, error) {
	if s.List != nil {
		return s.parser.ResourceList(data)
	}
	return s.parser.Documents(s.Name, data)
}

// documents cuts data into documents.
func (p Parser) documents(name string, data []byte) ([]document, error) {
	if utf16(data) {
		return nil, &SyntaxError{Name: name, Reason: "the text is UTF-16, save it as UTF-8"}
	}
	docs, err := scanDocuments(data, p.WholeParse)
	return docs, named(err, name)
}

// named adds the source's name to a syntax error.
func named(err error, name string) error {
	var syntax *SyntaxError
	if errors.As(err, &syntax) && syntax.Name == "" {
		syntax.Name = name
	}
	return err
}

func utf16(data []byte) bool {
	return bytes.HasPrefix(data, []byte("\xff\xfe")) || bytes.HasPrefix(data, []byte("\xfe\xff"))
}

// runeLen is the length of the character data starts with; a byte that is no
// UTF-8 counts as one.
func runeLen(data []byte) int {
	_, size := utf8.DecodeRune(data)
	return max(size, 1)
}

// documentItems returns the items of one document: the elements of a v1 List,
// else the document itself; nil for a document that holds only null.
func documentItems(source *Source, doc *document, index int) ([]*Item, error) {
	whole := &Item{Source: source, Index: index, Element: NoElement, region: &doc.region, start: doc.start, end: doc.end}
	if doc.certain {
		if doc.scalar("kind") != "List" || doc.scalar("apiVersion") != "v1" {
			return []*Item{whole}, nil
		}
		if items := certainItems(source, doc); items != nil {
			return numbered(items, index), nil
		}
	}
	root, err := doc.decode()
	if err != nil {
		return nil, err
	}
	if isNull(root) {
		return nil, nil
	}
	whole.settle(root)
	if value(root, "kind") != "List" || value(root, "apiVersion") != "v1" {
		return []*Item{whole}, nil
	}
	items, err := parsedItems(source, doc, root)
	if err != nil || items == nil {
		return []*Item{whole}, nil
	}
	return numbered(items, index), nil
}

// numbered gives the elements of a List the index of their document.
func numbered(items []*Item, index int) []*Item {
	for _, item := range items {
		item.Index = index
	}
	return items
}

func isNull(n *yaml.Node) bool {
	return n == nil || n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null"
}
