package account

import (
	"strconv"

	"github.com/trimtab/trimtab/internal/ledger"
)

// limitRequests settles how many requests run at once in each worker, and what
// sets it: what is asked for, half the tokens, the slots.
func (a *Account) limitRequests() error {
	limit := func(requests int64, because string) {
		if a.Requests == nil || requests < *a.Requests {
			a.Requests, a.Because = &requests, because
		}
	}
	workers := int64(1)
	if a.pools.workers != nil {
		workers = max(1, *a.pools.workers)
	}
	if a.state.Given("max_running_requests") {
		if n := a.whole("max_running_requests"); n != nil {
			a.within("max_running_requests", *n, largestStep)
		}
	}
	requested := a.optional("max_running_requests") / workers
	if requested > 0 {
		limit(requested, "--max-running-requests "+strconv.FormatInt(requested*workers, 10))
	}
	if a.Capacity != nil && a.Capacity.Value > 0 {
		tokens := a.Capacity.Value
		if a.Length != nil && (requested == 0 || !a.since("0.5.14")) {
			estimated, err := ledger.EstimatedRequests(tokens, *a.Length)
			if err != nil {
				return err
			}
			limit(estimated, "clamp("+ledger.Grouped(tokens)+" KV tokens / "+ledger.Grouped(*a.Length)+" x 512, 2048, 4096)")
		}
		if a.since("0.5.14") || requested == 0 && a.since("0.5.10") {
			limit(tokens/2, "half of "+ledger.Grouped(tokens)+" KV tokens")
		}
	}
	if hybrid, known, _ := a.state.Derived("mamba_hybrid"); !known || hybrid != true || a.Ratio == nil || *a.Ratio < 1 || a.Slots == nil {
		return nil
	}
	if bySlots := *a.Slots / *a.Ratio; a.Requests == nil || bySlots < *a.Requests {
		name := "max_mamba_cache_size "
		if !a.state.Given("max_mamba_cache_size") {
			name = "mamba slots "
		}
		limit(bySlots, name+strconv.FormatInt(*a.Slots, 10)+" // "+strconv.FormatInt(*a.Ratio, 10)+" mamba slots a request, in each attention DP worker")
	}
	return nil
}
