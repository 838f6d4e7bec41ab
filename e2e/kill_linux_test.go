package e2e

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// trimmedFiles is how many files a killed run was to replace.
const trimmedFiles = 40

// A run that is killed while it writes leaves every file whole, as it was or as
// it was to be; the next run ends the work.
func TestFilesWholeWhenKilled(t *testing.T) {
	t.Parallel()
	files := map[string]string{}
	for i := range trimmedFiles {
		files[fmt.Sprintf("server-%02d.yaml", i)] = deployment
	}
	done := t.TempDir()
	write(t, done, files)
	require.Equal(t, 0, run(t, done, "", trimtab, "trim", "-w", ".").code)
	after := read(t, filepath.Join(done, "server-00.yaml"))
	require.NotEqual(t, deployment, after)

	var killed, mixed int
	for _, reached := range []string{".server-00.yaml.trimtab-*", ".server-20.yaml.trimtab-*", "server-00.yaml", "server-10.yaml", "server-30.yaml"} {
		dir := t.TempDir()
		write(t, dir, files)
		cmd := exec.Command(trimtab, "trim", "-w", ".")
		cmd.Dir = dir
		require.NoError(t, cmd.Start())
		ended := make(chan struct{})
		go func() { _ = cmd.Wait(); close(ended) }()
		for running := true; running && !hasCome(t, dir, reached); {
			select {
			case <-ended:
				running = false
			default:
			}
		}
		_ = cmd.Process.Signal(syscall.SIGKILL)
		<-ended
		old := 0
		for name := range files {
			text := read(t, filepath.Join(dir, name))
			require.True(t, text == deployment || text == after, "%s is neither old nor new:\n%s", name, text)
			if text == deployment {
				old++
			}
		}
		if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
			killed++
		}
		if old > 0 && old < trimmedFiles {
			mixed++
		}
		require.Equal(t, 0, run(t, dir, "", trimtab, "trim", "-w", ".").code)
		for name := range files {
			require.Equal(t, after, read(t, filepath.Join(dir, name)), name)
		}
	}
	t.Logf("%d of 5 runs died before they ended, %d with some files replaced", killed, mixed)
	require.NotZero(t, killed, "no run was killed before it ended")
}

// hasCome tells whether a new file of that name lies in a folder, or the file has
// been replaced.
func hasCome(t *testing.T, dir, name string) bool {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, name))
	require.NoError(t, err)
	if len(found) == 0 {
		return false
	}
	if name[0] == '.' {
		return true
	}
	text := read(t, found[0])
	return text != deployment
}
