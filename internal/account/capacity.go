package account

import (
	"math"
	"math/big"

	"github.com/trimtab/trimtab/internal/ledger"
)

// settlePaged settles blocks and tokens of vLLM's pool. Measured tokens beat
// what is computed; logged bytes stand where no tokens are stated.
func (a *Account) settlePaged() error {
	measured, hasTokens := a.facts.Set["measured.kvTokens"].Value.(int64)
	logged, hasBytes := a.facts.Set["measured.kvBytes"].Value.(string)
	switch {
	case hasTokens:
		return a.measuredPaged(measured, logged)
	case hasBytes:
		if err := a.loggedPool(); err != nil {
			return err
		}
	}
	if a.paged.blocks == nil {
		a.need("measured.kvTokens")
		return nil
	}
	return a.computedCapacity()
}

// loggedPool takes the pool from what the log says of its size.
func (a *Account) loggedPool() error {
	pool := a.loggedBytes()
	for i := range a.stages {
		if a.stages[i].paged == nil || pool == nil {
			return nil
		}
		a.stages[i].pool = pool
	}
	a.paged.blocks = a.poorest()
	return nil
}

// measuredPaged takes the tokens that the engine logged.
func (a *Account) measuredPaged(measured int64, logged string) error {
	if measured < oneRequest || measured > largestCard {
		a.misfit("measured.kvTokens that a GPU can hold: " + ledger.Grouped(measured) + " cannot be what the engine logged")
		return nil
	}
	blocks, ok, err := a.blocksOf(measured)
	if err != nil {
		return err
	}
	if ok && !a.blocksFit(blocks, measured, logged) {
		return nil
	}
	a.paged.blocks = nil
	if ok {
		a.paged.blocks = &blocks
	}
	capacity := ledger.Exactly(measured)
	a.Tokens, a.TokensSource, a.Capacity = &measured, ledger.Measured, &capacity
	return nil
}

// blocksFit tells whether so many blocks can be those of the server: they fit on
// the card, and are the bytes that the log shows.
func (a *Account) blocksFit(blocks ledger.Estimate, measured int64, logged string) bool {
	agreed := logged == ""
	for _, s := range a.stages {
		taken := new(big.Int).Mul(big.NewInt(blocks.Value), big.NewInt(s.paged.BlockBytes))
		limit, about := largestCard, "any GPU"
		if a.card != nil {
			limit, about = a.card.High, "the GPU"
			if s.weights != nil && !a.offloads() && s.weights.Low > 0 {
				limit, about = max(0, limit-s.weights.Low), "the GPU beside the weights"
			}
		}
		if taken.Cmp(big.NewInt(limit)) > 0 {
			a.misfit("measured.kvTokens that fit into the " + ledger.Grouped(limit) + " B of " + about + ": " +
				ledger.Grouped(measured) + " would take " + taken.String() + " B")
			return false
		}
		low, high, err := ledger.LoggedRange(logged, 1)
		agreed = agreed || err == nil && blocks.High*s.paged.BlockBytes >= low-s.paged.BlockBytes && blocks.Low*s.paged.BlockBytes <= high
	}
	if !agreed {
		a.misfit("measured.kvBytes that agree with " + ledger.Grouped(blocks.Value*a.stages[0].paged.BlockBytes) + " B, or measured.kvTokens that do")
	}
	return agreed
}

// blocksOf is how many blocks make the tokens that the engine logged; ok is
// false where the pool's shape is not known, or no number of blocks does.
func (a *Account) blocksOf(tokens int64) (blocks ledger.Estimate, ok bool, err error) {
	for _, s := range a.stages {
		if s.paged == nil {
			return blocks, false, nil
		}
	}
	if len(a.stages) == 0 {
		return blocks, false, nil
	}
	p := a.stages[0].paged
	groups := int64(len(p.Groups))
	switch {
	case groups == 1:
		n := tokens / a.contextRanks() / max(1, p.Groups[0].BlockTokens)
		return ledger.Exactly(n), n > 0, nil
	case !a.byLength():
		perGroup := p.TokensByGroups(groups)
		n := tokens / perGroup * groups
		return ledger.Between(n, n, n+groups-1), n > 0 && tokens%perGroup == 0, nil
	case a.Length == nil:
		return blocks, false, nil
	}
	need, err := p.RequestBlocks(*a.Length, a.paged.request)
	if err != nil {
		return blocks, false, err
	}
	n := new(big.Int).Mul(big.NewInt(tokens), big.NewInt(need))
	n.Add(n, big.NewInt(*a.Length-1)).Div(n, big.NewInt(*a.Length))
	if !n.IsInt64() {
		return blocks, false, nil
	}
	back, err := p.TokensByLength(n.Int64(), *a.Length, a.paged.request)
	if back != tokens {
		a.need("settings that explain measured.kvTokens: the pool is no whole number of blocks with those given")
	}
	return ledger.Exactly(n.Int64()), err == nil && back == tokens, err
}

// byLength tells how the release counts tokens of models with several groups.
func (a *Account) byLength() bool { return a.since("0.20.1") }

// contextRanks is the number of ranks that share the tokens of a request
// (decode context parallelism).
func (a *Account) contextRanks() int64 {
	if n := a.optional("decode_context_parallel_size"); n > 1 {
		return n
	}
	return 1
}

// optional is a whole number that is given, else 0.
func (a *Account) optional(key string) int64 {
	value, known, _ := a.state.Value(key)
	n, ok := value.(int64)
	if !known || !ok || !a.state.Given(key) {
		return 0
	}
	return n
}

// poorest is the number of blocks of the stage with the fewest; nil where the
// pool of one is not known.
func (a *Account) poorest() *ledger.Estimate {
	var least *ledger.Estimate
	for _, s := range a.stages {
		if s.paged == nil || s.pool == nil {
			return nil
		}
		blocks := ledger.Between(s.paged.Blocks(s.pool.Low), s.paged.Blocks(s.pool.Value), s.paged.Blocks(s.pool.High))
		if least != nil {
			blocks = ledger.Between(min(blocks.Low, least.Low), min(blocks.Value, least.Value), min(blocks.High, least.High))
		}
		least = &blocks
	}
	return least
}

// computedCapacity turns blocks into tokens, as the release logs them.
func (a *Account) computedCapacity() error {
	var tokens [3]int64
	for i, blocks := range []int64{a.paged.blocks.Low, a.paged.blocks.Value, a.paged.blocks.High} {
		count, ok, err := a.tokensOf(blocks)
		if err != nil || !ok {
			return err
		}
		tokens[i] = count
	}
	capacity := ledger.Between(tokens[0], tokens[1], tokens[2])
	a.Capacity = &capacity
	return nil
}

// tokensOf is what so many blocks are in tokens, as the release logs them.
func (a *Account) tokensOf(blocks int64) (tokens int64, ok bool, err error) {
	p := a.stages[0].paged
	switch {
	case len(p.Groups) == 1 && p.Groups[0].BlockTokens > 0 && p.Groups[0].Window == 0:
		tokens, err = ledger.Product(blocks, p.Groups[0].BlockTokens, a.contextRanks())
		return tokens, err == nil, err
	case !a.byLength():
		return p.TokensByGroups(blocks), true, nil
	case a.Length == nil:
		return 0, false, nil
	}
	tokens, err = p.TokensByLength(blocks, *a.Length, a.paged.request)
	return tokens, err == nil, err
}

// AtFraction is how many tokens the KV cache would hold with another share of
// the card, by what a measured or computed pool holds now: the rest of the
// account cancels out. ok is false when something is missing.
func (a *Account) AtFraction(fraction float64) (tokens int64, ok bool) {
	if a.card == nil || a.fraction == 0 || a.Capacity == nil || a.statedPool() != nil {
		return 0, false
	}
	freed, err := ledger.FractionBytes(a.card.Value, a.fraction, fraction)
	if err != nil {
		return 0, false
	}
	if a.state.Engine.Name != "vllm" {
		return a.moved(freed)
	}
	if a.paged.blocks == nil || len(a.stages) == 0 {
		return a.byOwnRatio(freed)
	}
	tokens, ok, err = a.tokensOf(a.blocksAfter(freed))
	return tokens, ok && err == nil
}

// blocksAfter is how many blocks vLLM's pool has after bytes are freed on every
// rank.
func (a *Account) blocksAfter(freed int64) int64 {
	least := int64(math.MaxInt64)
	for _, s := range a.stages {
		least = min(least, a.paged.blocks.Value+ledger.FloorDiv(freed, s.paged.BlockBytes))
	}
	return max(0, least)
}

// byOwnRatio is what a KV cache holds after bytes are freed by what it was
// measured to take for its tokens, where no formula tells: models whose requests
// take a fixed part too are not moved so.
func (a *Account) byOwnRatio(freed int64) (int64, bool) {
	bytes := a.loggedBytes()
	if a.Tokens == nil || bytes == nil || a.shape != nil && (a.shape.LayersLinear > 0 || a.shape.LayersSliding > 0) {
		return 0, false
	}
	moved := new(big.Int).Mul(big.NewInt(freed), big.NewInt(*a.Tokens))
	moved.Div(moved, big.NewInt(bytes.Value))
	return *a.Tokens + moved.Int64(), moved.IsInt64()
}

// loggedBytes is the size of the KV cache as the log says it; nil where it does
// not.
func (a *Account) loggedBytes() *ledger.Estimate {
	logged, ok := a.facts.Set["measured.kvBytes"].Value.(string)
	low, high, err := ledger.LoggedRange(logged, 1)
	if !ok || err != nil || low < 1 {
		return nil
	}
	bytes := ledger.Between(low, low+(high-low)/2, high)
	return &bytes
}

// moved is what SGLang's KV cache holds after bytes are freed.
func (a *Account) moved(freed int64) (int64, bool) {
	if a.Cell == nil {
		return 0, false
	}
	cell, err := a.Cell.CellBytes()
	if err != nil {
		return 0, false
	}
	return a.Capacity.Value + ledger.FloorDiv(freed, cell), true
}
