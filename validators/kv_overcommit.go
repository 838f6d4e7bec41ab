package validators

import (
	"fmt"
	"strconv"

	"github.com/trimtab/trimtab/internal/account"
	"github.com/trimtab/trimtab/internal/config"
	"github.com/trimtab/trimtab/internal/finding"
	"github.com/trimtab/trimtab/internal/ledger"
	"github.com/trimtab/trimtab/internal/rule"
	"github.com/trimtab/trimtab/internal/setting"
)

// kvOvercommit finds a stated workload that the KV pool does not hold, a longest
// request that no pool of the server can hold, and weights that leave no room
// for one. What is only estimated is said where every estimate errs on the good
// side, and edits nothing.
func kvOvercommit() rule.Rule {
	meta := rule.Named("kv-overcommit")
	return rule.Rule{Meta: meta, CheckRelease: func(r rule.Release) ([]finding.Finding, error) {
		stated := len(r.Facts.Prompts) > 0 || r.Facts.Set["workload.peakRunning"].Value != nil
		measured := r.Facts.Set["measured.kvTokens"].Value != nil || r.Facts.Set["measured.kvBytes"].Value != nil
		if !stated && !measured && (r.Facts.Shape == nil || r.Facts.Set["gpu.memory"].Value == nil) {
			return nil, nil // nothing to hold against the pool, nor the pool
		}
		a, err := account.Of(r.State, r.Facts)
		if err != nil {
			return nil, nil // plan says what is wrong with the figures
		}
		o := overcommit{Release: r, meta: meta, account: a}
		for _, check := range []func() *finding.Finding{o.noRoom, o.longestRequest, o.mix, o.running} {
			if f := check(); f != nil {
				return o.withGraphs(*f), nil
			}
		}
		return nil, nil
	}}
}

// overcommit is one server at one release whose pool is looked at.
type overcommit struct {
	rule.Release
	meta    rule.Meta
	account *account.Account
}

// limits are what the engines call the settings that this rule speaks of.
var limits = map[string]struct{ fraction, length, sequences, tp string }{
	"vllm":   {"--gpu-memory-utilization", "--max-model-len", "--max-num-seqs", "--tensor-parallel-size"},
	"sglang": {"--mem-fraction-static", "--context-length", "--max-running-requests", "--tp-size"},
}

// poolProof is where an engine refuses a pool that is too small, or lets
// requests wait and be preempted.
var poolProof = map[string]string{
	"vllm":   "vllm/v1/core/kv_cache_utils.py, check_enough_kv_cache_memory (from 0.12 _check_enough_kv_cache_memory); vllm/v1/core/sched/scheduler.py, preemption when no block is free",
	"sglang": "python/sglang/srt/mem_cache/kv_cache_configurator.py (to 0.5.15 model_executor/model_runner.py), init_memory_pool: \"Not enough memory\"; managers/schedule_batch.py, retract_decode",
}

// about is a finding at the first of the settings that is written, else at the
// server under the first name.
func (o overcommit) about(names ...string) finding.Finding {
	for _, name := range names {
		for _, given := range o.State.Settings {
			if given.Name == name && !given.Overridden && given.Origin.Stands() {
				return proven(o.Server, o.About(o.meta, given), poolProof[o.Engine])
			}
		}
	}
	f := proven(o.Server, o.AboutServer(o.meta), poolProof[o.Engine])
	f.Setting = names[0]
	return f
}

// written is a setting as it stands in the manifest.
func (o overcommit) written(name string) *setting.Setting {
	for i, given := range o.State.Settings {
		if given.Name == name && !given.Overridden && !given.Unknown && given.Origin.Path != nil {
			return &o.State.Settings[i]
		}
	}
	return nil
}

// noRoom finds weights that leave too little for one request of the full length.
func (o overcommit) noRoom() *finding.Finding {
	length := int64(1)
	if o.account.Length != nil && o.Engine == "vllm" {
		length = *o.account.Length
	}
	short, ok := o.account.Shortfall(length)
	if !ok {
		return nil
	}
	names := limits[o.Engine]
	f := o.about(names.fraction, names.tp, names.length)
	what := "no KV cache"
	if short.Left > 0 {
		what = fmt.Sprintf("at most %s B of KV cache, and one request of %s tokens takes %s B", ledger.Grouped(short.Left), ledger.Grouped(length), ledger.Grouped(short.Needed))
	}
	f.Message = fmt.Sprintf("%s: the engine refuses to start: the weights take at least %s B of the %s B that it takes of a GPU at most, which leaves %s: lower %s, shard over more GPUs, or take a smaller or quantized checkpoint",
		f.Setting, ledger.Grouped(short.Weights), ledger.Grouped(short.Budget), what, names.length)
	return &f
}

// longestRequest finds a maximum length that the pool does not hold. vLLM
// refuses to start; SGLang starts and rejects what is longer than the pool.
func (o overcommit) longestRequest() *finding.Finding {
	length := o.account.Length
	if length == nil {
		return nil
	}
	longest, ok := o.account.Longest(*length)
	if !ok || longest.High >= *length || longest.High < 1 {
		return nil
	}
	names := limits[o.Engine]
	f := o.about(names.length, names.fraction)
	f.Message = fmt.Sprintf("%s: no request of %s tokens can run: the KV cache holds one of %s at most", f.Setting, ledger.Grouped(*length), ledger.Grouped(longest.High))
	if o.Engine != "vllm" {
		f.Severity = finding.Warning
		f.Message += "; the engine starts, and rejects what is longer"
		return &f
	}
	f.Message += "; the engine refuses to start: lower the length or give the cache more room"
	if f.Setting == names.length && longest.Known() {
		f.Proposed = strconv.FormatInt(longest.Value, 10)
	}
	return &f
}

// mix holds the stated requests, all running at once, against the pool.
func (o overcommit) mix() *finding.Finding {
	prompts := o.Facts.Prompts
	if len(prompts) == 0 {
		return nil
	}
	names := limits[o.Engine]
	f := o.about(names.sequences, names.fraction)
	demand, ok := o.account.DemandOf(prompts)
	if !ok {
		f.Needs = o.account.Needs
		if len(f.Needs) == 0 {
			f.Needs = []string{"measured.kvTokens"}
		}
		return &f
	}
	if _, exceeds := demand.Fits(); !exceeds {
		return nil
	}
	fit := o.account.Largest(prompts)
	smallest, largest := account.PerRequest(prompts)
	f.Message = fmt.Sprintf("%s: the stated mix of %d requests takes %s tokens, %s of the KV cache%s: ", f.Setting, demand.Requests,
		ledger.Grouped(demand.Tokens), percent(account.Share(demand.Taken, demand.Held.Value)), o.heldText())
	f.Message += o.waysOut(demand, fit)
	if o.Engine == "vllm" && largest > smallest {
		f.Message += fmt.Sprintf(" (%s alone does not bound tokens: %d of the largest take %s)", names.sequences, demand.Requests, ledger.Grouped(largest*demand.Requests))
	}
	if requests := o.account.Requests; requests != nil && *requests <= fit {
		f.Severity = finding.Info // what is let in fits; the others wait
		f.Message += fmt.Sprintf("; with %d at once what runs fits, and the others wait", *requests)
		return &f
	}
	if requests := o.account.Requests; requests != nil && smallest > 0 && o.written(names.sequences) != nil {
		o.never(&f, *requests, smallest)
	}
	if given := o.written(names.sequences); given != nil && fit > 0 && o.account.Measured() && f.Setting == names.sequences {
		f.Proposed, f.Action = strconv.FormatInt(fit, 10), finding.Set
		f.Edits = o.Rewrite(*given, f.Proposed)
		f.Undo = "set it back to " + given.Value() + " when the KV cache holds the whole mix"
	}
	return &f
}

// graphSizes are the settings of vLLM that bound the batches whose graphs are
// captured.
var graphSizes = []string{"--max-cudagraph-capture-size", "--cuda-graph-sizes", "--cudagraph-capture-sizes"}

// withGraphs adds to a finding that lowers the sequences the largest graph that
// is captured, where that was chosen as the sequences were: both go together.
func (o overcommit) withGraphs(f finding.Finding) []finding.Finding {
	if f.Action != finding.Set || o.Engine != "vllm" || f.Setting != limits[o.Engine].sequences {
		return []finding.Finding{f}
	}
	var sizes *setting.Setting
	for _, name := range graphSizes {
		if given := o.written(name); given != nil {
			if sizes != nil {
				return []finding.Finding{f} // two that must agree
			}
			sizes = given
		}
	}
	if sizes == nil || sizes.Name == graphSizes[2] || len(sizes.Values) != 1 || sizes.Value() != f.Value {
		return []finding.Finding{f}
	}
	graphs := proven(o.Server, o.About(o.meta, *sizes), "vllm/config/vllm.py (until 0.11 vllm/config.py), VllmConfig._set_cudagraph_sizes: without a bound graphs are captured for twice the sequences at most")
	graphs.Action, graphs.Proposed, graphs.Edits = finding.Set, f.Proposed, o.Rewrite(*sizes, f.Proposed)
	graphs.Message = fmt.Sprintf("%s: it is the number of sequences, %s, and goes down to %s with it: no batch that decodes is larger", sizes.Name, f.Value, f.Proposed)
	graphs.Undo = "set both back together"
	f.Group, graphs.Group = "sequences", "sequences"
	return []finding.Finding{f, graphs}
}

// never says that as many requests as are let in do not fit whichever they are.
func (o overcommit) never(f *finding.Finding, requests, smallest int64) {
	share, ok := o.account.DemandOf([]config.Prompt{{Tokens: smallest, Running: requests}})
	if !ok {
		return
	}
	if _, exceeds := share.Fits(); exceeds {
		f.Message += fmt.Sprintf("; %d sequences never fit: %d of the smallest take %s", requests, requests, percent(account.Share(share.Taken, share.Held.Value)))
	}
}

// heldText is the size of the pool in tokens, and how it is known.
func (o overcommit) heldText() string {
	if o.account.Capacity == nil {
		return ""
	}
	text := ", which holds " + ledger.Grouped(o.account.Capacity.Value) + " tokens"
	if !o.account.Measured() {
		text += " by the account"
	}
	return text
}

// fractionStep is the step in which a larger share of the card is tried, in
// hundredths, and mostFraction the largest that is proposed.
const (
	fractionStep = 5
	mostFraction = 95
)

// waysOut names fewer sequences, and a larger share of the card: what else needs
// the card must be stated for that, and graphs that stand beside what the engine
// takes must find room.
func (o overcommit) waysOut(demand account.Demand, fit int64) string {
	names := limits[o.Engine]
	text := "not even one of the largest fits"
	if fit > 0 {
		text = fmt.Sprintf("%s %d fits whichever of them run", names.sequences, fit)
	}
	hundredths := int64(o.account.Fraction()*100 + 0.5)
	for step := hundredths - hundredths%fractionStep + fractionStep; hundredths > 0 && step <= mostFraction; step += fractionStep {
		held, tokens, ok := o.account.HeldAt(float64(step) / 100)
		if !ok || demand.Taken > held {
			continue
		}
		larger := fmt.Sprintf("%s 0.%02d holds %s tokens, of which the mix takes %s", names.fraction, step, ledger.Grouped(tokens), percent(account.Share(demand.Taken, held)))
		if o.Facts.Set["gpu.reserve"].Value == nil {
			return text + "; " + larger + ", if gpu.reserve, which is not stated, leaves room for it"
		}
		beside, ok := o.account.Beside(float64(step) / 100)
		switch {
		case !ok:
			return text
		case beside.High < 0:
			return text + "; " + names.fraction + fmt.Sprintf(" 0.%02d would hold the mix, and gpu.reserve leaves no room for it", step)
		case beside.Low < 0:
			larger += ", and leaves " + ledger.Grouped(beside.Value) + " B beside the engine for graphs of up to 2.4 GiB: watch the first start"
		}
		return text + "; or " + larger
	}
	return text
}

// percent prints thousandths as a percentage.
func percent(thousandths int64) string {
	return fmt.Sprintf("%d.%d %%", thousandths/10, thousandths%10)
}

// running holds the number of requests that run at once against the slots of
// recurrent state.
func (o overcommit) running() *finding.Finding {
	running, ok := o.Facts.Set["workload.peakRunning"].Value.(int64)
	a := o.account
	given := o.written("--max-mamba-cache-size")
	if !ok || o.Engine != "sglang" || given == nil || a.Slots == nil || a.Ratio == nil || *a.Ratio < 1 || running <= 0 {
		return nil
	}
	hybrid, known, _ := o.State.Derived("mamba_hybrid")
	workers, knownWorkers, _ := o.State.Derived("attn_dp")
	bySlots := *a.Slots / *a.Ratio
	if !known || hybrid != true || !knownWorkers || workers != int64(1) || running <= bySlots || running > *a.Slots {
		return nil
	}
	f := proven(o.Server, o.About(o.meta, *given), poolProof[o.Engine])
	f.Severity = finding.Warning // the engine starts, and the others wait
	f.Proposed = strconv.FormatInt(running**a.Ratio, 10)
	f.Message = fmt.Sprintf("%s: %d requests are to run at once, and %d slots let %d in, %d slots each: %s slots hold them", given.Name, running, *a.Slots, bySlots, *a.Ratio, f.Proposed)
	return &f
}
