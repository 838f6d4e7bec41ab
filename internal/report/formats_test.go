package report

import (
	"bytes"
	"strings"
	"testing"

	validator "github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"
	"github.com/stretchr/testify/require"

	"github.com/trimtab/trimtab/internal/finding"
	"github.com/trimtab/trimtab/internal/rule"
)

// awkward is a report whose texts every format has to escape.
func awkward() Report {
	object := finding.Object{APIVersion: "v1", Kind: "Pod", Name: "p"}
	return New([]finding.Finding{
		{
			Rule: "inert-setting", Severity: finding.Warning, Message: "100 % dead: a,b\n::error::x <script> `ok`", Object: object,
			File: "dir with space/a%b,c.yaml", Line: 3, Column: 5, Setting: "--x", Value: "1", Action: finding.Remove,
			Evidence: []finding.Evidence{{Engine: "vllm", Versions: ">=0.8.0", Source: "vllm/a_b.py"}},
			Fix:      []finding.Replacement{{From: finding.Point{Line: 3, Column: 1}, To: finding.Point{Line: 4, Column: 1}}},
		},
		{Rule: "unknown-flag", Severity: finding.Error, Message: "no option", Object: object, Setting: "--y", Container: "c"},
		{Rule: "secret-in-arguments", Severity: finding.Info, Message: "a secret", Object: object, File: "a.yaml", Line: 1, Column: 1, Setting: "--api-key", Value: "sk-verysecretverysecretvery"},
		{Rule: "oversized-pool", Needs: []string{"workload.peakRunning"}, Object: object},
	}, []Server{{Object: object, Engine: "vllm"}})
}

func TestSARIFIsValidAndHoldsRulesAndFixes(t *testing.T) {
	for name, r := range map[string]Report{"findings": awkward(), "none": New(nil, nil)} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			require.NoError(t, WriteSARIF(&b, r, "v1.2.3"))
			document, err := validator.FromBytes(b.Bytes())
			require.NoError(t, err)
			require.Len(t, document.Runs, 1)
			// The validator's types write empty texts for what may be missing.
			run := document.Runs[0]
			run.WithLanguage("en").WithNewlineSequences([]string{"\n"})
			run.Tool.Driver.WithLanguage("en")
			require.NoError(t, document.Validate())
			require.Len(t, document.Runs[0].Tool.Driver.Rules, len(rule.Table))
			require.Len(t, document.Runs[0].Results, len(r.Findings))
			require.NotContains(t, b.String(), "verysecret")
		})
	}
	var b bytes.Buffer
	require.NoError(t, WriteSARIF(&b, awkward(), ""))
	require.Contains(t, b.String(), `"uri": "dir%20with%20space/a%25b,c.yaml"`)
	require.Contains(t, b.String(), `"level": "note"`)
	require.Equal(t, 1, strings.Count(b.String(), `"deletedRegion"`))
}

func TestFingerprintsDoNotMoveWithLines(t *testing.T) {
	f := awkward().Findings[0]
	moved := f
	moved.Line += 10
	require.Equal(t, fingerprint(f), fingerprint(moved))
	moved.Value = "2"
	require.NotEqual(t, fingerprint(f), fingerprint(moved))
}

func TestGitHubAnnotations(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, WriteGitHub(&b, awkward()))
	require.Equal(t, `::error title=unknown-flag::Pod/p: no option
::warning file=dir with space/a%25b%2Cc.yaml,line=3,col=5,title=inert-setting::100 %25 dead: a,b ::error::x <script> `+"`ok`"+` [vllm >=0.8.0: vllm/a_b.py]
::notice file=a.yaml,line=1,col=1,title=secret-in-arguments::a secret
`, b.String())
}

func TestMarkdownPutsErrorsFirstAndFoldsTheRest(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, WriteMarkdown(&b, awkward()))
	text := b.String()
	require.True(t, strings.HasPrefix(text, "### trimtab: 1 error, 1 warning, 1 informational\n"))
	require.Less(t, strings.Index(text, "unknown-flag"), strings.Index(text, "inert-setting"))
	require.Less(t, strings.Index(text, "<details>"), strings.Index(text, "secret-in-arguments"))
	require.Contains(t, text, "\\<script\\> `ok`")
	require.Contains(t, text, "oversized-pool (needs workload.peakRunning)")
	require.NotContains(t, text, "verysecret")
}

func TestMarkdownDoesNotLetTextBecomeMarkup(t *testing.T) {
	require.Equal(t, "a \\` \\<b\\>", escapeMarkdown("a ` <b>"))
	require.Equal(t, "`` a`b ``", inCode("a`b"))
}

func TestBaselineLeavesOutWhatItHolds(t *testing.T) {
	r := awkward()
	var b bytes.Buffer
	require.NoError(t, WriteJSON(&b, r))
	known, err := ReadBaseline(b.Bytes())
	require.NoError(t, err)
	moved := r.Findings[0]
	moved.Line = 99
	require.True(t, known.Takes(moved))
	require.False(t, known.Takes(moved), "it was there once")
	other := r.Findings[1]
	other.Setting = "--other"
	require.False(t, known.Takes(other))

	for _, bad := range []string{"", "{", "{}", "[]"} {
		_, err := ReadBaseline([]byte(bad))
		require.ErrorContains(t, err, "trimtab verify -o json")
	}
	var none *Baseline
	require.False(t, none.Takes(moved))
}

func TestExcerptsPointAtTheSettingAndHideSecrets(t *testing.T) {
	lines := map[int]string{3: "      - --x=1 # why", 1: "args: [--api-key, sk-verysecretverysecretvery]"}
	var b bytes.Buffer
	style := Style{Terminal: true, Lines: func(_ string, line int) string { return lines[line] }}
	require.NoError(t, WriteText(&b, awkward(), style))
	require.Contains(t, b.String(), "|       - --x=1 # why\n            |     ^\n")
	require.NotContains(t, b.String(), "verysecret")
}
