package validators

import (
	"fmt"
	"strconv"

	"github.com/trimtab/trimtab/internal/account"
	"github.com/trimtab/trimtab/internal/finding"
	"github.com/trimtab/trimtab/internal/ledger"
	"github.com/trimtab/trimtab/internal/rule"
	"github.com/trimtab/trimtab/internal/setting"
)

// oversizedPool finds more mamba slots than the workload ever uses, and says
// what they cost in KV tokens.
func oversizedPool() rule.Rule {
	meta := rule.Named("oversized-pool")
	return rule.Rule{Meta: meta, CheckRelease: func(r rule.Release) ([]finding.Finding, error) {
		for _, about := range r.State.Settings {
			if about.Name == "--max-mamba-cache-size" && about.Origin.Path != nil && !about.Overridden {
				f, err := pool(r, meta, about)
				if f == nil || err != nil {
					return nil, err
				}
				return []finding.Finding{*f}, nil
			}
		}
		return nil, nil
	}}
}

// pool compares the slots with the larger of what the running requests hold and
// what was seen in use.
func pool(r rule.Release, meta rule.Meta, about setting.Setting) (*finding.Finding, error) {
	f := r.About(meta, about)
	running, hasRunning := r.Facts.Set["workload.peakRunning"].Value.(int64)
	peak, hasPeak := r.Facts.Set["workload.peakMambaSlots"].Value.(int64)
	if !hasPeak {
		f.Needs = append(f.Needs, "workload.peakMambaSlots")
	}
	if !hasRunning {
		f.Needs = append(f.Needs, "workload.peakRunning")
	}
	if len(f.Needs) > 0 {
		return &f, nil
	}
	hybrid, known, needs := r.State.Derived("mamba_hybrid")
	if !known {
		f.Needs = needs
		return &f, nil
	}
	a, err := account.Of(r.State, r.Facts)
	if err != nil {
		return nil, err
	}
	workers, knownWorkers, workerNeeds := r.State.Derived("attn_dp")
	if a.Slots == nil || a.Ratio == nil || !knownWorkers {
		f.Needs = append(a.SlotNeeds(), workerNeeds...)
		return &f, nil
	}
	if len(a.Misfits) > 0 {
		f.Needs = a.Misfits
		return &f, nil // figures that contradict each other size nothing
	}
	if running > *a.Slots || peak > *a.Slots {
		return nil, nil // more than the pool holds: nothing is left over
	}
	wanted := max(running**a.Ratio, peak)
	if hybrid != true || workers != int64(1) || *a.Slots <= wanted {
		return nil, nil
	}
	f.Proposed = strconv.FormatInt(wanted, 10)
	f.Action = finding.Set
	f.Edits = r.Rewrite(about, f.Proposed)
	f.Message = fmt.Sprintf("--max-mamba-cache-size keeps %d slots and %d are enough, max(%d running x %d slots, %d slots seen in use)%s",
		*a.Slots, wanted, running, *a.Ratio, peak, gain(a, wanted, *a.Ratio))
	f.Undo = "set it back to " + about.Value() + " before more than " + strconv.FormatInt(wanted / *a.Ratio, 10) + " requests are to run at once"
	f.Evidence = []finding.Evidence{{
		Engine: r.Engine, Versions: ">=0.5.9",
		Source: "python/sglang/srt/mem_cache/kv_cache_configurator.py (to 0.5.15 model_runner_kv_cache_mixin.py), _handle_max_mamba_cache: slots and KV tokens share one budget",
	}}
	return &f, nil
}

// gain says what the freed slots become, where the account can tell.
func gain(a *account.Account, wanted, ratio int64) string {
	ceiling := fmt.Sprintf("; the new ceiling is %s", many(wanted/ratio, "request"))
	tokens, slotBytes, cellBytes, ok := a.Resized(wanted)
	if !ok || a.Tokens == nil {
		return ceiling
	}
	gained := tokens - *a.Tokens
	return fmt.Sprintf(": %d slots of %s B become %s KV tokens of %s B, %s -> %s (%+.1f %%)%s",
		*a.Slots-wanted, ledger.Grouped(slotBytes), ledger.Grouped(gained), ledger.Grouped(cellBytes),
		ledger.Grouped(*a.Tokens), ledger.Grouped(tokens), 100*float64(gained)/float64(*a.Tokens), ceiling)
}
