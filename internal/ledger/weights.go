package ledger

import (
	"errors"
	"math/big"
)

// WeightsFormula is what the weights take on one rank.
//
// Source: vLLM vllm/model_executor/layers/linear.py (ColumnParallelLinear and
// its like), fused_moe/layer.py (experts by TP, or by EP with expert
// parallelism), distributed/utils.py (get_pp_indices); SGLang has the same.
const WeightsFormula = "layers of the stage / layers x ((attention + MLP) / TP + experts / ranks of the experts + replicated) x bits / 8 + (embedding + head) / TP x 2 + vision"

// Elements counts the weights of a model by how ranks share them.
type Elements struct {
	// Attention, MLP and Experts are split; Replicated every rank of a stage has.
	Attention, MLP, Experts, Replicated int64
	// Embedding stands on the first stage, Head on the last. Vision is the tower
	// for images, on the first stage.
	Embedding, Head, Vision int64
}

// Stored is how linear layers are stored.
type Stored struct {
	// Bits of a weight; 16 for a checkpoint that is not quantized.
	Bits int64
	// GroupSize is how many weights share a scale of ScaleBits and a zero point of
	// ZeroBits; 0 where scales do not count.
	GroupSize, ScaleBits, ZeroBits int64
	// Padding is how much more the kernels' own layout may take, in thousandths.
	Padding int64
	// Reach tells which layers are quantized for certain and which may be; the
	// others keep 16 bits.
	Reach Reach
}

// Reach is how far quantization goes.
type Reach int

// The reaches: to all linear layers; to those for certain, attention perhaps
// not; to all but attention; to the experts alone, the rest perhaps.
const (
	AllLinear Reach = iota
	PerhapsNotAttention
	NotAttention
	ExpertsPerhapsMore
)

// Ranks is the place of one rank among those that share the weights.
type Ranks struct {
	// TP and PP are the sizes, Stage the rank's pipeline stage from 0.
	TP, PP, Stage int64
	// Experts is the number of ranks that share the routed experts: TP, or TP x
	// DP with expert parallelism over data-parallel ranks.
	Experts int64
	// Layers are those of the model, split evenly as StageLayers does.
	Layers int64
}

// StageLayers are the layers of a pipeline stage: the engines give each stage
// the same number, and one more to stages before the last, from its neighbour
// backwards, where they do not divide. Fewer layers than stages, or a stage that is
// not there, are an error.
//
// Source: vLLM vllm/distributed/utils.py, get_pp_indices (since 0.8.0), from
// which SGLang has its own.
func StageLayers(layers, stages, stage int64) (int64, error) {
	if err := atLeast(1, term{"layers", layers}, term{"pipeline stages", stages}); err != nil {
		return 0, err
	}
	if stage < 0 || stage >= stages || stages > layers {
		return 0, errors.New("a model has at least one layer for each pipeline stage: lower the pipeline-parallel size")
	}
	share, rest := layers/stages, layers%stages
	if stage != stages-1 && stage >= stages-1-rest {
		share++
	}
	return share, nil
}

// half is the size of an element of 16 bits, in bytes.
const half = 2

// scaleBits are what the scales add to each weight, in 1/1024 bits.
func (s Stored) scaleBits() int64 {
	if s.GroupSize <= 0 {
		return 0
	}
	return (s.ScaleBits + s.ZeroBits) * 1024 / s.GroupSize
}

// Weights is what the weights take on one rank, in bytes. Counts below 0 and
// sizes below 1 are errors.
func (e Elements) On(r Ranks, s Stored) (Estimate, error) {
	if err := atLeast(0, term{"attention weights", e.Attention}, term{"MLP weights", e.MLP}, term{"expert weights", e.Experts},
		term{"replicated weights", e.Replicated}, term{"embedding weights", e.Embedding}, term{"head weights", e.Head}, term{"vision weights", e.Vision}); err != nil {
		return Estimate{}, err
	}
	if err := atLeast(1, term{"TP", r.TP}, term{"PP", r.PP}, term{"ranks of the experts", r.Experts}, term{"bits of a weight", s.Bits}); err != nil {
		return Estimate{}, err
	}
	layers, err := StageLayers(r.Layers, r.PP, r.Stage)
	if err != nil {
		return Estimate{}, err
	}
	attention := ratio(e.Attention, layers, r.Layers, r.TP)
	attention.Add(attention, ratio(e.Replicated, layers, r.Layers, 1))
	mlp := ratio(e.MLP, layers, r.Layers, r.TP)
	experts := ratio(e.Experts, layers, r.Layers, r.Experts)
	whole := new(big.Rat)
	if r.Stage == 0 {
		whole.Add(ratio(e.Embedding, 1, 1, r.TP), ratio(e.Vision, 1, 1, r.TP))
	}
	if r.Stage == r.PP-1 {
		head := e.Head
		if head == 0 && r.PP > 1 {
			head = e.Embedding // tied, and the last stage has its own copy
		}
		whole.Add(whole, ratio(head, 1, 1, r.TP))
	}
	quantized := big.NewRat(s.Bits*1024+s.scaleBits(), 8*1024)
	plain := big.NewRat(half, 1)
	bytes := func(attentionBytes, mlpBytes *big.Rat) *big.Rat {
		total := new(big.Rat).Mul(whole, plain)
		total.Add(total, new(big.Rat).Mul(attention, attentionBytes))
		total.Add(total, new(big.Rat).Mul(mlp, mlpBytes))
		return total.Add(total, new(big.Rat).Mul(experts, quantized))
	}
	least, most := bytes(quantized, quantized), bytes(quantized, quantized)
	if s.Bits < 16 {
		switch s.Reach {
		case PerhapsNotAttention:
			most = bytes(plain, quantized)
		case NotAttention:
			least, most = bytes(plain, quantized), bytes(plain, quantized)
		case ExpertsPerhapsMore:
			most = bytes(plain, plain)
		}
	}
	more := whole.Sub(ratio(e.Vision, 1, 1, 1), ratio(e.Vision, 1, 1, r.TP)) // a tower that is not split
	if r.Stage == 0 {
		most.Add(most, more.Mul(more, plain))
	}
	return between(least, most.Mul(most, big.NewRat(1000+max(0, s.Padding), 1000)))
}

func ratio(n, times, over, ranks int64) *big.Rat {
	r := new(big.Rat).SetFrac(new(big.Int).Mul(big.NewInt(n), big.NewInt(times)), big.NewInt(over))
	return r.Quo(r, new(big.Rat).SetInt64(ranks))
}

// loadedBeside is what loading takes beside the weights as the engines log it, and
// tells their limits: a hundredth for norms, biases, scales and padding.
const loadedBeside = 160 * mebi

// between is the least of two numbers of bytes, which most checkpoints are near,
// with the most as its limit.
func between(least, most *big.Rat) (Estimate, error) {
	whole := func(r *big.Rat, share int64) (int64, error) {
		scaled := new(big.Int).Mul(r.Num(), big.NewInt(share))
		return narrow(scaled.Div(scaled, new(big.Int).Mul(r.Denom(), big.NewInt(1000))))
	}
	low, err := whole(least, 995)
	if err != nil {
		return Estimate{}, err
	}
	bytes, err := whole(least, 1000)
	if err != nil {
		return Estimate{}, err
	}
	high, err := whole(most, 1010)
	if err != nil {
		return Estimate{}, err
	}
	high, err = sum(high, loadedBeside)
	return Between(low, bytes, high), err
}
