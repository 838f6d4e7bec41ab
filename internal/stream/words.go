package stream

import (
	"bytes"
	"strings"
)

// Words are texts that are looked for together, in one walk over the bytes.
type Words struct {
	words []string
	// pairs marks the pairs of bytes that the windows of the words hold; at is
	// where the window of each word begins.
	pairs *[1 << 16]bool
	at    []int
}

// window is how many bytes of a word are looked for: the walk looks at every
// third byte, which meets one of the three pairs in them.
const (
	window = 4
	step   = window - 1
)

// commonFirst are letters by how often they stand in a text.
const commonFirst = "etaonisrlcdmpuhgbfyv"

// NewWords returns the words for Item.MentionsAny. A word shorter than four bytes
// has every word looked for alone.
func NewWords(words ...string) *Words {
	w := &Words{words: words, pairs: new([1 << 16]bool), at: make([]int, len(words))}
	for i, word := range words {
		if len(word) < window {
			w.pairs = nil
			return w
		}
		best := -1
		for start := range len(word) - step {
			rare := 0
			for _, c := range []byte(word[start : start+window]) {
				if common := strings.IndexByte(commonFirst, c); common >= 0 {
					rare += common
				} else {
					rare += len(commonFirst)
				}
			}
			if rare > best {
				best, w.at[i] = rare, start
			}
		}
		for k := range step {
			w.pairs[pairAt(word, w.at[i]+k)] = true
		}
	}
	return w
}

func pairAt[T string | []byte](text T, i int) uint16 { return uint16(text[i])<<8 | uint16(text[i+1]) }

// in tells whether one of the words stands in a text.
func (w *Words) in(text []byte) bool {
	if w.pairs == nil {
		for _, word := range w.words {
			if bytes.Contains(text, []byte(word)) {
				return true
			}
		}
		return false
	}
	for i := 0; i+1 < len(text); i += step {
		if w.pairs[pairAt(text, i)] && w.around(text, i) {
			return true
		}
	}
	return false
}

// around tells whether a word stands where one of the pairs of its window is at i.
func (w *Words) around(text []byte, i int) bool {
	for n, word := range w.words {
		for k := range step {
			start := i - k - w.at[n]
			if start >= 0 && start+len(word) <= len(text) && string(text[start:start+len(word)]) == word {
				return true
			}
		}
	}
	return false
}

// MentionsAny is Mentions for many words.
func (it *Item) MentionsAny(words *Words) bool {
	text := it.Text()
	return words.in(text) || hasEscape(text)
}
