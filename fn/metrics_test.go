package fn_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trimtab/trimtab/fn"
	"github.com/trimtab/trimtab/internal/catalogue"
	"github.com/trimtab/trimtab/internal/config"
	"github.com/trimtab/trimtab/internal/finding"
	"github.com/trimtab/trimtab/internal/promql"
	"github.com/trimtab/trimtab/internal/stream"
)

// ruleFile is a file of Prometheus rules with one alert for each expression.
func ruleFile(expressions ...string) string {
	var b strings.Builder
	b.WriteString("---\ngroups:\n- name: g\n  rules:\n")
	for _, expression := range expressions {
		fmt.Fprintf(&b, "  - alert: A\n    expr: %q\n", expression)
	}
	return b.String()
}

// deadIn are the findings about metrics: severity, metric and what to ask for.
func deadIn(findings []finding.Finding) []string {
	dead := []string{}
	for _, f := range findings {
		if f.Rule == "dead-metric" {
			dead = append(dead, strings.TrimSpace(fmt.Sprintf("%s %s %s", f.Severity, strings.TrimPrefix(f.Setting, "metric/"), f.Proposed)))
		}
	}
	return dead
}

func (p pod) verify(t *testing.T) []finding.Finding {
	t.Helper()
	in, _ := p.input(t, config.Verify)
	in.ParseQuery = promql.Parse
	out, err := fn.Process(in)
	require.NoError(t, err)
	return out.Report.Findings
}

func TestDeadMetric(t *testing.T) {
	t.Parallel()
	vllm := func(with string, args ...string) pod {
		return pod{engine: "vllm", image: vllm19, args: append([]string{"m"}, args...), with: with}
	}
	sglang := func(with string, args ...string) pod {
		return pod{engine: "sglang", image: sglang16, args: append([]string{"--model-path=m"}, args...), with: with}
	}
	for _, c := range []struct {
		name string
		pod
		want []string
	}{
		{"emitted", vllm(ruleFile("vllm:kv_cache_usage_perc > 0.9", "rate(vllm:num_preemptions_total[5m]) > 0", "vllm:e2e_request_latency_seconds_count")), nil},
		{"renamed", vllm(ruleFile("vllm:gpu_cache_usage_perc > 0.9")), []string{"warning vllm:gpu_cache_usage_perc vllm:kv_cache_usage_perc"}},
		{"renamed histogram", vllm(ruleFile("rate(vllm:time_per_output_token_seconds_sum[5m])")),
			[]string{"warning vllm:time_per_output_token_seconds_sum vllm:inter_token_latency_seconds_sum"}},
		{"gone for good", vllm(ruleFile("vllm:num_requests_swapped > 0")), []string{"warning vllm:num_requests_swapped"}},
		{"not there yet", vllm(ruleFile("vllm:admission_rejections_total > 0")), []string{"warning vllm:admission_rejections_total"}},
		{"a counter without its end", vllm(ruleFile("rate(vllm:num_preemptions[5m])")), []string{"warning vllm:num_preemptions vllm:num_preemptions_total"}},
		{"a histogram as a whole", vllm(ruleFile("vllm:e2e_request_latency_seconds")), []string{"warning vllm:e2e_request_latency_seconds vllm:e2e_request_latency_seconds_bucket"}},
		{"old or new", vllm(ruleFile("vllm:kv_cache_usage_perc or vllm:gpu_cache_usage_perc")), nil},
		{"a pattern that fits one", vllm(ruleFile(`{__name__=~"vllm:(gpu|kv)_cache_usage_perc"}`)), nil},
		{"a pattern that fits none that is there", vllm(ruleFile(`{__name__=~"vllm:(gpu|cpu)_cache_usage_perc"}`)), []string{"warning vllm:(gpu|cpu)_cache_usage_perc"}},
		{"of another exporter", vllm(ruleFile("vllm:healthy_pods_total", "vllm_requests_running", "vllm:a:rate5m")), []string{"info vllm:healthy_pods_total"}},
		{"of an engine that is not here", vllm(ruleFile("sglang:num_running_reqs", "sglang:num_running_req")), []string{"info sglang:num_running_req sglang:num_running_reqs"}},
		{"only with a flag", vllm(ruleFile("vllm:lora_requests_info")), []string{"warning vllm:lora_requests_info"}},
		{"with the flag", vllm(ruleFile("vllm:lora_requests_info"), "--enable-lora"), nil},
		{"no metrics at all", sglang(ruleFile("sglang:num_running_reqs")), []string{"warning sglang:num_running_reqs"}},
		{"metrics on", sglang(ruleFile("sglang:num_running_reqs", "sglang:hicache_host_used_tokens"), "--enable-metrics"), []string{"warning sglang:hicache_host_used_tokens"}},
		{"arguments that are not seen", sglang(ruleFile("sglang:num_running_reqs"), "$(MORE)"), nil},
		{"a label that it had", vllm(ruleFile(`vllm:request_success_total{finished_reason="stop"}`, `vllm:prompt_tokens_total{pod="x"}`)), nil},
		{"recorded", vllm("---\ngroups:\n- name: g\n  rules:\n  - {record: 'job:kv:max', expr: 'max(vllm:gpu_cache_usage_perc)'}\n  - {alert: A, expr: 'job:kv:max > 1'}\n"),
			[]string{"warning job:kv:max", "warning vllm:gpu_cache_usage_perc vllm:kv_cache_usage_perc"}},
		{"recorded under the engine's name", vllm("---\ngroups:\n- name: g\n  rules:\n  - {record: 'vllm:kv', expr: 'max(vllm:kv_cache_usage_perc)'}\n  - {alert: A, expr: 'vllm:kv > 1'}\n"), nil},
		{"no query", vllm("---\nkind: ConfigMap\napiVersion: v1\nmetadata: {name: c}\ndata: {note: 'vllm:gpu_cache_usage_perc is old', expr: '{{ .x }} vllm:y'}\n"), nil},
		{"a scaler", vllm("---\nkind: ScaledObject\napiVersion: keda.sh/v1alpha1\nmetadata: {name: c}\nspec: {triggers: [{type: prometheus, metadata: {query: 'sum(vllm:gpu_cache_usage_perc)'}}]}\n"),
			[]string{"warning vllm:gpu_cache_usage_perc vllm:kv_cache_usage_perc"}},
		{"a fork", pod{engine: "vllm", image: "acme/vllm:v0.19.1", args: []string{"m"}, with: ruleFile("vllm:num_requests_swapped")}, []string{"info vllm:num_requests_swapped"}},
		{"a version that is not known", pod{engine: "vllm", image: "acme/vllm:x", args: []string{"m"}, with: ruleFile("vllm:num_requests_swapped")}, nil},
		{"newer than known", pod{engine: "vllm", image: "vllm/vllm-openai:v0.99.0", args: []string{"m"}, with: ruleFile("vllm:num_requests_swapped")}, nil},
		{"ignored by the object", vllm("---\nkind: PrometheusRule\napiVersion: monitoring.coreos.com/v1\nmetadata: {name: r, annotations: {trimtab.dev/ignore: 'dead-metric metric/vllm:num_requests_swapped: of the old cluster'}}\nspec: {groups: [{name: g, rules: [{alert: A, expr: 'vllm:num_requests_swapped > 0'}]}]}\n"), nil},
		{"switched off", pod{engine: "vllm", image: vllm19, args: []string{"m"}, with: ruleFile("vllm:num_requests_swapped"), spec: "{rules: {dead-metric: off}}"}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			require.ElementsMatch(t, c.want, deadIn(c.verify(t)))
		})
	}
}

// A dashboard in a ConfigMap: the place is the line of the query.
func TestDeadMetricInsideADashboard(t *testing.T) {
	t.Parallel()
	dashboard := "\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: d}\ndata:\n  d.json: |\n    {\n      \"panels\": [\n        {\"title\": \"KV\", \"targets\": [\n          {\"expr\": \"vllm:gpu_cache_usage_perc{m=\\\"$m\\\"}\"}]}\n      ]\n    }\n"
	p := pod{engine: "vllm", image: vllm19, args: []string{"m"}, with: dashboard}
	_, source := p.input(t, config.Verify)
	line := 1 + strings.Count(string(source.Data[:strings.Index(string(source.Data), "vllm:gpu_cache")]), "\n")
	for _, f := range p.verify(t) {
		if f.Rule == "dead-metric" {
			require.Equal(t, []any{line, 11, "d", "data[\"d.json\"]"}, []any{f.Line, f.Column, f.Object.Name, f.Origin.String()})
			require.Contains(t, f.Message, `"KV"`)
			return
		}
	}
	require.Fail(t, "nothing was found")
}

func TestAPlainDashboardFile(t *testing.T) {
	t.Parallel()
	source, err := stream.ParseDocuments("d.json", []byte("{\n\t\"panels\": [{\"title\": \"a\", \"targets\": [{\"expr\": \"rate(vllm:num_preemptions[1m])\"}]}]\n}\n"))
	require.NoError(t, err)
	out, err := fn.Process(fn.Input{Sources: []*stream.Source{source}, Mode: config.Verify, ParseQuery: promql.Parse})
	require.NoError(t, err)
	require.Equal(t, []string{"info vllm:num_preemptions vllm:num_preemptions_total"}, deadIn(out.Report.Findings))
}

func TestUpgradeTellsWhichQueriesFindNothing(t *testing.T) {
	t.Parallel()
	p := pod{engine: "vllm", image: "vllm/vllm-openai:v0.10.1", args: []string{"m"}, with: ruleFile("vllm:gpu_cache_usage_perc", "vllm:num_requests_swapped", "vllm:kv_cache_usage_perc")}
	in, _ := p.input(t, config.Verify)
	catalogued, err := catalogue.Load("vllm")
	require.NoError(t, err)
	release, ok := catalogued.Find("0.19.1")
	require.True(t, ok)
	in.To, in.ParseQuery = map[string]catalogue.Release{"vllm": release}, promql.Parse
	out, err := fn.Upgrade(in)
	require.NoError(t, err)
	require.Equal(t, []string{"silent metric metric/vllm:gpu_cache_usage_perc"}, changed(out.Report.Queries), "the other one found nothing before")
}
