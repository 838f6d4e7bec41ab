package validators

import (
	"github.com/trimtab/trimtab/internal/engine"
	"github.com/trimtab/trimtab/internal/finding"
	"github.com/trimtab/trimtab/internal/rule"
)

// inertSetting finds what the engine accepts and never acts on here.
func inertSetting() rule.Rule {
	meta := rule.Named("inert-setting")
	return rule.Rule{Meta: meta, CheckRelease: func(r rule.Release) ([]finding.Finding, error) {
		return r.Findings(meta, engine.Inert, func(engine.Judgement) rule.Verdict {
			return rule.Verdict{Says: "does nothing here", Action: finding.Remove}
		}), nil
	}}
}
