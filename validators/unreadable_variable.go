package validators

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/trimtab/trimtab/internal/catalogue"
	"github.com/trimtab/trimtab/internal/engine"
	"github.com/trimtab/trimtab/internal/finding"
	"github.com/trimtab/trimtab/internal/rule"
)

// unreadableVariable finds variables whose text vLLM cannot read: it fails when
// it first asks for one, which may be at the first request. SGLang warns and
// takes its default instead.
//
// Source: vllm/envs.py, bool(int(…)), int(…), float(…) and env_with_choices.
func unreadableVariable() rule.Rule {
	meta := rule.Named("bad-value")
	meta.Severity = finding.Warning // what is read late, or never, keeps nothing from starting
	return rule.Rule{Meta: meta, CheckRelease: func(r rule.Release) ([]finding.Finding, error) {
		var found []finding.Finding
		for _, about := range r.State.Settings {
			name, isVariable := strings.CutPrefix(about.Name, "env/")
			if !isVariable || !isOwn(r.Engine, name) || about.Unknown || about.Overridden || about.Held != "" || adds(r, about.Name) {
				continue
			}
			variable, ok := r.State.Engine.Env(name, r.State.Release)
			if !ok || !variable.Read {
				continue
			}
			if takes := unreadable(r, variable, about.Value()); takes != "" {
				f := r.About(meta, about)
				f.Message = fmt.Sprintf("%s takes %s, not %q: %s fails when it reads it", about.Name, takes, about.Value(), here(r))
				f.Evidence = []finding.Evidence{{Engine: r.Engine, Versions: between(variable.Since, variable.Until), Source: "vllm/envs.py: how the variable is read"}}
				found = append(found, mayKnowMore(r, f))
			}
		}
		return found, nil
	}}
}

// unreadable says what a variable of vLLM takes, where its text is not that. Empty
// texts are left out: they are placeholders more often than values.
func unreadable(r rule.Release, variable catalogue.EnvVar, text string) string {
	text = strings.TrimSpace(text)
	if r.Engine != "vllm" || text == "" || strings.Contains(text, "://") { // a service's address: dead-env tells of it
		return ""
	}
	switch variable.Kind {
	case "bool":
		if _, ok := engine.WholeNumber(text); !ok {
			return "0 or 1"
		}
	case "int":
		if _, ok := engine.WholeNumber(text); !ok {
			return "a whole number"
		}
	case "float":
		if _, err := strconv.ParseFloat(text, 64); err != nil {
			return "a number"
		}
	case "choice":
		named := func(choice string) bool { return strings.EqualFold(choice, strings.TrimSuffix(text, "_VLLM_V1")) }
		if len(variable.Choices) > 0 && !slices.ContainsFunc(variable.Choices, named) {
			return "one of " + strings.Join(variable.Choices, ", ")
		}
	}
	return ""
}
