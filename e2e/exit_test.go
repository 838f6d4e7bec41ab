package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// What a config may not say: exit code 2, one line, nothing written, on the
// command line and in a host.
func TestConfigRefused(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, config, says string }{
		{"unknown field", config("Trim", "gpus: {count: 1}\n"), "unknown field `spec.gpus`; did you mean `gpu`?"},
		{"unknown field inside", config("Trim", "engine: {nmae: sglang}\n"), "unknown field `spec.engine.nmae`; did you mean `name`?"},
		{"unknown field elsewhere", config("Trim", "peakRunning: 4\n"), "did you mean `spec.workload.peakRunning`?"},
		{"bad quantity", config("Trim", "gpu: {memory: 32GiB}\n"), "`spec.gpu.memory`"},
		{"bad count", config("Trim", "gpu: {count: two}\n"), "`spec.gpu.count`"},
		{"bad engine", config("Trim", "engine: {name: slang}\n"), "`spec.engine.name`"},
		{"bad version", config("Trim", "engine: {name: sglang, version: newest}\n"), "`spec.engine.version`"},
		{"bad failOn", config("Trim", "failOn: errors\n"), "`spec.failOn`"},
		{"unknown rule", config("Trim", "rules: {inert-settings: off}\n"), "inert-setting"},
		{"bad rule value", config("Trim", "rules: {inert-setting: maybe}\n"), "`spec.rules.inert-setting`"},
		{"field twice", config("Trim", "failOn: error\nfailOn: never\n"), "`spec.failOn` stands twice"},
		{"unknown kind", config("Prune", "failOn: error\n"), "`kind` must be Trim or Verify"},
		{"unknown version", strings.Replace(config("Trim", "failOn: error\n"), "v1alpha1", "v1", 1), "`apiVersion`"},
		{"other object", refused, "`kind` must be Trim or Verify"},
		{"ConfigMap key", "apiVersion: v1\nkind: ConfigMap\ndata: {moed: trim}\n", "did you mean `mode`?"},
		{"ConfigMap mode", "apiVersion: v1\nkind: ConfigMap\ndata: {mode: check}\n", "`data.mode`"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			write(t, dir, map[string]string{"server.yaml": deployment, "config.yaml": test.config})
			runs := []ran{
				run(t, dir, "", trimtab, "trim", "-w", "-c", "config.yaml", "server.yaml"),
				run(t, dir, "", trimtab, "verify", "-c", "config.yaml", "server.yaml"),
				run(t, dir, deployment, trimtab, "trim", "-c", "config.yaml", "-"),
				run(t, dir, list(test.config, deployment), trimtab),
			}
			for _, got := range runs {
				require.Equal(t, 2, got.code, got.stderr)
				require.Empty(t, got.stdout)
				require.Equal(t, 1, strings.Count(got.stderr, "\n"), got.stderr)
				require.Contains(t, got.stderr, test.says)
			}
			require.Equal(t, deployment, read(t, filepath.Join(dir, "server.yaml")))
		})
	}
}

// Several configs about one server merge; at odds they are refused.
func TestConfigsAtOdds(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"server.yaml": deployment,
		"one.yaml":    config("Trim", "gpu: {count: 1}\nkeep: [--pre-warm-nccl]\n"),
		"two.yaml":    config("Trim", "gpu: {count: 2}\n"),
		"other.yaml":  config("Trim", "gpu: {count: 2}\nselect: [{name: elsewhere}]\n"),
		"keep.yaml":   config("Trim", "keep: [--disable-custom-all-reduce]\n"),
	})
	odds := run(t, dir, "", trimtab, "trim", "-w", "-c", "one.yaml", "-c", "two.yaml", "server.yaml")
	require.Equal(t, 2, odds.code)
	require.Equal(t, 1, strings.Count(odds.stderr, "\n"), odds.stderr)
	for _, text := range []string{"`spec.gpu.count`", "1", "2", "one.yaml", "two.yaml"} {
		require.Contains(t, odds.stderr, text)
	}
	require.Equal(t, deployment, read(t, filepath.Join(dir, "server.yaml")))

	parted := run(t, dir, "", trimtab, "trim", "-w", "-c", "one.yaml", "-c", "other.yaml", "-c", "keep.yaml", "server.yaml")
	require.Equal(t, 0, parted.code, parted.stderr)
	after := read(t, filepath.Join(dir, "server.yaml"))
	require.Contains(t, after, "--pre-warm-nccl")
	require.Contains(t, after, "--disable-custom-all-reduce")
	require.NotContains(t, after, "CUDA_VISIBLE_DEVICES")
}

// The line between exit codes 0 and 1, in every mode.
func TestExitCodes(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, manifest, failOn string
		verify, trim, check    int
	}{
		{"warnings that are fixed", deployment, "error", 0, 0, 1},
		{"warnings count", deployment, "warning", 1, 0, 1},
		{"never", deployment, "never", 0, 0, 1},
		{"an error that stays", refused, "error", 1, 1, 1},
		{"an error that stays, never", refused, "never", 0, 0, 0},
		{"no server", bystander, "warning", 0, 0, 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			spec := "failOn: " + test.failOn + "\n"
			write(t, dir, map[string]string{"server.yaml": test.manifest, "config.yaml": config("Trim", spec)})
			code := func(args ...string) int {
				return run(t, dir, test.manifest, trimtab, append(args, "-c", "config.yaml")...).code
			}
			require.Equal(t, test.verify, code("verify", "server.yaml"))
			require.Equal(t, test.verify, code("verify", "-"))
			require.Equal(t, test.trim, code("trim", "server.yaml"))
			require.Equal(t, test.trim, code("trim", "-"))
			require.Equal(t, test.check, code("trim", "--check", "server.yaml"))
			require.Equal(t, test.check, code("trim", "--check", "-"))
			require.Equal(t, test.manifest, read(t, filepath.Join(dir, "server.yaml")), "only -w writes")
			require.Equal(t, test.verify, run(t, dir, list(config("Verify", spec), test.manifest), trimtab).code)
			require.Equal(t, test.trim, run(t, dir, list(config("Trim", spec), test.manifest), trimtab).code)
			require.Equal(t, test.trim, code("trim", "-w", "server.yaml"))
		})
	}
}

// With exit code 1 the work is done all the same: a complete list with results
// on standard output, and files with their fixes.
func TestExitOneStillWrites(t *testing.T) {
	t.Parallel()
	spec := config("Trim", only("inert-setting", "gpu-mismatch"))
	got := run(t, t.TempDir(), list(spec, bystander, refused, deployment), trimtab)
	require.Equal(t, 1, got.code)
	after := parseList(t, got.stdout)
	require.Len(t, after.Items, 3)
	require.Len(t, after.Results, 4)
	require.Equal(t, "error", after.Results[0].Severity)
	requireTrimmed(t, beforeResults(got.stdout))
	lines := strings.Split(strings.TrimSpace(got.stderr), "\n")
	require.Len(t, lines, 2)
	require.Contains(t, lines[0], "error gpu-mismatch: --tp-size")
	require.Equal(t, "3 informational findings", lines[1])

	dir := t.TempDir()
	write(t, dir, map[string]string{"a.yaml": documents(bystander, deployment), "b.yaml": refused})
	require.Equal(t, 1, run(t, dir, "", trimtab, "trim", "-w", ".").code)
	requireTrimmed(t, read(t, filepath.Join(dir, "a.yaml")))
	require.Equal(t, refused, read(t, filepath.Join(dir, "b.yaml")))
}

// --check prints the diff and writes nothing; afterwards -w makes it so.
func TestTrimCheckAndDiff(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, map[string]string{"servers/server.yaml": documents(bystander, deployment), "config.yaml": config("Trim", only("inert-setting"))})
	diff := run(t, dir, "", trimtab, "trim", "servers")
	require.Equal(t, 0, diff.code)
	require.True(t, strings.HasPrefix(diff.stdout, "--- a/servers/server.yaml\n+++ b/servers/server.yaml\n"), diff.stdout)
	check := run(t, dir, "", trimtab, "trim", "--check", "servers")
	require.Equal(t, 1, check.code)
	require.Equal(t, diff.stdout, check.stdout)
	require.Equal(t, documents(bystander, deployment), read(t, filepath.Join(dir, "servers", "server.yaml")))

	require.NoError(t, os.Chmod(filepath.Join(dir, "servers", "server.yaml"), 0o640))
	written := run(t, dir, "", trimtab, "trim", "-w", "servers")
	require.Equal(t, 0, written.code)
	require.Empty(t, written.stdout)
	info, err := os.Stat(filepath.Join(dir, "servers", "server.yaml"))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o640), info.Mode().Perm())
	again := run(t, dir, "", trimtab, "trim", "--check", "-c", "config.yaml", "servers")
	require.Equal(t, ran{}, again)
	requireOnlyRemoved(t, documents(bystander, deployment), read(t, filepath.Join(dir, "servers", "server.yaml")), 4)
}
