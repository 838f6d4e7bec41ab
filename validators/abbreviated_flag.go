package validators

import (
	"fmt"
	"strings"

	"github.com/trimtab/trimtab/internal/finding"
	"github.com/trimtab/trimtab/internal/rule"
	"github.com/trimtab/trimtab/internal/setting"
)

// abbreviatedFlag finds options that the parser understands only because no
// other one begins so.
func abbreviatedFlag() rule.Rule {
	meta := rule.Named("abbreviated-flag")
	return rule.Rule{Meta: meta, CheckRelease: func(r rule.Release) ([]finding.Finding, error) {
		var found []finding.Finding
		for _, about := range r.Line.Settings {
			full, short := abbreviates(r, about)
			if !short || about.Origin.Kind != setting.Argument {
				continue // what an operator writes for a field is its own matter
			}
			f := r.About(meta, about)
			f.Proposed = full
			f.Evidence = parserProof(r, "=="+r.State.Release.Version)
			f.Message = fmt.Sprintf("%s is short for %s: write the whole name, the next option that begins so breaks it", about.Spelled, full)
			found = append(found, f)
		}
		return found, nil
	}}
}

// abbreviates tells whether a setting is spelled as a prefix of the option's
// names, and gives the name that is meant.
func abbreviates(r rule.Release, about setting.Setting) (full string, short bool) {
	spelled := about.Spelled
	if !strings.HasPrefix(spelled, "--") || len(spelled) < 3 {
		return "", false
	}
	if r.Engine == "vllm" {
		spelled, _, _ = strings.Cut(spelled, ".")
		spelled = plainFlag(spelled)
	}
	if _, exact := r.State.Engine.Option(spelled, r.State.Release); exact {
		return "", false
	}
	names := r.State.Engine.Spellings(spelled, r.State.Release)
	if len(names) != 1 {
		return "", false
	}
	return names[0], true
}
