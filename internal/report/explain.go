package report

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/trimtab/trimtab/internal/catalogue"
	"github.com/trimtab/trimtab/internal/engine"
	"github.com/trimtab/trimtab/internal/rule"
)

// ExplainRule prints what a rule finds, how bad that is and what Trim does.
func ExplainRule(w io.Writer, meta rule.Meta) {
	acts := "Trim does not act on it"
	if meta.Trim {
		acts = "Trim acts on it where the proof allows an edit"
	}
	fmt.Fprintf(w, "%s: %s\n  severity %s; %s; change both under `rules:` (off, info, warning, error, fix, report)\n",
		meta.Name, meta.Summary, meta.Severity, acts)
}

// ExplainOption prints the life of an option: in which releases it is what, and
// the facts about it. With a release, only what holds there.
func ExplainOption(w io.Writer, catalogued *catalogue.Engine, known *engine.Knowledge, lives []catalogue.Option, at *catalogue.Release) {
	flag := lives[0].Flag
	fmt.Fprintf(w, "%s %s\n", catalogued.Name, flag)
	for _, life := range lives {
		if at != nil && (at.Index < life.Since.Index || at.Index > life.Until.Index) {
			continue
		}
		fmt.Fprintf(w, "  %s: %s\n", lifetime(life.Since, life.Until, catalogued), describeOption(life))
	}
	explainFacts(w, known, flag, at)
}

// ExplainLacking prints what an engine does not take on a target.
func ExplainLacking(w io.Writer, name string, lacking []engine.Lack) {
	for _, lack := range lacking {
		says := "refuses " + strings.Join(lack.Settings, ", ")
		switch {
		case len(lack.Values) > 0:
			says += " " + strings.Join(lack.Values, ", ")
		case strings.HasPrefix(lack.Settings[0], "--model"): // which no server is without
			says = "does not start: " + oneLine(lack.Why)
		}
		fmt.Fprintf(w, "  %s %s %s [%s]\n", name, lack.Fact.VersionText, says, lack.Fact.Source)
	}
}

// ExplainVariable prints the life of an environment variable.
func ExplainVariable(w io.Writer, catalogued *catalogue.Engine, known *engine.Knowledge, lives []catalogue.EnvVar, at *catalogue.Release) {
	name := lives[0].Name
	fmt.Fprintf(w, "%s env/%s\n", catalogued.Name, name)
	for _, life := range lives {
		if at != nil && (at.Index < life.Since.Index || at.Index > life.Until.Index) {
			continue
		}
		fmt.Fprintf(w, "  %s: %s\n", lifetime(life.Since, life.Until, catalogued), describeVariable(life))
	}
	explainFacts(w, known, "env/"+name, at)
}

// ExplainMetric prints the life of a metric, and what it needs.
func ExplainMetric(w io.Writer, catalogued *catalogue.Engine, known *engine.Knowledge, lives []catalogue.Metric) {
	fmt.Fprintf(w, "%s metric/%s\n", catalogued.Name, lives[0].Name)
	for _, life := range lives {
		fmt.Fprintf(w, "  %s: %s", lifetime(life.Since, life.Until, catalogued), life.Kind)
		if len(life.Labels) > 0 {
			fmt.Fprintf(w, ", labels %s", strings.Join(life.Labels, ", "))
		}
		if life.Condition != "" {
			fmt.Fprintf(w, ", only if %s", life.Condition)
		}
		fmt.Fprintln(w)
	}
	explainFacts(w, known, engine.MetricPrefix+"*", nil)
	explainFacts(w, known, engine.MetricPrefix+lives[0].Name, nil)
}

func explainFacts(w io.Writer, known *engine.Knowledge, setting string, at *catalogue.Release) {
	for _, fact := range known.About(setting) {
		if at != nil && !fact.Versions.Contains(*at) {
			continue
		}
		condition := fact.When
		if fact.Also != "" {
			condition = fact.When + ", when " + fact.Also
		}
		verb := fmt.Sprintf("%s (%s)", fact.Verb, fact.Rule)
		if fact.Renaming != nil {
			verb, condition = string(fact.Verb), cmp.Or(fact.Renaming.To, "nothing in its place")
		}
		fmt.Fprintf(w, "  %s, %s: %s\n    %s\n    proof: %s [%s]\n", verb, fact.VersionText, oneLine(condition), oneLine(fact.Why), oneLine(fact.Source), fact.Mark)
		if fact.Undo != "" {
			fmt.Fprintf(w, "    way back: %s\n", oneLine(fact.Undo))
		}
	}
}

func lifetime(since, until catalogue.Release, catalogued *catalogue.Engine) string {
	switch {
	case until.Index == catalogued.Newest().Index:
		return since.Version + " on"
	case since.Index == until.Index:
		return since.Version
	}
	return since.Version + " to " + until.Version
}

func describeOption(o catalogue.Option) string {
	parts := []string{strings.Join(o.Names, ", ")}
	switch {
	case o.IsSwitch():
		parts = append(parts, "a switch")
	case o.NArgs == "":
		parts = append(parts, o.Type)
	default:
		parts = append(parts, o.Type+" "+map[string]string{"?": "(optional)", "*": "(any number)", "+": "(one or more)"}[o.NArgs])
	}
	if len(o.Choices) > 0 {
		choices := "one of " + strings.Join(o.Choices, ", ")
		if o.Open {
			choices += " (plugins may add some)"
		}
		parts = append(parts, choices)
	}
	switch {
	case o.Required:
		parts = append(parts, "required")
	case !o.HasDefault:
	case o.Default == nil:
		parts = append(parts, "default decided at start-up")
	default:
		parts = append(parts, fmt.Sprintf("default %v", o.Default))
	}
	if o.Deprecated {
		parts = append(parts, strings.TrimSpace("deprecated "+o.Replacement))
	}
	return strings.Join(parts, "; ")
}

func describeVariable(v catalogue.EnvVar) string {
	var parts []string
	switch {
	case !v.Read:
		parts = append(parts, "declared or set, and never read")
	case v.Kind != "":
		parts = append(parts, v.Kind)
	default:
		parts = append(parts, "read")
	}
	if v.Default != nil {
		parts = append(parts, fmt.Sprintf("default %v", v.Default))
	}
	if len(v.Choices) > 0 {
		parts = append(parts, "one of "+strings.Join(v.Choices, ", "))
	}
	if v.Deprecated {
		parts = append(parts, strings.TrimSpace("deprecated "+v.Replacement))
	}
	if v.Where != "" {
		parts = append(parts, "in "+v.Where)
	}
	return strings.Join(parts, "; ")
}
