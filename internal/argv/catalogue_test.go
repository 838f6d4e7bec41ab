package argv

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trimtab/trimtab/internal/catalogue"
)

// eachOption calls for the options of every few releases, with the line that a
// server needs at least.
func eachOption(t *testing.T, call func(e *catalogue.Engine, r catalogue.Release, mode Mode, line []string, o catalogue.Option)) {
	const step = 7
	for _, name := range catalogue.Names() {
		e, err := catalogue.Load(name)
		require.NoError(t, err)
		line, mode := []string{"m"}, Serve
		if name == "sglang" {
			line, mode = []string{"--model-path", "m"}, Launch
		}
		for i := len(e.Releases) - 1; i >= 0; i -= step {
			for _, o := range e.Options(e.Releases[i]) {
				if !slices.Contains([]string{"--model", "--model-path", "--config"}, o.Flag) {
					call(e, e.Releases[i], mode, slices.Clip(line), o)
				}
			}
		}
	}
}

// written returns the words that give an option its own default; none when a
// command line cannot.
func written(o catalogue.Option) []string {
	switch d := o.Default.(type) {
	case bool:
		if o.IsSwitch() {
			return []string{o.Names[0]}
		}
	case int64, float64:
		return []string{o.Names[0] + "=" + fmt.Sprint(d)}
	case string:
		if !strings.HasPrefix(d, "<") && o.HasDefault && (d != "" || len(o.Choices) == 0) {
			return []string{o.Names[0] + "=" + d}
		}
	case []any, map[string]any:
		list, _ := d.([]any)
		if o.Type == "json" {
			text, _ := json.Marshal(d)
			return []string{o.Names[0], string(text)}
		}
		words := []string{o.Names[0]}
		for _, item := range list {
			words = append(words, fmt.Sprint(item))
		}
		if len(words) > 1 && (o.NArgs == "+" || o.NArgs == "*") {
			return words
		}
	}
	return nil
}

// What a release does by itself it also takes when told to.
func TestEveryDefaultIsTaken(t *testing.T) {
	eachOption(t, func(e *catalogue.Engine, r catalogue.Release, mode Mode, line []string, o catalogue.Option) {
		for _, problem := range Parse(e, r, mode, wordsOf(append(line, written(o)...))).Problems {
			if problem.Kind != Refused {
				t.Errorf("%s %s: %q: %s", e.Name, r, written(o), problem.Message)
			}
		}
	})
}

// The rules that hold of every option, whatever it does.
func TestEveryOptionByItsKind(t *testing.T) {
	eachOption(t, func(e *catalogue.Engine, r catalogue.Release, mode Mode, line []string, o catalogue.Option) {
		says := func(words ...string) string {
			for _, problem := range Parse(e, r, mode, wordsOf(append(line, words...))).Problems {
				if problem.Kind != Refused {
					return strings.TrimSpace(string(problem.Kind) + " " + problem.Flag)
				}
			}
			return ""
		}
		at := e.Name + " " + r.Version
		for _, name := range o.Names {
			if o.IsSwitch() {
				require.Empty(t, says(name), "%s %s", at, name)
				require.Equal(t, "unexpected-value "+o.Names[0], says(name+"=true"), "%s %s", at, name)
			}
		}
		least, most := valueCounts(&o)
		if least > 0 {
			require.Equal(t, "missing-value "+o.Names[0], says(o.Names[0]), at)
			require.Equal(t, "missing-value "+o.Names[0], says(o.Names[0], "--port"), at)
		}
		if most > 0 && (o.Type == "int" || o.Type == "float") {
			require.Equal(t, "bad-value "+o.Names[0], says(o.Names[0]+"=nope"), at)
			require.Equal(t, "bad-value "+o.Names[0], says(o.Names[0]+"=1e3x"), at)
		}
		for _, choice := range o.Choices {
			if choice != "None" && most > 0 {
				require.Empty(t, says(o.Names[0], choice), "%s %s", at, choice)
			}
		}
		if len(o.Choices) > 0 && most > 0 && (!o.Open || o.Enforced) && (o.Type == "str" || o.Type == "") {
			require.Equal(t, "bad-choice "+o.Names[0], says(o.Names[0]+"=no such choice"), at)
		}
		require.Contains(t, says(strings.ToUpper(o.Names[0])), "unknown "+strings.ToUpper(o.Names[0]), at)
	})
}
