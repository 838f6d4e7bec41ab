package validators

import (
	"fmt"
	"slices"
	"strings"

	"github.com/trimtab/trimtab/internal/engine"
	"github.com/trimtab/trimtab/internal/finding"
	"github.com/trimtab/trimtab/internal/rule"
	"github.com/trimtab/trimtab/internal/setting"
)

// shadowedSetting finds settings that one of another origin overrides: a typed
// field and extraArgs, a text that a variable adds and the arguments behind it,
// the file of --config and the command line, what the operator writes and what
// the user adds. In one list it is repeated-setting.
func shadowedSetting() rule.Rule {
	meta := rule.Named("shadowed-setting")
	return rule.Rule{
		Meta:        meta,
		CheckServer: func(s rule.Server) []finding.Finding { return hiddenFields(s, meta) },
		CheckRelease: func(r rule.Release) ([]finding.Finding, error) {
			var found []finding.Finding
			written := r.Written()
			winners := winning(written)
			for _, about := range written {
				if winner, ok := overridingElsewhere(about, winners); ok {
					found = append(found, shadowed(r, meta, about, winner))
				}
			}
			return append(found, r.Findings(meta, engine.Inert, func(engine.Judgement) rule.Verdict {
				return rule.Verdict{Says: "is overridden", Action: finding.Remove}
			})...), nil
		},
	}
}

// overridingElsewhere is the one of the winners that has another origin than a
// setting that it overrides.
func overridingElsewhere(about setting.Setting, winners []setting.Setting) (setting.Setting, bool) {
	if !about.Overridden {
		return setting.Setting{}, false
	}
	if _, here := overridingHere(about, winners); here {
		return setting.Setting{}, false
	}
	at := slices.IndexFunc(winners, func(other setting.Setting) bool {
		return sameKnob(about, other) && other.Origin.String() != about.Origin.String()
	})
	if at < 0 {
		return setting.Setting{}, false
	}
	return winners[at], true
}

// shadowed says which of two settings wins. One that the operator writes stands
// in no manifest: that the user's own wins over it is said at the user's.
func shadowed(r rule.Release, meta rule.Meta, about, winner setting.Setting) finding.Finding {
	if !about.Origin.Stands() {
		f := r.About(meta, winner)
		f.Severity, f.Evidence = finding.Info, parserProof(r, "*")
		f.Message = fmt.Sprintf("%s wins over %s, which %s writes by itself", winner.Name, valueOf(about), about.Origin)
		return f
	}
	f := r.About(meta, about)
	f.Evidence = parserProof(r, "*")
	f.Message = fmt.Sprintf("%s (%s) is overridden by the one at %s (%s), which the engine reads later", about.Name, valueOf(about), where(winner), valueOf(winner))
	switch {
	case !winner.Origin.Stands():
		f.Message = fmt.Sprintf("%s (%s) is overridden by what %s writes behind it (%s)", about.Name, valueOf(about), winner.Origin, valueOf(winner))
	case mayDrop(r, about, winner):
		f.Action = finding.Remove
		f.Undo = "set it again when the one at " + where(winner) + " goes"
	}
	return f
}

// where is the place of a setting for people: a word in a text stands in the
// whole of it.
func where(s setting.Setting) string {
	if scalar, _, inside := s.Origin.Path.Part(); inside {
		return scalar.String()
	}
	return s.Origin.String()
}

// valueOf prints a value for people; that of a secret it does not.
func valueOf(s setting.Setting) string {
	switch {
	case rule.IsSecret(s.Name, s.Value()):
		return "a value"
	case s.Unknown && s.Value() == "":
		return "a value that is not known here"
	case strings.HasPrefix(s.Name, "--") && len(s.Values) == 0:
		return map[bool]string{false: "on", true: "off"}[s.Off]
	}
	return s.Value()
}

// hiddenFields are fields of the object that its operator never uses.
func hiddenFields(s rule.Server, meta rule.Meta) []finding.Finding {
	var found []finding.Finding
	for _, hidden := range s.Hidden {
		f := s.AboutServer(meta)
		f.Setting, f.Value, f.Origin.Path = hidden.Setting, hidden.Value, hidden.Path
		f.Places = []setting.Path{hidden.Path}
		f.Message = fmt.Sprintf("%s (%s) is not used: the operator takes %s (%s)", hidden.Path, hidden.Value, hidden.By, hidden.Used)
		f.Evidence = []finding.Evidence{{Engine: s.Operator, Versions: orAny(hidden.Versions), Source: hidden.Source}}
		switch {
		case hidden.Versions == "":
			f.Message += " (not edited: older operators may not know the other field)"
		case s.Facts.Contested("gpu.count") && hidden.Value != hidden.Used:
			f.Message += " (not edited: the two disagree, settle which is meant)"
		default:
			f.Action, f.Undo = finding.Remove, "set it again when "+hidden.By+" goes"
		}
		found = append(found, f)
	}
	return found
}

func orAny(versions string) string {
	if versions == "" {
		return "*"
	}
	return versions
}
