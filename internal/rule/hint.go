package rule

import "unicode/utf8"

// hints are words of which one is in every text that a pattern can match. To
// look for them costs a fraction of what the pattern does. Upper and lower case
// are one; the words are lower-case ASCII.
type hints [256][]string

func hintsOf(words ...string) *hints {
	var h hints
	for _, word := range words {
		h[word[0]] = append(h[word[0]], word)
		if upper := word[0] &^ 0x20; isASCIILower(word[0]) {
			h[upper] = append(h[upper], word)
		}
	}
	return &h
}

// in tells whether a text may hold one of the words. It says so of any text with
// characters outside of ASCII, of which some are letters in another case.
func (h *hints) in(text string) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return true
		}
		for _, word := range h[text[i]] {
			if beginsWith(text[i:], word) {
				return true
			}
		}
	}
	return false
}

// beginsWith compares a text with a lower-case word.
func beginsWith(text, word string) bool {
	if len(text) < len(word) {
		return false
	}
	for i := range len(word) {
		c := text[i]
		if 'A' <= c && c <= 'Z' {
			c |= 0x20
		}
		if c != word[i] {
			return false
		}
	}
	return true
}

func isASCIILower(c byte) bool { return 'a' <= c && c <= 'z' }
