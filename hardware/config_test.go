package hardware

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// readConfig reads a config.json with a Llama's architecture unless it names
// one.
func readConfig(t *testing.T, text string) ModelEntry {
	t.Helper()
	if !strings.Contains(text, "architectures") {
		text = `{"architectures": ["LlamaForCausalLM"], "model_type": "llama", ` + strings.TrimPrefix(text, "{")
	}
	e, err := FromConfigJSON([]byte(text))
	require.NoError(t, err, text)
	return e
}

func TestPlainConfig(t *testing.T) {
	e := readConfig(t, `{"torch_dtype": "bfloat16", "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32,
		"num_key_value_heads": 8, "vocab_size": 128256, "max_position_embeddings": 131072, "tie_word_embeddings": false,
		"rope_scaling": {"rope_type": "llama3", "factor": 8.0, "original_max_position_embeddings": 8192}}`)
	require.Equal(t, ModelEntry{
		Architectures: []string{"LlamaForCausalLM"}, ModelType: "llama", Layers: 32, LayersFullAttention: 32, AttentionHeads: 32,
		KVHeads: 8, HeadDim: 128, HiddenSize: 4096, MaxPosition: 131072, Vocab: 128256, DType: "bfloat16", AutoMap: new(bool),
		TieWordEmbeddings: new(bool), ContextVLLM: 131072, ContextSGLang: 131072,
		Verified: VerifiedByConfig, Source: "the checkpoint's config.json",
	}, e)
	require.True(t, e.GroupedQuery())
}

// TestContextOfConfig: the engines scale differently, and one of them may be
// known where the other is not.
func TestContextOfConfig(t *testing.T) {
	for text, want := range map[string][2]int64{
		`{"max_position_embeddings": 4096}`: {4096, 4096},
		`{"hidden_size": 1}`:                {0, 0},
		`{"max_position_embeddings": 32768, "rope_scaling": {"type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32768}}`:                                 {131072, 32768},
		`{"max_position_embeddings": 163840, "rope_scaling": {"type": "yarn", "factor": 40, "original_max_position_embeddings": 4096}}`:                                  {163840, 163840},
		`{"max_position_embeddings": 32768, "rope_scaling": {"type": "yarn", "factor": 4.0}}`:                                                                            {0, 131072},
		`{"max_position_embeddings": 4096, "rope_scaling": {"type": "linear", "factor": 2}}`:                                                                             {8192, 8192},
		`{"max_position_embeddings": 4096, "rope_scaling": {"type": "dynamic", "factor": -2}}`:                                                                           {0, 0},
		`{"max_position_embeddings": 131072, "rope_scaling": {"type": "longrope", "short_factor": [1]}}`:                                                                 {0, 131072},
		`{"max_position_embeddings": 131072, "rope_scaling": {"type": "mrope", "mrope_section": [16]}}`:                                                                  {131072, 131072},
		`{"max_position_embeddings": 262144, "rope_parameters": {"full_attention": {"rope_type": "default"}, "sliding_attention": {"rope_theta": 1}}}`:                   {262144, 262144},
		`{"max_position_embeddings": 131072, "rope_parameters": {"full_attention": {"rope_type": "linear", "factor": 8}}}`:                                               {0, 0},
		`{"max_position_embeddings": 8192, "model_max_length": 131072}`:                                                                                                  {131072, 131072},
		`{"max_position_embeddings": 8192, "seq_length": 2048}`:                                                                                                          {2048, 2048},
		`{"max_position_embeddings": 8192, "max_target_positions": 448}`:                                                                                                 {448, 8192},
		`{"architectures": ["Gemma3ForCausalLM"], "model_type": "gemma3_text", "max_position_embeddings": 131072, "rope_scaling": {"rope_type": "linear", "factor": 8}}`: {131072, 0},
	} {
		e := readConfig(t, text)
		require.Equal(t, want, [2]int64{e.ContextVLLM, e.ContextSGLang}, text)
	}
}

func TestQuantizationOfConfig(t *testing.T) {
	for text, want := range map[string]string{
		`{"hidden_size": 1}`: "",
		`{"quantization_config": {"quant_method": "AWQ", "bits": 4}}`:                                          "awq",
		`{"quantization_config": {"quant_method": "gptq"}}`:                                                    "gptq",
		`{"quantization_config": {"quant_method": "fp8"}}`:                                                     "fp8",
		`{"quantization_config": {"quant_method": "compressed_tensors"}}`:                                      "compressed-tensors",
		`{"compression_config": {"quant_method": "compressed-tensors"}}`:                                       "compressed-tensors",
		`{"text_config": {"quantization_config": {"quant_method": "compressed-tensors"}}}`:                     "compressed-tensors",
		`{"quantization_config": {"quant_method": "modelopt", "quant_algo": "NVFP4"}}`:                         "modelopt_fp4",
		`{"quantization_config": {"quant_method": "modelopt", "quant_algo": "FP8"}}`:                           "modelopt",
		`{"quantization_config": {"quant_method": "modelopt", "quant_algo": "MIXED_PRECISION"}}`:               "",
		`{"quantization_config": {"producer": {"name": "modelopt"}, "quantization": {"quant_algo": "NVFP4"}}}`: "modelopt_fp4",
		`{"quantization_config": null}`:                                                                        "",
		`{"quantization_config": "awq"}`:                                                                       "",
	} {
		require.Equal(t, want, readConfig(t, text).Quantization, text)
	}
}

func TestDTypeOfConfig(t *testing.T) {
	for text, want := range map[string]string{
		`{"dtype": "bfloat16"}`:                                       "bfloat16",
		`{"torch_dtype": "torch.float16"}`:                            "float16",
		`{"text_config": {"dtype": "bfloat16"}}`:                      "bfloat16",
		`{"dtype": "float32", "text_config": {"dtype": "bfloat16"}}`:  "",
		`{"dtype": "bfloat16", "text_config": {"dtype": "bfloat16"}}`: "bfloat16",
		`{"vision_config": {"dtype": "float16"}}`:                     "",
	} {
		require.Equal(t, want, readConfig(t, text).DType, text)
	}
}

func TestRemoteCodeOfConfig(t *testing.T) {
	require.True(t, *readConfig(t, `{"auto_map": {"AutoConfig": "c.C"}}`).AutoMap)
	require.False(t, *readConfig(t, `{"auto_map": {}}`).AutoMap)
	require.Nil(t, readConfig(t, `{"architectures": ["OursForCausalLM"]}`).AutoMap, "no engine has this class")
}

// TestLayersOfConfig: full, sliding, linear, experts only, MLP only.
func TestLayersOfConfig(t *testing.T) {
	for text, want := range map[string][5]int64{
		`{"num_hidden_layers": 4}`: {4},
		`{"architectures": ["Qwen3ForCausalLM"], "model_type": "qwen3", "num_hidden_layers": 4}`:                                                                                   {4},
		`{"architectures": ["Qwen3ForCausalLM"], "model_type": "qwen3", "num_hidden_layers": 4, "sliding_window": 9, "use_sliding_window": false}`:                                 {4},
		`{"architectures": ["Qwen2ForCausalLM"], "model_type": "qwen2", "num_hidden_layers": 4, "sliding_window": 9, "use_sliding_window": true, "max_window_layers": 2}`:          {},
		`{"architectures": ["MistralForCausalLM"], "model_type": "mistral", "num_hidden_layers": 4, "sliding_window": 4096}`:                                                       {0, 4},
		`{"architectures": ["MistralForCausalLM"], "model_type": "mistral", "num_hidden_layers": 4, "sliding_window": null}`:                                                       {4},
		`{"architectures": ["MistralForCausalLM"], "model_type": "mistral", "num_hidden_layers": 4}`:                                                                               {},
		`{"architectures": ["Gemma2ForCausalLM"], "model_type": "gemma2", "num_hidden_layers": 4, "sliding_window": 4096}`:                                                         {},
		`{"architectures": ["GptOssForCausalLM"], "num_hidden_layers": 2, "sliding_window": 128, "layer_types": ["sliding_attention", "full_attention"]}`:                          {1, 1},
		`{"architectures": ["GptOssForCausalLM"], "num_hidden_layers": 3, "sliding_window": 128, "layer_types": ["sliding_attention", "full_attention"]}`:                          {},
		`{"num_hidden_layers": 2, "layer_types": ["full_attention", "unheard_of"]}`:                                                                                                {},
		`{"architectures": ["Qwen3NextForCausalLM"], "model_type": "qwen3_next", "num_hidden_layers": 8, "full_attention_interval": 4}`:                                            {2, 0, 6},
		`{"architectures": ["NemotronHForCausalLM"], "num_hidden_layers": 5, "hybrid_override_pattern": "ME*M-"}`:                                                                  {1, 0, 2, 1, 1},
		`{"architectures": ["NemotronHForCausalLM"], "layers_block_type": ["mamba", "moe", "attention"]}`:                                                                          {1, 0, 1, 1},
		`{"architectures": ["JambaForCausalLM"], "model_type": "jamba", "sliding_window": null, "num_hidden_layers": 32, "attn_layer_period": 8, "attn_layer_offset": 4}`:          {4, 0, 28},
		`{"architectures": ["FalconH1ForCausalLM"], "model_type": "falcon_h1", "num_hidden_layers": 24}`:                                                                           {24, 0, 24},
		`{"architectures": ["MambaForCausalLM"], "model_type": "mamba", "num_hidden_layers": 6}`:                                                                                   {0, 0, 6},
		`{"architectures": ["KimiLinearForCausalLM"], "model_type": "kimi_linear", "num_hidden_layers": 3, "linear_attn_config": {"kda_layers": [1, 2], "full_attn_layers": [3]}}`: {1, 0, 2},
		`{"architectures": ["OursForCausalLM"], "model_type": "llama", "num_hidden_layers": 4}`:                                                                                    {},
	} {
		e := readConfig(t, text)
		require.Equal(t, want, [5]int64{e.LayersFullAttention, e.LayersSliding, e.LayersLinear, e.LayersMoEOnly, e.LayersMLPOnly}, text)
	}
}

func TestStateOfConfig(t *testing.T) {
	for text, want := range map[string]*State{
		`{"linear_num_value_heads": 48, "linear_num_key_heads": 16, "linear_key_head_dim": 128, "linear_value_head_dim": 128, "linear_conv_kernel_dim": 4, "mamba_ssm_dtype": "float32"}`: {
			Kind: "gdn", VHeads: 48, KHeads: 16, KHeadDim: 128, VHeadDim: 128, ConvKernel: 4, SSMElems: 786432, ConvElems: 30720, ConfigSSMDType: "float32"},
		`{"mamba_num_heads": 64, "mamba_head_dim": 64, "ssm_state_size": 128, "n_groups": 8, "conv_kernel": 4, "mamba_ssm_cache_dtype": "float32"}`: {
			Kind: "mamba2", Heads: 64, HeadDim: 64, StateSize: 128, NGroups: 8, ConvKernel: 4, SSMElems: 524288, ConvElems: 18432, ConfigSSMDType: "float32"},
		`{"hidden_size": 4096, "mamba_expand": 2, "mamba_d_state": 16, "mamba_d_conv": 4}`: {
			Kind: "mamba1", Intermediate: 8192, StateSize: 16, ConvKernel: 4, SSMElems: 131072, ConvElems: 24576},
		`{"linear_attn_config": {"num_heads": 96, "head_dim": 128, "short_conv_kernel_size": 4}}`: {
			Kind: "kda", Heads: 96, HeadDim: 128, ConvKernel: 4, SSMElems: 1572864},
		`{"linear_num_value_heads": 48}`: nil,
		`{"num_hidden_layers": 48}`:      nil,
	} {
		require.Equal(t, want, readConfig(t, text).State, text)
	}
}

// TestLayoutOfConfig: the plain product of layers, heads and dimensions holds
// only where nothing asks for another layout.
func TestLayoutOfConfig(t *testing.T) {
	const plain = `"num_hidden_layers": 4, "num_key_value_heads": 2, "head_dim": 64`
	require.True(t, readConfig(t, "{"+plain+"}").GroupedQuery())
	require.True(t, readConfig(t, "{"+plain+`, "attention_k_eq_v": false, "num_kv_shared_layers": 0}`).GroupedQuery())
	for _, other := range []string{
		`"attention_k_eq_v": true`, `"num_kv_shared_layers": 2`, `"compress_ratios": [4]`, `"block_configs": [{}]`, `"use_cla": true`,
		`"kv_lora_rank": 512`, `"v_head_dim": 32`, `"index_topk": 2048`, `"attention_chunk_size": 8192`, `"cross_attention_layers": [1]`,
	} {
		require.False(t, readConfig(t, "{"+plain+", "+other+"}").GroupedQuery(), other)
	}
	latent := readConfig(t, `{"architectures": ["DeepseekV3ForCausalLM"], "model_type": "deepseek_v3", "num_hidden_layers": 61, "num_attention_heads": 128,
		"kv_lora_rank": 512, "qk_rope_head_dim": 64, "qk_nope_head_dim": 128, "v_head_dim": 128, "n_routed_experts": 256, "num_experts_per_tok": 8, "first_k_dense_replace": 3}`)
	require.Equal(t, &MLA{KVLoRARank: 512, QKRoPEHeadDim: 64, QKNoPEHeadDim: 128, VHeadDim: 128}, latent.MLA)
	require.Equal(t, &MoE{Experts: 256, ExpertsPerToken: 8, FirstDenseLayers: 3}, latent.MoE)
	require.Empty(t, latent.KVLayout)
	require.Equal(t, int64(61), latent.LayersFullAttention)
}

func TestTraitsOfConfig(t *testing.T) {
	yes, no, open := [2]bool{true, true}, [2]bool{false, true}, [2]bool{false, false}
	pair := func(value, known bool) [2]bool { return [2]bool{value && known, known} }
	for text, want := range map[string]struct{ moe, multimodal, pooling, encoder [2]bool }{
		`{"hidden_size": 1}`:                                                                             {no, no, open, no},
		`{"architectures": ["MixtralForCausalLM"]}`:                                                      {open, no, open, no},
		`{"architectures": ["MixtralForCausalLM"], "num_local_experts": 8}`:                              {yes, no, open, no},
		`{"architectures": ["GraniteMoeHybridForCausalLM"], "num_local_experts": 0}`:                     {no, no, open, no},
		`{"architectures": ["Ernie4_5_MoeForCausalLM"], "moe_num_experts": [64, 64]}`:                    {yes, no, open, no},
		`{"architectures": ["Qwen3_5ForConditionalGeneration"], "text_config": {}}`:                      {no, yes, open, no},
		`{"architectures": ["Qwen3VLMoeForConditionalGeneration"], "text_config": {"num_experts": 128}}`: {yes, yes, open, no},
		`{"architectures": ["BertModel"]}`:                                                               {no, no, yes, no},
		`{"architectures": ["Qwen3ForSequenceClassification"]}`:                                          {open, open, open, open},
		`{"architectures": ["Qwen2ForRewardModel"]}`:                                                     {no, no, yes, no},
		`{"architectures": ["WhisperForConditionalGeneration"]}`:                                         {open, yes, open, yes},
		`{"architectures": ["OursForCausalLM"]}`:                                                         {open, open, open, open},
		`{"architectures": ["OursForCausalLM"], "is_encoder_decoder": true}`:                             {open, open, open, yes},
		`{"architectures": []}`:                                                                          {open, open, open, open},
	} {
		e := readConfig(t, text)
		require.Equal(t, want.moe, pair(e.MixtureOfExperts()), "%s: experts", text)
		require.Equal(t, want.multimodal, pair(e.Multimodal()), "%s: multimodal", text)
		require.Equal(t, want.pooling, pair(e.Pooling()), "%s: pooling", text)
		require.Equal(t, want.encoder, pair(e.IsEncoderDecoder()), "%s: encoder", text)
	}
}

// TestNestedConfig: the language model of a multimodal checkpoint is told, not
// its vision tower.
func TestNestedConfig(t *testing.T) {
	for _, text := range []string{
		`{"architectures": ["X"], "text_config": {"num_hidden_layers": 4, "max_position_embeddings": 9}, "vision_config": {"num_hidden_layers": 27}}`,
		`{"architectures": ["X"], "language_config": {"num_hidden_layers": 4, "max_position_embeddings": 9}}`,
		`{"architectures": ["X"], "llm_config": {"num_hidden_layers": 4, "max_position_embeddings": 9}, "num_hidden_layers": 5}`,
		`{"architectures": ["X"], "thinker_config": {"text_config": {"num_hidden_layers": 4, "max_position_embeddings": 9}}}`,
	} {
		e := readConfig(t, text)
		require.Equal(t, int64(4), e.Layers, text)
		require.Equal(t, int64(9), e.ContextVLLM, text)
	}
}

// TestPythonsNumbers: Python writes words into JSON that are none of it.
func TestPythonsNumbers(t *testing.T) {
	e := readConfig(t, `{"a": [0.0, Infinity, -Infinity], "b": NaN, "model_type": "Infinity \" NaN", "architectures": ["NaN"], "c": "\\"}`)
	require.Equal(t, `Infinity " NaN`, e.ModelType)
	require.Equal(t, []string{"NaN"}, e.Architectures)
}

func TestBadConfigs(t *testing.T) {
	for text, want := range map[string]string{
		``:                            "no valid JSON",
		`[]`:                          "not a array",
		`null`:                        "not null",
		`{"a": 1`:                     "no valid JSON",
		`{} {}`:                       "behind the JSON object",
		`{"NaN`:                       "no valid JSON",
		`{"num_hidden_layers": "32"}`: "`num_hidden_layers` must be a whole number from 0 to 1048576, got \"32\"",
		`{"num_hidden_layers": -1}`:   "`num_hidden_layers` must be",
		`{"vocab_size": 1.5}`:         "`vocab_size` must be",
		`{"head_dim": 1e30}`:          "`head_dim` must be",
		`{"num_hidden_layers": {"a": [` + strings.Repeat("1,", 500) + `1]}}`: "`num_hidden_layers` must be",
	} {
		_, err := FromConfigJSON([]byte(text))
		require.ErrorContains(t, err, want, text)
		require.NotContains(t, err.Error(), "\n")
		require.Less(t, len(err.Error()), 250)
	}
}

// TestResolvedModels reads the files that the engines themselves resolved.
func TestResolvedModels(t *testing.T) {
	folder := filepath.Join("..", "..", "shared", "catalog", "resolved", "models")
	files, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("../shared/catalog/resolved/models is not beside this checkout")
	}
	require.NoError(t, err)
	quantized := map[string]string{"awq": "awq", "fp8": "fp8", "gptq": "gptq", "ct": "compressed-tensors"}
	for _, file := range files {
		data, err := os.ReadFile(filepath.Join(folder, file.Name()))
		require.NoError(t, err)
		require.True(t, json.Valid(data))
		e, err := FromConfigJSON(data)
		require.NoError(t, err, file.Name())
		stem := strings.TrimSuffix(file.Name(), ".json")
		last := stem[strings.LastIndex(stem, "-")+1:]
		hybrid, known := e.Hybrid()
		require.True(t, known, stem)
		require.Equal(t, strings.Contains(stem, "hybrid") || strings.Contains(stem, "next"), hybrid, stem)
		experts, known := e.MixtureOfExperts()
		require.True(t, known || strings.HasPrefix(stem, "vl"), stem)
		require.Equal(t, strings.Contains(stem, "moe") || stem == "hybrid" || strings.Contains(stem, "next"), experts, stem)
		require.Equal(t, quantized[last], e.Quantization, stem)
		require.True(t, e.GroupedQuery(), stem)
		require.False(t, *e.AutoMap, stem)
		require.Equal(t, e.MaxPosition, e.ContextVLLM, stem)
		require.Equal(t, e.MaxPosition, e.ContextSGLang, stem)
		windowed, known := e.Windowed()
		require.True(t, known, stem)
		require.False(t, windowed, stem)
	}
}

func TestArchitectures(t *testing.T) {
	class, ok := FindArchitecture("Qwen3NextForCausalLM")
	require.True(t, ok)
	require.Equal(t, Architecture{Hybrid: true, Experts: true}, class)
	for _, name := range []string{"", "text", "Qwen3Next", "# vLLM", "LlamaForCausalLM text", "\nLlamaForCausalLM"} {
		_, ok := FindArchitecture(name)
		require.False(t, ok, name)
	}
}

func FuzzFromConfigJSON(f *testing.F) {
	for _, text := range []string{`{"a": NaN, "b": "\""}`, `{"text_config": {"num_hidden_layers": 1e2, "layer_types": ["mamba"]}}`, `{"rope_scaling": {"factor": 1e400}, "max_position_embeddings": 1}`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		e, err := FromConfigJSON(data)
		if err != nil {
			require.NotContains(t, err.Error(), "\n")
			return
		}
		for _, count := range []int64{e.Layers, e.LayersFullAttention, e.LayersLinear, e.ContextVLLM, e.ContextSGLang, e.HeadDim} {
			require.GreaterOrEqual(t, count, int64(0))
		}
		if e.State != nil {
			require.Positive(t, e.State.SSMElems)
			require.GreaterOrEqual(t, e.State.ConvElems, int64(0))
		}
	})
}
