package stream

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLineStartsBothWays(t *testing.T) {
	for text, want := range map[string][]int{
		"":              {0},
		"a":             {0},
		"a\n":           {0, 2},
		"a\n\nb":        {0, 2, 3},
		"a\r\nb\n":      {0, 3, 5},
		"ä\u0085b":      {0, 4},
		"a\u2028b\nc":   {0, 4, 6},
		"\u20ac\nb\n\n": {0, 4, 6, 7},
	} {
		require.Equal(t, want, lineStarts([]byte(text), 0, len(text)), "%q", text)
		moved := "x" + text + "y\n"
		for i := range want {
			want[i]++
		}
		require.Equal(t, want, lineStarts([]byte(moved), 1, 1+len(text)), "%q inside another", text)
	}
}
