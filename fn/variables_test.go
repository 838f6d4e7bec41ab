package fn_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trimtab/trimtab/internal/config"
)

// TestVariables: what is said of a variable of vLLM beside dead-env.
func TestVariables(t *testing.T) {
	t.Parallel()
	gpu := "{gpu: {name: h100-80gb}}"
	for _, c := range []struct {
		name string
		pod
		want []string
	}{
		{"a word for a number", pod{env: [][2]string{{"VLLM_USE_DEEP_GEMM", "true"}}}, []string{"warning bad-value env/VLLM_USE_DEEP_GEMM none"}},
		{"a word where words are read", pod{env: [][2]string{{"VLLM_ALLREDUCE_USE_SYMM_MEM", "0"}, {"VLLM_DISABLE_PYNCCL", "true"}}}, nil},
		{"no number", pod{env: [][2]string{{"VLLM_RPC_TIMEOUT", "10s"}, {"VLLM_LOG_STATS_INTERVAL", "5.5"}}}, []string{"warning bad-value env/VLLM_RPC_TIMEOUT none"}},
		{"no choice", pod{env: [][2]string{{"VLLM_WORKER_MULTIPROC_METHOD", "forkserver"}}}, []string{"warning bad-value env/VLLM_WORKER_MULTIPROC_METHOD none"}},
		{"decided elsewhere, and empty", pod{env: [][2]string{{"VLLM_USE_DEEP_GEMM", "$(X)"}, {"VLLM_RPC_TIMEOUT", ""}}}, nil},
		{"of a fork", pod{image: "acme/vllm:v0.19.1", env: [][2]string{{"VLLM_USE_DEEP_GEMM", "true"}}}, []string{"info bad-value env/VLLM_USE_DEEP_GEMM none"}},
		{"SGLang takes its default", pod{engine: "sglang", image: sglang16, args: []string{"--model-path=m"}, env: [][2]string{{"SGLANG_IS_FLASHINFER_AVAILABLE", "perhaps"}}}, nil},
		{"the wrong word for on", pod{env: [][2]string{{"VLLM_NO_USAGE_STATS", "True"}, {"VLLM_USE_MODELSCOPE", "1"}}},
			[]string{"warning overridden-setting env/VLLM_NO_USAGE_STATS none", "warning overridden-setting env/VLLM_USE_MODELSCOPE none"}},
		{"of a TPU", pod{spec: gpu, env: [][2]string{{"VLLM_XLA_CACHE_PATH", "/cache"}}}, []string{"warning inert-setting env/VLLM_XLA_CACHE_PATH remove"}},
		{"of a TPU, on what is not known", pod{env: [][2]string{{"VLLM_XLA_CACHE_PATH", "/cache"}}}, nil},
		{"of a connector that is not there", pod{env: [][2]string{{"VLLM_NIXL_SIDE_CHANNEL_PORT", "5601"}}}, []string{"warning inert-setting env/VLLM_NIXL_SIDE_CHANNEL_PORT remove"}},
		{"of a connector that is perhaps there", pod{args: []string{"m", "$(MORE)"}, env: [][2]string{{"VLLM_NIXL_SIDE_CHANNEL_PORT", "5601"}}}, nil},
		{"stages that do not fit", pod{args: []string{"m", "-pp=3"}, env: [][2]string{{"VLLM_PP_LAYER_PARTITION", "20,20"}}}, []string{"error conflicting-settings env/VLLM_PP_LAYER_PARTITION none"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if c.engine == "" {
				c.engine = "vllm"
			}
			if c.image == "" {
				c.image = vllm19
			}
			if c.args == nil {
				c.args = []string{"m"}
			}
			outcome, _ := c.process(t, config.Verify)
			var got []string
			for _, f := range outcome.Report.Findings {
				if strings.HasPrefix(f.Setting, "env/") {
					got = append(got, strings.Join([]string{string(f.Severity), f.Rule, f.Setting, string(f.Action)}, " "))
				}
			}
			require.ElementsMatch(t, c.want, got)
		})
	}
}
