package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// commandBlocks are the blocks of shell commands of a page.
func commandBlocks(page string) []string {
	var blocks []string
	for i, part := range strings.Split(page, "```") {
		if body, isShell := strings.CutPrefix(part, "sh\n"); i%2 == 1 && isShell {
			blocks = append(blocks, body)
		}
	}
	return blocks
}

// Every command of every page runs, in a tree as a clone has it. What would take
// minutes and is run elsewhere is left out by name: building and testing.
func TestDocumentedCommands(t *testing.T) {
	t.Parallel()
	kpt(t)
	pages, err := filepath.Glob(filepath.Join(repository, "docs", "*.md"))
	require.NoError(t, err)
	readmes, err := filepath.Glob(filepath.Join(repository, "examples", "*", "README.md"))
	require.NoError(t, err)
	pages = append(append(pages, readmes...), filepath.Join(repository, "README.md"), filepath.Join(repository, "CONTRIBUTING.md"))
	ran := 0
	for _, page := range pages {
		blocks := commandBlocks(read(t, page))
		if len(blocks) == 0 || filepath.Base(page) == "hosts.md" { // whose recipes have tests of their own
			continue
		}
		root := t.TempDir()
		require.NoError(t, os.CopyFS(filepath.Join(root, "examples"), os.DirFS(filepath.Join(repository, "examples"))))
		install(t, filepath.Join(root, "bin"))
		for _, block := range blocks {
			for _, command := range strings.Split(strings.TrimSpace(strings.ReplaceAll(block, "\\\n", " ")), "\n") {
				command, _, _ = strings.Cut(command, "  #")
				if command == "" || strings.HasPrefix(command, "#") || strings.HasPrefix(command, "make ") || strings.HasPrefix(command, "go test ") {
					continue
				}
				cmd := exec.Command("bash", "-o", "pipefail", "-c", strings.ReplaceAll(command, "go tool kustomize", kustomize))
				cmd.Dir = root
				cmd.Env = append(os.Environ(), "PATH="+filepath.Join(root, "bin")+":"+os.Getenv("PATH"))
				out, err := cmd.CombinedOutput()
				require.NoError(t, err, "%s: %s\n%s", filepath.Base(filepath.Dir(page))+"/"+filepath.Base(page), command, out)
				ran++
			}
		}
	}
	t.Logf("%d commands ran", ran)
	require.Greater(t, ran, 25)
}
