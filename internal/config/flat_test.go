package config

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trimtab/trimtab/internal/finding"
)

func configMap(data string) string {
	return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: function-input}\ndata:\n  " +
		strings.Join(strings.Split(strings.TrimSpace(data), "\n"), "\n  ") + "\n"
}

func TestDecodeConfigMap(t *testing.T) {
	quoted := `
mode: verify
engine: "sglang@v0.5.16"
knows: --omni, env/SGLANG_LAB_*
gpu: "4090"
gpuVendor: nvidia
gpuArch: sm_89
gpuComputeCapability: "8.9"
gpuCount: "2"
gpuMemory: 24Gi
gpuReserve: 4.6G
model: example/model-7b
modelDtype: bfloat16
modelQuantization: awq
modelRemoteCode: "false"
peakRunning: "16"
peakMambaSlots: "32"
kvTokens: "183240"
kvBytes: 5.60Gi
mambaSlots: "60"
mambaBytes: 4.46Gi
prefillTokensPerSecond: "262"
keep: --disable-overlap-schedule,env/TRITON_CACHE_DIR, maxModelLen
rules: "restated-default=fix, unversioned-cache=off,slow-cache-lookup=false,inert-setting=error"
failOn: warning
stamp: "true"
prune: "30 4 * * *"
`
	want := mustDecode(t, FunctionConfig, wholeDocument)
	want.Name = "function-input"
	want.Spec.Select, want.Spec.Facts, want.Spec.Monitor, want.Spec.Model.Config, want.Spec.Workload.Prompts = nil, nil, nil, nil, nil
	want.Spec.Prune = &Prune{Schedule: "30 4 * * *"}
	delete(want.Spec.Rules, "oversized-pool")
	delete(want.Spec.Rules, "clamped-setting")

	c, err := decode(t, configMap(quoted))
	require.NoError(t, err)
	require.Equal(t, want, c)

	// kustomize passes numbers and booleans on as they are.
	plain := strings.NewReplacer(`"4090"`, "4090", `"8.9"`, "8.9", `"2"`, "2", `"false"`, "false", `"16"`, "16", `"32"`, "32",
		`"183240"`, "183240", `"60"`, "60", `"262"`, "262", `"true"`, "true").Replace(quoted)
	require.NotEqual(t, quoted, plain)
	c, err = decode(t, configMap(plain))
	require.NoError(t, err)
	require.Equal(t, want, c)
}

func TestConfigMapValues(t *testing.T) {
	c, err := decode(t, configMap("engine: vllm\nmode: trim\nprune: \"false\""))
	require.NoError(t, err)
	require.Equal(t, Trim, c.Kind)
	require.Equal(t, Engine{Name: "vllm"}, c.Spec.Engine)
	require.Equal(t, &Prune{Off: true}, c.Spec.Prune)

	c, err = decode(t, configMap("prune: true\nrules: inert-setting=warning"))
	require.NoError(t, err)
	require.Equal(t, &Prune{}, c.Spec.Prune)
	require.Equal(t, finding.Warning, *c.Spec.Rules["inert-setting"].Severity)
}

func TestDecodeConfigMapErrors(t *testing.T) {
	tests := []struct{ data, want string }{
		{"gpucount: 1", "functionConfig: unknown field `data.gpucount`; did you mean `gpuCount`?"},
		{"gpu: a\ngpu: b", "functionConfig: field `data.gpu` stands twice; remove one"},
		{"spec: {}", "functionConfig: unknown field `data.spec`; `data` takes engine, failOn, gpu, gpuArch, gpuComputeCapability, gpuCount, gpuMemory, gpuReserve, gpuVendor, keep, knows, kvBytes, kvTokens, mambaBytes, mambaSlots, mode, model, modelDtype, modelQuantization, modelRemoteCode, peakMambaSlots, peakRunning, prefillTokensPerSecond, prune, rules, stamp"},
		{"mode: verfy", "functionConfig: `data.mode` is \"verfy\", which is not known; did you mean \"verify\"?"},
		{"mode: Trim", "functionConfig: `data.mode` is \"Trim\", which is not known; did you mean \"trim\"?"},
		{"gpu: \"\"", "functionConfig: `data.gpu` must not be empty; remove it or give it a value"},
		{"gpu: {name: a}", "functionConfig: `data.gpu` must be text (quote it), got a mapping"},
		{"gpuCount: two", "functionConfig: `data.gpuCount` must be a whole number from 1, got \"two\""},
		{"gpuMemory: 32 Gigs", "functionConfig: `data.gpuMemory` must be a quantity such as 32Gi or 4.6G, got \"32 Gigs\""},
		{"engine: sglan@v0.5.16", "functionConfig: `data.engine` names the unknown engine \"sglan\"; did you mean \"sglang\"?"},
		{"engine: triton", "functionConfig: `data.engine` must be sglang or vllm, with a version as in sglang@v0.5.16, got \"triton\""},
		{"engine: sglang@latest", "functionConfig: `data.engine` must end in a release such as @v0.5.16, got \"sglang@latest\""},
		{"engine: sglang@", "functionConfig: `data.engine` must end in a release such as @v0.5.16, got \"sglang@\""},
		{"keep: a,,b", "functionConfig: `data.keep` has an empty entry between its commas: \"a,,b\""},
		{"rules: inert-settin=off", "functionConfig: `data.rules`: unknown rule \"inert-settin\"; did you mean \"inert-setting\"?"},
		{"rules: inert-setting=of", "functionConfig: `data.rules.inert-setting` is \"of\", which is not known; did you mean \"off\"?"},
		{"rules: inert-setting", "functionConfig: `data.rules.inert-setting` must be one of off, info, warning, error, fix, report, got \"\""},
		{"rules: \"inert-setting=off,inert-setting=fix\"", "functionConfig: `data.rules` sets the rule \"inert-setting\" twice; remove one"},
		{"prune: daily", "functionConfig: `data.prune` must be false or a cron schedule such as \"30 4 * * *\", got \"daily\""},
		{"stamp: 1", "functionConfig: `data.stamp` must be true or false, got \"1\""},
		{"failOn: [error]", "functionConfig: `data.failOn` must be one of error, warning, never, got a list"},
	}
	for _, test := range tests {
		t.Run(test.data, func(t *testing.T) {
			_, err := decode(t, configMap(test.data))
			require.EqualError(t, err, test.want)
		})
	}
	_, err := decode(t, "apiVersion: v1\nkind: ConfigMap\nspec: {gpu: {}}\n")
	require.EqualError(t, err, "functionConfig: unknown field `spec`; `the document` takes apiVersion, binaryData, data, immutable, kind, metadata")
}
