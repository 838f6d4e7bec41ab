package hardware

import (
	"slices"
	"strings"
)

// layerKind is what a layer keeps: keys and values of all tokens or of a
// window, a state, or nothing.
type layerKind int

const (
	fullAttention layerKind = iota + 1
	slidingAttention
	linearAttention
	expertsOnly
	mlpOnly
)

// layerWords are the elements of layer_types and layers_block_type.
var layerWords = map[string]layerKind{
	"full_attention": fullAttention, "attention": fullAttention,
	"deepseek_sparse_attention": fullAttention, "sliding_attention": slidingAttention,
	"linear_attention": linearAttention, "mamba": linearAttention, "moe": expertsOnly, "mlp": mlpOnly,
}

// patternLetters are those of NemotronH's hybrid_override_pattern.
//
// Source: transformers NemotronHConfig; vLLM
// vllm/model_executor/models/nemotron_h.py, ALL_DECODER_LAYER_TYPES.
var patternLetters = map[string]layerKind{"*": fullAttention, "M": linearAttention, "E": expertsOnly, "-": mlpOnly}

// readLayers counts the layers of each kind, where the file tells all of them.
func (c *checkpoint) readLayers() {
	e := &c.entry
	kinds, told := c.layerKinds()
	if !told && c.listsLayers() {
		return
	}
	if told {
		c.countLayers(kinds)
		if e.LayersSliding > 0 {
			e.SlidingWindow = c.count(c.text, "sliding_window")
		}
		return
	}
	window, windowTold := c.window()
	e.SlidingWindow = window
	if windowTold {
		c.readByRule(window)
	}
}

// countLayers writes how many layers are of which kind.
func (c *checkpoint) countLayers(kinds []layerKind) {
	e := &c.entry
	places := map[layerKind]*int64{
		fullAttention: &e.LayersFullAttention, slidingAttention: &e.LayersSliding, linearAttention: &e.LayersLinear,
		expertsOnly: &e.LayersMoEOnly, mlpOnly: &e.LayersMLPOnly,
	}
	for _, kind := range kinds {
		*places[kind]++
	}
}

// layerLists are the keys that list every layer's kind.
var layerLists = []string{"layer_types", "layers_block_type", "hybrid_override_pattern", "linear_attn_config", "attn_type_list", "attn_layer_indices", "block_configs", "hybrid_layer_pattern"}

func (c *checkpoint) listsLayers() bool {
	_, listed := c.text.first(layerLists...)
	return listed
}

// layerKinds reads a list of every layer's kind. It is not told where a word
// is not known or their number is not that of the layers.
func (c *checkpoint) layerKinds() (kinds []layerKind, told bool) {
	words, meaning := c.text.texts("layer_types"), layerWords
	if len(words) == 0 {
		words = c.text.texts("layers_block_type")
	}
	if pattern := c.text.text("hybrid_override_pattern"); pattern != "" {
		words, meaning = strings.Split(pattern, ""), patternLetters
	}
	if linear := c.text.child("linear_attn_config"); linear != nil {
		words = c.deltaLayers(linear)
	}
	if types, _ := c.text["attn_type_list"].([]any); len(types) > 0 {
		words, meaning = minimaxLayers(types), layerWords
	}
	if c.entry.Layers == 0 {
		c.entry.Layers = int64(len(words)) // NemotronH has a list and no count
	}
	if len(words) == 0 || int64(len(words)) != c.entry.Layers {
		return nil, false
	}
	for _, word := range words {
		kind, ok := meaning[word]
		if !ok {
			return nil, false
		}
		kinds = append(kinds, kind)
	}
	return kinds, true
}

// minimaxLayers turns MiniMax's list, 1 for attention and 0 for linear
// attention, into words.
//
// Source: vLLM vllm/model_executor/models/minimax_text_01.py, attn_type_list.
func minimaxLayers(types []any) []string {
	words := make([]string, len(types))
	for i, number := range types {
		words[i] = map[string]string{"0": "linear_attention", "1": "full_attention"}[printed(number)]
	}
	return words
}

// deltaLayers turns the two lists of layer numbers of Kimi's linear attention
// into a word for each layer.
func (c *checkpoint) deltaLayers(linear object) []string {
	full, _ := linear["full_attn_layers"].([]any)
	delta, _ := linear["kda_layers"].([]any)
	words := slices.Repeat([]string{"full_attention"}, len(full))
	return append(words, slices.Repeat([]string{"linear_attention"}, len(delta))...)
}

// windowless are model types whose transformers class knows no window.
var windowless = []string{"deepseek_v2", "deepseek_v3", "deepseek_v32", "glm4_moe", "glm_moe_dsa", "kimi_k2", "llama", "nemotron_h", "qwen3_next", "qwen3_5_text", "qwen3_5_moe_text", "qwen3_vl_text", "qwen3_vl_moe_text", "falcon_h1", "mamba", "mamba2", "falcon_mamba"}

// optInWindow are model types whose window counts only with use_sliding_window,
// which their transformers class leaves off.
var optInWindow = []string{"qwen2", "qwen2_moe", "qwen3", "qwen3_moe"}

// window is the sliding window in use, in tokens. It is not told where the
// file is silent and the class may have a default.
func (c *checkpoint) window() (tokens int64, told bool) {
	use, useTold := c.text.truth("use_sliding_window")
	useTold = useTold || slices.Contains(optInWindow, c.modelType())
	value, there := c.text["sliding_window"]
	switch {
	case useTold && !use, there && value == nil:
		return 0, true
	case use && c.text.has("max_window_layers"):
		return 0, false // the first layers have none; whether any has is for their list to say
	case value != nil:
		return c.count(c.text, "sliding_window"), true
	}
	return 0, slices.Contains(windowless, c.modelType())
}

// readByRule counts layers by the rule of the model's class: an interval, a
// period, all layers alike.
func (c *checkpoint) readByRule(window int64) {
	e, t := &c.entry, c.text
	class, known := c.architecture()
	interval, period := c.dimension(t, "full_attention_interval"), c.dimension(t, "attn_layer_period")
	switch {
	case !known || e.Layers == 0 || e.AttentionChunkSize > 0:
	case class.AttentionFree:
		e.LayersLinear = e.Layers
	case c.modelType() == "falcon_h1": // both kinds in every layer
		e.LayersFullAttention, e.LayersLinear = e.Layers, e.Layers
	case interval > 0 && class.Hybrid:
		e.LayersFullAttention = e.Layers / interval
		e.LayersLinear = e.Layers - e.LayersFullAttention
	case period > 0 && class.Hybrid && t.has("attn_layer_offset"):
		offset := c.dimension(t, "attn_layer_offset")
		e.LayersFullAttention = (e.Layers - offset + period - 1) / period
		e.LayersLinear = e.Layers - e.LayersFullAttention
	case class.Hybrid || class.Pooling:
	case window == 0:
		e.LayersFullAttention = e.Layers
	case slices.Contains([]string{"mistral", "mixtral", "phi3"}, c.modelType()): // all layers have it
		e.LayersSliding = e.Layers
	}
}
