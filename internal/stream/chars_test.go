package stream

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// Eight bytes at once are what one by one they are.
func TestPrintable(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	var eight [8]byte
	requireSame := func() {
		t.Helper()
		all := true
		for _, b := range eight {
			all = all && byteClasses[b] == 0
		}
		require.Equal(t, all, printable(binary.LittleEndian.Uint64(eight[:])), "%q", eight)
	}
	for place := range eight {
		for b := range 256 {
			for i := range eight {
				eight[i] = 'a'
			}
			eight[place] = byte(b)
			requireSame()
		}
	}
	odd := []byte("\x00\t\n\r\x1f \x21~\x7f\x80\xff")
	for range 100_000 {
		for i := range eight {
			if eight[i] = byte(random.Uint32()); random.IntN(2) == 0 {
				eight[i] = odd[random.IntN(len(odd))]
			}
		}
		requireSame()
	}
}
