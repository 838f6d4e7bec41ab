package fn_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trimtab/trimtab/fn"
	"github.com/trimtab/trimtab/internal/config"
	"github.com/trimtab/trimtab/internal/stream"
)

// judged runs the pipeline over the text of a manifest with no config.
func judgedText(t *testing.T, manifest string, mode config.Mode) (*fn.Outcome, *stream.Source) {
	t.Helper()
	source, err := stream.ParseDocuments("case.yaml", []byte(manifest))
	require.NoError(t, err)
	outcome, err := fn.Process(fn.Input{Sources: []*stream.Source{source}, Mode: mode})
	require.NoError(t, err)
	return outcome, source
}

// found are the findings of one rule: severity, setting and action.
func found(t *testing.T, manifest, rule string) []string {
	t.Helper()
	outcome, _ := judgedText(t, manifest, config.Verify)
	var lines []string
	for _, f := range outcome.Report.Findings {
		if f.Rule == rule {
			lines = append(lines, strings.Join([]string{string(f.Severity), f.Setting, string(f.Action)}, " "))
		}
	}
	return lines
}

// messages are those of the findings of one rule.
func messages(t *testing.T, manifest, rule string) []string {
	t.Helper()
	outcome, _ := judgedText(t, manifest, config.Verify)
	var lines []string
	for _, f := range outcome.Report.Findings {
		if f.Rule == rule {
			lines = append(lines, f.Message)
		}
	}
	return lines
}

// trimmed is the text of a manifest after a trim.
func trimmed(t *testing.T, manifest string) string {
	t.Helper()
	outcome, source := judgedText(t, manifest, config.Trim)
	if changed, ok := outcome.Changed[source]; ok {
		return string(changed)
	}
	return manifest
}
