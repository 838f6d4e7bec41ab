package config

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trimtab/trimtab/internal/finding"
)

func TestMerge(t *testing.T) {
	a := mustDecode(t, "a.yaml", spec(`
select: [{name: chat}]
engine: {name: sglang, version: v0.5.16, knows: [--omni]}
gpu: {name: R9700, memory: 32Gi}
workload: {peakRunning: 16, prompts: [{tokens: 10, output: 1}, {tokens: 10, output: 1}]}
keep: [--a, --b]
rules: {inert-setting: off, oversized-pool: {severity: error}}
facts: [{setting: --x}]
prune: {schedule: "30 4 * * *"}
monitor: {rules: false}
model: {config: {layers: 2}}`))
	b := mustDecode(t, "b.yaml", spec(`
select: [{name: chat}, {kind: Pod}]
engine: {version: 0.5.16, knows: [--omni, --more]}
gpu: {name: r-9700, memory: 34359738368, count: 1}
model: {name: m, remoteCode: true, config: {layers: 2}}
workload: {prompts: [{tokens: 10, output: 1, running: 1}, {tokens: 20, output: 1}]}
measured: {kvTokens: 5}
keep: [--b, --c]
rules: {inert-setting: false, restated-default: fix}
facts: [{setting: --x}, {setting: --y}]
failOn: never
prune: {keepFor: 24h}
monitor: {rules: false, labels: {release: a}}`))
	before := *a

	c, err := Merge([]*Config{a, b})
	require.NoError(t, err)
	require.Equal(t, before, *a, "inputs stay as they are")
	require.Equal(t, "a.yaml, b.yaml", c.Source)
	require.Equal(t, []Selector{{Name: "chat"}, {Kind: "Pod"}}, c.Spec.Select)
	require.Equal(t, Engine{Name: "sglang", Version: "v0.5.16", Knows: []string{"--omni", "--more"}}, c.Spec.Engine)
	require.Equal(t, &Monitor{Rules: ptr(false), Labels: map[string]string{"release": "a"}}, c.Spec.Monitor)
	require.Equal(t, GPU{Name: "R9700", Memory: &Quantity{"32Gi", 32 << 30}, Count: ptr(int64(1))}, c.Spec.GPU)
	require.Equal(t, []Prompt{{10, 1, 1}, {10, 1, 1}, {20, 1, 1}}, c.Spec.Workload.Prompts)
	require.Equal(t, ptr(int64(16)), c.Spec.Workload.PeakRunning)
	require.Equal(t, ptr(int64(5)), c.Spec.Measured.KVTokens)
	require.Equal(t, "m", c.Spec.Model.Name)
	require.JSONEq(t, `{"layers": 2}`, string(c.Spec.Model.Config.JSON))
	require.Equal(t, []string{"--a", "--b", "--c"}, c.Spec.Keep)
	require.Equal(t, map[string]RuleSetting{
		"inert-setting": {Off: true}, "restated-default": {Trim: ptr(true)}, "oversized-pool": {Severity: ptr(finding.Error)},
	}, c.Spec.Rules)
	require.Len(t, c.Spec.Facts, 2)
	require.Equal(t, FailOnNever, c.Spec.FailOn)
	require.Equal(t, &Prune{Schedule: "30 4 * * *", KeepFor: ptr(24 * time.Hour)}, c.Spec.Prune)
	require.Nil(t, a.Spec.Prune.KeepFor)
	require.Len(t, a.Spec.Rules, 2)
}

func TestMergeFew(t *testing.T) {
	c, err := Merge(nil)
	require.NoError(t, err)
	require.Equal(t, Default(), c)

	one := mustDecode(t, "a.yaml", spec("gpu: {name: a}"))
	c, err = Merge([]*Config{one})
	require.NoError(t, err)
	require.Same(t, one, c)

	// A config about every server joined with one about some is about all.
	some := mustDecode(t, "b.yaml", spec("select: [{kind: Pod}]"))
	c, err = Merge([]*Config{some, one})
	require.NoError(t, err)
	require.Empty(t, c.Spec.Select)

	// The verb decides what is done, so kinds may differ; the first stays.
	verify := mustDecode(t, "v.yaml", "{apiVersion: trimtab.dev/v1alpha1, kind: Verify, metadata: {name: v}}")
	c, err = Merge([]*Config{verify, one})
	require.NoError(t, err)
	require.Equal(t, Verify, c.Kind)
	require.Equal(t, "v", c.Name)
}

func TestMergeConflicts(t *testing.T) {
	const tail = "; leave it in one of them, or part them with `select`"
	tests := []struct{ a, b, want string }{
		{"engine: {name: vllm}", "engine: {name: sglang}", "`spec.engine.name` is \"vllm\" in a.yaml and \"sglang\" in b.yaml"},
		{"engine: {version: v1.0}", "engine: {version: v1.1}", "`spec.engine.version` is \"v1.0\" in a.yaml and \"v1.1\" in b.yaml"},
		{"gpu: {name: a}", "gpu: {name: b}", "`spec.gpu.name` is \"a\" in a.yaml and \"b\" in b.yaml"},
		{"gpu: {count: 1}", "gpu: {count: 2}", "`spec.gpu.count` is 1 in a.yaml and 2 in b.yaml"},
		{"gpu: {memory: 32Gi}", "gpu: {memory: 32G}", "`spec.gpu.memory` is 32Gi in a.yaml and 32G in b.yaml"},
		{"model: {remoteCode: true}", "model: {remoteCode: false}", "`spec.model.remoteCode` is true in a.yaml and false in b.yaml"},
		{"model: {config: {a: 1}}", "model: {config: {a: 2}}", "`spec.model.config` is not the same in a.yaml and in b.yaml"},
		{"measured: {prefillTokensPerSecond: 1.5}", "measured: {prefillTokensPerSecond: 2}", "`spec.measured.prefillTokensPerSecond` is 1.5 in a.yaml and 2 in b.yaml"},
		{"rules: {inert-setting: off}", "rules: {inert-setting: {severity: info, trim: true}}", "`spec.rules.inert-setting` is off in a.yaml and {severity: info, trim: true} in b.yaml"},
		{"failOn: never", "failOn: error", "`spec.failOn` is \"never\" in a.yaml and \"error\" in b.yaml"},
		{"stamp: true", "stamp: false", "`spec.stamp` is true in a.yaml and false in b.yaml"},
		{"prune: false", "prune: {keepFor: 1h}", "`spec.prune` is \"false\" in a.yaml and \"true\" in b.yaml"},
		{"prune: {keepFor: 2h}", "prune: {keepFor: 1h}", "`spec.prune.keepFor` is 2h0m0s in a.yaml and 1h0m0s in b.yaml"},
		{"monitor: false", "monitor: {}", "`spec.monitor` is \"false\" in a.yaml and \"true\" in b.yaml"},
		{"monitor: {scrape: pod}", "monitor: {scrape: false}", "`spec.monitor.scrape` is \"pod\" in a.yaml and \"false\" in b.yaml"},
		{"monitor: {labels: {a: b}}", "monitor: {labels: {a: c}}", "`spec.monitor.labels` is not the same in a.yaml and in b.yaml"},
		{"monitor: {gateway: {}}", "monitor: {gateway: {running: x}}", "`spec.monitor.gateway` is not the same in a.yaml and in b.yaml"},
	}
	for _, test := range tests {
		t.Run(test.want, func(t *testing.T) {
			a, b := mustDecode(t, "a.yaml", spec(test.a)), mustDecode(t, "b.yaml", spec(test.b))
			empty := mustDecode(t, "empty.yaml", spec("keep: [--z]"))
			_, err := Merge([]*Config{empty, a, b})
			require.EqualError(t, err, test.want+tail)
			_, err = Merge([]*Config{a, a, empty})
			require.NoError(t, err)
		})
	}
}

// Two documents of one file are told apart by their names.
func TestMergeNamesDocuments(t *testing.T) {
	a := mustDecode(t, "f.yaml", "{apiVersion: trimtab.dev/v1alpha1, kind: Trim, metadata: {name: one}, spec: {stamp: true}}")
	b := mustDecode(t, "f.yaml", "{apiVersion: trimtab.dev/v1alpha1, kind: Trim, metadata: {name: two}, spec: {stamp: false}}")
	_, err := Merge([]*Config{a, b})
	require.EqualError(t, err, "`spec.stamp` is true in f.yaml (one) and false in f.yaml (two); leave it in one of them, or part them with `select`")
}
