package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// P8: every way in which kpt hands over a config, and none.
func TestKptP8ConfigForms(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, config string
		kept         bool
	}{
		{"configPath", "configPath: trim.yaml\n", false},
		{"configPath with keep", "configPath: keep.yaml\n", true},
		{"configMap", "configMap: {engine: sglang@v0.5.16}\n", false},
		{"configMap with keep", "configMap: {keep: \"--pre-warm-nccl\"}\n", true},
		{"configMap verify", "configMap: {mode: verify}\n", true},
		{"none", "", false},
	}
	for _, test := range tests {
		t.Run("render "+test.name, func(t *testing.T) {
			t.Parallel()
			dir := kptPackage(t, map[string]string{
				"Kptfile": kptfile("mutators", trimtab, test.config), "keep.yaml": config("Trim", "keep: [--pre-warm-nccl]\n")})
			got, _ := render(t, dir)
			require.Equal(t, 0, got.code, got.stderr)
			require.Equal(t, test.kept, strings.Contains(read(t, filepath.Join(dir, "server.yaml")), "--pre-warm-nccl"))
			require.FileExists(t, filepath.Join(dir, "trim.yaml"), "the config is an item too and stays")
		})
	}
	evals := []struct {
		name string
		args []string
		kept bool
	}{
		{"none", nil, false},
		{"file", []string{"--fn-config", "keep.yaml"}, true},
		{"keys", []string{"--", "keep=--pre-warm-nccl", "gpuCount=1"}, true},
		{"verify", []string{"--", "mode=verify"}, true},
	}
	for _, test := range evals {
		t.Run("eval "+test.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			write(t, dir, map[string]string{"server.yaml": deployment, "keep.yaml": config("Trim", "keep: [--pre-warm-nccl]\n")})
			got := run(t, dir, "", kpt(t), append([]string{"fn", "eval", ".", "--exec", trimtab}, test.args...)...)
			require.Equal(t, 0, got.code, got.stderr)
			require.Equal(t, test.kept, strings.Contains(read(t, filepath.Join(dir, "server.yaml")), "--pre-warm-nccl"))
			require.FileExists(t, filepath.Join(dir, "keep.yaml"))
		})
	}
}

// P8: of the configs among the items only the one that the host hands over
// counts, and a bad one fails before anything is written.
func TestKptP8OtherConfigs(t *testing.T) {
	t.Parallel()
	dir := kptPackage(t, map[string]string{"other.yaml": config("Trim", "keep: [--pre-warm-nccl]\n")})
	got, _ := render(t, dir)
	require.Equal(t, 0, got.code, got.stderr)
	requireTrimmed(t, read(t, filepath.Join(dir, "server.yaml")))

	bad := kptPackage(t, map[string]string{"trim.yaml": config("Trim", "gpu: {cuont: 1}\n")})
	before := files(t, bad)
	got, results := render(t, bad)
	require.Equal(t, 1, got.code)
	require.Contains(t, got.stderr, "did you mean `count`?")
	require.Equal(t, 2, results.Items[0].ExitCode)
	require.Equal(t, before, files(t, bad))
}

// P10: Verify as validator; a Model that selectors hide is no error.
func TestKptP10ValidatorsAndSelectors(t *testing.T) {
	t.Parallel()
	validator := kptfile("validators", trimtab, "configPath: trim.yaml\n")
	verify := config("Verify", "failOn: error\n")
	dir := kptPackage(t, map[string]string{"Kptfile": validator, "trim.yaml": verify})
	got, _ := render(t, dir)
	require.Equal(t, 0, got.code, got.stderr)
	require.Contains(t, got.stderr, "inert-setting")
	require.Contains(t, read(t, filepath.Join(dir, "server.yaml")), "--pre-warm-nccl")

	failing := kptPackage(t, map[string]string{"Kptfile": validator, "trim.yaml": verify, "server.yaml": refused})
	before := files(t, failing)
	got, _ = render(t, failing)
	require.Equal(t, 1, got.code)
	require.Contains(t, got.stderr, "gpu-mismatch")
	require.Equal(t, before, files(t, failing))

	const service = `apiVersion: inference.llmkube.dev/v1alpha1
kind: InferenceService
metadata: {name: coder}
spec:
  modelRef: coder
  runtime: sglang
  image: lmsysorg/sglang:v0.5.16
  extraArgs:
    - --pre-warm-nccl
`
	const model = "apiVersion: inference.llmkube.dev/v1alpha1\nkind: Model\nmetadata: {name: coder}\nspec:\n  hardware: {gpu: {count: 1, vendor: nvidia}}\n"
	for selectors, kept := range map[string]bool{"": false, "selectors: [{kind: InferenceService}]\n": true} {
		hidden := kptPackage(t, map[string]string{
			"Kptfile":     kptfile("mutators", trimtab, "configPath: trim.yaml\n"+selectors),
			"server.yaml": service, "model.yaml": model})
		got, _ := render(t, hidden)
		require.Equal(t, 0, got.code, got.stderr)
		require.Equal(t, kept, strings.Contains(read(t, filepath.Join(hidden, "server.yaml")), "--pre-warm-nccl"), selectors)
		require.FileExists(t, filepath.Join(hidden, "model.yaml"))
	}
}

// P11, P12: kpt encodes every file anew, with and without an edit; between the
// two lie only the lines that go, and each comment stays where it was, once.
func TestKptP11OnlyOurLines(t *testing.T) {
	t.Parallel()
	commented := strings.NewReplacer(
		"          args:\n", "          # All of it was measured in May.\n          args:\n",
		"            - --tp-size\n", "            # one card, one rank\n            - --tp-size\n",
		"            - name: HF_HOME\n", "            # the claim\n            - name: HF_HOME  # survives\n",
	).Replace(deployment)
	echo := kptPackage(t, map[string]string{"server.yaml": documents(bystander, commented), "Kptfile": kptfile("mutators", "/bin/cat", "configPath: trim.yaml\n")})
	ours := kptPackage(t, map[string]string{"server.yaml": documents(bystander, commented)})
	got, _ := render(t, echo)
	require.Equal(t, 0, got.code, got.stderr)
	got, _ = render(t, ours)
	require.Equal(t, 0, got.code, got.stderr)
	before, after := files(t, echo), files(t, ours)
	requireOnlyRemoved(t, before["server.yaml"], after["server.yaml"], 4)
	for _, comment := range []string{"# All of it was measured in May.", "# one card, one rank\n", "# the claim\n", "# survives\n"} {
		require.Equal(t, 1, strings.Count(after["server.yaml"], comment), comment)
	}
}

// P13, K19: the annotations by which kpt finds its files again all come back.
func TestKptP13Annotations(t *testing.T) {
	t.Parallel()
	dir := kptPackage(t, map[string]string{"server.yaml": documents(bystander, deployment, refused), "trim.yaml": config("Trim", "failOn: never\n")})
	received, returned := recorder(t, filepath.Dir(dir))
	write(t, dir, map[string]string{"Kptfile": kptfile("mutators", filepath.Join(filepath.Dir(dir), "trimtab"), "configPath: trim.yaml\n")})
	got, _ := render(t, dir)
	require.Equal(t, 0, got.code, got.stderr)
	before := objects(t, received())
	require.Equal(t, before, objects(t, returned()))
	require.Contains(t, before[0].Metadata.Annotations, "internal.config.kubernetes.io/path")
	requireOnlyRemoved(t, itemsOf(t, received()), itemsOf(t, returned()), 4)
}

// P14: a second render changes nothing.
func TestKptP14TwiceIsOnce(t *testing.T) {
	t.Parallel()
	dir := kptPackage(t, map[string]string{"b/server.yaml": documents(bystander, refused), "trim.yaml": config("Trim", "failOn: never\n")})
	first, _ := render(t, dir)
	require.Equal(t, 0, first.code, first.stderr)
	once := files(t, dir)
	requireTrimmed(t, once["server.yaml"])
	second, results := render(t, dir)
	require.Equal(t, 0, second.code, second.stderr)
	require.Equal(t, once, files(t, dir))
	require.Empty(t, ofRule(results.Items[0].Results, "inert-setting"), "what was fixed is gone")
	require.Len(t, ofRule(results.Items[0].Results, "gpu-mismatch"), 1, "what nobody fixed stays")
}

// P15: a function that says nothing loses all files with exit code 0; ours
// answers every call with a complete list, or fails and leaves the files.
func TestKptP15FilesSurvive(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, map[string]string{"server.yaml": documents(bystander, refused)})
	before := files(t, dir)
	got := run(t, dir, "", kpt(t), "fn", "eval", ".", "--exec", trimtab)
	require.Equal(t, 1, got.code)
	require.Equal(t, before, files(t, dir))
	got = run(t, dir, "", kpt(t), "fn", "eval", ".", "--exec", trimtab, "--", "gpuCount=many")
	require.Equal(t, 1, got.code)
	require.Equal(t, before, files(t, dir))

	empty := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(empty, "note.txt"), []byte("no manifest"), 0o644))
	require.Equal(t, 0, run(t, empty, "", kpt(t), "fn", "eval", ".", "--exec", trimtab).code)
}
