package catalogue

import (
	"slices"
	"strings"

	"github.com/agext/levenshtein"
)

// longestName bounds the words that are compared: longer ones are no
// misspellings, and cost time.
const longestName = 64

// NearestOption returns the spelling a release knows that a word probably
// means; false when none is near.
func (e *Engine) NearestOption(word string, r Release) (string, bool) {
	return nearest(word, e.nearOptions(), func(spelled string) bool {
		_, ok := e.Option(spelled, r)
		return ok && strings.HasPrefix(spelled, "--")
	})
}

// NearestEnv returns the variable a release reads that a name probably means;
// false when none is near.
func (e *Engine) NearestEnv(name string, r Release) (string, bool) {
	return nearest(name, e.nearEnv(), func(known string) bool {
		variable, ok := e.Env(known, r)
		return ok && variable.Read
	})
}

// candidate is a name that a word may mean, as it is compared.
type candidate struct {
	name, plain string
	words       []string
}

func candidatesOf(names []string) []candidate {
	all := make([]candidate, len(names))
	for i, name := range names {
		all[i] = candidate{name, plainName(name), wordsOf(name)}
	}
	return all
}

// nearest picks the candidate with the fewest changed letters, of those that are
// accepted. Case, dashes and underscores do not count, nor does the order of the
// words; more than a fifth of the letters may not differ.
func nearest(word string, candidates []candidate, accepts func(string) bool) (string, bool) {
	plain := plainName(word)
	if plain == "" || len(plain) > longestName {
		return "", false
	}
	words := wordsOf(word)
	best, least := "", max(1, len(plain)/5)+1
	for _, candidate := range candidates {
		if abs(len(candidate.plain)-len(plain)) >= least {
			continue
		}
		distance := levenshtein.Distance(plain, candidate.plain, nil)
		if distance > 1 && slices.Equal(words, candidate.words) {
			distance = 1
		}
		if distance < least && accepts(candidate.name) {
			best, least = candidate.name, distance
		}
	}
	return best, best != ""
}

var separators = strings.NewReplacer("-", "", "_", "")

func plainName(name string) string { return separators.Replace(strings.ToLower(name)) }

func wordsOf(name string) []string {
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return r == '-' || r == '_' })
	slices.Sort(words)
	return words
}

func abs(n int) int {
	if n < 0 {
		return -n
	}
	return n
}
