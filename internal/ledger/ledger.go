// Package ledger accounts for the memory of one GPU that serves a model: what
// a token of the KV cache and a slot of recurrent state cost, how many of them
// a pool holds, and what one is worth in the other. It is arithmetic alone: in
// come shapes, counts and bytes, out come bytes, tokens and rows with the
// formula they rest on. Bytes are int64 and exact; a GiB is 2^30 bytes. It
// knows no manifest and no release: callers pass what a release does. Input
// that is zero, negative or too large is an error, never a wrong number.
package ledger

import "slices"

// Source tells how the figure of a row is known.
type Source string

// The sources of the contract.
const (
	Measured Source = "measured" // read off the engine's log
	Computed Source = "computed"
	Unknown  Source = "unknown"
)

// The names of rows; a ledger holds those that apply, in this order.
const (
	Card        = "card"
	Engine      = "engine"
	Weights     = "weights"
	Activations = "activations"
	Graphs      = "graphs"
	KV          = "kv"
	Mamba       = "mamba"
	Draft       = "draft"
	Reserve     = "reserve"
	Free        = "free"
)

// Row is one line of the account. A figure that does not apply, or is not
// known, is nil.
type Row struct {
	Name   string `json:"name"`
	Bytes  *int64 `json:"bytes"`
	Tokens *int64 `json:"tokens"`
	Slots  *int64 `json:"slots"`
	// Formula is how the bytes are computed, Inputs are its terms with values.
	Formula string   `json:"formula"`
	Inputs  []string `json:"inputs"`
	// Bound is the relative error of the figures that we stand for: 0.01.
	Bound  float64 `json:"bound"`
	Source Source  `json:"source"`
}

// Ledger is the account of one GPU.
type Ledger struct {
	// GPU is the name of the card, Rank its place in the server, from 0.
	GPU  string `json:"gpu"`
	Rank int    `json:"rank"`
	Rows []Row  `json:"rows"`
}

// Ceiling is how many requests the server runs at once, and what decides it.
type Ceiling struct {
	Requests *int64 `json:"requests"`
	Because  string `json:"because"`
}

// Plan is the account of one server. It is made to be embedded beside what
// names the server.
type Plan struct {
	GPUs []Ledger `json:"gpus"`
	// Tokens are those of the KV cache: the least of all ranks.
	Tokens  *int64  `json:"tokens"`
	Ceiling Ceiling `json:"ceiling"`
	// Rates say what one thing costs in another.
	Rates []string `json:"rates"`
	// Needs are the facts without which a row stays unknown.
	Needs []string `json:"needs"`
}

// Listed returns a copy of the plan in which no list is nil, so that JSON shows
// [] and never null.
func (p Plan) Listed() Plan {
	p.GPUs, p.Rates, p.Needs = listed(p.GPUs), listed(p.Rates), listed(p.Needs)
	for i, gpu := range p.GPUs {
		gpu.Rows = listed(gpu.Rows)
		for j := range gpu.Rows {
			gpu.Rows[j].Inputs = listed(gpu.Rows[j].Inputs)
		}
		p.GPUs[i] = gpu
	}
	return p
}

func listed[T any](list []T) []T { return append([]T{}, slices.Clone(list)...) }

// What we stand for, as relative errors: the worst that the formulas show
// against public logs of pools from 1 GiB, rounded up. Most of it is the log's
// own rounding.
const (
	// CellBound is that of bytes from tokens.
	CellBound = 0.001
	// SlotBound is that of bytes from slots.
	SlotBound = 0.002
	// ExchangeBound is that of tokens moved from a measured pool when slots or
	// types change.
	ExchangeBound = 0.003
	// FractionBound is the same when the memory fraction changes: the total that
	// the engine sees is known less well.
	FractionBound = 0.003
)

// KVRow is the row of a KV cache that holds so many tokens on this rank. The
// source is that of the tokens. Errors are those of the cell, and fewer tokens
// than one.
func KVRow(tokens int64, c Cell, source Source) (Row, error) {
	cell, err := c.CellBytes()
	if err != nil {
		return Row{}, err
	}
	if err := atLeast(1, term{"tokens", tokens}); err != nil {
		return Row{}, err
	}
	bytes, err := product(tokens, cell)
	if err != nil {
		return Row{}, err
	}
	return Row{
		Name: KV, Bytes: &bytes, Tokens: &tokens, Bound: CellBound, Source: source,
		Formula: "tokens x " + c.Formula(),
		Inputs:  append([]string{"tokens = " + Grouped(tokens), "bytes per token = " + Grouped(cell)}, c.Terms()...),
	}, nil
}

// MambaRow is the row of SGLang's state pool on this rank for so many slots
// (--max-mamba-cache-size, divided by the attention DP size): the pool
// allocates one more, as padding. The source is that of the slots. Errors are
// those of the slot, and fewer slots than one.
func MambaRow(slots int64, s Slot, source Source) (Row, error) {
	slot, err := s.SlotBytes()
	if err != nil {
		return Row{}, err
	}
	bytes, err := Pool{Slots: slots, SlotBytes: slot, CellBytes: 1}.Allocated()
	if err != nil {
		return Row{}, err
	}
	return Row{
		Name: Mamba, Bytes: &bytes, Slots: &slots, Bound: SlotBound, Source: source,
		Formula: "(slots + 1) x " + s.Formula(),
		Inputs:  append([]string{"slots = " + Grouped(slots), "bytes per slot = " + Grouped(slot)}, s.Terms()...),
	}, nil
}

// EstimateRow is a row of bytes alone; nil is a figure that is not known.
func EstimateRow(name string, e *Estimate, formula string, inputs ...string) Row {
	row := Row{Name: name, Formula: formula, Inputs: inputs, Source: Unknown}
	if e != nil {
		bytes := e.Value
		row.Bytes, row.Bound, row.Source = &bytes, e.Bound(), Computed
	}
	return row
}
