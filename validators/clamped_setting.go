package validators

import (
	"fmt"

	"github.com/trimtab/trimtab/internal/engine"
	"github.com/trimtab/trimtab/internal/finding"
	"github.com/trimtab/trimtab/internal/rule"
)

// clampedSetting finds values above what the engine will use. It goes only where
// the clamp decides with it and without it.
func clampedSetting() rule.Rule {
	meta := rule.Named("clamped-setting")
	return rule.Rule{Meta: meta, CheckRelease: func(r rule.Release) ([]finding.Finding, error) {
		return r.Findings(meta, engine.Clamp, func(judgement engine.Judgement) rule.Verdict {
			effective := fmt.Sprint(judgement.Effective)
			verdict := rule.Verdict{Says: "is higher than what the engine uses, " + effective, Action: finding.None, Proposed: effective}
			if judgement.Removable {
				verdict.Action = finding.Remove
			}
			return verdict
		}), nil
	}}
}
