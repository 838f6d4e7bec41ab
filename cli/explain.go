package cli

import (
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
	"github.com/trimtab/trimtab/internal/report"
	"github.com/trimtab/trimtab/internal/rule"
)

func explainCommand(streams Streams) *cobra.Command {
	explain := &cobra.Command{
		Use:   "explain RULE | ENGINE/--flag[@version] | ENGINE/env/NAME | ENGINE/metric/NAME | gpu/NAME | model/NAME | dashboard PATH…",
		Short: "Say what a rule finds, what an engine does with a setting, or what is known of a GPU or model",
		Args:  cobra.ExactArgs(1),
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
		return fmt.Errorf("no rule %q%s", name, closest(name, rule.Names()))
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
	return printEntry(streams, card)
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
			return fmt.Errorf("no release of %s reads %q%s", name, variable, closest(variable, names))
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
		lives = abbreviated(catalogued, flag, at)
	}
	if len(lives) == 0 {
		return fmt.Errorf("no release of %s has %s%s", name, flag, closest(flag, catalogued.Flags()))
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
		return fmt.Errorf("no release of %s emits %q%s", catalogued.Name, name, closest(name, names))
	}
	report.ExplainMetric(streams.Out, catalogued, known, lives)
	return nil
}

// closest asks for the known name that differs least, or begins so: nothing where
// none is near.
func closest(name string, known []string) string {
	distance := func(other string) int {
		if len(name) > 2 && strings.HasPrefix(other, name) {
			return 0
		}
		return levenshtein.Distance(name, other, nil)
	}
	nearest := slices.MinFunc(known, func(a, b string) int { return distance(a) - distance(b) })
	if distance(nearest) > max(1, max(len(name), len(nearest))/3) {
		return ""
	}
	return "; did you mean " + nearest + "?"
}
