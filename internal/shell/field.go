package shell

import (
	"bytes"
	"slices"
	"strings"
)

// field is what becomes one word.
type field struct {
	chars chars
	site  site
	// fixed says why the field has no site.
	fixed string
	// glob is true when the shell may put names of files in its place.
	glob bool
}

// siteKind tells what separates a word from its neighbours.
type siteKind int

const (
	nowhere siteKind = iota
	inCommand
	inArray
	inText   // a piece of a variable's text that the shell splits
	argument // a whole word from outside of the script
)

// site is where a word is written as a whole.
type site struct {
	kind   siteKind
	layer  *layer
	lo, hi int
}

// whole is the site of an argument from outside.
func wholeArgument(text chars) site {
	return site{kind: argument, layer: newLayer(text), hi: len(text)}
}

// span is where the site stands in its source; false when it is written in
// several pieces, or outside of every source.
func (s site) span() (Span, bool) {
	if s.kind == nowhere || s.layer == nil {
		return Span{}, false
	}
	if s.lo == s.hi {
		return Span{}, false
	}
	outer := s.layer.chars[s.lo].run
	if outer == nil {
		return Span{}, false
	}
	span := Span{Source: outer.source, From: s.layer.chars[s.lo].from, To: s.layer.chars[s.hi-1].to}
	together := !slices.ContainsFunc(s.layer.chars[s.lo:s.hi], func(c char) bool { return c.run != outer })
	return span, together
}

// word turns a field into a word of a command.
func (f field) word() Word {
	w := Word{Text: f.chars.String(), Unknown: !f.chars.known(), Many: f.chars.many(), Fixed: f.fixed, site: f.site}
	if w.Unknown {
		w.Needs, w.IfUnset = f.chars.needs(), f.chars.ifUnset()
	}
	span, together := f.site.span()
	if f.site.kind != nowhere {
		w.Span = span
	}
	switch {
	case w.Fixed != "":
	case w.Many:
		w.Fixed = "it may be any number of words"
	case f.site.kind == nowhere:
		w.Fixed = "it has no place of its own"
	case f.site.layer.fixed != "":
		w.Fixed = f.site.layer.fixed
	case !together && span.From == span.To:
		w.Fixed = "it is empty where it is written"
	case !together:
		w.Fixed = "it is written in several quoted pieces"
	}
	return w
}

// fields builds the words that one word of the script expands to.
type fields struct {
	done []field
	cur  chars
	open bool // a field has begun, though it may be empty
	// from is the text that the whole current field is a piece of: layer, lo.
	from  *layer
	lo    int
	mixed bool
	// bare are the bytes of the current field that stand outside of quotes.
	bare []byte
}

// quoted adds text that is not split.
func (f *fields) quoted(text chars) {
	f.cur, f.open, f.mixed = append(f.cur, text...), true, true
}

// split adds the text of an expansion outside of quotes.
func (f *fields) split(text chars) {
	origin := newLayer(text)
	for i, c := range text {
		if c.piece == nil && strings.IndexByte(" \t\n", c.b) >= 0 {
			f.finish()
			continue
		}
		switch {
		case !f.open:
			f.from, f.lo = origin, i
		case f.from != origin:
			f.mixed = true
		}
		f.cur, f.open, f.bare = append(f.cur, c.splittable()), true, append(f.bare, c.b)
	}
}

// finish ends the current field.
func (f *fields) finish() {
	if f.open {
		done := field{chars: f.cur, glob: isGlob(f.bare)}
		if !f.mixed {
			done.site = site{kind: inText, layer: f.from, lo: f.lo, hi: f.lo + len(f.cur)}
		}
		f.done = append(f.done, done)
	}
	f.cur, f.open, f.from, f.mixed, f.bare = nil, false, nil, false, nil
}

// isGlob tells whether bytes outside of quotes are a pattern of file names.
func isGlob(bare []byte) bool {
	open := bytes.IndexByte(bare, '[')
	return bytes.ContainsAny(bare, "*?") || open >= 0 && bytes.IndexByte(bare[open:], ']') > 0
}

// list adds whole fields, as "$@" does: the first joins what stands in front of
// it, the last what comes behind.
func (f *fields) list(all []field) {
	for i, one := range all {
		alone := !f.open && len(f.cur) == 0
		if alone {
			f.cur = slices.Clone(one.chars)
		} else {
			f.cur = append(f.cur, one.chars...)
		}
		f.open, f.mixed = true, true
		if i < len(all)-1 {
			if alone {
				f.done, f.cur, f.open, f.mixed = append(f.done, one), nil, false, false
				continue
			}
			f.finish()
		}
	}
}
