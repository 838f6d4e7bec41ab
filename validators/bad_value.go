package validators

import (
	"fmt"
	"strings"

	"github.com/trimtab/trimtab/internal/argv"
	"github.com/trimtab/trimtab/internal/catalogue"
	"github.com/trimtab/trimtab/internal/finding"
	"github.com/trimtab/trimtab/internal/rule"
	"github.com/trimtab/trimtab/internal/setting"
)

// badValue finds what the parser refuses in an option that it knows: type,
// choice, number of values, an ambiguous prefix, JSON that does not parse.
func badValue() rule.Rule {
	meta := rule.Named("bad-value")
	return rule.Rule{Meta: meta, CheckRelease: func(r rule.Release) ([]finding.Finding, error) {
		var found []finding.Finding
		for _, problem := range r.Line.Problems {
			if f, ok := badly(r, meta, problem); ok {
				found = append(found, f)
			}
		}
		for _, about := range r.Line.Settings {
			if f, ok := fusedModel(r, meta, about); ok {
				found = append(found, f)
			}
		}
		return found, nil
	}}
}

// missingOption finds a command line without an option that it needs. Without
// arguments at all nothing is said: another file may bring them.
func missingOption() rule.Rule {
	meta := rule.Named("bad-value")
	return rule.Rule{Meta: meta, Everywhere: true, CheckRelease: func(r rule.Release) ([]finding.Finding, error) {
		for _, problem := range r.Line.Problems {
			if problem.Kind != argv.MissingOption || len(r.Words) == 0 {
				continue
			}
			f, _ := refusal(r, meta, problem)
			f.Message = fmt.Sprintf("%s (%s %s)", plainText(problem.Message), r.Engine, r.State.Release)
			return []finding.Finding{parserKnown(r, f)}, nil
		}
		return nil, nil
	}}
}

func badly(r rule.Release, meta rule.Meta, problem argv.Problem) (finding.Finding, bool) {
	says := plainText(problem.Message)
	switch problem.Kind {
	case argv.Unknown:
		return finding.Finding{}, false
	case argv.Stray:
		name := fusedOption(r, problem)
		if name == "" {
			return finding.Finding{}, false
		}
		says = fusedText(name, problem.Words[0].Text)
	case argv.Ambiguous:
		if wasKnown(r, problem) {
			return finding.Finding{}, false // removed-flag
		}
	case argv.Refused:
		if problem.Flag == "--model" {
			return finding.Finding{}, false // deprecated-flag
		}
	case argv.MissingOption:
		return finding.Finding{}, false // missingOption
	case argv.MissingValue:
		if near := nearestName(r, problem); near != "" {
			says += near
		}
	}
	f, ok := refusal(r, meta, problem)
	if !ok || adds(r, f.Setting) {
		return finding.Finding{}, false
	}
	if f.Setting == "" && len(problem.Words) > 0 {
		f.Setting, _, _ = strings.Cut(problem.Words[0].Text, "=")
	}
	f.Message = fmt.Sprintf("%s (%s %s)", says, r.Engine, r.State.Release)
	if rule.IsSecret(f.Setting, problem.Value) {
		f.Message = fmt.Sprintf("%s: the parser of %s %s refuses the value, which is not shown", f.Setting, r.Engine, r.State.Release)
	}
	if problem.Kind == argv.BadChoice {
		f = choiceMayBeNew(r, f)
	}
	return parserKnown(r, f), true
}

// nearestName suggests the option that a word behind one without a value was
// meant as.
func nearestName(r rule.Release, problem argv.Problem) string {
	if len(problem.Words) == 0 {
		return ""
	}
	for i, word := range r.Words {
		if word.Origin.String() != problem.Words[0].Origin.String() || i+1 >= len(r.Words) {
			continue
		}
		if next := r.Words[i+1].Text; len(next) > 1 && next[0] == '-' && !rule.IsSecret(problem.Flag, next) {
			return fmt.Sprintf(", and %q behind it is an option: a value that begins with a dash is written %s=%s", next, problem.Flag, next)
		}
	}
	return ""
}

// choiceMayBeNew lowers a choice that the catalogue does not know, where a fork
// or a newer release may.
func choiceMayBeNew(r rule.Release, f finding.Finding) finding.Finding {
	option, ok := r.State.Engine.Option(f.Setting, r.State.Release)
	if isFork(r) && ok && option.Open || r.Facts.Span.Newer {
		return mayKnowMore(r, f)
	}
	return f
}

// fusedModel finds an option with its value in one word that the parser takes
// for the model, because it holds a blank.
func fusedModel(r rule.Release, meta rule.Meta, about setting.Setting) (finding.Finding, bool) {
	if about.Name != "--model" || about.Unknown || about.Spelled == "--model" || about.Origin.Path == nil {
		return finding.Finding{}, false
	}
	name := fusedName(r, about.Value())
	if name == "" {
		return finding.Finding{}, false
	}
	f := r.About(meta, about)
	f.Severity = finding.Warning // the parser takes it, the model is not found later
	f.Evidence = parserProof(r, lifeOf(catalogue.Option{Since: r.State.Release, Until: r.State.Release}))
	f.Message = fusedText(name, about.Value()) + "; as it stands it is read as the name of the model"
	return f, true
}

func fusedText(name, word string) string {
	value := strings.TrimLeft(strings.TrimPrefix(word, name), " =")
	if rule.IsSecret(name, value) {
		return fmt.Sprintf("%s stands in one element with its value, which is one word to the parser: write two elements, or %s=…", name, name)
	}
	return fmt.Sprintf("%q is one word to the parser: write %q and %q as two elements, or %s=%s", word, name, value, name, value)
}

// plainText is a parser message without the marks of code.
func plainText(message string) string { return strings.ReplaceAll(message, "`", "") }
