package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// pluginFlags are what kustomize needs to run an exec function.
var pluginFlags = []string{"--enable-alpha-plugins", "--enable-exec"}

// kustomization writes a folder with resources, ./trimtab and a config under
// transformers.
func kustomization(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	install(t, dir)
	all := map[string]string{
		"kustomization.yaml": "resources: [server.yaml]\ntransformers: [trim.yaml]\n",
		"server.yaml":        deployment,
		"trim.yaml":          functionTrim,
	}
	for name, content := range files {
		all[name] = content
	}
	write(t, dir, all)
	return dir
}

// build runs `kustomize build` with exec functions enabled.
func build(t *testing.T, dir, target string, more ...string) ran {
	t.Helper()
	return run(t, dir, "", kustomize, append(append([]string{"build", target}, pluginFlags...), more...)...)
}

func requireTrimmed(t *testing.T, text string) {
	t.Helper()
	require.NotContains(t, text, "--pre-warm-nccl")
	require.NotContains(t, text, "CUDA_VISIBLE_DEVICES")
	require.Contains(t, text, "--model-path=/models/chat")
	require.Contains(t, text, "HF_HOME")
}

// K1, F1: without both flags kustomize refuses, or skips the function without a
// word. That we print to standard error tells a run from a skipped one.
func TestKustomizeK1SkippedRun(t *testing.T) {
	t.Parallel()
	dir := kustomization(t, nil)
	for _, flags := range [][]string{nil, {"--enable-exec"}} {
		got := run(t, dir, "", kustomize, append([]string{"build", "."}, flags...)...)
		require.Equal(t, 1, got.code)
		require.Contains(t, got.stderr, "external plugins disabled")
	}
	skipped := run(t, dir, "", kustomize, "build", ".", "--enable-alpha-plugins")
	require.Equal(t, 0, skipped.code)
	require.Empty(t, skipped.stderr)
	require.Contains(t, skipped.stdout, "--pre-warm-nccl")

	ran := build(t, dir, ".")
	require.Equal(t, 0, ran.code, ran.stderr)
	require.NotEmpty(t, ran.stderr)
	requireTrimmed(t, ran.stdout)
}

// K2, K3, K4: a function annotation that is not complete skips the function
// silently, an unknown key fails; that an output names the function proves
// nothing.
func TestKustomizeK2FunctionAnnotation(t *testing.T) {
	t.Parallel()
	withAnnotation := func(value string) string {
		return functionHead + "kind: Trim\nmetadata:\n  name: servers\n  annotations:\n    config.kubernetes.io/function: " + value + "\n"
	}
	for _, incomplete := range []string{`"{}"`, `"exec: {}"`} {
		dir := kustomization(t, map[string]string{"trim.yaml": withAnnotation(incomplete)})
		got := build(t, dir, ".")
		require.Equal(t, 0, got.code)
		require.Empty(t, got.stderr)
		require.Contains(t, got.stdout, "--pre-warm-nccl")
	}
	unknown := build(t, kustomization(t, map[string]string{"trim.yaml": withAnnotation(`"exec: {path: ./trimtab, foo: 1}"`)}), ".")
	require.Equal(t, 1, unknown.code)
	require.Contains(t, unknown.stderr, `unknown field "foo"`)

	dir := kustomization(t, map[string]string{
		"kustomization.yaml": "resources: [server.yaml]\ntransformers: [trim.yaml]\nbuildMetadata: [transformerAnnotations]\n"})
	skipped := run(t, dir, "", kustomize, "build", ".", "--enable-alpha-plugins")
	require.Contains(t, skipped.stdout, "--pre-warm-nccl")
	require.Contains(t, skipped.stdout, "kind: Trim")
}

// K5, K6: words and variables from the host do not configure the function.
func TestKustomizeK6EnvironmentAndArguments(t *testing.T) {
	t.Parallel()
	dir := kustomization(t, nil)
	plain := build(t, dir, ".")
	for _, env := range []string{"TRIMTAB_MODE=verify", "MODE=verify", "FAIL_ON=warning", "NO_COLOR=1"} {
		got := build(t, dir, ".", "--env", env)
		require.Equal(t, plain, got, env)
	}
	withArgs := strings.Replace(functionTrim, "path: ./trimtab\n", "path: ./trimtab\n        args: [verify, \"-\"]\n", 1)
	got := build(t, kustomization(t, map[string]string{"trim.yaml": withArgs}), ".")
	require.NotEqual(t, 0, got.code)
	require.Empty(t, got.stdout)
}

// K7: a container without a container engine, and a legacy plugin, fail closed.
func TestKustomizeK7FailsClosed(t *testing.T) {
	dir := kustomization(t, map[string]string{
		"trim.yaml": strings.Replace(functionTrim, "exec:\n        path: ./trimtab", "container:\n        image: trimtab:dev", 1)})
	t.Setenv("PATH", t.TempDir())
	got := build(t, dir, ".")
	require.Equal(t, 1, got.code)
	require.Contains(t, got.stderr, `"docker": executable file not found`)
	require.Empty(t, got.stdout)

	home := t.TempDir()
	plugin := filepath.Join(home, "trimtab.dev", "v1alpha1", "trim")
	require.NoError(t, os.MkdirAll(plugin, 0o755))
	require.NoError(t, os.Symlink(trimtab, filepath.Join(plugin, "Trim")))
	t.Setenv("KUSTOMIZE_PLUGIN_HOME", home)
	legacy := build(t, kustomization(t, map[string]string{"trim.yaml": config("Trim", "failOn: error\n")}), ".")
	require.Equal(t, 1, legacy.code)
	require.Empty(t, legacy.stdout)
}

// K8: the config may be a file, a folder or inline text; local-config keeps it
// out of the output.
func TestKustomizeK8ConfigForms(t *testing.T) {
	t.Parallel()
	forms := map[string]map[string]string{
		"file": {},
		"folder": {
			"kustomization.yaml":        "resources: [server.yaml]\ntransformers: [config]\n",
			"config/kustomization.yaml": "resources: [trim.yaml]\n",
			"config/trim.yaml":          functionTrim,
		},
		"inline": {
			"kustomization.yaml": "resources: [server.yaml]\ntransformers:\n- |-\n" + indent(functionTrim, "  "),
		},
	}
	for form, files := range forms {
		t.Run(form, func(t *testing.T) {
			dir := kustomization(t, files)
			got := build(t, dir, ".")
			require.Equal(t, 0, got.code, got.stderr)
			requireTrimmed(t, got.stdout)
			require.Equal(t, []string{"Deployment/llm/chat"}, identities(t, got.stdout))
		})
	}
}

// K9: equal configs collide; a config that is itself a patched kustomization
// carries annotations of the host's; built-in transformers have run before us.
func TestKustomizeK9ConfigAndOrder(t *testing.T) {
	t.Parallel()
	twice := build(t, kustomization(t, map[string]string{
		"kustomization.yaml": "resources: [server.yaml]\ntransformers: [trim.yaml, again.yaml]\n", "again.yaml": functionTrim}), ".")
	require.Equal(t, 1, twice.code)
	require.Contains(t, twice.stderr, "already registered id")

	dir := kustomization(t, map[string]string{
		"kustomization.yaml": "namePrefix: my-\nresources: [server.yaml]\ntransformers: [config]\n" +
			"patches:\n- target: {kind: Deployment}\n  patch: |-\n    - {op: add, path: /spec/template/spec/containers/0/args/-, value: --num-continuous-decode-steps=8}\n",
		"config/trim.yaml": functionTrim,
		"config/kustomization.yaml": "resources: [trim.yaml]\nnameSuffix: -patched\n" +
			"patches:\n- target: {kind: Trim}\n  patch: |-\n    - {op: add, path: /spec, value: {keep: [--pre-warm-nccl]}}\n",
	})
	received, _ := recorderAt(t, dir)
	got := build(t, dir, ".")
	require.Equal(t, 0, got.code, got.stderr)
	require.Contains(t, received(), "--num-continuous-decode-steps=8")
	require.Contains(t, received(), "internal.config.kubernetes.io/previousNames: servers")
	require.NotContains(t, got.stdout, "--num-continuous-decode-steps")
	require.Contains(t, got.stdout, "--pre-warm-nccl")
	require.Contains(t, got.stdout, "name: my-chat")
}

// recorderAt replaces the function of a kustomization by one that records.
func recorderAt(t *testing.T, dir string) (received, returned func() string) {
	t.Helper()
	require.NoError(t, os.Remove(filepath.Join(dir, "trimtab")))
	return recorder(t, dir)
}
