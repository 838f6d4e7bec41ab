package stream

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzObjects adds, replaces and removes objects of documents and of lists: it
// is done so that all others stay, or refused.
func FuzzObjects(f *testing.F) {
	for _, test := range appendCases {
		f.Add([]byte(test.in), []byte("a:\n- 1\n"), uint8(0))
	}
	for _, test := range replaceCases {
		f.Add([]byte(test.in), []byte("# c\na: |+\n  x\n"), uint8(1))
	}
	for _, test := range removeCases {
		f.Add([]byte(test.in), []byte("a: 1"), uint8(2))
	}
	f.Fuzz(func(t *testing.T, data, text []byte, choice uint8) {
		tryObjects(t, data, string(text), int(choice))
		tryObjects(t, append([]byte(listHead+"items:\n"), data...), string(text), int(choice))
	})
}

// tryObjects changes the objects of data both ways to parse; it reports how
// often that was refused.
func tryObjects(t *testing.T, data []byte, text string, choice int) (done, refused int) {
	source, err := read(Parser{}, string(data))
	if err != nil {
		return 0, 0
	}
	whole, err := read(Parser{WholeParse: true}, string(data))
	require.NoError(t, err)
	change := func(s *Source) (splices []Splice, at, gone, come int, err error) {
		n := len(s.Items)
		switch at = choice / 3 % max(n, 1); {
		case choice%3 == 0 || n == 0:
			splices, err = s.AppendSplices(text)
			return splices, n, 0, 1, err
		case choice%3 == 1:
			splices, err = s.Items[at].ReplaceSplices(text)
			return splices, at, 1, 1, err
		}
		splices, err = s.Items[at].RemoveSplices()
		return splices, at, 1, 0, err
	}
	splices, at, gone, come, err := change(source)
	wholeSplices, _, _, _, wholeErr := change(whole)
	require.Equal(t, wholeErr == nil, err == nil, "%v %v", err, wholeErr)
	if err != nil {
		require.NotContains(t, err.Error(), "\n")
		return 0, 1
	}
	require.Equal(t, wholeSplices, splices)
	out, err := Apply(data, splices)
	require.NoError(t, err)
	after, err := read(Parser{WholeParse: true}, string(out))
	require.NoError(t, err)
	require.Len(t, after.Items, len(source.Items)-gone+come)
	for i, it := range source.Items {
		switch {
		case i < at:
			requireSame(t, it, after.Items[i])
		case i >= at+gone:
			requireSame(t, it, after.Items[i-gone+come])
		}
	}
	if come == 1 {
		want, err := decode([]byte(text))
		require.NoError(t, err)
		got, err := after.Items[at].Root()
		require.NoError(t, err)
		require.True(t, SameTree(want, got))
	}
	return 1, 0
}

// TestObjectsShared changes the objects of real manifests, as documents and as
// items of a ResourceList.
func TestObjectsShared(t *testing.T) {
	dir := filepath.Join("..", "..", "..", "shared", "cases", "public")
	if _, err := os.Stat(dir); err != nil {
		t.Skip("the manifests of ../shared/cases are not here")
	}
	done, refused := 0, 0
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".yaml") {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		source, err := ParseDocuments(path, data)
		if err != nil {
			return nil // a template
		}
		inputs := [][]byte{data, bytes.ReplaceAll(data, []byte("\n"), []byte("\r\n"))}
		list := listHead + "items:\n"
		for _, it := range source.Items {
			text := strings.TrimSuffix(strings.TrimPrefix(string(it.Text()), "---\n"), "\n") + "\n"
			list += "-\n" + Indent(text, "  ", "\n")
		}
		if _, err := ParseResourceList([]byte(list)); err == nil {
			inputs = append(inputs, []byte(list))
		}
		for choice := range 3 * min(len(source.Items), 2) {
			for _, in := range inputs {
				d, r := tryObjects(t, in, newJob, choice)
				done, refused = done+d, refused+r
			}
		}
		return nil
	})
	require.NoError(t, err)
	require.NotZero(t, done)
	require.Zero(t, refused, "of %d changes", done)
	t.Logf("%d objects came, changed or went", done)
}
