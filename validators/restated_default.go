package validators

import (
	"github.com/trimtab/trimtab/internal/engine"
	"github.com/trimtab/trimtab/internal/finding"
	"github.com/trimtab/trimtab/internal/rule"
)

// restatedDefault finds settings that say what the engine does without them.
func restatedDefault() rule.Rule {
	meta := rule.Named("restated-default")
	return rule.Rule{Meta: meta, CheckRelease: func(r rule.Release) ([]finding.Finding, error) {
		return r.Findings(meta, engine.Equals, func(engine.Judgement) rule.Verdict {
			return rule.Verdict{Says: "restates what the engine does anyway", Action: finding.Remove}
		})
	}}
}
