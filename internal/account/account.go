// Package account draws up the memory account of one server: settings and facts
// at one release go in, the rows of a ledger come out, and what a change of the
// mamba slots costs in KV tokens. What a row needs and does not have is named.
package account

import (
	"slices"
	"strconv"

	"github.com/trimtab/trimtab/hardware"
	"github.com/trimtab/trimtab/internal/engine"
	"github.com/trimtab/trimtab/internal/facts"
	"github.com/trimtab/trimtab/internal/ledger"
)

// Account is the account of one server at one release; every rank has the same.
type Account struct {
	// Attention and State are what one rank keeps; nil where something is not
	// known.
	Attention *ledger.Attention
	State     *ledger.State
	// Slots is --max-mamba-cache-size on one rank; nil when not known.
	Slots *int64
	// Tokens is what the KV cache holds: measured, carried over to the slots
	// that are set now. nil when nothing was measured.
	Tokens *int64
	// TokensSource is measured, or computed when they were carried over.
	TokensSource ledger.Source
	// Requests is how many run at once by the mamba slots; nil when not known.
	Requests *int64
	// Ratio is the number of mamba slots a running request holds.
	Ratio *int64
	// Needs are the facts that are missing for the rest.
	Needs []string
	// Misfits are the measured figures that contradict each other or the card;
	// they are among Needs, and nothing is concluded from what was measured.
	Misfits []string

	paddingPaid bool
	// workers is the attention DP size; nil when not known.
	workers *int64
}

// Of draws up the account of an SGLang server. Errors are overflows and
// figures that contradict each other.
func Of(s *engine.State, g *facts.Gathered) (*Account, error) {
	a := &Account{}
	first, ok := s.Engine.Find("0.5.17")
	a.paddingPaid = ok && s.Release.Index >= first.Index
	tp := a.number(s, "tp_size")
	dp := a.derived(s, "attn_dp")
	a.workers = dp
	a.Ratio = a.derived(s, "mamba_ratio")
	a.Requests = a.derived(s, "mamba_requests")
	if configured := a.number(s, "max_mamba_cache_size"); configured != nil && dp != nil && *dp > 0 {
		slots := *configured / *dp
		a.Slots = &slots
	}
	shape := g.Shape
	if shape == nil {
		a.need("model.name")
	}
	if shape == nil || tp == nil {
		return a, nil
	}
	a.attention(s, shape, *tp)
	a.state(s, shape, *tp)
	return a, a.tokens(g)
}

func (a *Account) need(names ...string) {
	for _, name := range names {
		if !slices.Contains(a.Needs, name) {
			a.Needs = append(a.Needs, name)
		}
	}
}

func (a *Account) number(s *engine.State, key string) *int64 {
	value, known, needs := s.Value(key)
	n, ok := value.(int64)
	if !known || !ok {
		a.need(needs...)
		return nil
	}
	return &n
}

func (a *Account) derived(s *engine.State, name string) *int64 {
	value, known, needs := s.Derived(name)
	n, ok := value.(int64)
	if !known || !ok {
		a.need(needs...)
		return nil
	}
	return &n
}

// attention needs the size of a KV element: a type that is given, or auto on a
// checkpoint whose own type is known to be 16 bits wide and which declares no
// type for the cache.
func (a *Account) attention(s *engine.State, shape *hardware.ModelEntry, tp int64) {
	if !shape.GroupedQuery() {
		return
	}
	value, known, needs := s.Value("kv_cache_dtype")
	dtype, _ := value.(string)
	if known && dtype == "auto" && s.Facts["model.dtype"].Value == nil {
		known, needs = false, []string{"model.dtype"}
	}
	if !known {
		a.need(needs...)
		return
	}
	element, err := ledger.KVElement(dtype)
	if err != nil {
		a.need("--kv-cache-dtype")
		return
	}
	a.Attention = &ledger.Attention{
		Layers: shape.LayersFullAttention, KVHeads: shape.KVHeads,
		KeyDim: shape.HeadDim, ValueDim: shape.HeadDim, Element: element, TP: tp,
	}
}

func (a *Account) state(s *engine.State, shape *hardware.ModelEntry, tp int64) {
	if shape.State == nil || shape.State.Kind != "gdn" {
		return
	}
	dtype := shape.State.ConfigSSMDType
	if value, known, _ := s.Value("mamba_ssm_dtype"); known {
		dtype, _ = value.(string)
	}
	element, err := ledger.SSMElementBytes(dtype)
	if err != nil {
		a.need("--mamba-ssm-dtype")
		return
	}
	a.State = &ledger.State{
		Layers: shape.LayersLinear, KeyHeads: shape.State.KHeads, KeyDim: shape.State.KHeadDim,
		ValueHeads: shape.State.VHeads, ValueDim: shape.State.VHeadDim,
		ConvKernel: shape.State.ConvKernel, SSMElementBytes: element, TP: tp,
	}
}

// tokens carries the measured KV tokens over from the slots they were measured
// with to those that are set. Logged bytes that do not agree with the computed
// ones make the account stop: one of them is about another server.
func (a *Account) tokens(g *facts.Gathered) error {
	measured, ok := g.Set["measured.kvTokens"].Value.(int64)
	if !ok {
		a.need("measured.kvTokens")
	}
	with, known := g.Set["measured.mambaSlots"].Value.(int64)
	if !a.fits(g) || !ok || a.Attention == nil {
		return nil
	}
	if agrees, err := a.agrees(measured, g); err != nil || !agrees {
		return err
	}
	if !known || a.Slots == nil || a.State == nil {
		a.Tokens, a.TokensSource = &measured, ledger.Measured
		return nil
	}
	tokens, err := a.move(measured, with, *a.Slots)
	if err != nil {
		return err
	}
	a.Tokens, a.TokensSource = &tokens, ledger.Measured
	if with != *a.Slots {
		a.TokensSource = ledger.Computed
	}
	return nil
}

// loggedFigures: SGLang prints K and V, conv and ssm apart, each rounded.
const loggedFigures = 2

func (a *Account) agrees(measured int64, g *facts.Gathered) (bool, error) {
	if logged, ok := g.Set["measured.kvBytes"].Value.(string); ok {
		row, err := ledger.KVRow(measured, *a.Attention, ledger.Measured)
		if err != nil {
			return false, err
		}
		if same, err := ledger.Agrees(*row.Bytes, logged, loggedFigures); err != nil || !same {
			a.misfit("measured.kvBytes that agree with " + strconv.FormatInt(*row.Bytes, 10) + " B, or measured.kvTokens that do")
			return false, err
		}
	}
	slots, known := g.Set["measured.mambaSlots"].Value.(int64)
	logged, ok := g.Set["measured.mambaBytes"].Value.(string)
	if !ok || !known || a.State == nil {
		return true, nil
	}
	row, err := ledger.MambaRow(slots, *a.State, ledger.Measured)
	if err != nil {
		return false, err
	}
	same, err := ledger.Agrees(*row.Bytes, logged, loggedFigures)
	if !same {
		a.misfit("measured.mambaBytes that agree with " + strconv.FormatInt(*row.Bytes, 10) + " B, or measured.mambaSlots that do")
	}
	return same, err
}

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
	cell, err := a.Attention.CellBytes()
	if err != nil {
		return ledger.Pool{}, err
	}
	slot, err := a.State.SlotBytes()
	if err != nil {
		return ledger.Pool{}, err
	}
	return ledger.Pool{Slots: slots, SlotBytes: slot, CellBytes: cell, PaddingPaid: a.paddingPaid}, nil
}

// Resized is what the KV cache would hold with another number of slots, and
// what a slot and a token take in bytes. ok is false when something is missing.
func (a *Account) Resized(slots int64) (tokens, slotBytes, cellBytes int64, ok bool) {
	if a.Tokens == nil || a.Slots == nil || a.State == nil || a.Attention == nil {
		return 0, 0, 0, false
	}
	pool, err := a.pool(slots)
	if err != nil {
		return 0, 0, 0, false
	}
	tokens, err = a.move(*a.Tokens, *a.Slots, slots)
	return tokens, pool.SlotBytes, pool.CellBytes, err == nil
}

// Plan is the account as a ledger, one per rank.
func (a *Account) Plan(gpu string, ranks int64) (ledger.Plan, error) {
	plan := ledger.Plan{Tokens: a.Tokens, Needs: a.Needs}
	var rows []ledger.Row
	if a.Tokens != nil && a.Attention != nil {
		row, err := ledger.KVRow(*a.Tokens, *a.Attention, a.TokensSource)
		if err != nil {
			return plan, err
		}
		rows = append(rows, row)
	}
	if a.Slots != nil && a.State != nil {
		row, err := ledger.MambaRow(*a.Slots, *a.State, ledger.Computed)
		if err != nil {
			return plan, err
		}
		rows = append(rows, row)
	}
	if a.Attention != nil && a.State != nil && a.Slots != nil {
		if pool, err := a.pool(*a.Slots); err == nil {
			if rate, err := pool.Rate(); err == nil {
				plan.Rates = append(plan.Rates, rate)
			}
		}
	}
	if a.Requests != nil && a.Slots != nil && a.Ratio != nil {
		plan.Ceiling = ledger.Ceiling{Requests: a.Requests, Because: "max_mamba_cache_size " + strconv.FormatInt(*a.Slots, 10) +
			" // " + strconv.FormatInt(*a.Ratio, 10) + " mamba slots a request, in each attention DP worker"}
	}
	for rank := range min(max(ranks, 1), 64) {
		plan.GPUs = append(plan.GPUs, ledger.Ledger{GPU: gpu, Rank: int(rank), Rows: rows})
	}
	return plan.Listed(), nil
}
