package stream

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var replaceCases = []struct {
	name, in string
	item     int
	text     string
	out      string
}{
	{"document", "# top\n---\n# of a\na: 1\nb: |\n  x\n# end\n---\nc: 1\n", 0, newJob, "# top\n---\n# of a\n" + newJob + "# end\n---\nc: 1\n"},
	{"last document", "c: 1\n---\na: 1 # one\n", 1, newJob, "c: 1\n---\n" + newJob},
	{"no final newline", "c: 1\n---\na: 1", 1, "b: 1\n", "c: 1\n---\nb: 1\n"},
	{"the comment is there", "c: 1\n---\n# made\n\n# by us\na: 1\n", 1, "# made\n\n# by us\nb: 1\n", "c: 1\n---\n# made\n\n# by us\nb: 1\n"},
	{"the comment is not there", "c: 1\n---\n# of a\na: 1\n", 1, "# made\nb: 1\n", "c: 1\n---\n# of a\n# made\nb: 1\n"},
	{"behind the marker", "--- {a: 1} # c\n---\nb: 1\n", 0, newJob, "---\n" + newJob + "---\nb: 1\n"},
	{"tag behind the marker", "--- !!map\na: 1\n---\nb: 1\n", 0, newJob, "---\n" + newJob + "---\nb: 1\n"},
	{"JSON document", "{\n  \"a\": 1\n}\n", 0, newJob, jobJSON + "\n"},
	{"scalar document", "text\n---\nb: 1\n", 0, newJob, newJob + "---\nb: 1\n"},
	{"CR LF", "a: 1\r\nb: 2\r\n---\r\nc: 1\r\n", 0, "d: 1\ne:\n- x\n", "d: 1\r\ne:\r\n- x\r\n---\r\nc: 1\r\n"},
	{"byte order mark", "\xef\xbb\xbfa: 1\n", 0, "b: 1\n", "\xef\xbb\xbfb: 1\n"},
	{"keeping scalar behind", "a: |+\n  x\n\n---\nb: 1\n", 0, "c: 1\n", "c: 1\n---\nb: 1\n"},
	{"List", vList + "items:\n- a: 1\n- b: 1\n  # deep\n# of c\n- c: 1\n", 1, newJob, vList + "items:\n- a: 1\n" + asElement(newJob, "") + "  # deep\n# of c\n- c: 1\n"},
	{"block items", listHead + "items:\n  - a: 1\n  # of b\n  - b:\n    - x\n  - c: 1\n", 1, newJob, listHead + "items:\n  - a: 1\n  # of b\n" + asElement(newJob, "  ") + "  - c: 1\n"},
	{"wide dash", listHead + "items:\n-   a: 1\n-   b: 1\n", 1, "c: 1\nd: 1\n", listHead + "items:\n-   a: 1\n-   c: 1\n    d: 1\n"},
	{"first key below the dash", listHead + "items:\n-\n  # made\n  a: 1\n- b: 1\n", 0, "# made\nc: 1\nd: 1\n", listHead + "items:\n-\n  # made\n  c: 1\n  d: 1\n- b: 1\n"},
	{"comment behind the dash", listHead + "items:\n- a: 1\n- b: 1\n", 0, "# made\nc: 1\n", listHead + "items:\n- # made\n  c: 1\n- b: 1\n"},
	{"flow in a block list", listHead + "items:\n- {a: 1} # c\n- b: 1\n", 0, newJob, listHead + "items:\n" + asElement(newJob, "") + "- b: 1\n"},
	{"anchors elsewhere", listHead + "items:\n- a: &x 1\n- b: *x\n- c: 1\n", 2, newJob, listHead + "items:\n- a: &x 1\n- b: *x\n" + asElement(newJob, "")},
	{"flow", listHead + "items: [{a: 1}, {b: 1}] # c\n", 0, newJob, listHead + "items: [" + jobJSON + ", {b: 1}] # c\n"},
	{"JSON", `{"apiVersion": "config.kubernetes.io/v1", "kind": "ResourceList", "items": [{"a": 1}, {"b": 1}]}`, 1, newJob, `{"apiVersion": "config.kubernetes.io/v1", "kind": "ResourceList", "items": [{"a": 1}, ` + jobJSON + `]}`},
}

func TestReplaceSplices(t *testing.T) {
	for _, test := range replaceCases {
		for mode, parser := range parsers {
			t.Run(test.name+"/"+mode, func(t *testing.T) {
				once := replaced(t, parser, test.in, test.item, test.text)
				require.Equal(t, test.out, once)
				require.Equal(t, once, replaced(t, parser, once, test.item, test.text), "twice is once")
			})
		}
	}
}

func replaced(t *testing.T, parser Parser, in string, item int, text string) string {
	t.Helper()
	source, err := read(parser, in)
	require.NoError(t, err)
	splices, err := source.Items[item].ReplaceSplices(text)
	require.NoError(t, err)
	out, err := Apply(source.Data, splices)
	require.NoError(t, err)
	after, err := read(parser, string(out))
	require.NoError(t, err)
	require.Len(t, after.Items, len(source.Items))
	for i, it := range source.Items {
		if i != item {
			requireSame(t, it, after.Items[i])
		}
	}
	want, err := decode([]byte(text))
	require.NoError(t, err)
	got, err := after.Items[item].Root()
	require.NoError(t, err)
	require.True(t, SameTree(want, got))
	return string(out)
}

func TestReplaceErrors(t *testing.T) {
	tests := []struct {
		name, in string
		item     int
		text     string
		err      string
	}{
		{"not an object", "a: 1\n", 0, "- x\n", "no YAML mapping"},
		{"null", vList + "items:\n- a: 1\n-\n", 1, "b: 1\n", "null, an alias"},
		{"alias", vList + "items:\n- &x {a: 1}\n- *x\n", 1, "b: 1\n", "null, an alias"},
		{"what an alias stands for", vList + "items:\n- a: &x 1\n- b: *x\n", 0, "b: 1\n", "no valid YAML"},
		{"scalar that keeps blank lines", "a: 1\n\n---\nb: 1\n", 0, "c: |+\n  x\n", "not read as intended"},
	}
	for _, test := range tests {
		for mode, parser := range parsers {
			t.Run(test.name+"/"+mode, func(t *testing.T) {
				source, err := read(parser, test.in)
				require.NoError(t, err)
				_, err = source.Items[test.item].ReplaceSplices(test.text)
				require.ErrorContains(t, err, test.err)
				require.NotContains(t, err.Error(), "\n")
			})
		}
	}
}

var removeCases = []struct {
	name, in string
	item     int
	out      string
}{
	{"last document", "a: 1\n---\n# of b\nb: 1\n# end\n", 1, "a: 1\n"},
	{"middle document", "a: 1\n---\nb: 1\n---\nc: 1\n", 1, "a: 1\n---\nc: 1\n"},
	{"first document", "# of a\na: 1\n---\nb: 1\n", 0, "---\nb: 1\n"},
	{"first document below the file's comment", "# licence\n\n# of a\na: 1\n\nc: 1\n---\nb: 1\n", 0, "# licence\n\n---\nb: 1\n"},
	{"first document with a marker", "# licence\n---\n# of a\na: 1\n---\nb: 1\n", 0, "# licence\n---\nb: 1\n"},
	{"only document", "---\na: 1\n", 0, ""},
	{"only document with its end", "a: 1\n...\n", 0, ""},
	{"document end", "a: 1\n---\nb: 1\n...\n---\nc: 1\n", 1, "a: 1\n---\nc: 1\n"},
	{"document end before a directive", "a: 1\n---\nb: 1\n...\n%YAML 1.1\n---\nc: 1\n", 1, "a: 1\n...\n%YAML 1.1\n---\nc: 1\n"},
	{"directive", "a: 1\n...\n%YAML 1.1\n---\nb: 1\n", 1, "a: 1\n...\n"},
	{"CR LF", "a: 1\r\n---\r\nb: 1\r\n---\r\nc: 1\r\n", 1, "a: 1\r\n---\r\nc: 1\r\n"},
	{"byte order mark", "\xef\xbb\xbfa: 1\n---\nb: 1\n", 0, "\xef\xbb\xbf---\nb: 1\n"},
	{"List", vList + "items:\n- a: 1\n# of b\n- b: 1\n  # deep\n# of c\n- c: 1\n", 1, vList + "items:\n- a: 1\n# of b\n# of c\n- c: 1\n"},
	{"only element", "x: 1\n---\n" + vList + "items: # c\n- a: 1\n# end\n", 1, "x: 1\n---\n" + vList + "items: [] # c\n# end\n"},
	{"last of two Lists", vList + "items:\n- a: 1\n---\n" + vList + "items:\n- b: 1\n", 1, vList + "items:\n- a: 1\n---\n" + vList + "items: []\n"},
	{"block items", listHead + "items:\n  - a: 1\n  - b:\n    - x\n\n# of results\nresults: []\n", 1, listHead + "items:\n  - a: 1\n\n# of results\nresults: []\n"},
	{"no final newline", listHead + "items:\n- a: 1\n- b: 1", 1, listHead + "items:\n- a: 1\n"},
	{"anchors elsewhere", listHead + "items:\n- a: &x 1\n- b: *x\n- c: 1\n", 2, listHead + "items:\n- a: &x 1\n- b: *x\n"},
	{"flow", listHead + "items: [{a: 1}, {b: 1}, {c: 1}]\n", 1, listHead + "items: [{a: 1}, {c: 1}]\n"},
	{"last of flow", listHead + "items: [ {a: 1} , {b: 1} ]\n", 1, listHead + "items: [ {a: 1}  ]\n"},
	{"last of flow with a comma", listHead + "items: [{a: 1}, {b: 1}, ]\n", 1, listHead + "items: [{a: 1}, ]\n"},
	{"only one of flow", listHead + "items: [{a: 1}]\n", 0, listHead + "items: []\n"},
	{"lines of flow", listHead + "items: [\n  {a: 1}, # a\n  {b: 1} # b\n]\n", 1, listHead + "items: [\n  {a: 1} # a\n]\n"},
	{"JSON", `{"apiVersion": "config.kubernetes.io/v1", "kind": "ResourceList", "items": [{"a": 1}, {"b": 1}]}`, 1, `{"apiVersion": "config.kubernetes.io/v1", "kind": "ResourceList", "items": [{"a": 1}]}`},
}

func TestRemoveSplices(t *testing.T) {
	for _, test := range removeCases {
		for mode, parser := range parsers {
			t.Run(test.name+"/"+mode, func(t *testing.T) {
				source, err := read(parser, test.in)
				require.NoError(t, err)
				splices, err := source.Items[test.item].RemoveSplices()
				require.NoError(t, err)
				out, err := Apply(source.Data, splices)
				require.NoError(t, err)
				require.Equal(t, test.out, string(out))
				after, err := read(parser, string(out))
				require.NoError(t, err)
				require.Len(t, after.Items, len(source.Items)-1)
				left := append(append([]*Item(nil), source.Items[:test.item]...), source.Items[test.item+1:]...)
				for i, it := range left {
					requireSame(t, it, after.Items[i])
				}
			})
		}
	}
}

func TestRemoveErrors(t *testing.T) {
	source, err := read(Parser{}, vList+"items:\n- &x {a: 1}\n- *x\n-\n")
	require.NoError(t, err)
	for i, message := range []string{"no valid YAML", "null, an alias", "null, an alias"} {
		_, err = source.Items[i].RemoveSplices()
		require.ErrorContains(t, err, message)
	}
	source, err = read(Parser{}, listHead+"items: []\nfunctionConfig: {a: 1}\n")
	require.NoError(t, err)
	_, err = source.List.FunctionConfig.RemoveSplices()
	require.ErrorContains(t, err, "no item")
}

// TestAppendThenRemove shows that an object can come and go.
func TestAppendThenRemove(t *testing.T) {
	for _, test := range appendCases {
		if strings.Contains(test.name, "without") || strings.HasPrefix(test.name, "no ") || strings.Contains(test.name, "marker") {
			continue // a line break or a marker stays
		}
		source, err := read(Parser{}, test.out)
		require.NoError(t, err)
		splices, err := source.Items[len(source.Items)-1].RemoveSplices()
		require.NoError(t, err, test.name)
		out, err := Apply(source.Data, splices)
		require.NoError(t, err)
		again, err := read(Parser{}, string(out))
		require.NoError(t, err)
		require.Len(t, again.Items, len(source.Items)-1)
	}
}
