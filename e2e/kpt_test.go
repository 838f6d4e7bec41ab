package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

// kptfile is a Kptfile with one function in one of its pipelines.
func kptfile(pipeline, function, config string) string {
	return "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata: {name: package, annotations: {config.kubernetes.io/local-config: \"true\"}}\n" +
		"pipeline:\n  " + pipeline + ":\n    - exec: " + function + "\n" + indent(config, "      ")
}

// kptPackage writes a package with a server and a Trim.
func kptPackage(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "package")
	all := map[string]string{
		"Kptfile":     kptfile("mutators", trimtab, "configPath: trim.yaml\n"),
		"server.yaml": deployment,
		"trim.yaml":   config("Trim", "engine: {name: sglang, version: v0.5.16}\n"),
	}
	for name, content := range files {
		all[name] = content
	}
	write(t, dir, all)
	return dir
}

// render runs `kpt fn render` and returns the results file as well.
func render(t *testing.T, dir string, more ...string) (ran, functionResults) {
	t.Helper()
	results := filepath.Join(t.TempDir(), "results")
	got := run(t, filepath.Dir(dir), "", kpt(t), append([]string{"fn", "render", dir, "--allow-exec", "--truncate-output=false", "--results-dir", results}, more...)...)
	return got, parseResults(t, read(t, filepath.Join(results, "results.yaml")))
}

// functionResults is what kpt keeps of a run.
type functionResults struct {
	APIVersion string `yaml:"apiVersion"`
	Kind       string
	ExitCode   int `yaml:"exitCode"`
	Items      []struct {
		Exec, Stderr string
		ExitCode     int `yaml:"exitCode"`
		Results      []result
	}
}

func parseResults(t *testing.T, text string) functionResults {
	t.Helper()
	var parsed functionResults
	require.NoError(t, yaml.Unmarshal([]byte(text), &parsed), text)
	return parsed
}

// files reads all files of a folder.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		all[name] = read(t, path)
		return err
	}))
	return all
}

// P1: without --allow-exec nothing runs and nothing is written.
func TestKptP1AllowExec(t *testing.T) {
	t.Parallel()
	dir := kptPackage(t, nil)
	before := files(t, dir)
	got := run(t, dir, "", kpt(t), "fn", "render", ".")
	require.Equal(t, 1, got.code)
	require.Contains(t, got.stderr, "must run with `--allow-exec`")
	require.Equal(t, before, files(t, dir))
}

// P2: the function is found from kpt's own folder or PATH, not the package's;
// the outcome does not depend on it.
func TestKptP2FunctionPath(t *testing.T) {
	t.Setenv("PATH", filepath.Dir(trimtab)+string(filepath.ListSeparator)+os.Getenv("PATH"))
	var outcomes []map[string]string
	for _, function := range []string{"trimtab", "bin/trimtab"} {
		dir := kptPackage(t, map[string]string{"Kptfile": kptfile("mutators", function, "configPath: trim.yaml\n")})
		install(t, filepath.Join(filepath.Dir(dir), "bin"))
		got, _ := render(t, dir)
		require.Equal(t, 0, got.code, got.stderr)
		after := files(t, dir)
		requireTrimmed(t, after["server.yaml"])
		delete(after, "Kptfile")
		outcomes = append(outcomes, after)
	}
	require.Equal(t, outcomes[0], outcomes[1])
	relative := kptPackage(t, map[string]string{"Kptfile": kptfile("mutators", "./trimtab", "configPath: trim.yaml\n")})
	install(t, relative)
	got, _ := render(t, relative)
	require.Equal(t, 1, got.code, "kpt does not look into the package")
	require.Contains(t, read(t, filepath.Join(relative, "server.yaml")), "--pre-warm-nccl")
}

// P3: source | trimtab | sink, the way without kpt's runtime: only our edits
// reach the files, and comments count.
func TestKptP3SourceSink(t *testing.T) {
	t.Parallel()
	commented := strings.Replace(deployment, "            - --disable-custom-all-reduce\n",
		"            # trimtab:keep\n            - --disable-custom-all-reduce\n", 1)
	dir := kptPackage(t, map[string]string{"server.yaml": commented})
	source := run(t, dir, "", kpt(t), "fn", "source", ".", "--fn-config", "trim.yaml")
	require.Equal(t, 0, source.code, source.stderr)
	trimmed := run(t, dir, source.stdout, trimtab)
	require.Equal(t, 0, trimmed.code, trimmed.stderr)
	sink := run(t, dir, trimmed.stdout, kpt(t), "fn", "sink", "new")
	require.Equal(t, 0, sink.code, sink.stderr)

	echo := run(t, dir, source.stdout, kpt(t), "fn", "sink", "echo")
	require.Equal(t, 0, echo.code, echo.stderr)
	before, after := files(t, filepath.Join(dir, "echo")), files(t, filepath.Join(dir, "new"))
	requireOnlyRemoved(t, before["server.yaml"], after["server.yaml"], 3)
	require.Contains(t, after["server.yaml"], "# trimtab:keep\n            - --disable-custom-all-reduce\n")
	delete(before, "server.yaml")
	delete(after, "server.yaml")
	require.Equal(t, before, after)
}

// P4: kustomize's documents go through `kpt fn eval -`.
func TestKptP4BareDocuments(t *testing.T) {
	t.Parallel()
	dir := kustomization(t, map[string]string{"kustomization.yaml": "resources: [server.yaml]\n", "server.yaml": documents(bystander, deployment)})
	built := run(t, dir, "", kustomize, "build", ".")
	got := run(t, dir, built.stdout, kpt(t), "fn", "eval", "-", "--exec", trimtab, "-o", "unwrap")
	require.Equal(t, 0, got.code, got.stderr)
	requireTrimmed(t, got.stdout)
	require.Equal(t, identities(t, built.stdout), identities(t, got.stdout))
	require.NotContains(t, got.stdout, "config.kubernetes.io/index")
}

// P5: what is no KRM object stops kpt unless .krmignore hides it; a
// Kustomization without apiVersion is one of our items.
func TestKptP5ForeignFiles(t *testing.T) {
	t.Parallel()
	dir := kptPackage(t, map[string]string{"values.yaml": "image: {tag: v1}\n", "kustomization.yaml": "kind: Kustomization\nresources: [server.yaml]\n"})
	got := run(t, dir, "", kpt(t), "fn", "render", ".", "--allow-exec")
	require.Equal(t, 1, got.code)
	require.Contains(t, got.stderr, "values.yaml")
	write(t, dir, map[string]string{".krmignore": "values.yaml\n"})
	got, _ = render(t, dir)
	require.Equal(t, 0, got.code, got.stderr)
	requireTrimmed(t, read(t, filepath.Join(dir, "server.yaml")))
	require.Contains(t, read(t, filepath.Join(dir, "kustomization.yaml")), "kind: Kustomization")
}

// P6, P9: only the exit code fails kpt; results carry a severity each, the
// worst first, and the fields that kpt stores.
func TestKptP6Results(t *testing.T) {
	t.Parallel()
	verify := config("Verify", "engine: {name: sglang, version: v0.5.16}\n")
	passed, results := render(t, kptPackage(t, map[string]string{"trim.yaml": verify}))
	require.Equal(t, 0, passed.code)
	require.Contains(t, passed.stderr, "[PASS]")
	require.Contains(t, passed.stderr, "[warning]")
	require.Equal(t, 0, results.ExitCode)

	dir := kptPackage(t, map[string]string{"a/server.yaml": documents(bystander, deployment), "server.yaml": refused, "trim.yaml": verify})
	before := files(t, dir)
	failed, results := render(t, dir)
	require.Equal(t, 1, failed.code)
	require.Contains(t, failed.stderr, "[FAIL]")
	require.Contains(t, failed.stderr, "--tp-size")
	require.Equal(t, before, files(t, dir), "P10: on failure no file is written")

	require.Equal(t, "FunctionResultList", results.Kind)
	require.Equal(t, "kpt.dev/v1", results.APIVersion)
	require.Equal(t, 1, results.Items[0].ExitCode)
	found := results.Items[0].Results
	order := []string{"error", "warning", "info"}
	require.True(t, slices.IsSortedFunc(found, func(a, b result) int {
		return slices.Index(order, a.Severity) - slices.Index(order, b.Severity)
	}), "the worst comes first")
	require.Equal(t, "gpu-mismatch", found[0].Tags["rule"])
	for _, r := range found {
		require.Contains(t, order, r.Severity)
		require.NotContains(t, r.Message, "\n")
		require.NotEmpty(t, r.Tags["evidence"])
	}
	require.Equal(t, trimmed, settingsOf(ofRule(found, "inert-setting")))
	inert := ofRule(found, "inert-setting")[0]
	require.Equal(t, "warning", inert.Severity)
	require.Equal(t, "Deployment", inert.ResourceRef.Kind)
	require.Equal(t, "chat", inert.ResourceRef.Name)
	require.Equal(t, "llm", inert.ResourceRef.Namespace)
	require.Equal(t, "apps/v1", inert.ResourceRef.APIVersion)
	require.Equal(t, "a/server.yaml", inert.File.Path)
	require.Equal(t, 1, inert.File.Index)
	require.Equal(t, "spec.template.spec.containers[0].args[4]", inert.Field.Path)
	require.Equal(t, "inert-setting", inert.Tags["rule"])
	require.NotEmpty(t, inert.Tags["undo"])
}

// P7: kpt stores standard error, so it must say the same every time.
func TestKptP7SameEveryTime(t *testing.T) {
	t.Parallel()
	verify := config("Verify", "failOn: error\n")
	_, first := render(t, kptPackage(t, map[string]string{"trim.yaml": verify}))
	_, second := render(t, kptPackage(t, map[string]string{"trim.yaml": verify}))
	require.NotEmpty(t, first.Items[0].Stderr)
	require.Equal(t, first, second)
}
