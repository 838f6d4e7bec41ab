package fn_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trimtab/trimtab/internal/config"
)

// TestHeadsOfRanks: attention heads, KV heads and the heads of linear attention
// against the ranks, by the engines' own assertions.
func TestHeadsOfRanks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		pod
		says string
	}{
		{"heads", pod{engine: "vllm", image: vllm19, args: []string{"Qwen/Qwen3-32B", "--tensor-parallel-size", "3"}}, "64 attention heads, which 3 ranks cannot share"},
		{"KV heads, fewer than ranks", pod{engine: "vllm", image: vllm19, args: []string{"Qwen/Qwen2.5-14B-Instruct", "--tensor-parallel-size", "20"}}, "8 KV heads, which 20 ranks cannot share"},
		{"KV heads, more than ranks", pod{engine: "sglang", image: sglang16, args: []string{"--model-path=Qwen/Qwen2.5-14B-Instruct", "--tp-size=5"}}, "8 KV heads, which 5 ranks cannot share"},
		{"a KV head for two ranks", pod{engine: "vllm", image: vllm19, args: []string{"Qwen/Qwen3-32B", "--tensor-parallel-size", "16"}}, ""},
		{"heads of linear attention", pod{engine: "vllm", image: vllm19, args: []string{"Qwen/Qwen3.5-27B", "--tensor-parallel-size", "12"}, spec: "{model: {name: Qwen/Qwen3.5-27B}}"}, "16 key heads and 48 value heads, which 12 ranks cannot share"},
		{"fewer ranks share them", pod{engine: "sglang", image: sglang16, args: []string{"--model-path=Qwen/Qwen2.5-14B-Instruct", "--tp-size=20", "--dp-size=5", "--enable-dp-attention"}}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			outcome, _ := c.process(t, config.Verify)
			var said []string
			for _, f := range outcome.Report.Findings {
				if f.Rule == "gpu-mismatch" {
					said = append(said, f.Message)
				}
			}
			if c.says == "" {
				require.Empty(t, said)
				return
			}
			require.Len(t, said, 1)
			require.Contains(t, said[0], c.says)
		})
	}
}
