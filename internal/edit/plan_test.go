package edit

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trimtab/trimtab/internal/finding"
	"github.com/trimtab/trimtab/internal/setting"
	"github.com/trimtab/trimtab/internal/stream"
)

func remove(path ...any) finding.Edit {
	return finding.Edit{Action: finding.Remove, Path: path}
}

func set(value string, path ...any) finding.Edit {
	return finding.Edit{Action: finding.Set, Path: setting.Path(path), Value: value}
}

// speaks lets a comment go when it holds the word "flag".
func speaks(comment string, _ finding.Edit) bool { return strings.Contains(comment, "flag") }

// lines joins lines of text.
func lines(text ...string) string { return strings.Join(text, "\n") + "\n" }

var planCases = []struct {
	name  string
	in    string
	edits []finding.Edit
	out   string
}{
	{
		"element with its lines and inline comment",
		lines("args:", "  - --x # flag", "  # stays", "  - --y", "  # end", "z: 1"),
		[]finding.Edit{remove("args", 0)},
		lines("args:", "  # stays", "  - --y", "  # end", "z: 1"),
	}, {
		"last element, comments stay",
		lines("args:", "- --x", "  # other indent", "# of y", "- --y", "  # deeper", "", "# of z", "z: 1"),
		[]finding.Edit{remove("args", 1)},
		lines("args:", "- --x", "  # other indent", "# of y", "  # deeper", "", "# of z", "z: 1"),
	}, {
		"comment that speaks of the flag goes",
		lines("args:", "# other", "", "# the flag", "# is here", "- --x", "- --y"),
		[]finding.Edit{remove("args", 0)},
		lines("args:", "# other", "", "- --y"),
	}, {
		"flag and value",
		lines("args:", "  - --x", "  # why one", "  - \"1\"", "  - --y"),
		[]finding.Edit{remove("args", 0), remove("args", 1)},
		lines("args:", "  # why one", "  - --y"),
	}, {
		"all elements take the key",
		lines("a: 1", "# the flag args", "args: # c", "  # one", "  - --x", "", "  - --y", "  # end", "b: 2"),
		[]finding.Edit{remove("args", 0), remove("args", 1)},
		lines("a: 1", "  # one", "", "  # end", "b: 2"),
	}, {
		"all elements of the only key",
		lines("spec: # c", "  args:", "  - --x", "b: 2"),
		[]finding.Edit{remove("spec", "args", 0)},
		lines("spec: {} # c", "b: 2"),
	}, {
		"all typed fields",
		lines("spec:", "  config: &c # of config", "    a: 1", "    # between", "    b: |", "      text", "  z: 1"),
		[]finding.Edit{remove("spec", "config", "a"), remove("spec", "config", "b")},
		lines("spec:", "  config: &c {} # of config", "    # between", "  z: 1"),
	}, {
		"first key on the line of the dash",
		lines("env:", "- name: x", "  value: y", "- name: z"),
		[]finding.Edit{remove("env", 0, "name")},
		lines("env:", "- value: y", "- name: z"),
	}, {
		"first two keys on the line of the dash",
		lines("env:", "-   name: x", "    a:", "      b: c", "    value: y"),
		[]finding.Edit{remove("env", 0, "name"), remove("env", 0, "a")},
		lines("env:", "-   value: y"),
	}, {
		"first key with a comment below it",
		lines("env:", "- name: x # c", "  # of y", "  value: y"),
		[]finding.Edit{remove("env", 0, "name")},
		lines("env:", "-", "  # of y", "  value: y"),
	}, {
		"only key of an element",
		lines("env:", "- name: x # c", "- name: z"),
		[]finding.Edit{remove("env", 0, "name")},
		lines("env:", "- {}", "- name: z"),
	}, {
		"a list that shares the line of the dash",
		lines("c:", "- args:", "    - --x", "  name: z"),
		[]finding.Edit{remove("c", 0, "args", 0)},
		lines("c:", "- name: z"),
	}, {
		"a list alone behind the dash",
		lines("c:", "- args:", "  - --x", "- b: 1"),
		[]finding.Edit{remove("c", 0, "args", 0)},
		lines("c:", "- {}", "- b: 1"),
	}, {
		"sequence in sequence",
		lines("m:", "- - x", "  - y", "- - z"),
		[]finding.Edit{remove("m", 0, 0), remove("m", 1, 0)},
		lines("m:", "- - y", "- []"),
	}, {
		"element as a whole",
		lines("env:", "- name: a", "  # inside", "  value: |", "    text", "", "- name: b"),
		[]finding.Edit{remove("env", 0)},
		lines("env:", "", "- name: b"),
	}, {
		"flow on one line",
		lines(`args: ["--x", "1", --y, '2'] # c`),
		[]finding.Edit{remove("args", 0), remove("args", 1)},
		lines(`args: [--y, '2'] # c`),
	}, {
		"end of flow on one line",
		lines(`args: [ "--x", "1" , --y, '2' ]`),
		[]finding.Edit{remove("args", 2), remove("args", 3)},
		lines(`args: [ "--x", "1" ]`),
	}, {
		"both ends of flow",
		lines(`args: ["--x", "1", --y]`),
		[]finding.Edit{remove("args", 0), remove("args", 2)},
		lines(`args: ["1"]`),
	}, {
		"all of flow",
		lines("a: 1", `args: ["--x",`, `  "1"] # c`, "b: 2"),
		[]finding.Edit{remove("args", 0), remove("args", 1)},
		lines("a: 1", "b: 2"),
	}, {
		"lines of flow",
		lines("args: [", `  # the flag`, `  "--x", "1", # one`, `  # two`, `  "--y",`, `]`),
		[]finding.Edit{remove("args", 0), remove("args", 1)},
		lines("args: [", `  # two`, `  "--y",`, `]`),
	}, {
		"last line of flow",
		lines("args: [", `  "--x", # x`, `  "--y" # y`, `]`),
		[]finding.Edit{remove("args", 1)},
		lines("args: [", `  "--x" # x`, `]`),
	}, {
		"flow mapping",
		lines("a: {x: 1, y: {z: 2}, w: [1]}"),
		[]finding.Edit{remove("a", "x"), remove("a", "y", "z"), remove("a", "w", 0)},
		lines("a: {y: {}}"),
	}, {
		"flow mapping emptied",
		lines("a: {x: 1, y: 2}", "b: [c: d]"),
		[]finding.Edit{remove("a", "x"), remove("a", "y"), remove("b", 0, "c")},
		lines("a: {}", "b: [{}]"),
	}, {
		"JSON",
		lines("{", `  "a": [`, `    "x",`, `    "y"`, "  ],", `  "b": 1,`, `  "c": true`, "}"),
		[]finding.Edit{remove("a", 1), remove("c"), set("2", "b")},
		lines("{", `  "a": [`, `    "x"`, "  ],", `  "b": 2`, "}"),
	}, {
		"CR LF",
		"args:\r\n# the flag\r\n- x\r\n- y\r\nb: |-\r\n  text\r\n",
		[]finding.Edit{remove("args", 0), set("one\ntwo", "b")},
		"args:\r\n- y\r\nb: |-\r\n  one\r\n  two\r\n",
	}, {
		"no final newline",
		"args:\n- x\n- y",
		[]finding.Edit{remove("args", 1)},
		"args:\n- x\n",
	}, {
		"scalars keep their style",
		lines(`a: x # c`, `b: 'y'`, `c: "z"`, `d: 48`, `e: true`, `f: 0.5`, `g: [1, "2"]`),
		[]finding.Edit{set("x: y", "a"), set("it's", "b"), set("4 \"8\"", "c"), set("1.5", "d"), set("false", "e"), set("1", "f"), set("2", "g", 0), set("3", "g", 1)},
		lines(`a: "x: y" # c`, `b: 'it''s'`, `c: "4 \"8\""`, `d: 1.5`, `e: false`, `f: 1`, `g: [2, "3"]`),
	}, {
		"a string stays a string",
		lines("- a", "- b", "- c"),
		[]finding.Edit{set("48", 0), set("null", 1), set("plain text", 2)},
		lines(`- "48"`, `- "null"`, "- plain text"),
	}, {
		"null is set",
		lines("a:", "b: ~", "c: # c", "d:", "-"),
		[]finding.Edit{set("x", "a"), set("1", "b"), set("y", "c"), set("z", "d", 0)},
		lines("a: x", "b: 1", "c: y # c", "d:", "- z"),
	}, {
		"block scalars keep their header",
		lines("a: |- # c", "    text", "    more", "b: >", "  folded", "  text", "c: |", "  x", "", "d: |2", "    x"),
		[]finding.Edit{set("one\n\ntwo", "a"), set("one two\n", "b"), set("x", "c"), set("  y\nz\n", "d")},
		lines("a: |- # c", "    one", "", "    two", "b: >", "  one two", "c: |-", "  x", "", "d: |2", "    y", "  z"),
	}, {
		"repeated and nested edits",
		lines("a:", "  b: 1", "  c: 2", "d: 3"),
		[]finding.Edit{remove("a", "b"), remove("a"), remove("a"), set("4", "d"), set("4", "d")},
		lines("d: 4"),
	}, {
		"keys that YAML quotes",
		lines(`"a b": 1`, `'c:d': 2`, "e: 3"),
		[]finding.Edit{remove("a b"), remove("c:d")},
		lines("e: 3"),
	}, {
		"everything goes",
		lines("---", "# top", "a: 1", "# between", "b: 2"),
		[]finding.Edit{remove("a"), remove("b")},
		lines("---", "# top", "{}", "# between"),
	},
}

// whole and scanned are the two ways to parse.
var parsers = map[string]stream.Parser{"scanned": {}, "whole": {WholeParse: true}}

func TestPlan(t *testing.T) {
	for _, test := range planCases {
		for mode, parser := range parsers {
			t.Run(test.name+"/"+mode, func(t *testing.T) {
				require.Equal(t, test.out, planned(t, parser, test.in, test.edits))
			})
		}
	}
}

// planned applies the plan for the first item of a source.
func planned(t *testing.T, parser stream.Parser, in string, edits []finding.Edit) string {
	t.Helper()
	source, err := parser.Documents("-", []byte(in))
	require.NoError(t, err)
	splices, err := Plan(source.Items[0], edits, speaks)
	require.NoError(t, err)
	out, err := stream.Apply(source.Data, splices)
	require.NoError(t, err)
	return string(out)
}
