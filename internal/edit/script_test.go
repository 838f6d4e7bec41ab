package edit

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trimtab/trimtab/internal/finding"
	"github.com/trimtab/trimtab/internal/setting"
	"github.com/trimtab/trimtab/internal/shell"
	"github.com/trimtab/trimtab/internal/stream"
)

// scriptIn is the script that spec.args[2] of an object holds.
func scriptIn(t *testing.T, text string) (*stream.Source, *setting.Script) {
	t.Helper()
	source, err := stream.ParseDocuments("a.yaml", []byte(text))
	require.NoError(t, err)
	root, err := source.Items[0].Root()
	require.NoError(t, err)
	path := setting.Path{"spec", "args", 2}
	return source, &setting.Script{
		Script: shell.Script{Text: nodeAt(root, path).Value, Dialect: shell.Bash, Kubelet: true},
		Places: map[shell.Source]setting.Path{"": path},
	}
}

// wordIn is the path of a word of the script.
func wordIn(t *testing.T, script *setting.Script, text string) setting.Path {
	t.Helper()
	commands, err := script.Commands()
	require.NoError(t, err)
	for _, c := range commands {
		for _, w := range c.Words {
			if w.Text == text {
				return script.Places[w.Span.Source].Join(setting.Part{Script: script, Span: w.Span})
			}
		}
	}
	require.Fail(t, "no such word", text)
	return nil
}

func TestAWordGoesFromAScalarOfEveryStyle(t *testing.T) {
	for name, c := range map[string]struct{ args, want string }{
		"plain":         {"args: [sh, -c, x --a --b 3 --c]\n", "args: [sh, -c, x --a --c]\n"},
		"double quotes": {"args: [sh, -c, \"x \\\"--a\\\" --b 3 '\\u00e9'\"]\n", "args: [sh, -c, \"x \\\"--a\\\" '\\u00e9'\"]\n"},
		"single quotes": {"args: [sh, -c, 'x ''--a'' --b 3 --c']\n", "args: [sh, -c, 'x ''--a'' --c']\n"},
		"double quotes over lines": {
			"args: [sh, -c, \"x --a\n      --b 3\n      --c\"]\n", "args: [sh, -c, \"x --a\n      --c\"]\n",
		},
		"literal": {
			"args:\n    - sh\n    - -c\n    - |  # start\n      # why\n      x \\\n        --a   \\\n        --b 3 \\\n        --c\n\n      y\n",
			"args:\n    - sh\n    - -c\n    - |  # start\n      # why\n      x \\\n        --a   \\\n        --c\n\n      y\n",
		},
		"literal, the last": {
			"args:\n    - sh\n    - -c\n    - |-\n      x \\\n        --a \\\n        --b 3\n    # below\n",
			"args:\n    - sh\n    - -c\n    - |-\n      x \\\n        --a\n    # below\n",
		},
		"folded": {
			"args:\n    - sh\n    - -c\n    - >-\n      x --a\n      --b 3\n      --c\n", "args:\n    - sh\n    - -c\n    - >-\n      x --a\n      --c\n",
		},
		"folded, in a line": {
			"args:\n    - sh\n    - -c\n    - >\n      x --a --b 3\n      --c\n", "args:\n    - sh\n    - -c\n    - >\n      x --a\n      --c\n",
		},
		"an array": {
			"args:\n    - sh\n    - -c\n    - |\n      A=(\n        --a # one\n        --b 3\n      )\n      x \"${A[@]}\"\n",
			"args:\n    - sh\n    - -c\n    - |\n      A=(\n        --a # one\n      )\n      x \"${A[@]}\"\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			head := "apiVersion: v1\nkind: A # an object\nspec:\n  "
			source, script := scriptIn(t, head+c.args)
			splices, err := Plan(source.Items[0], []finding.Edit{
				{Action: finding.Remove, Path: wordIn(t, script, "--b")}, {Action: finding.Remove, Path: wordIn(t, script, "3")},
			}, nil)
			require.NoError(t, err)
			got, err := stream.Apply(source.Data, splices)
			require.NoError(t, err)
			require.Equal(t, head+c.want, string(got))
		})
	}
}

func TestAWordIsWrittenAnewInsideAScalar(t *testing.T) {
	for args, want := range map[string]string{
		"args: [sh, -c, \"x --b \\\"3\\\"\"]\n":                             "args: [sh, -c, \"x --b \\\"\\\\\\\"4 \\\\$$\\\"\"]\n",
		"args: [sh, -c, 'x --b 3']\n":                                       "args: [sh, -c, 'x --b ''\"4 $$''']\n",
		"args:\n    - sh\n    - -c\n    - |\n      x \\\n        --b '3'\n": "args:\n    - sh\n    - -c\n    - |\n      x \\\n        --b '\"4 $$'\n",
	} {
		head := "apiVersion: v1\nkind: A\nspec:\n  "
		source, script := scriptIn(t, head+args)
		splices, err := Plan(source.Items[0], []finding.Edit{{Action: finding.Set, Path: wordIn(t, script, "3"), Value: `"4 $`}}, nil)
		require.NoError(t, err)
		got, err := stream.Apply(source.Data, splices)
		require.NoError(t, err)
		require.Equal(t, head+want, string(got))
	}
}

func TestEditsOfAWordThatAreNotMade(t *testing.T) {
	source, script := scriptIn(t, "apiVersion: v1\nkind: A\nspec:\n  args: [sh, -c, 'A=\"--a --b\"; x $A; y ${#A}']\n")
	word := wordIn(t, script, "--b")
	_, err := Plan(source.Items[0], []finding.Edit{{Action: finding.Remove, Path: word}}, nil)
	var refused *Refused
	require.ErrorAs(t, err, &refused)
	require.Equal(t, "something else in the script depends on it", refused.Reason)
	require.True(t, strings.HasPrefix(refused.Path.String(), "spec.args[2]["), refused.Path.String())

	_, err = Plan(source.Items[0], []finding.Edit{{Action: finding.Remove, Path: word}, {Action: finding.Set, Path: word, Value: "x"}}, nil)
	var conflict *Conflict
	require.ErrorAs(t, err, &conflict)

	_, err = Plan(source.Items[0], []finding.Edit{{Action: finding.Add, Path: word, Value: "x"}}, nil)
	require.ErrorAs(t, err, &refused)
}

func TestAnArgumentOfAScriptGoesAsAnElement(t *testing.T) {
	source, script := scriptIn(t, "apiVersion: v1\nkind: A\nspec:\n  args:\n    - sh\n    - -c\n    - x \"$@\"\n    - zero\n    - --a\n    - --b\n")
	script.Args = []shell.Value{{Text: "zero"}, {Text: "--a"}, {Text: "--b"}}
	script.Places["arg/1"] = setting.Path{"spec", "args", 4}
	splices, err := Plan(source.Items[0], []finding.Edit{{Action: finding.Remove, Path: wordIn(t, script, "--a")}}, nil)
	require.NoError(t, err)
	got, err := stream.Apply(source.Data, splices)
	require.NoError(t, err)
	require.Equal(t, "apiVersion: v1\nkind: A\nspec:\n  args:\n    - sh\n    - -c\n    - x \"$@\"\n    - zero\n    - --b\n", string(got))
}
