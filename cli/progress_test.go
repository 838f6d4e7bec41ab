package cli

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestProgressIsGoneBeforeAnythingIsWritten(t *testing.T) {
	var out bytes.Buffer
	p := startProgress(&out)
	p.read()
	_, err := cleared{p, &out}.Write([]byte("finding\n"))
	require.NoError(t, err)
	require.Equal(t, "finding\n", out.String(), "a short run says nothing")
	p.stop() // twice is once
	_, open := <-p.ended
	require.False(t, open)

	nobody := startProgress(nil)
	nobody.read()
	nobody.stop()
}
