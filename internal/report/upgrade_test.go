package report

import (
	"bytes"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"github.com/trimtab/trimtab/internal/finding"
)

func crossed() Upgrade {
	about := func(setting, message string, action finding.Action) finding.Finding {
		return finding.Finding{
			Rule: "removed-flag", Severity: finding.Error, Setting: setting, Message: message, File: "a.yaml", Line: 3, Column: 5, Action: action,
			Object: finding.Object{APIVersion: "apps/v1", Kind: "Deployment", Name: "chat"}, Undo: "go back",
			Evidence: []finding.Evidence{{Engine: "vllm", Versions: ">0.17.1", Source: "the parser"}},
		}
	}
	changes := []Change{
		{Kind: DefaultChanged, Impact: Harmless, Before: "a", After: "b", Finding: about("--x", "x <is> *other*", finding.None)},
		{Kind: DefaultChanged, Impact: Silent, Before: "hf_abcdefghijklmnopqrstuvwxyz", Finding: about("--hf-token", "y", finding.None)},
		{Kind: Renamed, Impact: Breaking, From: "0.16.0", Finding: about("--z", "z is gone", finding.Set)},
	}
	SortChanges(changes)
	return Upgrade{
		Servers: []UpgradedServer{
			{Object: finding.Object{Kind: "Deployment", Name: "chat"}, Engine: "vllm", From: "0.17.1", To: "0.18.0", Changes: changes},
			{Object: finding.Object{Kind: "Deployment", Name: "quiet"}, Engine: "vllm", From: "0.17.1", To: "0.18.0"},
		},
		Queries: []Change{{Kind: MetricGone, Impact: Silent, Finding: about("metric/vllm:x", "x", finding.None)}},
	}
}

func TestTheJSONOfAnUpgradeIsWhatItsSchemaSays(t *testing.T) {
	schema, err := jsonschema.NewCompiler().Compile("../../docs/upgrade.schema.json")
	require.NoError(t, err)
	for name, u := range map[string]Upgrade{"changes": crossed(), "nothing": {}} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			require.NoError(t, WriteUpgradeJSON(&b, u))
			require.NotContains(t, b.String(), "hf_abc", "a secret is not printed")
			document, err := jsonschema.UnmarshalJSON(&b)
			require.NoError(t, err)
			require.NoError(t, schema.Validate(document))
			document.(map[string]any)["more"] = true
			require.Error(t, schema.Validate(document), "the schema lets nothing unknown through")
		})
	}
}

func TestMarkdownOfAnUpgradeSaysTheWorstFirst(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, WriteUpgradeMarkdown(&b, crossed()))
	text := b.String()
	require.Equal(t, 1, strings.Count(text, "**Breaks**"))
	require.Less(t, strings.Index(text, "**Breaks**"), strings.Index(text, "**Changes silently**"))
	require.Less(t, strings.Index(text, "**Changes silently**"), strings.Index(text, "<details><summary>Also (1)"))
	require.Contains(t, text, `x \<is\> \*other\*`)
	require.Contains(t, text, "z is gone (coming from 0.16.0) (`-w` writes it)")
	require.Contains(t, text, "1 server not affected.")
	require.NotContains(t, text, "quiet")
	require.Equal(t, 1, crossed().fixable())
	require.Equal(t, UpgradeSummary{Breaking: 1, Silent: 2, Harmless: 1}, crossed().Summary())
}
