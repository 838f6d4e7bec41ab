package engine

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trimtab/trimtab/internal/catalogue"
)

// The names that an entry is filed under are those it has when it is decoded.
func TestIndexIsWhatEntriesSay(t *testing.T) {
	for _, name := range catalogue.Names() {
		known, err := load(name)
		require.NoError(t, err)
		require.NotEmpty(t, known.entries)
		for _, entry := range known.entries {
			require.NoError(t, entry.decode())
			about, define, missing := entry.head()
			if entry.definition != nil {
				require.Empty(t, about, entry.text)
				require.Equal(t, entry.definition.name, define)
				continue
			}
			require.NotNil(t, entry.fact, entry.text)
			require.Equal(t, entry.fact.Settings, about, entry.text)
			require.Equal(t, entry.fact.Verb == Missing, missing, entry.text)
		}
	}
}

func TestHeadReadsEveryFormOfAList(t *testing.T) {
	for text, want := range map[string][]string{
		"- setting: \"--a\"\n  why: x\n":                                 {"--a"},
		"- settings: [--a, env/B]\n  versions: x\n":                      {"--a", "env/B"},
		"- settings:\n    - --a\n    - --b\n  versions: x\n":             {"--a", "--b"},
		"- settings: [--a,\n    --b]\n  cases:\n    - {args: \"--c\"}\n": {"--a", "--b"},
		"- versions: x\n  setting: --a\n":                                {"--a"},
	} {
		about, _, _ := (&lazyEntry{text: text}).head()
		require.Equal(t, want, about, text)
	}
}

func TestSplitEntries(t *testing.T) {
	require.Equal(t, []string{"- setting: --a\n  why: x\n\n# about b\n", "- settings:\n    - --b\n    - --c\n"},
		splitEntries("# file\n- setting: --a\n  why: x\n\n# about b\n- settings:\n    - --b\n    - --c\n"))
	require.Empty(t, splitEntries("# nothing\n"))
}
