package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// K10: what we find is seen on standard error, and only our exit code fails a
// build; then there is no output and no file.
func TestKustomizeK10ExitCodesAndStreams(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, server, config string
		code                 int
		stderr               []string
	}{
		{"fixed", deployment, functionTrim + "spec:\n" + indent(only("inert-setting"), "  "), 0, []string{"3 informational findings"}},
		{"warnings", deployment, functionVerify, 0, []string{"warning inert-setting: --pre-warm-nccl"}},
		{"error", refused, functionTrim, 1, []string{"error gpu-mismatch: --tp-size", "exit status 1"}},
		{"failOn warning", deployment, functionVerify + "spec: {failOn: warning}\n", 1, []string{"warning inert-setting", "exit status 1"}},
		{"failOn never", refused, functionTrim + "spec: {failOn: never}\n", 0, []string{"error gpu-mismatch"}},
		{"bad config", deployment, functionTrim + "spec: {failon: never}\n", 1, []string{"did you mean `failOn`?", "exit status 2"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			dir := kustomization(t, map[string]string{"server.yaml": test.server, "trim.yaml": test.config})
			got := build(t, dir, ".", "-o", "out.yaml")
			require.Equal(t, test.code, got.code, got.stderr)
			for _, text := range test.stderr {
				require.Contains(t, got.stderr, text)
			}
			require.Empty(t, got.stdout)
			require.NotContains(t, got.stderr, "results", "kustomize drops results")
			_, err := os.Stat(filepath.Join(dir, "out.yaml"))
			require.Equal(t, test.code != 0, os.IsNotExist(err))
		})
	}
}

// K11: `kustomize fn run` keeps our results in a folder that must exist.
func TestKustomizeK11FnRunResults(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	install(t, dir)
	write(t, dir, map[string]string{
		"package/server.yaml": documents(deployment, strings.Replace(functionTrim, "./trimtab", filepath.Join(dir, "trimtab"), 1))})
	args := []string{"fn", "run", "package", "--enable-exec", "--results-dir", "results"}
	require.NotEqual(t, 0, run(t, dir, "", kustomize, args...).code)
	require.NoError(t, os.Mkdir(filepath.Join(dir, "results"), 0o755))
	write(t, dir, map[string]string{
		"package/server.yaml": documents(deployment, strings.Replace(functionTrim, "./trimtab", filepath.Join(dir, "trimtab"), 1))})
	got := run(t, dir, "", kustomize, args...)
	require.Equal(t, 0, got.code, got.stderr)
	require.Contains(t, read(t, filepath.Join(dir, "results", "results-0.yaml")), "rule: inert-setting")
	requireTrimmed(t, read(t, filepath.Join(dir, "package", "server.yaml")))
}

// K12: Verify stands under transformers. Under validators kustomize fails for
// every function, one that changes nothing included.
func TestKustomizeK12Verify(t *testing.T) {
	t.Parallel()
	clean := build(t, kustomization(t, map[string]string{"trim.yaml": functionVerify}), ".")
	require.Equal(t, 0, clean.code, clean.stderr)
	require.Contains(t, clean.stderr, "--pre-warm-nccl")
	require.Contains(t, clean.stdout, "--pre-warm-nccl")

	failed := build(t, kustomization(t, map[string]string{"trim.yaml": functionVerify, "server.yaml": refused}), ".")
	require.Equal(t, 1, failed.code)
	require.Contains(t, failed.stderr, "Deployment/llm/twice: error gpu-mismatch: --tp-size")
	require.Empty(t, failed.stdout)

	for _, function := range []string{trimtab, "/bin/cat"} {
		dir := kustomization(t, map[string]string{
			"kustomization.yaml": "resources: [server.yaml]\nvalidators: [trim.yaml]\n",
			"trim.yaml":          strings.Replace(functionVerify, "./trimtab", function, 1)})
		got := build(t, dir, ".")
		require.Equal(t, 1, got.code)
		require.Contains(t, got.stderr, "validator shouldn't modify the resource map")
	}
}

// K13: the function's path is relative to the folder of the kustomization that
// lists the transformer; a bare name is searched in PATH.
func TestKustomizeK13FunctionPath(t *testing.T) {
	dir := kustomization(t, nil)
	install(t, filepath.Join(dir, "sub"))
	install(t, filepath.Join(filepath.Dir(dir), "shared"))
	t.Setenv("PATH", filepath.Dir(trimtab))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "text"), []byte("no program"), 0o644))
	tests := []struct{ path, fails string }{
		{"./trimtab", ""},
		{"../shared/trimtab", ""},
		{"sub/trimtab", ""},
		{trimtab, ""},
		{"trimtab", ""},
		{"./missing", "no such file or directory"},
		{"./text", "permission denied"},
	}
	for _, test := range tests {
		write(t, dir, map[string]string{"trim.yaml": strings.Replace(functionTrim, "./trimtab", test.path, 1)})
		got := build(t, dir, ".")
		if test.fails != "" {
			require.Equal(t, 1, got.code, test.path)
			require.Contains(t, got.stderr, test.fails)
			require.Empty(t, got.stdout)
			continue
		}
		require.Equal(t, 0, got.code, got.stderr)
		requireTrimmed(t, got.stdout)
	}
}

// K14: the outcome does not depend on where kustomize is started, nor on which
// folder of a tree lists the function.
func TestKustomizeK14WorkingDirectory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	install(t, filepath.Join(dir, "base"))
	write(t, dir, map[string]string{
		"base/kustomization.yaml":    "resources: [server.yaml]\ntransformers: [trim.yaml]\n",
		"base/server.yaml":           deployment,
		"base/trim.yaml":             functionTrim,
		"overlay/kustomization.yaml": "resources: [../base]\n",
	})
	inside := build(t, filepath.Join(dir, "base"), ".")
	require.Equal(t, 0, inside.code, inside.stderr)
	requireTrimmed(t, inside.stdout)
	for _, from := range []struct{ cwd, target string }{
		{dir, "base"}, {dir, "overlay"}, {filepath.Join(dir, "overlay"), "."}, {"/", filepath.Join(dir, "overlay")},
	} {
		require.Equal(t, inside, build(t, from.cwd, from.target), from.target)
	}
}

// K15: base and overlay may both run us; the second run finds nothing to do.
func TestKustomizeK15BaseAndOverlay(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	install(t, filepath.Join(dir, "base"))
	install(t, filepath.Join(dir, "overlay"))
	trim := functionTrim + "spec:\n" + indent(only("inert-setting"), "  ")
	files := map[string]string{
		"base/kustomization.yaml":    "resources: [server.yaml]\ntransformers: [trim.yaml]\n",
		"base/server.yaml":           deployment,
		"base/trim.yaml":             trim,
		"overlay/kustomization.yaml": "resources: [../base]\ntransformers: [trim.yaml]\n",
		"overlay/trim.yaml":          trim,
	}
	write(t, dir, files)
	once, twice := build(t, dir, "base"), build(t, dir, "overlay")
	require.Equal(t, 0, twice.code, twice.stderr)
	require.Equal(t, once.stdout, twice.stdout)
	require.Equal(t, once.stderr, twice.stderr)
}

// K16: an object with local-config is seen by us and leaves no trace in the
// output: a Model that only tells the number of GPUs may carry it.
func TestKustomizeK16LocalConfigIsSeen(t *testing.T) {
	t.Parallel()
	const model = `apiVersion: inference.llmkube.dev/v1alpha1
kind: Model
metadata:
  name: coder
  annotations: {config.kubernetes.io/local-config: "true"}
spec:
  hardware: {gpu: {enabled: true, count: 1, vendor: nvidia}}
`
	const service = `apiVersion: inference.llmkube.dev/v1alpha1
kind: InferenceService
metadata: {name: coder}
spec:
  modelRef: coder
  runtime: sglang
  image: lmsysorg/sglang:v0.5.16
  extraArgs: [--pre-warm-nccl, --log-level=info]
`
	with := build(t, kustomization(t, map[string]string{"server.yaml": documents(model, service)}), ".")
	require.Equal(t, 0, with.code, with.stderr)
	require.Equal(t, []string{"InferenceService//coder"}, identities(t, with.stdout))
	require.NotContains(t, with.stdout, "--pre-warm-nccl")

	without := build(t, kustomization(t, map[string]string{"server.yaml": service}), ".")
	require.Equal(t, 0, without.code, without.stderr)
	require.Contains(t, without.stdout, "--pre-warm-nccl")
}
