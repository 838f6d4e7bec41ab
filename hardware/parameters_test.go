package hardware

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestParameters: the counts are those their makers publish, and the size of a
// checkpoint in 16 bits, which holds the layers for speculation too, agrees.
func TestParameters(t *testing.T) {
	for id, billions := range map[string]float64{
		"meta-llama/Llama-3.1-8B-Instruct": 8.03, "Qwen/Qwen3-32B": 32.76, "Qwen/Qwen3-30B-A3B": 30.53, "Qwen/Qwen3-14B": 14.77,
		"deepseek-ai/DeepSeek-V3": 671.03, "openai/gpt-oss-120b": 116.8, "moonshotai/Kimi-K2-Instruct": 1026.4, "zai-org/GLM-5": 743.9,
		"nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16": 31.58, "Qwen/Qwen3-Next-80B-A3B-Thinking": 79.67,
		"meta-llama/Llama-4-Maverick-17B-128E-Instruct": 400.7,
	} {
		model, ok := Model(id)
		require.True(t, ok, id)
		require.InEpsilon(t, billions, float64(model.Parameters.Total())/1e9, 1e-3, id)
	}
	checked := 0
	for id, e := range catalogued(t, modelFile) {
		if e.Parameters == nil || e.CheckpointBytes == 0 || e.Quantization != "" || e.Parameters.Partial {
			continue
		}
		bits := float64(e.CheckpointBytes) / float64(e.Parameters.Total()+e.Parameters.MTP) * 8
		if bits < 15 {
			continue // published quantized
		}
		checked++
		require.Less(t, math.Abs(bits/16-1), 0.01, "%s: %.2f bits a weight", id, bits)
	}
	require.Greater(t, checked, 8)
}

func TestParametersOfNonsense(t *testing.T) {
	const llama = `"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_act": "silu", "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 8`
	read := func(rest string) ModelEntry { return readConfig(t, "{"+llama+`, `+rest+"}") }
	small := read(`"num_hidden_layers": 2, "hidden_size": 32, "intermediate_size": 64, "vocab_size": 100`)
	require.Equal(t, &Parameters{Attention: 2 * 32 * 8 * (4*2 + 2*2), MLP: 2 * 3 * 32 * 64, Embedding: 3200, Head: 3200}, small.Parameters)
	for _, rest := range []string{
		`"num_hidden_layers": 1048576, "hidden_size": 1048576, "intermediate_size": 1048576, "vocab_size": 1048576`, // 2^60 and more
		`"num_hidden_layers": 2, "hidden_size": 32, "vocab_size": 100`,
		`"num_hidden_layers": 2, "hidden_size": 32, "intermediate_size": [64, 64], "vocab_size": 100`,
		`"num_hidden_layers": 2, "hidden_size": 32, "intermediate_size": 64, "vocab_size": 0`,
		`"num_hidden_layers": 2, "hidden_size": 32, "intermediate_size": 64, "vocab_size": 100, "hidden_act": "mystery"`,
	} {
		require.Nil(t, read(rest).Parameters, rest)
	}
}

// TestStoredWeights: bits and group sizes as each tool writes them.
func TestStoredWeights(t *testing.T) {
	for text, want := range map[string]*Weights{
		`{"quant_method": "awq", "bits": 4, "group_size": 128}`:                                                           {Bits: 4, GroupSize: 128, ScaleBits: 16, Complete: true},
		`{"quant_method": "gptq", "bits": 8, "group_size": -1}`:                                                           {Bits: 8, Complete: true},
		`{"quant_method": "awq", "bits": 4, "group_size": 128, "modules_to_not_convert": ["model.layers.0.linear_attn"]}`: {Bits: 4, GroupSize: 128, ScaleBits: 16},
		`{"quant_method": "gptq"}`:                                                                                                    nil,
		`{"quant_method": "fp8", "weight_block_size": [128, 128]}`:                                                                    {Bits: 8, Complete: true},
		`{"quant_method": "mxfp4", "modules_to_not_convert": ["model.layers.*.self_attn"]}`:                                           {Bits: 4, GroupSize: 32, ScaleBits: 8, ExpertsOnly: true},
		`{"quant_method": "compressed-tensors", "config_groups": {"group_0": {"weights": {"num_bits": 8, "group_size": null}}}}`:      {Bits: 8, Complete: true},
		`{"quant_method": "compressed-tensors", "config_groups": {"group_0": {"weights": {"num_bits": 4, "group_size": 32}}}}`:        {Bits: 4, GroupSize: 32, ScaleBits: 16, Complete: true},
		`{"quant_method": "auto-round", "bits": {"a": 4}}`:                                                                            nil,
		`{"quant_method": "compressed-tensors", "config_groups": {"group_0": {"weights": {"num_bits": 400, "group_size": -100000}}}}`: nil,
	} {
		require.Equal(t, want, readConfig(t, `{"quantization_config": `+text+`}`).Weights, text)
	}
	_, ok := StoredBy("gptq")
	require.False(t, ok)
	stored, ok := StoredBy("AWQ_marlin")
	require.True(t, ok)
	require.Equal(t, Weights{Bits: 4, GroupSize: 128, ScaleBits: 16}, stored)
}
