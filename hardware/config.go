package hardware

import (
	"cmp"
	"slices"
	"strings"
)

// VerifiedByConfig is ModelEntry.Verified of an entry read from a config.json.
const VerifiedByConfig = "config.json"

// FromConfigJSON reads a checkpoint's config.json in the form of transformers.
// The language model of a nested config (text_config and its like) tells the
// shape. What the file does not say stays unknown: a class of transformers may
// have a default of its own for it. Where keys ask for a memory layout that is
// not read here, KVLayout is unknown. No JSON object, and a figure that is no
// count, are errors of one line.
func FromConfigJSON(data []byte) (ModelEntry, error) {
	root, err := parseObject(data)
	if err != nil {
		return ModelEntry{}, err
	}
	c := &checkpoint{root: root, text: languageModel(root)}
	c.entry = ModelEntry{
		Architectures: root.texts("architectures"),
		ModelType:     root.text("model_type"),
		DType:         c.dtype(),
		Quantization:  c.quantization(),
		Verified:      VerifiedByConfig,
		Source:        "the checkpoint's config.json",
	}
	c.readRemoteCode()
	c.readShape()
	c.readExperts()
	c.readLatent()
	c.readState()
	c.readLayers()
	c.readLayout()
	c.readContext()
	c.readEncoderDecoder()
	c.readParameters()
	c.readWeights()
	return c.entry, c.err
}

// checkpoint is a config.json on its way to an entry.
type checkpoint struct {
	counter
	root, text object
	entry      ModelEntry
}

// languageModel is the part that describes the language model.
//
// Source: transformers PretrainedConfig.get_text_config, and the keys that
// vLLM's own config classes use (language_config, llm_config).
func languageModel(root object) object {
	if thinker := root.child("thinker_config"); thinker != nil {
		return languageModel(thinker)
	}
	for _, key := range [...]string{"text_config", "language_config", "llm_config"} {
		if text := root.child(key); text != nil {
			return text
		}
	}
	return root
}

// modelType is that of the language model.
func (c *checkpoint) modelType() string { return c.text.text("model_type") }

// architecture is what the registry knows of the first class named.
func (c *checkpoint) architecture() (Architecture, bool) { return c.entry.architecture() }

// dtype is the declared type of the weights. A root and a language model that
// declare different ones leave it open: the engines do not agree which counts.
//
// Source: vLLM vllm/transformers_utils/model_arch_config_convertor.py,
// get_torch_dtype; SGLang python/sglang/srt/configs/model_config.py,
// _get_and_verify_dtype.
func (c *checkpoint) dtype() string {
	declared := func(o object) string {
		key, _ := o.first("dtype", "torch_dtype")
		return strings.TrimPrefix(o.text(key), "torch.")
	}
	outer, inner := declared(c.root), declared(c.text)
	if outer != "" && inner != "" && outer != inner {
		return ""
	}
	return cmp.Or(outer, inner)
}

// quantization is the method the checkpoint declares. ModelOpt's mixed
// checkpoints are left open: each engine calls them otherwise.
//
// Source: vLLM vllm/transformers_utils/model_arch_config_convertor.py,
// _normalize_quantization_config.
func (c *checkpoint) quantization() string {
	for _, o := range [...]object{c.root, c.text} {
		key, ok := o.first("quantization_config", "compression_config")
		if !ok {
			continue
		}
		declared := o.child(key)
		method := strings.ReplaceAll(strings.ToLower(declared.text("quant_method")), "compressed_tensors", "compressed-tensors")
		algorithm := declared.text("quant_algo")
		if declared.child("producer").text("name") == "modelopt" {
			method, algorithm = "modelopt", cmp.Or(declared.child("quantization").text("quant_algo"), algorithm)
		}
		switch {
		case algorithm == "":
			return method
		case strings.EqualFold(algorithm, "NVFP4"):
			return "modelopt_fp4"
		case strings.EqualFold(algorithm, "FP8"):
			return "modelopt"
		}
		return ""
	}
	return ""
}

// readRemoteCode: auto_map names the checkpoint's own Python classes. Without
// it a class that the engines have themselves needs none.
func (c *checkpoint) readRemoteCode() {
	shipped := len(c.root.child("auto_map")) > 0
	if _, native := c.architecture(); shipped || native {
		c.entry.AutoMap = &shipped
	}
}

// headDimDerived are model types whose head dimension is hidden size / heads
// where the file has none; others have defaults of their own.
var headDimDerived = []string{"llama", "mistral", "mixtral", "qwen2", "qwen2_moe", "qwen2_vl", "qwen2_5_vl", "phi3", "granite", "granitemoe", "granitemoehybrid", "starcoder2", "olmo2", "opt", "gpt2", "mllama_text_model"}

func (c *checkpoint) readShape() {
	e, t := &c.entry, c.text
	e.Layers = c.dimension(t, "num_hidden_layers", "n_layers", "n_layer", "num_layers")
	e.AttentionHeads = c.dimension(t, "num_attention_heads", "n_heads", "n_head")
	e.KVHeads = c.dimension(t, "n_head_kv", "num_kv_heads", "num_key_value_heads", "num_attention_groups")
	e.HiddenSize = c.dimension(t, "hidden_size", "n_embd", "d_model")
	e.HeadDim = c.dimension(t, "head_dim", "attention_head_dim")
	if e.HeadDim == 0 && e.AttentionHeads > 0 && slices.Contains(headDimDerived, c.modelType()) {
		e.HeadDim = e.HiddenSize / e.AttentionHeads
	}
	e.GlobalHeadDim = c.dimension(t, "global_head_dim")
	e.GlobalKVHeads = c.dimension(t, "num_global_key_value_heads")
	e.AttentionChunkSize = c.count(t, "attention_chunk_size")
	e.MaxPosition = c.count(t, "max_position_embeddings")
	e.Vocab = c.count(t, "vocab_size")
	e.MTPLayers = c.dimension(t, "num_nextn_predict_layers", "mtp_num_hidden_layers")
	if tied, told := c.root.truth("tie_word_embeddings"); told {
		e.TieWordEmbeddings = &tied
	}
}

// readExperts follows vLLM's vllm/transformers_utils/model_arch_config_convertor.py,
// get_num_experts; per-layer lists hold the same figure for each.
func (c *checkpoint) readExperts() {
	keys := []string{"num_experts", "moe_num_experts", "n_routed_experts", "num_local_experts"}
	key, told := c.text.first(keys...)
	if !told {
		return
	}
	experts := c.text
	if list, isList := c.text[key].([]any); isList && len(list) > 0 {
		experts = object{key: list[0]}
	}
	count := c.dimension(experts, key)
	if count == 0 {
		c.entry.Dense = true
		return
	}
	c.entry.MoE = &MoE{
		Experts:          count,
		ExpertsPerToken:  c.dimension(c.text, "num_experts_per_tok", "num_experts_per_token", "top_k_experts"),
		FirstDenseLayers: c.dimension(c.text, "first_k_dense_replace"),
	}
}

// latentTypes are the model types whose attention keeps a latent vector when
// they have a kv_lora_rank.
//
// Source: vLLM vllm/transformers_utils/model_arch_config_convertor.py,
// is_deepseek_mla.
var latentTypes = []string{
	"axk1", "bailing_hybrid", "deepseek_v2", "deepseek_v3", "deepseek_v32", "glm4_moe_lite", "glm_moe_dsa",
	"kimi_k2", "kimi_linear", "longcat_flash", "pangu_ultra_moe",
}

func (c *checkpoint) readLatent() {
	t := c.text
	if !t.has("kv_lora_rank") || !slices.Contains(latentTypes, c.modelType()) {
		return
	}
	c.entry.MLA = &MLA{
		KVLoRARank:    c.dimension(t, "kv_lora_rank"),
		QKRoPEHeadDim: c.dimension(t, "qk_rope_head_dim"),
		QKNoPEHeadDim: c.dimension(t, "qk_nope_head_dim"),
		VHeadDim:      c.dimension(t, "v_head_dim"),
	}
	c.entry.HeadDim = 0 // latent attention has no one head dimension
	if t.has("index_topk") {
		c.entry.DSAIndexer = &DSAIndexer{HeadDim: c.dimension(t, "index_head_dim"), TopK: c.count(t, "index_topk")}
	}
}

// otherLayouts are keys whose models keep keys and values in a way that is no
// plain product of layers, heads and dimensions.
var otherLayouts = []string{
	"block_configs", "compress_ratios", "cross_attention_layers", "num_kv_shared_layers", "attention_k_eq_v", "use_cla",
	"sparse_attention_config", "swa_head_dim", "swa_num_key_value_heads", "layer_group_size", "multi_query_group_num",
}

// readLayout closes the plain product where it is not proven to hold.
func (c *checkpoint) readLayout() {
	_, known := c.architecture()
	other := slices.ContainsFunc(otherLayouts, func(key string) bool {
		value, isBool := c.text.truth(key)
		return c.text.has(key) && (!isBool || value) && printed(c.text[key]) != "0"
	})
	plainHead := c.entry.MLA == nil && (c.text.has("kv_lora_rank") || c.text.has("v_head_dim") || c.text.has("index_topk"))
	if !known || other || plainHead {
		c.entry.KVLayout = "unknown"
	}
}

// readEncoderDecoder takes what the root or the language model says; one that
// says yes is enough.
//
// Source: vLLM vllm/transformers_utils/config.py, is_encoder_decoder.
func (c *checkpoint) readEncoderDecoder() {
	for _, o := range [...]object{c.root, c.text} {
		if value, told := o.truth("is_encoder_decoder"); told && (value || c.entry.EncoderDecoder == nil) {
			c.entry.EncoderDecoder = &value
		}
	}
}
