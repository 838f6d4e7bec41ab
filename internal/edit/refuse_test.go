package edit

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trimtab/trimtab/internal/finding"
	"github.com/trimtab/trimtab/internal/stream"
)

// merged is a mapping b that merges another one and holds more lines.
func merged(more ...string) string {
	return lines("a: &x {args: [z]}", "b:", "  <<: *x") + lines(more...)
}

func TestPlanRefuses(t *testing.T) {
	tests := []struct {
		name  string
		in    string
		edits []finding.Edit
		err   string
	}{
		{"missing key", lines("a: 1"), []finding.Edit{remove("b")}, "`b` is not edited: there are 0 such keys"},
		{"missing element", lines("a: [x]"), []finding.Edit{remove("a", 1)}, "`a[1]` is not edited: there is no such element"},
		{"index of a mapping", lines("a: {b: c}"), []finding.Edit{remove("a", 0)}, "`a[0]` is not edited: there is no such element"},
		{"key of a sequence", lines("a: [x]"), []finding.Edit{remove("a", "x")}, "`a.x` is not edited: there are 0 such keys"},
		{"the object", lines("a: 1"), []finding.Edit{remove()}, "an object as a whole"},
		{"duplicate key", lines("a: 1", "a: 2"), []finding.Edit{remove("a")}, "`a` is not edited: there are 2 such keys"},
		{"duplicate key above", lines("a: {b: 1}", "a: {b: 2}"), []finding.Edit{remove("a", "b")}, "there are 2 such keys"},
		{"alias", lines("a: &x [1, 2]", "b: *x"), []finding.Edit{remove("b", 0)}, "`b` is not edited: it is an alias"},
		{"anchor", lines("a: &x [1, 2]", "b: *x"), []finding.Edit{remove("a", 0)}, "`a[0]` is not edited: an alias elsewhere"},
		{"set below an anchor", lines("a: &x {c: 1}", "b: *x"), []finding.Edit{set("2", "a", "c")}, "`a.c` is not edited: an alias elsewhere"},
		{"anchor inside", lines("a: {c: &x 1, d: 2}", "b: *x"), []finding.Edit{remove("a")}, "would go"},
		{"merge key", lines("a: &x {c: 1}", "b:", "  <<: *x", "  c: 2"), []finding.Edit{remove("b", "<<")}, "`b.<<` is not edited: a merge key"},
		{"beside a merge key", lines("a: &x {c: 1}", "b:", "  <<: *x", "  c: 2"), []finding.Edit{remove("b", "c")}, "merges another"},
		{"list emptied beside a merge key", merged("  args:", "  - x", "  - y"), []finding.Edit{remove("b", "args", 0), remove("b", "args", 1)}, "`b.args` is not edited: its mapping merges another"},
		{"flow list emptied beside a merge key", merged("  args: [x]"), []finding.Edit{remove("b", "args", 0)}, "`b.args` is not edited: its mapping merges another"},
		{"list emptied in a flow mapping beside a merge key", lines("a: &x {args: [z]}", "b: {<<: *x, args: [x]}"), []finding.Edit{remove("b", "args", 0)}, "`b.args` is not edited: its mapping merges another"},
		{"list emptied beside a list of merge keys", lines("a: &x {args: [z]}", "b:", "  <<: [*x]", "  args:", "  - x"), []finding.Edit{remove("b", "args", 0)}, "`b.args` is not edited: its mapping merges another"},
		{"mapping emptied beside a merge key", merged("  args: {x: 1}"), []finding.Edit{remove("b", "args", "x")}, "`b.args` is not edited: its mapping merges another"},
		{"mapping that loses its only list beside a merge key", merged("  args:", "    x:", "    - y"), []finding.Edit{remove("b", "args", "x", 0)}, "`b.args` is not edited: its mapping merges another"},
		{"through a merge key", lines("a: &x {c: 1}", "b:", "  <<: *x"), []finding.Edit{remove("b", "c")}, "`b.c` is not edited: it comes from a merge key"},
		{"explicit key", lines("? a", ": 1"), []finding.Edit{remove("a")}, "written with `?`"},
		{"set a list", lines("a: [x]"), []finding.Edit{set("y", "a")}, "only a scalar"},
		{"no action", lines("a: 1"), []finding.Edit{{Action: "move", Path: []any{"a"}}}, `action "move"`},
		{"a number becomes text", lines("a: 48"), []finding.Edit{set("auto", "a")}, "a int, stands"},
		{"a switch becomes a number", lines("a: true"), []finding.Edit{set("1", "a")}, "a bool, stands"},
		{"not UTF-8", lines("a: x"), []finding.Edit{set("\xff", "a")}, "not UTF-8"},
		{"flow key without a value", lines("a: {b}"), []finding.Edit{set("x", "a", "b")}, "no colon"},
		{"blank lines a scalar would keep", lines("a: |+", "  x", "b: 1", "", "c: 2"), []finding.Edit{remove("b")}, "would not read as intended"},
		{"JSON that would need YAML", "{\"a\": 1}\n", []finding.Edit{set("0x10", "a")}, "no valid JSON"},
		{"path of neither", lines("a: 1"), []finding.Edit{remove(1.5)}, "neither key nor index"},
	}
	for _, test := range tests {
		for mode, parser := range parsers {
			t.Run(test.name+"/"+mode, func(t *testing.T) {
				source, err := parser.Documents("-", []byte(test.in))
				require.NoError(t, err)
				splices, err := Plan(source.Items[0], test.edits, nil)
				require.ErrorContains(t, err, test.err)
				require.Empty(t, splices)
				var refused *Refused
				require.ErrorAs(t, err, &refused)
				if strings.Contains(test.err, "merges another") {
					_, err = Encode(source.Items[0], test.edits)
					require.ErrorContains(t, err, test.err)
				}
			})
		}
	}
}

func TestPlanConflicts(t *testing.T) {
	in := lines("a:", "  b: [x, y]", "  c: 1")
	for _, edits := range [][]finding.Edit{
		{remove("a"), set("z", "a", "b", 0)},
		{set("z", "a", "b", 0), remove("a", "b")},
		{set("2", "a", "c"), remove("a", "c")},
		{set("2", "a", "c"), set("3", "a", "c")},
	} {
		source, err := stream.ParseDocuments("-", []byte(in))
		require.NoError(t, err)
		_, err = Plan(source.Items[0], edits, nil)
		var conflict *Conflict
		require.ErrorAs(t, err, &conflict)
		require.ErrorContains(t, err, "a.")
	}
}

func TestPlanNothing(t *testing.T) {
	source, err := stream.ParseDocuments("-", []byte("a: x\nb: 0x10\n"))
	require.NoError(t, err)
	for _, edits := range [][]finding.Edit{
		nil,
		{{Action: finding.None, Path: []any{"a"}}},
		{set("x", "a"), set("0x10", "b")},
	} {
		splices, err := Plan(source.Items[0], edits, nil)
		require.NoError(t, err)
		require.Empty(t, splices)
	}
}

func TestPlanTwice(t *testing.T) {
	edits := []finding.Edit{set("y", "a"), set("1", "c", 0)}
	in := lines("a: x", "c: [0]")
	once := planned(t, stream.Parser{}, in, edits)
	require.NotEqual(t, in, once)
	require.Equal(t, once, planned(t, stream.Parser{}, once, edits))

	source, err := stream.ParseDocuments("-", []byte(planned(t, stream.Parser{}, in, []finding.Edit{remove("a")})))
	require.NoError(t, err)
	_, err = Plan(source.Items[0], []finding.Edit{remove("a")}, nil)
	require.Error(t, err)
}

// TestCommentGoes shows which comments are asked about, and with which text.
func TestCommentGoes(t *testing.T) {
	in := lines("# top", "a:", "  # one", "  #two", "  - x # beside", "  # three", "", "  - y", "   # four", "  - z", "b: 1 # end", "# five", "c: 2", "d: 3")
	source, err := stream.ParseDocuments("-", []byte(in))
	require.NoError(t, err)
	var asked []string
	edits := []finding.Edit{remove("a", 0), remove("a", 1), remove("a", 2), remove("c")}
	splices, err := Plan(source.Items[0], edits, func(comment string, e finding.Edit) bool {
		asked = append(asked, e.Path.String()+": "+comment)
		return strings.Contains(comment, "five")
	})
	require.NoError(t, err)
	require.Equal(t, []string{"a[0]: one\ntwo", "a[0]: top", "c: five"}, asked)
	out, err := stream.Apply(source.Data, splices)
	require.NoError(t, err)
	require.Equal(t, lines("# top", "  # one", "  #two", "  # three", "", "   # four", "b: 1 # end", "d: 3"), string(out))
}

const listHead = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\n"

// TestPlanInList edits one item of a list and leaves the others alone.
func TestPlanInList(t *testing.T) {
	tests := []struct{ name, in, out string }{
		{
			"block",
			listHead + lines("items:", "- kind: A", "# of B", "- kind: B", "  args: # c", "  - x", "  - y", "  a: 1", "# end", "- kind: C"),
			listHead + lines("items:", "- kind: A", "# of B", "- kind: B", "  args: # c", "  - y", "  a: 2", "# end", "- kind: C"),
		}, {
			"anchors across items",
			listHead + lines("items:", "- kind: A", "  m: &m {x: 1}", "- kind: B", "  args: [x, y]", "  a: 1", "- kind: C", "  m: *m"),
			listHead + lines("items:", "- kind: A", "  m: &m {x: 1}", "- kind: B", "  args: [y]", "  a: 2", "- kind: C", "  m: *m"),
		}, {
			"anchors in the item",
			listHead + lines("items:", "- kind: A", "- kind: B", "  m: &m {x: 1}", "  n: *m", "  args: [x, y]", "  a: 1"),
			listHead + lines("items:", "- kind: A", "- kind: B", "  m: &m {x: 1}", "  n: *m", "  args: [y]", "  a: 2"),
		}, {
			"anchors into the item",
			listHead + lines("items:", "- kind: A", "  m: &m {x: 1}", "- kind: B", "  m: *m", "  args:", "    - x", "    - y", "  a: 1"),
			listHead + lines("items:", "- kind: A", "  m: &m {x: 1}", "- kind: B", "  m: *m", "  args:", "    - y", "  a: 2"),
		}, {
			"JSON",
			`{"apiVersion": "config.kubernetes.io/v1", "kind": "ResourceList", "items": [{"kind": "é"}, {"kind": "B", "args": ["x", "y"], "a": 1}]}`,
			`{"apiVersion": "config.kubernetes.io/v1", "kind": "ResourceList", "items": [{"kind": "é"}, {"kind": "B", "args": ["y"], "a": 2}]}`,
		}, {
			"flow list in block",
			listHead + lines("items: [", "  {kind: A}, # a", "  {kind: B, args: [x, y],", "  a: 1}, # b", "]"),
			listHead + lines("items: [", "  {kind: A}, # a", "  {kind: B, args: [y],", "  a: 2}, # b", "]"),
		}, {
			"first key below the dash",
			listHead + lines("items:", "  -", "    kind: A", "  -", "    # c", "    kind: B", "    args: ['x', y]", "    a: 1"),
			listHead + lines("items:", "  -", "    kind: A", "  -", "    # c", "    kind: B", "    args: [y]", "    a: 2"),
		},
	}
	for _, test := range tests {
		for mode, parser := range parsers {
			t.Run(test.name+"/"+mode, func(t *testing.T) {
				source, err := parser.ResourceList([]byte(test.in))
				require.NoError(t, err)
				splices, err := Plan(source.Items[1], []finding.Edit{remove("args", 0), set("2", "a")}, nil)
				require.NoError(t, err)
				out, err := stream.Apply(source.Data, splices)
				require.NoError(t, err)
				require.Equal(t, test.out, string(out))
			})
		}
	}
}

func TestEncode(t *testing.T) {
	tests := []struct{ name, in, out string }{
		{
			"block",
			listHead + lines("items:", "  - kind: A", "  # of B", "  - kind:   B # b", "    # of args", "    args:", "        - x", "        - y # y", "    a: 1 # end", "  # of C", "  - kind: C"),
			listHead + lines("items:", "  - kind: A", "  # of B", "  - kind: B # b", "    # of args", "    args:", "      - y # y", "    a: 2 # end", "  # of C", "  - kind: C"),
		}, {
			"JSON",
			`{"apiVersion": "config.kubernetes.io/v1", "kind": "ResourceList", "items": [{"kind": "A"}, {"kind":"B","args":["x","y"],"a":1,"b":[null,true,{"c":1.5}]}]}`,
			`{"apiVersion": "config.kubernetes.io/v1", "kind": "ResourceList", "items": [{"kind": "A"}, {"kind": "B", "args": ["y"], "a": 2, "b": [null, true, {"c": 1.5}]}]}`,
		}, {
			"anchors across items",
			listHead + lines("items:", "- kind: A", "  m: &m {x: 1}", "- kind: B", "  m: *m", "  args:", "  - x", "  - y", "  a: 1"),
			listHead + lines("items:", "- kind: A", "  m: &m {x: 1}", "- kind: B", "  m: *m", "  args:", "    - y", "  a: 2"),
		},
	}
	for _, test := range tests {
		for mode, parser := range parsers {
			t.Run(test.name+"/"+mode, func(t *testing.T) {
				source, err := parser.ResourceList([]byte(test.in))
				require.NoError(t, err)
				splice, err := Encode(source.Items[1], []finding.Edit{remove("args", 0), set("2", "a")})
				require.NoError(t, err)
				out, err := stream.Apply(source.Data, []stream.Splice{splice})
				require.NoError(t, err)
				require.Equal(t, test.out, string(out))
			})
		}
	}
	source, err := stream.ParseResourceList([]byte(listHead + lines("items: [{a: &x 1, b: *x, c: 2}]")))
	require.NoError(t, err)
	_, err = Encode(source.Items[0], []finding.Edit{remove("c")})
	var refused *Refused
	require.ErrorAs(t, err, &refused)
}
