package stream

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"strings"
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

// What the scan makes of a large source before its characters are known is what
// it makes of it afterwards.
func TestScanOfManyBytes(t *testing.T) {
	many := strings.Repeat("a: b # "+strings.Repeat("c", 90)+"\n---\n", manyBytes/100)
	for _, odd := range []string{"", "é: 1\n", "a:\t1\n", "a: |\n  \tb\n", "a: 1\r\n", "a: 1\rb: 2\n", "a: \u2028b\n", "\u0085", "a: \x00\n", "a: \xff\n", "%YAML 1.1\n", "\ufeffa: 1\n"} {
		for _, text := range []string{odd + many, many + odd, many + odd + many, "\ufeff" + many + odd} {
			data := []byte(text)
			start := 0
			if bytes.HasPrefix(data, byteOrderMark) {
				start = len(byteOrderMark)
			}
			want, wantErr := scanWith(inspect(data[start:]), data, start, false)
			got, err := scanDocuments(data, false)
			require.Equal(t, wantErr, err, "%q", odd)
			require.Equal(t, len(want), len(got), "%q", odd)
			for i := range want {
				require.Equal(t, want[i].certain, got[i].certain, "%q, %d", odd, i)
				require.Equal(t, want[i].entries, got[i].entries, "%q, %d", odd, i)
				require.Equal(t, []int{want[i].start, want[i].end, want[i].line}, []int{got[i].start, got[i].end, got[i].line}, "%q, %d", odd, i)
			}
		}
	}
}
