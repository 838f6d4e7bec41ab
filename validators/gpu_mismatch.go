package validators

import (
	"github.com/trimtab/trimtab/internal/engine"
	"github.com/trimtab/trimtab/internal/finding"
	"github.com/trimtab/trimtab/internal/rule"
)

// gpuMismatch finds parallel sizes that ask for more GPUs than the pod has.
func gpuMismatch() rule.Rule {
	meta := rule.Named("gpu-mismatch")
	return rule.Rule{Meta: meta, CheckRelease: func(r rule.Release) ([]finding.Finding, error) {
		return r.Findings(meta, engine.Mismatch, func(engine.Judgement) rule.Verdict {
			return rule.Verdict{Says: "does not fit the GPUs", Action: finding.None}
		}), nil
	}}
}
