package ledger

import (
	"fmt"
	"strings"
)

// SlotFormula is what one slot of recurrent state costs on one rank.
//
// Source: SGLang's mamba pool as the log prints it, in two parts: conv state in
// the model's 16-bit type, ssm state in its own. Checked against logged pools
// of four models and cards: at most 0.12 % off, which is the log's rounding.
const SlotFormula = "linear layers x (conv elements x 2 + ssm elements x bytes(ssm dtype)) / TP; " +
	"conv = (2 x key heads x key dim + value heads x value dim) x (kernel - 1); ssm = value heads x key dim x value dim"

// convElementBytes: the conv state keeps the model's own type, 16 bits wide.
const convElementBytes = 2

// State is gated-delta-net attention (GDN: Qwen3-Next, Qwen3.5 and later) as
// far as the recurrent state of one rank is concerned.
type State struct {
	// Layers are the linear-attention layers on the rank.
	Layers int64
	// KeyHeads and ValueHeads are those of the whole model; the dimensions are
	// elements of one head.
	KeyHeads, KeyDim     int64
	ValueHeads, ValueDim int64
	// ConvKernel is the width of the convolution, in tokens.
	ConvKernel int64
	// SSMElementBytes is 2 or 4: see SSMElementBytes.
	SSMElementBytes int64
	// SpeculativeTokens lengthen the conv state by one column each; 0 without
	// speculation. SGLang keeps them elsewhere.
	SpeculativeTokens int64
	// TP is the number of ranks that share the heads.
	TP int64
}

// Slot is the recurrent state of one request on one rank, by the family of the
// layers.
type Slot interface {
	// Parts are the bytes of conv state and ssm state, which SGLang logs apart.
	Parts() (conv, ssm int64, err error)
	// SlotBytes is their sum; it does not depend on the length of the context.
	SlotBytes() (int64, error)
	// Formula says how it is computed, Terms are its terms with their values.
	Formula() string
	Terms() []string
}

// Parts are the bytes of one slot on one rank: conv state and ssm state, which
// SGLang logs apart. Heads that the ranks cannot share evenly are an error.
func (s State) Parts() (conv, ssm int64, err error) {
	if err := atLeast(1, term{"linear layers", s.Layers}, term{"key heads", s.KeyHeads}, term{"key dim", s.KeyDim},
		term{"value heads", s.ValueHeads}, term{"value dim", s.ValueDim}, term{"conv kernel", s.ConvKernel},
		term{"bytes of the ssm dtype", s.SSMElementBytes}, term{"TP", s.TP}); err != nil {
		return 0, 0, err
	}
	if err := atLeast(0, term{"speculative tokens", s.SpeculativeTokens}); err != nil {
		return 0, 0, err
	}
	if s.KeyHeads%s.TP != 0 || s.ValueHeads%s.TP != 0 {
		return 0, 0, fmt.Errorf("%d key heads and %d value heads of linear attention cannot be shared by %d ranks: choose a TP that divides both",
			s.KeyHeads, s.ValueHeads, s.TP)
	}
	keys, err := product(2, s.KeyHeads/s.TP, s.KeyDim)
	if err != nil {
		return 0, 0, err
	}
	values, err := product(s.ValueHeads/s.TP, s.ValueDim)
	if err != nil {
		return 0, 0, err
	}
	width, err := sum(keys, values)
	if err != nil {
		return 0, 0, err
	}
	columns, err := sum(s.ConvKernel-1, s.SpeculativeTokens)
	if err != nil {
		return 0, 0, err
	}
	if conv, err = product(s.Layers, width, columns, convElementBytes); err != nil {
		return 0, 0, err
	}
	ssm, err = product(s.Layers, s.ValueHeads/s.TP, s.KeyDim, s.ValueDim, s.SSMElementBytes)
	return conv, ssm, err
}

// SlotBytes is what one slot costs on one rank, in bytes, by SlotFormula; it
// does not depend on the length of the context. Errors are those of Parts.
func (s State) SlotBytes() (int64, error) { return bothParts(s) }

// Formula is SlotFormula.
func (s State) Formula() string { return SlotFormula }

// Terms are the terms of SlotFormula with their values.
func (s State) Terms() []string {
	return []string{
		fmt.Sprintf("linear layers = %d", s.Layers),
		fmt.Sprintf("key heads x dim = %d x %d", s.KeyHeads, s.KeyDim),
		fmt.Sprintf("value heads x dim = %d x %d", s.ValueHeads, s.ValueDim),
		fmt.Sprintf("conv kernel = %d", s.ConvKernel),
		fmt.Sprintf("bytes(ssm dtype) = %d", s.SSMElementBytes),
		fmt.Sprintf("TP = %d", s.TP),
	}
}

// SSMElementBytes is the size of one element of the ssm state, by the value of
// --mamba-ssm-dtype or, where that is not given, of mamba_ssm_dtype in the
// model's config: 4 for float32, 2 for bfloat16 and float16. Any other value is
// an error.
func SSMElementBytes(dtype string) (int64, error) {
	switch strings.ToLower(dtype) {
	case "float32", "fp32":
		return 4, nil
	case "bfloat16", "bf16", "float16", "fp16":
		return 2, nil
	}
	return 0, fmt.Errorf("no size is known for ssm dtype %q: known are float32, bfloat16 and float16", dtype)
}
