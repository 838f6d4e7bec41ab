package stream

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func requireSameWords(t *testing.T, text []byte, words []string) {
	t.Helper()
	want := false
	for _, word := range words {
		want = want || bytes.Contains(text, []byte(word))
	}
	require.Equal(t, want, NewWords(words...).in(text), "%q in %q", words, text)
}

func FuzzWords(f *testing.F) {
	f.Add([]byte("image: vllm/vllm-openai"), "vllm,sglang,inference.llmkube.dev/")
	f.Add([]byte("vllm"), "vllm")
	f.Add([]byte("vll"), "vllm")
	f.Add([]byte("a b"), "b,vllm")
	f.Add([]byte("aaaaab"), "aaab")
	f.Fuzz(func(t *testing.T, text []byte, words string) {
		requireSameWords(t, text, strings.Split(words, ","))
	})
}

func TestWordsAtEveryPlace(t *testing.T) {
	words := []string{"vllm", "sglang", "serving.volcano.sh/", "abab"}
	for before := range 9 {
		for behind := range 9 {
			for _, word := range words {
				text := strings.Repeat("v", before) + word + strings.Repeat("l", behind)
				requireSameWords(t, []byte(text), words)
				requireSameWords(t, []byte(text[1:]), words)
			}
		}
	}
}
