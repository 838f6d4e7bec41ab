// Package e2e drives the built binary through the real hosts: kustomize, kpt,
// standard input and files.
package e2e

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	_ "github.com/trimtab/trimtab/cli" // the go command runs these tests again when the program changes
)

// Paths of what TestMain builds, and of the repository.
var trimtab, kustomize, repository string

func TestMain(m *testing.M) { os.Exit(buildAndRun(m)) }

func buildAndRun(m *testing.M) int {
	bin, err := os.MkdirTemp("", "trimtab-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(bin)
	if repository, err = filepath.Abs(".."); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	trimtab = filepath.Join(bin, "trimtab")
	if _, err := goTool("build", "-o", trimtab, "."); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	// The go command builds the tool once and keeps the program in its cache.
	if kustomize, err = goTool("tool", "-n", "kustomize"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// goTool runs the go command in the repository and returns what it prints.
func goTool(args ...string) (string, error) {
	cmd := exec.Command("go", args...)
	cmd.Dir = repository
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, stderr.String())
	}
	return strings.TrimSpace(string(out)), nil
}

// tool returns the path of a program on PATH. Under CI a missing tool is a
// failure; elsewhere the test skips and says what to install.
func tool(t *testing.T, name, install string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err == nil {
		return path
	}
	if os.Getenv("CI") != "" {
		t.Fatalf("%s is not on PATH: %s", name, install)
	}
	t.Skipf("%s is not on PATH: %s", name, install)
	return ""
}

func kpt(t *testing.T) string {
	return tool(t, "kpt", "install it from https://kpt.dev/installation/")
}

// ran is what a program printed and how it ended.
type ran struct {
	stdout, stderr string
	code           int
}

// run starts a program in a folder with standard input.
func run(t *testing.T, dir string, stdin string, name string, args ...string) ran {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	cmd.Stdin = bytes.NewBufferString(stdin)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if _, exited := err.(*exec.ExitError); err != nil && !exited {
		require.NoError(t, err)
	}
	return ran{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}
}

// write makes files below a folder.
func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(content), 0o644))
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(data)
}
