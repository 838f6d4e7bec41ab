package account

import "github.com/trimtab/trimtab/internal/ledger"

// move is what the KV cache holds after the slots change.
func (a *Account) move(tokens, from, to int64) (int64, error) {
	before, err := a.pool(from)
	if err != nil {
		return 0, err
	}
	after, err := a.pool(to)
	if err != nil {
		return 0, err
	}
	return ledger.Exchange(tokens, before, after, 0)
}

func (a *Account) pool(slots int64) (ledger.Pool, error) {
	cell, err := a.Cell.CellBytes()
	if err != nil {
		return ledger.Pool{}, err
	}
	slot, err := a.State.SlotBytes()
	if err != nil {
		return ledger.Pool{}, err
	}
	return ledger.Pool{Slots: slots, SlotBytes: slot, CellBytes: cell, PaddingPaid: a.pools.paddingPaid}, nil
}

// Resized is what the KV cache would hold with another number of slots, and
// what a slot and a token take in bytes. ok is false when something is missing.
func (a *Account) Resized(slots int64) (tokens, slotBytes, cellBytes int64, ok bool) {
	if a.Tokens == nil || a.Slots == nil || a.State == nil || a.Cell == nil {
		return 0, 0, 0, false
	}
	pool, err := a.pool(slots)
	if err != nil {
		return 0, 0, 0, false
	}
	tokens, err = a.move(*a.Tokens, *a.Slots, slots)
	return tokens, pool.SlotBytes, pool.CellBytes, err == nil
}
