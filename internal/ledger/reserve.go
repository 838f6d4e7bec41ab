package ledger

import "math"

// ActivationFormula is what vLLM's profile run keeps from the KV cache beside
// weights: the larger of the widest layer of one step and the sampler's copies
// of the logits, and what CUDA, NCCL and the allocator hold.
//
// Source: vLLM vllm/v1/worker/gpu_model_runner.py, profile_run and
// _dummy_sampler_run: max_num_batched_tokens through the model, then max_num_seqs
// rows of float32 logits with the sorts of top-k and top-p. The widths are exact
// for a dense model (110,592 B a token of Llama-3.1-8B in vllm-project/vllm#10517);
// how many copies live at once, and what the libraries hold, is estimated from
// the starts of other people that log all else.
const ActivationFormula = "max(step tokens x bytes per token, sequences x vocabulary x 4 x copies) + libraries"

// Step is the largest step of an engine, as far as its activations go.
type Step struct {
	// Tokens and Sequences are the limits of a step.
	Tokens, Sequences int64
	// Vocabulary is the width of the logits.
	Vocabulary int64
	// TokenBytes is what one token takes in the widest layer.
	TokenBytes int64
	// Ranks is the number of GPUs that talk to each other.
	Ranks int64
	// Multimodal, Hybrid and Sparse models run kernels and encoders beside that,
	// of which the profile run keeps more than the formula tells.
	Multimodal, Hybrid, Sparse bool
}

// Sampler copies of the logits that live at once, and the library's memory.
const (
	leastCopies, usualCopies, mostCopies = 2, 6, 9
	mebi                                 = 1 << 20
)

// Activations estimates the reserve of a vLLM server. Figures below 1 are
// errors.
func (s Step) Activations() (Estimate, error) {
	if err := atLeast(1, term{"tokens of a step", s.Tokens}, term{"sequences", s.Sequences}, term{"vocabulary", s.Vocabulary},
		term{"bytes of a token in the widest layer", s.TokenBytes}, term{"ranks", s.Ranks}); err != nil {
		return Estimate{}, err
	}
	layer := float64(s.Tokens) * float64(s.TokenBytes)
	logits := float64(min(s.Sequences, s.Tokens)) * float64(s.Vocabulary) * 4
	low := max(layer/2, logits*leastCopies)
	usual := max(layer, logits*usualCopies) + 300*mebi
	high := 2*layer + logits*mostCopies + 1000*mebi
	if s.Ranks > 1 {
		usual, high = usual+200*mebi, high+700*mebi
	}
	for _, kind := range []struct {
		is   bool
		more float64
	}{{s.Multimodal, 1200 * mebi}, {s.Hybrid, 1500 * mebi}, {s.Sparse, 2000 * mebi}} {
		if kind.is {
			high += kind.more
		}
	}
	if high > math.MaxInt64/4 {
		return Estimate{}, errTooLarge
	}
	return Between(int64(low), int64(usual), int64(high)), nil
}

// GraphFormula is what captured CUDA graphs take; no source has a formula.
//
// Source: between 0.03 and 2.4 GiB in the starts of other people that log it;
// vLLM charges its own estimate to the KV cache from 0.20.0
// (VLLM_MEMORY_PROFILER_ESTIMATE_CUDAGRAPHS), which is up to 1.65 GiB there.
const GraphFormula = "seen: up to 2.4 GiB"

// CapturedGraphs estimates what captured graphs take.
func CapturedGraphs() Estimate { return Between(0, 600*mebi, 2400*mebi) }
