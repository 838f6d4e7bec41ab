package validators

import (
	"fmt"
	"strings"

	"github.com/trimtab/trimtab/internal/argv"
	"github.com/trimtab/trimtab/internal/catalogue"
	"github.com/trimtab/trimtab/internal/engine"
	"github.com/trimtab/trimtab/internal/finding"
	"github.com/trimtab/trimtab/internal/rule"
	"github.com/trimtab/trimtab/internal/setting"
)

// unknownFlag finds options that the engine has in no release, and words that
// belong to no option.
func unknownFlag() rule.Rule {
	meta := rule.Named("unknown-flag")
	return rule.Rule{Meta: meta, Everywhere: true, CheckRelease: func(r rule.Release) ([]finding.Finding, error) {
		var found []finding.Finding
		for _, problem := range r.Line.Problems {
			var says string
			switch {
			case problem.Kind == argv.Unknown && r.Wrapper != nil:
				if f, ok := dropped(r, problem); ok {
					found = append(found, f)
				}
				continue
			case problem.Kind == argv.Unknown && !wasKnown(r, problem) && !adds(r, plainFlag(problem.Flag)):
				says = unknownText(r, problem.Flag)
			case problem.Kind == argv.Stray && fusedOption(r, problem) == "" && !followsAdded(r):
				says = strayText(r, problem)
			default:
				continue
			}
			if f, ok := refusal(r, meta, problem); ok {
				f.Message = says
				f.Evidence[0].Versions = "*"
				found = append(found, parserKnown(r, mayKnowMore(r, ofField(f))))
			}
		}
		return found, nil
	}}
}

// dropped is about an option that a wrapper silently drops, since neither it nor
// the engine knows it.
func dropped(r rule.Release, problem argv.Problem) (finding.Finding, bool) {
	if r.Wrapper.Takes(problem.Flag) {
		return finding.Finding{}, false
	}
	f, ok := refusal(r, rule.Named("inert-setting"), problem)
	f.Action = finding.None
	f.Message = fmt.Sprintf("%s does nothing here: %s drops what neither it nor %s knows", problem.Flag, r.Wrapper.Name, here(r))
	f.Evidence = []finding.Evidence{{Engine: "kserve", Versions: "*", Source: r.Wrapper.Source}}
	return f, ok
}

// wasKnown tells whether another release of the engine knows an unknown option.
func wasKnown(r rule.Release, problem argv.Problem) bool {
	lives := r.State.Engine.OptionEver(problem.Flag)
	return len(lives) > 0 && !knowsNow(r, lives)
}

// knowsNow tells whether the release itself is among those that know an option:
// then it is another program of the engine that takes it.
func knowsNow(r rule.Release, lives []catalogue.Life) bool {
	for _, life := range lives {
		if life.Since.Index <= r.State.Release.Index && r.State.Release.Index <= life.Until.Index {
			return true
		}
	}
	return false
}

func unknownText(r rule.Release, flag string) string {
	if lives := r.State.Engine.OptionEver(flag); len(lives) > 0 {
		return fmt.Sprintf("%s is an option of `%s serve`, and this is the API server module, which does not take it in %s", flag, r.Engine, r.State.Release)
	}
	says := fmt.Sprintf("%s is no option of %s", flag, here(r))
	if strings.TrimSpace(flag) != flag {
		return fmt.Sprintf("%q is no option of %s: take the blank or line break at its end out (in YAML `>-` or `|-` leave none)", flag, here(r))
	}
	if other := otherEngine(r, plainFlag(flag)); other != "" {
		says += ", it belongs to " + other
	}
	if fact := r.State.Knowledge.Renaming(plainFlag(flag), r.Mode, r.State.Release); fact != nil {
		return says + instead(fact)
	}
	if near, ok := r.State.Engine.NearestOption(flag, r.State.Release); ok {
		return says + ": did you mean " + near + "?"
	}
	return says
}

// instead says what to write for an option that a fact names another form of.
func instead(fact *engine.Fact) string {
	switch {
	case fact.Renaming.Positional:
		return ": " + fact.Why
	case fact.Renaming.To == "":
		return ": take it out, " + fact.Why
	}
	return ": write " + fact.Renaming.To + " instead, " + fact.Why
}

// otherEngine names an engine that has an option of this name in any release.
func otherEngine(r rule.Release, flag string) string {
	for _, name := range catalogue.Names() {
		if name == r.Engine {
			continue
		}
		if other, err := catalogue.Load(name); err == nil && len(other.OptionEver(flag)) > 0 {
			return name
		}
	}
	return ""
}

// strayText says why a word belongs to no option.
func strayText(r rule.Release, problem argv.Problem) string {
	word := problem.Flag
	if len(problem.Words) > 0 {
		word = problem.Words[0].Text
	}
	if rule.IsSecret("", word) {
		word = "a word"
	}
	says := fmt.Sprintf("%q belongs to no option of %s %s", word, r.Engine, r.State.Release)
	if before, ok := settingBefore(r, problem); ok {
		if option, ok := r.State.Engine.Option(before.Name, r.State.Release); ok && option.IsSwitch() && len(before.Values) == 0 {
			says += fmt.Sprintf(": %s is a switch and takes no value", before.Spelled)
		}
	}
	return says
}

// settingBefore is the setting whose words end where those of a problem begin.
func settingBefore(r rule.Release, problem argv.Problem) (setting.Setting, bool) {
	if len(problem.Words) == 0 {
		return setting.Setting{}, false
	}
	for i := 1; i < len(r.Words); i++ {
		if owner := r.Line.Owners[i-1]; owner != argv.NoSetting && r.Words[i].Origin.String() == problem.Words[0].Origin.String() {
			return r.Line.Settings[owner], true
		}
	}
	return setting.Setting{}, false
}

// followsAdded tells whether the line holds an option that a fork or a plugin
// adds: nobody knows then how many words it takes.
func followsAdded(r rule.Release) bool {
	for _, problem := range r.Line.Problems {
		if problem.Kind == argv.Unknown && adds(r, plainFlag(problem.Flag)) {
			return true
		}
	}
	return false
}

// fusedOption is the option that a single word holds together with its value:
// `--dtype auto` in one element of the list; empty when it holds none.
func fusedOption(r rule.Release, problem argv.Problem) string {
	if len(problem.Words) == 0 {
		return ""
	}
	return fusedName(r, problem.Words[0].Text)
}

func fusedName(r rule.Release, word string) string {
	name, _, fused := strings.Cut(word, " ")
	if !fused || !strings.HasPrefix(name, "--") {
		return ""
	}
	name, _, _ = strings.Cut(name, "=")
	if len(r.State.Engine.OptionEver(plainFlag(name))) == 0 {
		return ""
	}
	return name
}
