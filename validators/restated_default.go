package validators

import (
	"fmt"
	"slices"
	"strings"

	"github.com/trimtab/trimtab/internal/catalogue"
	"github.com/trimtab/trimtab/internal/engine"
	"github.com/trimtab/trimtab/internal/finding"
	"github.com/trimtab/trimtab/internal/rule"
	"github.com/trimtab/trimtab/internal/setting"
)

// restatedDefault finds settings that say what the engine does without them: by
// a fact, or because the parser's own default is the same.
func restatedDefault() rule.Rule {
	meta := rule.Named("restated-default")
	return rule.Rule{Meta: meta, CheckRelease: func(r rule.Release) ([]finding.Finding, error) {
		found := r.Findings(meta, engine.Equals, func(engine.Judgement) rule.Verdict {
			return rule.Verdict{Says: "restates what the engine does anyway", Action: finding.Remove}
		})
		told := map[string]int{}
		for i, f := range found {
			told[f.Setting] = i
		}
		for _, about := range r.State.Settings {
			at, isTold := told[about.Name]
			if isTold && len(found[at].Needs) == 0 || !about.Origin.Stands() || about.Held != "" {
				continue
			}
			if option, ok := r.State.ParserDefault(about); ok && !r.DoesMore(about) {
				restated := parserDefault(r, meta, about, option)
				if isTold {
					found[at] = restated // whatever the fact waits for
				} else {
					found = append(found, restated)
				}
			}
			if variable, ok := r.State.VariableDefault(about); ok && !isTold && !r.DoesMore(about) && unreadable(r, variable, about.Value()) == "" {
				found = append(found, variableDefault(r, meta, about, variable))
			}
		}
		return withLaterDefaults(r, found), nil
	}}
}

// withLaterDefaults adds to the way back from which release on the engine takes
// something else: until then the setting says what it does anyway, and from then
// on it is what shields the server from the change.
func withLaterDefaults(r rule.Release, found []finding.Finding) []finding.Finding {
	releases := r.Facts.Span.Releases
	if r.State.Release.Index != releases[len(releases)-1].Index {
		return found // the findings of the newest release are the ones that are kept
	}
	abouts := make([]setting.Setting, len(found))
	for i, f := range found {
		at := slices.IndexFunc(r.State.Settings, func(s setting.Setting) bool {
			return s.Name == f.Setting && s.Origin.String() == f.Origin.String()
		})
		if at >= 0 && len(f.Needs) == 0 {
			abouts[i] = r.State.Settings[at]
		}
	}
	future := r.State.Future(abouts)
	for i, about := range abouts {
		if about.Name == "" {
			continue
		}
		if from, takes, ok := future.ChangesFrom(about); ok {
			later := fmt.Sprintf("from %s on the engine takes %v without it: write it before going there", from, takes)
			found[i].Undo = strings.TrimPrefix(found[i].Undo+"; "+later, "; ")
		}
	}
	return found
}

func parserDefault(r rule.Release, meta rule.Meta, about setting.Setting, option catalogue.Option) finding.Finding {
	f := r.About(meta, about)
	if !r.State.Refused {
		f.Action = finding.Remove
	}
	f.Message = fmt.Sprintf("%s restates what the engine does anyway: the default is %s", about.Name, about.Value())
	f.Undo = "add it back where another release has another default"
	f.Evidence = []finding.Evidence{{
		Engine: r.Engine, Versions: between(r.State.DefaultSpan(option)), Source: "default of the engine's own parser, measured",
	}}
	return f
}

// variableDefault is only said, not edited: whether anything asks if the variable
// is set at all, the catalogue does not tell.
func variableDefault(r rule.Release, meta rule.Meta, about setting.Setting, variable catalogue.EnvVar) finding.Finding {
	f := r.About(meta, about)
	f.Message = fmt.Sprintf("%s restates what the engine does anyway: unset, it is %v", about.Name, variable.Default)
	f.Evidence = []finding.Evidence{{
		Engine: r.Engine, Versions: between(variable.Since, variable.Until), Source: "default of the variable in the engine's own code, measured",
	}}
	return f
}

// between is the range of releases in which something is as it is.
func between(since, until catalogue.Release) string {
	return ">=" + since.Version + ",<=" + until.Version
}
