package stream

import (
	"bytes"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/trimtab/trimtab/internal/parallel"
)

// Words are texts that are looked for together, in one walk over the bytes.
type Words struct {
	words []string
	// bits are those of registered words in what an item is known to hold.
	bits   uint64
	walker func() *walker
}

// NewWords returns the words for Item.MentionsAny. A word shorter than four bytes
// has every word looked for alone.
func NewWords(words ...string) *Words {
	w := &Words{words: words, walker: sync.OnceValue(func() *walker { return newWalker(words) })}
	for _, word := range words {
		n := slices.Index(registered, word)
		if n < 0 {
			w.bits = 0
			break
		}
		w.bits |= 1 << n
	}
	return w
}

// Register is NewWords for what a program looks for in every input: all that is
// registered is found in one walk over a source. It is called where package
// variables are initialized, for at most 64 words of four bytes or more.
func Register(words ...string) *Words {
	for _, word := range words {
		if slices.Contains(registered, word) {
			continue
		}
		if sealed.Load() || len(registered) == maxRegistered || len(word) < window {
			panic("stream: one word too many, too late, or too short: " + word)
		}
		registered = append(registered, word)
	}
	return NewWords(words...)
}

const maxRegistered = 64

var (
	registered       []string
	registeredWalker = sync.OnceValue(func() *walker {
		sealed.Store(true)
		return newWalker(registered)
	})
	sealed atomic.Bool
)

// in tells whether one of the words stands in a text.
func (w *Words) in(text []byte) bool {
	walker := w.walker()
	if walker == nil {
		for _, word := range w.words {
			if bytes.Contains(text, []byte(word)) {
				return true
			}
		}
		return false
	}
	found := false
	walker.walk(text, func(int) bool {
		found = true
		return false
	})
	return found
}

// MentionsAny is Mentions for many words.
func (it *Item) MentionsAny(words *Words) bool {
	if words.bits != 0 {
		it.Source.looked.Do(it.Source.look)
		if it.looked {
			return it.holds&words.bits != 0 || it.escapes
		}
	}
	text := it.Text()
	return words.in(text) || hasEscape(text)
}

// manyBytes is how much text makes a second core worth its while.
const manyBytes = 1 << 18

// look finds the registered words in every item, of a large source on all cores.
func (s *Source) look() {
	if len(s.Data) < manyBytes {
		for _, item := range s.Items {
			item.look()
		}
		return
	}
	_ = parallel.Each(len(s.Items), func(i int) error { // it cannot fail
		s.Items[i].look()
		return nil
	})
}

func (it *Item) look() {
	if it.looked {
		return // in an earlier text of the source
	}
	text := it.Text()
	registeredWalker().walk(text, func(word int) bool {
		it.holds |= 1 << word
		return true
	})
	it.escapes, it.looked = hasEscape(text), true
}

// walker finds words by pairs of bytes.
type walker struct {
	words []string
	// pairs marks the pairs of bytes that the windows hold, few enough bits to stay
	// near; lists is which of candidates a marked pair stands for.
	pairs      [1 << 16 / 64]uint64
	lists      [1 << 16]uint16
	candidates [][]candidate
}

// candidate is a word, and how many bytes behind its beginning a pair stands.
type candidate struct{ word, behind int }

// window is how many bytes of a word are looked for: the walk looks at every
// third byte, which meets one of the three pairs in them.
const (
	window = 4
	step   = window - 1
)

// commonFirst are letters by how often they stand in a text.
const commonFirst = "etaonisrlcdmpuhgbfyv"

// newWalker is nil where a word is shorter than a window.
func newWalker(words []string) *walker {
	w := &walker{words: words, candidates: [][]candidate{nil}}
	for i, word := range words {
		if len(word) < window {
			return nil
		}
		at := rarest(word)
		for k := range step {
			w.add(pairAt(word, at+k), candidate{i, at + k})
		}
	}
	return w
}

// rarest is where the window of a word begins that few other texts hold.
func rarest(word string) (at int) {
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
			best, at = rare, start
		}
	}
	return at
}

func (w *walker) add(pair uint16, c candidate) {
	w.pairs[pair>>6] |= 1 << (pair & 63)
	if w.lists[pair] == 0 {
		w.lists[pair] = uint16(len(w.candidates)) // at most one for each pair but the first
		w.candidates = append(w.candidates, nil)
	}
	list := &w.candidates[w.lists[pair]]
	*list = append(*list, c)
}

func pairAt[T string | []byte](text T, i int) uint16 { return uint16(text[i])<<8 | uint16(text[i+1]) }

// walk calls found with the number of each word where it stands, until it
// returns false.
func (w *walker) walk(text []byte, found func(word int) bool) {
	for i := 0; i+1 < len(text); i += step {
		pair := pairAt(text, i)
		if w.pairs[pair>>6]&(1<<(pair&63)) == 0 {
			continue
		}
		for _, c := range w.candidates[w.lists[pair]] {
			word, start := w.words[c.word], i-c.behind
			if start >= 0 && start+len(word) <= len(text) && string(text[start:start+len(word)]) == word && !found(c.word) {
				return
			}
		}
	}
}
