package account

import (
	"strings"

	"github.com/trimtab/trimtab/hardware"
	"github.com/trimtab/trimtab/internal/ledger"
)

// graphsCharged tells whether CUDA graphs are taken from the KV cache: by
// default from 0.20.0, never on ROCm.
//
// Source: vLLM vllm/v1/worker/gpu_worker.py, determine_available_memory, and
// VLLM_MEMORY_PROFILER_ESTIMATE_CUDAGRAPHS in vllm/envs.py.
func (a *Account) graphsCharged() bool {
	vendor, _ := a.facts.Set["gpu.vendor"].Value.(string)
	return a.since("0.20.0") && vendor != "amd" && !a.variable("VLLM_MEMORY_PROFILER_ESTIMATE_CUDAGRAPHS", "0") ||
		a.since("0.18.0") && vendor != "amd" && a.variable("VLLM_MEMORY_PROFILER_ESTIMATE_CUDAGRAPHS", "1")
}

// variable tells whether an environment variable is set to a value.
func (a *Account) variable(name, value string) bool {
	for _, given := range a.state.Settings {
		if given.Name == "env/"+name {
			return given.Value() == value
		}
	}
	return false
}

func (a *Account) graphs() ledger.Estimate {
	eager := a.on("enforce_eager")
	if a.state.Engine.Name == "sglang" {
		eager = a.on("disable_cuda_graph")
	}
	if eager {
		return ledger.Exactly(0)
	}
	return ledger.CapturedGraphs()
}

// draftOf is what the layers that predict further tokens take, in 16 bits at
// most and as the others at least.
func (a *Account) draftOf() (*ledger.Estimate, error) {
	stored, ok := a.stored()
	if !ok || a.shape.Parameters == nil || a.shape.Parameters.MTP == 0 {
		a.need("model.config")
		return nil, nil
	}
	ranks := ledger.Ranks{TP: a.sizes.tp, PP: 1, Experts: a.sizes.tp, Layers: 1}
	least, err := ledger.Elements{Attention: a.shape.Parameters.MTP}.On(ranks, stored)
	if err != nil {
		return nil, err
	}
	most, err := ledger.Elements{Attention: a.shape.Parameters.MTP}.On(ranks, ledger.Stored{Bits: 16})
	draft := ledger.Between(least.Low, most.Value, most.High)
	return &draft, err
}

// activationsOf estimates the reserve of the profile run.
func (a *Account) activationsOf() (*ledger.Estimate, error) {
	batched, sequences := a.limit("max_num_batched_tokens", "base_batched_tokens"), a.limit("max_num_seqs", "base_num_seqs")
	if batched == nil || sequences == nil {
		return nil, nil
	}
	vocabulary := a.shape.Vocab
	if p := a.shape.Parameters; p != nil && a.shape.HiddenSize > 0 {
		vocabulary = p.Embedding / a.shape.HiddenSize
	}
	if vocabulary < 1 || a.shape.HiddenSize < 1 || a.shape.Layers < 1 {
		a.need("model.config")
		return nil, nil
	}
	multimodal, _ := a.facts.Set["model.multimodal"].Value.(bool)
	step := ledger.Step{
		Tokens: *batched, Sequences: *sequences, Vocabulary: vocabulary, TokenBytes: a.widestToken(),
		Ranks: a.sizes.tp * a.sizes.pp, Multimodal: multimodal && !a.on("language_model_only"),
		Hybrid: a.shape.LayersLinear > 0, Sparse: a.shape.MoE != nil,
	}
	activations, err := step.Activations()
	if err != nil || a.card == nil {
		return &activations, err
	}
	if card, ok := hardware.GPU(a.cardName()); ok && strings.Contains(card.MemoryBasis, "shared with the CPU") {
		activations.High += a.card.Value / unifiedShare // what else the host takes meanwhile counts as the engine's
	}
	return &activations, nil
}

// unifiedShare is the part of a memory shared with the CPU, one over it, by which
// a profile run may miss.
const unifiedShare = 12

// cardName is the catalogue's name of the card, empty where it is not told.
func (a *Account) cardName() string {
	name, _ := a.facts.Set["gpu.name"].Value.(string)
	return name
}

// limit is a limit of a step: given or told by the facts, else the default of a
// server, which is known for more releases than what the engine makes of it.
func (a *Account) limit(key, fallback string) *int64 {
	value, known, _ := a.state.Value(key)
	if n, ok := value.(int64); known && ok && a.within(key, n, largestStep) {
		return &n
	}
	if a.state.Given(key) {
		a.need("--" + flagged(key))
		return nil
	}
	return a.derived(fallback)
}

// largestStep is more tokens and sequences than any step has.
const largestStep = 1 << 40

// usualWidening is what the three sides of a feed-forward part take together,
// in vectors of the hidden size, where the model's own is not known.
const usualWidening = 12

// widestToken is what one token takes in the widest layer of one rank, in bytes:
// the gate, up and down sides of the feed-forward part and three vectors of the
// hidden size, in 16 bits; with experts, those sides and a vector for each of the
// experts it goes to.
func (a *Account) widestToken() int64 {
	e, p := a.shape, a.shape.Parameters
	hidden := e.HiddenSize
	if p == nil {
		return 2 * (usualWidening*hidden/a.sizes.tp + 3*hidden)
	}
	inner := p.MLP / e.Layers / hidden / a.sizes.tp
	if e.MoE != nil && e.MoE.Experts > 0 {
		layers := max(1, e.Layers-e.MoE.FirstDenseLayers)
		if e.LayersMoEOnly > 0 {
			layers = e.LayersMoEOnly
		}
		expert := p.Experts / layers / e.MoE.Experts / hidden / a.sizes.tp
		inner += max(1, e.MoE.ExpertsPerToken) * (expert + hidden)
	}
	return 2 * (inner + 3*hidden)
}
