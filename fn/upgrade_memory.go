package fn

import (
	"cmp"
	"fmt"
	"math"
	"slices"

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
	differ := func(name, unit string, bound float64, old, now *int64) {
		if old == nil || now == nil || *old == *now {
			return
		}
		impact, each := report.Silent, ""
		if bound > 0 {
			each = fmt.Sprintf(", each ± %.1f %%", 100*bound)
		}
		if math.Abs(float64(*now-*old)) <= bound*float64(*old+*now) {
			impact = report.Harmless // both may be the same
		}
		changes = append(changes, j.change(report.MemoryChanged, impact,
			setting.Setting{Name: name, Origin: setting.Origin{Kind: setting.Default, Name: "account", Near: j.Path}},
			fmt.Sprint(*old), fmt.Sprint(*now),
			fmt.Sprintf("the account of the GPU comes to %s %s in %s and to %s in %s%s", ledger.Grouped(*old), unit, before.release(), ledger.Grouped(*now), j.release(), each)))
	}
	rows := append(kvRows(was), kvRows(is)...)
	isMeasured := func(row ledger.Row) bool { return row.Source == ledger.Measured }
	if len(rows) > 0 && !slices.ContainsFunc(rows, isMeasured) {
		worst := slices.MaxFunc(rows, func(a, b ledger.Row) int { return cmp.Compare(a.Bound, b.Bound) })
		differ("kv", "KV tokens", worst.Bound, was.Tokens, is.Tokens)
	}
	differ("requests", "requests at once", 0, was.Ceiling.Requests, is.Ceiling.Requests)
	return changes
}

// kvRows are the rows of the KV cache, one for each rank.
func kvRows(plan ledger.Plan) []ledger.Row {
	var rows []ledger.Row
	for _, gpu := range plan.GPUs {
		for _, row := range gpu.Rows {
			if row.Name == "kv" {
				rows = append(rows, row)
			}
		}
	}
	return rows
}
