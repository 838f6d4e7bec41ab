package stream

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

// parsers are the two ways to parse.
var parsers = map[string]Parser{"scanned": {}, "whole": {WholeParse: true}}

// lines joins lines of text.
func lines(text ...string) string { return strings.Join(text, "\n") + "\n" }

const listHead = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\n"

func TestDocuments(t *testing.T) {
	tests := []struct {
		name  string
		in    string
		texts []string
	}{
		{"empty", "", nil},
		{"blank", " \n\n", nil},
		{"comment only", "# a\n", nil},
		{"markers only", "---\n---\n# c\n--- # d\n", nil},
		{"null", "null\n---\n~\n", nil},
		{"one", "a: 1", []string{"a: 1"}},
		{"marker and comments", "# a\n---\n# b\na: 1\n# c\n---\nb: 2\n...\n# d\n---\nc: 3\n---\n", []string{"---\n# b\na: 1\n# c\n", "---\nb: 2\n", "---\nc: 3\n"}},
		{"comment on the marker", "--- # x\na: 1\n---   \nb: 2\n", []string{"--- # x\na: 1\n", "---   \nb: 2\n"}},
		{"content on the marker", "--- {a: 1}\n--- |\n text\n", []string{"--- {a: 1}\n", "--- |\n text\n"}},
		{"CR LF", "a: 1\r\n---\r\nb: 2\r\n", []string{"a: 1\r\n", "---\r\nb: 2\r\n"}},
		{"CR alone", "a: 1\r---\rb: 2\r", []string{"a: 1\r", "---\rb: 2\r"}},
		{"byte order mark", "\xef\xbb\xbfa: 1\n---\nb: 2\n", []string{"a: 1\n", "---\nb: 2\n"}},
		{"directive", "%YAML 1.1\n---\na: 1\n...\n%YAML 1.1\n---\nb: 2\n", []string{"%YAML 1.1\n---\na: 1\n", "%YAML 1.1\n---\nb: 2\n"}},
		{"marker within a block scalar", "a: |\n  ---\n  b: 2\n", []string{"a: |\n  ---\n  b: 2\n"}},
		{"JSON", "{\"a\": [1]}", []string{"{\"a\": [1]}"}},
		{"scalar and sequence", "text\n---\n- a\n", []string{"text\n", "---\n- a\n"}},
		{"List", "apiVersion: v1\nkind: List\nitems:\n- a: 1\n# c\n- b: 2\nmetadata: {}\n---\na: 3\n", []string{"- a: 1\n# c\n", "- b: 2\n", "---\na: 3\n"}},
		{"List in flow style", "{apiVersion: v1, kind: List, items: [{a: 1}, {b: 2}]}\n", []string{"{a: 1}", "{b: 2}"}},
		{"List of something else", "apiVersion: v2\nkind: List\nitems:\n- a: 1\n", []string{"apiVersion: v2\nkind: List\nitems:\n- a: 1\n"}},
		{"List of no objects", "apiVersion: v1\nkind: List\nitems:\n- a\n", []string{"apiVersion: v1\nkind: List\nitems:\n- a\n"}},
		{"empty List", "apiVersion: v1\nkind: List\nitems: []\n---\na: 1\n", []string{"---\na: 1\n"}},
	}
	for _, test := range tests {
		for mode, parser := range parsers {
			t.Run(test.name+"/"+mode, func(t *testing.T) {
				source, err := parser.Documents("f.yaml", []byte(test.in))
				require.NoError(t, err)
				var texts []string
				for _, it := range source.Items {
					texts = append(texts, string(it.Text()))
					_, err := it.Root()
					require.NoError(t, err)
				}
				require.Equal(t, test.texts, texts)
				requireParser(t, []byte(test.in))
			})
		}
	}
}

func TestDocumentsIndex(t *testing.T) {
	in := "# none\n---\na: 1\n---\n---\nnull\n---\napiVersion: v1\nkind: List\nitems: [{b: 1}, {b: 2}]\n---\nc: 1\n"
	for _, parser := range parsers {
		source, err := parser.Documents("-", []byte(in))
		require.NoError(t, err)
		var got []string
		for _, it := range source.Items {
			got = append(got, fmt.Sprint(it.Index, it.Element))
		}
		require.Equal(t, []string{"0 -1", "1 0", "1 1", "2 -1"}, got)
	}
}

func TestDocumentsErrors(t *testing.T) {
	tests := []struct{ name, in, err string }{
		{"mapping in a value", "a: 1\n---\nb: c: d\n", "f.yaml:3: not valid YAML: mapping values are not allowed"},
		{"tab", "a:\n\tb: 1\n", "f.yaml:2: not valid YAML: found character that cannot start any token"},
		{"not UTF-8", "a: 1\nb: \xff\n", `f.yaml:2: not valid YAML: character "\xff" is not allowed`},
		{"NUL", "a: \x00\n", `f.yaml:1: not valid YAML: character "\x00" is not allowed`},
		{"UTF-16", "\xff\xfea\x00", "f.yaml: not valid YAML: the text is UTF-16"},
		{"no marker behind the end", "a: 1\n...\nb: 2\n", "f.yaml:3: not valid YAML: a document behind `...`"},
		{"text behind the end", "a: 1\n... b\n", "f.yaml:2: not valid YAML: only a comment may follow"},
		{"an end of nothing", "...\n", "f.yaml:1: not valid YAML: `...` ends no document"},
		{"directive without document", "%YAML 1.1\n", "a directive must be followed by `---`"},
		{"unknown alias", "a: *b\n", "f.yaml: not valid YAML: unknown anchor 'b' referenced"},
		{"open bracket", "a: [1\n", "not valid YAML"},
		{"template", "{{ if .Values.x }}\na: 1\n", "not valid YAML"},
		{"deep", strings.Repeat("[", 20000), "exceeded max depth"},
	}
	for _, test := range tests {
		for mode, parser := range parsers {
			t.Run(test.name+"/"+mode, func(t *testing.T) {
				_, err := parser.Documents("f.yaml", []byte(test.in))
				require.ErrorContains(t, err, test.err)
				var syntax *SyntaxError
				require.ErrorAs(t, err, &syntax)
				require.NotContains(t, err.Error(), "\n")
			})
		}
	}
}

func TestResourceList(t *testing.T) {
	tests := []struct {
		name   string
		in     string
		texts  []string
		config string
	}{
		{"block", listHead + lines("items:", "- kind: A", "  # in", "# c", "- kind: B", "# d", "results: []"), []string{"- kind: A\n  # in\n# c\n", "- kind: B\n# d\n"}, ""},
		{"indented, config last", listHead + lines("items:", "  - kind: A", "", "  - kind: B", "functionConfig: # f", "  kind: Trim"), []string{"  - kind: A\n\n", "  - kind: B\n"}, "functionConfig: # f\n  kind: Trim\n"},
		{"marker", "# top\n---\n" + listHead + lines("functionConfig:", "  kind: Trim", "items:", "- kind: A") + "---\n", []string{"- kind: A\n"}, "functionConfig:\n  kind: Trim\n"},
		{"versions", "apiVersion: config.kubernetes.io/v1alpha1\nkind: ResourceList\nitems: []\n", nil, ""},
		{"no items", listHead + "items:\nfunctionConfig: null\n", nil, ""},
		{"null items", listHead + "items: null\nfunctionConfig:\n", nil, ""},
		{"null item", listHead + "items:\n- kind: A\n-\n- null\n", []string{"- kind: A\n", "-\n", "- null\n"}, ""},
		{"unknown key", listHead + "items:\n- kind: A\nextra:\n- kind: B\n", []string{"- kind: A\n"}, ""},
		{"anchors", listHead + "items:\n- kind: A\n  x: &a {b: 1}\n- kind: B\n  x: *a\n", []string{"- kind: A\n  x: &a {b: 1}\n", "- kind: B\n  x: *a\n"}, ""},
		{"flow items", listHead + "items: [{kind: A}, {kind: B}]\n", []string{"{kind: A}", "{kind: B}"}, ""},
		{"JSON", `{"apiVersion":"config.kubernetes.io/v1","kind":"ResourceList","functionConfig":{"kind":"Trim"},"items":[{"kind":"A"},null]}`, []string{`{"kind":"A"}`, "null"}, `"functionConfig":{"kind":"Trim"}`},
		{"no final newline", listHead + "items:\n- kind: A\n  b: |\n    text", []string{"- kind: A\n  b: |\n    text"}, ""},
		{"quoted", "'apiVersion': \"config.kubernetes.io/v1\"\n\"kind\": 'ResourceList' # c\n\"items\":\n- kind: A\n", []string{"- kind: A\n"}, ""},
	}
	for _, test := range tests {
		for mode, parser := range parsers {
			t.Run(test.name+"/"+mode, func(t *testing.T) {
				source, err := parser.ResourceList([]byte(test.in))
				require.NoError(t, err)
				var texts []string
				for i, it := range source.Items {
					require.Equal(t, i, it.Index)
					texts = append(texts, string(it.Text()))
					root, err := it.Root()
					require.NoError(t, err)
					require.Equal(t, bytes.Contains(it.Text(), []byte("kind")), root != nil)
				}
				require.Equal(t, test.texts, texts)
				config := ""
				if source.List.FunctionConfig != nil {
					config = string(source.List.FunctionConfig.Text())
					root, err := source.List.FunctionConfig.Root()
					require.NoError(t, err)
					require.Equal(t, "Trim", value(root, "kind"))
				}
				require.Equal(t, test.config, config)
				requireParity(t, []byte(test.in))
				requireParser(t, []byte(test.in))
			})
		}
	}
}

func TestResourceListErrors(t *testing.T) {
	tests := []struct{ name, in, err string }{
		{"empty", "", "standard input is empty"},
		{"blank", "  \n", "standard input is empty"},
		{"comment", "# c\n", "standard input is empty"},
		{"marker", "---\n", "standard input is empty"},
		{"null", "null\n", "standard input is empty"},
		{"bare", "apiVersion: v1\nkind: Pod\n---\napiVersion: v1\nkind: Pod\n", "kind \"Pod\"; use `trimtab trim -` for plain documents"},
		{"List", "apiVersion: v1\nkind: List\nitems: []\n", "use `trimtab trim -` for plain documents"},
		{"scalar", "text\n", "use `trimtab trim -` for plain documents"},
		{"sequence", "- a\n", "use `trimtab trim -` for plain documents"},
		{"two lists", listHead + "items: []\n---\n" + listHead + "items: []\n", "more than one document"},
		{"second document", listHead + "items: []\n---\nkind: Pod\n", "standard input is no ResourceList but kind \"Pod\""},
		{"not YAML", "a: 1\nb: c: d\n", "standard input is no ResourceList: line 2: not valid YAML"},
		{"not UTF-8", "\xff\n", "is not allowed"},
		{"version", "apiVersion: v1\nkind: ResourceList\nitems: []\n", "`apiVersion` \"v1\" of the ResourceList is not known"},
		{"no items", listHead + "functionConfig: {}\n", "has no `items`"},
		{"items of the wrong kind", listHead + "items: {}\n", "`items` of the ResourceList is no list"},
		{"items twice", listHead + "items: []\nitems: []\n", "`items` stands twice"},
		{"scalar item", listHead + "items:\n- kind: A\n- text\n", "item 1 of the list, at line 5, is no object"},
		{"sequence item", listHead + "items:\n- - a\n", "item 0 of the list, at line 4, is no object"},
		{"functionConfig of the wrong kind", listHead + "items: []\nfunctionConfig: text\n", "`functionConfig` is no object"},
		{"broken item", listHead + "items:\n- kind: A\n  b: [\n", "not valid YAML"},
	}
	for _, test := range tests {
		for mode, parser := range parsers {
			t.Run(test.name+"/"+mode, func(t *testing.T) {
				_, err := parser.ResourceList([]byte(test.in))
				require.ErrorContains(t, err, test.err)
				require.NotContains(t, err.Error(), "\n")
			})
		}
	}
}

func TestPosition(t *testing.T) {
	in := "\xef\xbb\xbf# c\n" + listHead + "items:\r\n  - kind: \"é\"\n    ü: [é, x]\n  # c\n  -\n    y: [é, x]\n"
	flow := "# c\n{apiVersion: config.kubernetes.io/v1, kind: ResourceList, é: é, items: [{kind: \"é\",\n  ü: [é, x]}, {y: [é, x]}]}\n"
	for mode, parser := range parsers {
		for _, data := range []string{in, flow} {
			t.Run(mode, func(t *testing.T) {
				source, err := parser.ResourceList([]byte(data))
				require.NoError(t, err)
				for i, key := range []string{"ü", "y"} {
					root, err := source.Items[i].Root()
					require.NoError(t, err)
					_, list := child(root, key)
					x := list.Content[1]
					require.Equal(t, "x", x.Value)
					offset, err := source.Items[i].Offset(x)
					require.NoError(t, err)
					require.Equal(t, "x]", data[offset:offset+2])
					line, column := source.Items[i].Position(x)
					before := strings.TrimPrefix(data[:offset], string(byteOrderMark))
					require.Equal(t, strings.Count(before, "\n")+1, line)
					require.Equal(t, len([]rune(before[strings.LastIndexByte(before, '\n')+1:]))+1, column)
				}
			})
		}
	}
}

func TestMentions(t *testing.T) {
	source, err := ParseDocuments("-", []byte("a: sglang\n---\na: \"sgl\\u0061ng\"\n---\na: \"b\\nc\"\n"))
	require.NoError(t, err)
	require.True(t, source.Items[0].Mentions("vllm", "sglang"))
	require.False(t, source.Items[0].Mentions("vllm"))
	require.True(t, source.Items[1].Mentions("vllm"), "an escape may hide a word")
	require.False(t, source.Items[2].Mentions("vllm"))
	require.False(t, source.Items[0].Mentions())
}

func TestDuplicateKey(t *testing.T) {
	tests := []struct{ in, path string }{
		{"a: 1\nb: [{c: 1, d: 2, c: 3}]\n", "b[0].c"},
		{"a: 1\n\"a\": 2\n", "a"},
		{"a: 1\nb: {a: 1}\n", ""},
		{"- a\n- a\n", ""},
		{"a: &a {b: 1}\nc: *a\n", ""},
	}
	for _, test := range tests {
		source, err := ParseDocuments("-", []byte(test.in))
		require.NoError(t, err)
		path, found := source.Items[0].DuplicateKey()
		require.Equal(t, test.path, path)
		require.Equal(t, test.path != "", found)
	}
}

// TestAliases shows that nothing expands aliases.
func TestAliases(t *testing.T) {
	var b strings.Builder
	b.WriteString("a0: &a0 [x, x]\n")
	for i := 1; i < 60; i++ {
		fmt.Fprintf(&b, "a%d: &a%d [*a%d, *a%d]\n", i, i, i-1, i-1)
	}
	source, err := ParseDocuments("-", []byte(b.String()))
	require.NoError(t, err)
	root, err := source.Items[0].Root()
	require.NoError(t, err)
	require.Len(t, root.Content, 120)
	_, found := source.Items[0].DuplicateKey()
	require.False(t, found)
	_, err = source.Items[0].Layout()
	require.NoError(t, err)

	source, err = ParseResourceList([]byte(listHead + "items:\n- &a {kind: A}\n- *a\n"))
	require.NoError(t, err)
	require.True(t, source.Items[1].Aliased)
	root, err = source.Items[1].Root()
	require.NoError(t, err)
	require.Equal(t, "A", value(root, "kind"))
}

// TestDeep shows that nesting as deep as the parser allows is read.
func TestDeep(t *testing.T) {
	in := "a: " + strings.Repeat("[", 9000) + strings.Repeat("]", 9000) + "\n"
	source, err := ParseDocuments("-", []byte(in))
	require.NoError(t, err)
	_, found := source.Items[0].DuplicateKey()
	require.False(t, found)
	layout, err := source.Items[0].Layout()
	require.NoError(t, err)
	require.Len(t, layout, 9002)

	in = ""
	for i := range 600 {
		in += strings.Repeat(" ", i) + "a:\n"
	}
	requireParity(t, []byte(in))
}

func TestApply(t *testing.T) {
	data := []byte("0123456789")
	out, err := Apply(data, []Splice{{0, 0, "a"}, {2, 2, ""}, {4, 1, "b"}, {10, 0, "c"}})
	require.NoError(t, err)
	require.Equal(t, "a01b56789c", string(out))
	out, err = Apply(data, nil)
	require.NoError(t, err)
	require.Equal(t, data, out)
	for _, bad := range [][]Splice{{{4, 2, ""}, {5, 1, ""}}, {{5, 0, ""}, {4, 0, ""}}, {{11, 0, ""}}, {{9, 2, ""}}, {{-1, 0, ""}}, {{3, -1, ""}}} {
		_, err := Apply(data, bad)
		require.Error(t, err)
	}
}

// TestScanIsCertain guards that everyday manifests take the fast path.
func TestScanIsCertain(t *testing.T) {
	in := lines("---", "# c", "apiVersion: v1 # c", "kind: X", "metadata:", "  annotations: {}", "  \"a.b/c\": 'it''s'", "spec:", "  args:", "  - --a=b", "  - \"q\\n\\u003c\"",
		"  - -x", "  - - y", "    - z:", "        w: [a, \"b\", {c: d}]", "  url: http://x:80/y#z", "  empty:", "  script: |-  # c", "    #!/bin/sh", "    echo a: b", "", "    done", "  folded: >2", "     more", "  é: ü", "  last: $(A)")
	docs, err := scanDocuments([]byte(in), false)
	require.NoError(t, err)
	require.Len(t, docs, 1)
	require.True(t, docs[0].certain)
	requireParser(t, []byte(in))
}

// TestScanIsNotCertain lists what goes to the parser.
func TestScanIsNotCertain(t *testing.T) {
	for _, in := range []string{
		"a: &x 1\n", "a: *x\n", "<<: {a: 1}\n", "a: !!str 1\n", "a: 'x\n  y'\n", "a: [1,\n  2]\n", "a: b\n  c\n", "a:\n  b\n", "a:\tb\n",
		"? a\n: b\n", "a: 1\rb: 2\n", "a: \"\xc2\x85\"\n", "--- a\n", "kind: A\nkind: B\n", "{}\n", "a: b: c\n", "a: - b\n", "a: \"x\" y\n", "- a\nb: 1\n",
		"a: 1\n b: 2\n", "a: \"\\ud800\"\n", "a: \"\\q\"\n", "a: @x\n", "a: |x\n", "a: |\n   x\n  y\n", "a: |\n    \n  x\n", "a: [a b]\n", "a: [x#y]\n", "a: {b:c}\n", "text\n",
		"'a' : 1\n", "[a]: 1\n", "a: |\n  x\n # c\n  y\n", strings.Repeat("k", 1100) + ": 1\n",
	} {
		docs, err := scanDocuments([]byte(in), false)
		require.NoError(t, err)
		require.Len(t, docs, 1)
		require.False(t, docs[0].certain, "%q", in)
		requireParity(t, []byte(in))
	}
}

// TestSharedCases reads real manifests both ways.
func TestSharedCases(t *testing.T) {
	dir := filepath.Join("..", "..", "..", "shared", "cases", "public")
	if _, err := os.Stat(dir); err != nil {
		t.Skip("the manifests of ../shared/cases are not here")
	}
	files := 0
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".yaml") {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		files++
		requireParser(t, data)
		requireParity(t, data)
		requireParity(t, bytes.ReplaceAll(data, []byte("\n"), []byte("\r\n")))
		source, err := ParseDocuments(path, data)
		if err != nil {
			return nil // a template
		}
		for _, it := range source.Items {
			requireLayout(t, it)
		}
		return nil
	})
	require.NoError(t, err)
	require.NotZero(t, files)
}

// requireLayout demands that the text of each scalar's span reads as the scalar.
func requireLayout(t *testing.T, it *Item) {
	t.Helper()
	layout, err := it.Layout()
	require.NoError(t, err)
	for n, span := range layout {
		if n.Kind != yaml.ScalarNode || n.Style&(yaml.LiteralStyle|yaml.FoldedStyle|yaml.TaggedStyle) != 0 {
			continue
		}
		text := it.Source.Data[span.Content:span.End]
		if bytes.ContainsAny(text, "\r\n") {
			continue
		}
		var got yaml.Node
		require.NoError(t, yaml.Unmarshal(append([]byte("- "), text...), &got), "%q", text)
		require.Equal(t, n.Value, got.Content[0].Content[0].Value, "%q", text)
	}
}

func TestWriteIsApply(t *testing.T) {
	data := []byte("one\ntwo\nthree\n")
	for _, splices := range [][]Splice{
		nil,
		{{Offset: 0, Insert: "zero\n"}},
		{{Offset: 4, Delete: 4}, {Offset: 14, Insert: "four\n"}},
		{{Offset: 4, Delete: 4}, {Offset: 6, Insert: "overlaps"}},
		{{Offset: 15}},
	} {
		want, wantErr := Apply(data, splices)
		var got bytes.Buffer
		err := Write(&got, data, splices)
		require.Equal(t, wantErr, err)
		require.Equal(t, string(want), got.String())
	}
}
