package fn_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/trimtab/trimtab/fn"
	"github.com/trimtab/trimtab/internal/config"
	"github.com/trimtab/trimtab/internal/finding"
	"github.com/trimtab/trimtab/internal/promql"
	"github.com/trimtab/trimtab/internal/rule"
	"github.com/trimtab/trimtab/internal/stream"
)

// watched is a manifest, and what a config says of it.
type watched struct{ manifest, spec string }

// deployment is one that starts an engine with a named port.
func deployment(name, image string, port string, args ...string) string {
	var command []string
	if strings.Contains(image, "sglang") {
		command = commands["sglang"]
	}
	text, _ := yaml.Marshal(map[string]any{
		"apiVersion": "apps/v1", "kind": "Deployment", "metadata": map[string]any{"name": name, "namespace": "ai"},
		"spec": map[string]any{
			"selector": map[string]any{"matchLabels": map[string]string{"app": name}},
			"template": map[string]any{
				"metadata": map[string]any{"labels": map[string]string{"app": name, "tier": "gpu"}},
				"spec": map[string]any{"containers": []any{map[string]any{
					"name": "server", "image": image, "command": command, "args": args, "ports": []any{map[string]any{"name": "http", "containerPort": yamlInt(port)}},
				}}},
			},
		},
	})
	return "---\n" + string(text)
}

func yamlInt(text string) (n int) {
	_ = yaml.Unmarshal([]byte(text), &n)
	return n
}

func vllmChat(args ...string) string {
	return deployment("chat", "vllm/vllm-openai:v0.11.0", "8000", append([]string{"--model=Qwen/Qwen3-0.6B"}, args...)...)
}

func sglangChat(args ...string) string {
	return deployment("chat", "lmsysorg/sglang:v0.5.16", "30000", append([]string{"--model-path=Qwen/Qwen3-0.6B", "--host=0.0.0.0"}, args...)...)
}

func (w watched) input(t *testing.T, mode config.Mode) (fn.Input, *stream.Source) {
	t.Helper()
	source, err := stream.ParseDocuments("apps/chat.yaml", []byte(w.manifest))
	require.NoError(t, err)
	var root yaml.Node
	require.NoError(t, yaml.Unmarshal([]byte("apiVersion: trimtab.dev/v1alpha1\nkind: Trim\nmetadata: {name: c}\nspec: "+w.spec), &root))
	parsed, err := config.Decode(root.Content[0], "config.yaml", rule.Names())
	require.NoError(t, err)
	return fn.Input{Sources: []*stream.Source{source}, Mode: mode, Configs: []*config.Config{parsed}, ParseQuery: promql.Parse}, source
}

// trim is the manifest after a trim, which a second one leaves as it is.
func (w watched) trim(t *testing.T) string {
	t.Helper()
	in, source := w.input(t, config.Trim)
	out, err := fn.Process(in)
	require.NoError(t, err)
	text := w.manifest
	if changed, ok := out.Changed[source]; ok {
		text = string(changed)
	}
	in, source = watched{text, w.spec}.input(t, config.Trim)
	again, err := fn.Process(in)
	require.NoError(t, err)
	require.Empty(t, string(again.Changed[source]), "twice is once")
	for _, f := range again.Report.Findings {
		require.False(t, f.Rule == "dead-metric" && f.Action != finding.None, f.Message)
	}
	return text
}

// says are the findings about monitoring: severity, setting, action, message.
func (w watched) says(t *testing.T) []string {
	t.Helper()
	in, _ := w.input(t, config.Verify)
	out, err := fn.Process(in)
	require.NoError(t, err)
	said := []string{}
	for _, f := range out.Report.Findings {
		if f.Rule == "dead-metric" {
			said = append(said, strings.Join([]string{string(f.Severity), f.Setting, string(f.Action), f.Message}, " | "))
		}
	}
	return said
}

// kinds are the kinds and names of the documents of a text, but the servers'.
func kinds(t *testing.T, text string) []string {
	t.Helper()
	names := []string{}
	for _, object := range objectsIn(t, text) {
		if object.Kind != "Deployment" && object.Kind != "InferenceService" && object.Kind != "Service" {
			names = append(names, object.Kind+" "+object.Metadata.Name)
		}
	}
	return names
}

type anObject struct {
	Kind     string
	Metadata struct {
		Name                string
		Labels, Annotations map[string]string
	}
	Spec map[string]any
	Data map[string]string
}

func objectsIn(t *testing.T, text string) []anObject {
	t.Helper()
	var objects []anObject
	decoder := yaml.NewDecoder(strings.NewReader(text))
	for {
		var object anObject
		if err := decoder.Decode(&object); err != nil {
			require.ErrorContains(t, err, "EOF")
			return objects
		}
		if object.Kind != "" {
			objects = append(objects, object)
		}
	}
}

// theObject is the one object of a kind.
func theObject(t *testing.T, text, kind string) anObject {
	t.Helper()
	var found []anObject
	for _, object := range objectsIn(t, text) {
		if object.Kind == kind {
			found = append(found, object)
		}
	}
	require.Len(t, found, 1, kind)
	return found[0]
}

func TestMonitorObjects(t *testing.T) {
	t.Parallel()
	all := []string{"PodMonitor chat-metrics", "PrometheusRule chat-alerts", "ConfigMap chat-dashboard"}
	for _, c := range []struct {
		name string
		watched
		want []string
	}{
		{"nothing is asked for", watched{vllmChat(), "{}"}, []string{}},
		{"all defaults", watched{vllmChat(), "{monitor: {}}"}, all},
		{"SGLang", watched{sglangChat("--enable-metrics"), "{monitor: {}}"}, all},
		{"no dashboard", watched{vllmChat(), "{monitor: {dashboard: false}}"}, all[:2]},
		{"no rules", watched{vllmChat(), "{monitor: {rules: false}}"}, []string{all[0], all[2]}},
		{"own scraping", watched{vllmChat(), "{monitor: {scrape: false, selector: {service: llm}}}"}, all[1:]},
		{"the operator of Grafana", watched{vllmChat(), "{monitor: {dashboard: operator}}"}, []string{all[0], all[1], "GrafanaDashboard chat-dashboard"}},
		{"nothing is exported", watched{sglangChat(), "{monitor: {}}"}, []string{}},
		{"the engine writes no metrics", watched{vllmChat("--disable-log-stats"), "{monitor: {}}"}, []string{}},
		{"nobody scrapes it", watched{vllmChat(), "{monitor: {scrape: false}}"}, []string{}},
		{"the image floats", watched{strings.Replace(vllmChat(), "v0.11.0", "latest", 1), "{monitor: {}}"}, []string{}},
		{"a port of another number", watched{vllmChat("--port=9000"), "{monitor: {}}"}, []string{}},
		{"the rule is off", watched{vllmChat(), "{monitor: {}, rules: {dead-metric: off}}"}, []string{}},
		{"the rule only reports", watched{vllmChat(), "{monitor: {}, rules: {dead-metric: report}}"}, []string{}},
		{"one is kept", watched{vllmChat(), "{monitor: {}, keep: [monitor.dashboard]}"}, all[:2]},
		{"two servers", watched{vllmChat() + deployment("code", "vllm/vllm-openai:v0.11.0", "8000", "--model=m"), "{monitor: {}}"},
			append(append([]string{}, all...), "PodMonitor code-metrics", "PrometheusRule code-alerts", "ConfigMap code-dashboard")},
		{"a group", watched{vllmChat() + deployment("code", "vllm/vllm-openai:v0.11.0", "8000", "--model=m"), "{monitor: {group: llm}}"},
			[]string{"PodMonitor chat-metrics", "PrometheusRule llm-alerts", "ConfigMap llm-dashboard", "PodMonitor code-metrics"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			require.ElementsMatch(t, c.want, kinds(t, c.trim(t)))
		})
	}
}

func TestMonitorSays(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		watched
		want []string
	}{
		{watched{sglangChat(), "{monitor: {}}"}, []string{
			"warning | monitor.dashboard | none | the dashboard of Deployment chat cannot be generated: nothing is exported without --enable-metrics",
		}},
		{watched{sglangChat("--enable-metrics", "--host=127.0.0.1"), "{monitor: {}}"}, []string{
			"warning | monitor.dashboard | none | the dashboard of Deployment chat cannot be generated: the engine listens on 127.0.0.1 alone: set --host=0.0.0.0; or scrape it by an object of your own, with `monitor: {scrape: false, selector: {…}}`",
			"warning | monitor.scrape | none | the metrics of Deployment chat cannot be generated: the engine listens on 127.0.0.1 alone: set --host=0.0.0.0; or scrape it by an object of your own, with `monitor: {scrape: false, selector: {…}}`",
		}},
		{watched{vllmChat(), "{monitor: {}}"}, []string{
			"info | monitor.dashboard | add | ConfigMap chat-dashboard is not there, and the config asks for it (`monitor.dashboard`)",
			"info | monitor.rules | add | PrometheusRule chat-alerts is not there, and the config asks for it (`monitor.rules`)",
			"info | monitor.scrape | add | PodMonitor chat-metrics is not there, and the config asks for it (`monitor.scrape`)",
		}},
		{watched{strings.Replace(vllmChat(), "v0.11.0", "latest", 1), "{monitor: {scrape: false, rules: false, selector: {a: b}}}"}, []string{
			"info | monitor.dashboard | none | ConfigMap chat-dashboard is not there, and the config asks for it (`monitor.dashboard`) (not written: the image floats, pin its version)",
		}},
		{watched{vllmChat() + strings.Replace(vllmChat(), "name: chat", "name: chat-b", 1), "{select: [{name: chat}], monitor: {}}"}, []string{
			"warning | monitor.dashboard | none | the dashboard of Deployment chat cannot be generated: its labels select the pods of Deployment chat-b too: give its pods a label of their own",
			"warning | monitor.scrape | none | the metrics of Deployment chat cannot be generated: its labels select the pods of Deployment chat-b too: give its pods a label of their own",
		}},
	} {
		said := c.says(t)
		require.ElementsMatch(t, c.want, said)
	}
}

// What is no longer asked for, or can no longer be filled, goes; what changed is
// written anew under its own name and with what others put on it.
func TestMonitorFollowsTheServer(t *testing.T) {
	t.Parallel()
	text := watched{vllmChat(), "{monitor: {}}"}.trim(t)
	require.Len(t, kinds(t, text), 3)
	require.Empty(t, watched{text, "{monitor: {}}"}.says(t))

	require.Empty(t, kinds(t, watched{text, "{monitor: false}"}.trim(t)))
	require.Equal(t, vllmChat(), watched{text, "{monitor: false}"}.trim(t))
	require.Equal(t, text, watched{text, "{}"}.trim(t), "a config that says nothing leaves them alone")
	require.Empty(t, kinds(t, watched{strings.Replace(text, "- --model=", "- --disable-log-stats\n                    - --model=", 1), "{monitor: {}}"}.trim(t)))
	require.Equal(t, []string{"PodMonitor chat-metrics", "PrometheusRule chat-alerts", "GrafanaDashboard chat-dashboard"},
		kinds(t, watched{text, "{monitor: {dashboard: operator}}"}.trim(t)), "one kind for another")

	renamed := strings.NewReplacer("name: chat-dashboard", "name: prod-chat-dashboard", "grafana_dashboard: \"1\"", "grafana_dashboard: \"1\"\n    team: ml").Replace(text)
	newer := watched{strings.Replace(renamed, "v0.11.0", "v0.19.1", 1), "{monitor: {}}"}.trim(t)
	board := theObject(t, newer, "ConfigMap")
	require.Equal(t, "prod-chat-dashboard", board.Metadata.Name)
	require.Equal(t, "ml", board.Metadata.Labels["team"])
	require.Contains(t, text, "vllm 0.11.0 emits no vllm:kv_block_lifetime_seconds_bucket")
	require.Contains(t, board.Metadata.Annotations["trimtab.dev/left-out"], "Life of KV blocks: the life of KV blocks is measured only with --kv-cache-metrics")
	uid := func(text string) string { return strings.SplitN(text, `"uid":"`, 2)[1][:24] }
	require.Equal(t, uid(text), uid(newer), "the identity in Grafana stays")
}

// A host gives server and objects one prefix, and a namespace: what was written
// before still holds. What the server fills changes, and they are written anew.
func TestMonitorOfARenamedServer(t *testing.T) {
	t.Parallel()
	prefix := strings.NewReplacer("  name: chat\n", "  name: dev-chat\n", "name: chat-", "name: dev-chat-")
	for _, base := range []string{vllmChat(), strings.ReplaceAll(vllmChat(), "    namespace: ai\n", "")} {
		text := watched{base, "{monitor: {}}"}.trim(t)
		renamed := prefix.Replace(text)
		require.NotEqual(t, text, renamed)
		require.Equal(t, renamed, watched{renamed, "{monitor: {}}"}.trim(t))
		newer := watched{strings.Replace(renamed, "v0.11.0", "v0.19.1", 1), "{monitor: {}}"}.trim(t)
		require.ElementsMatch(t, []string{"PodMonitor dev-chat-metrics", "PrometheusRule dev-chat-alerts", "ConfigMap dev-chat-dashboard"}, kinds(t, newer))
		require.Contains(t, theObject(t, newer, "PrometheusRule").Metadata.Annotations["trimtab.dev/server"], "dev-chat")
	}
	bare := watched{strings.ReplaceAll(vllmChat(), "    namespace: ai\n", ""), "{monitor: {}}"}.trim(t)
	moved := strings.NewReplacer("    name: chat\n", "    name: chat\n    namespace: prod\n", "  name: chat-", "  namespace: prod\n  name: chat-").Replace(bare)
	require.Equal(t, 4, strings.Count(moved, "namespace: prod"))
	require.Equal(t, moved, watched{moved, "{monitor: {}}"}.trim(t))
}

// Servers of one name are told apart, also two in one pod.
func TestMonitorNames(t *testing.T) {
	t.Parallel()
	set := strings.NewReplacer("kind: Deployment", "kind: StatefulSet", "app: chat", "app: chat-set").Replace(vllmChat())
	require.ElementsMatch(t, []string{"StatefulSet chat",
		"PodMonitor chat-deployment-metrics", "PrometheusRule chat-deployment-alerts", "ConfigMap chat-deployment-dashboard",
		"PodMonitor chat-statefulset-metrics", "PrometheusRule chat-statefulset-alerts", "ConfigMap chat-statefulset-dashboard",
	}, kinds(t, watched{vllmChat() + set, "{monitor: {}}"}.trim(t)))

	long := strings.Repeat("chat-", 12) + "x"
	for _, name := range kinds(t, watched{strings.ReplaceAll(vllmChat(), "name: chat", "name: "+long), "{monitor: {}}"}.trim(t)) {
		_, name, _ = strings.Cut(name, " ")
		require.LessOrEqual(t, len(name), 52)
		require.Regexp(t, `^chat-.*-[0-9a-f]{8}-(metrics|alerts|dashboard)$`, name)
	}
}

func TestMonitorScrapesWhereTheServerListens(t *testing.T) {
	t.Parallel()
	text := watched{strings.ReplaceAll(vllmChat("--port=9000"), "8000", "9000"), "{monitor: {interval: 15s, labels: {release: prometheus}}}"}.trim(t)
	pods := theObject(t, text, "PodMonitor")
	require.Equal(t, map[string]any{"matchLabels": map[string]any{"app": "chat"}}, pods.Spec["selector"], "the labels by which the workload finds its pods")
	require.Equal(t, []any{map[string]any{
		"port": "http", "path": "/metrics", "interval": "15s", "relabelings": []any{map[string]any{"targetLabel": "job", "replacement": "chat"}},
	}}, pods.Spec["podMetricsEndpoints"])
	require.Equal(t, "prometheus", pods.Metadata.Labels["release"])
	require.Equal(t, "prometheus", theObject(t, text, "PrometheusRule").Metadata.Labels["release"])
	require.NotContains(t, theObject(t, text, "ConfigMap").Metadata.Labels, "release")

	unnamed := strings.Replace(vllmChat(), "                  name: http\n", "", 1)
	require.NotEqual(t, vllmChat(), unnamed)
	pods = theObject(t, watched{unnamed, "{monitor: {}}"}.trim(t), "PodMonitor")
	require.Equal(t, 8000, pods.Spec["podMetricsEndpoints"].([]any)[0].(map[string]any)["targetPort"])

	const service = "---\napiVersion: v1\nkind: Service\nmetadata: {name: chat, namespace: ai, labels: {svc: chat}}\nspec: {selector: {app: chat}, ports: [{name: api, port: 80, targetPort: http}]}\n"
	text = watched{vllmChat() + service, "{monitor: {scrape: service}}"}.trim(t)
	services := theObject(t, text, "ServiceMonitor")
	require.Equal(t, map[string]any{"matchLabels": map[string]any{"svc": "chat"}}, services.Spec["selector"])
	require.Equal(t, "api", services.Spec["endpoints"].([]any)[0].(map[string]any)["port"])
	require.Contains(t, strings.Join(watched{vllmChat(), "{monitor: {scrape: service}}"}.says(t), "\n"), "no Service here has labels and leads by a named port to port 8000")
}

// The chart of LLMKube scrapes what the operator runs: a second PodMonitor would
// double the series.
func TestMonitorOfLLMKube(t *testing.T) {
	t.Parallel()
	const manifest = `---
apiVersion: inference.llmkube.dev/v1alpha1
kind: Model
metadata: {name: qwen, namespace: ai}
spec: {source: Qwen/Qwen3-0.6B, hardware: {gpu: {count: 1}}}
---
apiVersion: inference.llmkube.dev/v1alpha1
kind: InferenceService
metadata: {name: chat, namespace: ai}
spec: {runtime: sglang, modelRef: qwen, image: "lmsysorg/sglang:v0.5.16"}
`
	text := watched{manifest, "{monitor: {}}"}.trim(t)
	require.Equal(t, []string{"Model qwen", "PrometheusRule chat-alerts", "ConfigMap chat-dashboard"}, kinds(t, text))
	require.Contains(t, text, `sglang:token_usage{namespace=\"ai\",service=\"chat\"}`)
	pods := theObject(t, watched{manifest, "{monitor: {scrape: pod}}"}.trim(t), "PodMonitor")
	require.Equal(t, map[string]any{"matchLabels": map[string]any{"inference.llmkube.dev/service": "chat"}}, pods.Spec["selector"])
	require.Equal(t, "http", pods.Spec["podMetricsEndpoints"].([]any)[0].(map[string]any)["port"])
}

// Where one gateway stands before two servers, its gauges are not held against
// one of them.
func TestMonitorOfASharedGateway(t *testing.T) {
	t.Parallel()
	two := vllmChat() + deployment("code", "vllm/vllm-openai:v0.11.0", "8000", "--model=m")
	text := watched{two, "{monitor: {group: llm, gateway: {}}}"}.trim(t)
	require.NotContains(t, text, "GatewayDisagreesWithEngine\n          expr")
	require.Contains(t, text, "chat, alert GatewayDisagreesWithEngine: the gateway's gauges are not known to tell Deployment chat and Deployment code apart")
	require.Equal(t, 1, strings.Count(text, "- alert: GatewayObserverDegraded"))
	require.Contains(t, watched{vllmChat(), "{monitor: {gateway: {}}}"}.trim(t), "- alert: GatewayDisagreesWithEngine")
}

// Bounds come from the account of the server's memory, and from its workload.
func TestMonitorBounds(t *testing.T) {
	t.Parallel()
	text := watched{vllmChat("--max-num-seqs=4", "--max-model-len=70000"),
		"{measured: {kvTokens: 152432, prefillTokensPerSecond: 262}, workload: {prompts: [{tokens: 65000, output: 1, running: 1}]}, monitor: {}}"}.trim(t)
	board := theObject(t, text, "ConfigMap").Data["chat.json"]
	require.Contains(t, board, `vllm:kv_cache_usage_perc{job=\"chat\",namespace=\"ai\"}) * 152432`)
	require.Contains(t, board, `{"color":"red","value":152432}`)
	require.Contains(t, board, `{"color":"red","value":540}`, "twice the 248 s that the largest prompt takes, in whole minutes")
	require.Contains(t, text, "[10m]))) > 640", "the next bucket of the engine's histogram")
	require.Contains(t, watched{vllmChat(), "{monitor: {ttft: 90s}}"}.trim(t), "[10m]))) > 160")
	bare := watched{vllmChat(), "{monitor: {}}"}.trim(t)
	require.NotContains(t, bare, "VLLMAtCeiling\n          expr")
	require.Contains(t, bare, "KV cache in use: not known: ")
}
