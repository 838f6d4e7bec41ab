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
func agrees(e *catalogue.Engine, r catalogue.Release, v verdict, line Line) (bool, string) {
	if v.OK != (len(line.Problems) == 0) {
		if v.OK {
			return false, "refused, but the engine takes it: " + line.Problems[0].Message
		}
		return false, "taken, but the engine says: " + v.Text
	}
	if v.OK || v.Flag == nil {
		return true, ""
	}
	want := *v.Flag
	if option, ok := e.Option(want, r); ok {
		want = option.Flag // the catalogue's name for it
	}
	if got := line.Problems[0].Flag; got != want {
		return false, "names " + got + ", the engine names " + *v.Flag + ": " + v.Text
	}
	return true, ""
}

// explained are rows that disagree, by id, with the proof from the engine's
// source that the row is wrong. There are none.
var explained = map[string]string{}

func TestVerdictsOfTheRealParsers(t *testing.T) {
	for _, name := range []string{"mutated-sglang", "real-sglang", "mutated-vllm", "real-vllm"} {
		t.Run(name, func(t *testing.T) {
			for _, v := range readVerdicts(t, name) {
				e, err := catalogue.Load(v.Engine)
				require.NoError(t, err)
				r, ok := e.Find(v.Version)
				require.True(t, ok, v.Version)
				agreed, why := agrees(e, r, v, Parse(e, r, v.Mode, wordsOf(v.Argv)))
				if !agreed && explained[v.ID] == "" {
					t.Errorf("%s %s %s %s %s\n\t%s", v.ID, v.Kind, v.Version, v.Mode, strings.Join(v.Argv, " "), why)
				}
			}
		})
	}
}
