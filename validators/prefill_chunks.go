package validators

import (
	"fmt"

	"github.com/trimtab/trimtab/internal/config"
	"github.com/trimtab/trimtab/internal/finding"
	"github.com/trimtab/trimtab/internal/rule"
)

const (
	chunkSize  = "--chunked-prefill-size"
	mixedChunk = "--enable-mixed-chunk"
)

// starvingChunks finds a stated mix of prompts in which a long one takes whole
// chunks of SGLang's prefill, one after the other. No setting shares a chunk
// between prompts, so that nothing is proposed that would: what each of the
// settings there does is told. Source: sglang 0.4.6 to 0.5.23,
// python/sglang/srt/managers/schedule_policy.py, PrefillAdder.add_chunked_req.
func starvingChunks(r rule.Release, meta rule.Meta) []finding.Finding {
	chunk, needs := wholeOf(r, "chunked_prefill_size", "")
	if len(needs) > 0 {
		if !mayStarve(r.Facts.Prompts, 1) {
			return nil
		}
		f := r.AboutServer(meta)
		f.Setting, f.Needs = chunkSize, needs
		return []finding.Finding{f}
	}
	mode, _, _ := r.State.Value("disaggregation_mode")
	attention, _, _ := r.State.Value("enable_dp_attention") // each rank takes its share of the chunk
	if chunk < 1 || mode == "decode" || attention == true || !mayStarve(r.Facts.Prompts, chunk) {
		return nil
	}
	longest, running := int64(0), int64(0)
	for _, prompt := range r.Facts.Prompts {
		longest, running = max(longest, prompt.Tokens), running+prompt.Running
	}
	f := r.AboutServer(meta)
	for _, about := range r.State.Settings {
		if about.Name == chunkSize && about.Origin.Stands() && !about.Overridden {
			f = r.About(meta, about)
		}
	}
	f.Setting = chunkSize
	f.Message = fmt.Sprintf("%s: a prompt of %d tokens takes %d chunks of %d tokens one after the other", chunkSize, longest, (longest-1)/chunk+1, chunk)
	if rate, ok := r.Facts.Set["measured.prefillTokensPerSecond"].Value.(float64); ok && rate > 0 {
		f.Message += fmt.Sprintf(", for %.0f s at %g tokens/s", float64(longest)/rate, rate)
	}
	f.Message += ", and prompts that come later wait: no setting shares a chunk between prompts, and a smaller one makes more and shorter steps; long prompts on a server of their own hold nobody up"
	f.Evidence = []finding.Evidence{{
		Engine: "sglang", Versions: ">=0.4.6,<=0.5.23",
		Source: "python/sglang/srt/managers/schedule_policy.py, PrefillAdder.add_chunked_req: the request that is being prefilled takes what the chunk has; managers/scheduler.py, get_next_batch_to_run: prefill goes before decode",
	}}
	mixed, known, _ := r.State.Value("enable_mixed_chunk")
	switch {
	case running > 1 && known && mixed == false && !r.State.Given("speculative_algorithm"):
		f.Message += "; what decodes waits as well: with " + mixedChunk + " it takes part in each chunk"
	default:
		f.Severity = finding.Info
	}
	return []finding.Finding{f}
}

// mayStarve tells whether a prompt is longer than a chunk and than four times the
// shortest.
func mayStarve(prompts []config.Prompt, chunk int64) bool {
	shortest, longest := mostTokens, int64(0)
	for _, prompt := range prompts {
		if prompt.Running > 0 {
			shortest, longest = min(shortest, prompt.Tokens), max(longest, prompt.Tokens)
		}
	}
	return longest > chunk && longest/4 > shortest
}
