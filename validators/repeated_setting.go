package validators

import (
	"fmt"
	"slices"
	"strings"

	"github.com/trimtab/trimtab/internal/argv"
	"github.com/trimtab/trimtab/internal/finding"
	"github.com/trimtab/trimtab/internal/rule"
	"github.com/trimtab/trimtab/internal/setting"
)

// repeatedSetting finds settings that another one in the same list overrides.
func repeatedSetting() rule.Rule {
	meta := rule.Named("repeated-setting")
	return rule.Rule{Meta: meta, CheckRelease: func(r rule.Release) ([]finding.Finding, error) {
		var found []finding.Finding
		written := r.Written()
		winners := winning(written)
		for _, about := range written {
			winner, ok := overridingHere(about, winners)
			if !ok {
				continue
			}
			f := r.About(meta, about)
			f.Evidence = parserProof(r, "*")
			f.Message = fmt.Sprintf("%s is set twice here, and %s wins: the one at %s", about.Name, which(about, winner), where(winner))
			if about.Origin.Kind == setting.Env {
				f.Evidence = []finding.Evidence{{Engine: r.Engine, Versions: "*", Source: "Kubernetes: of two variables of one name the last one reaches the process"}}
			}
			if mayDrop(r, about, winner) {
				f.Action = finding.Remove
				f.Undo = "it had no effect where it stood"
			}
			found = append(found, f)
		}
		return found, nil
	}}
}

// which says how the winner stands to the one it overrides.
func which(about, winner setting.Setting) string {
	switch {
	case winner.Key != about.Key:
		return "the JSON built from the dotted keys replaces the whole value, it"
	case winner.Name == "--model" && winner.Spelled != "--model":
		return "the model without an option"
	}
	return "the later one"
}

// winning are the settings that no other one overrides.
func winning(settings []setting.Setting) []setting.Setting {
	return slices.DeleteFunc(slices.Clone(settings), func(s setting.Setting) bool { return s.Overridden })
}

// overridingHere is the one of the winners that stands in the same list, an
// element of the same args or env, as a setting that it overrides.
func overridingHere(about setting.Setting, winners []setting.Setting) (setting.Setting, bool) {
	isWritten := about.Origin.Kind == setting.Argument || about.Origin.Kind == setting.Env
	if !about.Overridden || !isWritten {
		return setting.Setting{}, false
	}
	for _, other := range slices.Backward(winners) {
		if sameKnob(about, other) && sameList(about, other) {
			return other, true
		}
	}
	return setting.Setting{}, false
}

func sameKnob(about, other setting.Setting) bool {
	if about.Key == "" || other.Key == "" {
		return about.Name == other.Name
	}
	return about.Key == other.Key || strings.HasPrefix(other.Key, about.Key+".")
}

// sameList tells whether two settings are elements of one list.
func sameList(a, b setting.Setting) bool {
	listOf := func(s setting.Setting) string {
		if len(s.Origin.Path) == 0 {
			return ""
		}
		return s.Origin.Path[:len(s.Origin.Path)-1].String()
	}
	return a.Origin.Kind == b.Origin.Kind && listOf(a) == listOf(b) && listOf(a) != ""
}

// mayDrop tells whether the dead one goes without loss: it is known what both
// say, nothing refers to it, and it holds no list that was meant to grow.
func mayDrop(r rule.Release, about, winner setting.Setting) bool {
	if about.Unknown || winner.Unknown || winner.Key != about.Key {
		return false
	}
	if variable, ok := strings.CutPrefix(about.Name, "env/"); ok {
		return !r.Mentions(variable)
	}
	refused := slices.ContainsFunc(r.Line.Problems, func(p argv.Problem) bool {
		return p.Setting != argv.NoSetting && r.Line.Settings[p.Setting].Origin.String() == about.Origin.String()
	})
	option, ok := r.State.Engine.Option(about.Name, r.State.Release)
	return ok && !refused && option.NArgs != "+" && option.NArgs != "*"
}
