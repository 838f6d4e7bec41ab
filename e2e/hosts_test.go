package e2e

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

// document is one document of a file.
type document struct{ kind, text string }

func documentsOf(t *testing.T, text string) []document {
	t.Helper()
	var all []document
	for _, part := range strings.Split(text, "\n---\n") {
		var head struct{ Kind string }
		require.NoError(t, yaml.Unmarshal([]byte(part), &head))
		all = append(all, document{head.Kind, part})
	}
	return all
}

// The table of hazards names a test for each, and every test of one.
func TestEveryHazardNamesItsTest(t *testing.T) {
	page := read(t, filepath.Join(repository, "docs/hosts.md"))
	sources, err := filepath.Glob(filepath.Join(repository, "e2e", "*_test.go"))
	require.NoError(t, err)
	written := map[string]bool{}
	for _, source := range sources {
		for _, match := range regexp.MustCompile(`(?m)^func (Test\w+)\(`).FindAllStringSubmatch(read(t, source), -1) {
			written[match[1]] = true
		}
	}
	named := map[string]bool{}
	for _, match := range regexp.MustCompile("`(Test\\w+)`").FindAllStringSubmatch(page, -1) {
		require.True(t, written[match[1]], "docs/hosts.md names %s, which is no test", match[1])
		named[match[1]] = true
	}
	hazard := regexp.MustCompile(`^Test(Kustomize|Kpt|Flux|Container|Help)?[KPFC]\d+`)
	for test := range written {
		require.True(t, named[test] || !hazard.MatchString(test), "docs/hosts.md does not name %s", test)
	}
	for _, group := range []struct {
		letter string
		last   int
	}{{"K", 22}, {"P", 15}, {"F", 9}} {
		rows := regexp.MustCompile(`(?m)^\| `+group.letter+`\d+ `).FindAllString(page, -1)
		require.Len(t, rows, group.last, "hazards %s", group.letter)
	}
}

// blocks are the code blocks of a page in one language.
func blocks(t *testing.T, page, language string) []string {
	t.Helper()
	var found []string
	for _, match := range regexp.MustCompile("(?s)```"+language+"\n(.*?)```").FindAllStringSubmatch(page, -1) {
		found = append(found, match[1])
	}
	return found
}

// onPath puts trimtab and kustomize on PATH.
func onPath(t *testing.T) {
	t.Helper()
	bin := t.TempDir()
	require.NoError(t, os.Symlink(trimtab, filepath.Join(bin, "trimtab")))
	require.NoError(t, os.Symlink(kustomize, filepath.Join(bin, "kustomize")))
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
}

// The recipe that notices a function that kustomize skipped (K1) notices it.
func TestCheckThatTheFunctionRan(t *testing.T) {
	onPath(t)
	recipe := blocks(t, read(t, filepath.Join(repository, "docs/hosts.md")), "sh")[0]
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"overlays/prod/kustomization.yaml": "resources: [server.yaml]\ntransformers: [trim.yaml]\n",
		"overlays/prod/server.yaml":        deployment,
		"overlays/prod/trim.yaml":          functionTrim,
	})
	install(t, filepath.Join(dir, "overlays/prod"))
	ran := run(t, dir, "", "sh", "-ec", recipe)
	require.Zero(t, ran.code, ran.stderr)

	skipping := strings.Replace(recipe, " --enable-exec", "", 1)
	require.NotEqual(t, recipe, skipping)
	skipped := run(t, dir, "", "sh", "-ec", skipping)
	require.Equal(t, 1, skipped.code)
}

// The plugin for Argo CD trims what kustomize builds, and fails when the build
// does: no manifest at all would delete everything.
func TestArgoCDPlugin(t *testing.T) {
	onPath(t)
	var plugin struct {
		Spec struct {
			Generate struct{ Command []string }
		}
	}
	for _, block := range blocks(t, read(t, filepath.Join(repository, "docs/hosts.md")), "yaml") {
		if strings.Contains(block, "ConfigManagementPlugin") {
			require.NoError(t, yaml.Unmarshal([]byte(block), &plugin))
		}
	}
	command := plugin.Spec.Generate.Command
	require.NotEmpty(t, command)
	dir := t.TempDir()
	write(t, dir, map[string]string{"kustomization.yaml": "resources: [server.yaml]\n", "server.yaml": deployment})
	got := run(t, dir, "", command[0], command[1:]...)
	require.Zero(t, got.code, got.stderr)
	requireTrimmed(t, got.stdout)

	write(t, dir, map[string]string{"kustomization.yaml": "resources: [none.yaml]\n"})
	failed := run(t, dir, "", command[0], command[1:]...)
	require.NotZero(t, failed.code)
	require.Empty(t, failed.stdout)
}
