package mixin_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trimtab/trimtab/internal/argv"
	"github.com/trimtab/trimtab/internal/catalogue"
	"github.com/trimtab/trimtab/internal/engine"
	"github.com/trimtab/trimtab/internal/facts"
	"github.com/trimtab/trimtab/internal/mixin"
	"github.com/trimtab/trimtab/internal/promql"
	"github.com/trimtab/trimtab/internal/setting"
)

// owners are those who have panels and alerts.
func owners() []string { return append(catalogue.Names(), mixin.Gateway) }

// values are one for every placeholder.
func values() mixin.Values {
	return mixin.Values{
		"server": mixin.Text(`job="chat"`), "pool": mixin.Text("152432"), "ceiling": mixin.Text("4"), "slots": mixin.Text("48"),
		"ttft": mixin.Text("60"), "smallTTFT": mixin.Text("60"), "gateway": mixin.Text(`job="gateway"`),
		"gateway.running": mixin.Text("vllm_requests_running"), "gateway.kvUsage": mixin.Text("vllm_kv_usage_perc"),
		"gateway.parked": mixin.Text("admission_parked_total"), "gateway.rejected": mixin.Text("admission_rejected_total"),
		"gateway.stale": mixin.Text("engine_state_stale_total"), "gateway.degraded": mixin.Text("observer_degraded"),
		"gateway.smallTTFT": mixin.Text("llm_ttft_seconds_bucket"), "small": mixin.Text(`size="small"`),
	}
}

// asked are the series of an engine that an expression asks for.
func asked(t *testing.T, owner string, expressions ...string) []string {
	t.Helper()
	var names []string
	for _, expression := range expressions {
		filled := values().Fill(expression)
		require.NotRegexp(t, `<[a-zA-Z]`, filled, "a placeholder that nobody fills")
		require.NotContains(t, filled, "${", "Flux would change it")
		parsed, err := promql.Parse(filled)
		require.NoError(t, err, filled)
		for _, selector := range parsed.Selectors() {
			require.NotEmpty(t, selector.Name, "no query may ask for every metric")
			if strings.HasPrefix(selector.Name, owner+":") {
				names = append(names, selector.Name)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// requireNeeds: an entry needs what its expressions ask for, and some release
// emits it.
func requireNeeds(t *testing.T, owner string, needed mixin.Needed, expressions ...string) {
	t.Helper()
	wants := slices.Sorted(slices.Values(needed.Needs))
	require.Equal(t, asked(t, owner, expressions...), wants, "`needs` is what the expressions ask for")
	require.Equal(t, needed.When == "", needed.Why == "", "`when` and `why` go together")
	gateway := strings.Contains(strings.Join(expressions, ""), "<gateway")
	require.Equal(t, gateway, needed.Gateway, "`gateway` is true where a query asks for its series")
	if owner == mixin.Gateway {
		return
	}
	require.NotEmpty(t, wants)
	catalogued, err := catalogue.Load(owner)
	require.NoError(t, err)
	for _, series := range wants {
		require.NotEmpty(t, catalogued.Emitting(series), series)
	}
}

func TestPanels(t *testing.T) {
	t.Parallel()
	units := []string{"short", "s", "percentunit", "reqps"}
	for _, owner := range owners() {
		panels, err := mixin.Panels(owner)
		require.NoError(t, err)
		require.NotEmpty(t, panels)
		var rows []string
		for i, p := range panels {
			t.Run(owner+"/"+p.Name+"/"+p.Title, func(t *testing.T) {
				var expressions []string
				for _, query := range p.Queries {
					expressions = append(expressions, query.Expr)
					require.NotEmpty(t, query.Legend)
					require.Contains(t, []string{"", "right"}, query.Axis)
				}
				require.NotEmpty(t, expressions)
				requireNeeds(t, owner, p.Needed, expressions...)
				require.NotEmpty(t, p.Description)
				require.Contains(t, units, p.Unit)
				require.Regexp(t, `^(|<\w+>|[0-9.]+)$`, p.Threshold)
				if i > 0 && panels[i-1].Row != p.Row {
					require.NotContains(t, rows, p.Row, "the panels of a row stand together")
				}
				rows = append(rows, p.Row)
				if first := slices.IndexFunc(panels, func(o mixin.Panel) bool { return o.Name == p.Name }); first < i {
					require.Equal(t, p.Name, panels[i-1].Name, "alternatives stand below each other")
				}
			})
		}
	}
}

func TestAlerts(t *testing.T) {
	t.Parallel()
	for _, owner := range owners() {
		alerts, err := mixin.Alerts(owner)
		require.NoError(t, err)
		require.NotEmpty(t, alerts)
		for _, a := range alerts {
			t.Run(owner+"/"+a.Name, func(t *testing.T) {
				requireNeeds(t, owner, a.Needed, a.Expr)
				require.Regexp(t, `^[A-Z][A-Za-z]+$`, a.Name)
				require.Regexp(t, `^[1-9][0-9]*[mh]$`, a.For)
				require.Contains(t, []string{"critical", "warning", "info"}, a.Severity)
				require.NotEmpty(t, a.Summary)
				require.NotEmpty(t, a.Do, "an alert says what to do")
				for _, fires := range []bool{true, false} {
					require.True(t, slices.ContainsFunc(a.Cases, func(c mixin.Case) bool { return c.Fires == fires }), "a case in which it fires, and one in which it does not")
				}
			})
		}
	}
}

// serverOf is a server at one release, with every placeholder known.
func serverOf(t *testing.T, name string, release catalogue.Release, known map[string]any, args ...string) mixin.Server {
	t.Helper()
	catalogued, err := catalogue.Load(name)
	require.NoError(t, err)
	knowledge, err := engine.Load(name)
	require.NoError(t, err)
	var words []setting.Word
	for _, arg := range args {
		words = append(words, setting.Word{Text: arg})
	}
	line := argv.Parse(catalogued, release, map[string]argv.Mode{"sglang": argv.Launch, "vllm": argv.Serve}[name], words)
	set := facts.Set{}
	for fact, value := range known {
		set[fact] = facts.Fact{Value: value, Source: "test"}
	}
	state := engine.NewState(catalogued, knowledge, release, line.Settings, set, "")
	return mixin.Server{Engine: catalogued, States: []*engine.State{state}, Values: values()}
}

func fill(t *testing.T, s mixin.Server) mixin.Board {
	t.Helper()
	board, err := mixin.Fill(s)
	require.NoError(t, err)
	return board
}

// In every release: what is shown is emitted, what is not emitted is left out
// with a reason, and each name is one or the other.
func TestEveryReleaseShowsWhatItEmits(t *testing.T) {
	t.Parallel()
	args := map[string][]string{"vllm": {"m"}, "sglang": {"--model-path", "m", "--enable-metrics"}}
	for _, owner := range catalogue.Names() {
		catalogued, err := catalogue.Load(owner)
		require.NoError(t, err)
		all, err := catalogued.Metrics()
		require.NoError(t, err)
		panels, err := mixin.Panels(owner)
		require.NoError(t, err)
		names := map[string]bool{}
		for _, p := range panels {
			names[p.Name] = true
		}
		for _, release := range catalogued.Releases {
			emits := func(series string) bool {
				return slices.ContainsFunc(all, func(m catalogue.Metric) bool { return m.Contains(release) && m.Emits(series) })
			}
			board := fill(t, serverOf(t, owner, release, map[string]any{"model.hybrid": false}, args[owner]...))
			require.GreaterOrEqual(t, len(board.Panels), 9, release.Version)
			for _, p := range board.Panels {
				for _, series := range p.Needs {
					require.True(t, emits(series), "%s %s shows %s", owner, release, series)
				}
			}
			require.Equal(t, len(names), len(board.Panels)+countPanels(board.Left), "%s %s: a panel is shown, or said to be left out", owner, release)
			for _, left := range board.Left {
				require.NotEmpty(t, left.Why, left.Name)
			}
		}
	}
}

func countPanels(left []mixin.Left) int {
	return len(slices.DeleteFunc(slices.Clone(left), func(l mixin.Left) bool { return strings.HasPrefix(l.Name, "alert ") }))
}

// shown are the names of the panels of a row.
func shown(board mixin.Board, row string) []string {
	names := []string{}
	for _, p := range board.Panels {
		if p.Row == row {
			names = append(names, p.Name)
		}
	}
	return names
}

func TestSettingsDecideWhatIsShown(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		engine, version, row string
		known                map[string]any
		args                 []string
		want                 []string
	}{
		{"vllm", "0.11.0", "Speculative decoding", nil, []string{"m"}, []string{}},
		{"vllm", "0.11.0", "Speculative decoding", nil, []string{"m", "--speculative-config", `{"method":"ngram"}`}, []string{"draft-acceptance", "accepted-length"}},
		{"vllm", "0.13.0", "KV cache", nil, []string{"m", "--no-enable-prefix-caching"}, []string{"kv-tokens", "kv-usage"}},
		{"vllm", "0.13.0", "KV cache", nil, []string{"m", "--kv-cache-metrics"}, []string{"kv-tokens", "kv-usage", "prefix-hits", "kv-block-life"}},
		{"vllm", "0.13.0", "KV cache", nil, []string{"m", "--kv-transfer-config", `{"kv_connector":"X"}`}, []string{"kv-tokens", "kv-usage", "prefix-hits", "external-hits"}},
		{"vllm", "0.13.0", "Load", nil, []string{"m", "--disable-log-stats"}, []string{}},
		{"sglang", "0.5.16", "HiCache", nil, []string{"--model-path", "m", "--enable-metrics"}, []string{}},
		{"sglang", "0.5.16", "HiCache", nil, []string{"--model-path", "m", "--enable-metrics", "--enable-hierarchical-cache"}, []string{"hicache-host", "hicache-load-back"}},
		{"sglang", "0.5.16", "HiCache", nil, []string{"--model-path", "m", "--enable-metrics", "--enable-hierarchical-cache", "--hicache-storage-backend", "file"}, []string{"hicache-host", "hicache-load-back", "hicache-storage"}},
		{"sglang", "0.5.16", "KV cache", map[string]any{"model.hybrid": true}, []string{"--model-path", "m", "--enable-metrics"}, []string{"kv-tokens", "kv-usage", "prefix-hits", "evictions", "mamba-slots", "mamba-usage"}},
		{"sglang", "0.5.16", "KV cache", nil, []string{"--model-path", "m", "--enable-metrics", "--disable-radix-cache"}, []string{"kv-tokens", "kv-usage"}},
		{"sglang", "0.5.16", "Disaggregation", nil, []string{"--model-path", "m", "--enable-metrics", "--disaggregation-mode", "decode"}, []string{"decode-queues"}},
		{"sglang", "0.5.16", "Load", nil, []string{"--model-path", "m"}, []string{}},
	} {
		catalogued, err := catalogue.Load(c.engine)
		require.NoError(t, err)
		release, ok := catalogued.Find(c.version)
		require.True(t, ok)
		require.Equal(t, c.want, shown(fill(t, serverOf(t, c.engine, release, c.known, c.args...)), c.row), "%v", c)
	}
}

// What is not known leaves a panel out, and says what would tell.
func TestUnknownIsLeftOut(t *testing.T) {
	t.Parallel()
	catalogued, err := catalogue.Load("sglang")
	require.NoError(t, err)
	release, _ := catalogued.Find("0.5.16")
	s := serverOf(t, "sglang", release, nil, "--model-path", "m", "--enable-metrics")
	s.Values["ceiling"] = mixin.Value{Needs: []string{"gpu.memory"}}
	board := fill(t, s)
	needs := map[string][]string{}
	for _, left := range board.Left {
		needs[left.Name] = left.Needs
	}
	require.Equal(t, []string{"model.name"}, needs["Mamba slots in use"])
	require.Equal(t, []string{"gpu.memory"}, needs["alert SGLangAtCeiling"])
	for _, p := range board.Panels {
		require.NotContains(t, p.Threshold, "<", "a bound that is not known is left out")
	}
}

// A range of releases is shown what all of them emit.
func TestReleasesOfARange(t *testing.T) {
	t.Parallel()
	catalogued, err := catalogue.Load("vllm")
	require.NoError(t, err)
	older, _ := catalogued.Find("0.10.1")
	newer, _ := catalogued.Find("0.11.0")
	s := serverOf(t, "vllm", older, nil, "m")
	s.States = append(s.States, serverOf(t, "vllm", newer, nil, "m").States...)
	board := fill(t, s)
	latency := board.Panels[slices.IndexFunc(board.Panels, func(p mixin.Panel) bool { return p.Name == "inter-token" })]
	require.Equal(t, []string{"vllm:time_per_output_token_seconds_bucket"}, latency.Needs, "both still emit the older name")

	last, _ := catalogued.Find("0.12.0")
	s.States = append(s.States, serverOf(t, "vllm", last, nil, "m").States...)
	board = fill(t, s)
	require.NotContains(t, shown(board, "Latency"), "inter-token")
	at := slices.IndexFunc(board.Left, func(l mixin.Left) bool { return l.Name == "Time between tokens" })
	require.Equal(t, "vllm 0.10.1 emits no vllm:inter_token_latency_seconds_bucket (in 0.10.1, which this image may hold: state the version)", board.Left[at].Why)
}

// A label by which the config selects is not on every metric.
func TestSelectorThatAMetricLacks(t *testing.T) {
	t.Parallel()
	catalogued, err := catalogue.Load("sglang")
	require.NoError(t, err)
	release, _ := catalogued.Find("0.5.16")
	s := serverOf(t, "sglang", release, map[string]any{"model.hybrid": false}, "--model-path", "m", "--enable-metrics")
	s.Labels = []string{"job", "model_name"}
	board := fill(t, s)
	require.NotContains(t, shown(board, "KV cache"), "evictions")
	require.Contains(t, shown(board, "KV cache"), "kv-usage")
}

// A quantile between two buckets is a guess: an alert is held against a bucket, and
// left out beyond the last.
func TestBoundsLieOnBuckets(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ engine, alert, ttft, want string }{
		{"vllm", "VLLMTimeToFirstToken", "60", "> 80"},
		{"vllm", "VLLMTimeToFirstToken", "540", "> 640"},
		{"vllm", "VLLMTimeToFirstToken", "2561", ""},
		{"sglang", "SGLangTimeToFirstToken", "60", "> 60"},
		{"sglang", "SGLangTimeToFirstToken", "540", ""},
	} {
		catalogued, err := catalogue.Load(c.engine)
		require.NoError(t, err)
		s := serverOf(t, c.engine, catalogued.Newest(), nil, map[string][]string{"vllm": {"m"}, "sglang": {"--model-path", "m", "--enable-metrics"}}[c.engine]...)
		s.Values["ttft"] = mixin.Text(c.ttft)
		alerts := fill(t, s).Alerts
		at := slices.IndexFunc(alerts, func(a mixin.Alert) bool { return a.Name == c.alert })
		if c.want == "" {
			require.Equal(t, -1, at, c)
			continue
		}
		require.True(t, strings.HasSuffix(alerts[at].Expr, c.want), alerts[at].Expr)
	}
}

// Buckets of the user's own are not known.
func TestOwnBucketsAreNotKnown(t *testing.T) {
	t.Parallel()
	catalogued, err := catalogue.Load("sglang")
	require.NoError(t, err)
	board := fill(t, serverOf(t, "sglang", catalogued.Newest(), nil, "--model-path", "m", "--enable-metrics", "--bucket-time-to-first-token", "1", "5"))
	require.False(t, slices.ContainsFunc(board.Alerts, func(a mixin.Alert) bool { return a.Name == "SGLangTimeToFirstToken" }))
}

// What generates no text, or hands its requests on, is not said to be starved.
func TestOnlyGeneratorsStarve(t *testing.T) {
	t.Parallel()
	catalogued, err := catalogue.Load("vllm")
	require.NoError(t, err)
	generator := map[string]any{"model.architecture": "Qwen3ForCausalLM", "model.pooling": false, "model.encoderDecoder": false}
	starves := func(known map[string]any, args ...string) bool {
		board := fill(t, serverOf(t, "vllm", catalogued.Newest(), known, append([]string{"m"}, args...)...))
		return slices.ContainsFunc(board.Alerts, func(a mixin.Alert) bool { return a.Name == "VLLMDecodeStarved" })
	}
	require.True(t, starves(generator))
	require.False(t, starves(nil), "the model is not known")
	require.False(t, starves(map[string]any{"model.architecture": "BertModel", "model.pooling": true, "model.encoderDecoder": false}))
	require.False(t, starves(generator, "--kv-transfer-config", `{"kv_connector":"NixlConnector","kv_role":"kv_producer"}`))
}

// Every condition is evaluated in every release, whatever else is shown.
func TestConditionsFitTheirSettings(t *testing.T) {
	t.Parallel()
	for _, owner := range catalogue.Names() {
		catalogued, err := catalogue.Load(owner)
		require.NoError(t, err)
		panels, err := mixin.Panels(owner)
		require.NoError(t, err)
		args := map[string][]string{"vllm": {"m"}, "sglang": {"--model-path", "m"}}[owner]
		for _, release := range catalogued.Releases {
			state := serverOf(t, owner, release, map[string]any{"model.hybrid": true}, args...).States[0]
			for _, p := range panels {
				if p.When == "" {
					continue
				}
				truth, needs, err := state.Holds(p.When)
				require.NoError(t, err, p.When)
				if release == catalogued.Newest() {
					require.NotEqual(t, engine.Unknown, truth, "%s: %s needs %v", release, p.When, needs)
				}
			}
		}
	}
}
