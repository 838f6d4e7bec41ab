package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

const root = "../.."

func readLines(t *testing.T, path string) [][]byte {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return bytes.Split(bytes.TrimSpace(text), []byte("\n"))
}

// The embedded files must be what Pack makes of the measured catalogue, and
// must hold all of it.
func TestEmbeddedFilesHoldTheWholeCatalogue(t *testing.T) {
	measured := filepath.Join(root, "..", "shared", "catalog")
	if _, err := os.Stat(measured); err != nil {
		t.Skip("the measured catalogue is not beside this checkout")
	}
	for _, engine := range packedEngines {
		for _, file := range packedFiles {
			t.Run(engine+" "+file, func(t *testing.T) {
				source := readLines(t, filepath.Join(measured, engine+"."+file+".jsonl"))
				embedded := readLines(t, filepath.Join(root, "engines", engine, file+".jsonl"))
				if !bytes.Equal(releasesOf(t, source[0]), releasesOf(t, embedded[0])) {
					t.Skip("releases were merged since that were not measured there")
				}
				packed, err := Pack(file, source)
				require.NoError(t, err)
				require.Equal(t, len(packed), len(embedded))
				full, err := Expand(embedded)
				require.NoError(t, err)
				require.Equal(t, len(source), len(full))
				for i := range full {
					require.Equal(t, string(packed[i]), string(embedded[i]), "run the generator again")
					require.JSONEq(t, string(source[i]), string(full[i]))
				}
			})
		}
	}
}

func releasesOf(t *testing.T, header []byte) json.RawMessage {
	t.Helper()
	var decoded struct {
		Releases []string `json:"releases"`
	}
	require.NoError(t, json.Unmarshal(header, &decoded))
	return compact(decoded.Releases)
}

func TestPackLeavesOutOnlyWhatExpandBringsBack(t *testing.T) {
	source := [][]byte{
		[]byte(`{"engine": "e", "releases": ["1", "2"]}`),
		[]byte(`{"flag": "--a-b", "names": ["--a-b", "-a"], "lives": [{"since": "1", "until": "1", "names": ["--a-b", "-a"], "action": "store", "type": "str", "nargs": null, "default": "x", "dest": "a_b"}, {"since": "2", "names": ["--a-b"], "action": "store_true", "type": "bool", "nargs": null, "default": false, "dest": "other"}]}`),
		[]byte(`{"flag": "--c", "names": ["--c"], "lives": [{"since": "1", "names": ["--c"], "action": "store", "type": "int", "default": null, "dest": "c"}]}`),
	}
	packed, err := Pack("options", source)
	require.NoError(t, err)
	require.Equal(t, `{"flag":"--a-b","names":["--a-b","-a"],"lives":[{"since":"1","until":"1","nargs":null,"default":"x"},{"since":"2","names":["--a-b"],"dest":"other","action":"store_true"}]}`, string(packed[1]))
	require.Equal(t, `{"flag":"--c","lives":[{"since":"1","type":"int"}]}`, string(packed[2]))
	full, err := Expand(packed)
	require.NoError(t, err)
	require.Equal(t, len(source), len(full))
	for i := range full {
		require.JSONEq(t, string(source[i]), string(full[i]))
		require.True(t, json.Valid(packed[i]))
	}
}

func TestPackRefusesBrokenLines(t *testing.T) {
	for _, lines := range [][]string{{"nope"}, {"{}", "[1]"}, {"{}", `{"flag":"--a"}`}, {"{}", `{"flag":"--a","lives":{}}`}} {
		var bad [][]byte
		for _, line := range lines {
			bad = append(bad, []byte(line))
		}
		_, err := Pack("options", bad)
		require.Error(t, err, lines)
	}
}
