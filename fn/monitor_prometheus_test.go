package fn_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/trimtab/trimtab/internal/argv"
	"github.com/trimtab/trimtab/internal/catalogue"
	"github.com/trimtab/trimtab/internal/engine"
	"github.com/trimtab/trimtab/internal/facts"
	"github.com/trimtab/trimtab/internal/setting"
)

// program is the path of a program of the package prometheus. Under CI a missing
// one is a failure; elsewhere the test skips and says what to install.
func program(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil && os.Getenv("CI") != "" {
		t.Fatalf("%s is not on PATH: install the package prometheus", name)
	}
	if err != nil {
		t.Skipf("%s is not on PATH: install the package prometheus", name)
	}
	return path
}

// scraped is a server of the test: its name is its job and the path of its
// exporter.
type scraped struct {
	name, engine, version, spec string
	args                        []string
	hybrid                      bool
	// without is a metric that its exporter does not serve.
	without string
	rows    []string
}

var scrapedServers = []scraped{
	{name: "vllm-old", engine: "vllm", version: "0.8.5", spec: "{monitor: {}}", rows: []string{"Load", "KV cache", "Latency", "Throughput"}},
	{name: "vllm-seed", engine: "vllm", version: "0.11.0", spec: "{monitor: {gateway: {}}, measured: {kvTokens: 152432}}", args: []string{"--max-num-seqs=4"},
		rows: []string{"Load", "KV cache", "Latency", "Throughput", "Admission"}},
	{name: "vllm-full", engine: "vllm", version: "0.19.1", spec: `{monitor: {gateway: {smallTTFT: "llm_ttft_seconds{size=\"small\"}"}}, measured: {kvTokens: 152432}}`,
		args: []string{"--kv-cache-metrics", `--speculative-config={"method":"ngram","num_speculative_tokens":3}`, `--kv-transfer-config={"kv_connector":"OffloadingConnector","kv_role":"kv_both"}`},
		rows: []string{"Load", "KV cache", "Latency", "Throughput", "Speculative decoding", "Admission"}},
	{name: "vllm-newest", engine: "vllm", version: "0.33.0", spec: "{monitor: {}}", rows: []string{"Load", "KV cache", "Latency", "Throughput"}},
	{name: "sglang-old", engine: "sglang", version: "0.5.2", spec: "{monitor: {}}", rows: []string{"Load", "KV cache", "Latency", "Throughput"}},
	{name: "sglang-seed", engine: "sglang", version: "0.5.16", hybrid: true, spec: "{monitor: {gateway: {}}, model: {name: Qwen/Qwen3.6-27B}, measured: {kvTokens: 183240, mambaSlots: 60}}",
		args: []string{"--enable-hierarchical-cache", "--hicache-storage-backend=file", "--enable-lora", "--speculative-algorithm=NGRAM"},
		rows: []string{"Load", "KV cache", "HiCache", "Latency", "Throughput", "Speculative decoding", "LoRA", "Admission"}},
	{name: "sglang-newest", engine: "sglang", version: "0.5.23", spec: "{monitor: {}}", args: []string{"--disaggregation-mode=decode"}, rows: []string{"Load", "KV cache", "Latency", "Throughput", "Disaggregation"}},
	{name: "vllm-poorer", engine: "vllm", version: "0.11.0", spec: "{monitor: {}}", without: "vllm:kv_cache_usage_perc", rows: []string{"Load", "KV cache", "Latency", "Throughput"}},
}

func (s scraped) manifest() string {
	image, model, port := "vllm/vllm-openai:v"+s.version, "--model=Qwen/Qwen3-0.6B", "8000"
	if s.engine == "sglang" {
		image, model, port = "lmsysorg/sglang:v"+s.version, "--model-path=Qwen/Qwen3-0.6B", "30000"
		if s.hybrid {
			model = "--model-path=Qwen/Qwen3.6-27B"
		}
	}
	return deployment(s.name, image, port, append([]string{model}, s.commandLine()[1:]...)...)
}

func (s scraped) commandLine() []string {
	if s.engine == "sglang" {
		return append([]string{"--model-path=m", "--host=0.0.0.0", "--enable-metrics"}, s.args...)
	}
	return append([]string{"m"}, s.args...)
}

// families are the metrics that the release emits with these settings.
func (s scraped) families(t *testing.T) (*catalogue.Engine, catalogue.Release, []catalogue.Metric) {
	t.Helper()
	catalogued, err := catalogue.Load(s.engine)
	require.NoError(t, err)
	known, err := engine.Load(s.engine)
	require.NoError(t, err)
	release, ok := catalogued.Find(s.version)
	require.True(t, ok)
	var words []setting.Word
	for _, arg := range s.commandLine() {
		words = append(words, setting.Word{Text: arg})
	}
	line := argv.Parse(catalogued, release, map[string]argv.Mode{"sglang": argv.Launch, "vllm": argv.Serve}[s.engine], words)
	state := engine.NewState(catalogued, known, release, line.Settings, facts.Set{}, "")
	all, err := catalogued.Metrics()
	require.NoError(t, err)
	return catalogued, release, slices.DeleteFunc(slices.Clone(all), func(m catalogue.Metric) bool {
		lacks := slices.ContainsFunc(state.MetricLacks(m.Name), func(j engine.Judgement) bool { return j.Holds == engine.True })
		return lacks || !m.Contains(release) || strings.Contains(m.Name, "{") || m.Name == s.without
	})
}

// labelValues are the values of labels that queries tell apart; others are "0".
var labelValues = map[string]string{"model_name": "m", "mode": "prefill_compute", "finished_reason": "stop", "engine_type": "unified"}

// exposition is what the server answers at /metrics the n-th time: counters grow,
// gauges stand.
func exposition(catalogued *catalogue.Engine, release catalogue.Release, families []catalogue.Metric, n int64) string {
	candidates := []string{"model_name", "engine", "engine_type", "tp_rank", "pp_rank", "dp_rank", "storage_backend", "cache_type"}
	var b strings.Builder
	for _, m := range families {
		var labels []string
		for _, label := range append(slices.Clone(candidates), m.Labels...) {
			text := fmt.Sprintf("%s=%q", label, orZero(labelValues[label]))
			if m.MayHave(label, release) && m.Labels != nil && !slices.Contains(labels, text) && label != "le" {
				labels = append(labels, text)
			}
		}
		with := func(suffix, more string, value int64) {
			all := strings.Join(append(slices.Clone(labels), more), ",")
			fmt.Fprintf(&b, "%s{%s} %d\n", m.Name+suffix, strings.TrimSuffix(all, ","), value)
		}
		switch m.Kind {
		case "histogram", "gaugehistogram":
			for i, bound := range []string{"0.1", "1.0", "10.0", "+Inf"} {
				with("_bucket", fmt.Sprintf("le=%q", bound), n*int64(i+1))
			}
			with("_sum", "", 9*n)
			with("_count", "", 4*n)
		case "summary":
			with("_sum", "", 9*n)
			with("_count", "", 4*n)
		case "counter":
			with("", "", 3*n)
		default:
			with("", "", 1)
		}
	}
	return b.String()
}

func orZero(text string) string {
	if text == "" {
		return "0"
	}
	return text
}

const gatewayMetrics = `vllm_requests_running 1
vllm_kv_usage_perc 0.4
admission_parked_total %[1]d
admission_rejected_total{reason="full"} %[1]d
engine_state_stale_total %[1]d
observer_degraded 0
llm_ttft_seconds_bucket{size="small",le="1.0"} %[1]d
llm_ttft_seconds_bucket{size="small",le="+Inf"} %[1]d
`

// exporters serves the metrics of all servers, and those of the gateway.
func exporters(t *testing.T) *httptest.Server {
	t.Helper()
	mux := http.NewServeMux()
	var scrapes atomic.Int64
	for _, s := range scrapedServers {
		catalogued, release, families := s.families(t)
		mux.HandleFunc("/"+s.name, func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, exposition(catalogued, release, families, scrapes.Add(1)))
		})
	}
	mux.HandleFunc("/gateway", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintf(w, gatewayMetrics, scrapes.Add(1)) })
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server
}

// prometheus runs a real Prometheus that scrapes the exporters as the generated
// objects say, with the generated rules. It returns its address.
func prometheus(t *testing.T, manifests map[string]string) string {
	t.Helper()
	path, dir := program(t, "prometheus"), t.TempDir()
	target := strings.TrimPrefix(exporters(t).URL, "http://")
	type fields = map[string]any
	static := []any{fields{"targets": []string{target}, "labels": fields{"namespace": "ai", "pod": "chat-0"}}}
	jobs := []any{fields{"job_name": "gateway", "metrics_path": "/gateway", "static_configs": static}}
	var rules []string
	for name, text := range manifests {
		endpoint := theObject(t, text, "PodMonitor").Spec["podMetricsEndpoints"].([]any)[0].(map[string]any)
		relabel := endpoint["relabelings"].([]any)[0].(map[string]any)
		jobs = append(jobs, fields{"job_name": "scrape-" + name, "metrics_path": "/" + name, "static_configs": static,
			"relabel_configs": []any{fields{"target_label": relabel["targetLabel"], "replacement": relabel["replacement"]}}})
		file := filepath.Join(dir, name+".yaml")
		spec, err := yaml.Marshal(theObject(t, text, "PrometheusRule").Spec)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(file, spec, 0o644))
		rules = append(rules, file)
	}
	text, err := yaml.Marshal(fields{"global": fields{"scrape_interval": "1s", "evaluation_interval": "1s"}, "scrape_configs": jobs, "rule_files": rules})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "prometheus.yaml"), text, 0o644))

	cmd := exec.Command(path, "--config.file="+filepath.Join(dir, "prometheus.yaml"), "--storage.tsdb.path="+filepath.Join(dir, "data"), "--web.listen-address="+freeAddress(t))
	output, err := cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	var log []string
	lines := bufio.NewScanner(output)
	for lines.Scan() {
		log = append(log, lines.Text())
		if strings.Contains(lines.Text(), "Server is ready to receive web requests") {
			go func() {
				for lines.Scan() { // a full pipe would stop it
				}
			}()
			return "http://" + strings.TrimPrefix(cmd.Args[len(cmd.Args)-1], "--web.listen-address=")
		}
	}
	require.Fail(t, "prometheus does not start", strings.Join(log, "\n"))
	return ""
}

func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close()
	return listener.Addr().String()
}

// ask sends a query to Prometheus; it tells how many samples with a number come
// back.
func ask(t *testing.T, address, query string) int {
	t.Helper()
	answer, err := http.Get(address + "/api/v1/query?query=" + url.QueryEscape(query))
	require.NoError(t, err)
	defer answer.Body.Close()
	var body struct {
		Status, Error string
		Data          struct{ Result []struct{ Value [2]any } }
	}
	require.NoError(t, json.NewDecoder(answer.Body).Decode(&body))
	require.Equal(t, "success", body.Status, "%s: %s", query, body.Error)
	samples := 0
	for _, result := range body.Data.Result {
		if result.Value[1] != "NaN" {
			samples++
		}
	}
	return samples
}

// shownPanel is a panel of a dashboard as far as the tests read it.
type shownPanel struct {
	Type, Title string
	Targets     []struct{ Expr, LegendFormat string }
}

func panelsOf(t *testing.T, text string) []shownPanel {
	t.Helper()
	var board struct{ Panels []shownPanel }
	for _, content := range theObject(t, text, "ConfigMap").Data {
		require.NoError(t, json.Unmarshal([]byte(content), &board))
	}
	return board.Panels
}

// Every query of every generated panel returns data from a Prometheus that scrapes
// exactly what the release emits with these settings, and a panel whose metric is
// not served returns none.
func TestEveryPanelReturnsData(t *testing.T) {
	t.Parallel()
	program(t, "prometheus")
	manifests := map[string]string{}
	for _, s := range scrapedServers {
		manifests[s.name] = watched{s.manifest(), s.spec}.trim(t)
	}
	address := prometheus(t, manifests)
	asked := 0
	for _, s := range scrapedServers {
		rows := []string{}
		for _, panel := range panelsOf(t, manifests[s.name]) {
			if panel.Type == "row" {
				rows = append(rows, panel.Title)
				continue
			}
			for _, target := range panel.Targets {
				query := strings.ReplaceAll(target.Expr, "$__rate_interval", "30s")
				require.NotContains(t, query, "$", "the dashboard has no other variable in a query")
				if s.without != "" && strings.Contains(query, s.without) {
					continue
				}
				asked++
				require.Eventually(t, func() bool { return ask(t, address, query) > 0 }, time.Minute, 100*time.Millisecond, "%s: %s: %s", s.name, panel.Title, query)
			}
		}
		require.Equal(t, s.rows, rows, s.name)
	}
	poorer := 0
	for _, panel := range panelsOf(t, manifests["vllm-poorer"]) {
		for _, target := range panel.Targets {
			if strings.Contains(target.Expr, "vllm:kv_cache_usage_perc") {
				poorer++
				require.Zero(t, ask(t, address, target.Expr), "a family that is not served shows nothing")
			}
		}
	}
	require.NotZero(t, poorer)
	require.GreaterOrEqual(t, asked, 150)
	requireRulesHealthy(t, address)
	t.Logf("%d queries", asked)
}

// requireRulesHealthy: every generated rule is loaded and evaluates without an
// error.
func requireRulesHealthy(t *testing.T, address string) {
	t.Helper()
	type ruleState struct{ Name, Health, LastError string }
	var rules []ruleState
	require.Eventually(t, func() bool {
		answer, err := http.Get(address + "/api/v1/rules")
		require.NoError(t, err)
		defer answer.Body.Close()
		var body struct {
			Data struct{ Groups []struct{ Rules []ruleState } }
		}
		require.NoError(t, json.NewDecoder(answer.Body).Decode(&body))
		rules = nil
		for _, group := range body.Data.Groups {
			rules = append(rules, group.Rules...)
		}
		return !slices.ContainsFunc(rules, func(r ruleState) bool { return r.Health == "unknown" })
	}, time.Minute, 100*time.Millisecond)
	require.GreaterOrEqual(t, len(rules), 30)
	for _, one := range rules {
		require.Equal(t, "ok", one.Health, "%s: %s", one.Name, one.LastError)
	}
}
