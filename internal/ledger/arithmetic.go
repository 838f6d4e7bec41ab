package ledger

import (
	"errors"
	"fmt"
	"math/big"
	"strconv"
	"strings"
)

var errTooLarge = errors.New("the figures are too large to be those of a GPU: check the model's shape and the counts")

// term is a named input of a formula.
type term struct {
	name  string
	value int64
}

// atLeast checks inputs; the error names the first that is too low.
func atLeast(least int64, terms ...term) error {
	for _, t := range terms {
		if t.value < least {
			return fmt.Errorf("%s must be from %d, got %d: state the right figure", t.name, least, t.value)
		}
	}
	return nil
}

// product multiplies; a result that 63 bits do not hold is an error.
func product(factors ...int64) (int64, error) {
	result := big.NewInt(1)
	for _, factor := range factors {
		result.Mul(result, big.NewInt(factor))
	}
	return narrow(result)
}

// Product multiplies; a result that 63 bits do not hold is an error.
func Product(factors ...int64) (int64, error) { return product(factors...) }

// FloorDiv divides and rounds down, also below zero; the divisor is positive.
func FloorDiv(dividend, divisor int64) int64 {
	return floor(big.NewInt(dividend), big.NewInt(divisor)).Int64()
}

// sum adds; a result that 63 bits do not hold is an error.
func sum(a, b int64) (int64, error) {
	return narrow(new(big.Int).Add(big.NewInt(a), big.NewInt(b)))
}

// floor divides and rounds down, also below zero; the divisor is positive.
func floor(dividend, divisor *big.Int) *big.Int {
	return new(big.Int).Div(dividend, divisor) // Euclidean: floor for a positive divisor
}

func narrow(n *big.Int) (int64, error) {
	if !n.IsInt64() {
		return 0, errTooLarge
	}
	return n.Int64(), nil
}

// Grouped prints a number with its thousands apart: 78,446,592.
func Grouped(n int64) string {
	digits := strconv.FormatInt(n, 10)
	sign := ""
	if n < 0 {
		sign, digits = "-", digits[1:]
	}
	var b strings.Builder
	for i, digit := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(digit)
	}
	return sign + b.String()
}
