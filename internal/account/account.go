// Package account draws up the memory account of one server: settings and facts
// at one release go in, the rows of a ledger come out, and what a change of the
// mamba slots or of the memory fraction costs in KV tokens. What was measured
// beats what is computed; what a row needs and does not have is named.
package account

import (
	"fmt"
	"slices"
	"strings"

	"github.com/trimtab/trimtab/hardware"
	"github.com/trimtab/trimtab/internal/engine"
	"github.com/trimtab/trimtab/internal/facts"
	"github.com/trimtab/trimtab/internal/ledger"
)

// Account is the account of one server at one release.
type Account struct {
	// Cell is what a token costs on the rank with the most layers, State what a
	// slot of recurrent state does; nil where something is not known, or the
	// model has none.
	Cell  ledger.Cell
	State ledger.Slot
	// Slots is --max-mamba-cache-size on one rank; nil when not known.
	Slots *int64
	// Tokens is what the KV cache holds: measured, or carried over to the settings
	// as they are now; nil when nothing was measured.
	Tokens *int64
	// TokensSource is measured, or computed when they were carried over.
	TokensSource ledger.Source
	// Capacity is how many tokens the KV cache holds, measured or computed, with
	// its limits; nil when not known.
	Capacity *ledger.Estimate
	// Length is the longest request that the server accepts, in tokens.
	Length *int64
	// Requests is how many run at once, Because what sets it; nil when not known.
	Requests *int64
	Because  string
	// Ratio is the number of mamba slots a running request holds.
	Ratio *int64
	// Needs are the facts that are missing for the rest.
	Needs []string
	// Misfits are the measured figures that contradict each other or the card;
	// they are among Needs, and nothing is concluded from what was measured.
	Misfits []string

	// absurd is the first setting whose figure no server has.
	absurd error

	state *engine.State
	facts *facts.Gathered
	shape *hardware.ModelEntry
	sizes sizes
	// card is the memory of one GPU as the engine sees it, in bytes, and budget
	// what the engine takes of it.
	card, budget *ledger.Estimate
	fraction     float64
	stages       []stage
	paged        pagedPool
	pools        statePool
}

// sizes are the parallel sizes of a server.
type sizes struct {
	tp, pp, dp int64
	// experts is the number of ranks that share the routed experts, heads the
	// number that share the attention heads.
	experts, heads int64
	known          bool
}

// stage is one pipeline stage; every rank of it has the same account.
type stage struct {
	weights, activations, graphs, draft *ledger.Estimate
	// pool is what is left for KV cache and state, in bytes, with its limits; left
	// is the same also where the limits are too wide to stand for.
	pool, left *ledger.Estimate
	// paged is vLLM's pool, cell what a token costs in SGLang's.
	paged *ledger.Paged
	cell  ledger.Cell
	slot  ledger.Slot
}

// Of draws up the account of a server. Errors are overflows and settings that
// no engine can have.
func Of(s *engine.State, g *facts.Gathered) (*Account, error) {
	a := &Account{state: s, facts: g, shape: g.Shape}
	if a.shape == nil {
		a.need(g.Set.SettledBy("model.layers"))
	}
	if err := a.readSizes(); err != nil {
		return nil, err
	}
	if err := a.readBudget(); err != nil {
		return nil, err
	}
	a.readLength()
	draw := a.sglang
	if s.Engine.Name == "vllm" {
		draw = a.vllm
	}
	if err := draw(); err != nil {
		return nil, err
	}
	if a.Tokens != nil {
		a.Needs = slices.DeleteFunc(a.Needs, func(need string) bool { return need == "measured.kvTokens" })
	}
	return a, nil
}

func (a *Account) need(names ...string) {
	for _, name := range names {
		internal := strings.Contains(name, "_") && !strings.ContainsAny(name, "-. ") // of a definition that the release has not
		if !internal && !slices.Contains(a.Needs, name) {
			a.Needs = append(a.Needs, name)
		}
	}
}

// since tells whether the release is a version or later.
func (a *Account) since(version string) bool {
	first, ok := a.state.Engine.Find(version)
	return ok && a.state.Release.Index >= first.Index
}

// whole is a setting with a whole number; what is missing is needed.
func (a *Account) whole(key string) *int64 { return a.integer(a.state.Value(key)) }

// derived is a value that the engine's facts define.
func (a *Account) derived(name string) *int64 { return a.integer(a.state.Derived(name)) }

func (a *Account) integer(value any, known bool, needs []string) *int64 {
	n, ok := value.(int64)
	if !known || !ok {
		a.need(needs...)
		return nil
	}
	return &n
}

// text is a setting with a text; empty where it is not known or null.
func (a *Account) text(key string) string {
	value, known, _ := a.state.Value(key)
	text, _ := value.(string)
	if !known {
		return ""
	}
	return text
}

// on tells whether a switch is known to be on.
func (a *Account) on(key string) bool {
	value, known, _ := a.state.Value(key)
	return known && value == true
}

// number is a setting with a number, in floats; ok is false where it is not
// known or null.
func (a *Account) number(key string) (number float64, ok bool) {
	value, known, needs := a.state.Value(key)
	switch v := value.(type) {
	case float64:
		return v, known
	case int64:
		return float64(v), known
	}
	if !known {
		a.need(needs...)
	}
	return 0, false
}

// mostRanks is more than any server has.
const mostRanks = 1 << 16

// keys are what the engines call the same setting.
var keys = map[string]struct{ tp, pp, dp, fraction, length, method, path string }{
	"vllm": {"tensor_parallel_size", "pipeline_parallel_size", "data_parallel_size", "gpu_memory_utilization",
		"max_model_len", "quantization", "model"},
	"sglang": {"tp_size", "pp_size", "dp_size", "mem_fraction_static", "context_length", "quantization", "model_path"},
}

// readSizes reads the parallel sizes; one below 1 is an error.
func (a *Account) readSizes() error {
	k := keys[a.state.Engine.Name]
	values := map[string]*int64{}
	for _, key := range []string{k.tp, k.pp, k.dp} {
		values[key] = a.whole(key)
		if _, exists := a.state.Engine.OptionByKey(key, a.state.Release); !exists {
			one := int64(1) // a release from before it
			values[key] = &one
		}
		if size := values[key]; size != nil && (*size < 1 || *size > mostRanks) {
			return fmt.Errorf("--%s must be from 1 to %d, got %d", flagged(key), mostRanks, *size)
		}
	}
	if values[k.tp] == nil || values[k.pp] == nil || values[k.dp] == nil {
		return nil
	}
	a.sizes = sizes{tp: *values[k.tp], pp: *values[k.pp], dp: *values[k.dp], known: true}
	a.sizes.heads, a.sizes.experts = a.sizes.tp, a.sizes.tp
	if a.state.Engine.Name == "vllm" && a.on("enable_expert_parallel") {
		a.sizes.experts = a.sizes.tp * a.sizes.dp
	}
	if workers := a.attentionWorkers(); workers > 1 {
		if a.sizes.tp%workers != 0 {
			return fmt.Errorf("%d attention workers do not divide %d ranks: choose a --dp-size that divides --tp-size", workers, a.sizes.tp)
		}
		a.sizes.heads = a.sizes.tp / workers
	}
	return nil
}

// within remembers a setting whose figure is beyond any server; a plan of such a
// server is an error.
func (a *Account) within(key string, value, most int64) bool {
	if value >= 1 && value <= most {
		return true
	}
	if a.absurd == nil {
		a.absurd = fmt.Errorf("--%s must be from 1 to %s, got %s", flagged(key), ledger.Grouped(most), ledger.Grouped(value))
	}
	return false
}

// attentionWorkers is the number of SGLang's attention DP workers, 1 elsewhere.
func (a *Account) attentionWorkers() int64 {
	if a.state.Engine.Name != "sglang" {
		return 1
	}
	value, known, _ := a.state.Derived("attn_dp")
	workers, _ := value.(int64)
	if !known && a.on("enable_dp_attention") { // a release from before the definition
		workers = a.optional("dp_size")
	}
	return max(1, workers)
}

// readLength reads the longest request: given, or what the engine derives from
// the checkpoint's config.
func (a *Account) readLength() {
	key := keys[a.state.Engine.Name].length
	if value, known, _ := a.state.Value(key); known {
		if n, ok := value.(int64); ok && n > 0 {
			a.Length = &n
			a.within(key, n, mostTokens)
			return
		}
	}
	if a.state.Given(key) {
		a.need("--" + flagged(key)) // given, and not a length: auto, -1, a variable
		return
	}
	if n, ok := a.facts.Set["model.maxLen"].Value.(int64); ok && n > 0 {
		a.Length = &n
		return
	}
	a.need("--" + flagged(key))
}
