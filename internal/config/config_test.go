package config

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/trimtab/trimtab/internal/finding"
)

var testRules = []string{"inert-setting", "oversized-pool", "restated-default", "slow-cache-lookup", "unversioned-cache", "clamped-setting"}

func parse(t *testing.T, text string) *yaml.Node {
	t.Helper()
	var node yaml.Node
	require.NoError(t, yaml.Unmarshal([]byte(text), &node))
	return &node
}

func decode(t *testing.T, text string) (*Config, error) {
	t.Helper()
	return Decode(parse(t, text), FunctionConfig, testRules)
}

func mustDecode(t *testing.T, source, text string) *Config {
	t.Helper()
	c, err := Decode(parse(t, text), source, testRules)
	require.NoError(t, err)
	return c
}

// spec wraps the fields of a spec into a document.
func spec(body string) string {
	lines := strings.Split(strings.TrimRight(body, "\n"), "\n")
	return "apiVersion: trimtab.dev/v1alpha1\nkind: Trim\nspec:\n  " + strings.Join(lines, "\n  ") + "\n"
}

func ptr[T any](v T) *T { return &v }

const wholeDocument = `
apiVersion: trimtab.dev/v1alpha1
kind: Verify
metadata:
  name: lab
  annotations: {config.kubernetes.io/local-config: "true"}
  anything: [goes, here]
spec:
  select:
    - {kind: InferenceService, name: small, namespace: ai, labels: "tier=prod", container: server}
  engine: {name: sglang, version: v0.5.16, knows: ["--omni", "env/SGLANG_LAB_*"]}
  gpu: {name: 4090, vendor: nvidia, arch: sm_89, computeCapability: 8.9, count: 2, memory: 24Gi, reserve: 4.6G}
  model:
    name: example/model-7b
    dtype: bfloat16
    quantization: awq
    remoteCode: false
    config: {num_hidden_layers: 28, rope: {theta: 1e6}}
  workload:
    peakRunning: 16
    peakMambaSlots: 32
    prompts: [{tokens: 65000, output: 1000, running: 2}, {tokens: 8000, output: 2000}]
  measured: {kvTokens: 183240, kvBytes: 5.60Gi, mambaSlots: 60, mambaBytes: 4.46Gi, prefillTokensPerSecond: 262}
  keep: ["--disable-overlap-schedule", env/TRITON_CACHE_DIR, maxModelLen]
  rules:
    restated-default: fix
    unversioned-cache: off
    slow-cache-lookup: false
    oversized-pool: report
    inert-setting: error
    clamped-setting: {severity: warning, trim: false}
  facts: [{setting: --x, why: mine}]
  failOn: warning
  stamp: true
  prune: {schedule: "30 4 * * *", keepFor: 24h, image: "example.org/busybox:1"}
  monitor: {dashboard: true, ttft: 90s}
`

func TestDecodeWhole(t *testing.T) {
	c := mustDecode(t, "trim.yaml", wholeDocument)
	require.Equal(t, Verify, c.Kind)
	require.Equal(t, "trim.yaml (lab)", c.Label())
	s := c.Spec

	require.Len(t, s.Select, 1)
	require.Equal(t, "tier=prod", s.Select[0].Labels)
	require.Equal(t, "server", s.Select[0].Container)
	require.Equal(t, Engine{Name: "sglang", Version: "v0.5.16", Knows: []string{"--omni", "env/SGLANG_LAB_*"}}, s.Engine)
	require.Equal(t, GPU{
		Name: "4090", Vendor: "nvidia", Arch: "sm_89", ComputeCapability: "8.9", Count: ptr(int64(2)),
		Memory: &Quantity{"24Gi", 24 << 30}, Reserve: &Quantity{"4.6G", 4_600_000_000},
	}, s.GPU)
	require.Equal(t, "example/model-7b", s.Model.Name)
	require.Equal(t, ptr(false), s.Model.RemoteCode)
	require.JSONEq(t, `{"num_hidden_layers": 28, "rope": {"theta": 1e6}}`, string(s.Model.Config.JSON))
	require.Equal(t, Workload{
		PeakRunning: ptr(int64(16)), PeakMambaSlots: ptr(int64(32)),
		Prompts: []Prompt{{65000, 1000, 2}, {8000, 2000, 1}},
	}, s.Workload)
	require.Equal(t, Measured{
		KVTokens: ptr(int64(183240)), KVBytes: &Quantity{"5.60Gi", 6012954214},
		MambaSlots: ptr(int64(60)), MambaBytes: &Quantity{"4.46Gi", 4788888535}, PrefillTokensPerSecond: ptr(262.0),
	}, s.Measured)
	require.Equal(t, []string{"--disable-overlap-schedule", "env/TRITON_CACHE_DIR", "maxModelLen"}, s.Keep)
	require.Equal(t, map[string]RuleSetting{
		"restated-default":  {Trim: ptr(true)},
		"unversioned-cache": {Off: true},
		"slow-cache-lookup": {Off: true},
		"oversized-pool":    {Trim: ptr(false)},
		"inert-setting":     {Severity: ptr(finding.Error)},
		"clamped-setting":   {Severity: ptr(finding.Warning), Trim: ptr(false)},
	}, s.Rules)
	require.Len(t, s.Facts, 1)
	require.Equal(t, FailOnWarning, s.FailOn)
	require.Equal(t, ptr(true), s.Stamp)
	require.Equal(t, &Prune{Schedule: "30 4 * * *", KeepFor: ptr(24 * time.Hour), Image: "example.org/busybox:1"}, s.Prune)
	require.Equal(t, &Monitor{Dashboard: DashboardSidecar, TTFT: ptr(90 * time.Second)}, s.Monitor)
}

func TestDecodeDefault(t *testing.T) {
	tests := map[string]*yaml.Node{
		"nil":                 nil,
		"null":                parse(t, "null"),
		"nothing":             {},
		"empty mapping":       parse(t, "{}"),
		"ConfigMap, no data":  parse(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: function-input}}"),
		"ConfigMap, data {}":  parse(t, "{apiVersion: v1, kind: ConfigMap, data: {}}"),
		"ConfigMap, null":     parse(t, "{apiVersion: v1, kind: ConfigMap, data: }"),
		"Trim without a spec": parse(t, "{apiVersion: trimtab.dev/v1alpha1, kind: Trim}"),
		"Trim, spec null":     parse(t, "{apiVersion: trimtab.dev/v1alpha1, kind: Trim, spec: null}"),
		"null fields":         parse(t, spec("gpu:\nkeep: null\nengine: {name: null}")),
	}
	for name, root := range tests {
		t.Run(name, func(t *testing.T) {
			c, err := Decode(root, FunctionConfig, testRules)
			require.NoError(t, err)
			c.Name = ""
			require.Equal(t, Default(), c)
		})
	}
}

func TestDecodeErrors(t *testing.T) {
	tests := []struct{ text, want string }{
		{"[]", "functionConfig: a config must be a mapping, got a list"},
		{"text", `functionConfig: a config must be a mapping, got "text"`},
		{"{apiVersion: trimtab.dev/v1alpha1}", "functionConfig: field `kind` is missing; write Trim or Verify"},
		{"{kind: Trim}", "functionConfig: field `apiVersion` is missing; write trimtab.dev/v1alpha1"},
		{"{apiVersion: trimtab.dev/v1alpha1, kind: Trimm}", "functionConfig: unknown `kind` \"Trimm\"; did you mean \"Trim\"?"},
		{"{apiVersion: trimtab.dev/v1, kind: Trim}", "functionConfig: unknown `apiVersion` \"trimtab.dev/v1\"; did you mean \"trimtab.dev/v1alpha1\"?"},
		{"{apiVersion: apps/v1, kind: Deployment}", "functionConfig: `kind` must be Trim or Verify of trimtab.dev/v1alpha1, or a ConfigMap, got \"Deployment\""},
		{"{apiVersion: v2, kind: ConfigMap}", "functionConfig: `apiVersion` of a ConfigMap must be v1, got \"v2\""},
		{"{apiVersion: trimtab.dev/v1alpha1, kind: Trim, sepc: {}}", "functionConfig: unknown field `sepc`; did you mean `spec`?"},
		{"{apiVersion: trimtab.dev/v1alpha1, kind: Trim, spec: {}, spec: {}}", "functionConfig: field `spec` stands twice; remove one"},

		{spec("gpu: {cout: 1}"), "functionConfig: unknown field `spec.gpu.cout`; did you mean `count`?"},
		{spec("gpu: {peakRunning: 1}"), "functionConfig: unknown field `spec.gpu.peakRunning`; did you mean `spec.workload.peakRunning`?"},
		{spec("kvTokens: 1"), "functionConfig: unknown field `spec.kvTokens`; did you mean `spec.measured.kvTokens`?"},
		{spec("engine: {zzz: 1}"), "functionConfig: unknown field `spec.engine.zzz`; `spec.engine` takes knows, name, version"},
		{spec("engine: {name: 1}"), "functionConfig: `spec.engine.name` must be one of sglang, vllm, got \"1\""},
		{spec("engine: {name: sglan}"), "functionConfig: `spec.engine.name` is \"sglan\", which is not known; did you mean \"sglang\"?"},
		{spec("engine: {version: 0.27}"), "functionConfig: `spec.engine.version` must be a release in quotes such as \"v0.5.16\", got \"0.27\""},
		{spec("engine: {version: nightly}"), "functionConfig: `spec.engine.version` must be a release such as v0.5.16, or a range such as >=0.5.10,<0.5.16, got \"nightly\""},
		{spec("engine: {knows: --omni}"), "functionConfig: `spec.engine.knows` must be a list, got \"--omni\""},
		{spec("gpu: r9700"), "functionConfig: `spec.gpu` must be a mapping, got \"r9700\""},
		{spec("gpu: {count: -1}"), "functionConfig: `spec.gpu.count` must be a whole number from 1, got \"-1\""},
		{spec("gpu: {count: \"1\"}"), "functionConfig: `spec.gpu.count` must be a whole number from 1, got \"1\""},
		{spec("gpu: {count: 010}"), "functionConfig: `spec.gpu.count` must be a whole number from 1, got \"010\""},
		{spec("gpu: {count: 1.5}"), "functionConfig: `spec.gpu.count` must be a whole number from 1, got \"1.5\""},
		{spec("gpu: {count: 99999999999999999999}"), "functionConfig: `spec.gpu.count` must be a whole number from 1, got \"99999999999999999999\""},
		{spec("gpu: {memory: 32 Gigs}"), "functionConfig: `spec.gpu.memory` must be a quantity such as 32Gi or 4.6G, got \"32 Gigs\""},
		{spec("gpu: {memory: -32Gi}"), "functionConfig: `spec.gpu.memory` must not be negative, got \"-32Gi\""},
		{spec("gpu: {memory: 0}"), "functionConfig: `spec.gpu.memory` must be more than 0, got \"0\""},
		{spec("gpu: {memory: true}"), "functionConfig: `spec.gpu.memory` must be a quantity such as 32Gi or 4.6G, got \"true\""},
		{spec("gpu: {vendor: nvidea}"), "functionConfig: `spec.gpu.vendor` is \"nvidea\", which is not known; did you mean \"nvidia\"?"},
		{spec("gpu: {computeCapability: sm_89}"), "functionConfig: `spec.gpu.computeCapability` must be a compute capability such as 8.9, got \"sm_89\""},
		{spec("gpu: {name: \" \"}"), "functionConfig: `spec.gpu.name` must not be empty; remove it or give it a value"},
		{spec("gpu: {name: 1.5}"), "functionConfig: `spec.gpu.name` must be text (quote it), got \"1.5\""},
		{spec("gpu: {name: 0x10}"), "functionConfig: `spec.gpu.name` must be text (quote it), got \"0x10\""},
		{spec("gpu: {count: 1, name: a, count: 2}"), "functionConfig: field `spec.gpu.count` stands twice; remove one"},
		{spec("gpu: {[a]: 1}"), "functionConfig: a field name in `spec.gpu` must be text, got a list"},
		{spec("engine: &e {name: vllm}\ngpu: {<<: *e}"), "functionConfig: `spec.gpu` uses the merge key `<<`; write its fields out"},
		{spec("model: {remoteCode: yes}"), "functionConfig: `spec.model.remoteCode` must be true or false, got \"yes\""},
		{spec("model: {config: config.json}"), "functionConfig: `spec.model.config` must be the checkpoint's config.json, inline (a function reads no files: put it inline), got \"config.json\""},
		{spec("model: {config: {a: 1, a: 2}}"), "functionConfig: `spec.model.config` cannot be read: unmarshal errors: line 4: mapping key \"a\" already defined at line 4"},
		{spec("model: {config: &c {a: *c}}"), "functionConfig: `spec.model.config` cannot be read: anchor 'c' value contains itself"},
		{spec("workload: {peakRunning: 0}"), "functionConfig: `spec.workload.peakRunning` must be a whole number from 1, got \"0\""},
		{spec("workload: {prompts: [{tokens: 1}]}"), "functionConfig: `spec.workload.prompts[0]` needs both `tokens` and `output`"},
		{spec("workload: {prompts: [{tokens: 1, output: 2}, {token: 1}]}"), "functionConfig: unknown field `spec.workload.prompts[1].token`; did you mean `tokens`?"},
		{spec("measured: {prefillTokensPerSecond: .inf}"), "functionConfig: `spec.measured.prefillTokensPerSecond` must be a number above 0, got \".inf\""},
		{spec("measured: {prefillTokensPerSecond: 0}"), "functionConfig: `spec.measured.prefillTokensPerSecond` must be a number above 0, got \"0\""},
		{spec("keep: [\"\"]"), "functionConfig: `spec.keep[0]` must not be empty; remove it or give it a value"},
		{spec("keep: [--x, ~]"), "functionConfig: `spec.keep[1]` is empty; remove it"},
		{spec("keep: [{a: b}]"), "functionConfig: `spec.keep[0]` must be text (quote it), got a mapping"},
		{spec("rules: {inert-seting: off}"), "functionConfig: `spec.rules`: unknown rule \"inert-seting\"; did you mean \"inert-setting\"?"},
		{spec("rules: {banana: off}"), "functionConfig: `spec.rules`: unknown rule \"banana\"; the rules are inert-setting, oversized-pool, restated-default, slow-cache-lookup, unversioned-cache, clamped-setting"},
		{spec("rules: {inert-setting: warn}"), "functionConfig: `spec.rules.inert-setting` is \"warn\", which is not known; did you mean \"warning\"?"},
		{spec("rules: {inert-setting: no}"), "functionConfig: `spec.rules.inert-setting` must be one of off, info, warning, error, fix, report, got \"no\""},
		{spec("rules: {inert-setting: true}"), "functionConfig: `spec.rules.inert-setting` must be one of off, info, warning, error, fix, report, got \"true\""},
		{spec("rules: {inert-setting: {severity: fix}}"), "functionConfig: `spec.rules.inert-setting.severity` must be one of info, warning, error, off, got \"fix\""},
		{spec("rules: {inert-setting: {trimm: true}}"), "functionConfig: unknown field `spec.rules.inert-setting.trimm`; did you mean `trim`?"},
		{spec("rules: [off]"), "functionConfig: `spec.rules` must be a mapping, got a list"},
		{spec("facts: [--x]"), "functionConfig: `spec.facts[0]` must be a mapping, got \"--x\""},
		{spec("failOn: errors"), "functionConfig: `spec.failOn` is \"errors\", which is not known; did you mean \"error\"?"},
		{spec("failOn: [error]"), "functionConfig: `spec.failOn` must be one of error, warning, never, got a list"},
		{spec("stamp: 1"), "functionConfig: `spec.stamp` must be true or false, got \"1\""},
		{spec("prune: {image: a b}"), "functionConfig: `spec.prune.image` must hold no blank, got \"a b\""},
		{spec("prune: no"), "functionConfig: `spec.prune` must be false, or a mapping of schedule, keepFor, image and priorityClassName, got \"no\""},
		{spec("prune: {keepFor: 24 hours}"), "functionConfig: `spec.prune.keepFor` must be a duration such as 24h or 7d, got \"24 hours\""},
		{spec("prune: {schedule: daily}"), "functionConfig: `spec.prune.schedule` must be a cron schedule such as \"30 4 * * *\", got \"daily\""},
		{spec("prune: {schedule: '60 4 * * *'}"), "functionConfig: `spec.prune.schedule` must be a cron schedule such as \"30 4 * * *\", got \"60 4 * * *\""},
		{spec("prune: {schedule: '0 4 * * 7'}"), "functionConfig: `spec.prune.schedule` must be a cron schedule such as \"30 4 * * *\", got \"0 4 * * 7\""},
		{spec("prune: {schedule: '0 4 0 * *'}"), "functionConfig: `spec.prune.schedule` must be a cron schedule such as \"30 4 * * *\", got \"0 4 0 * *\""},
		{spec("prune: {schedule: '*/0 4 * * *'}"), "functionConfig: `spec.prune.schedule` must be a cron schedule such as \"30 4 * * *\", got \"*/0 4 * * *\""},
		{spec("prune: {schedule: '0 9-4 * * *'}"), "functionConfig: `spec.prune.schedule` must be a cron schedule such as \"30 4 * * *\", got \"0 9-4 * * *\""},
		{spec("prune: {schedule: '0 4 * mon *'}"), "functionConfig: `spec.prune.schedule` must be a cron schedule such as \"30 4 * * *\", got \"0 4 * mon *\""},
		{spec("monitor: [sidecar]"), "functionConfig: `spec.monitor` must be false, or a mapping such as {} for all defaults, got a list"},
		{spec("monitor: {dashbord: sidecar}"), "functionConfig: unknown field `spec.monitor.dashbord`; did you mean `dashboard`?"},
		{spec("monitor: {dashboard: sidcar}"), "functionConfig: `spec.monitor.dashboard` is \"sidcar\", which is not known; did you mean \"sidecar\"?"},
		{spec("monitor: {interval: 500ms}"), "functionConfig: `spec.monitor.interval` must be whole seconds, at most a day, such as 30s, got \"500ms\""},
		{spec("monitor: {group: A_b}"), "functionConfig: `spec.monitor.group` must be a name of at most 40 lower case letters, digits and `-`, got \"A_b\""},
		{spec("monitor: {labels: {release: [a]}}"), "functionConfig: `spec.monitor.labels.release` must be text (quote it), got a list"},
		{spec("monitor: {labels: {release: a b}}"), "functionConfig: `spec.monitor.labels.release` has a value that no label may have"},
		{spec("monitor: {selector: {job: $job}}"), "functionConfig: `spec.monitor.selector.job` has a value that selects nothing: write it out, without `$`"},
		{spec("monitor: {gateway: {runing: x}}"), "functionConfig: unknown field `spec.monitor.gateway.runing`; did you mean `running`?"},
		{spec("monitor: {gateway: {running: \"a{}\"}}"), "functionConfig: `spec.monitor.gateway.running` must be the name of a metric, got \"a{}\""},
		{spec("monitor: {gateway: {smallTTFT: \"a{b=c}\"}}"), "functionConfig: `spec.monitor.gateway.smallTTFT` must be a histogram such as llm_ttft_seconds{size=\"small\"}, got \"a{b=c}\""},
		{spec("select: {kind: Pod}"), "functionConfig: `spec.select` must be a list, got a mapping"},
		{spec("select: [{}]"), "functionConfig: `spec.select[0]` names nothing; give it a kind, name, namespace, labels or container, or remove it"},
		{spec("select: [{labels: {a: b}}]"), "functionConfig: `spec.select[0].labels` must be a label selector such as tier=prod,env!=dev, got a mapping"},
		{spec("select: [{labels: \"a=b,,c\"}]"), "functionConfig: `spec.select[0].labels` must be a label selector such as tier=prod,env!=dev, got \"a=b,,c\""},
	}
	for _, test := range tests {
		t.Run(test.want, func(t *testing.T) {
			_, err := decode(t, test.text)
			require.EqualError(t, err, test.want)
		})
	}
}

// Long and hostile words stay on one short line.
func TestErrorsAreClipped(t *testing.T) {
	_, err := decode(t, spec("gpu: {? "+strings.Repeat("x", 5000)+" : 1}"))
	require.EqualError(t, err, "functionConfig: unknown field `spec.gpu."+strings.Repeat("x", 80)+"…`; "+
		"`spec.gpu` takes arch, computeCapability, count, memory, name, reserve, vendor")
	_, err = decode(t, spec("failOn: "+strings.Repeat("é", 5000)))
	require.Less(t, len(err.Error()), 300)
	_, err = decode(t, spec("failOn: \"a\\nb\""))
	require.NotContains(t, err.Error(), "\n")
}

func TestDecodeFollowsAliases(t *testing.T) {
	c, err := decode(t, spec("engine: {name: &n vllm, knows: &k [--a]}\nkeep: *k\nmodel: {name: *n}"))
	require.NoError(t, err)
	require.Equal(t, []string{"--a"}, c.Spec.Keep)
	require.Equal(t, "vllm", c.Spec.Model.Name)

	_, err = decode(t, "apiVersion: trimtab.dev/v1alpha1\nkind: Trim\nspec: &s {gpu: *s}\n")
	require.EqualError(t, err, "functionConfig: unknown field `spec.gpu.gpu`; `spec.gpu` takes arch, computeCapability, count, memory, name, reserve, vendor")
}

func TestPruneForms(t *testing.T) {
	tests := []struct {
		text string
		want *Prune
	}{
		{"false", &Prune{Off: true}},
		{"true", &Prune{}},
		{"{}", &Prune{}},
		{"{schedule: \"@daily\", keepFor: 7d}", &Prune{Schedule: "@daily", KeepFor: ptr(7 * 24 * time.Hour)}},
	}
	for _, test := range tests {
		c, err := decode(t, spec("prune: "+test.text))
		require.NoError(t, err)
		require.Equal(t, test.want, c.Spec.Prune, test.text)
	}
}

func TestRuleSettingForms(t *testing.T) {
	tests := []struct {
		text, printed string
		want          RuleSetting
	}{
		{"off", "off", RuleSetting{Off: true}},
		{"false", "off", RuleSetting{Off: true}},
		{"\"off\"", "off", RuleSetting{Off: true}},
		{"\"false\"", "off", RuleSetting{Off: true}},
		{"info", "info", RuleSetting{Severity: ptr(finding.Info)}},
		{"fix", "fix", RuleSetting{Trim: ptr(true)}},
		{"report", "report", RuleSetting{Trim: ptr(false)}},
		{"{severity: error}", "error", RuleSetting{Severity: ptr(finding.Error)}},
		{"{severity: off}", "off", RuleSetting{Off: true}},
		{"{severity: info, trim: true}", "{severity: info, trim: true}", RuleSetting{Severity: ptr(finding.Info), Trim: ptr(true)}},
		{"{}", "{}", RuleSetting{}},
	}
	for _, test := range tests {
		c, err := decode(t, spec("rules: {inert-setting: "+test.text+"}"))
		require.NoError(t, err, test.text)
		require.Equal(t, test.want, c.Spec.Rules["inert-setting"], test.text)
		require.Equal(t, test.printed, test.want.String())
	}
}

func TestComputeCapabilityForms(t *testing.T) {
	for text, want := range map[string]string{"8.9": "8.9", "\"9.0\"": "9.0", "9": "9.0", "12.1": "12.1"} {
		c, err := decode(t, spec("gpu: {computeCapability: "+text+"}"))
		require.NoError(t, err)
		require.Equal(t, want, c.Spec.GPU.ComputeCapability)
	}
}

func TestIsConfig(t *testing.T) {
	tests := []struct {
		apiVersion, kind string
		want             bool
	}{
		{"trimtab.dev/v1alpha1", "Trim", true},
		{"trimtab.dev/v1alpha1", "Verify", true},
		{"trimtab.dev/v2", "Trimm", true},
		{"v1", "ConfigMap", false},
		{"apps/v1", "Trim", false},
		{"x.trimtab.dev/v1", "Trim", false},
		{"", "", false},
	}
	for _, test := range tests {
		require.Equal(t, test.want, IsConfig(test.apiVersion, test.kind), test)
	}
}

func TestFailOn(t *testing.T) {
	tests := []struct {
		failOn              FailOn
		error, warning, inf bool
	}{
		{"", true, false, false},
		{FailOnError, true, false, false},
		{FailOnWarning, true, true, false},
		{FailOnNever, false, false, false},
	}
	for _, test := range tests {
		require.Equal(t, test.error, test.failOn.Fails(finding.Error), test)
		require.Equal(t, test.warning, test.failOn.Fails(finding.Warning), test)
		require.Equal(t, test.inf, test.failOn.Fails(finding.Info), test)
	}
}

func TestNearest(t *testing.T) {
	known := []string{"name", "count", "memory", "peakRunning"}
	tests := map[string]string{
		"cout": "count", "Count": "count", "mem": "memory", "memroy": "memory", "peak_running": "peakRunning",
		"names": "name", "zzz": "", "": "", "--": "", "me": "", "unrelated": "",
	}
	for word, want := range tests {
		got, ok := nearest(word, known)
		require.Equal(t, want, got, word)
		require.Equal(t, want != "", ok, word)
	}
}
