package validators

import (
	"fmt"

	"github.com/trimtab/trimtab/internal/engine"
	"github.com/trimtab/trimtab/internal/finding"
	"github.com/trimtab/trimtab/internal/rule"
)

// overriddenSetting finds settings that the engine silently replaces.
func overriddenSetting() rule.Rule {
	meta := rule.Named("overridden-setting")
	return rule.Rule{Meta: meta, CheckRelease: func(r rule.Release) ([]finding.Finding, error) {
		return r.Findings(meta, engine.Overridden, func(judgement engine.Judgement) rule.Verdict {
			verdict := rule.Verdict{Says: "is replaced by the engine", Action: finding.None}
			if judgement.Effective != nil {
				verdict.Proposed = fmt.Sprint(judgement.Effective)
				verdict.Says += " with " + verdict.Proposed
			}
			return verdict
		}), nil
	}}
}
