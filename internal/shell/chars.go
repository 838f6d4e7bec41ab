package shell

import (
	"slices"
	"strings"
)

// char is one byte of an expanded text that remembers where it is written.
type char struct {
	b byte
	// from and to are where the byte, with what escapes it, stands in the source.
	from, to int
	run      *run
	// piece is set on a byte that stands for text nobody knows.
	piece *piece
}

// piece is a stretch of unknown text.
type piece struct {
	raw     string
	needs   []string
	ifUnset *string
	// many is true when the shell may split it into words or drop it.
	many bool
}

// placeholder is the byte that stands for unknown text; no script holds it.
const placeholder = 1

type chars []char

// run is a stretch of text that is written in one manner: all of it stands in
// the same quotes of the same text.
type run struct {
	source Source
	quote  quoting
	outer  *run
}

// literal is a text that is taken as it stands.
func literal(source Source, text string) chars {
	whole := &run{source: source}
	list := make(chars, len(text))
	for i := range len(text) {
		list[i] = char{b: text[i], from: i, to: i + 1, run: whole}
	}
	return list
}

// unknown is a text nobody knows, written as raw.
func unknown(raw string, needs ...string) chars {
	return chars{{b: placeholder, piece: &piece{raw: raw, needs: needs}}}
}

// String is the text; what is unknown stands as written.
func (c chars) String() string {
	var b strings.Builder
	for i := range c {
		if c[i].piece != nil {
			b.WriteString(c[i].piece.raw)
			continue
		}
		b.WriteByte(c[i].b)
	}
	return b.String()
}

func (c chars) known() bool {
	return !slices.ContainsFunc(c, func(x char) bool { return x.piece != nil })
}

func (c chars) many() bool {
	return slices.ContainsFunc(c, func(x char) bool { return x.piece != nil && x.piece.many })
}

// needs are the variables that would make the text known.
func (c chars) needs() []string {
	var names []string
	for i := range c {
		if c[i].piece == nil {
			continue
		}
		for _, name := range c[i].piece.needs {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// ifUnset is the text with the defaults that the script names, nil where it
// does not name all of them.
func (c chars) ifUnset() *string {
	var b strings.Builder
	for i := range c {
		switch {
		case c[i].piece == nil:
			b.WriteByte(c[i].b)
		case c[i].piece.ifUnset == nil:
			return nil
		default:
			b.WriteString(*c[i].piece.ifUnset)
		}
	}
	text := b.String()
	return &text
}

// splittable is the byte outside of quotes: unknown text there may be any number
// of words.
func (c char) splittable() char {
	if c.piece != nil && !c.piece.many {
		split := *c.piece
		split.many = true
		c.piece = &split
	}
	return c
}

// whenKnown is the text, nil when it is not known.
func (c chars) whenKnown() *string {
	if !c.known() {
		return nil
	}
	text := c.String()
	return &text
}

// layer is a text that is read as a script: that of the whole script, or one
// that it hands to eval or to another shell.
type layer struct {
	chars chars
	text  string
	// fixed says why nothing in it is edited.
	fixed string
}

func newLayer(list chars) *layer {
	text := make([]byte, len(list))
	for i := range list {
		text[i] = list[i].b
	}
	return &layer{chars: list, text: string(text)}
}

// place returns where a stretch of the layer's text is written, and how.
func (l *layer) place(lo, hi int) (from, to int, outer *run) {
	return l.chars[lo].from, l.chars[hi-1].to, l.chars[lo].run
}

// raw is a stretch as it is written in the layer.
func (l *layer) raw(lo, hi int) string { return l.chars[lo:hi].String() }
