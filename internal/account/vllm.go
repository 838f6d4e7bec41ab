package account

import (
	"fmt"
	"slices"

	"github.com/trimtab/trimtab/internal/ledger"
)

// pagedPool is what vLLM's pool is for the server as a whole: all ranks have the
// blocks of the poorest.
type pagedPool struct {
	blocks  *ledger.Estimate
	request ledger.Request
	known   bool
}

// vllm draws up the account of a vLLM server.
func (a *Account) vllm() error {
	a.Requests = a.limit("max_num_seqs", "base_num_seqs")
	if a.Requests != nil {
		a.Because = "--max-num-seqs"
	}
	if a.shape == nil || !a.sizes.known {
		return a.settlePaged()
	}
	a.readRequest()
	if err := a.fillStages(); err != nil {
		return err
	}
	if err := a.fillPaged(); err != nil {
		return err
	}
	return a.vllmTokens()
}

// speculation is the number of speculative tokens and whether the model's own
// layers predict them; told is false where it is not known.
func (a *Account) speculation() (tokens int64, own, told bool) {
	if !a.state.Given("speculative_config") {
		for _, given := range a.state.Settings {
			if given.Name == "--spec-method" || given.Name == "--spec-model" || given.Name == "--spec-tokens" || given.Name == "--speculative-model" {
				return 0, false, false
			}
		}
		return 0, false, true
	}
	value, known, _ := a.state.Value("speculative_config")
	config, ok := value.(map[string]any)
	if !known || !ok {
		return 0, false, false
	}
	tokens, ok = config["num_speculative_tokens"].(int64)
	method, _ := config["method"].(string)
	own = method == "mtp" || len(method) > 4 && method[len(method)-4:] == "_mtp"
	return tokens, own, ok && (own || method == "ngram") && tokens >= 0 && tokens < 64
}

// readRequest reads what a request takes beside its length.
func (a *Account) readRequest() {
	var batched *int64
	if a.shape.LayersSliding > 0 {
		batched = a.limit("max_num_batched_tokens", "base_batched_tokens")
	}
	speculative, _, told := a.speculation()
	if !told {
		a.need("an account of the draft model, which is not drawn up")
		return
	}
	a.paged.request = ledger.Request{Batched: 1, StateBlocks: 1 + speculative}
	if batched != nil {
		a.paged.request.Batched = *batched
	} else if a.shape.LayersSliding > 0 {
		return
	}
	if a.shape.LayersLinear > 0 {
		value, known, needs := a.state.Value("enable_prefix_caching")
		if !known {
			a.need(needs...)
			return
		}
		switch mode := a.text("mamba_cache_mode"); {
		case mode == "all":
			a.need("an account of --mamba-cache-mode all, which is not drawn up")
			return
		case value == true || mode == "align":
			a.paged.request.StateBlocks++
		}
	}
	a.paged.known = true
}

// fillStages draws up each pipeline stage as far as it is known.
func (a *Account) fillStages() error {
	told := a.layoutTold()
	for number := range a.sizes.pp {
		weights, err := a.weightsOf(number)
		if err != nil {
			return err
		}
		s := stage{weights: weights}
		if told {
			s.cell = a.cellOf(number)
		}
		if !a.shared(s.cell) {
			s.cell = nil
		}
		a.stages = append(a.stages, s)
		if a.sizes.pp > a.shape.Layers || number >= 1024 {
			return fmt.Errorf("%d pipeline stages are more than the model has layers, %d: lower the pipeline-parallel size", a.sizes.pp, a.shape.Layers)
		}
	}
	a.Cell = a.stages[0].cell
	return nil
}

// shared tells whether the ranks can share the heads of a cell; why not is
// among the needs, and gpu-mismatch says it.
func (a *Account) shared(cell ledger.Cell) bool {
	if cell == nil {
		return false
	}
	_, err := cell.CellBytes()
	if err != nil {
		a.need(err.Error())
	}
	return err == nil
}

// block is --block-size, else what the engine takes: 64 for latent attention on
// most cards, 16 elsewhere. The pool is whole blocks; which of the two it is
// moves it by less than a block.
func (a *Account) block() int64 {
	if value, known, _ := a.state.Value("block_size"); known {
		if n, ok := value.(int64); ok && n > 0 && n <= 1<<16 {
			return n
		}
	}
	if a.shape.MLA != nil {
		return 64
	}
	return 16
}

// fillPaged groups the layers of each stage and fills its pool.
func (a *Account) fillPaged() error {
	speculative, own, told := a.speculation()
	if !told || !a.paged.known {
		return nil
	}
	for number := range a.stages {
		s := &a.stages[number]
		sets, ok, err := a.layerSets(int64(number), s, speculative, own)
		if err != nil {
			return err
		}
		if !ok {
			return nil
		}
		paged, err := ledger.NewPaged(a.block(), sets...)
		if err != nil {
			a.need(err.Error())
			return nil
		}
		s.paged = &paged
		if err := a.fillPool(s, own); err != nil {
			return err
		}
	}
	return nil
}

// layerSets are the layers of a stage by what they keep.
func (a *Account) layerSets(number int64, s *stage, speculative int64, own bool) ([]ledger.LayerSet, bool, error) {
	var sets []ledger.LayerSet
	e := a.shape
	if s.cell != nil {
		cell, err := s.cell.CellBytes()
		if err != nil {
			return nil, false, err
		}
		layers, _ := a.stageLayers(e.LayersFullAttention, number)
		set := ledger.LayerSet{Layers: layers, TokenBytes: cell / layers}
		if own && number == a.sizes.pp-1 {
			set.Layers += max(1, e.MTPLayers) // a layer that predicts is one more of full attention
		}
		sets = append(sets, set)
	} else if e.LayersFullAttention > 0 {
		return nil, false, nil
	}
	if e.LayersSliding > 0 {
		set, ok, err := a.slidingSet(number)
		if !ok || err != nil {
			return nil, false, err
		}
		sets = append(sets, set)
	}
	if e.LayersLinear > 0 {
		s.slot = a.slotOf(number, speculative)
		if s.slot == nil {
			return nil, false, nil
		}
		bytes, err := s.slot.SlotBytes()
		if err != nil {
			return nil, false, err
		}
		layers, _ := a.stageLayers(e.LayersLinear, number)
		sets = append(sets, ledger.LayerSet{Layers: layers, StateBytes: bytes / layers})
	}
	return sets, len(sets) > 0, nil
}

// slidingSet are the layers with a window. Before 0.10.0, and with the hybrid
// manager off, they keep all tokens; whether a KV connector switches it off
// differs by release.
func (a *Account) slidingSet(number int64) (ledger.LayerSet, bool, error) {
	e := a.shape
	layers, told := a.stageLayers(e.LayersSliding, number)
	element, _, ok := a.element()
	if !ok || !told || e.KVHeads < 1 || e.HeadDim < 1 || layers < 1 || e.SlidingWindow < 1 {
		a.need("model.config")
		return ledger.LayerSet{}, false, nil
	}
	cell, err := ledger.Attention{Layers: 1, KVHeads: e.KVHeads, KeyDim: e.HeadDim, ValueDim: e.HeadDim, Element: element, TP: a.sizes.heads}.CellBytes()
	set := ledger.LayerSet{Layers: layers, TokenBytes: cell, Window: e.SlidingWindow}
	switch {
	case !a.since("0.10.0"):
		a.need("a release from 0.10.0, which groups layers by their windows")
		return set, false, err
	case a.state.Given("kv_transfer_config"):
		a.need("an account of windows beside a KV connector, which is not drawn up")
		return set, false, err
	case a.on("disable_hybrid_kv_cache_manager"):
		set.Window = 0
	}
	return set, true, err
}

// offloading are the options of vLLM that take weights off the card, or put more
// than weights there.
var offloading = []string{"cpu_offload_gb", "enable_lora", "offload_group_size", "enable_prompt_embeds"}

// offloads tells whether one of them may be on.
func (a *Account) offloads() bool {
	return slices.ContainsFunc(offloading, func(name string) bool {
		value, known, _ := a.state.Value(name)
		return a.state.Given(name) && (!known || value != int64(0) && value != 0.0 && value != false)
	})
}

// fillPool estimates what a stage has left for its pool: what is stated in
// bytes, or the budget without the rest.
func (a *Account) fillPool(s *stage, own bool) error {
	if stated := a.statedPool(); stated != nil {
		pool := ledger.Exactly(*stated)
		s.pool = &pool
		return nil
	}
	if own {
		draft, err := a.draftOf()
		if err != nil || draft == nil {
			return err
		}
		s.draft = draft
	}
	activations, err := a.activationsOf()
	if err != nil {
		return err
	}
	s.activations = activations
	graphs := a.graphs()
	s.graphs = &graphs
	if a.offloads() {
		a.need("measured.kvTokens")
		return nil
	}
	if a.budget == nil || s.weights == nil || s.activations == nil {
		return nil
	}
	pool := *a.budget
	parts := []*ledger.Estimate{s.weights, s.activations, s.draft}
	if a.graphsCharged() {
		parts = append(parts, s.graphs)
	}
	for _, part := range parts {
		if part == nil {
			continue
		}
		if pool, err = pool.Minus(*part); err != nil {
			return err
		}
	}
	s.left, s.pool = &pool, a.standing(pool)
	return nil
}

// standing is a pool that we stand for; one whose limits leave less than a third
// of it is none, and a measurement is needed.
func (a *Account) standing(pool ledger.Estimate) *ledger.Estimate {
	if pool.Value < 1 || pool.Low < pool.Value/3 {
		if stored, ok := a.stored(); ok && stored.Reach != ledger.AllLinear && a.shape.Weights == nil {
			a.need("model.config")
		}
		a.need("measured.kvTokens")
		return nil
	}
	return &pool
}

// statedPool is --kv-cache-memory-bytes, which replaces the profile; nil unless
// given.
func (a *Account) statedPool() *int64 {
	if !a.state.Given("kv_cache_memory_bytes") {
		return nil
	}
	bytes := a.whole("kv_cache_memory_bytes")
	if bytes == nil || !a.within("kv_cache_memory_bytes", *bytes, largestMemory) {
		return nil
	}
	return bytes
}

// vllmTokens settles how many blocks and tokens the pool holds: measured, else
// computed for the poorest stage.
func (a *Account) vllmTokens() error {
	a.paged.blocks = a.poorest()
	if a.state.Given("num_gpu_blocks_override") {
		a.paged.blocks = nil
		if n := a.whole("num_gpu_blocks_override"); n != nil && a.within("num_gpu_blocks_override", *n, largestStep) {
			blocks := ledger.Exactly(*n)
			a.paged.blocks = &blocks
		}
	}
	return a.settlePaged()
}
