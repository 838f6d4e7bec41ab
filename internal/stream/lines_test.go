package stream

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestLines looks up the line of every offset as the functions find it.
func TestLines(t *testing.T) {
	for _, text := range []string{
		"", "a", "\n", "a\nb", "a\n\nb\n", "a\r\nb\r\n", "a\rb\r", "\r\n\r\n", "a\u0085b\u2028c\u2029", "é\u0085\n", "\u2028\n\u2028",
		"\ufeffa\nb", "aé\n" + strings.Repeat("é", 600) + "\r\nb",
		strings.Repeat("a", near+1) + "\n" + strings.Repeat("b", 2*near) + "\r\n" + strings.Repeat("c", near-1) + "\u2028" + strings.Repeat("d", near) + "\n",
		strings.Repeat("a\n", near) + strings.Repeat("b", near), "\u0085" + strings.Repeat("a", near-1) + "\n" + strings.Repeat("b", near-1) + "\u2029",
	} {
		source := &Source{Data: []byte(text)}
		for i := range len(text) + 1 {
			if i < len(text) && i > 0 && text[i-1:i+1] == "\r\n" || i < len(text) && text[i]&0xc0 == 0x80 {
				continue // within a line break or a character
			}
			require.Equal(t, LineStart(source.Data, i), source.LineStart(i), "%q, %d", text, i)
			end, next := LineEnd(source.Data, i)
			gotEnd, gotNext := source.LineEnd(i)
			require.Equal(t, []int{end, next}, []int{gotEnd, gotNext}, "%q, %d", text, i)
		}
	}
}

// TestColumns goes from line and column to the offset and back, on lines that
// are longer than the marks lie apart.
func TestColumns(t *testing.T) {
	texts := []string{"a: b", "", strings.Repeat("aé漢😀", 500), strings.Repeat("x", stride), strings.Repeat("é", stride+1), strings.Repeat("x", 3*stride-1), "é"}
	for _, start := range []int{0, 2} {
		data := []byte(strings.Join(texts, "\n"))
		r := &region{data: data, start: start, end: len(data), line: 1}
		line, column := 1, 1
		for i := start; i < len(data); i += runeLen(data[i:]) {
			offset, err := r.offset(line, column)
			require.NoError(t, err)
			require.Equal(t, i, offset)
			require.Equal(t, column-1, r.columnOf(i))
			if column++; data[i] == '\n' {
				line, column = line+1, 1
			}
		}
		for _, place := range [][2]int{{0, 1}, {1, 0}, {len(texts) + 1, 1}, {len(texts), 3}, {1, 1 << 40}, {len(texts), stride + 1}} {
			_, err := r.offset(place[0], place[1])
			require.Error(t, err, "%v", place)
		}
	}
}

// TestLongLine finds the items of a list on one line where they stand.
func TestLongLine(t *testing.T) {
	const count = 300
	var objects []string
	for i := range count {
		objects = append(objects, fmt.Sprintf(`{"kind":"é%d"}`, i))
	}
	data := `{"kind":"ResourceList","apiVersion":"config.kubernetes.io/v1","items":[` + strings.Join(objects, ",") + "]}"
	source, err := ParseResourceList([]byte(data))
	require.NoError(t, err)
	require.Len(t, source.Items, count)
	for i, it := range source.Items {
		require.Equal(t, objects[i], string(it.Text()))
		root, err := it.Root()
		require.NoError(t, err)
		kind := root.Content[1]
		offset, err := it.Offset(kind)
		require.NoError(t, err)
		require.Equal(t, strings.Index(data, `"`+kind.Value+`"`), offset)
		line, column := it.Position(kind)
		require.Equal(t, 1, line)
		require.Equal(t, len([]rune(data[:offset]))+1, column)
		layout, err := it.Layout()
		require.NoError(t, err)
		require.Equal(t, offset, layout[kind].Start)
	}
}

// flowList is a ResourceList of n objects on one line.
func flowList(n int) []byte {
	objects := make([]string, n)
	for i := range objects {
		objects[i] = fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x%d"}}`, i)
	}
	return []byte(`{"apiVersion":"config.kubernetes.io/v1","kind":"ResourceList","items":[` + strings.Join(objects, ",") + "]}")
}

func BenchmarkFlowList(b *testing.B) {
	for _, n := range []int{1000, 10000} {
		data := flowList(n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				if _, err := ParseResourceList(data); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
