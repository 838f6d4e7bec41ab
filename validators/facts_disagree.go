package validators

import (
	"github.com/trimtab/trimtab/internal/finding"
	"github.com/trimtab/trimtab/internal/rule"
)

// factsDisagree finds facts that two sources tell differently, and those that
// differ from what a sizing was recorded to rest on.
func factsDisagree() rule.Rule {
	meta := rule.Named("facts-disagree")
	return rule.Rule{Meta: meta, CheckServer: func(s rule.Server) []finding.Finding {
		var found []finding.Finding
		for _, disagreement := range s.Facts.Disagreements {
			f := s.AboutServer(meta)
			f.Setting = disagreement.Fact
			f.Message = disagreement.String() + "; correct one of them"
			found = append(found, f)
		}
		for _, statement := range s.Facts.Unresolved {
			f := s.AboutServer(meta)
			f.Setting, f.Message = "gpu.name", statement
			found = append(found, f)
		}
		return append(found, sizedOtherwise(s, meta)...)
	}}
}
