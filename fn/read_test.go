package fn

import (
	"bytes"
	"errors"
	"io"
	"runtime/debug"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
)

func TestReadAll(t *testing.T) {
	for _, size := range []int{0, 1, little - 1, little, little + 1, 5 * little} {
		want := bytes.Repeat([]byte("a line\n"), size/7+1)[:size]
		got, err := readAll(bytes.NewReader(want))
		require.NoError(t, err)
		require.True(t, bytes.Equal(want, got), "%d bytes", size)
		got, err = readAll(iotest.DataErrReader(iotest.HalfReader(bytes.NewReader(want))))
		require.NoError(t, err)
		require.True(t, bytes.Equal(want, got), "%d bytes with the end", size)
	}
	_, err := readAll(io.MultiReader(bytes.NewReader([]byte("a")), iotest.ErrReader(errors.New("gone"))))
	require.ErrorContains(t, err, "gone")
}

// Whoever serves in a process of its own finds the collector as it was.
func TestServeLeavesTheCollector(t *testing.T) {
	before := debug.SetGCPercent(77)
	defer debug.SetGCPercent(before)
	require.Equal(t, ExitUnable, Serve(strings.NewReader("no list"), io.Discard, io.Discard, nil))
	require.Equal(t, 77, debug.SetGCPercent(77))
}
