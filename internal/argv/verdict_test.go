package argv

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trimtab/trimtab/internal/catalogue"
	"github.com/trimtab/trimtab/internal/setting"
)

// verdict is what the real parser of a release said to a command line.
type verdict struct {
	ID      string   `json:"id"`
	Engine  string   `json:"engine"`
	Version string   `json:"version"`
	Mode    Mode     `json:"mode"`
	Argv    []string `json:"argv"`
	OK      bool     `json:"ok"`
	Error   string   `json:"error"`
	Flag    *string  `json:"flag"`
	Text    string   `json:"text"`
	Kind    string   `json:"kind"`
}

const measured = "../../../shared/catalog/verdicts"

// readVerdicts reads a file of verdicts from beside the checkout or, packed,
// from testdata.
func readVerdicts(t *testing.T, name string) []verdict {
	t.Helper()
	var reader io.Reader
	file, err := os.Open(filepath.Join(measured, name+".jsonl"))
	reader = file
	if err != nil {
		file, err = os.Open(filepath.Join("testdata", "verdicts", name+".jsonl.gz"))
		if err != nil {
			t.Skip("the verdicts are not beside this checkout")
		}
		reader, err = gzip.NewReader(file)
		require.NoError(t, err)
	}
	defer file.Close()
	var all []verdict
	scanner := bufio.NewScanner(reader)
	scanner.Buffer(nil, 1<<20)
	for scanner.Scan() {
		var v verdict
		require.NoError(t, json.Unmarshal(scanner.Bytes(), &v))
		all = append(all, v)
	}
	require.NoError(t, scanner.Err())
	require.NotEmpty(t, all)
	return all
}

func wordsOf(texts []string) []setting.Word {
	words := make([]setting.Word, len(texts))
	for i, text := range texts {
		words[i] = setting.Word{Text: text, Origin: setting.Origin{Kind: setting.Argument, Path: setting.Path{"args", i}}}
	}
	return words
}

// agrees reports whether a line is judged as the engine judged it, and how it
// is not.
func agrees(v verdict, line Line) (bool, string) {
	if v.OK != (len(line.Problems) == 0) {
		if v.OK {
			return false, "refused, but the engine takes it: " + line.Problems[0].Message
		}
		return false, "taken, but the engine says: " + v.Text
	}
	if v.OK || v.Flag == nil {
		return true, ""
	}
	if got := line.Problems[0].Flag; got != *v.Flag {
		return false, "names " + got + ", the engine names " + *v.Flag + ": " + v.Text
	}
	return true, ""
}

// The floors are what is reached; a change may not lower them.
func TestVerdictsOfTheRealParsers(t *testing.T) {
	for name, floor := range map[string]int{"mutated-sglang": 1022, "real-sglang": 74, "mutated-vllm": 1511, "real-vllm": 393} {
		t.Run(name, func(t *testing.T) {
			verdicts := readVerdicts(t, name)
			same := 0
			for _, v := range verdicts {
				e, err := catalogue.Load(v.Engine)
				require.NoError(t, err)
				r, ok := e.Find(v.Version)
				require.True(t, ok, v.Version)
				agreed, why := agrees(v, Parse(e, r, v.Mode, wordsOf(v.Argv)))
				if agreed {
					same++
				} else if testing.Verbose() {
					t.Logf("%s %s %s %s %s\n\t%s", v.ID, v.Kind, v.Version, v.Mode, strings.Join(v.Argv, " "), why)
				}
			}
			t.Logf("%s: %d of %d verdicts agree", name, same, len(verdicts))
			require.GreaterOrEqual(t, same, floor)
		})
	}
}
