package stream

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

type result struct {
	Message  string `yaml:"message"`
	Severity string `yaml:"severity,omitempty"`
}

func TestResultsSplice(t *testing.T) {
	items := "items:\n- kind: A\n"
	const block = "- message: 'new: one'\n  severity: info\n- message: two\n"
	const flow = `{"message": "new: one", "severity": "info"}, {"message": "two"}`
	tests := []struct{ name, in, out string }{
		{"no results", listHead + items, listHead + items + "results:\n" + block},
		{"behind other keys", listHead + items + "extra: 1\n# end\n...\n", listHead + items + "extra: 1\n# end\nresults:\n" + block + "...\n"},
		{"empty document behind", listHead + items + "---\n", listHead + items + "results:\n" + block + "---\n"},
		{"block results", listHead + "results:\n  # old\n  - message: |+\n      a\n\n# end\n" + items, listHead + "results:\n  # old\n  - message: |+\n      a\n\n  - message: 'new: one'\n    severity: info\n  - message: two\n# end\n" + items},
		{"block results at the end", listHead + items + "results:\n- message: a", listHead + items + "results:\n- message: a\n" + strings.TrimSuffix(block, "\n")},
		{"empty results", listHead + "results: [] # none\n" + items, listHead + "results: [" + flow + "] # none\n" + items},
		{"null results", listHead + "results: null\n" + items, listHead + "results: [" + flow + "]\n" + items},
		{"results without a value", listHead + "results: # none\n" + items, listHead + "results: [" + flow + "] # none\n" + items},
		{"flow results", listHead + "results: [{message: a}]\n" + items, listHead + "results: [{message: a}, " + flow + "]\n" + items},
		{"flow results with a comma", listHead + "results: [{message: a},]\n" + items, listHead + "results: [{message: a}, " + flow + "]\n" + items},
		{"no final newline", listHead + "items:\n- kind: |\n    A", listHead + "results:\n" + block + "items:\n- kind: |\n    A"},
		{"CR LF", strings.ReplaceAll(listHead+items, "\n", "\r\n"), strings.ReplaceAll(listHead+items+"results:\n"+block, "\n", "\r\n")},
		{"indented", "  apiVersion: config.kubernetes.io/v1\n  kind: ResourceList\n  items:\n  - kind: A\n", "  apiVersion: config.kubernetes.io/v1\n  kind: ResourceList\n  items:\n  - kind: A\n  results:\n  " + strings.TrimSuffix(strings.ReplaceAll(block, "\n", "\n  "), "  ")},
		{"JSON", `{"apiVersion": "config.kubernetes.io/v1", "kind": "ResourceList", "items": []}`, `{"apiVersion": "config.kubernetes.io/v1", "kind": "ResourceList", "items": [], "results": [` + flow + `]}`},
		{"JSON with results", `{"apiVersion": "config.kubernetes.io/v1", "kind": "ResourceList", "items": [], "results": [{"message": "a"}]}`, `{"apiVersion": "config.kubernetes.io/v1", "kind": "ResourceList", "items": [], "results": [{"message": "a"}, ` + flow + `]}`},
	}
	for _, test := range tests {
		for mode, parser := range parsers {
			t.Run(test.name+"/"+mode, func(t *testing.T) {
				source, err := parser.ResourceList([]byte(test.in))
				require.NoError(t, err)
				splices, err := source.ResultsSplice(nil)
				require.NoError(t, err)
				require.Empty(t, splices)
				splices, err = source.ResultsSplice([]any{result{"new: one", "info"}, result{Message: "two"}})
				require.NoError(t, err)
				out, err := Apply(source.Data, splices)
				require.NoError(t, err)
				require.Equal(t, test.out, string(out))
				after, err := parser.ResourceList(out)
				require.NoError(t, err)
				require.Len(t, after.Items, len(source.Items))
				for i, it := range source.Items {
					want, err := it.Root()
					require.NoError(t, err)
					got, err := after.Items[i].Root()
					require.NoError(t, err)
					require.Equal(t, want.Content[1].Value, got.Content[1].Value)
				}
			})
		}
	}
}

func TestResultsSpliceErrors(t *testing.T) {
	source, err := ParseResourceList([]byte(listHead + "items: []\nresults: text\n"))
	require.NoError(t, err)
	_, err = source.ResultsSplice([]any{result{}})
	require.ErrorContains(t, err, "`results` of the ResourceList is no list")

	source, err = ParseDocuments("-", []byte("a: 1\n"))
	require.NoError(t, err)
	_, err = source.ResultsSplice([]any{result{}})
	require.ErrorContains(t, err, "need a ResourceList")
}
