package validators

import (
	"github.com/trimtab/trimtab/internal/engine"
	"github.com/trimtab/trimtab/internal/finding"
	"github.com/trimtab/trimtab/internal/rule"
)

// loadBearingSetting finds settings that look redundant and are not.
func loadBearingSetting() rule.Rule {
	meta := rule.Named("load-bearing-setting")
	return rule.Rule{Meta: meta, CheckRelease: func(r rule.Release) ([]finding.Finding, error) {
		return r.Findings(meta, engine.LoadBearing, func(engine.Judgement) rule.Verdict {
			return rule.Verdict{Says: "looks redundant and is not", Action: finding.None}
		}), nil
	}}
}
