package validators

import (
	"fmt"

	"github.com/trimtab/trimtab/internal/catalogue"
	"github.com/trimtab/trimtab/internal/finding"
	"github.com/trimtab/trimtab/internal/rule"
	"github.com/trimtab/trimtab/internal/setting"
)

// unknownVersion says when no engine version can be told, which releases are
// judged instead, and how to state the version.
func unknownVersion() rule.Rule {
	meta := rule.Named("unknown-version")
	return rule.Rule{Meta: meta, CheckServer: func(s rule.Server) []finding.Finding {
		span := s.Facts.Span
		if span.Exact && !span.Newer && !span.Older {
			return nil
		}
		f := s.AboutServer(meta)
		f.Setting = s.ImagePath.String()
		f.Value = s.Image
		f.Origin = setting.Origin{Kind: setting.Field, Path: s.ImagePath}
		f.Message = fmt.Sprintf("%s: %s; state it with `engine: {name: %s, version: …}` in the config or the annotation trimtab.dev/engine",
			span.Why, judged(span), s.Engine)
		return []finding.Finding{f}
	}}
}

// judged says which releases stand in for the unknown version.
func judged(span catalogue.Span) string {
	switch n := len(span.Releases); {
	case n == 0:
		return "rules that need a release wait for it"
	case n == 1:
		return "judged as " + span.Releases[0].Version
	default:
		return fmt.Sprintf("only what holds for every release from %s to %s is said", span.Releases[0].Version, span.Releases[n-1].Version)
	}
}
