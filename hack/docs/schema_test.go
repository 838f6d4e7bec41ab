package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

// The schema takes every config of the examples, and refuses what a config may
// not say.
func TestSchemaOfConfigs(t *testing.T) {
	compiled, err := jsonschema.NewCompiler().Compile("../../docs/config.schema.json")
	require.NoError(t, err)
	checks := func(text string) error {
		var document any
		require.NoError(t, yaml.Unmarshal([]byte(text), &document))
		return compiled.Validate(document)
	}
	found := 0
	require.NoError(t, filepath.WalkDir("../../examples", func(path string, _ os.DirEntry, err error) error {
		name := filepath.Base(path)
		if err == nil && (name == "trim.yaml" || name == "verify.yaml") {
			data, err := os.ReadFile(path)
			require.NoError(t, err)
			require.NoError(t, checks(string(data)), path)
			found++
		}
		return err
	}))
	require.Greater(t, found, 3)
	const head = "apiVersion: trimtab.dev/v1alpha1\nkind: Trim\nspec: "
	for _, good := range []string{
		"{prune: false, monitor: {}, rules: {restated-default: fix, unversioned-cache: false, clamped-setting: {severity: warning, trim: false}}}",
		"{gpu: {name: r9700, memory: 32Gi, reserve: 4.6G, computeCapability: 8.9}, failOn: never, keep: [--x], facts: [{setting: --x}]}",
		"{select: [{kind: Pod, labels: tier=prod}], model: {config: {hidden_size: 1}}, measured: {kvBytes: 5.60Gi, prefillTokensPerSecond: 262.5}}",
	} {
		require.NoError(t, checks(head+good), good)
	}
	for _, bad := range []string{
		"{gpus: {name: x}}", "{gpu: {nam: x}}", "{failOn: sometimes}", "{rules: {no-such-rule: off}}", "{rules: {dead-env: loud}}",
		"{workload: {peakRunning: many}}", "{keep: --x}", "{gpu: {memory: lots}}", "{monitor: {dashboard: both}}",
	} {
		require.Error(t, checks(head+bad), bad)
	}
}
