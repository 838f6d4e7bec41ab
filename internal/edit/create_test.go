package edit

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trimtab/trimtab/internal/finding"
	"github.com/trimtab/trimtab/internal/stream"
)

func create(value string, path ...any) finding.Edit {
	return finding.Edit{Action: finding.Set, Path: path, Value: value, Create: true}
}

// A text comes to a mapping as the author writes the others, and the mapping
// with it where there is none.
func TestPlanCreates(t *testing.T) {
	note := create("a=b c=d", "metadata", "annotations", "x.dev/y")
	other := create("1", "metadata", "annotations", "z")
	for _, test := range []struct {
		name, in string
		edits    []finding.Edit
		out      string
	}{
		{"beside others", lines("metadata:", "    name: a", "    annotations:", "        b: \"1\"", "    # end", "spec: 1"), []finding.Edit{note, other},
			lines("metadata:", "    name: a", "    annotations:", "        b: \"1\"", "        x.dev/y: a=b c=d", "        z: \"1\"", "    # end", "spec: 1")},
		{"no annotations", lines("metadata:", "    name: a", "spec:", "    b: 1"), []finding.Edit{note, other},
			lines("metadata:", "    name: a", "    annotations:", "        x.dev/y: a=b c=d", "        z: \"1\"", "spec:", "    b: 1")},
		{"labels tell the indent", lines("metadata:", "  labels:", "   a: b", "  name: c"), []finding.Edit{note},
			lines("metadata:", "  labels:", "   a: b", "  name: c", "  annotations:", "   x.dev/y: a=b c=d")},
		{"empty annotations", lines("metadata:", "  annotations: {}", "  name: c"), []finding.Edit{note},
			lines("metadata:", "  annotations: {x.dev/y: a=b c=d}", "  name: c")},
		{"flow", lines("metadata: {name: a}"), []finding.Edit{note, other},
			lines("metadata: {name: a, annotations: {x.dev/y: a=b c=d, z: \"1\"}}")},
		{"flow annotations", lines("metadata: {annotations: {'b': 'c'}, name: a}"), []finding.Edit{note},
			lines("metadata: {annotations: {'b': 'c', 'x.dev/y': 'a=b c=d'}, name: a}")},
		{"JSON", `{"metadata": {"name": "a"}}` + "\n", []finding.Edit{note}, `{"metadata": {"name": "a", "annotations": {"x.dev/y": "a=b c=d"}}}` + "\n"},
		{"it is there", lines("metadata:", "  annotations:", "    x.dev/y: \"e\" # why"), []finding.Edit{note},
			lines("metadata:", "  annotations:", "    x.dev/y: \"a=b c=d\" # why")},
		{"it is right", lines("metadata:", "  annotations:", "    x.dev/y: a=b c=d"), []finding.Edit{note},
			lines("metadata:", "  annotations:", "    x.dev/y: a=b c=d")},
		{"CRLF", "metadata:\r\n  name: a\r\n", []finding.Edit{note}, "metadata:\r\n  name: a\r\n  annotations:\r\n    x.dev/y: a=b c=d\r\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			for mode, parser := range parsers {
				require.Equal(t, test.out, planned(t, parser, test.in, test.edits), mode)
			}
		})
	}
	for name, in := range map[string]string{
		"a merge key":         lines("a: &a {b: c}", "metadata:", "  annotations:", "    <<: *a"),
		"a list":              lines("metadata:", "  annotations: [a]"),
		"an alias":            lines("a: &a {b: c}", "metadata:", "  annotations: *a"),
		"nothing to begin at": lines("spec: 1"),
		"what an alias means": lines("metadata: &a", "  name: b", "more: *a"),
	} {
		t.Run(name, func(t *testing.T) {
			source, err := stream.ParseDocuments("-", []byte(in))
			require.NoError(t, err)
			_, err = Plan(source.Items[0], []finding.Edit{note}, nil)
			var refused *Refused
			require.ErrorAs(t, err, &refused)
		})
	}
}
