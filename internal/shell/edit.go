package shell

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Splice is a change of one text: what stands at the span becomes Text.
type Splice struct {
	Span Span
	Text string
	// Drop is true where an argument from outside goes as a whole.
	Drop bool
}

// Refused is an edit that is not made.
type Refused struct{ Reason string }

// Error is the reason.
func (r *Refused) Error() string { return r.Reason }

// Edit takes words out and writes words anew. With a word that goes, the blanks
// and continued lines go that set it apart; comments stay. What is written anew
// keeps the quotes that stand there, where the text allows it. The spans are
// those of words that Commands returns.
//
// It returns a *Refused where a word is fixed, or where it cannot be proved that
// the shell still sees every other word as before.
func (s Script) Edit(removed []Span, written map[Span]string) ([]Splice, error) {
	r, err := s.read()
	if err != nil {
		return nil, err
	}
	done, err := s.written(r, written)
	if err != nil {
		return nil, err
	}
	sites, err := r.sites(removed)
	if err != nil {
		return nil, err
	}
	want := expectation{removed: map[Span]bool{}, replaced: written}
	for _, group := range neighbours(sites) {
		for _, one := range group.spans {
			want.removed[one] = true
		}
		made, ok := s.firstProved(r, want, done, group)
		if !ok {
			return nil, &Refused{"something else in the script depends on it"}
		}
		done = append(done, made)
	}
	slices.SortFunc(done, bySpan)
	return done, nil
}

// firstProved tries the ways to take a group out, the tidiest first.
func (s Script) firstProved(before *reader, want expectation, done []Splice, g group) (Splice, bool) {
	var candidates []Splice
	for _, span := range g.cuts(s) {
		if isArg := strings.HasPrefix(string(span.Source), "arg/"); isArg && span.From == 0 && span.To == len(s.Source(span.Source)) {
			candidates = append(candidates, Splice{Span: span, Drop: true})
		}
		if g.kind != argument {
			candidates = append(candidates, Splice{Span: span})
		}
	}
	for _, candidate := range candidates {
		if !overlaps(done, candidate) && s.proved(before, want, append(done[:len(done):len(done)], candidate)) {
			return candidate, true
		}
	}
	return Splice{}, false
}

func overlaps(done []Splice, s Splice) bool {
	return slices.ContainsFunc(done, func(d Splice) bool {
		return d.Span.Source == s.Span.Source && d.Span.From < s.Span.To && s.Span.From < d.Span.To
	})
}

func bySpan(a, b Splice) int {
	if order := strings.Compare(string(a.Span.Source), string(b.Span.Source)); order != 0 {
		return order
	}
	return a.Span.From - b.Span.From
}

// written are the splices that write words anew.
func (s Script) written(r *reader, texts map[Span]string) ([]Splice, error) {
	var made []Splice
	for span, text := range texts {
		sites, err := r.sites([]Span{span})
		if err != nil {
			return nil, err
		}
		at := sites[0].site
		outer := at.layer.chars[at.lo].run
		word := text
		if at.kind == inCommand || at.kind == inArray {
			word = quoteLike(at.layer.raw(at.lo, at.hi), text)
		}
		if !outer.writable(word) {
			return nil, &Refused{"a line break cannot be written there"}
		}
		word = outer.encode(word)
		if s.Kubelet && !strings.HasPrefix(string(span.Source), "env/") {
			word = strings.ReplaceAll(word, "$", "$$")
		}
		splice := Splice{Span: span, Text: word}
		if !s.proved(r, expectation{replaced: map[Span]string{span: text}}, []Splice{splice}) {
			return nil, &Refused{fmt.Sprintf("%q cannot be written there without changing something else", text)}
		}
		made = append(made, splice)
	}
	return made, nil
}

// located is a word that is to be edited.
type located struct {
	span Span
	site site
}

// sites finds the words that stand at the spans.
func (r *reader) sites(spans []Span) ([]located, error) {
	var found []located
	for _, span := range spans {
		word := r.wordAt(span)
		switch {
		case word == nil:
			return nil, &Refused{"no word of a command stands there"}
		case word.Fixed != "":
			return nil, &Refused{word.Fixed}
		}
		found = append(found, located{span: span, site: word.site})
	}
	return found, nil
}

func (r *reader) wordAt(span Span) *Word {
	for i := range r.commands {
		for j := range r.commands[i].Words {
			if word := &r.commands[i].Words[j]; word.Span == span && word.site.kind != nowhere {
				return word
			}
		}
	}
	return nil
}

// refuseShared fixes the words that are written once and read twice: what is
// right for one command need not be right for the other.
func (r *reader) refuseShared() {
	count := map[Span]int{}
	each := func(visit func(*Word)) {
		for i := range r.commands {
			for j := range r.commands[i].Words {
				visit(&r.commands[i].Words[j])
			}
		}
	}
	each(func(w *Word) { count[w.Span]++ })
	each(func(w *Word) {
		if w.Fixed == "" && count[w.Span] > 1 {
			w.Fixed = "several commands share it"
		}
	})
}

// expectation is what an edit is to do to the words.
type expectation struct {
	removed  map[Span]bool
	replaced map[Span]string
}

// proved reads the edited script again: all words but those of the edit must be
// as they were, and so must all else that the script reads, and its comments.
func (s Script) proved(before *reader, want expectation, splices []Splice) bool {
	after, err := s.apply(splices).read()
	if err != nil || len(after.commands) != len(before.commands) {
		return false
	}
	for i := range before.commands {
		was, is := &before.commands[i], &after.commands[i]
		if was.Conditional != is.Conditional || !slices.EqualFunc(was.Env, is.Env, sameAssign) {
			return false
		}
		if !slices.EqualFunc(want.words(was.Words), is.Words, sameWord) {
			return false
		}
	}
	return slices.Equal(before.observed, after.observed) && slices.Equal(before.lost, after.lost) && slices.Equal(before.comments, after.comments)
}

// words are those that are expected after the edit.
func (e expectation) words(before []Word) []Word {
	var kept []Word
	for _, w := range before {
		if e.removed[w.Span] && w.site.kind != nowhere {
			continue
		}
		if text, ok := e.replaced[w.Span]; ok && w.site.kind != nowhere {
			w = Word{Text: text}
		}
		kept = append(kept, w)
	}
	return kept
}

func sameWord(a, b Word) bool {
	return a.Text == b.Text && a.Unknown == b.Unknown && a.Many == b.Many && slices.Equal(a.Needs, b.Needs)
}

func sameAssign(a, b Assign) bool { return a.Name == b.Name && sameWord(a.Value, b.Value) }

// apply makes the splices on the texts of the script.
func (s Script) apply(splices []Splice) Script {
	sorted := slices.Clone(splices)
	slices.SortFunc(sorted, func(a, b Splice) int { return bySpan(b, a) })
	s.Env, s.Args = maps.Clone(s.Env), slices.Clone(s.Args)
	dropped := map[int]bool{}
	for _, splice := range sorted {
		kind, name, _ := strings.Cut(string(splice.Span.Source), "/")
		switch kind {
		case "":
			s.Text = splice.In(s.Text)
		case "env":
			value := s.Env[name]
			value.Text = splice.In(value.Text)
			s.Env[name] = value
		case "arg":
			i := argIndex(name)
			dropped[i] = splice.Drop
			s.Args[i].Text = splice.In(s.Args[i].Text)
		}
	}
	var args []Value
	for i, arg := range s.Args {
		if !dropped[i] {
			args = append(args, arg)
		}
	}
	s.Args = args
	return s
}

// In makes the change in the text that its span stands in.
func (s Splice) In(text string) string { return text[:s.Span.From] + s.Text + text[s.Span.To:] }

// Source is the text that a span stands in.
func (s Script) Source(source Source) string {
	switch kind, name, _ := strings.Cut(string(source), "/"); kind {
	case "env":
		return s.Env[name].Text
	case "arg":
		return s.Args[argIndex(name)].Text
	}
	return s.Text
}
