package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/agext/levenshtein"
	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"github.com/trimtab/trimtab/fn"
	"github.com/trimtab/trimtab/hardware"
	"github.com/trimtab/trimtab/internal/catalogue"
	"github.com/trimtab/trimtab/internal/engine"
	"github.com/trimtab/trimtab/internal/facts"
	"github.com/trimtab/trimtab/internal/report"
	"github.com/trimtab/trimtab/internal/rule"
)

func explainCommand(streams Streams) *cobra.Command {
	explain := &cobra.Command{
		Use:   "explain RULE | ENGINE/--flag[@version] | ENGINE/env/NAME | ENGINE/metric/NAME | gpu/NAME | model/NAME | dashboard PATH…",
		Short: "Say what a rule finds, what an engine does with a setting, or what is known of a GPU or model",
		Args: func(_ *cobra.Command, words []string) error {
			if len(words) != 1 {
				return errors.New("name one thing to explain, as in `trimtab explain inert-setting` or `trimtab explain vllm/--max-num-seqs`: see `trimtab explain --help`")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			family, name, found := strings.Cut(args[0], "/")
			switch {
			case !found:
				return explainRule(streams, args[0])
			case family == "gpu":
				return explainGPU(streams, name)
			case family == "model":
				return explainModel(streams, name)
			}
			return explainOfEngine(streams, family, name)
		},
	}
	explain.AddCommand(explainDashboard(streams))
	return explain
}

// explainDashboard prints the panels that `monitor` would show of the servers, and
// says what is left out.
func explainDashboard(streams Streams) *cobra.Command {
	return inputCommand(streams, "dashboard", "Print the panels that show the servers as JSON, to paste into a generator of dashboards", []string{"json"}, func(in *fn.Input, _ string) error {
		shown, err := fn.Panels(*in)
		if err != nil {
			return err
		}
		for _, left := range shown.Left {
			fmt.Fprintln(streams.Err, "left out:", left)
		}
		fmt.Fprintln(streams.Out, shown.JSON)
		return nil
	})
}

func explainRule(streams Streams, name string) error {
	if !slices.Contains(rule.Names(), name) {
		if slices.Contains(catalogue.Names(), name) {
			return fmt.Errorf("what of %s? Name `%s/--FLAG`, `%s/env/NAME` or `%s/metric/NAME`", name, name, name, name)
		}
		return fmt.Errorf("no rule %q; %s", name, suggestion(name, rule.Names(), "the rules are "+strings.Join(rule.Names(), ", ")))
	}
	report.ExplainRule(streams.Out, rule.Named(name))
	return nil
}

func explainGPU(streams Streams, name string) error {
	card, ok := hardware.GPU(name)
	if !ok {
		like := strings.Join(hardware.GPUsLike(name), ", ")
		if like == "" {
			return fmt.Errorf("no GPU %q in the catalogue: docs/gpus.md lists what it knows", name)
		}
		return fmt.Errorf("no GPU %q in the catalogue; did you mean %s?", name, like)
	}
	fmt.Fprintf(streams.Out, "gpu/%s (%d bytes)\n", card.Name, card.Memory)
	if err := printEntry(streams, card); err != nil {
		return err
	}
	for _, name := range catalogue.Names() {
		lacking, err := engine.Lacking(name, facts.OfCard(card.Name), "unsupported-on-gpu")
		if err != nil {
			return err
		}
		report.ExplainLacking(streams.Out, name, lacking)
	}
	return nil
}

func explainModel(streams Streams, name string) error {
	model, ok := hardware.Model(name)
	if !ok {
		return fmt.Errorf("no model %q in the catalogue; describe it with `model.config`", name)
	}
	fmt.Fprintf(streams.Out, "model/%s\n", model.ID)
	return printEntry(streams, model)
}

// printEntry prints the fields of an entry that are known.
func printEntry(streams Streams, entry any) error {
	var node yaml.Node
	if err := node.Encode(entry); err != nil {
		return err
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		value := node.Content[i+1]
		empty := value.Tag == "!!null" || value.Value == "" && len(value.Content) == 0 || value.Value == "0"
		if empty {
			continue
		}
		value.Style = yaml.FlowStyle
		text, err := yaml.Marshal(value)
		if err != nil {
			return err
		}
		fmt.Fprintf(streams.Out, "  %s: %s\n", node.Content[i].Value, strings.TrimSpace(string(text)))
	}
	return nil
}

func explainOfEngine(streams Streams, name, what string) error {
	catalogued, err := catalogue.Load(name)
	if err != nil {
		return err
	}
	known, err := engine.Load(name)
	if err != nil {
		return err
	}
	what, version, dated := strings.Cut(what, "@")
	var at *catalogue.Release
	if dated {
		release, ok := catalogued.Find(strings.TrimPrefix(version, "v"))
		if !ok {
			return fmt.Errorf("no release %q of %s: it knows %s to %s", version, name, catalogued.Releases[0], catalogued.Newest())
		}
		at = &release
	}
	if variable, ok := strings.CutPrefix(what, "env/"); ok {
		lives := catalogued.EnvLives(variable)
		if len(lives) == 0 {
			names, err := catalogued.EnvNames()
			if err != nil {
				return err
			}
			return fmt.Errorf("no release of %s reads %q%s", name, variable, orNothing(suggestion(variable, names, "")))
		}
		report.ExplainVariable(streams.Out, catalogued, known, lives, at)
		return nil
	}
	if metric, ok := strings.CutPrefix(what, "metric/"); ok {
		return explainMetric(streams, catalogued, known, metric)
	}
	flag := "--" + strings.ReplaceAll(strings.TrimLeft(what, "-"), "_", "-")
	lives := catalogued.OptionLives(flag)
	if len(lives) == 0 {
		lives = catalogued.OptionLives(what) // -tp
	}
	if len(lives) == 0 {
		lives = abbreviated(catalogued, flag, at)
	}
	if len(lives) == 0 {
		return fmt.Errorf("no release of %s has %s%s", name, flag, orNothing(suggestion(flag, catalogued.Flags(), "")))
	}
	report.ExplainOption(streams.Out, catalogued, known, lives, at)
	return nil
}

// abbreviated finds the option that a unique prefix means at a release, or at the
// newest.
func abbreviated(catalogued *catalogue.Engine, prefix string, at *catalogue.Release) []catalogue.Option {
	release := catalogued.Newest()
	if at != nil {
		release = *at
	}
	if spelled := catalogued.Spellings(prefix, release); len(spelled) == 1 {
		return catalogued.OptionLives(spelled[0])
	}
	return nil
}

func explainMetric(streams Streams, catalogued *catalogue.Engine, known *engine.Knowledge, name string) error {
	all, err := catalogued.Metrics()
	if err != nil {
		return err
	}
	var names []string
	var lives []catalogue.Metric
	for _, metric := range all {
		names = append(names, metric.Name)
		_, short, _ := strings.Cut(metric.Name, ":")
		if metric.Name == name || short == name || metric.Declared == name || metric.Emits(name) {
			lives = append(lives, metric)
		}
	}
	if len(lives) == 0 {
		return fmt.Errorf("no release of %s emits %q%s", catalogued.Name, name, orNothing(suggestion(name, names, "")))
	}
	report.ExplainMetric(streams.Out, catalogued, known, lives)
	return nil
}

// mostSuggested bounds the names that hold a part of one.
const mostSuggested = 4

// suggestion asks whether known names were meant: those that hold what was
// written, else one that is much like it. Otherwise says what to say where no
// name is.
func suggestion(name string, known []string, otherwise string) string {
	const fewest = 3 // letters; fewer stand in too many names
	part := strings.Trim(name, "-")
	var like []string
	for _, one := range known {
		if len(part) >= fewest && strings.Contains(one, part) && !slices.Contains(like, one) {
			like = append(like, one)
		}
	}
	if len(like) == 0 || len(like) > mostSuggested {
		near, ok := closest(name, known)
		if !ok {
			return otherwise
		}
		like = []string{near}
	}
	return "did you mean " + strings.Join(like, ", ") + "?"
}

// orNothing sets a suggestion off from what comes before it.
func orNothing(suggested string) string {
	if suggested == "" {
		return ""
	}
	return "; " + suggested
}

// closest is the known name that differs least, unless it is another word.
func closest(name string, known []string) (string, bool) {
	if len(known) == 0 {
		return "", false
	}
	near := slices.MinFunc(known, func(a, b string) int {
		return levenshtein.Distance(name, a, nil) - levenshtein.Distance(name, b, nil)
	})
	return near, levenshtein.Distance(name, near, nil) <= len(name)/3
}
