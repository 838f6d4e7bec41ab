package account

import (
	"fmt"
	"math"
	"strings"

	"github.com/trimtab/trimtab/hardware"
	"github.com/trimtab/trimtab/internal/ledger"
)

// Of what the driver's tool prints and makers publish, a process sees less: up to
// 1.8 % on cards of 16 to 32 GB, and of a nominal figure up to 6 % (24 GB cards
// show 22.5 GiB). In thousandths.
const (
	leastOfDriver  = 980
	leastOfNominal = 935
	leastMeasured  = 997
)

// largestMemory is more than any GPU has, in bytes.
const largestMemory = 1 << 50

// readBudget reads the card and what the engine takes of it.
func (a *Account) readBudget() error {
	a.readCard()
	k := keys[a.state.Engine.Name]
	var fraction float64
	var ok bool
	if a.state.Engine.Name == "sglang" && !a.state.Given(k.fraction) {
		fraction, ok = a.defaultFraction()
	} else {
		fraction, ok = a.number(k.fraction)
	}
	if a.card == nil || !ok {
		return nil
	}
	if !(fraction > 0 && fraction <= 1) {
		return fmt.Errorf("--%s lies above 0 and up to 1, got %v", flagged(k.fraction), fraction)
	}
	a.fraction = fraction
	budget, err := a.share(fraction)
	a.budget = &budget
	return err
}

// share is a fraction of the card as the engine sees it.
func (a *Account) share(fraction float64) (ledger.Estimate, error) {
	var shares [3]int64
	for i, bytes := range []int64{a.card.Low, a.card.Value, a.card.High} {
		share, err := ledger.Share(bytes, fraction)
		if err != nil {
			return ledger.Estimate{}, err
		}
		shares[i] = share
	}
	return ledger.Between(shares[0], shares[1], shares[2]), nil
}

func (a *Account) readCard() {
	memory, known := a.facts.Set["gpu.memory"].Value.(int64)
	if !known {
		a.need("gpu.name")
		return
	}
	if memory < 1 || memory > largestMemory {
		a.need("gpu.memory of one GPU")
		return
	}
	least := int64(leastOfDriver)
	if card, ok := hardware.GPU(a.cardName()); ok && card.Memory == memory {
		switch {
		case card.MemoryTorch > 0:
			seen := ledger.Between(card.MemoryTorch, card.MemoryTorch, memory)
			a.card = &seen
			return
		case strings.HasPrefix(card.MemoryBasis, "measured"):
			least = leastMeasured
		case strings.HasPrefix(card.MemoryBasis, "nominal") && card.Vendor == "nvidia":
			least = leastOfNominal
		}
	}
	low := memory / 1000 * least
	seen := ledger.Between(low, low+(memory-low)/2, memory)
	a.card = &seen
}

// flagged is the long flag of a key, without the dashes in front.
func flagged(key string) string { return strings.ReplaceAll(key, "_", "-") }

const gibi = 1 << 30

// defaultFraction is --mem-fraction-static where it is not given: what is left
// of the card by a reserve for activations and graphs.
//
// Source: SGLang python/sglang/srt/server_args.py, _handle_gpu_memory_settings
// (from 0.5.19 arg_groups); the formula gives the figures measured on 0.5.10 to
// 0.5.23 from 16 to 288 GiB. Speculation, attention DP and towers for images
// change it in ways that are not read here.
func (a *Account) defaultFraction() (float64, bool) {
	const key = "--mem-fraction-static"
	memory, known := a.facts.Set["gpu.memory"].Value.(int64)
	multimodal, told := a.facts.Set["model.multimodal"].Value.(bool)
	chunk := a.whole("chunked_prefill_size")
	if !known || !a.since("0.5.10") || !told || multimodal || chunk == nil || !a.sizes.known || a.sizes.heads != a.sizes.tp || a.state.Given("speculative_algorithm") {
		a.need(key)
		return 0, false
	}
	mebibytes := float64(memory) / (1 << 20)
	batch := a.largestGraph(mebibytes)
	if batch == 0 {
		a.need(key)
		return 0, false
	}
	reserved := 512 + 1.5*math.Max(float64(*chunk), 2048) + float64(a.sizes.tp*a.sizes.pp)/8*1024 + 2*float64(batch)
	if vendor, _ := a.facts.Set["gpu.vendor"].Value.(string); vendor == "nvidia" {
		if hybrid, _ := a.facts.Set["model.hybrid"].Value.(bool); !hybrid || a.since("0.5.16") {
			reserved += 8 * float64(prefillGraphs(*chunk))
		}
	}
	if mebibytes > 60*1024 {
		reserved = math.Max(reserved, 10*1024)
	}
	fraction := math.Round((mebibytes-reserved)/mebibytes*1000) / 1000
	return fraction, fraction > 0
}

// largestGraph is the largest batch of a decode graph by the memory of the card;
// 0 where another one is given.
func (a *Account) largestGraph(mebibytes float64) int64 {
	for _, key := range []string{"cuda_graph_max_bs", "cuda_graph_max_bs_decode", "cuda_graph_bs", "cuda_graph_bs_decode", "max_running_requests"} {
		if a.state.Given(key) && (key != "max_running_requests" || a.since("0.5.22")) {
			return 0
		}
	}
	if a.on("disable_cuda_graph") {
		return 0
	}
	wide := a.sizes.tp >= 4
	sizes := func(narrow, all int64) int64 {
		if wide {
			return all
		}
		return narrow
	}
	switch gib := mebibytes / 1024; {
	case gib < 20:
		return 8
	case gib < 35 && a.since("0.5.20"):
		return sizes(48, 160)
	case gib < 35:
		return sizes(24, 80)
	case gib < 60:
		return sizes(32, 160)
	case gib < 160:
		return sizes(256, 512)
	}
	return 512
}

// prefillGraphs is the number of sizes for which a graph of the prefill is
// captured, up to a chunk.
func prefillGraphs(chunk int64) int64 {
	count := int64(0)
	for size := int64(4); size <= chunk && size <= 1<<20; count++ {
		switch {
		case size < 32:
			size += 4
		case size < 256:
			size += 16
		case size < 512:
			size += 32
		case size < 1024:
			size += 64
		case size < 4096:
			size += 256
		default:
			size += 512
		}
	}
	return count
}
