package stream

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

// dump prints a tree with the positions the source gives its nodes.
func dump(b *bytes.Buffer, it *Item, n *yaml.Node) {
	if n == nil {
		b.WriteString("nil")
		return
	}
	if unwritten(n) {
		// The parser places it at whatever comes next.
		b.WriteString("(null)")
		return
	}
	line, column := it.Position(n)
	offset, err := it.Offset(n)
	fmt.Fprintf(b, "(%d %s %q %d &%s %d:%d @%d %v", n.Kind, n.ShortTag(), n.Value, n.Style, n.Anchor, line, column, offset, err)
	for _, child := range n.Content {
		dump(b, it, child)
	}
	b.WriteByte(')')
}

// describe prints everything the two ways to parse must agree on.
func describe(s *Source, err error) string {
	if err != nil {
		return "error"
	}
	var b bytes.Buffer
	if s.List != nil {
		fmt.Fprintf(&b, "list %s\n", s.List.APIVersion)
		if s.List.FunctionConfig != nil {
			describeItem(&b, s.List.FunctionConfig)
		}
	}
	for _, it := range s.Items {
		describeItem(&b, it)
	}
	return b.String()
}

func describeItem(b *bytes.Buffer, it *Item) {
	start, end := it.Bounds()
	fmt.Fprintf(b, "%d %d %d-%d %v ", it.Index, it.Element, start, end, it.Aliased)
	root, err := it.Root()
	if err != nil {
		fmt.Fprintf(b, "error %v", err)
	}
	dump(b, it, root)
	b.WriteByte('\n')
}

// requireParity parses data both ways and demands the same.
func requireParity(t *testing.T, data []byte) {
	t.Helper()
	scanned, err := Parser{}.Documents("-", data)
	parsed, wholeErr := Parser{WholeParse: true}.Documents("-", data)
	require.Equal(t, describe(parsed, wholeErr), describe(scanned, err), "documents of %q", data)
	scanned, err = Parser{}.ResourceList(data)
	parsed, wholeErr = Parser{WholeParse: true}.ResourceList(data)
	require.Equal(t, describe(parsed, wholeErr), describe(scanned, err), "list in %q", data)
	if wholeErr == nil {
		requireAlone(t, parsed)
	}
}

// requireAlone demands that each item of a list reads alone as it does within
// the list.
func requireAlone(t *testing.T, s *Source) {
	t.Helper()
	within := &Item{region: &s.List.doc.region}
	_, list := child(s.List.root, "items")
	for i, it := range s.Items {
		root, err := it.Root()
		require.NoError(t, err)
		if root == nil || it.Aliased {
			continue
		}
		var want, got bytes.Buffer
		dump(&want, within, list.Content[i])
		dump(&got, it, root)
		require.Equal(t, want.String(), got.String())
	}
}

// requireParser demands that the documents are those the parser finds when it
// reads all of data.
func requireParser(t *testing.T, data []byte) {
	t.Helper()
	docs, err := scanDocuments(data, false)
	if err != nil {
		return
	}
	certain := true
	for _, doc := range docs {
		certain = certain && doc.certain
	}
	var roots []*yaml.Node
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	for {
		var node yaml.Node
		err := decoder.Decode(&node)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			require.False(t, certain, "the scan accepts %q, the parser says %v", data, err)
			return
		}
		if len(node.Content) > 0 && !isNull(node.Content[0]) {
			roots = append(roots, node.Content[0])
		}
	}
	if !certain {
		return
	}
	var want, got bytes.Buffer
	all := &Item{region: &region{data: data, end: len(data), line: 1}}
	if bytes.HasPrefix(data, byteOrderMark) {
		all.region.start = len(byteOrderMark)
	}
	for _, root := range roots {
		dump(&want, all, root)
	}
	for i := range docs {
		if !docs[i].content {
			continue
		}
		root, err := docs[i].decode()
		require.NoError(t, err)
		dump(&got, &Item{region: &docs[i].region}, root)
	}
	require.Equal(t, want.String(), got.String(), "trees of %q", data)
}
