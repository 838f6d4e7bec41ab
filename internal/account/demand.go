package account

import (
	"math"
	"slices"

	"github.com/trimtab/trimtab/internal/config"
	"github.com/trimtab/trimtab/internal/ledger"
)

// Demand is what stated requests take of the KV cache when all run at once.
type Demand struct {
	// Requests is their number, Tokens what they hold together at their end.
	Requests, Tokens int64
	// Taken and Held are what they take and what the pool holds, in blocks of
	// vLLM or tokens of SGLang.
	Taken int64
	Held  ledger.Estimate
}

// Share is how much of a pool they take, in thousandths. It is rounded away from
// the whole, so that what does not fit never reads as 100.0 %.
func Share(taken, held int64) int64 {
	if held < 1 {
		return math.MaxInt64
	}
	share := float64(taken) / float64(held) * 1000
	if taken > held {
		return int64(math.Ceil(share))
	}
	return int64(math.Floor(share))
}

// Fits tells whether the requests fit for certain, and whether they do not.
func (d Demand) Fits() (fits, exceeds bool) { return d.Taken <= d.Held.Low, d.Taken > d.Held.High }

// mostRequests is more than any server runs at once, mostTokens longer than any
// request.
const (
	mostRequests = 1 << 24
	mostTokens   = 1 << 40
)

// DemandOf is what requests take of the pool; ok is false where the pool is not
// known, or a figure is beyond any server.
func (a *Account) DemandOf(prompts []config.Prompt) (Demand, bool) {
	d := Demand{}
	held, ok := a.held()
	if !ok {
		return d, false
	}
	d.Held = held
	for _, p := range prompts {
		if p.Tokens > mostTokens || p.Output > mostTokens || p.Running > mostRequests {
			return d, false
		}
		each, ok := a.requestUnits(p.Tokens + p.Output)
		if !ok {
			return d, false
		}
		taken, err := ledger.Product(each, p.Running)
		if err != nil {
			return d, false
		}
		d.Requests += p.Running
		d.Tokens += (p.Tokens + p.Output) * p.Running
		d.Taken += taken
	}
	return d, d.Tokens > 0 && d.Taken > 0
}

// held is what the pool holds, in blocks or tokens.
func (a *Account) held() (ledger.Estimate, bool) {
	switch {
	case len(a.Misfits) > 0:
		return ledger.Estimate{}, false
	case a.paged.blocks != nil:
		return *a.paged.blocks, true
	case a.Capacity != nil && a.shape == nil, a.Capacity != nil && a.state.Engine.Name == "sglang":
		return *a.Capacity, true
	}
	return ledger.Estimate{}, false
}

// requestUnits is what a request of a length takes of the pool.
func (a *Account) requestUnits(length int64) (int64, bool) {
	if a.paged.blocks == nil {
		return length, true
	}
	local := (length-1)/a.contextRanks() + 1
	need, err := a.stages[0].paged.RequestBlocks(local, a.paged.request)
	return need, err == nil
}

// PerRequest are the tokens of the smallest and largest request that is stated.
func PerRequest(prompts []config.Prompt) (smallest, largest int64) {
	for _, p := range prompts {
		length := p.Tokens + p.Output
		if smallest == 0 || length < smallest {
			smallest = length
		}
		largest = max(largest, length)
	}
	return smallest, largest
}

// Largest is how many of the stated requests fit at once whichever of them run:
// the largest first. It is 0 where the pool is not known.
func (a *Account) Largest(prompts []config.Prompt) int64 {
	held, ok := a.held()
	if !ok {
		return 0
	}
	sorted := slices.Clone(prompts)
	slices.SortStableFunc(sorted, func(x, y config.Prompt) int {
		return int(min(max(y.Tokens+y.Output-x.Tokens-x.Output, -1), 1))
	})
	left, fit := held.Low, int64(0)
	for _, p := range sorted {
		each, ok := a.requestUnits(p.Tokens + p.Output)
		if !ok || each < 1 {
			return 0
		}
		running := min(p.Running, left/each)
		fit, left = fit+running, left-running*each
		if running < p.Running {
			break
		}
	}
	return fit
}

// HeldAt is what the pool holds with another share of the card, in blocks or
// tokens, and the same in tokens.
func (a *Account) HeldAt(fraction float64) (held, tokens int64, ok bool) {
	if tokens, ok = a.AtFraction(fraction); !ok {
		return 0, 0, false
	}
	if a.paged.blocks == nil {
		return tokens, tokens, true
	}
	freed, err := ledger.FractionBytes(a.card.Value, a.fraction, fraction)
	return a.blocksAfter(freed), tokens, err == nil
}

// Longest is the longest request that the pool holds, in tokens, up to a limit,
// with the limits of what we know; ok is false where the pool is not known.
func (a *Account) Longest(limit int64) (ledger.Estimate, bool) {
	held, ok := a.held()
	if !ok || limit < 1 {
		return ledger.Estimate{}, false
	}
	limit = min(limit, mostTokens)
	if a.paged.blocks == nil {
		return ledger.Between(min(held.Low, limit), min(held.Value, limit), min(held.High, limit)), true
	}
	var longest [3]int64
	for i, blocks := range []int64{held.Low, held.Value, held.High} {
		tokens, err := a.stages[0].paged.Longest(blocks, limit, a.paged.request)
		if err != nil {
			return ledger.Estimate{}, false
		}
		longest[i] = min(limit, tokens*a.contextRanks())
	}
	return ledger.Between(longest[0], longest[1], longest[2]), true
}

// BytesFor is what a request of a length takes on the rank with the most layers;
// ok is false where the shape is not known.
func (a *Account) BytesFor(length int64) (int64, bool) {
	if length < 1 || length > mostTokens || len(a.stages) == 0 {
		return 0, false
	}
	most := int64(0)
	for _, s := range a.stages {
		var bytes int64
		var err error
		switch {
		case s.paged != nil:
			var blocks int64
			if blocks, err = s.paged.RequestBlocks((length-1)/a.contextRanks()+1, a.paged.request); err == nil {
				bytes, err = ledger.Product(blocks, s.paged.BlockBytes)
			}
		case s.cell != nil:
			if bytes, err = s.cell.CellBytes(); err == nil {
				bytes, err = ledger.Product(bytes, length)
			}
		default:
			return 0, false
		}
		if err != nil {
			return 0, false
		}
		most = max(most, bytes)
	}
	return most, true
}

// Shortfall is a stage that has too little for one request of the full length,
// even where every estimate errs on the good side.
type Shortfall struct {
	// Stage counts from 0; Weights are the least they take, Budget the most the
	// engine takes, Left what then remains at most, Needed what the request takes,
	// all in bytes.
	Stage                         int
	Weights, Budget, Left, Needed int64
}

// Shortfall finds a stage that cannot hold one request of a length by what is
// computed; ok is false where none is, or something was measured or stated.
func (a *Account) Shortfall(length int64) (Shortfall, bool) {
	if a.Tokens != nil || a.budget == nil || a.facts.Set["measured.kvBytes"].Value != nil || a.state.Given("num_gpu_blocks_override") {
		return Shortfall{}, false
	}
	for i, s := range a.stages {
		if s.left == nil || s.weights == nil || s.draft != nil {
			continue
		}
		needed, known := a.BytesFor(length)
		if !known {
			needed = 1
		}
		if s.left.High < needed {
			return Shortfall{Stage: i, Weights: s.weights.Low, Budget: a.budget.High, Left: s.left.High, Needed: needed}, true
		}
	}
	return Shortfall{}, false
}

// Beside is what a share of the card leaves for others: without the reserve that
// is stated and, where they stand beside what the engine takes, the graphs.
func (a *Account) Beside(fraction float64) (ledger.Estimate, bool) {
	if a.card == nil {
		return ledger.Estimate{}, false
	}
	budget, err := ledger.Share(a.card.Value, fraction)
	if err != nil {
		return ledger.Estimate{}, false
	}
	left := ledger.Exactly(a.card.Value - budget)
	reserve, _ := a.facts.Set["gpu.reserve"].Value.(int64)
	if left, err = left.Minus(ledger.Exactly(reserve)); err != nil {
		return ledger.Estimate{}, false
	}
	if a.state.Engine.Name == "sglang" || !a.graphsCharged() {
		left, err = left.Minus(a.graphs())
	}
	return left, err == nil
}

// Measured tells whether the pool was read off the engine's log.
func (a *Account) Measured() bool { return a.Tokens != nil && a.TokensSource == ledger.Measured }

// Fraction is the share of the card that the engine is told to take; 0 where it
// is not known.
func (a *Account) Fraction() float64 { return a.fraction }
