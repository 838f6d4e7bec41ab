package fn_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trimtab/trimtab/internal/config"
	"github.com/trimtab/trimtab/internal/finding"
)

// restated is the finding that a setting says what the engine does anyway.
func restated(t *testing.T, p pod, setting string) (finding.Finding, bool) {
	t.Helper()
	outcome, _ := p.process(t, config.Verify)
	for _, f := range outcome.Report.Findings {
		if f.Rule == "restated-default" && f.Setting == setting {
			return f, true
		}
	}
	return finding.Finding{}, false
}

// TestLaterDefaults: a value that is today's default is restated, and the way
// back names the release from which on it is not.
func TestLaterDefaults(t *testing.T) {
	t.Parallel()
	const b200 = "{gpu: {name: b200}, model: {name: Qwen/Qwen3-32B}}"
	for _, c := range []struct {
		name    string
		pod     pod
		setting string
		// undo is what the way back holds; empty: nothing of a later release.
		undo string
		not  bool
	}{
		{name: "by the parser", pod: pod{engine: "vllm", image: vllm19, args: []string{"m", "--gpu-memory-utilization=0.90"}}, setting: "--gpu-memory-utilization", undo: "from 0.20.0 on the engine takes 0.92"},
		{name: "no longer", pod: pod{engine: "vllm", image: "vllm/vllm-openai:v0.20.0", args: []string{"m", "--gpu-memory-utilization=0.9"}}, setting: "--gpu-memory-utilization", not: true},
		{name: "to the newest release", pod: pod{engine: "vllm", image: "vllm/vllm-openai:v0.20.0", args: []string{"m", "--gpu-memory-utilization=0.92"}}, setting: "--gpu-memory-utilization"},
		{name: "as the engine decides on this GPU", pod: pod{engine: "vllm", image: vllm19, args: []string{"m", "--max-num-batched-tokens=8192"}, spec: b200}, setting: "--max-num-batched-tokens", undo: "from 0.28.0 on the engine takes 16384"},
		{name: "on a GPU for which nothing changes", pod: pod{engine: "vllm", image: vllm19, args: []string{"m", "--max-num-batched-tokens=8192"}, spec: "{gpu: {name: h100-80gb}, model: {name: Qwen/Qwen3-32B}}"}, setting: "--max-num-batched-tokens"},
		{name: "of a variable", pod: pod{engine: "vllm", image: vllm19, args: []string{"m"}, env: [][2]string{{"VLLM_MEMORY_PROFILER_ESTIMATE_CUDAGRAPHS", "0"}}}, setting: "env/VLLM_MEMORY_PROFILER_ESTIMATE_CUDAGRAPHS", undo: "from 0.20.0 on the engine takes 1"},
		{name: "of the newest release of a range", pod: pod{engine: "vllm", image: "acme/vllm:x", args: []string{"m", "--gpu-memory-utilization=0.9"}, spec: `{engine: {name: vllm, version: ">=0.17.0,<0.19.0"}}`}, setting: "--gpu-memory-utilization", undo: "from 0.20.0 on the engine takes 0.92"},
		{name: "resolved from auto", pod: pod{engine: "sglang", image: sglang16, args: []string{"--model-path=m", "--dtype=bfloat16"}, spec: "{model: {name: Qwen/Qwen3-32B, dtype: bfloat16}}"}, setting: "--dtype"},
		{name: "resolved from auto by vLLM", pod: pod{engine: "vllm", image: vllm19, args: []string{"m", "--dtype=bfloat16"}, spec: "{gpu: {name: h100-80gb}, model: {name: Qwen/Qwen3-32B, dtype: bfloat16}}"}, setting: "--dtype"},
		{name: "of SGLang", pod: pod{engine: "sglang", image: sglang16, args: []string{"--model-path=m", "--log-level=info"}}, setting: "--log-level"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f, ok := restated(t, c.pod, c.setting)
			require.Equal(t, !c.not, ok)
			if c.undo != "" {
				require.Contains(t, f.Undo, c.undo)
			} else {
				require.NotContains(t, f.Undo, "the engine takes")
			}
		})
	}
}

// TestDefaultIsProvenOverItsWholeSpan: an option that changes otherwise keeps its
// default, and the proof names all releases in which it does.
func TestDefaultIsProvenOverItsWholeSpan(t *testing.T) {
	t.Parallel()
	f, ok := restated(t, pod{engine: "vllm", image: "acme/vllm:latest@sha256:" + strings.Repeat("0", 64), args: []string{"m", "--no-enable-log-requests"}}, "--enable-log-requests")
	require.True(t, ok)
	require.Regexp(t, `^>=0\.10\.1,<=0\.(3[3-9]|[4-9])`, f.Evidence[0].Versions)
}

// TestHalfInsteadOfBfloat16: a GPU without bfloat16 gets half, which a model that
// does not run in half does not.
func TestHalfInsteadOfBfloat16(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		args   []string
		spec   string
		action finding.Action
		want   string
	}{
		{name: "Volta", args: []string{"m", "--dtype", "bfloat16"}, spec: "{gpu: {name: v100-32gb}}", action: finding.Set, want: "half"},
		{name: "Turing, in one word", args: []string{"m", "--dtype=bfloat16"}, spec: "{gpu: {name: t4}}", action: finding.Set, want: "--dtype=half"},
		{name: "not in half", args: []string{"m", "--dtype", "bfloat16"}, spec: "{gpu: {name: t4}, model: {config: {architectures: [Gemma3ForCausalLM], model_type: gemma3_text}}}", action: finding.None},
		{name: "kept", args: []string{"m", "--dtype", "bfloat16"}, spec: "{gpu: {name: v100-32gb}, keep: [--dtype]}", action: finding.None},
		{name: "Ampere", args: []string{"m", "--dtype", "bfloat16"}, spec: "{gpu: {name: a100-80gb}}"},
		{name: "an unknown GPU", args: []string{"m", "--dtype", "bfloat16"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := pod{engine: "vllm", image: "vllm/vllm-openai:v0.11.0", args: c.args, spec: c.spec}
			outcome, _ := p.process(t, config.Verify)
			var actions []finding.Action
			for _, f := range outcome.Report.Findings {
				if f.Rule == "unsupported-on-gpu" {
					actions = append(actions, f.Action)
				}
			}
			if c.action == "" {
				require.Empty(t, actions)
			} else {
				require.Equal(t, []finding.Action{c.action}, actions)
			}
			outcome, source := p.process(t, config.Trim)
			if c.want == "" {
				require.NotContains(t, outcome.Changed, source)
				return
			}
			require.Contains(t, string(outcome.Changed[source]), c.want)
			for _, f := range outcome.Report.Findings {
				require.False(t, f.Rule == "unsupported-on-gpu" && !f.Fixed, "nothing is left")
			}
		})
	}
}
