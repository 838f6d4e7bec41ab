package engine_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trimtab/trimtab/internal/catalogue"
	"github.com/trimtab/trimtab/internal/engine"
)

// TestParserDefaultOfJSON: the default of a JSON option is compared as JSON,
// though the parser holds it as text.
func TestParserDefaultOfJSON(t *testing.T) {
	catalogued, err := catalogue.Load("sglang")
	require.NoError(t, err)
	known, err := engine.Load("sglang")
	require.NoError(t, err)
	release, ok := catalogued.Find("0.5.16")
	require.True(t, ok)
	about := &engine.Fact{Settings: []string{"--json-model-override-args"}}
	for value, same := range map[string]bool{`{}`: true, `{"a":1}`: false} {
		state, abouts, _ := stateOf(catalogued, known, release, about, engine.Case{Args: "--json-model-override-args " + value})
		require.Len(t, abouts, 1)
		_, is := state.ParserDefault(abouts[0])
		require.Equal(t, same, is, value)
	}
}
