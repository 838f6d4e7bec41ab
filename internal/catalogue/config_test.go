package catalogue

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestEveryConfigReads(t *testing.T) {
	for _, name := range Names() {
		e := loaded(t, name)
		configs, err := e.loadConfigs()
		require.NoError(t, err)
		require.NotEmpty(t, configs)
		for option, c := range configs {
			require.NotEmpty(t, c.File, option)
			if option[0] == '-' {
				_, ok := e.bySpelled[option]
				require.True(t, ok, option)
			}
			for key, lives := range c.keys {
				for i, life := range lives {
					require.LessOrEqual(t, life.Since.Index, life.Until.Index, "%s %s", option, key)
					require.True(t, i == 0 || lives[i-1].Until.Index < life.Since.Index, "%s %s", option, key)
				}
			}
			for _, need := range c.needs {
				require.Contains(t, c.keys, need.Key)
				require.Contains(t, c.keys, need.Needs)
			}
		}
	}
}

func TestConfigRefuses(t *testing.T) {
	v := loaded(t, "vllm")
	compilation, ok := v.Config("--compilation-config")
	require.True(t, ok)
	for _, c := range []struct {
		key, version string
		refuses      bool
	}{
		{"level", "0.9.0", false}, {"nope", "0.9.0", true},
		{"nope", "0.11.0", false}, // what it does not know is dropped
		{"nope", "0.13.0", true}, {"level", "0.13.0", false}, {"level", "0.20.0", true},
		{"level", "0.33.0", true},
		{"nope", "0.33.0", false}, // may have come since its source was read
		{"a", "0.33.0", true},     // was tried
		{"", "0.33.0", true}, {"cudagraph-mode", "0.33.0", true}, {"größe", "0.33.0", false},
	} {
		require.Equal(t, c.refuses, compilation.Refuses(c.key, release(t, v, c.version)), "%s %s", c.key, c.version)
	}
	require.Equal(t, "bool", compilation.Takes("cudagraph_copy_inputs", release(t, v, "0.20.0")))
	require.Empty(t, compilation.Takes("cudagraph_copy_inputs", v.Newest()), "types are not said of what was not read")
	require.Equal(t, "PassConfig", compilation.Takes("pass_config", v.Newest()))
	require.Contains(t, compilation.Keys(v.Newest()), "cudagraph_mode")
	require.False(t, compilation.Known(v.Releases[0]))
	_, ok = v.Config("--speculative-config")
	require.False(t, ok, "its keys are the engine's business, later")
	graph, ok := loaded(t, "sglang").Config("--cuda-graph-config")
	require.True(t, ok)
	require.Equal(t, "CudaGraphConfig", graph.Name)
}
