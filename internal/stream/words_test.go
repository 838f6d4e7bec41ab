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

var othersOfTest = Register("another-word-of-the-test", "-word-")

// On all cores every item is looked at, and on its own.
func TestMentionsOfManyItems(t *testing.T) {
	var b strings.Builder
	texts := []string{"nothing", "word-of-the-test", "another-word-of-the-test", "a-word-a", "word-of-the-tes", "\"\\x41\"", "\"\\n\""}
	b.WriteString("apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n")
	for i := range 2 * manyBytes / 100 {
		b.WriteString("- text: " + texts[i%len(texts)] + "\n  more: " + strings.Repeat("x", 90) + "\n")
	}
	source, err := ParseResourceList([]byte(b.String()))
	require.NoError(t, err)
	source.Items[0].MentionsAny(wordsOfTest)
	require.Panics(t, func() { Register("too-late") })
	for i, item := range source.Items {
		text := texts[i%len(texts)]
		escape := strings.Contains(text, "x41")
		require.Equal(t, escape || strings.Contains(text, "word-of-the-test"), item.MentionsAny(wordsOfTest), text)
		require.Equal(t, escape || strings.Contains(text, "-word-"), item.MentionsAny(othersOfTest), text)
		require.Equal(t, strings.Contains(text, "-word-"), item.MentionsAny(NewWords("-word-")) && !escape, text)
	}
}
