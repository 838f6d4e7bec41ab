package fn_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trimtab/trimtab/internal/config"
	"github.com/trimtab/trimtab/internal/finding"
)

// prefill is a 32B model in two pipeline stages on two V100, as its log shows it.
const prefill = "gpu: {name: V100-32GB%RESERVE}, model: {name: Qwen/Qwen3-32B, quantization: gptq}, measured: {kvTokens: 152432}, "

const fiveRequests = "workload: {prompts: [{tokens: 64500, output: 1000, running: 2}, {tokens: 8000, output: 2000, running: 3}]}"

// kvOvercommit are the findings of the rule.
func kvOvercommit(t *testing.T, p pod) []finding.Finding {
	t.Helper()
	outcome, _ := p.process(t, config.Verify)
	var found []finding.Finding
	for _, f := range outcome.Report.Findings {
		if f.Rule == "kv-overcommit" {
			found = append(found, f)
		}
	}
	return found
}

func stages(seqs, spec string, more ...string) pod {
	args := append([]string{"m", "--pipeline-parallel-size=2", "--gpu-memory-utilization=0.90", "--max-model-len=131072", "--dtype=half", "--max-num-seqs=" + seqs}, more...)
	return pod{engine: "vllm", image: "vllm/vllm-openai:v0.11.0", args: args, spec: "{" + spec + "}"}
}

func TestStatedMixAgainstThePool(t *testing.T) {
	t.Parallel()
	reserved := strings.Replace(prefill, "%RESERVE", ", reserve: 500Mi", 1)
	silent := strings.Replace(prefill, "%RESERVE", "", 1)
	for _, c := range []struct {
		name     string
		pod      pod
		severity finding.Severity
		action   finding.Action
		says     []string
	}{
		{"five of them", stages("5", reserved+fiveRequests), finding.Error, finding.Set, []string{
			"161,000 tokens, 105.7 % of the KV cache, which holds 152,432 tokens", "--max-num-seqs 4 fits whichever of them run",
			"or --gpu-memory-utilization 0.95 holds 165,424 tokens, of which the mix takes 97.3 %", "5 of the largest take 327,500"}},
		{"nobody says what else needs the card", stages("5", silent+fiveRequests), finding.Error, finding.Set, []string{"if gpu.reserve, which is not stated"}},
		{"another tenant needs it all", stages("5", strings.Replace(prefill, "%RESERVE", ", reserve: 3Gi", 1)+fiveRequests), finding.Error, finding.Set, []string{"gpu.reserve leaves no room for it"}},
		{"sixteen", stages("16", reserved+fiveRequests), finding.Error, finding.Set, []string{"16 sequences never fit: 16 of the smallest take 105.0 %"}},
		{"four let in at once", stages("4", reserved+fiveRequests), finding.Info, finding.None, []string{"with 4 at once what runs fits"}},
		{"four that fit", stages("5", reserved+"workload: {prompts: [{tokens: 64500, output: 1000, running: 2}, {tokens: 8000, output: 2000, running: 2}]}"), "", "", nil},
		{"one too long for any", stages("5", reserved+"workload: {prompts: [{tokens: 200000, output: 1000, running: 1}]}"), finding.Error, finding.None, []string{"not even one of the largest fits"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			found := kvOvercommit(t, c.pod)
			if c.severity == "" {
				require.Empty(t, found)
				return
			}
			require.Len(t, found, 1)
			require.Equal(t, []any{c.severity, c.action, "--max-num-seqs"}, []any{found[0].Severity, found[0].Action, found[0].Setting}, found[0].Message)
			for _, text := range c.says {
				require.Contains(t, found[0].Message, text)
			}
		})
	}
}

// TestOvercommitIsSizedOnce: after the trim what runs fits, and nothing else is
// wrong with it.
func TestOvercommitIsSizedOnce(t *testing.T) {
	t.Parallel()
	p := stages("16", strings.Replace(prefill, "%RESERVE", "", 1)+fiveRequests)
	outcome, source := p.process(t, config.Trim)
	written := string(source.Data)
	if changed, ok := outcome.Changed[source]; ok {
		written = string(changed)
	}
	require.Contains(t, written, "--max-num-seqs=4\n")
	require.NotContains(t, written, "--max-num-seqs=16")
	found := kvOvercommit(t, stages("4", strings.Replace(prefill, "%RESERVE", "", 1)+fiveRequests))
	require.Len(t, found, 1)
	require.Equal(t, finding.Info, found[0].Severity)
}

// TestGraphsGoWithTheSequences: a bound of the graphs that was chosen as the
// sequences were is lowered with them, and a keep on one keeps both.
func TestGraphsGoWithTheSequences(t *testing.T) {
	t.Parallel()
	silent := strings.Replace(prefill, "%RESERVE", "", 1) + fiveRequests
	for _, c := range []struct {
		name    string
		version string
		more    []string
		spec    string
		writes  []string
	}{
		{"the same", "v0.12.0", []string{"--max-cudagraph-capture-size=16"}, silent, []string{"--max-num-seqs=4\n", "--max-cudagraph-capture-size=4\n"}},
		{"the older name", "v0.10.2", []string{"--cuda-graph-sizes", "16"}, silent, []string{"--max-num-seqs=4\n", "--cuda-graph-sizes\n", "- \"4\"\n"}},
		{"larger", "v0.12.0", []string{"--max-cudagraph-capture-size=32"}, silent, []string{"--max-num-seqs=4\n", "--max-cudagraph-capture-size=32\n"}},
		{"kept", "v0.12.0", []string{"--max-cudagraph-capture-size=16"}, silent + ", keep: [--max-cudagraph-capture-size]", []string{"--max-num-seqs=16\n", "--max-cudagraph-capture-size=16\n"}},
		{"two that agree", "v0.12.0", []string{"--max-cudagraph-capture-size=16", "--cudagraph-capture-sizes", "8", "16"}, silent, []string{"--max-num-seqs=4\n", "--max-cudagraph-capture-size=16\n"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := stages("16", c.spec, c.more...)
			p.image = "vllm/vllm-openai:" + c.version
			outcome, source := p.process(t, config.Trim)
			written := string(source.Data)
			if changed, ok := outcome.Changed[source]; ok {
				written = string(changed)
			}
			for _, text := range c.writes {
				require.Contains(t, written, text)
			}
		})
	}
}

// TestLengthsAndWeights: what the engine refuses by its own arithmetic, and what
// only an estimate says.
func TestLengthsAndWeights(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		pod  pod
		want string // severity and setting
		says string
	}{
		{"longer than the measured pool", stages("4", strings.Replace(prefill, "%RESERVE", "", 1), "--max-model-len=200000"), "error --max-model-len", "holds one of 152,432 at most"},
		{"as long as the pool", stages("4", strings.Replace(prefill, "%RESERVE", "", 1), "--max-model-len=152432"), "", ""},
		{"the weights alone do not fit", pod{engine: "vllm", image: vllm19, args: []string{"Qwen/Qwen3-32B", "--gpu-memory-utilization", "0.9", "--max-model-len", "4096"}, spec: "{gpu: {name: L4}}"}, "error --gpu-memory-utilization", "the weights take at least"},
		{"sixteen ranks", pod{engine: "vllm", image: vllm19, args: []string{"Qwen/Qwen3-32B", "--tensor-parallel-size", "8", "--max-model-len", "4096"}, spec: "{gpu: {name: L4}}"}, "", ""},
		{"a quantized relative whose method nobody tells", pod{engine: "vllm", image: vllm19, args: []string{"acme/Qwen3-32B-4bit", "--max-model-len", "4096"}, spec: "{gpu: {name: L4}, model: {name: Qwen/Qwen3-32B}}"}, "", ""},
		{"weights on the host", pod{engine: "vllm", image: vllm19, args: []string{"Qwen/Qwen3-32B", "--cpu-offload-gb", "60", "--max-model-len", "4096"}, spec: "{gpu: {name: L4}}"}, "", ""},
		{"SGLang rejects what is longer", pod{engine: "sglang", image: sglang16, args: []string{"--model-path=Qwen/Qwen3-8B", "--context-length=131072"}, spec: "{gpu: {name: L4}, measured: {kvTokens: 20000}}"}, "warning --context-length", "rejects what is longer"},
		{"SGLang has no room for the weights", pod{engine: "sglang", image: sglang16, args: []string{"--model-path=Qwen/Qwen3-32B", "--mem-fraction-static=0.9"}, spec: "{gpu: {name: L4}}"}, "error --mem-fraction-static", "no KV cache"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			found := kvOvercommit(t, c.pod)
			if c.want == "" {
				require.Empty(t, found)
				return
			}
			require.Len(t, found, 1)
			require.Equal(t, c.want, string(found[0].Severity)+" "+found[0].Setting, found[0].Message)
			require.Contains(t, found[0].Message, c.says)
			require.NotContains(t, found[0].Message, "\n")
		})
	}
}

// TestRunningAgainstSlots: fewer slots than the requests hold that are to run let
// the others wait.
func TestRunningAgainstSlots(t *testing.T) {
	t.Parallel()
	for slots, want := range map[string]string{"45": "48", "48": "", "12": ""} { // with fewer slots than requests the figures are of another server
		found := kvOvercommit(t, pod{engine: "sglang", image: sglang16, spec: "{model: {name: Qwen/Qwen3.6-27B}, workload: {peakRunning: 16}}",
			args: []string{"--model-path=m", "--disable-overlap-schedule", "--max-mamba-cache-size=" + slots}})
		if want == "" {
			require.Empty(t, found, slots)
			continue
		}
		require.Len(t, found, 1)
		require.Equal(t, []any{finding.Warning, finding.None, want}, []any{found[0].Severity, found[0].Action, found[0].Proposed})
		require.Contains(t, found[0].Message, "16 requests are to run at once, and 45 slots let 15 in, 3 slots each")
	}
}
