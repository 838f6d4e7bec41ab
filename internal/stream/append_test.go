package stream

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// read parses a ResourceList, or documents.
func read(parser Parser, in string) (*Source, error) {
	if strings.Contains(in, "ResourceList") {
		return parser.ResourceList([]byte(in))
	}
	return parser.Documents("-", []byte(in))
}

const (
	newJob  = "kind: Job\nspec:\n  script: |\n    a\n\n    b\n"
	jobJSON = `{"kind": "Job", "spec": {"script": "a\n\nb\n"}}`
	vList   = "apiVersion: v1\nkind: List\n"
)

var appendCases = []struct{ name, in, out string }{
	{"document", "a: 1\n", "a: 1\n---\n" + newJob},
	{"no final newline", "a: 1", "a: 1\n---\n" + newJob},
	{"comments at the end", "---\na: 1\n# end\n\n", "---\na: 1\n# end\n\n---\n" + newJob},
	{"marker at the end", "a: 1\n---\n", "a: 1\n---\n" + newJob},
	{"marker at the end without newline", "a: 1\n---", "a: 1\n---\n" + newJob},
	{"comment behind the last marker", "a: 1\n--- # c\n# d\n", "a: 1\n--- # c\n# d\n" + newJob},
	{"null behind the last marker", "a: 1\n---\nnull\n", "a: 1\n---\nnull\n---\n" + newJob},
	{"document end", "a: 1\n...\n# c\n", "a: 1\n...\n# c\n---\n" + newJob},
	{"nothing", "", newJob},
	{"a comment alone", "# licence\n", "# licence\n" + newJob},
	{"CR LF", "a: 1\r\n", "a: 1\r\n---\r\n" + strings.ReplaceAll(newJob, "\n", "\r\n")},
	{"scalar that keeps blank lines", "a: |+\n  x\n\n", "a: |+\n  x\n\n---\n" + newJob},
	{"JSON", "{\"a\": 1}\n", "{\"a\": 1}\n---\n" + newJob},
	{"byte order mark", "\xef\xbb\xbfa: 1\n", "\xef\xbb\xbfa: 1\n---\n" + newJob},
	{"List", vList + "items:\n- a: 1\n# end\n", vList + "items:\n- a: 1\n# end\n" + asElement(newJob, "")},
	{"List with documents around", "a: 1\n---\n" + vList + "items:\n  - a: 1\n---\n", "a: 1\n---\n" + vList + "items:\n  - a: 1\n" + asElement(newJob, "  ") + "---\n"},
	{"document behind a List", vList + "items:\n  - a: 1\n---\nb: 1\n", vList + "items:\n  - a: 1\n---\nb: 1\n---\n" + newJob},
	{"empty List", vList + "items: []\n", vList + "items:\n" + asElement(newJob, "")},
	{"List of no objects", vList + "items: [a]\n", vList + "items: [a]\n---\n" + newJob},
	{"block items", listHead + "items:\n  - a: 1\n    b:\n    - x\n  # end\n", listHead + "items:\n  - a: 1\n    b:\n    - x\n  # end\n" + asElement(newJob, "  ")},
	{"keys behind", listHead + "items:\n- a: 1\n  # of a\n\n# of results\n# too\nresults: []\n", listHead + "items:\n- a: 1\n  # of a\n\n" + asElement(newJob, "") + "# of results\n# too\nresults: []\n"},
	{"items without final newline", listHead + "items:\n- a: 1", listHead + "items:\n- a: 1\n" + strings.TrimSuffix(asElement(strings.Replace(newJob, "|", "|-", 1), ""), "\n")},
	{"CR LF items", strings.ReplaceAll(listHead+"items:\n- a: 1\n# c\nb: 1\n", "\n", "\r\n"), strings.ReplaceAll(listHead+"items:\n- a: 1\n"+asElement(newJob, "")+"# c\nb: 1\n", "\n", "\r\n")},
	{"first key below the dash", listHead + "items:\n-\n  a: 1\n", listHead + "items:\n-\n  a: 1\n" + asElement(newJob, "")},
	{"anchors", listHead + "items:\n- a: &x 1\n- b: *x\n", listHead + "items:\n- a: &x 1\n- b: *x\n" + asElement(newJob, "")},
	{"empty items", listHead + "items: [] # none\nresults: []\n", listHead + "items: # none\n" + asElement(newJob, "") + "results: []\n"},
	{"empty items over lines", listHead + "items: [\n]\n", listHead + "items:\n" + asElement(newJob, "")},
	{"empty items with a comment inside", listHead + "items: [ # c\n]\n", listHead + "items: [ # c\n" + jobJSON + "]\n"},
	{"null items", listHead + "items:\nresults: []\n", listHead + "items:\n" + asElement(newJob, "") + "results: []\n"},
	{"null items on a line of their own", listHead + "items:\n  null\n", listHead + "items:\n  [" + jobJSON + "]\n"},
	{"indented keys", "  apiVersion: config.kubernetes.io/v1\n  kind: ResourceList\n  items: []\n", "  apiVersion: config.kubernetes.io/v1\n  kind: ResourceList\n  items:\n" + asElement(newJob, "  ")},
	{"flow items", listHead + "items: [{a: 1}, {b: 2}] # c\n", listHead + "items: [{a: 1}, {b: 2}, " + jobJSON + "] # c\n"},
	{"flow items with a comma", listHead + "items: [{a: 1}, ]\n", listHead + "items: [{a: 1}, " + jobJSON + ", ]\n"},
	{"lines of flow items", listHead + "items: [\n  {a: 1}, # a\n  {b: 2} # b\n]\n", listHead + "items: [\n  {a: 1}, # a\n  {b: 2}, # b\n  " + jobJSON + "\n]\n"},
	{"lines of flow items with a comma", listHead + "items: [\n  {b: 2}, # b\n]\n", listHead + "items: [\n  {b: 2}, # b\n  " + jobJSON + ",\n]\n"},
	{"JSON items", `{"apiVersion": "config.kubernetes.io/v1", "kind": "ResourceList", "items": [{"a": 1}]}`, `{"apiVersion": "config.kubernetes.io/v1", "kind": "ResourceList", "items": [{"a": 1}, ` + jobJSON + `]}`},
	{"empty JSON items", `{"apiVersion": "config.kubernetes.io/v1", "kind": "ResourceList", "items": []}`, `{"apiVersion": "config.kubernetes.io/v1", "kind": "ResourceList", "items": [` + jobJSON + `]}`},
	{"null JSON items", `{"apiVersion": "config.kubernetes.io/v1", "kind": "ResourceList", "items": null}`, `{"apiVersion": "config.kubernetes.io/v1", "kind": "ResourceList", "items": [` + jobJSON + `]}`},
}

// asElement writes an object as an element of a block list.
func asElement(text, pad string) string {
	return pad + "- " + strings.TrimPrefix(Indent(text, pad+"  ", "\n"), pad+"  ")
}

func TestAppendSplices(t *testing.T) {
	for _, test := range appendCases {
		for mode, parser := range parsers {
			t.Run(test.name+"/"+mode, func(t *testing.T) {
				text := newJob
				if strings.HasSuffix(test.out, "b") {
					text = strings.Replace(newJob, "|", "|-", 1)
				}
				require.Equal(t, test.out, appended(t, parser, test.in, text))
			})
		}
	}
}

// appended adds objects and demands that the others read as before.
func appended(t *testing.T, parser Parser, in string, texts ...string) string {
	t.Helper()
	source, err := read(parser, in)
	require.NoError(t, err)
	splices, err := source.AppendSplices(texts...)
	require.NoError(t, err)
	out, err := Apply(source.Data, splices)
	require.NoError(t, err)
	after, err := read(parser, string(out))
	require.NoError(t, err)
	require.Len(t, after.Items, len(source.Items)+len(texts))
	for i, it := range source.Items {
		requireSame(t, it, after.Items[i])
	}
	return string(out)
}

// requireSame demands an item as it was, but for the comments behind it.
func requireSame(t *testing.T, before, after *Item) {
	t.Helper()
	old, err := before.Root()
	require.NoError(t, err)
	now, err := after.Root()
	require.NoError(t, err)
	require.True(t, SameTree(old, now), "%s\n->\n%s", before.Text(), after.Text())
	short, long := string(after.Text()), string(before.Text())
	if len(short) > len(long) {
		short, long = long, short
	}
	require.True(t, strings.HasPrefix(long, strings.TrimRight(short, "\r\n")), "%q\n->\n%q", before.Text(), after.Text())
	for line := range strings.Lines(long[len(strings.TrimRight(short, "\r\n")):]) {
		line = strings.TrimSpace(line)
		require.True(t, line == "" || line[0] == '#', "%q", line)
	}
}

func TestAppendSeveral(t *testing.T) {
	for _, parser := range parsers {
		require.Equal(t, "a: 1\n---\n# b\nb: 2\n---\nc: 3\n", appended(t, parser, "a: 1\n---\n", "# b\nb: 2", "\nc: 3\n\n"))
		require.Equal(t, listHead+"items:\n- # b\n  b: 2\n- c: 3\n", appended(t, parser, listHead+"items: []\n", "# b\nb: 2", "c: 3\r\n"))
		require.Equal(t, listHead+"items: [{a: 1}, {\"b\": 2}, {\"c\": 3}]\n", appended(t, parser, listHead+"items: [{a: 1}]\n", "b: 2", "c: 3"))
		require.Equal(t, "a: 1\n", appended(t, parser, "a: 1\n"))
	}
}

func TestAppendErrors(t *testing.T) {
	tests := []struct{ name, file, in, text, err string }{
		{"marker in the text", "-", "a: 1\n", "---\nb: 1\n", "holds a document marker"},
		{"two objects", "-", "a: 1\n", "b: 1\n---\nc: 1\n", "holds a document marker"},
		{"directive", "-", "a: 1\n", "%YAML 1.1\n", "a directive"},
		{"nothing", "-", "a: 1\n", "", "no YAML mapping"},
		{"comment", "-", "a: 1\n", "# c\n", "no YAML mapping"},
		{"list", "-", "a: 1\n", "- b\n", "no YAML mapping"},
		{"flow", "-", "a: 1\n", "{b: 1}\n", "no YAML mapping in block style"},
		{"indented", "-", "a: 1\n", "  b: 1\n", "first column"},
		{"not YAML", "-", "a: 1\n", "b: c: d\n", "the new object is not valid YAML"},
		{"blank lines that are kept", "-", "a: 1\n", "b: |+\n  x\n\n", "keeps its line breaks"},
		{"scalar without its line break", "-", "a: 1\n", "b: |\n  x", "keeps its line breaks"},
		{"not UTF-8", "-", "a: 1\n", "b: \xff\n", "character that YAML does not allow"},
		{"block scalar without final newline", "-", "a: |\n  x", "b: 1\n", "object 0 would not stay as it is: end its last line"},
		{"JSON file", "a.json", "{\"a\": 1}\n", "b: 1\n", "the file is JSON"},
		{"alias in a flow list", "-", vList + "items: [{a: 1}]\n", "b: &x 1\nc: *x\n", "cannot stand in a list in flow style"},
		{"items behind an explicit key", "-", "apiVersion: v1\nkind: List\n? items\n: - a: 1\n", "b: 1\n", "the result would"},
	}
	for _, test := range tests {
		for mode, parser := range parsers {
			t.Run(test.name+"/"+mode, func(t *testing.T) {
				source, err := parser.Documents(test.file, []byte(test.in))
				require.NoError(t, err)
				_, err = source.AppendSplices(test.text)
				require.ErrorContains(t, err, test.err)
				require.NotContains(t, err.Error(), "\n")
			})
		}
	}
}
