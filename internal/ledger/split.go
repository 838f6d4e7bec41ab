package ledger

import (
	"fmt"
	"math/big"
)

// RestFormula is what SGLang leaves for its pools.
//
// Source: SGLang _profile_available_bytes (0.5.16: KVCacheConfigurator; before
// model_runner.py, profile_max_num_token). Checked against five starts that log
// both ends: at most 0.4 % off, which is the log's rounding.
const RestFormula = "rest = free before loading x fraction - what loading took"

// SplitFormula is how SGLang shares the rest where neither slots nor requests
// are given: --mamba-full-memory-ratio r, 0.9 unless given.
const SplitFormula = "slots = floor(rest x r / (1 + r) / slot bytes) - 1"

// SplitSlots is how many slots SGLang gives the state, by SplitFormula. A rest
// or slot below a byte, a ratio that is not above 0, and a rest that holds no
// slot are errors.
func SplitSlots(rest, slotBytes int64, ratio float64) (int64, error) {
	if err := atLeast(1, term{"rest", rest}, term{"bytes of a slot", slotBytes}); err != nil {
		return 0, err
	}
	if !(ratio > 0 && ratio < 1e6) {
		return 0, fmt.Errorf("--mamba-full-memory-ratio lies above 0, got %v", ratio)
	}
	share := new(big.Float).SetPrec(128).SetInt64(rest)
	budget, _ := share.Mul(share, big.NewFloat(ratio/(1+ratio))).Int64()
	slots := budget/slotBytes - 1
	if slots < 1 {
		return 0, fmt.Errorf("%s B leave no room for a mamba slot of %s B: raise the memory fraction", Grouped(rest), Grouped(slotBytes))
	}
	return slots, nil
}

// EstimatedRequests is SGLang's own limit of running requests where none is
// given: clamp(int(tokens / length x 512), 2048, 4096). Tokens or a length (in
// tokens) below 1 are an error.
//
// Source: SGLang resolve_max_num_reqs (0.5.16: KVCacheConfigurator).
func EstimatedRequests(tokens, length int64) (int64, error) {
	if err := atLeast(1, term{"KV tokens", tokens}, term{"context length", length}); err != nil {
		return 0, err
	}
	return min(max(int64(float64(tokens)/float64(length)*512), 2048), 4096), nil
}
