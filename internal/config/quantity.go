package config

import (
	"fmt"
	"math/big"
	"regexp"
	"strconv"
)

// Quantity is an amount of bytes as Kubernetes writes it. Text is kept because
// it carries the rounding of a logged figure: 5.60Gi is not 5.6Gi.
type Quantity struct {
	Text  string
	Bytes int64
}

// String prints the quantity as written.
func (q Quantity) String() string { return q.Text }

var quantityForm = regexp.MustCompile(`^([+-]?)([0-9]+\.?[0-9]*|\.[0-9]+)(Ki|Mi|Gi|Ti|Pi|Ei|[numkMGTPE]|[eE][+-]?[0-9]{1,3})?$`)

// ParseQuantity reads a Kubernetes quantity: 32Gi, 4.6G, 1e9, 500M, a plain
// number. The value is exact; a fraction of a byte is rounded down, and an
// amount between zero and one byte is an error, as are a negative amount and
// one that needs more than 63 bits. Errors begin with "must" or "is", to stand
// behind a field name.
func ParseQuantity(text string) (Quantity, error) {
	form := quantityForm.FindStringSubmatch(text)
	if form == nil || len(text) > 64 {
		return Quantity{}, fmt.Errorf("must be a quantity such as 32Gi or 4.6G, got %s", quote(text))
	}
	amount, ok := new(big.Rat).SetString(form[2])
	if !ok {
		return Quantity{}, fmt.Errorf("must be a quantity such as 32Gi or 4.6G, got %s", quote(text))
	}
	amount.Mul(amount, quantityScale(form[3]))
	if form[1] == "-" && amount.Sign() != 0 {
		return Quantity{}, fmt.Errorf("must not be negative, got %s", quote(text))
	}
	bytes := new(big.Int).Quo(amount.Num(), amount.Denom())
	if !bytes.IsInt64() {
		return Quantity{}, fmt.Errorf("is too large: %s", quote(text))
	}
	if amount.Sign() != 0 && bytes.Sign() == 0 {
		return Quantity{}, fmt.Errorf("is less than one byte: %s", quote(text))
	}
	return Quantity{Text: text, Bytes: bytes.Int64()}, nil
}

// quantityScale is what a suffix multiplies by.
func quantityScale(suffix string) *big.Rat {
	switch suffix {
	case "":
		return big.NewRat(1, 1)
	case "Ki", "Mi", "Gi", "Ti", "Pi", "Ei":
		steps := map[byte]uint{'K': 1, 'M': 2, 'G': 3, 'T': 4, 'P': 5, 'E': 6}[suffix[0]]
		return new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), 10*steps))
	}
	exponent, isStep := map[string]int{"n": -9, "u": -6, "m": -3, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}[suffix]
	if !isStep {
		exponent, _ = strconv.Atoi(suffix[1:]) // the form allows digits alone
	}
	power := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(exponent, -exponent))), nil)
	if exponent < 0 {
		return new(big.Rat).SetFrac(big.NewInt(1), power)
	}
	return new(big.Rat).SetInt(power)
}
