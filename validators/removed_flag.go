package validators

import (
	"fmt"

	"github.com/trimtab/trimtab/internal/argv"
	"github.com/trimtab/trimtab/internal/engine"
	"github.com/trimtab/trimtab/internal/finding"
	"github.com/trimtab/trimtab/internal/rule"
)

// removedFlag finds options that the engine had before, or has later, and not at
// this release.
func removedFlag() rule.Rule {
	meta := rule.Named("removed-flag")
	return rule.Rule{Meta: meta, Everywhere: true, CheckRelease: func(r rule.Release) ([]finding.Finding, error) {
		var found []finding.Finding
		for _, problem := range r.Line.Problems {
			refused := problem.Kind == argv.Unknown || problem.Kind == argv.Ambiguous
			if !refused || !wasKnown(r, problem) || adds(r, plainFlag(problem.Flag)) {
				continue
			}
			if f, ok := refusal(r, meta, problem); ok {
				found = append(found, parserKnown(r, ofField(removed(r, f, problem))))
			}
		}
		return found, nil
	}}
}

func removed(r rule.Release, f finding.Finding, problem argv.Problem) finding.Finding {
	known, versions := knownText(r, r.State.Engine.OptionEver(problem.Flag))
	if flag, ok := r.State.Engine.SpelledEver(problem.Flag); ok {
		f.Setting = flag
	}
	f.Evidence[0].Versions = versions
	f.Message = fmt.Sprintf("%s is no option of %s, %s", problem.Flag, here(r), known)
	fact := r.State.Knowledge.Renaming(plainFlag(problem.Flag), r.Mode, r.State.Release)
	if fact == nil {
		f.Message += "; take it out, or choose a release that has it"
		return f
	}
	f.Message += instead(fact)
	return renamed(r, f, fact)
}

// proofOf is the evidence of a fact.
func proofOf(fact *engine.Fact) finding.Evidence {
	return finding.Evidence{Engine: fact.Engine, Versions: fact.VersionText, Source: fact.Source}
}

// renamed completes a finding about an option that a fact names another form of.
func renamed(r rule.Release, f finding.Finding, fact *engine.Fact) finding.Finding {
	f.Undo = fact.Undo
	f.Proposed = fact.Renaming.To
	f.Evidence = append(f.Evidence, proofOf(fact))
	for _, rename := range r.Renames {
		if rename.Fact != fact || r.Words[rename.Word].Origin.String() != f.Origin.String() {
			continue
		}
		if f.Edits = rename.Edits(r.Words); len(f.Edits) > 0 {
			f.Action, f.Proposed = finding.Set, rename.Proposed()
		}
	}
	return f
}
