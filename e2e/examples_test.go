package e2e

import (
	"flag"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aymanbagabas/go-udiff"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

// update rewrites what the examples are compared with:
// go test ./e2e -run Examples -update
var update = flag.Bool("update", false, "write the .expected files of the examples")

// Every example does through files, kustomize and kpt what its .expected folder
// says, and a second time nothing.
func TestExamples(t *testing.T) {
	t.Parallel()
	folders, err := os.ReadDir(filepath.Join(repository, "examples"))
	require.NoError(t, err)
	require.NotEmpty(t, folders)
	for _, folder := range folders {
		if !folder.IsDir() {
			continue
		}
		example := filepath.Join("examples", folder.Name())
		if _, err := os.Stat(filepath.Join(repository, example, "overlays")); err == nil {
			t.Run(folder.Name()+"/overlays", func(t *testing.T) {
				t.Parallel()
				exampleOverlays(t, example)
			})
			continue
		}
		t.Run(folder.Name()+"/files", func(t *testing.T) {
			t.Parallel()
			exampleAsFiles(t, example)
		})
		t.Run(folder.Name()+"/kustomize", func(t *testing.T) {
			t.Parallel()
			exampleThroughKustomize(t, example)
		})
		t.Run(folder.Name()+"/kpt", func(t *testing.T) {
			t.Parallel()
			exampleThroughKpt(t, example)
		})
	}
}

// checkout is a tree with one example, and the program where a built repository
// has it.
func checkout(t *testing.T, example string) (root, dir string) {
	t.Helper()
	root = t.TempDir()
	dir = filepath.Join(root, example)
	require.NoError(t, os.CopyFS(dir, os.DirFS(filepath.Join(repository, example))))
	require.NoError(t, os.RemoveAll(filepath.Join(dir, ".expected")))
	install(t, filepath.Join(root, "bin"))
	return root, dir
}

// requireExpected compares a text with a file of the example's .expected folder.
func requireExpected(t *testing.T, example, name, got string) {
	t.Helper()
	path := filepath.Join(repository, example, ".expected", name)
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
		return
	}
	require.Equal(t, read(t, path), got, "differs from %s", name)
}

// expectedExit is the exit code that the example's config.yaml names.
func expectedExit(t *testing.T, example string) int {
	t.Helper()
	var expected struct {
		ExitCode int `yaml:"exitCode"`
	}
	require.NoError(t, yaml.Unmarshal([]byte(read(t, filepath.Join(repository, example, ".expected", "config.yaml"))), &expected))
	return expected.ExitCode
}

func exampleAsFiles(t *testing.T, example string) {
	root, dir := checkout(t, example)
	exit := expectedExit(t, example)
	diff := run(t, root, "", "bin/trimtab", "trim", example)
	require.Equal(t, exit, diff.code, diff.stderr)
	requireExpected(t, example, "files.patch", diff.stdout)

	before := files(t, dir)
	require.Equal(t, exit, run(t, root, "", "bin/trimtab", "trim", "-w", example).code)
	once := files(t, dir)
	require.NotEqual(t, before, once)
	require.Equal(t, exit, run(t, root, "", "bin/trimtab", "trim", "-w", example).code)
	require.Equal(t, once, files(t, dir))

	patch := tool(t, "git", "the patch is applied with git apply")
	write(t, root, map[string]string{"files.patch": diff.stdout})
	patched, patchedDir := checkout(t, example)
	applied := run(t, patched, "", patch, "apply", filepath.Join(root, "files.patch"))
	require.Equal(t, 0, applied.code, applied.stderr)
	require.Equal(t, once, files(t, patchedDir), "the printed diff is what -w writes")
}

func exampleThroughKustomize(t *testing.T, example string) {
	root, dir := checkout(t, example)
	exit := expectedExit(t, example)
	built := build(t, root, example)
	require.Equal(t, exit, built.code, built.stderr)
	requireExpected(t, example, "kustomize.yaml", built.stdout)
	require.Equal(t, built, build(t, dir, "."), "from any folder")

	trimmed := run(t, dir, built.stdout, trimtab, "trim", "-c", "trim.yaml", "-")
	require.Equal(t, exit, trimmed.code, trimmed.stderr)
	require.Equal(t, built.stdout, trimmed.stdout, "its own output has nothing left to trim")
}

// exampleOverlays builds every overlay of an example. The first one is where the
// manifests come from; what the others change stands in the README.
func exampleOverlays(t *testing.T, example string) {
	root, dir := checkout(t, example)
	overlays, err := os.ReadDir(filepath.Join(dir, "overlays"))
	require.NoError(t, err)
	var first string
	for _, overlay := range overlays {
		built := build(t, root, filepath.Join(example, "overlays", overlay.Name()))
		require.Equal(t, 0, built.code, built.stderr)
		requireExpected(t, example, overlay.Name()+".yaml", built.stdout)
		if first == "" {
			first = built.stdout
			continue
		}
		changes := udiff.Unified(overlays[0].Name()+".yaml", overlay.Name()+".yaml", first, built.stdout)
		requireExpected(t, example, overlay.Name()+".patch", changes)
		require.Contains(t, read(t, filepath.Join(repository, example, "README.md")), changes)
	}
}

func exampleThroughKpt(t *testing.T, example string) {
	git := tool(t, "git", "the changes are compared as kpt's own test runner does, with git diff")
	t.Log("with", kpt(t))
	root, dir := checkout(t, example)
	exit := expectedExit(t, example)
	for _, args := range [][]string{{"init", "--quiet"}, {"add", "--all"}} {
		done := run(t, dir, "", git, args...)
		require.Equal(t, 0, done.code, done.stderr)
	}
	diff := func() string {
		got := run(t, dir, "", git, "-c", "core.abbrev=7", "diff", "--no-color", "--no-ext-diff")
		require.Equal(t, 0, got.code, got.stderr)
		return got.stdout
	}
	rendered := run(t, root, "", kpt(t), "fn", "render", "--allow-exec", "--results-dir", "results", example)
	require.Equal(t, exit, rendered.code, rendered.stderr)
	requireExpected(t, example, "results.yaml", read(t, filepath.Join(root, "results", "results.yaml")))
	once := diff()
	requireExpected(t, example, "diff.patch", once)

	// kpt formats a file anew each time, so a second render is measured against
	// what it makes of a function that changes nothing.
	require.NoError(t, os.CopyFS(filepath.Join(root, "echo", example), os.DirFS(dir)))
	require.NoError(t, os.MkdirAll(filepath.Join(root, "echo", "bin"), 0o755))
	require.NoError(t, os.Symlink("/bin/cat", filepath.Join(root, "echo", "bin", "trimtab")))
	echo := run(t, filepath.Join(root, "echo"), "", kpt(t), "fn", "render", "--allow-exec", example)
	require.Equal(t, 0, echo.code, echo.stderr)
	again := run(t, root, "", kpt(t), "fn", "render", "--allow-exec", example)
	require.Equal(t, exit, again.code, again.stderr)
	require.Equal(t, manifests(t, filepath.Join(root, "echo", example)), manifests(t, dir))

	ignored := strings.Fields(read(t, filepath.Join(dir, ".krmignore")))
	require.Contains(t, ignored, ".expected", "kpt would take the expected files for objects")
}

// manifests reads the files of a folder, without those of git.
func manifests(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := files(t, dir)
	maps.DeleteFunc(all, func(name, _ string) bool { return strings.HasPrefix(name, ".git"+string(filepath.Separator)) })
	return all
}
