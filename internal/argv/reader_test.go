package argv

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trimtab/trimtab/internal/catalogue"
)

// A shared reading is the reading that the release itself would give.
func TestReaderReadsAsParseDoes(t *testing.T) {
	for _, name := range []string{"mutated-sglang", "mutated-vllm"} {
		shared, lines := 0, 0
		for i, v := range readVerdicts(t, name) {
			if i%11 != 0 {
				continue
			}
			e, err := catalogue.Load(v.Engine)
			require.NoError(t, err)
			words := wordsOf(v.Argv)
			reader := NewReader(e, v.Mode, words, nil)
			for _, r := range e.Releases {
				require.Equal(t, Parse(e, r, v.Mode, words), reader.At(r), "%s %s", v.ID, r)
				lines++
			}
			shared += lines - len(reader.readings)
		}
		require.NotZero(t, shared)
	}
}

func TestReaderGivesSettingsToWriteTo(t *testing.T) {
	e, err := catalogue.Load("sglang")
	require.NoError(t, err)
	reader := NewReader(e, Launch, wordsOf([]string{"--model-path", "m", "--tp", "2"}), nil)
	first := reader.At(e.Newest())
	first.Settings[1].Held = "held"
	require.Empty(t, reader.At(e.Newest()).Settings[1].Held)
	require.Len(t, reader.readings, 1)
}

func BenchmarkReaderOverAllReleases(b *testing.B) {
	e, err := catalogue.Load("vllm")
	require.NoError(b, err)
	for b.Loop() {
		reader := NewReader(e, Serve, benchLine, nil)
		for _, r := range e.Releases {
			reader.At(r)
		}
	}
}

func BenchmarkParseOverAllReleases(b *testing.B) {
	e, err := catalogue.Load("vllm")
	require.NoError(b, err)
	for b.Loop() {
		for _, r := range e.Releases {
			Parse(e, r, Serve, benchLine)
		}
	}
}

// The cost of one server must not depend on how many there are.
func BenchmarkServers(b *testing.B) {
	e, err := catalogue.Load("vllm")
	require.NoError(b, err)
	for _, servers := range []int{1, 10, 100} {
		b.Run(fmt.Sprint(servers), func(b *testing.B) {
			for b.Loop() {
				for range servers {
					Parse(e, e.Newest(), Serve, benchLine)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*servers), "ns/server")
		})
	}
}
