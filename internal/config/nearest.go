package config

import (
	"slices"
	"strings"

	"github.com/agext/levenshtein"
)

// nearest returns the known word that was probably meant. Case, dashes and
// underscores do not count; a beginning of three letters or more and a swap of
// letters do.
func nearest(word string, known []string) (string, bool) {
	const longest = 64 // nobody misspells longer words, and hostile ones cost time
	plain := plainWord(word)
	if plain == "" || len(plain) > longest {
		return "", false
	}
	best, bestDistance := "", longest
	for _, candidate := range slices.Sorted(slices.Values(known)) {
		other := plainWord(candidate)
		distance := levenshtein.Distance(plain, other, nil)
		if len(plain) >= 3 && strings.HasPrefix(other, plain) || sameLetters(plain, other) {
			distance = min(distance, 1)
		}
		if distance <= max(1, max(len(plain), len(other))/3) && distance < bestDistance {
			best, bestDistance = candidate, distance
		}
	}
	return best, best != ""
}

func plainWord(s string) string {
	return strings.NewReplacer("-", "", "_", "").Replace(strings.ToLower(s))
}

func sameLetters(a, b string) bool {
	return len(a) == len(b) && slices.Equal(slices.Sorted(slices.Values([]rune(a))), slices.Sorted(slices.Values([]rune(b))))
}
