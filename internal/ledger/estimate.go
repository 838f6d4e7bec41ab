package ledger

import (
	"fmt"
	"math"
	"math/big"
)

// Estimate is a number (of bytes, tokens, blocks) known within limits: it lies
// from Low to High.
type Estimate struct{ Value, Low, High int64 }

// Exactly is a number without doubt.
func Exactly(value int64) Estimate { return Estimate{value, value, value} }

// Between is an estimate with its limits, in whatever order they come.
func Between(low, value, high int64) Estimate {
	return Estimate{Value: value, Low: min(low, value, high), High: max(low, value, high)}
}

// Known tells whether there is no doubt.
func (e Estimate) Known() bool { return e.Low == e.High }

// Minus takes one estimate from another: the least of what is left is what is
// left of the least by the most. A result that 63 bits do not hold is an error.
func (e Estimate) Minus(other Estimate) (Estimate, error) {
	return combined(e.Value, -other.Value, e.Low, -other.High, e.High, -other.Low)
}

func combined(pairs ...int64) (Estimate, error) {
	var sums [3]int64
	for i := range sums {
		total, err := sum(pairs[2*i], pairs[2*i+1])
		if err != nil {
			return Estimate{}, err
		}
		sums[i] = total
	}
	return Estimate{sums[0], sums[1], sums[2]}, nil
}

// largestBound stands for "any": the true figure may be next to nothing.
const largestBound = 99

// Bound is the relative error that the limits allow, whether it is taken of the
// figure itself or of the true one.
func (e Estimate) Bound() float64 {
	if e.Known() {
		return 0
	}
	if e.Value <= 0 || e.Low <= 0 {
		return largestBound
	}
	value, low, high := float64(e.Value), float64(e.Low), float64(e.High)
	return min(largestBound, math.Ceil(max(high/value-1, value/low-1)*1e4)/1e4)
}

// Share is a fraction of so many bytes, rounded down. A fraction that is not
// above 0 and up to 1 is an error, and so are less than 1 byte.
func Share(bytes int64, fraction float64) (int64, error) {
	if !(fraction > 0 && fraction <= 1) {
		return 0, fmt.Errorf("a memory fraction lies above 0 and up to 1, got %v", fraction)
	}
	if err := atLeast(1, term{"memory of the GPU", bytes}); err != nil {
		return 0, err
	}
	share := new(big.Float).SetPrec(128).SetInt64(bytes)
	whole, _ := share.Mul(share, big.NewFloat(fraction)).Int64()
	return whole, nil
}
