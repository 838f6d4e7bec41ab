package fn_test

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trimtab/trimtab/fn"
	"github.com/trimtab/trimtab/internal/config"
	"github.com/trimtab/trimtab/internal/stream"
)

// outcomeOf is everything that a trim of one text says and writes, read by a
// parser; as a ResourceList where the text is one.
func outcomeOf(t *testing.T, parser stream.Parser, data []byte) string {
	t.Helper()
	source, err := parser.ResourceList(data)
	if err != nil {
		if source, err = parser.Documents("case.yaml", data); err != nil {
			return "unreadable"
		}
	}
	outcome, err := fn.Process(fn.Input{Sources: []*stream.Source{source}, Mode: config.Trim, HostEncodes: source.List != nil})
	if err != nil {
		return err.Error()
	}
	said, err := json.Marshal(outcome.Report)
	require.NoError(t, err)
	return string(said) + "\n" + string(outcome.Changed[source])
}

// TestWholeParse runs every manifest in reach both ways, by the line scan and
// parsed as a whole, as documents and as the items of a list: the same is said
// and written.
func TestWholeParse(t *testing.T) {
	t.Parallel()
	public := filepath.Join("..", "..", "shared", "cases", "public")
	if _, err := os.Stat(public); err != nil {
		t.Log("public manifests are left out: ../shared is not here")
	}
	cases, changed := 0, 0
	for _, root := range []string{filepath.Join("..", "examples"), public} {
		_ = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".yaml") && !strings.HasSuffix(path, ".yml") {
				return nil
			}
			data, err := os.ReadFile(path)
			require.NoError(t, err)
			for _, text := range [][]byte{data, asList(data)} {
				scanned, whole := outcomeOf(t, stream.Parser{}, text), outcomeOf(t, stream.Parser{WholeParse: true}, text)
				require.Equal(t, whole, scanned, path)
				cases++
				if !strings.HasSuffix(scanned, "}\n") {
					changed++ // text follows the report
				}
			}
			return nil
		})
	}
	require.Positive(t, cases)
	require.Positive(t, changed)
	t.Logf("%d texts, %d of them changed or refused", cases, changed)
}

// asList puts the documents of a text into a ResourceList; what is no list of
// documents then is no list either, both ways.
func asList(data []byte) []byte {
	var list strings.Builder
	list.WriteString("apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n")
	for _, document := range strings.Split("\n"+string(data), "\n---\n") {
		first := true
		for line := range strings.Lines(strings.Trim(document, "\n") + "\n") {
			switch {
			case first && (strings.HasPrefix(line, "#") || strings.TrimSpace(line) == ""):
				continue
			case first:
				list.WriteString("- " + line)
				first = false
			case strings.TrimSpace(line) == "":
				list.WriteString("\n")
			default:
				list.WriteString("  " + line)
			}
		}
	}
	return []byte(list.String())
}
