package ledger

import (
	"errors"
	"fmt"
	"math"
	"math/big"
)

// PoolFormula is how SGLang shares what is left of a GPU between the slots of
// recurrent state and the KV cache, with an explicit --max-mamba-cache-size N.
//
// Source: SGLang _profile_available_bytes and _handle_max_mamba_cache (0.5.16:
// KVCacheConfigurator). The pool always allocates N + 1 slots, one as padding.
// Through 0.5.16 N of them are subtracted from the rest, from 0.5.17 N + 1.
const PoolFormula = "KV tokens = (rest - budgeted slots x slot bytes) / cell bytes"

// ExchangeFormula is what a measured pool holds after a change; what the
// formula of the rest does not know cancels out.
const ExchangeFormula = "KV tokens = measured tokens + (slots before x slot bytes before - slots after x slot bytes after + freed bytes) / cell bytes"

// Pool is the state pool and the KV cache of one rank.
type Pool struct {
	// Slots is --max-mamba-cache-size, divided by the attention DP size.
	Slots int64
	// SlotBytes is State.SlotBytes, CellBytes is Attention.CellBytes.
	SlotBytes, CellBytes int64
	// PaddingPaid is true from SGLang 0.5.17, where the budget subtracts the
	// padding slot too.
	PaddingPaid bool
}

// Allocated is what the state pool takes, in bytes: one slot more than Slots.
// A pool with a size below 1 is an error.
func (p Pool) Allocated() (int64, error) {
	if err := p.check(); err != nil {
		return 0, err
	}
	slots, err := sum(p.Slots, 1)
	if err != nil {
		return 0, err
	}
	return product(slots, p.SlotBytes)
}

// Budgeted is what is subtracted from the rest for the state pool, in bytes.
// A pool with a size below 1 is an error.
func (p Pool) Budgeted() (int64, error) {
	if p.PaddingPaid {
		return p.Allocated()
	}
	if err := p.check(); err != nil {
		return 0, err
	}
	return product(p.Slots, p.SlotBytes)
}

// Tokens is what the KV cache holds when rest bytes are left for both pools,
// by PoolFormula, rounded down. A rest that is used up by the slots is an error.
func (p Pool) Tokens(rest int64) (int64, error) {
	budgeted, err := p.Budgeted()
	if err != nil {
		return 0, err
	}
	tokens := (rest - min(budgeted, rest)) / p.CellBytes
	if rest < 1 || tokens < 1 {
		return 0, fmt.Errorf("%d mamba slots leave no room for KV tokens: lower --max-mamba-cache-size", p.Slots)
	}
	return tokens, nil
}

// Rate says what a slot is worth: "1 mamba slot of 78,446,592 B = 2,394 KV
// tokens of 32,768 B". A pool with a size below 1 is an error.
func (p Pool) Rate() (string, error) {
	if err := p.check(); err != nil {
		return "", err
	}
	tokens := Grouped(p.SlotBytes / p.CellBytes)
	if rest := p.SlotBytes % p.CellBytes; rest != 0 {
		tenth := big.NewInt(rest)
		tenth.Div(tenth.Mul(tenth, big.NewInt(10)), big.NewInt(p.CellBytes))
		tokens = fmt.Sprintf("%s.%d", tokens, tenth)
	}
	return fmt.Sprintf("1 mamba slot of %s B = %s KV tokens of %s B", Grouped(p.SlotBytes), tokens, Grouped(p.CellBytes)), nil
}

func (p Pool) check() error {
	return atLeast(1, term{"mamba slots", p.Slots}, term{"bytes of a slot", p.SlotBytes}, term{"bytes of a token", p.CellBytes})
}

// Exchange is how many tokens a KV cache will hold that was measured to hold
// some with the pool as it was, by ExchangeFormula: after a change of slots, of
// types (the bytes of a slot or of a token), or of the release, and with freed
// bytes more (fewer, when negative) for both. The result is rounded down; the
// part of a token that the measurement did not show can make it one too low.
// With --page-size above 1 the engine rounds down to whole pages. It is an error
// when no token would be left.
func Exchange(measured int64, from, to Pool, freed int64) (int64, error) {
	if err := atLeast(1, term{"measured KV tokens", measured}); err != nil {
		return 0, err
	}
	before, err := from.Budgeted()
	if err != nil {
		return 0, err
	}
	after, err := to.Budgeted()
	if err != nil {
		return 0, err
	}
	bytes := new(big.Int).Mul(big.NewInt(measured), big.NewInt(from.CellBytes))
	bytes.Add(bytes, big.NewInt(before))
	bytes.Sub(bytes, big.NewInt(after))
	bytes.Add(bytes, big.NewInt(freed))
	tokens, err := narrow(floor(bytes, big.NewInt(to.CellBytes)))
	if err != nil {
		return 0, err
	}
	if tokens < 1 {
		return 0, fmt.Errorf("%d mamba slots leave no room for KV tokens: lower --max-mamba-cache-size", to.Slots)
	}
	return tokens, nil
}

// FractionBytes is what a change of --mem-fraction-static frees (takes, when
// negative) of a GPU, to the nearest byte: (to - from) x total. Total is the
// memory the engine saw free before it loaded the model, in bytes.
func FractionBytes(total int64, from, to float64) (int64, error) {
	if err := atLeast(1, term{"memory of the GPU", total}); err != nil {
		return 0, err
	}
	for _, fraction := range []float64{from, to} {
		if !(fraction > 0 && fraction <= 1) {
			return 0, fmt.Errorf("a memory fraction lies above 0 and up to 1, got %v", fraction)
		}
	}
	if total > 1<<52 {
		return 0, errors.New("no GPU has that much memory: state it in bytes")
	}
	return int64(math.Round((to - from) * float64(total))), nil
}
