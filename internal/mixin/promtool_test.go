package mixin_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/trimtab/trimtab/internal/mixin"
	"github.com/trimtab/trimtab/transformers"
)

// promtool is the path of the program. Under CI a missing one is a failure;
// elsewhere the test skips and says what to install.
func promtool(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("promtool")
	if err != nil && os.Getenv("CI") != "" {
		t.Fatal("promtool is not on PATH: install the package prometheus")
	}
	if err != nil {
		t.Skip("promtool is not on PATH: install the package prometheus")
	}
	return path
}

type (
	unitTests struct {
		RuleFiles          []string   `yaml:"rule_files"`
		EvaluationInterval string     `yaml:"evaluation_interval"`
		Tests              []unitTest `yaml:"tests"`
	}
	unitTest struct {
		Name        string       `yaml:"name"`
		Interval    string       `yaml:"interval"`
		InputSeries []inputRow   `yaml:"input_series"`
		Queries     []queryCheck `yaml:"promql_expr_test"`
	}
	inputRow struct {
		Series string `yaml:"series"`
		Values string `yaml:"values"`
	}
	queryCheck struct {
		Expr       string   `yaml:"expr"`
		EvalTime   string   `yaml:"eval_time"`
		ExpSamples []sample `yaml:"exp_samples"`
	}
	sample struct {
		Labels string  `yaml:"labels"`
		Value  float64 `yaml:"value"`
	}
)

// Every case of every alert, as promtool runs it on the rules that are written:
// each entry alone, so that alternatives of one name are told apart.
func TestAlertsFireAndStaySilent(t *testing.T) {
	t.Parallel()
	program, dir := promtool(t), t.TempDir()
	known := values()
	known["labels"] = mixin.Text(`job="chat",namespace="ai",pod="chat-0",container="server",model_name="m"`)
	cases := 0
	var files []string
	for _, owner := range owners() {
		alerts, err := mixin.Alerts(owner)
		require.NoError(t, err)
		for i, a := range alerts {
			a.Expr, a.Do = known.Fill(a.Expr), known.Fill(a.Do)
			name := fmt.Sprintf("%s-%d", owner, i)
			rules := filepath.Join(dir, name+".rules.yaml")
			require.NoError(t, os.WriteFile(rules, []byte(transformers.RuleFile([]transformers.RuleGroup{{Name: name, Server: "chat", Alerts: []mixin.Alert{a}}})), 0o644))
			tests := unitTests{RuleFiles: []string{rules}, EvaluationInterval: "1m"}
			for k, c := range a.Cases {
				test := unitTest{Name: fmt.Sprintf("%s %d", a.Name, k), Interval: "1m"}
				for series, values := range c.Series {
					test.InputSeries = append(test.InputSeries, inputRow{known.Fill(series), known.Fill(values)})
				}
				// The number of alerts alone: labels and annotations are the rule's own.
				firing := queryCheck{Expr: fmt.Sprintf(`count(ALERTS{alertname=%q,alertstate="firing"})`, a.Name), EvalTime: c.At, ExpSamples: []sample{}}
				if c.Fires {
					firing.ExpSamples = append(firing.ExpSamples, sample{Labels: "{}", Value: 1})
				}
				test.Queries = append(test.Queries, firing)
				tests.Tests = append(tests.Tests, test)
				cases++
			}
			text, err := yaml.Marshal(tests)
			require.NoError(t, err)
			file := filepath.Join(dir, name+".test.yaml")
			require.NoError(t, os.WriteFile(file, text, 0o644))
			checked, err := exec.Command(program, "check", "rules", rules).CombinedOutput()
			require.NoError(t, err, string(checked))
			require.Contains(t, string(checked), "SUCCESS: 1 rules found")
			files = append(files, file)
		}
	}
	ran, err := exec.Command(program, append([]string{"test", "rules"}, files...)...).CombinedOutput()
	require.NoError(t, err, string(ran))
	require.Equal(t, len(files), strings.Count(string(ran), "SUCCESS"), string(ran))
	require.Greater(t, cases, 2*len(files)-1)
	t.Logf("%d alerts, %d cases", len(files), cases)
}
