package e2e

import (
	"bytes"
	"fmt"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	largeList = 50 << 20 // bytes
	// largeMemory bounds the resident memory of a run on largeList.
	largeMemory = 12 * largeList
)

// A list of 50 MB with one server at its end: it is done in bounded memory, and
// every other byte comes back.
func TestInputLargeList(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	text := strings.Repeat("      a line of a text that goes on for a while, as texts do\n", 30)
	for i := 0; b.Len() < largeList; i++ {
		fmt.Fprintf(&b, "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: settings-%d\ndata:\n  text: |\n%s---\n", i, text)
	}
	filler := b.String()
	trimmedServer := deployment
	for _, lines := range []string{"            - --pre-warm-nccl\n", "            - --disable-custom-all-reduce\n",
		"            - name: CUDA_VISIBLE_DEVICES\n              value: \"0\"\n"} {
		trimmedServer = strings.Replace(trimmedServer, lines, "", 1)
	}
	before, after := filler+deployment, filler+trimmedServer

	stdout := largeRun(t, before, "trim", "-")
	require.True(t, after == stdout, "the filter's output differs")

	asItems := func(documents string) string {
		return list("", strings.Split(documents, "---\n")...)
	}
	stdout = largeRun(t, asItems(before))
	items, results, found := strings.Cut(stdout, "\nresults:\n")
	require.True(t, found)
	require.True(t, asItems(after) == items+"\n", "the function's output differs")
	require.Equal(t, 3, strings.Count(results, "fixed: \"true\""))
}

// largeRun runs trimtab and asserts that it kept to its memory.
func largeRun(t *testing.T, stdin string, args ...string) string {
	t.Helper()
	cmd := exec.Command(trimtab, args...)
	cmd.Stdin = strings.NewReader(stdin)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	require.NoError(t, cmd.Run(), stderr.String())
	usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	require.True(t, ok)
	t.Logf("%d MiB resident for %d MiB of input", usage.Maxrss>>10, len(stdin)>>20)
	require.Less(t, usage.Maxrss<<10, int64(largeMemory))
	return stdout.String()
}
