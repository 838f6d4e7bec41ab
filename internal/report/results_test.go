package report

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/trimtab/trimtab/internal/finding"
)

const blockResults = `- message: vllm 0.11.0 does not know --foo
  severity: error
  resourceRef:
    apiVersion: apps/v1
    kind: Deployment
    name: code
  tags:
    action: none
    rule: unknown-flag
    setting: --foo
- message: a key stands in the arguments
  severity: warning
  resourceRef:
    apiVersion: inference.llmkube.dev/v1alpha1
    kind: InferenceService
    name: chat
    namespace: ai
  field:
    path: spec.extraArgs[2]
    currentValue: (hidden)
    proposedValue: (hidden)
  file:
    path: chat.yaml
    index: 1
  tags:
    rule: secret-in-arguments
    setting: --api-key
- message: 'does nothing on one rank: there is no all-reduce'
  severity: warning
  resourceRef:
    apiVersion: inference.llmkube.dev/v1alpha1
    kind: InferenceService
    name: chat
    namespace: ai
  field:
    path: spec.extraArgs[7]
    currentValue: "true"
  file:
    path: chat.yaml
    index: 1
  tags:
    action: remove
    container: server
    evidence: 'sglang >=0.4.6: server_args.py ServerArgs'
    rule: inert-setting
    setting: --disable-custom-all-reduce
    undo: add it back when TP is raised
- message: the only device is 0
  severity: info
  resourceRef:
    apiVersion: inference.llmkube.dev/v1alpha1
    kind: InferenceService
    name: chat
    namespace: ai
  field:
    path: spec.extraArgs[7]
    currentValue: "0"
  file:
    path: chat.yaml
    index: 1
  tags:
    action: remove
    container: server
    evidence: 'sglang >=0.4.6: server_args.py ServerArgs'
    fixed: "true"
    group: devices
    rule: inert-setting
    setting: env/HIP_VISIBLE_DEVICES
`

// encoded prints results as package stream does.
func encoded(t *testing.T, results []Result) string {
	t.Helper()
	var b bytes.Buffer
	encoder := yaml.NewEncoder(&b)
	encoder.SetIndent(2)
	require.NoError(t, encoder.Encode(results))
	return b.String()
}

func TestResults(t *testing.T) {
	found, servers := fixture()
	require.Equal(t, blockResults, encoded(t, Results(New(found, servers))))
}

func TestNoResults(t *testing.T) {
	require.Empty(t, Results(Report{}))
}

func TestResultsOmitWhatIsNotKnown(t *testing.T) {
	results := Results(New([]finding.Finding{{Rule: "r", Message: "m", File: "-"}}, nil))
	require.Equal(t, []Result{{Message: "m", Severity: "info", Tags: map[string]string{"rule": "r"}}}, results)
}

// What was put in comes back from YAML, whatever the text is.
func FuzzResults(f *testing.F) {
	f.Add("message", "value", "a/b.yaml", 2)
	f.Add("a\nb", "- x: |\n  y", "é\u2028", 0)
	f.Add("\x00\x1b", "\ufeff'\"", "\U0001F600 ", 7)
	f.Add("%!", "\r\n\u0085", "#", 1)
	f.Fuzz(func(t *testing.T, message, value, file string, index int) {
		found := finding.Finding{
			Rule: "r", Severity: finding.Error, Message: message, Value: value, Proposed: message, File: file, FileIndex: index,
			Object: finding.Object{APIVersion: value, Kind: file, Name: message}, Origin: argument(1), Undo: value,
		}
		results := Results(New([]finding.Finding{found, found}, nil))
		for _, result := range results {
			require.NotContains(t, result.Message, "\n")
		}
		var back []Result
		require.NoError(t, yaml.Unmarshal([]byte(encoded(t, results)), &back))
		require.Equal(t, results, back)
	})
}
