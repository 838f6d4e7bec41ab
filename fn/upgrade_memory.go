package fn

import (
	"fmt"

	"github.com/trimtab/trimtab/internal/ledger"
	"github.com/trimtab/trimtab/internal/report"
	"github.com/trimtab/trimtab/internal/setting"
)

// memorySince compares the account of the GPU at both releases: the tokens of
// the KV cache and the request ceiling, each where both are computed. What was
// measured was measured in one of them, and is not compared.
func (j *judged) memorySince(before *judged) []report.Change {
	was, err := before.plan()
	if err != nil {
		return nil // an account that cannot be drawn up tells nothing
	}
	is, err := j.plan()
	if err != nil {
		return nil
	}
	var changes []report.Change
	differ := func(name, unit string, old, now *int64) {
		if old == nil || now == nil || *old == *now {
			return
		}
		changes = append(changes, j.change(report.MemoryChanged, report.Silent,
			setting.Setting{Name: name, Origin: setting.Origin{Kind: setting.Default, Name: "account", Near: j.Path}},
			fmt.Sprint(*old), fmt.Sprint(*now),
			fmt.Sprintf("the account of the GPU comes to %s %s in %s and to %s in %s", ledger.Grouped(*old), unit, before.release(), ledger.Grouped(*now), j.release())))
	}
	if !measured(was) && !measured(is) {
		differ("kv", "KV tokens", was.Tokens, is.Tokens)
	}
	differ("requests", "requests at once", was.Ceiling.Requests, is.Ceiling.Requests)
	return changes
}

// measured tells whether the tokens of a plan rest on a measurement.
func measured(plan ledger.Plan) bool {
	for _, gpu := range plan.GPUs {
		for _, row := range gpu.Rows {
			if row.Name == "kv" && row.Source == ledger.Measured {
				return true
			}
		}
	}
	return false
}
