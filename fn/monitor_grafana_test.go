package fn_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/grafana/grafana-foundation-sdk/go/cog/plugins"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/stretchr/testify/require"

	"github.com/fluxcd/pkg/envsubst"

	"github.com/trimtab/trimtab/fn"
	"github.com/trimtab/trimtab/internal/config"
)

// Every dashboard decodes into the types of Grafana's own SDK, which refuse a
// field that Grafana does not know.
func TestDashboardsAreGrafanas(t *testing.T) {
	t.Parallel()
	plugins.RegisterDefaultPlugins()
	for _, s := range scrapedServers {
		for _, kind := range []string{"sidecar", "operator"} {
			spec := strings.Replace(s.spec, "monitor: {", "monitor: {dashboard: "+kind+", datasource: metrics, folder: LLM, ", 1)
			text := watched{strings.ReplaceAll(s.manifest(), "    namespace: ai\n", ""), strings.ReplaceAll(spec, ", }", "}")}.trim(t)
			content := ""
			if kind == "sidecar" {
				board := theObject(t, text, "ConfigMap")
				content = board.Data[s.name+".json"]
				require.Equal(t, "LLM", board.Metadata.Annotations["grafana_folder"])
				require.Equal(t, "1", board.Metadata.Labels["grafana_dashboard"])
			} else {
				board := theObject(t, text, "GrafanaDashboard")
				content = board.Spec["json"].(string)
				require.Equal(t, "LLM", board.Spec["folder"])
				require.Equal(t, map[string]any{"matchLabels": map[string]any{"dashboards": "grafana"}}, board.Spec["instanceSelector"])
			}
			var board dashboard.Dashboard
			if err := board.UnmarshalJSONStrict([]byte(content)); err != nil {
				require.Empty(t, err.Error(), s.name) // the SDK returns an empty list of errors where there is none
			}
			board = dashboard.Dashboard{}
			require.NoError(t, json.Unmarshal([]byte(content), &board))
			require.NoError(t, board.Validate())
			require.NotEmpty(t, board.Panels[1].Panel.Targets)
			require.Equal(t, []string{"datasource", "namespace"}, []string{board.Templating.List[0].Name, board.Templating.List[1].Name})
			require.Contains(t, content, `namespace=~\"$namespace\"`, "where no namespace is stated the reader chooses one")
			requireLayout(t, content)
		}
	}
}

// requireLayout: ids are unique, and no panel covers another or leaves the grid.
func requireLayout(t *testing.T, content string) {
	t.Helper()
	var board struct {
		Panels []struct {
			ID      int
			GridPos struct{ H, W, X, Y int }
		}
	}
	require.NoError(t, json.Unmarshal([]byte(content), &board))
	ids, cells := map[int]bool{}, map[[2]int]bool{}
	for _, panel := range board.Panels {
		require.False(t, ids[panel.ID])
		ids[panel.ID] = true
		at := panel.GridPos
		require.LessOrEqual(t, at.X+at.W, 24)
		for x := at.X; x < at.X+at.W; x++ {
			for y := at.Y; y < at.Y+at.H; y++ {
				require.False(t, cells[[2]int{x, y}], "panel %d covers another", panel.ID)
				cells[[2]int{x, y}] = true
			}
		}
	}
}

// What is generated is the same whether Flux substitutes, with which variables
// ever, or not; and no rule of ours finds fault with it.
func TestMonitorTextIsSafe(t *testing.T) {
	t.Parallel()
	for _, s := range scrapedServers {
		w := watched{s.manifest(), s.spec}
		text := w.trim(t)
		generated := text[len(s.manifest()):]
		require.NotContains(t, generated, "${")
		require.NotContains(t, generated, "$$")
		for _, strict := range []bool{false, true} {
			substituted, err := envsubst.Eval(generated, func(name string) (string, bool) { return "x", !strict || name == "CLUSTER" })
			require.NoError(t, err)
			require.Equal(t, generated, substituted)
		}
		for _, letter := range generated {
			require.True(t, letter == '\n' || letter >= ' ' && letter <= '~', "%q is no printable ASCII", letter)
		}
		in, _ := watched{text, s.spec}.input(t, config.Verify)
		out, err := fn.Process(in)
		require.NoError(t, err)
		for _, f := range out.Report.Findings {
			require.NotContains(t, []string{"dead-metric", "substitution-hazard", "stale-exception", "facts-disagree"}, f.Rule, f.Message)
		}
	}
}

// A dashboard that kubectl apply would refuse is refused here, with what to do.
func TestMonitorGroupThatIsTooLarge(t *testing.T) {
	t.Parallel()
	var many strings.Builder
	for _, letter := range "abcdefghijklmnopqrst" {
		many.WriteString(deployment("chat-"+string(letter), "vllm/vllm-openai:v0.11.0", "8000", "--model=m"))
	}
	said := strings.Join(watched{many.String(), "{monitor: {group: llm}}"}.says(t), "\n")
	require.Regexp(t, "ConfigMap is not written: the dashboard has [0-9]+ bytes, and kubectl apply takes 250000: put fewer servers into one `monitor.group`", said)
}
