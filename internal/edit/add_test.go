package edit

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trimtab/trimtab/internal/finding"
	"github.com/trimtab/trimtab/internal/stream"
)

func add(value string, path ...any) finding.Edit {
	return finding.Edit{Action: finding.Add, Path: path, Value: value}
}

// env adds a variable.
func env(name, value string, path ...any) finding.Edit {
	return finding.Edit{Action: finding.Add, Path: path, Fields: []finding.FieldValue{{Name: "name", Value: name}, {Name: "value", Value: value}}}
}

var addCases = []struct {
	name  string
	in    string
	edits []finding.Edit
	out   string
}{
	{
		"behind block elements, in order",
		lines("env:", "  - name: A", "    value: \"1\" # one", "z: 1"),
		[]finding.Edit{env("B", "2", "env"), env("C", "x", "env"), env("B", "2", "env")},
		lines("env:", "  - name: A", "    value: \"1\" # one", "  - name: B", "    value: \"2\"", "  - name: C", "    value: x", "  - name: B", "    value: \"2\"", "z: 1"),
	}, {
		"no indent, wide dash, first key elsewhere",
		lines("spec:", "  env:", "  -   name: A", "      value: a", "  args:", "  -", "    x"),
		[]finding.Edit{env("B", "b", "spec", "env"), add("u", "spec", "args")},
		lines("spec:", "  env:", "  -   name: A", "      value: a", "  -   name: B", "      value: b", "  args:", "  -", "    x", "  - u"),
	}, {
		"quotes as the siblings",
		lines("env:", "- name: \"A\"", "  value: 'a'", "- name: \"B\"", "  value: '1'", "a: ['x', 'y']", "b: [x, 'y']", "c: ['1', x]"),
		[]finding.Edit{env("C", "c", "env"), add("z", "a"), add("z", "b"), add("2", "c")},
		lines("env:", "- name: \"A\"", "  value: 'a'", "- name: \"B\"", "  value: '1'", "- name: \"C\"", "  value: 'c'", "a: ['x', 'y', 'z']", "b: [x, 'y', z]", "c: ['1', x, '2']"),
	}, {
		"a string stays a string",
		lines("a:", "- x"),
		[]finding.Edit{add("1", "a"), add("", "a"), add("null", "a"), add("yes", "a"), add("a: b", "a"), add("two\nlines", "a"), add("--x={\"a\": 1}", "a"), add("2001-01-01", "a"), add("0o17", "a")},
		lines("a:", "- x", "- \"1\"", "- \"\"", "- \"null\"", "- \"yes\"", "- \"a: b\"", "- \"two\\nlines\"", "- \"--x={\\\"a\\\": 1}\"", "- \"2001-01-01\"", "- \"0o17\""),
	}, {
		"comments indented deeper than the key stay above",
		lines("spec:", "  args:", "    - x", "      # of x", "    # end of args", "  # of env", "  env:", "  - name: A", "  # of z", "  z: 1"),
		[]finding.Edit{add("u", "spec", "args"), env("B", "b", "spec", "env")},
		lines("spec:", "  args:", "    - x", "      # of x", "    # end of args", "    - u", "  # of env", "  env:", "  - name: A", "  - name: B", "    value: b", "  # of z", "  z: 1"),
	}, {
		"comments behind a blank line stay below",
		lines("args:", "  - x", "", "  # later", "  # - z", "b: 1"),
		[]finding.Edit{add("u", "args")},
		lines("args:", "  - x", "  - u", "", "  # later", "  # - z", "b: 1"),
	}, {
		"all old elements go",
		lines("env:", "  # the flag", "  - name: A", "  # of B", "  - name: B", "    value: '2'", "  # end", "z: 1"),
		[]finding.Edit{remove("env", 0), env("C", "c", "env"), remove("env", 1), env("D", "4", "env")},
		lines("env:", "  # of B", "  # end", "  - name: C", "    value: c", "  - name: D", "    value: '4'", "z: 1"),
	}, {
		"some go, one is set, the next key goes",
		lines("args:", "- --a", "- \"1\"", "- --b", "z: 1", "y: 2"),
		[]finding.Edit{remove("args", 2), set("2", "args", 1), add("--c", "args"), remove("z")},
		lines("args:", "- --a", "- \"2\"", "- --c", "y: 2"),
	}, {
		"a list in the last element of a list",
		lines("a:", "- b:", "  - x", "c: 1"),
		[]finding.Edit{add("z", "a"), add("u", "a", 0, "b")},
		lines("a:", "- b:", "  - x", "  - u", "- z", "c: 1"),
	}, {
		"a list in a list",
		lines("m:", "- - x", "  - y", "- - z"),
		[]finding.Edit{add("w", "m", 0), remove("m", 0, 0), remove("m", 1, 0), add("v", "m", 1)},
		lines("m:", "- - y", "  - w", "- - v"),
	}, {
		"a new list",
		lines("spec:", "  containers:", "    - name: a", "      # why", "      image: b # c", "        # deeper", "    - name: c"),
		[]finding.Edit{env("A", "1", "spec", "containers", 0, "env"), env("B", "b", "spec", "containers", 0, "env"), add("x", "spec", "containers", 1, "args")},
		lines("spec:", "  containers:", "    - name: a", "      # why", "      image: b # c", "        # deeper", "      env:", "        - name: A", "          value: \"1\"", "        - name: B", "          value: b", "    - name: c", "      args:", "        - x"),
	}, {
		"a new list in the style beside it",
		lines("a:", "- x", "b:", "  c: 1", "# end"),
		[]finding.Edit{add("u", "b", "list"), add("z", "true")},
		lines("a:", "- x", "b:", "  c: 1", "  list:", "  - u", "\"true\":", "- z", "# end"),
	}, {
		"a new list where all other keys go",
		lines("a:", "- b: 1 # c", "- c: 2", "  d: |", "    x"),
		[]finding.Edit{remove("a", 0, "b"), add("x", "a", 0, "l"), remove("a", 1, "d"), add("u", "a", 1, "l")},
		lines("a:", "- l:", "  - x", "- c: 2", "  l:", "  - u"),
	}, {
		"empty lists and null",
		lines("a: [] # c", "b:", "c: ~ # d", "d: &x null", "e: [", "]", "f: # e", "  # of f", "z: 1"),
		[]finding.Edit{add("1", "a"), add("x", "b"), add("x", "c"), add("x", "d"), add("x", "e"), add("x", "f")},
		lines("a: # c", "  - \"1\"", "b:", "  - x", "c: # d", "  - x", "d: &x", "  - x", "e:", "  - x", "f: # e", "  # of f", "  - x", "z: 1"),
	}, {
		"empty lists that cannot unfold",
		lines("a: {b: [], c: null, d: {}}", "e: [ # why", "]", "f:", "- []", "-", "g:", "  []"),
		[]finding.Edit{add("1", "a", "b"), add("x, y", "a", "c"), env("A", "b", "a", "d", "env"), add("x", "e"), add("x", "f", 0), add("x", "f", 1), add("x", "g")},
		lines("a: {b: [\"1\"], c: [\"x, y\"], d: {env: [{name: A, value: b}]}}", "e: [ # why", "x]", "f:", "- [x]", "- [x]", "g:", "  [x]"),
	}, {
		"flow on one line",
		lines(`a: ["--x", "1"] # c`, `b: [ x, y, ]`, `env: [{ name: A, value: "1" }]`),
		[]finding.Edit{add("--y", "a"), add("2", "a"), add("z", "b"), env("B", "b", "env")},
		lines(`a: ["--x", "1", "--y", "2"] # c`, `b: [ x, y, z, ]`, `env: [{ name: A, value: "1" }, { name: B, value: b }]`),
	}, {
		"flow mappings in a block list",
		lines("env:", "  - {name: A, value: 'a'}", "  # end"),
		[]finding.Edit{env("B", "b", "env")},
		lines("env:", "  - {name: A, value: 'a'}", "  # end", "  - {name: B, value: 'b'}"),
	}, {
		"flow with removals",
		lines(`a: ["--x", "1", --y]`, `b: [ x, y ]`, `c: [x, y]`, `d: [x, y, z]`),
		[]finding.Edit{remove("a", 2), add("--z", "a"), remove("b", 1), add("z", "b"), remove("c", 0), remove("c", 1), add("z", "c"), remove("d", 0), add("w", "d")},
		lines(`a: ["--x", "1", "--z"]`, `b: [ x, z ]`, `c: [z]`, `d: [y, z, w]`),
	}, {
		"lines of flow",
		lines("a: [", "  \"--x\", # x", "  \"--y\" # y", "]", "b: [", "  x,", "  # of y", "  y, # y", "]", "c: [x,", "  y]"),
		[]finding.Edit{add("--z", "a"), add("--w", "a"), add("z", "b"), add("z", "c")},
		lines("a: [", "  \"--x\", # x", "  \"--y\", # y", "  \"--z\",", "  \"--w\"", "]", "b: [", "  x,", "  # of y", "  y, # y", "  z,", "]", "c: [x,", "  y, z]"),
	}, {
		"lines of flow with removals",
		lines("a: [", "  # of x", "  \"--x\",", "  \"--y\" # y", "]", "b: [", "  x,", "  # of y", "  y", "]"),
		[]finding.Edit{remove("a", 0), remove("a", 1), add("--z", "a"), remove("b", 1), add("z", "b")},
		lines("a: [", "  # of x", "  \"--z\"", "]", "b: [", "  x,", "  z", "  # of y", "]"),
	}, {
		"JSON",
		lines("{", `  "a": [`, `    "x",`, `    "y"`, "  ],", `  "b": {"c": 1},`, `  "d": []`, "}"),
		[]finding.Edit{remove("a", 1), add("z", "a"), env("A", "1", "b", "env"), add("x", "d"), add("w", "e")},
		lines("{", `  "a": [`, `    "x",`, `    "z"`, "  ],", `  "b": {"c": 1, "env": [{"name": "A", "value": "1"}]},`, `  "d": ["x"],`, `  "e": ["w"]`, "}"),
	}, {
		"CR LF",
		"args:\r\n- x\r\nb:\r\n  c: 1\r\nd: [\r\n  x\r\n]\r\n",
		[]finding.Edit{env("A", "b", "args"), add("u", "b", "l"), add("u", "d")},
		"args:\r\n- x\r\n- name: A\r\n  value: b\r\nb:\r\n  c: 1\r\n  l:\r\n  - u\r\nd: [\r\n  x,\r\n  u\r\n]\r\n",
	}, {
		"no final newline",
		"a:\n- b:\n  - x",
		[]finding.Edit{add("u", "a", 0, "b"), add("z", "a")},
		"a:\n- b:\n  - x\n  - u\n- z",
	}, {
		"no final newline and the last goes",
		"a:\n- x\n- y",
		[]finding.Edit{remove("a", 1), add("z", "a")},
		"a:\n- x\n- z",
	}, {
		"block scalars at the end",
		lines("a:", "- |", "  x", "", "b:", "- |+", "  x", "", "# end"),
		[]finding.Edit{add("u", "a"), add("u", "b")},
		lines("a:", "- |", "  x", "- u", "", "b:", "- |+", "  x", "", "- u", "# end"),
	}, {
		"keys in quotes",
		lines("env:", `- "name": A`, `  "value": b`, "c:", "  'd': 1"),
		[]finding.Edit{env("B", "c", "env"), add("x", "c", "e")},
		lines("env:", `- "name": A`, `  "value": b`, `- "name": B`, `  "value": c`, "c:", "  'd': 1", "  'e':", "  - x"),
	},
}

func TestAdd(t *testing.T) {
	for _, test := range addCases {
		for mode, parser := range parsers {
			t.Run(test.name+"/"+mode, func(t *testing.T) {
				require.Equal(t, test.out, planned(t, parser, test.in, test.edits))
			})
		}
	}
}

func TestAddRefuses(t *testing.T) {
	tests := []struct {
		name  string
		in    string
		edits []finding.Edit
		err   string
	}{
		{"to a mapping", lines("a: {b: 1}"), []finding.Edit{add("x", "a")}, "`a` is not edited: elements are only added to a list"},
		{"to a text", lines("a: x"), []finding.Edit{add("x", "a")}, "elements are only added to a list"},
		{"to the object", lines("a: x"), []finding.Edit{add("x")}, "an object as a whole"},
		{"below nothing", lines("a: x"), []finding.Edit{add("x", "b", "c")}, "`b` is not edited: there are 0 such keys"},
		{"below a text", lines("a: x"), []finding.Edit{add("x", "a", "c")}, "no mapping"},
		{"below null", lines("a:"), []finding.Edit{add("x", "a", "c")}, "no mapping"},
		{"to a missing element", lines("a: []"), []finding.Edit{add("x", "a", 0)}, "there is no such element"},
		{"to a key that stands twice", lines("a: []", "a: []"), []finding.Edit{add("x", "a")}, "there are 2 such keys"},
		{"to an alias", lines("a: &x [1]", "b: *x"), []finding.Edit{add("x", "b")}, "it is an alias"},
		{"to what an alias stands for", lines("a: &x [1]", "b: *x"), []finding.Edit{add("x", "a")}, "an alias elsewhere"},
		{"below what an alias stands for", lines("a: &x {b: 1}", "b: *x"), []finding.Edit{add("x", "a", "l")}, "an alias elsewhere"},
		{"beside a merge key", lines("a: &x {c: 1}", "b:", "  <<: *x"), []finding.Edit{add("x", "b", "c")}, "merges another"},
		{"a merge key", lines("a: 1"), []finding.Edit{add("x", "<<")}, "a merge key is not edited"},
		{"a pair without braces", lines("a: [b: 1]"), []finding.Edit{add("x", "a", 0, "c")}, "without braces"},
		{"a key without colon", lines("a: {b}"), []finding.Edit{add("x", "a", "b")}, "no colon"},
		{"not UTF-8", lines("a: []"), []finding.Edit{add("\xff", "a")}, "not UTF-8"},
		{"a field twice", lines("a: []"), []finding.Edit{{Action: finding.Add, Path: []any{"a"}, Fields: []finding.FieldValue{{Name: "x"}, {Name: "x"}}}}, "`x` twice"},
		{"behind a block scalar without final newline", "a:\n- |\n  x", []finding.Edit{add("y", "a")}, "would not read as intended"},
		{"path of neither", lines("a: 1"), []finding.Edit{add("x", 1.5)}, "neither key nor index"},
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
			})
		}
	}
}

func TestAddConflicts(t *testing.T) {
	in := lines("a:", "  b: [x, y]", "  c:")
	for _, edits := range [][]finding.Edit{
		{remove("a"), add("z", "a", "b")},
		{add("z", "a", "b"), remove("a", "b")},
		{add("z", "a", "new"), remove("a")},
		{add("z", "a", "c"), set("x", "a", "c")},
	} {
		source, err := stream.ParseDocuments("-", []byte(in))
		require.NoError(t, err)
		_, err = Plan(source.Items[0], edits, nil)
		var conflict *Conflict
		require.ErrorAs(t, err, &conflict)
	}
}

// TestAddInList adds to one item of a list and leaves the others alone.
func TestAddInList(t *testing.T) {
	tests := []struct{ name, in, out string }{
		{
			"block",
			listHead + lines("items:", "- kind: B", "  args:", "  - x", "  # of args", "# of C", "- kind: C"),
			listHead + lines("items:", "- kind: B", "  args:", "  - x", "  - u", "  # of args", "  env:", "  - name: A", "    value: \"1\"", "# of C", "- kind: C"),
		}, {
			"anchors across items",
			listHead + lines("items:", "- kind: B", "  m: &m {x: 1}", "  args: # c", "    - x", "- kind: C", "  m: *m"),
			listHead + lines("items:", "- kind: B", "  m: &m {x: 1}", "  args: # c", "    - x", "    - u", "  env:", "    - name: A", "      value: \"1\"", "- kind: C", "  m: *m"),
		}, {
			"JSON",
			`{"apiVersion": "config.kubernetes.io/v1", "kind": "ResourceList", "items": [{"kind": "é", "args": ["x"]}, {"kind": "C"}]}`,
			`{"apiVersion": "config.kubernetes.io/v1", "kind": "ResourceList", "items": [{"kind": "é", "args": ["x", "u"], "env": [{"name": "A", "value": "1"}]}, {"kind": "C"}]}`,
		},
	}
	for _, test := range tests {
		for mode, parser := range parsers {
			t.Run(test.name+"/"+mode, func(t *testing.T) {
				source, err := parser.ResourceList([]byte(test.in))
				require.NoError(t, err)
				edits := []finding.Edit{add("u", "args"), env("A", "1", "env")}
				splices, err := Plan(source.Items[0], edits, nil)
				require.NoError(t, err)
				out, err := stream.Apply(source.Data, splices)
				require.NoError(t, err)
				require.Equal(t, test.out, string(out))

				encoded, err := Encode(source.Items[0], edits)
				require.NoError(t, err)
				out, err = stream.Apply(source.Data, []stream.Splice{encoded})
				require.NoError(t, err)
				after, err := parser.ResourceList(out)
				require.NoError(t, err)
				want, err := source.Items[0].DecodeWith(splices)
				require.NoError(t, err)
				got, err := after.Items[0].Tree()
				require.NoError(t, err)
				require.True(t, stream.SameTree(want, got), "%s", out)
			})
		}
	}
}
