package validators

import (
	"fmt"
	"slices"

	"github.com/trimtab/trimtab/internal/argv"
	"github.com/trimtab/trimtab/internal/catalogue"
	"github.com/trimtab/trimtab/internal/engine"
	"github.com/trimtab/trimtab/internal/finding"
	"github.com/trimtab/trimtab/internal/rule"
	"github.com/trimtab/trimtab/internal/setting"
)

// deprecatedFlag finds options that the release still takes and says will go. A
// form that other releases only warn of, and this one refuses, is an error.
func deprecatedFlag() rule.Rule {
	meta := rule.Named("deprecated-flag")
	return rule.Rule{Meta: meta, EditsEverywhere: true, CheckRelease: func(r rule.Release) ([]finding.Finding, error) {
		var found []finding.Finding
		for i, about := range r.Line.Settings {
			if !about.Origin.Stands() || r.Wrapper.Keeps(about.Spelled) {
				continue
			}
			option, ok := r.State.Engine.Option(about.Name, r.State.Release)
			fact := successor(r, about)
			refused := refusedForm(r, i, fact)
			if warned := ok && option.Deprecated || fact != nil && fact.Renaming.Deprecated; !warned && !refused {
				continue
			}
			f := r.About(meta, about)
			f.Evidence = parserProof(r, lifeOf(option))
			f.Message = fmt.Sprintf("%s is deprecated in %s %s", about.Spelled, r.Engine, r.State.Release)
			if refused {
				f.Severity = finding.Error
				f.Message = fmt.Sprintf("%s is refused by %s %s at this place", about.Spelled, r.Engine, r.State.Release)
			}
			found = append(found, withSuccessor(r, f, option, fact))
		}
		return found, nil
	}}
}

// successor is the fact that names another form of a setting as it is spelled.
func successor(r rule.Release, about setting.Setting) *engine.Fact {
	for _, rename := range r.Renames {
		if r.Words[rename.Word].Origin.String() == about.Origin.String() {
			return rename.Fact
		}
	}
	return r.State.Knowledge.Renaming(plainFlag(about.Spelled), r.Mode, r.State.Release)
}

// refusedForm tells whether the release refuses a setting in a form that a fact
// names another one of.
func refusedForm(r rule.Release, index int, fact *engine.Fact) bool {
	about := r.Line.Settings[index]
	return fact != nil && slices.ContainsFunc(r.Line.Problems, func(p argv.Problem) bool {
		return p.Kind == argv.Refused && p.Flag == about.Name && len(p.Words) > 0 && p.Words[0].Origin.String() == about.Origin.String()
	})
}

func withSuccessor(r rule.Release, f finding.Finding, option catalogue.Option, fact *engine.Fact) finding.Finding {
	switch {
	case fact != nil:
		f.Message += instead(fact)
		f.Evidence = nil
		return renamed(r, f, fact)
	case option.Replacement != "":
		f.Proposed = option.Replacement
		f.Message += ": write " + option.Replacement + " instead"
	default:
		f.Message += ": the engine says that it will go, and names nothing instead"
	}
	return f
}

// lifeOf is the range of releases in which an option is as it is.
func lifeOf(option catalogue.Option) string {
	return fmt.Sprintf(">=%s,<=%s", option.Since, option.Until)
}
