package report

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trimtab/trimtab/internal/finding"
	"github.com/trimtab/trimtab/internal/rule"
)

func printed(t *testing.T, write func(w io.Writer) error) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, write(&b))
	return b.String()
}

func TestNewOrders(t *testing.T) {
	found, servers := fixture()
	before := append([]finding.Finding{}, found...)
	r := New(found, servers)
	require.Equal(t, before, found)

	var order []string
	for _, f := range r.Findings {
		order = append(order, f.Setting)
	}
	require.Equal(t, []string{"--foo", "--api-key", "env/HIP_VISIBLE_DEVICES", "--disable-custom-all-reduce"}, order)
	require.Equal(t, []Skipped{{"oversized-pool", "--max-mamba-cache-size", chat, []string{"workload.peakRunning"}}}, r.Skipped)
	require.Equal(t, Summary{Error: 1, Warning: 2, Info: 1}, r.Summary())
}

func TestNewOrdersByEachKey(t *testing.T) {
	base := finding.Finding{File: "b", Line: 2, Column: 2, Rule: "r2", Setting: "s2", Message: "first"}
	vary := []func(f *finding.Finding){
		func(f *finding.Finding) { f.File, f.Line = "a", 9 },
		func(f *finding.Finding) { f.Line, f.Column = 1, 9 },
		func(f *finding.Finding) { f.Column, f.Rule = 1, "r9" },
		func(f *finding.Finding) { f.Rule, f.Setting = "r1", "s9" },
		func(f *finding.Finding) { f.Setting = "s1" },
	}
	for _, change := range vary {
		earlier := base
		change(&earlier)
		require.Equal(t, []finding.Finding{earlier, base}, New([]finding.Finding{base, earlier}, nil).Findings)
	}
	again := base
	again.Message = "second"
	require.Equal(t, []finding.Finding{base, again}, New([]finding.Finding{base, again}, nil).Findings)
	require.Equal(t, []finding.Finding{again, base}, New([]finding.Finding{again, base}, nil).Findings)
}

func TestWriteJSON(t *testing.T) {
	found, servers := fixture()
	golden, err := os.ReadFile("testdata/report.json")
	require.NoError(t, err)
	got := printed(t, func(w io.Writer) error { return WriteJSON(w, New(found, servers)) })
	require.Equal(t, string(golden), got)
	require.NotContains(t, got, "hunter")
}

func TestWriteJSONEmpty(t *testing.T) {
	want := `{
  "findings": [],
  "skipped": [],
  "servers": [],
  "summary": {
    "error": 0,
    "warning": 0,
    "info": 0
  }
}
`
	require.Equal(t, want, printed(t, func(w io.Writer) error { return WriteJSON(w, New(nil, nil)) }))
	require.Equal(t, want, printed(t, func(w io.Writer) error { return WriteJSON(w, Report{}) }))
}

func TestWriteText(t *testing.T) {
	found, servers := fixture()
	require.Equal(t, `Deployment/code:0:0: error unknown-flag: vllm 0.11.0 does not know --foo
chat.yaml:30:9: warning secret-in-arguments: a key stands in the arguments
chat.yaml:40:9: info inert-setting: the only device is 0 [sglang >=0.4.6: server_args.py ServerArgs]
chat.yaml:42:9: warning inert-setting: does nothing on one rank: there is no all-reduce [sglang >=0.4.6: server_args.py ServerArgs; way back: add it back when TP is raised]
`, printed(t, func(w io.Writer) error { return WriteText(w, New(found, servers), Style{}) }))

	stdin := finding.Finding{File: "-", Line: 3, Column: 5, Rule: "dead-env", Severity: finding.Warning, Message: "not read"}
	require.Equal(t, "-:3:5: warning dead-env: not read\n",
		printed(t, func(w io.Writer) error { return WriteText(w, New([]finding.Finding{stdin}, nil), Style{}) }))
	require.Empty(t, printed(t, func(w io.Writer) error { return WriteText(w, Report{}, Style{}) }))
}

func TestWriteTextOnTerminal(t *testing.T) {
	found, servers := fixture()
	r := New(found, servers)
	require.Equal(t, `Deployment/code
       0:0  error    unknown-flag: vllm 0.11.0 does not know --foo

chat.yaml
      30:9  warning  secret-in-arguments: a key stands in the arguments
      40:9  info     inert-setting: the only device is 0
            sglang >=0.4.6: server_args.py ServerArgs
      42:9  warning  inert-setting: does nothing on one rank: there is no all-reduce
            sglang >=0.4.6: server_args.py ServerArgs; way back: add it back when TP is raised

not checked: oversized-pool (needs workload.peakRunning)
1 error, 2 warnings, 1 informational
`, printed(t, func(w io.Writer) error { return WriteText(w, r, Style{Terminal: true}) }))

	r.Findings, r.Skipped = r.Findings[1:2], nil
	require.Equal(t, "\x1b[1mchat.yaml\x1b[0m\n"+
		"      30:9  \x1b[33mwarning\x1b[0m  \x1b[1msecret-in-arguments\x1b[0m: a key stands in the arguments\n\n"+
		"0 errors, 1 warning, 0 informational\n",
		printed(t, func(w io.Writer) error { return WriteText(w, r, Style{Terminal: true, Color: true}) }))

	require.Equal(t, "no findings\n", printed(t, func(w io.Writer) error {
		return WriteText(w, Report{Servers: []Server{{Engine: "vllm"}}}, Style{Terminal: true})
	}))
	require.Equal(t, "no server of vLLM or SGLang is found\n", printed(t, func(w io.Writer) error { return WriteText(w, Report{}, Style{Terminal: true}) }))
}

func TestSkippedLinesGroupByNeeds(t *testing.T) {
	skipped := []Skipped{
		{Rule: "a", Setting: "--x", Needs: []string{"gpu.name"}},
		{Rule: "a", Setting: "--y", Needs: []string{"gpu.name"}},
		{Rule: "b", Setting: "--y", Needs: []string{"gpu.name"}},
		{Rule: "b", Setting: "--z", Needs: []string{"gpu.name", "model.name"}},
	}
	require.Equal(t, []string{
		"not checked: a, b (needs gpu.name)",
		"not checked: b (needs gpu.name, model.name)",
	}, skippedLines(skipped))
}

func TestWriteErrorsFirst(t *testing.T) {
	found, servers := fixture()
	found[0].Line, found[0].Column = 0, 0 // a file that a host named
	require.Equal(t, `Deployment/code: error unknown-flag: vllm 0.11.0 does not know --foo
chat.yaml: warning inert-setting: does nothing on one rank: there is no all-reduce [sglang >=0.4.6: server_args.py ServerArgs; way back: add it back when TP is raised]
chat.yaml:30:9: warning secret-in-arguments: a key stands in the arguments
1 informational finding
`, printed(t, func(w io.Writer) error { return WriteErrorsFirst(w, New(found, servers)) }))

	infos := []finding.Finding{{Rule: "a", Severity: finding.Info}, {Rule: "b", Severity: finding.Info}, {Rule: "c", Severity: finding.Info}}
	require.Equal(t, "3 informational findings\n", printed(t, func(w io.Writer) error { return WriteErrorsFirst(w, New(infos, nil)) }))
	require.Empty(t, printed(t, func(w io.Writer) error { return WriteErrorsFirst(w, Report{}) }))

	namespaced := finding.Finding{Rule: "a", Severity: finding.Error, Message: "m", Object: chat}
	require.Equal(t, "InferenceService/ai/chat: error a: m\n",
		printed(t, func(w io.Writer) error { return WriteErrorsFirst(w, New([]finding.Finding{namespaced}, nil)) }))
}

// A manifest cannot break lines or send commands to the terminal.
func TestTextIsPrintable(t *testing.T) {
	hostile := finding.Finding{
		Rule: "bad-value", Severity: finding.Error, Message: "a\r\nb\x1b[2J\u009b\x00c\u2028d", File: "x\ny\x1b.yaml", Line: 1, Column: 1,
		Object: finding.Object{Kind: "Pod", Name: "p\n\x1b"},
	}
	nowhere := hostile
	nowhere.File = ""
	r := New([]finding.Finding{hostile, nowhere}, nil)
	for _, text := range []string{
		printed(t, func(w io.Writer) error { return WriteText(w, r, Style{}) }),
		printed(t, func(w io.Writer) error { return WriteErrorsFirst(w, r) }),
		printed(t, func(w io.Writer) error { return WriteText(w, r, Style{Terminal: true}) }),
	} {
		require.NotContains(t, text, "\x1b")
		require.NotContains(t, text, "\x00")
		require.NotContains(t, text, "\u2028")
		require.NotContains(t, text, "\u009b")
		require.Equal(t, 2, strings.Count(text, "bad-value: a b"))
		for line := range strings.Lines(text) {
			require.NotRegexp(t, "^(b|c|d|y)", line, "part of a message or name begins a line")
		}
	}
}

func TestSecretsAreHidden(t *testing.T) {
	secret := []string{
		"--api-key", "--admin-api-key", "--hf-token", "--ssl-keyfile-password", "env/HF_TOKEN", "env/HUGGING_FACE_HUB_TOKEN",
		"env/VLLM_API_KEY", "env/AWS_SECRET_ACCESS_KEY", "env/DB_PASSWORD", "env/MYAPIKEY", "env/openai_api_key", "env/CLIENT_SECRET_2",
	}
	open := []string{
		"--tp-size", "--max-num-batched-tokens", "--ssl-keyfile", "--tokenizer", "env/TOKENIZERS_PARALLELISM", "env/MAX_TOKENS",
		"env/KEYS_PER_PAGE", "env/HIP_VISIBLE_DEVICES", "/dev/shm", "spec.model",
	}
	for _, name := range secret {
		require.Equal(t, rule.HiddenSecret, shown(name, "x"), name)
		require.Empty(t, shown(name, ""), name)
	}
	for _, name := range open {
		require.Equal(t, "x", shown(name, "x"), name)
	}
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestWriterErrors(t *testing.T) {
	found, servers := fixture()
	r := New(found, servers)
	require.EqualError(t, WriteJSON(brokenWriter{}, r), "disk full")
	require.EqualError(t, WriteText(brokenWriter{}, r, Style{}), "disk full")
	require.EqualError(t, WriteErrorsFirst(brokenWriter{}, r), "disk full")
}
