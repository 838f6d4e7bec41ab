package account

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/trimtab/trimtab/internal/facts"
	"github.com/trimtab/trimtab/internal/ledger"
)

// oneRequest is the smallest KV cache a server starts with, in tokens: a request must fit
// with one token less than the cache holds, and its input with five less than
// that (SGLang managers/tp_worker.py, TpModelWorker: "Memory pool size is too
// small").
const oneRequest = 7

// largestCard is more memory than any GPU has, in bytes: what a card whose
// memory is not known cannot exceed.
const largestCard int64 = 1 << 40

func (a *Account) misfit(what string) {
	a.Misfits = append(a.Misfits, what)
	a.need(what)
}

// fits tells whether measured figures can be those of the server: its caches
// fit on the card together, the KV cache holds what was seen running, and the
// slots can be set as they are now. The first figure that does not is a misfit.
func (a *Account) fits(g *facts.Gathered) bool {
	tokens, hasTokens := g.Set["measured.kvTokens"].Value.(int64)
	slots, hasSlots := g.Set["measured.mambaSlots"].Value.(int64)
	if least := a.leastTokens(g); hasTokens && tokens < least {
		a.misfit(fmt.Sprintf("measured.kvTokens of at least %s: %s cannot be what the engine ran with", ledger.Grouped(least), ledger.Grouped(tokens)))
		return false
	}
	card, about := largestCard, "any GPU"
	if memory, ok := g.Set["gpu.memory"].Value.(int64); ok {
		card, about = memory, "the GPU"
	}
	taken, figures, err := a.taken(tokens, slots)
	if err != nil {
		a.misfit(fmt.Sprintf("measured figures that fit into the %s B of %s: they are far above", ledger.Grouped(card), about))
		return false
	}
	if taken > card {
		a.misfit(fmt.Sprintf("%s that fit into the %s B of %s: they would take %s B",
			strings.Join(figures, " and "), ledger.Grouped(card), about, ledger.Grouped(taken)))
		return false
	}
	if !hasTokens || !hasSlots || a.Slots == nil || a.State == nil || a.Cell == nil {
		return true
	}
	if _, err := a.move(tokens, slots, *a.Slots); err != nil {
		a.misfit(fmt.Sprintf("measured.kvTokens that leave room for %s mamba slots: %s do not", ledger.Grouped(*a.Slots), ledger.Grouped(tokens)))
		return false
	}
	return true
}

// leastTokens is what a KV cache must hold: one request, and a token of each
// that was seen running, where one worker runs them all.
func (a *Account) leastTokens(g *facts.Gathered) int64 {
	running, _ := g.Set["workload.peakRunning"].Value.(int64)
	if a.pools.workers == nil || *a.pools.workers != 1 {
		running = 0
	}
	return max(oneRequest, running)
}

// taken is what the measured caches take together, in bytes, as far as their
// shapes are known, and which figures tell it.
func (a *Account) taken(tokens, slots int64) (taken int64, figures []string, err error) {
	if tokens > 0 && a.Cell != nil {
		row, err := ledger.KVRow(tokens, a.Cell, ledger.Measured)
		if err != nil {
			return 0, nil, err
		}
		taken, figures = *row.Bytes, []string{"measured.kvTokens"}
	}
	if slots > 0 && a.State != nil {
		row, err := ledger.MambaRow(slots, a.State, ledger.Measured)
		if err != nil {
			return 0, nil, err
		}
		if taken > math.MaxInt64-*row.Bytes {
			return 0, nil, errors.New("the measured caches take more bytes than can be counted: state what the engine's log says")
		}
		taken, figures = taken+*row.Bytes, append(figures, "measured.mambaSlots")
	}
	return taken, figures, nil
}

// agrees tells whether the bytes that the log shows are those of the measured
// counts.
func (a *Account) agrees(measured int64, g *facts.Gathered) (bool, error) {
	if logged, ok := g.Set["measured.kvBytes"].Value.(string); ok && a.Cell != nil {
		row, err := ledger.KVRow(measured, a.Cell, ledger.Measured)
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
	row, err := ledger.MambaRow(slots, a.State, ledger.Measured)
	if err != nil {
		return false, err
	}
	same, err := ledger.Agrees(*row.Bytes, logged, loggedFigures)
	if !same {
		a.misfit("measured.mambaBytes that agree with " + strconv.FormatInt(*row.Bytes, 10) + " B, or measured.mambaSlots that do")
	}
	return same, err
}
