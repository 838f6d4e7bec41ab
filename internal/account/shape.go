package account

import (
	"regexp"
	"slices"
	"strings"

	"github.com/trimtab/trimtab/hardware"
	"github.com/trimtab/trimtab/internal/ledger"
)

// element is the size of an element of the KV cache: a type that is given, or
// auto on a checkpoint whose own type is known to be 16 bits wide and which
// brings no type for the cache of its own.
func (a *Account) element() (ledger.Element, string, bool) {
	value, known, needs := a.state.Value("kv_cache_dtype")
	dtype, _ := value.(string)
	if !known {
		a.need(needs...)
		return ledger.Element{}, "", false
	}
	if dtype == "auto" && !a.servedInSixteenBits() {
		a.need("model.dtype")
		return ledger.Element{}, "", false
	}
	if dtype == "auto" && a.bringsCacheType() {
		a.need("--kv-cache-dtype")
		return ledger.Element{}, "", false
	}
	element, err := ledger.KVElement(dtype)
	if err != nil {
		a.need("--kv-cache-dtype")
		return ledger.Element{}, "", false
	}
	return element, dtype, true
}

// servedInSixteenBits tells whether the engine serves the model in a type of 16
// bits. vLLM does whatever the checkpoint declares, unless it is told otherwise.
//
// Source: vLLM vllm/config/model.py (to 0.10 vllm/config.py), _resolve_auto_dtype:
// float32, and no type at all, become the platform's type of 16 bits.
func (a *Account) servedInSixteenBits() bool {
	if a.state.Engine.Name == "vllm" && a.text("dtype") == "auto" {
		return true
	}
	return a.sixteenBits()
}

// sixteenBits tells whether the checkpoint is one of 16 bits: its own type is
// known, or one is given.
func (a *Account) sixteenBits() bool {
	given := a.text("dtype")
	return a.state.Facts["model.dtype"].Value != nil || slices.Contains([]string{"half", "float16", "bfloat16"}, given)
}

// bringsCacheType tells whether a checkpoint of this method may say which type
// its KV cache has: ModelOpt's and llm-compressor's do.
func (a *Account) bringsCacheType() bool {
	method := strings.ToLower(a.method())
	return strings.HasPrefix(method, "modelopt") || method == "compressed-tensors" || method == "quark"
}

// method is how the checkpoint is quantized, as far as it is told; empty else.
func (a *Account) method() string {
	if method, ok := a.state.Facts["model.quantization"].Value.(string); ok {
		return method
	}
	return a.text(keys[a.state.Engine.Name].method)
}

// share splits layers of one kind over the pipeline stages. Kinds that the
// stages do not divide are not told: which stage has how many then depends on
// their order.
func (a *Account) stageLayers(layers, stage int64) (int64, bool) {
	if layers == 0 {
		return 0, true
	}
	if layers == a.shape.Layers {
		share, err := ledger.StageLayers(layers, a.sizes.pp, stage)
		return share, err == nil
	}
	return layers / a.sizes.pp, layers%a.sizes.pp == 0
}

// cellOf is what a token costs through all layers of a stage that keep all
// tokens; nil where the shape or the type is not known, or no layer does.
func (a *Account) cellOf(stage int64) ledger.Cell {
	e := a.shape
	layers, told := a.stageLayers(e.LayersFullAttention, stage)
	if !told {
		a.need("a pipeline-parallel size that divides the layers of each kind")
		return nil
	}
	if layers == 0 {
		return nil
	}
	element, dtype, ok := a.element()
	if !ok {
		return nil
	}
	if e.MLA != nil {
		if e.MLA.KVLoRARank < 1 {
			a.need("model.config")
			return nil
		}
		latent := ledger.Latent{Layers: layers, Rank: e.MLA.KVLoRARank, RoPEDim: e.MLA.QKRoPEHeadDim, Element: element}
		if e.DSAIndexer != nil {
			latent.IndexDim = e.DSAIndexer.HeadDim
			if element == ledger.OneByte || dtype == "fp8_ds_mla" {
				latent.PackedBytes = packedToken
			}
		}
		return latent
	}
	heads, dim := e.KVHeads, e.HeadDim
	if e.GlobalHeadDim > 0 && e.GlobalKVHeads > 0 {
		heads, dim = e.GlobalKVHeads, e.GlobalHeadDim
	}
	if heads < 1 || dim < 1 {
		a.need("model.config")
		return nil
	}
	return ledger.Attention{Layers: layers, KVHeads: heads, KeyDim: dim, ValueDim: dim, Element: element, TP: a.sizes.heads}
}

// packedToken is a token of DeepSeek's sparse attention in FP8, in bytes: 512
// elements, 4 scales of 4 bytes, and 64 elements of RoPE in 16 bits.
const packedToken = 656

// told tells whether the layout of keys and values is known; DeepSeek-V4's and
// the like, which keep several sizes, are not.
func (a *Account) layoutTold() bool {
	e := a.shape
	gemma := e.GlobalHeadDim > 0 && e.GlobalKVHeads > 0 && e.LayersSliding > 0
	if !e.LayersTold() || e.KVLayout != "" && !gemma || e.AttentionChunkSize > 0 {
		a.need("an account of this model's attention, which is not drawn up")
		return false
	}
	return true
}

// slotOf is the recurrent state of a request on one rank of a stage; nil where
// the model has none or its type is not known.
func (a *Account) slotOf(stage, speculative int64) ledger.Slot {
	e := a.shape
	if e.LayersLinear == 0 {
		return nil
	}
	layers, told := a.stageLayers(e.LayersLinear, stage)
	if e.State == nil || !told || layers == 0 {
		a.need("model.config")
		return nil
	}
	element, ok := a.stateElement()
	if !ok {
		return nil
	}
	s, tp := e.State, a.sizes.heads
	switch s.Kind {
	case "gdn":
		return ledger.State{Layers: layers, KeyHeads: s.KHeads, KeyDim: s.KHeadDim, ValueHeads: s.VHeads, ValueDim: s.VHeadDim,
			ConvKernel: s.ConvKernel, SSMElementBytes: element, SpeculativeTokens: speculative, TP: tp}
	case "mamba2":
		if s.NGroups > 0 {
			return ledger.SSM{Layers: layers, Heads: s.Heads, ConvPerHead: s.HeadDim, Groups: s.NGroups, GroupWidth: 2 * s.StateSize,
				SSMPerHead: s.HeadDim * s.StateSize, ConvKernel: s.ConvKernel, SSMElementBytes: element, SpeculativeTokens: speculative, TP: tp}
		}
	case "mamba1":
		return ledger.SSM{Layers: layers, Heads: s.Intermediate, ConvPerHead: 1, SSMPerHead: s.StateSize,
			ConvKernel: s.ConvKernel, SSMElementBytes: element, SpeculativeTokens: speculative, TP: tp}
	case "kda":
		return ledger.SSM{Layers: layers, Heads: s.Heads, ConvPerHead: 3 * s.HeadDim, SSMPerHead: s.HeadDim * s.HeadDim,
			ConvKernel: s.ConvKernel, SSMElementBytes: element, SpeculativeTokens: speculative, TP: tp}
	}
	a.need("model.config")
	return nil
}

// stateElement is the size of an element of the ssm state: a type that is
// given, else what the checkpoint asks for. Where it asks for none, vLLM takes
// the model's own type, SGLang float32.
//
// Source: vLLM vllm/model_executor/layers/mamba/mamba_utils.py,
// MambaStateDtypeCalculator; SGLang python/sglang/srt/configs/mamba_utils.py,
// mamba2_state_dtype.
func (a *Account) stateElement() (int64, bool) {
	flag, dtype := "mamba_ssm_dtype", a.shape.State.ConfigSSMDType
	if a.state.Engine.Name == "vllm" {
		flag = "mamba_ssm_cache_dtype"
		if dtype == "" {
			dtype = "bfloat16"
		}
	}
	value, known, _ := a.state.Value(flag)
	if text, ok := value.(string); ok && known && text != "auto" {
		dtype = text
	}
	if a.state.Given(flag) && !known {
		dtype = ""
	}
	bytes, err := ledger.SSMElementBytes(dtype)
	if err != nil {
		a.need("--" + flagged(flag))
		return 0, false
	}
	return bytes, true
}

// weightsOf estimates the weights of a rank on a stage; nil where the count or
// the way they are stored is not known.
func (a *Account) weightsOf(stage int64) (*ledger.Estimate, error) {
	stored, ok := a.stored()
	if !ok {
		return nil, nil
	}
	ranks := ledger.Ranks{TP: a.sizes.tp, PP: a.sizes.pp, Stage: stage, Experts: a.sizes.experts, Layers: max(a.shape.Layers, 1)}
	p := a.shape.Parameters
	if p == nil {
		if a.shape.CheckpointBytes == 0 || stored.Bits != 16 {
			a.need("model.config")
			return nil, nil
		}
		p = &hardware.Parameters{Attention: a.shape.CheckpointBytes / 2, Partial: true} // how it is shared is not known: evenly
	}
	vision := p.Vision
	if a.on("language_model_only") {
		vision = 0
	}
	weights, err := ledger.Elements{Attention: p.Attention, MLP: p.MLP, Experts: p.Experts, Replicated: p.Replicated,
		Embedding: p.Embedding, Head: p.Head, Vision: vision}.On(ranks, stored)
	if err != nil {
		return nil, err
	}
	if p.Partial {
		weights = ledger.Between(weights.Low-weights.Value/50, weights.Value, weights.High+weights.Value/50)
	}
	return &weights, nil
}

// quantizedName are words by which the name of a checkpoint tells that its
// weights are quantized.
var quantizedName = regexp.MustCompile(`(?i)awq|gptq|fp8|int[248]|nvfp4|mxfp4|[0-9]-?bit|gguf|w[48]a|bnb|quant|exl[23]|autoround|fp4`)

// fourBits are words by which it tells that they have 4 bits.
var fourBits = regexp.MustCompile(`(?i)int4|w4a|4-?bit`)

// mxfp4Padding: kernels for MXFP4 round 2,880 columns up to 3,072 on both sides,
// in thousandths.
//
// Source: vLLM vllm/model_executor/layers/quantization/mxfp4.py, Mxfp4MoEMethod,
// create_weights (round_up of hidden and intermediate sizes by backend).
const mxfp4Padding = 138

// stored is how the checkpoint stores its linear layers: as its config says, by
// the method that is stated or given, or in 16 bits where it is known to have
// none.
func (a *Account) stored() (ledger.Stored, bool) {
	if a.shape == nil {
		return ledger.Stored{}, false
	}
	method := strings.ToLower(a.method())
	path := a.text(keys[a.state.Engine.Name].path)
	weights, known := hardware.Weights{}, false
	switch {
	case a.shape.Weights != nil:
		weights, known = *a.shape.Weights, true
	case method != "" && method != "none":
		weights, known = hardware.StoredBy(method)
		if !known && fourBits.MatchString(path) {
			weights, known = hardware.Weights{Bits: 4, GroupSize: 128, ScaleBits: 16}, true
		}
	case a.shape.Quantization != "":
		method = a.shape.Quantization
		weights, known = hardware.StoredBy(method)
	case a.sixteenBits() && !quantizedName.MatchString(path):
		return ledger.Stored{Bits: 16}, true
	}
	if !known {
		a.need("model.quantization", "model.config")
		return ledger.Stored{}, false
	}
	stored := ledger.Stored{Bits: weights.Bits, GroupSize: weights.GroupSize, ScaleBits: weights.ScaleBits}
	if weights.ScaleBits > 8 {
		stored.ZeroBits = weights.Bits
	}
	partly := !weights.Complete && (weights.Bits == 4 && (weights.GroupSize <= 32 || a.shape.LayersLinear > 0) || method == "compressed-tensors" || method == "quark")
	switch {
	case weights.ExpertsOnly:
		stored.Reach = ledger.NotAttention
	case partly && a.shape.MoE != nil:
		stored.Reach = ledger.ExpertsPerhapsMore
	case partly:
		stored.Reach = ledger.PerhapsNotAttention
	}
	if method == "mxfp4" {
		stored.Padding = mxfp4Padding
	}
	return stored, true
}
