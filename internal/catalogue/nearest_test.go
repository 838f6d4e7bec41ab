package catalogue

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNearestOption(t *testing.T) {
	s, v := loaded(t, "sglang"), loaded(t, "vllm")
	for _, c := range []struct {
		engine        *Engine
		version, word string
		want          string
	}{
		{s, "0.5.16", "--tp_size", "--tp-size"},
		{s, "0.5.16", "--mem-fraction-statik", "--mem-fraction-static"},
		{s, "0.5.16", "--max-requests-running", "--max-running-requests"},
		{s, "0.5.16", "--gpu-layers", ""},
		{v, "0.19.1", "--max-num-seq-s", "--max-num-seqs"},
		{v, "0.19.1", "--max-batched-tokens", "--max-num-batched-tokens"},
		{v, "0.19.1", "--swap-spaces", ""}, // the release does not know --swap-space
		{v, "0.11.0", "--swap-spaces", "--swap-space"},
		{v, "0.19.1", "--" + strings.Repeat("x", 100), ""},
	} {
		got, ok := c.engine.NearestOption(c.word, release(t, c.engine, c.version))
		require.Equal(t, c.want, got, c.word)
		require.Equal(t, c.want != "", ok, c.word)
	}
}

func TestNearestEnv(t *testing.T) {
	v := loaded(t, "vllm")
	got, ok := v.NearestEnv("VLLM_LOGING_LEVEL", v.Newest())
	require.True(t, ok)
	require.Equal(t, "VLLM_LOGGING_LEVEL", got)
	_, ok = v.NearestEnv("VLLM_HOUSE_COLOUR", v.Newest())
	require.False(t, ok)
	_, ok = v.NearestEnv("VLLM_USE_V1x", release(t, v, "0.19.1"))
	require.False(t, ok, "a variable the release does not read is no suggestion")
}

func TestSpelledEver(t *testing.T) {
	v := loaded(t, "vllm")
	flag, ok := v.SpelledEver("--disable-log-requests")
	require.True(t, ok)
	require.Equal(t, "--disable-log-requests", flag, "an option of its own once, a twin later")
	flag, ok = v.SpelledEver("-tp")
	require.True(t, ok)
	require.Equal(t, "--tensor-parallel-size", flag)
	_, ok = v.SpelledEver("--gpu-layers")
	require.False(t, ok)
}
