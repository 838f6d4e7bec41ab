package account_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trimtab/trimtab/hardware"
)

// FuzzAccountOfConfig draws up the account of whatever a config.json says: what
// no model has is an error or unknown, never a negative figure.
func FuzzAccountOfConfig(f *testing.F) {
	f.Add([]byte(qwen05B), byte(1), byte(1))
	f.Add([]byte(qwenVL7B), byte(2), byte(3))
	f.Add([]byte(`{"architectures": ["Qwen3NextForCausalLM"], "model_type": "qwen3_next", "num_hidden_layers": 48, "full_attention_interval": 4, "num_key_value_heads": 2,
		"num_attention_heads": 16, "head_dim": 256, "hidden_size": 2048, "linear_num_value_heads": 32, "linear_num_key_heads": 16, "linear_key_head_dim": 128,
		"linear_value_head_dim": 1048576, "linear_conv_kernel_dim": 1048576, "num_experts": 1048576, "moe_intermediate_size": 1048576, "vocab_size": 1099511627776}`), byte(8), byte(1))
	f.Add([]byte(`{"architectures": ["Gemma3ForCausalLM"], "layer_types": ["full_attention", "sliding_attention"], "num_hidden_layers": 2, "sliding_window": 1099511627776,
		"num_key_value_heads": 1048576, "head_dim": 1048576, "global_head_dim": 3, "num_global_key_value_heads": 5}`), byte(1), byte(2))
	f.Fuzz(func(t *testing.T, config []byte, tp, pp byte) {
		if _, err := hardware.FromConfigJSON(config); err != nil {
			return
		}
		ranks := []string{"1", "2", "3", "8", "64"}
		for engine, flags := range map[string][2]string{"vllm": {"--tensor-parallel-size", "--pipeline-parallel-size"}, "sglang": {"--tp-size", "--pp-size"}} {
			s := server{engine: engine, version: map[string]string{"vllm": "0.20.1", "sglang": "0.5.16"}[engine], model: string(config), card: "H100-SXM",
				args: flags[0] + " " + ranks[int(tp)%len(ranks)] + " " + flags[1] + " " + ranks[int(pp)%len(ranks)]}
			a, err := s.tryDraw(t)
			if err != nil {
				require.NotContains(t, err.Error(), "\n")
				continue
			}
			plan, err := a.Plan("")
			if err != nil {
				require.NotContains(t, err.Error(), "\n")
				continue
			}
			for _, row := range plan.GPUs[0].Rows {
				require.GreaterOrEqual(t, row.Bound, 0.0, row.Name)
				if row.Tokens != nil {
					require.GreaterOrEqual(t, *row.Tokens, int64(0), row.Name)
				}
				if row.Bytes != nil && row.Name != "free" && row.Name != "activations" {
					require.GreaterOrEqual(t, *row.Bytes, int64(0), row.Name)
				}
			}
		}
	})
}
