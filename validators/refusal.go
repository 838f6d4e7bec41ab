package validators

import (
	"fmt"
	"slices"
	"strings"

	"github.com/trimtab/trimtab/internal/argv"
	"github.com/trimtab/trimtab/internal/catalogue"
	"github.com/trimtab/trimtab/internal/finding"
	"github.com/trimtab/trimtab/internal/rule"
	"github.com/trimtab/trimtab/internal/setting"
)

// refusal is a finding about what the parser refuses, without message; false
// where it stands in no manifest, as what an operator writes by itself.
func refusal(r rule.Release, meta rule.Meta, problem argv.Problem) (finding.Finding, bool) {
	f := r.AboutServer(meta)
	f.Evidence = parserProof(r, "=="+r.State.Release.Version)
	switch {
	case problem.Setting != argv.NoSetting:
		about := r.Line.Settings[problem.Setting]
		evidence := f.Evidence
		f = r.About(meta, about)
		f.Setting, _, _ = strings.Cut(f.Setting, ".") // the JSON that dotted keys build
		f.Evidence = evidence
	case len(problem.Words) > 0:
		f.Setting = plainFlag(problem.Flag)
		f.Spelled, f.Value = written(problem)
		f.Origin = problem.Words[0].Origin
		for _, word := range problem.Words {
			if word.Origin.Path != nil && !slices.ContainsFunc(f.Places, func(p setting.Path) bool { return p.String() == word.Origin.Path.String() }) {
				f.Places = append(f.Places, word.Origin.Path)
			}
		}
	default:
		f.Setting = plainFlag(problem.Flag)
		return f, true
	}
	return f, f.Origin.Stands()
}

// ofField adds to a message where the replacement of a typed field belongs.
func ofField(f finding.Finding) finding.Finding {
	if f.Origin.Kind == setting.Field && len(f.Places) > 0 {
		f.Message += "; the operator writes it for the field, so take the field out and say it in the list of extra arguments"
	}
	return f
}

// plainFlag is an unknown flag with dashes; other words stay as they are.
func plainFlag(flag string) string {
	if !strings.HasPrefix(flag, "--") || strings.ContainsAny(flag, " \t\n") {
		return flag
	}
	return strings.ReplaceAll(flag, "_", "-")
}

// written is the name and the value of what a problem is about; a secret has no
// value.
func written(problem argv.Problem) (name, value string) {
	name, value, attached := strings.Cut(problem.Words[0].Text, "=")
	if !attached {
		var values []string
		for _, word := range problem.Words[1:] {
			values = append(values, word.Text)
		}
		value = strings.Join(values, " ")
	}
	if rule.IsSecret(name, value) {
		value = ""
	}
	return name, value
}

// parserProof is the evidence of what the engine's own parser takes.
func parserProof(r rule.Release, versions string) []finding.Evidence {
	return []finding.Evidence{{
		Engine: r.Engine, Versions: versions,
		Source: fmt.Sprintf("argument parser of %s %s (measured)", r.Engine, r.State.Release),
	}}
}

// adds tells whether the config says that a fork or a plugin adds a name, or
// states a fact about it.
func adds(r rule.Release, name string) bool {
	return r.Facts.Adds(name) || r.State.Knowledge.States(name)
}

// isFork tells whether the image is not the engine's own: it may know more.
func isFork(r rule.Release) bool { return r.Facts.Set["image.fork"].Value == true }

// mayBeDiffusion tells whether `sglang serve` may hand the line to the parser of
// its image models, which has other options: it looks at the model by itself.
func mayBeDiffusion(r rule.Release) bool {
	if r.Engine != "sglang" || r.Mode != string(argv.Serve) {
		return false
	}
	for _, s := range r.Line.Settings {
		if s.Name == "--model-type" && !s.Unknown {
			return s.Value() != "llm"
		}
	}
	_, isKnown := r.Facts.Set["model.architecture"]
	return !isKnown
}

// parserKnown lowers what the parser refuses where another one may read the line.
func parserKnown(r rule.Release, f finding.Finding) finding.Finding {
	if mayBeDiffusion(r) {
		f.Severity, f.Action = finding.Info, finding.None
		f.Message += " (an image model has other options: say --model-type llm, or name the model in the config)"
	}
	return f
}

// mayKnowMore lowers a finding about what the catalogue does not know: a fork
// may add it, and a newer release, too.
func mayKnowMore(r rule.Release, f finding.Finding) finding.Finding {
	switch {
	case isFork(r):
		f.Severity, f.Action = finding.Info, finding.None
		f.Message += " (the image is a fork, which may add it: say so with `engine.knows`)"
	case r.Facts.Span.Newer && f.Severity == finding.Error:
		f.Severity, f.Action = finding.Warning, finding.None
		f.Message += fmt.Sprintf(" (%s is newer than %s, the newest release known)", r.Facts.Span.Text, r.State.Release)
	}
	return f
}

// here names the engine and the release, or the releases that are possible.
func here(r rule.Release) string {
	releases := r.Facts.Span.Releases
	if len(releases) < 2 {
		return r.Engine + " " + r.State.Release.Version
	}
	return fmt.Sprintf("%s %s to %s", r.Engine, releases[0], releases[len(releases)-1])
}

// knownText says in which releases something was known, and the range in which
// the release at hand does not know it.
func knownText(r rule.Release, lives []catalogue.Life) (text, versions string) {
	here := r.State.Release.Index
	var before, after *catalogue.Life
	for i := range lives {
		if lives[i].Until.Index < here {
			before = &lives[i]
		} else if lives[i].Since.Index > here && after == nil {
			after = &lives[i]
		}
	}
	var says, bounds []string
	if before != nil {
		says = append(says, "it was known until "+before.Until.Version)
		bounds = append(bounds, ">"+before.Until.Version)
	}
	if after != nil {
		says = append(says, "it is known from "+after.Since.Version+" on")
		bounds = append(bounds, "<"+after.Since.Version)
	}
	return strings.Join(says, " and "), strings.Join(bounds, ",")
}
