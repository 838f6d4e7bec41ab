package hardware

import "slices"

// Parameters counts the weights of a model by how the engines share them
// between ranks, in elements. Norms and biases, well below a thousandth, are
// left out.
type Parameters struct {
	// Attention are the projections of attention, linear attention and mamba;
	// MLP those of dense layers and of shared experts; Experts the routed ones.
	Attention int64 `yaml:"attention"`
	MLP       int64 `yaml:"mlp"`
	Experts   int64 `yaml:"experts"`
	// Replicated are kept whole by every tensor-parallel rank: routers, and the
	// down-projections of latent attention.
	Replicated int64 `yaml:"replicated"`
	// Embedding and Head are the matrices of the vocabulary; Head is 0 where the
	// embedding serves as the head.
	Embedding int64 `yaml:"embedding"`
	Head      int64 `yaml:"head"`
	// Vision is the tower for images; 0 where there is none.
	Vision int64 `yaml:"vision"`
	// MTP are the layers that predict further tokens, which an engine loads only
	// to speculate.
	MTP int64 `yaml:"mtp"`
	// Partial is true where a part of the model has a form that is not counted,
	// as towers for sound or for images in a form of their own.
	Partial bool `yaml:"partial"`
}

// Total is the number of elements that an engine loads without speculation.
func (p Parameters) Total() int64 {
	return p.Attention + p.MLP + p.Experts + p.Replicated + p.Embedding + p.Head + p.Vision
}

// Weights tells how the linear layers of a quantized checkpoint are stored.
type Weights struct {
	// Bits of one weight, and how many weights share a scale: 0 where one scale
	// serves a whole row or matrix.
	Bits      int64 `yaml:"bits"`
	GroupSize int64 `yaml:"group_size"`
	// ScaleBits is the width of a scale.
	ScaleBits int64 `yaml:"scale_bits"`
	// Complete is true where the config lists what is left as it is, and attention
	// is not in it.
	Complete bool `yaml:"complete"`
	// ExpertsOnly is true where the config leaves attention as it is.
	ExpertsOnly bool `yaml:"experts_only"`
}

// largestModel is more elements than any model has.
const largestModel = 1 << 50

// readParameters counts the weights. They stay unknown where a dimension is
// missing, a form is not known, or a product is beyond any model.
//
// Source: the modules of the classes in transformers and in
// vllm/model_executor/models: QKVParallelLinear, MergedColumnParallelLinear,
// FusedMoE, ReplicatedLinear.
func (c *checkpoint) readParameters() {
	r := &parameterReader{c: c, text: c.text}
	if p := r.read(); r.err == nil {
		c.entry.Parameters = p
	}
}

// parameterReader reads dimensions that only the count of weights needs: one
// that is no count leaves the count unknown and is no fault of the file. It
// multiplies floats, which do not overflow and are exact up to 2^53.
type parameterReader struct {
	counter
	c    *checkpoint
	text object
}

// size is a dimension under one of the keys.
func (r *parameterReader) size(o object, keys ...string) float64 {
	return float64(r.dimension(o, keys...))
}

func (r *parameterReader) read() *Parameters {
	e := &r.c.entry
	mlp, mlpTold := r.mlpLayer()
	shared, replicated, attentionTold := r.attentionLayers()
	linear, linearTold := r.linearLayers()
	tied, tiedTold := r.c.tied()
	told := mlpTold && attentionTold && linearTold && tiedTold && (e.LayersTold() || e.AttentionChunkSize > 0)
	if !told || !positive(e.HiddenSize, e.Vocab) {
		return nil
	}
	moe, experts := r.expertLayers(), float64(e.MoE.count())
	vision, partial := r.visionTower()
	vocabulary := float64(e.Vocab) * float64(e.HiddenSize)
	p := &Parameters{Partial: partial}
	if !tied {
		p.Head = elements(vocabulary)
	}
	var mtp float64
	if layers := float64(e.LayersFullAttention + e.LayersSliding); layers > 0 {
		ownMLP := experts*mlp.expert + mlp.shared
		if e.MoE == nil {
			ownMLP = mlp.dense
		}
		mtp = float64(e.MTPLayers) * (shared/layers + ownMLP + 2*float64(e.HiddenSize)*float64(e.HiddenSize))
	}
	for to, count := range map[*int64]float64{
		&p.Attention: shared + linear, &p.MLP: moe*mlp.shared + r.denseLayers(moe)*mlp.dense, &p.Experts: moe * experts * mlp.expert,
		&p.Replicated: replicated + moe*mlp.replicated, &p.Embedding: vocabulary, &p.Vision: vision, &p.MTP: mtp,
	} {
		if count > largestModel {
			return nil
		}
		*to = elements(count)
	}
	return p
}

func elements(count float64) int64 { return int64(min(count, largestModel)) }

// count is the number of experts; 0 for a dense model.
func (m *MoE) count() int64 {
	if m == nil {
		return 0
	}
	return m.Experts
}

// tiedTypes are model types whose classes tie the head to the embedding.
var tiedTypes = []string{"gemma2", "gemma3", "gemma3_text", "gemma4", "gemma4_text"}

// tied tells whether the embedding serves as the head. Where the file leaves it
// to the class, Gemma ties and the others do not.
func (c *checkpoint) tied() (tied, told bool) {
	for _, o := range [...]object{c.root, c.text} {
		if tied, told = o.truth("tie_word_embeddings"); told {
			return tied, true
		}
	}
	return slices.Contains(tiedTypes, c.modelType()), c.modelType() != ""
}

// siluTypes are model types whose classes take silu, and with it a gate, where
// the file names no activation.
var siluTypes = []string{
	"deepseek_v2", "deepseek_v3", "deepseek_v32", "glm4_moe", "glm4_moe_lite", "glm_moe_dsa", "kimi_k2", "kimi_linear", "llama",
	"mistral", "mixtral", "qwen2", "qwen2_moe", "qwen3", "qwen3_moe", "qwen3_next",
}

// mlpSizes are the elements of one layer's feed-forward part.
type mlpSizes struct{ dense, expert, shared, replicated float64 }

// mlpLayer reads the feed-forward part: two matrices, and a third where it is
// gated, which the activation tells.
func (r *parameterReader) mlpLayer() (sizes mlpSizes, told bool) {
	e, t := &r.c.entry, r.text
	key, _ := t.first("mlp_hidden_act", "hidden_act", "hidden_activation", "activation_function")
	var matrices float64
	act, model := t.text(key), r.c.modelType()
	silu := act == "silu" || act == "swish" || act == "swigluoai" || act == "" && slices.Contains(siluTypes, model)
	switch {
	case act == "relu2":
		matrices = 2
	case silu || slices.Contains(tiedTypes, model):
		matrices = 3
	default:
		return sizes, false
	}
	hidden, inter := float64(e.HiddenSize), r.size(t, "intermediate_size")
	sizes.dense = matrices * hidden * max(inter, r.size(t, "intermediate_size_mlp", "dense_intermediate_size"))
	if e.MoE == nil {
		return sizes, inter > 0
	}
	expert := r.size(t, "moe_intermediate_size", "intermediate_size")
	width := hidden
	if latent := r.size(t, "moe_latent_size"); latent > 0 {
		width = latent
		sizes.replicated = 2 * latent * hidden
	}
	sizes.expert = matrices * width * expert
	sizes.replicated += hidden * float64(e.MoE.Experts)
	shared := r.size(t, "shared_expert_intermediate_size", "moe_shared_expert_intermediate_size", "shared_intermediate_size")
	if shared == 0 {
		shared = r.size(t, "n_shared_experts") * expert
	}
	sizes.shared = matrices * hidden * shared
	switch r.c.modelType() {
	case "llama4_text": // one shared expert beside the routed ones
		sizes.shared = matrices * hidden * inter
	case "gemma4_text": // a dense part beside them
		sizes.shared = sizes.dense
	}
	return sizes, expert > 0
}

// expertLayers are the layers with routed experts.
func (r *parameterReader) expertLayers() float64 {
	e := &r.c.entry
	switch step := r.size(r.text, "interleave_moe_layer_step"); {
	case e.MoE == nil:
		return 0
	case e.LayersMoEOnly > 0:
		return float64(e.LayersMoEOnly)
	case step > 1:
		return float64(e.Layers) / step
	}
	return float64(max(0, e.Layers-e.MoE.FirstDenseLayers))
}

// denseLayers are the layers with a feed-forward part without experts.
func (r *parameterReader) denseLayers(experts float64) float64 {
	e := &r.c.entry
	if r.c.modelType() == "nemotron_h" || e.LayersMLPOnly > 0 {
		return float64(e.LayersMLPOnly)
	}
	return float64(e.Layers) - experts
}

// attentionLayers are the projections of all layers with attention: those that
// ranks share, and those each keeps whole.
func (r *parameterReader) attentionLayers() (shared, replicated float64, told bool) {
	e, t := &r.c.entry, r.text
	full, sliding := float64(e.LayersFullAttention), float64(e.LayersSliding)
	if e.AttentionChunkSize > 0 {
		full, sliding = float64(e.Layers), 0
	}
	if full+sliding == 0 {
		return 0, 0, true
	}
	if e.MLA != nil {
		return r.latentLayers(full)
	}
	gate := 1.0
	if on, _ := t.truth("attn_output_gate"); on || r.c.modelType() == "qwen3_next" {
		gate = 2
	}
	layer := func(kvHeads, dim int64, kept float64) float64 {
		return float64(e.HiddenSize) * float64(dim) * (float64(e.AttentionHeads)*(gate+1) + kept*float64(kvHeads))
	}
	shared = (full + sliding) * layer(e.KVHeads, e.HeadDim, 2)
	if e.GlobalHeadDim > 0 && e.GlobalKVHeads > 0 {
		kept := 2.0
		if same, _ := t.truth("attention_k_eq_v"); same {
			kept = 1
		}
		shared = sliding*layer(e.KVHeads, e.HeadDim, 2) + full*layer(e.GlobalKVHeads, e.GlobalHeadDim, kept)
	}
	return shared, 0, positive(e.HiddenSize, e.AttentionHeads, e.KVHeads, e.HeadDim)
}

// latentLayers are the projections of latent attention, with the indexer of
// sparse attention.
func (r *parameterReader) latentLayers(layers float64) (shared, replicated float64, told bool) {
	e, m := &r.c.entry, r.c.entry.MLA
	hidden, heads := float64(e.HiddenSize), float64(e.AttentionHeads)
	rank, rope, noPE, value := float64(m.KVLoRARank), float64(m.QKRoPEHeadDim), float64(m.QKNoPEHeadDim), float64(m.VHeadDim)
	queries := r.size(r.text, "q_lora_rank")
	width := queries
	if queries == 0 {
		width = hidden
	}
	shared = heads * (width*(noPE+rope) + rank*(noPE+value) + value*hidden)
	replicated = hidden * (queries + rank + rope)
	if e.DSAIndexer != nil {
		indexers, dim := r.size(r.text, "index_n_heads"), float64(e.DSAIndexer.HeadDim)
		replicated += width*indexers*dim + hidden*(dim+indexers)
	}
	return layers * shared, layers * replicated, positive(e.HiddenSize, e.AttentionHeads, m.KVLoRARank, m.QKNoPEHeadDim, m.VHeadDim)
}

// linearLayers are the projections of linear attention and mamba.
func (r *parameterReader) linearLayers() (count float64, told bool) {
	e, s := &r.c.entry, r.c.entry.State
	if e.LayersLinear == 0 {
		return 0, true
	}
	if s == nil {
		return 0, false
	}
	hidden, kernel := float64(e.HiddenSize), float64(s.ConvKernel)
	inner, groups := float64(s.Heads)*float64(s.HeadDim), float64(s.NGroups)*float64(s.StateSize)
	switch s.Kind {
	case "gdn":
		keys, values := float64(s.KHeads)*float64(s.KHeadDim), float64(s.VHeads)*float64(s.VHeadDim)
		count = hidden*(2*keys+3*values+2*float64(s.VHeads)) + (2*keys+values)*kernel
	case "kda":
		count = hidden*(4*inner+2*float64(s.HeadDim)+float64(s.Heads)) + 2*float64(s.HeadDim)*inner + 3*inner*kernel
	case "mamba2":
		count = hidden*(3*inner+2*groups+float64(s.Heads)) + (inner+2*groups)*kernel
	default:
		return 0, false
	}
	return float64(e.LayersLinear) * count, true
}

// visionTower counts the usual form, blocks of attention and two matrices with
// a merger behind; partial is true where another tower stands there.
func (r *parameterReader) visionTower() (count float64, partial bool) {
	for _, key := range [...]string{"audio_config", "sound_config", "vision_encoder", "vit_config"} {
		partial = partial || r.c.root.has(key)
	}
	v := r.c.root.child("vision_config")
	if v == nil {
		return 0, partial
	}
	depth := r.size(v, "depth", "num_hidden_layers", "vt_num_hidden_layers")
	hidden, inter := r.size(v, "hidden_size", "vt_hidden_size"), r.size(v, "intermediate_size", "vt_intermediate_size")
	if depth == 0 || hidden == 0 || inter == 0 {
		return 0, true
	}
	deep, _ := v["deepstack_visual_indexes"].([]any)
	merged := hidden * max(1, r.size(v, "spatial_merge_size")) * max(1, r.size(v, "spatial_merge_size"))
	mergers := float64(1+len(deep)) * merged * (merged + r.size(v, "out_hidden_size"))
	return depth*(4*hidden*hidden+2*hidden*inter) + mergers, partial
}
