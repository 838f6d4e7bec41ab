package account

import (
	"fmt"
	"strconv"

	"github.com/trimtab/trimtab/internal/ledger"
)

// mostShown is how many ranks a plan shows; more of them are alike.
const mostShown = 64

// Plan is the account as a ledger, one per rank; gpu is the catalogue's name, for
// display. The error says which stated figure cannot be.
func (a *Account) Plan(gpu string) (ledger.Plan, error) {
	if a.absurd != nil {
		return ledger.Plan{}, a.absurd
	}
	plan := ledger.Plan{Needs: a.Needs, Ceiling: ledger.Ceiling{Requests: a.Requests, Because: a.Because}}
	if a.Capacity != nil && len(a.Misfits) == 0 {
		tokens := a.Capacity.Value
		plan.Tokens = &tokens
	}
	ranks := int64(1)
	if a.sizes.known {
		ranks = a.sizes.tp * a.sizes.pp
		if a.sizes.heads == a.sizes.tp {
			ranks *= a.sizes.dp // SGLang's attention workers divide the ranks and do not multiply them
		}
	}
	rows := map[int64][]ledger.Row{}
	for rank := range min(ranks, mostShown) {
		number := int64(0)
		if a.sizes.known {
			number = rank / a.sizes.tp % a.sizes.pp
		}
		if rows[number] == nil {
			list, err := a.rows(number)
			if err != nil {
				return plan, err
			}
			rows[number] = list
		}
		plan.GPUs = append(plan.GPUs, ledger.Ledger{GPU: gpu, Rank: int(rank), Rows: rows[number]})
	}
	plan.Rates = a.rates()
	return plan.Listed(), nil
}

// rows are the lines of one rank of a stage, those that apply.
func (a *Account) rows(number int64) ([]ledger.Row, error) {
	var s stage
	if number < int64(len(a.stages)) {
		s = a.stages[number]
	}
	var rows []ledger.Row
	add := func(name string, e *ledger.Estimate, formula string, inputs ...string) {
		rows = append(rows, ledger.EstimateRow(name, e, formula, inputs...))
	}
	if a.card == nil && len(a.stages) == 0 && a.Tokens == nil {
		return nil, nil
	}
	add(ledger.Card, a.card, "what the engine sees of the card, at most what its driver reports", a.source("gpu.memory"))
	a.addEngine(add)
	add(ledger.Weights, s.weights, ledger.WeightsFormula, a.weightTerms()...)
	kv, err := a.kvRow(s)
	if err != nil {
		return nil, err
	}
	a.addActivations(add, s, kv)
	if s.graphs != nil {
		place := "beside what the engine takes"
		if a.state.Engine.Name == "vllm" && a.graphsCharged() {
			place = "out of what the engine takes"
		}
		add(ledger.Graphs, s.graphs, ledger.GraphFormula, place)
	}
	rows = append(rows, kv)
	if a.Slots != nil && a.State != nil && *a.Slots > 0 {
		row, err := a.mambaRow()
		if err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	if s.draft != nil {
		add(ledger.Draft, s.draft, "weights of the layers that predict further tokens / TP")
	}
	return a.addFree(rows, s)
}

// source is a fact with its value and where it was read.
func (a *Account) source(fact string) string {
	known, ok := a.facts.Set[fact]
	if !ok {
		return fact + " is not known"
	}
	if n, isNumber := known.Value.(int64); isNumber {
		return fact + " = " + ledger.Grouped(n) + " (" + known.Source + ")"
	}
	return fmt.Sprintf("%s = %v (%s)", fact, known.Value, known.Source)
}

// setting is a setting with its value and whether it is given.
func (a *Account) setting(key string) string {
	value, known, _ := a.state.Value(key)
	text := "--" + flagged(key) + " = " + fmt.Sprint(value)
	switch {
	case !known:
		return "--" + flagged(key) + " is not known"
	case a.state.Given(key):
		return text + " (given)"
	}
	return text + " (default of " + a.state.Engine.Name + " " + a.state.Release.Version + ")"
}

func (a *Account) addEngine(add func(string, *ledger.Estimate, string, ...string)) {
	k := keys[a.state.Engine.Name]
	formula := "fraction x card"
	inputs := []string{a.setting(k.fraction)}
	if a.fraction > 0 && !a.state.Given(k.fraction) {
		inputs = []string{fmt.Sprintf("--%s = %v (by the engine)", flagged(k.fraction), a.fraction)}
	}
	if a.state.Engine.Name == "sglang" {
		formula = "fraction x what is free before loading (" + ledger.RestFormula + ")"
		if a.aiterShrinks() {
			inputs = append(inputs, "x 0.85 (AITER's attention, context beyond 8,192)")
		}
	}
	if a.statedPool() != nil {
		inputs = append(inputs, "--kv-cache-memory-bytes decides the KV cache instead")
	}
	add(ledger.Engine, a.budget, formula, inputs...)
}

func (a *Account) weightTerms() []string {
	stored, ok := a.stored()
	if !ok || a.shape.Parameters == nil {
		return nil
	}
	p := a.shape.Parameters
	terms := []string{
		fmt.Sprintf("attention %s, MLP %s, experts %s, replicated %s, embedding %s, head %s, vision %s weights (%s)", ledger.Grouped(p.Attention), ledger.Grouped(p.MLP),
			ledger.Grouped(p.Experts), ledger.Grouped(p.Replicated), ledger.Grouped(p.Embedding), ledger.Grouped(p.Head), ledger.Grouped(p.Vision), a.shape.Source),
		fmt.Sprintf("bits = %d", stored.Bits), fmt.Sprintf("TP = %d, PP = %d, ranks of the experts = %d", a.sizes.tp, a.sizes.pp, a.sizes.experts),
	}
	if stored.GroupSize > 0 {
		terms = append(terms, fmt.Sprintf("group size = %d", stored.GroupSize))
	}
	return terms
}

// addActivations shows what a measured pool leaves for activations, else the
// estimate. SGLang's stand beside what the engine takes.
func (a *Account) addActivations(add func(string, *ledger.Estimate, string, ...string), s stage, kv ledger.Row) {
	if a.state.Engine.Name == "sglang" {
		if a.card != nil && a.budget != nil {
			rest, err := a.card.Minus(*a.budget)
			if err == nil {
				add(ledger.Activations, &rest, "card - engine: context, activations and graphs share it")
			}
		}
		return
	}
	if kv.Source == ledger.Measured && kv.Bytes != nil && s.weights != nil && a.budget != nil {
		rest, err := a.budget.Minus(*s.weights)
		if err == nil {
			if rest, err = rest.Minus(ledger.Exactly(*kv.Bytes)); err == nil {
				add(ledger.Activations, &rest, "engine - weights - measured KV cache: activations, context and what else is charged")
				return
			}
		}
	}
	add(ledger.Activations, s.activations, ledger.ActivationFormula, a.setting("max_num_batched_tokens"), a.setting("max_num_seqs"))
}

// kvRow is the row of the KV cache on a rank of a stage.
func (a *Account) kvRow(s stage) (ledger.Row, error) {
	if a.state.Engine.Name == "sglang" {
		return a.cellRow(s)
	}
	row := ledger.Row{Name: ledger.KV, Source: ledger.Unknown, Formula: ledger.PagedFormula}
	if s.paged != nil {
		row.Inputs = s.paged.Terms()
		row.Inputs = append(row.Inputs, a.setting("kv_cache_dtype"))
	}
	if s.slot != nil && a.paged.known {
		row.Inputs = append(row.Inputs, a.stateTerms(s)...)
	}
	if a.Capacity != nil {
		tokens := a.Capacity.Value
		row.Tokens, row.Bound, row.Source = &tokens, a.Capacity.Bound(), ledger.Computed
		if a.Tokens != nil {
			row.Source = a.TokensSource
			row.Inputs = append(row.Inputs, a.source("measured.kvTokens"))
		}
	}
	if a.paged.blocks != nil && s.paged != nil {
		bytes, err := ledger.Product(a.paged.blocks.Value, s.paged.BlockBytes)
		if err != nil {
			return row, err
		}
		row.Bytes = &bytes
		row.Bound = max(row.Bound, a.paged.blocks.Bound())
		row.Inputs = append([]string{"blocks = " + ledger.Grouped(a.paged.blocks.Value)}, row.Inputs...)
	}
	if logged := a.loggedBytes(); row.Bytes == nil && logged != nil && len(a.Misfits) == 0 {
		bytes := logged.Value
		row.Bytes, row.Source = &bytes, ledger.Measured
		row.Bound = max(row.Bound, logged.Bound())
		row.Inputs = append(row.Inputs, a.source("measured.kvBytes"))
	}
	return row, nil
}

// stateTerms say what the recurrent state of one request takes of vLLM's pool,
// whatever its length.
func (a *Account) stateTerms(s stage) []string {
	bytes, err := s.slot.SlotBytes()
	if err != nil || s.paged == nil {
		return nil
	}
	groups := int64(0)
	for _, group := range s.paged.Groups {
		if group.StateBytes > 0 {
			groups++
		}
	}
	return []string{fmt.Sprintf("state of one request = %s B in %d blocks", ledger.Grouped(bytes), groups*a.paged.request.StateBlocks)}
}

// cellRow is the row of SGLang's KV cache.
func (a *Account) cellRow(s stage) (ledger.Row, error) {
	cell := s.cell
	if cell == nil {
		cell = a.Cell
	}
	if a.Capacity == nil || a.Capacity.Value < 1 {
		row := ledger.Row{Name: ledger.KV, Source: ledger.Unknown}
		if cell != nil {
			row.Formula, row.Inputs = "tokens x "+cell.Formula(), append(cell.Terms(), a.setting("kv_cache_dtype"))
		}
		return row, nil
	}
	tokens, source := a.Capacity.Value, ledger.Computed
	if a.Tokens != nil {
		source = a.TokensSource
	}
	if cell == nil {
		return ledger.Row{Name: ledger.KV, Tokens: &tokens, Source: source, Bound: a.Capacity.Bound(), Inputs: []string{a.source("measured.kvTokens")}}, nil
	}
	row, err := ledger.KVRow(tokens, cell, source)
	row.Bound = max(row.Bound, a.Capacity.Bound())
	row.Inputs = append(row.Inputs, a.setting("kv_cache_dtype"))
	if a.Tokens != nil {
		row.Inputs = append(row.Inputs, a.source("measured.kvTokens"))
	}
	return row, err
}

func (a *Account) mambaRow() (ledger.Row, error) {
	row, err := ledger.MambaRow(*a.Slots, a.State, ledger.Computed)
	if err == nil && !a.state.Given("max_mamba_cache_size") && a.Capacity != nil {
		row.Bound = max(row.Bound, a.Capacity.Bound()) // slots by the ratio are as uncertain as the rest
		row.Inputs = append(row.Inputs, fmt.Sprintf("ratio to the KV cache = %v", a.mambaRatio()))
	}
	return row, err
}

// addFree closes the account: what neighbours need, and what is left.
func (a *Account) addFree(rows []ledger.Row, s stage) ([]ledger.Row, error) {
	reserve := ledger.Exactly(0)
	if stated, ok := a.facts.Set["gpu.reserve"].Value.(int64); ok {
		reserve = ledger.Exactly(stated)
		rows = append(rows, ledger.EstimateRow(ledger.Reserve, &reserve, "what neighbours on the same card need", a.source("gpu.reserve")))
	}
	if a.card == nil || a.budget == nil {
		return append(rows, ledger.EstimateRow(ledger.Free, nil, "card - engine - reserve")), nil
	}
	free, err := a.card.Minus(*a.budget)
	if err != nil {
		return rows, err
	}
	if free, err = free.Minus(reserve); err != nil {
		return rows, err
	}
	formula := "card - engine - reserve"
	if a.state.Engine.Name == "vllm" && !a.graphsCharged() && s.graphs != nil {
		if free, err = free.Minus(*s.graphs); err != nil {
			return rows, err
		}
		formula += " - graphs"
	}
	if a.state.Engine.Name == "sglang" {
		formula = "card - engine - reserve; context, activations and graphs come out of it"
	}
	return append(rows, ledger.EstimateRow(ledger.Free, &free, formula)), nil
}

// hundredth is the step of the memory fraction that a rate is told for.
const hundredth = 0.01

// rates say what one thing costs in another.
func (a *Account) rates() []string {
	var rates []string
	if a.Cell != nil && a.State != nil && a.Slots != nil && *a.Slots > 0 {
		if pool, err := a.pool(*a.Slots); err == nil {
			if rate, err := pool.Rate(); err == nil {
				rates = append(rates, rate)
			}
		}
	}
	fraction := flagged(keys[a.state.Engine.Name].fraction)
	if a.card != nil && a.fraction > 0 && a.fraction <= 1-hundredth {
		if more, ok := a.AtFraction(a.fraction + hundredth); ok {
			rates = append(rates, fmt.Sprintf("0.01 of --%s, %s B a GPU = %s KV tokens", fraction,
				ledger.Grouped(int64(float64(a.card.Value)*hundredth)), ledger.Grouped(more-a.Capacity.Value)))
		}
	}
	if a.Length != nil && a.Capacity != nil && a.Capacity.Value > 0 {
		rates = append(rates, a.fullLength()...)
	}
	return rates
}

// fullLength says how many requests of the full length fit at once.
func (a *Account) fullLength() []string {
	concurrency := float64(a.Capacity.Value) / float64(*a.Length)
	if a.paged.blocks != nil && len(a.stages) > 0 {
		var err error
		concurrency, err = a.stages[0].paged.Concurrency(a.paged.blocks.Value, *a.Length, a.paged.request)
		if err != nil {
			return nil
		}
		concurrency *= float64(a.contextRanks())
	}
	return []string{"concurrency at full length: " + strconv.FormatFloat(concurrency, 'f', 2, 64) + " requests of " + ledger.Grouped(*a.Length) + " tokens"}
}
