package ledger

import (
	"errors"
	"fmt"
	"math/big"
)

// PagedFormula is how vLLM turns its pool into blocks.
//
// Source: vLLM vllm/v1/core/kv_cache_utils.py, get_kv_cache_groups,
// unify_kv_cache_spec_page_size, get_kv_cache_config_from_groups; for hybrids
// vllm/model_executor/models/config.py, HybridAttentionMambaModelConfig. Checked
// against 30 logged pools: the number of blocks is exact in all that log it.
const PagedFormula = "blocks = floor(pool / (layers of a group x page bytes)); page bytes = tokens of a block x bytes per token and layer"

// LayerSet are layers of one rank that keep the same for a request: keys and
// values of all its tokens, of a window or chunk, or a state.
type LayerSet struct {
	Layers int64
	// TokenBytes is what a token costs in one layer; 0 for a state.
	TokenBytes int64
	// Window is how many tokens the layers look back, Chunk the size of chunks of
	// local attention, in tokens; 0 for all tokens.
	Window, Chunk int64
	// StateBytes is the recurrent state of one request in one layer.
	StateBytes int64
}

func (s LayerSet) full() bool { return s.StateBytes == 0 && s.Window == 0 && s.Chunk == 0 }

func (s LayerSet) alike(other LayerSet) bool {
	s.Layers = other.Layers
	return s == other
}

// Request tells how many blocks a request takes beside its length.
type Request struct {
	// Batched is the largest number of tokens of a step (max_num_batched_tokens).
	Batched int64
	// StateBlocks are the blocks of a state: 1, or 2 with prefix caching, and one
	// more for each speculative token.
	StateBlocks int64
}

// Group are layers that share a table of blocks.
type Group struct {
	LayerSet
	// BlockTokens is how many tokens a block holds; 0 for a state.
	BlockTokens int64
}

// Paged is vLLM's one pool of blocks for all layers of a rank.
type Paged struct {
	Groups []Group
	// BlockBytes is what one block takes, through all layers of a group.
	BlockBytes int64
	// Layers are those of a group, PageBytes is the block in one of them; 0
	// where layers of several sizes stand in the only group.
	Layers, PageBytes int64
}

var (
	errNoLayers = errors.New("no layer keeps keys and values, and no state: state the model's shape")
	errPages    = errors.New("the layers' pages do not divide each other: vLLM refuses such a model or pads it in a way that is not known")
	errHalves   = errors.New("one kind of layer is 1.25 to 1.5 times as many as another: releases of vLLM differ in how they group them")
)

// stateAlignment is what the block of a hybrid is a multiple of, in tokens.
const stateAlignment = 16

// NewPaged groups layers as vLLM does. Block is --block-size in tokens (16
// unless given), which a state raises until it fits into one page. Layers whose
// pages do not divide each other are an error.
func NewPaged(block int64, sets ...LayerSet) (Paged, error) {
	if err := atLeast(1, term{"block size", block}); err != nil {
		return Paged{}, err
	}
	sets, err := merged(sets)
	if err != nil {
		return Paged{}, err
	}
	widest, state := int64(0), int64(0)
	for _, set := range sets {
		widest, state = max(widest, set.TokenBytes), max(state, set.StateBytes)
	}
	if widest == 0 {
		return Paged{}, errNoLayers
	}
	if state > 0 {
		step, err := product(stateAlignment, widest)
		if err != nil {
			return Paged{}, err
		}
		block = max(block, stateAlignment*((state-1)/step+1))
	}
	page, err := product(block, widest)
	if err != nil {
		return Paged{}, err
	}
	if uniform(sets) {
		return oneGroup(block, sets)
	}
	return grouped(page, sets)
}

// merged joins the sets that keep the same.
func merged(sets []LayerSet) ([]LayerSet, error) {
	var joined []LayerSet
next:
	for _, set := range sets {
		if set.Layers == 0 {
			continue
		}
		if err := atLeast(1, term{"layers", set.Layers}); err != nil {
			return nil, err
		}
		if err := atLeast(0, term{"bytes per token", set.TokenBytes}, term{"sliding window", set.Window},
			term{"attention chunk", set.Chunk}, term{"bytes of a state", set.StateBytes}); err != nil {
			return nil, err
		}
		if set.TokenBytes == 0 && set.StateBytes == 0 {
			return nil, errNoLayers
		}
		for i := range joined {
			if set.alike(joined[i]) {
				total, err := sum(joined[i].Layers, set.Layers)
				if err != nil {
					return nil, err
				}
				joined[i].Layers = total
				continue next
			}
		}
		joined = append(joined, set)
	}
	return joined, nil
}

// uniform tells whether all layers keep all tokens: then they share one table,
// whatever their sizes.
func uniform(sets []LayerSet) bool {
	for _, set := range sets {
		if !set.full() {
			return len(sets) == 1
		}
	}
	return true
}

func oneGroup(block int64, sets []LayerSet) (Paged, error) {
	p := Paged{Groups: []Group{{LayerSet: sets[0], BlockTokens: block}}}
	for _, set := range sets {
		bytes, err := product(set.Layers, set.TokenBytes, block)
		if err != nil {
			return Paged{}, err
		}
		if p.BlockBytes, err = sum(p.BlockBytes, bytes); err != nil {
			return Paged{}, err
		}
		p.Layers += set.Layers
	}
	if len(sets) == 1 {
		p.PageBytes = p.BlockBytes / p.Layers
	}
	return p, nil
}

// grouped cuts the layers of each kind into groups of one size: as many as the
// smallest kind has, or all of the largest where the numbers nearly match.
func grouped(page int64, sets []LayerSet) (Paged, error) {
	size, most := sets[0].Layers, sets[0].Layers
	for _, set := range sets {
		size, most = min(size, set.Layers), max(most, set.Layers)
	}
	if most > size && 4*(most-size) < 2*size { // below 1.5 times, in the newest releases
		if 4*(most-size) >= size { // not below 1.25 times, as in the older ones
			return Paged{}, errHalves
		}
		size = most
	}
	p := Paged{Layers: size, PageBytes: page}
	for _, set := range sets {
		group := Group{LayerSet: set}
		if set.StateBytes == 0 {
			if page%set.TokenBytes != 0 {
				return Paged{}, errPages
			}
			group.BlockTokens = page / set.TokenBytes
		}
		groups := (set.Layers-1)/size + 1
		if groups > 4096 {
			return Paged{}, errTooLarge
		}
		for range groups {
			p.Groups = append(p.Groups, group)
		}
	}
	var err error
	p.BlockBytes, err = product(size, page)
	return p, err
}

// Blocks is how many blocks a pool of so many bytes holds, rounded down.
func (p Paged) Blocks(pool int64) int64 { return max(0, pool/p.BlockBytes) }

// RequestBlocks is how many blocks a request takes whose length is in tokens. A
// length, batch or count of state blocks below 1 is an error.
func (p Paged) RequestBlocks(length int64, r Request) (int64, error) {
	if err := atLeast(1, term{"length of a request", length}, term{"tokens of a step", r.Batched}, term{"blocks of a state", r.StateBlocks}); err != nil {
		return 0, err
	}
	total := int64(0)
	for _, group := range p.Groups {
		kept, more := length, int64(0)
		switch {
		case group.StateBytes > 0:
			total += r.StateBlocks
			continue
		case group.Window > 0:
			window, err := sum(group.Window-1, r.Batched)
			if err != nil {
				return 0, err
			}
			kept, more = min(window, length), 1
		case group.Chunk > 0:
			chunk, err := sum(group.Chunk, r.Batched)
			if err != nil {
				return 0, err
			}
			kept = min(chunk, length)
		}
		total += (kept-1)/group.BlockTokens + 1 + more
	}
	return total, nil
}

// Concurrency is how many requests of a length so many blocks hold at once, as
// vLLM logs it. Errors are those of RequestBlocks.
func (p Paged) Concurrency(blocks, length int64, r Request) (float64, error) {
	need, err := p.RequestBlocks(length, r)
	if err != nil {
		return 0, err
	}
	return float64(blocks) / float64(need), nil
}

// TokensByGroups is "GPU KV cache size" as vLLM logs it to 0.20.0: the blocks
// shared by all groups alike.
func (p Paged) TokensByGroups(blocks int64) int64 {
	smallest := int64(0)
	for _, group := range p.Groups {
		if group.BlockTokens > 0 && (smallest == 0 || group.BlockTokens < smallest) {
			smallest = group.BlockTokens
		}
	}
	return blocks / int64(len(p.Groups)) * smallest
}

// TokensByLength is "GPU KV cache size" as vLLM logs it from 0.20.1: how often
// the longest request fits, times its length. Errors are those of RequestBlocks.
func (p Paged) TokensByLength(blocks, length int64, r Request) (int64, error) {
	need, err := p.RequestBlocks(length, r)
	if err != nil {
		return 0, err
	}
	tokens := new(big.Int).Mul(big.NewInt(blocks), big.NewInt(length))
	return narrow(floor(tokens, big.NewInt(need)))
}

// Longest is the longest request that so many blocks hold, in tokens, up to a
// limit; 0 where none fits. Errors are those of RequestBlocks.
func (p Paged) Longest(blocks, limit int64, r Request) (int64, error) {
	fits, fails := int64(0), limit+1
	for fits+1 < fails {
		length := fits + (fails-fits)/2
		need, err := p.RequestBlocks(length, r)
		if err != nil {
			return 0, err
		}
		if need <= blocks {
			fits = length
		} else {
			fails = length
		}
	}
	return fits, nil
}

// Terms are the terms of PagedFormula with their values.
func (p Paged) Terms() []string {
	terms := []string{fmt.Sprintf("block = %s B", Grouped(p.BlockBytes))}
	if p.PageBytes > 0 {
		terms = append(terms, fmt.Sprintf("layers of a group = %d", p.Layers), fmt.Sprintf("page = %s B", Grouped(p.PageBytes)))
	}
	if len(p.Groups) > 1 {
		terms = append(terms, fmt.Sprintf("groups = %d", len(p.Groups)))
	}
	for _, group := range p.Groups {
		if group.BlockTokens > 0 {
			return append(terms, fmt.Sprintf("tokens of a block = %s", Grouped(group.BlockTokens)))
		}
	}
	return terms
}
