package ledger

import (
	"fmt"
	"math/big"
	"regexp"
	"strings"
)

var loggedForm = regexp.MustCompile(`^([0-9]{1,20})(?:\.([0-9]{1,20}))? ?(Ki|Mi|Gi|Ti|k|M|G|T|)B?$`)

// unitBytes is what a suffix stands for: binary with an i, decimal without.
// Engines print GB and mean GiB: what stands in a log as 5.60 GB is 5.60Gi.
var unitBytes = map[string]int64{
	"": 1, "Ki": 1 << 10, "Mi": 1 << 20, "Gi": 1 << 30, "Ti": 1 << 40,
	"k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12,
}

// Agrees tells whether a computed number of bytes is the one that was logged,
// as far as the log's digits go: "5.60Gi" stands for 5.595 to 5.605 GiB, both
// included. Figures is how many rounded figures were added up to make the
// logged one (SGLang prints K and V, conv and ssm apart: then 2), each with a
// rounding of its own. A figure without suffix and point is exact. A logged text
// that is no quantity, a negative number of bytes, and figures below 1 are
// errors.
func Agrees(bytes int64, logged string, figures int64) (bool, error) {
	if err := atLeast(0, term{"bytes", bytes}); err != nil {
		return false, err
	}
	if err := atLeast(1, term{"number of logged figures", figures}); err != nil {
		return false, err
	}
	value, slack, err := loggedSize(logged, figures)
	if err != nil {
		return false, err
	}
	off := new(big.Rat).Sub(new(big.Rat).SetInt64(bytes), value)
	return off.Abs(off).Cmp(slack) <= 0, nil
}

// LoggedRange is from where to where the bytes lie that a logged text stands
// for, both included; figures as in Agrees. A text that is no quantity, or more
// than 63 bits hold, is an error.
func LoggedRange(logged string, figures int64) (low, high int64, err error) {
	if err := atLeast(1, term{"number of logged figures", figures}); err != nil {
		return 0, 0, err
	}
	value, slack, err := loggedSize(logged, figures)
	if err != nil {
		return 0, 0, err
	}
	least, most := new(big.Rat).Sub(value, slack), new(big.Rat).Add(value, slack)
	low, err = narrow(new(big.Int).Div(new(big.Int).Add(least.Num(), new(big.Int).Sub(least.Denom(), big.NewInt(1))), least.Denom()))
	if err != nil {
		return 0, 0, err
	}
	high, err = narrow(floor(most.Num(), most.Denom()))
	return low, high, err
}

// loggedSize is what a logged text stands for, and how far its digits leave it
// open to either side.
func loggedSize(logged string, figures int64) (value, slack *big.Rat, err error) {
	form := loggedForm.FindStringSubmatch(strings.TrimSpace(logged))
	if form == nil {
		return nil, nil, fmt.Errorf("a logged size must be a quantity such as 5.60Gi, got %.40q", logged)
	}
	whole, decimals, unit := form[1], form[2], form[3]
	digits, _ := new(big.Int).SetString(whole+decimals, 10)
	scale := new(big.Rat).SetFrac(big.NewInt(unitBytes[unit]), new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(len(decimals))), nil))
	slack = new(big.Rat)
	if unit != "" || decimals != "" {
		slack.Mul(scale, big.NewRat(figures, 2))
	}
	return new(big.Rat).Mul(new(big.Rat).SetInt(digits), scale), slack, nil
}
