package account

import (
	"strings"

	"github.com/trimtab/trimtab/internal/ledger"
)

// statePool is SGLang's pool of recurrent states.
type statePool struct {
	// paddingPaid is true where the budget subtracts the padding slot too.
	paddingPaid bool
	// workers is the attention DP size; nil when not known.
	workers *int64
	// bySlots is how many requests the slots allow in each worker.
	bySlots *int64
	// needs are what is missing for slots and ratio.
	needs []string
}

// sglang draws up the account of an SGLang server.
func (a *Account) sglang() error {
	before := len(a.Needs)
	a.pools.paddingPaid = a.since("0.5.17")
	workers := a.attentionWorkers()
	a.pools.workers = &workers
	a.Ratio = a.derived("mamba_ratio")
	a.pools.bySlots = a.derived("mamba_requests")
	if configured := a.whole("max_mamba_cache_size"); configured != nil && a.pools.workers != nil && *a.pools.workers > 0 {
		slots := *configured / *a.pools.workers
		a.Slots = &slots
	}
	a.pools.needs = append([]string{}, a.Needs[before:]...)
	hybrid, known, _ := a.state.Derived("mamba_hybrid")
	if known && hybrid != true || !known && a.shape != nil && a.shape.LayersTold() && a.shape.LayersLinear == 0 {
		a.Needs = a.Needs[:before] // no states: nothing of them is missing
	}
	if a.shape == nil || !a.sizes.known {
		return a.limitRequests()
	}
	if err := a.fillCells(); err != nil {
		return err
	}
	if err := a.fillRest(); err != nil {
		return err
	}
	if err := a.sglangTokens(); err != nil {
		return err
	}
	return a.limitRequests()
}

// SlotNeeds are the facts that are missing for the slots and what a request
// holds of them.
func (a *Account) SlotNeeds() []string { return a.pools.needs }

// fillCells reads what a token and a slot cost on each stage; the pools are as
// large as those of the stage with the most layers.
func (a *Account) fillCells() error {
	told := a.layoutTold()
	if told && a.shape.LayersSliding > 0 {
		a.need("an account of SGLang's window pools, which is not drawn up")
		told = false
	}
	for number := range min(a.sizes.pp, max(a.shape.Layers, 1)) {
		weights, err := a.weightsOf(number)
		if err != nil {
			return err
		}
		s := stage{weights: weights}
		if told {
			if s.cell = a.cellOf(number); !a.shared(s.cell) {
				s.cell = nil
			}
			s.slot = a.slotOf(number, 0)
			if s.slot != nil {
				if _, err := s.slot.SlotBytes(); err != nil {
					a.need(err.Error())
					s.slot = nil
				}
			}
		}
		a.stages = append(a.stages, s)
	}
	a.Cell, a.State = a.stages[0].cell, a.stages[0].slot
	for _, s := range a.stages {
		if a.Cell != nil && s.cell != nil && bytesOf(s.cell.CellBytes()) > bytesOf(a.Cell.CellBytes()) {
			a.Cell, a.State = s.cell, s.slot
		}
	}
	return nil
}

func bytesOf(bytes int64, err error) int64 {
	if err != nil {
		return 0
	}
	return bytes
}

// Of a card's memory, CUDA or HIP, NCCL and the runtime hold 0.2 to 1 GiB before
// SGLang measures what is free; loading takes a little more than the weights.
const (
	leastContext, usualContext, mostContext = gibi / 5, gibi / 2, gibi
	usualLoading, mostLoading               = gibi / 10, gibi * 6 / 10
	featureCache                            = 100 << 20 // SGLANG_VLM_CACHE_SIZE_MB
	aiterShare                              = 0.85
	aiterLength                             = 8192
)

// fillRest estimates what SGLang leaves for its pools on each stage.
func (a *Account) fillRest() error {
	graphs := a.graphs()
	for i := range a.stages {
		a.stages[i].graphs = &graphs
	}
	if a.card == nil || a.fraction == 0 {
		return nil
	}
	fraction := a.fraction
	if a.aiterShrinks() {
		fraction *= aiterShare
	}
	before, err := a.card.Minus(a.context())
	if err != nil {
		return err
	}
	budget := before
	for _, bytes := range []*int64{&budget.Low, &budget.Value, &budget.High} {
		if *bytes, err = ledger.Share(max(1, *bytes), fraction); err != nil {
			return err
		}
	}
	a.budget = &budget
	if a.state.Given("speculative_algorithm") || a.state.Given("enable_lora") || a.state.Given("lora_paths") || a.optional("cpu_offload_gb") > 0 {
		a.need("measured.kvTokens")
		return nil // draft model, adapters, weights on the host
	}
	multimodal, _ := a.facts.Set["model.multimodal"].Value.(bool)
	for i := range a.stages {
		s := &a.stages[i]
		if s.weights == nil {
			continue
		}
		rest, err := budget.Minus(*s.weights)
		if err != nil {
			return err
		}
		loading := ledger.Between(0, usualLoading, mostLoading)
		if multimodal {
			loading = ledger.Between(featureCache, usualLoading+featureCache, mostLoading+featureCache)
		}
		if rest, err = rest.Minus(loading); err != nil {
			return err
		}
		s.left, s.pool = &rest, a.standing(rest)
	}
	return nil
}

// context is what is taken of the card before SGLang looks: among several GPUs
// the buffers of NCCL too, and those of RCCL, up to 3 % of the card.
func (a *Account) context() ledger.Estimate {
	taken := ledger.Between(leastContext, usualContext, mostContext)
	if reserve, ok := a.facts.Set["gpu.reserve"].Value.(int64); ok {
		taken.High += reserve // what neighbours may hold when the engine looks
	}
	if a.sizes.tp*a.sizes.pp > 1 {
		share := int64(100)
		if vendor, _ := a.facts.Set["gpu.vendor"].Value.(string); vendor == "amd" {
			share = 33
		}
		taken.Value += a.card.Value / share / 2
		taken.High += a.card.Value / share
	}
	return taken
}

// aiterShrinks tells whether SGLang takes less than the fraction says: with
// AITER's attention and a context beyond 8192, on a fraction that is given too.
//
// Source: SGLang python/sglang/srt/server_args.py, _handle_aiter; measured on
// gfx942 and seen in two logged starts on gfx950.
func (a *Account) aiterShrinks() bool {
	arch, _ := a.facts.Set["gpu.arch"].Value.(string)
	backend := a.text("attention_backend")
	aiter := backend == "aiter" || backend == "" && !a.state.Given("attention_backend") && strings.HasPrefix(arch, "gfx9")
	return aiter && a.Length != nil && *a.Length > aiterLength
}

// sglangTokens settles slots and tokens: measured, carried over to the slots
// that are set, else computed from the rest.
func (a *Account) sglangTokens() error {
	measured, ok := a.facts.Set["measured.kvTokens"].Value.(int64)
	with, known := a.facts.Set["measured.mambaSlots"].Value.(int64)
	if !a.fits(a.facts) {
		return nil
	}
	if !ok {
		if logged, told := a.facts.Set["measured.kvBytes"].Value.(string); told && a.Cell != nil {
			return a.loggedCells(logged)
		}
		return a.computedRest()
	}
	if agrees, err := a.agrees(measured, a.facts); err != nil || !agrees {
		return err
	}
	tokens, source := measured, ledger.Measured
	if known && a.Slots != nil && a.State != nil && a.Cell != nil {
		moved, err := a.move(measured, with, *a.Slots)
		if err != nil {
			return err
		}
		tokens = moved
		if with != *a.Slots {
			source = ledger.Computed
		}
	}
	capacity := ledger.Exactly(tokens)
	if source == ledger.Computed {
		off := int64(float64(tokens) * ledger.ExchangeBound)
		capacity = ledger.Between(tokens-off, tokens, tokens+off)
	}
	a.Tokens, a.TokensSource, a.Capacity = &tokens, source, &capacity
	return nil
}

// loggedCells takes the KV cache from what the log says of its size.
func (a *Account) loggedCells(logged string) error {
	low, high, err := ledger.LoggedRange(logged, loggedFigures)
	if err != nil {
		return err
	}
	cell, err := a.Cell.CellBytes()
	if err != nil || high < cell {
		return err
	}
	capacity := ledger.Between(low/cell, (low+(high-low)/2)/cell, high/cell)
	a.Capacity = &capacity
	return nil
}

// computedRest shares the rest of the poorest stage between slots and tokens.
func (a *Account) computedRest() error {
	if a.Cell == nil {
		a.need("measured.kvTokens")
		return nil
	}
	for _, s := range a.stages {
		if s.pool == nil {
			a.need("measured.kvTokens")
			return nil
		}
		capacity, ok, err := a.restTokens(s)
		if err != nil {
			a.need(err.Error())
			return nil
		}
		if !ok {
			return nil
		}
		if a.Capacity == nil || capacity.Value < a.Capacity.Value {
			a.Capacity = &capacity
		}
	}
	return nil
}

// restTokens is what one stage holds in tokens.
func (a *Account) restTokens(s stage) (ledger.Estimate, bool, error) {
	cell, err := s.cell.CellBytes()
	if err != nil {
		return ledger.Estimate{}, false, err
	}
	var tokens [3]int64
	for i, rest := range []int64{s.pool.Low, s.pool.Value, s.pool.High} {
		if rest < 1 {
			continue
		}
		if s.slot == nil {
			if a.shape.LayersLinear > 0 {
				return ledger.Estimate{}, false, nil
			}
			tokens[i] = rest / cell
			continue
		}
		left, ok, err := a.besideSlots(rest, s)
		if err != nil && i == 1 || !ok {
			return ledger.Estimate{}, false, err
		}
		tokens[i] = left
	}
	if tokens[1] < 1 {
		return ledger.Estimate{}, false, nil
	}
	capacity := ledger.Between(tokens[0], tokens[1], tokens[2])
	if stated := a.optional("max_total_tokens"); stated > 0 {
		capacity = ledger.Between(min(capacity.Low, stated), min(capacity.Value, stated), min(capacity.High, stated))
	}
	return capacity, true, nil
}

// besideSlots is what a rest holds in tokens beside the slots: as many as are
// given, or as requests run with the radix cache off, or by the ratio.
func (a *Account) besideSlots(rest int64, s stage) (int64, bool, error) {
	slot, err := s.slot.SlotBytes()
	if err != nil {
		return 0, false, err
	}
	cell, err := s.cell.CellBytes()
	if err != nil {
		return 0, false, err
	}
	slots := int64(0)
	requests := a.optional("max_running_requests")
	switch {
	case a.state.Given("max_mamba_cache_size") && a.since("0.5.7"):
		if a.Slots == nil {
			return 0, false, nil
		}
		slots = *a.Slots
	case a.on("disable_radix_cache") && requests > 0 && a.pools.workers != nil:
		slots = requests / *a.pools.workers
	default:
		if slots, err = ledger.SplitSlots(rest, slot, a.mambaRatio()); err != nil {
			return 0, true, err
		}
	}
	if a.Slots == nil && s.pool.Value == rest {
		a.Slots = &slots
	}
	tokens, err := ledger.Pool{Slots: slots, SlotBytes: slot, CellBytes: cell, PaddingPaid: a.pools.paddingPaid}.Tokens(rest)
	return tokens, true, err
}

// usualMambaRatio is --mamba-full-memory-ratio where it is not given.
const usualMambaRatio = 0.9

func (a *Account) mambaRatio() float64 {
	value, known, _ := a.state.Value("mamba_full_memory_ratio")
	if ratio, ok := value.(float64); known && ok {
		return ratio
	}
	return usualMambaRatio
}

// loggedFigures: SGLang prints K and V, conv and ssm apart, each rounded.
const loggedFigures = 2
