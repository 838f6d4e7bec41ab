package stream

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// requireSameSource demands that two readings of a text are the same.
func requireSameSource(t *testing.T, want, got *Source) {
	t.Helper()
	require.Equal(t, string(want.Data), string(got.Data))
	require.Len(t, got.Items, len(want.Items))
	placeOf := func(r *region) []int { return []int{r.start, r.end, r.line, r.column, r.blankFrom, r.blankTo} }
	for i, item := range want.Items {
		other := got.Items[i]
		require.Same(t, got, other.Source)
		require.Equal(t, []int{item.Index, item.Element, item.start, item.end}, []int{other.Index, other.Element, other.start, other.end})
		require.Equal(t, placeOf(item.region), placeOf(other.region), "%q", item.Text())
		require.Same(t, &got.Data[0], &other.region.data[0])
		root, err := item.Root()
		otherRoot, otherErr := other.Root()
		require.Equal(t, err, otherErr)
		require.Equal(t, root, otherRoot)
		require.Equal(t, item.MentionsAny(wordsOfTest), other.MentionsAny(wordsOfTest))
	}
	require.Equal(t, want.List.APIVersion, got.List.APIVersion)
	if want.List.root != nil {
		return // read as a whole, by both
	}
	require.Equal(t, want.List.doc.entries, got.List.doc.entries)
	require.Equal(t, placeOf(&want.List.doc.region), placeOf(&got.List.doc.region))
	require.Equal(t, want.List.FunctionConfig == nil, got.List.FunctionConfig == nil)
	if c := want.List.FunctionConfig; c != nil {
		other := got.List.FunctionConfig
		require.Equal(t, placeOf(c.region), placeOf(other.region))
		require.Equal(t, c.root, other.root)
	}
}

var wordsOfTest = Register("word-of-the-test")

// randomItems is a ResourceList with items in many forms.
func randomList(random *rand.Rand) string {
	bodies := []string{
		"a: 1\n", "a: 1\n  b:\n  - c\n  - d\n", "a: |\n    text\n    more\n\n", "a: \"quoted # word-of-the-test\" # b\n", "a: {b: c}\n",
		"a: >-\n    word-of-the-test\n", "a:\n    b:\n      c: d\n", "# comment\n  a: 1\n  # end\n",
	}
	indent := strings.Repeat(" ", random.IntN(3))
	var b strings.Builder
	config := "functionConfig:\n  kind: ConfigMap\n"
	b.WriteString("apiVersion: config.kubernetes.io/v1\nkind: ResourceList\n")
	if random.IntN(2) == 0 {
		b.WriteString(config)
		config = ""
	}
	b.WriteString("items:\n")
	for range 1 + random.IntN(5) {
		body := bodies[random.IntN(len(bodies))]
		for i, line := range strings.SplitAfter(body, "\n") {
			switch {
			case i == 0:
				b.WriteString(indent + "- " + line)
			case strings.TrimSpace(line) == "":
				b.WriteString(line)
			default:
				b.WriteString(indent + line)
			}
		}
	}
	if random.IntN(2) == 0 {
		b.WriteString(config)
	}
	text := b.String()
	if random.IntN(4) == 0 {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	if random.IntN(4) == 0 {
		text = strings.TrimRight(text, "\r\n")
	}
	return text
}

// What is read anew of a spliced text, and what is only moved, is what a reading
// of the whole finds.
func TestSplicedIsReadAgain(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	inserts := []string{
		"", "", "x", "\n", "x: y\n", "\n  x: word-of-the-test\n", "- b: 1\n", "  - b: 1\n", "'", "\"", "#", "|", "&a", "*a", "{", "}", ": ", "\t", "---\n", "é", "\u2028", "items: []\n", "\n\n", "kind: X\n", " ", "\\x41",
	}
	moved := 0
	for range 20_000 {
		source, err := ParseResourceList([]byte(randomList(random)))
		require.NoError(t, err)
		edits := map[*Item][]Splice{}
		for _, item := range source.Items {
			if random.IntN(2) == 0 {
				_, _ = item.Root()
				item.MentionsAny(wordsOfTest)
			}
			at := item.start
			for random.IntN(3) == 0 && at < item.end {
				at += random.IntN(item.end - at + 1)
				gone := random.IntN(min(item.end-at, 6) + 1)
				if random.IntN(2) == 0 {
					gone = 0
				}
				edits[item] = append(edits[item], Splice{Offset: at, Delete: gone, Insert: inserts[random.IntN(len(inserts))]})
				at += gone
			}
		}
		var all []Splice
		for _, item := range source.Items {
			all = append(all, edits[item]...)
			if random.IntN(2) == 0 && len(edits[item]) > 0 {
				_, _ = item.DecodeWith(edits[item])
			}
		}
		data, err := Apply(source.Data, all)
		require.NoError(t, err)
		want, wantErr := ParseResourceList(data)
		got, gotErr := source.Spliced(edits)
		if wantErr != nil {
			require.EqualError(t, gotErr, wantErr.Error(), "%q", data)
			continue
		}
		require.NoError(t, gotErr, "%q", data)
		if len(edits) > 0 && got.List.root == nil {
			moved++
		}
		requireSameSource(t, want, got)
	}
	require.Greater(t, moved, 2_000)
}
