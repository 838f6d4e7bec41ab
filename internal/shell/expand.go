package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// offsets are where a node stands in the layer that is read.
func offsets(n syntax.Node) (lo, hi int) { return int(n.Pos().Offset()), int(n.End().Offset()) }

// words expands the words of a command or an array.
func (r *reader) words(list []*syntax.Word, kind siteKind) []field {
	var all []field
	for _, w := range list {
		all = append(all, r.fields(w, kind)...)
	}
	return all
}

// fields expands one word of the script, split as the shell splits it.
func (r *reader) fields(w *syntax.Word, kind siteKind) []field {
	lo, hi := offsets(w)
	here := site{kind: kind, layer: r.layer, lo: lo, hi: hi}
	if all, ok := r.listOf(w); ok {
		return all
	}
	if r.differs(w) {
		return []field{{chars: r.manyOf(lo, hi), site: here}}
	}
	var f fields
	for i, part := range w.Parts {
		r.part(&f, part, i == 0)
	}
	f.finish()
	if !r.scope.splits && hasBareExpansion(w) {
		for i := range f.done {
			f.done[i] = field{chars: r.manyOf(lo, hi)}
		}
	}
	for i := range f.done {
		switch {
		case len(f.done) == 1 && (!bareExpansion(w) || f.done[0].site.kind == nowhere):
			f.done[0].site = here
		case f.done[i].site.kind == nowhere:
			f.done[i].site, f.done[i].fixed = here, "the shell computes it from several pieces"
		}
	}
	return r.globbed(w, f.done)
}

// manyOf is the unknown text of a stretch that may be any number of words.
func (r *reader) manyOf(lo, hi int) chars {
	text := r.mystery(lo, hi)
	text[0].piece.many = true
	return text
}

// listOf expands "$@" and "${array[@]}", which yield whole words.
func (r *reader) listOf(w *syntax.Word) ([]field, bool) {
	if len(w.Parts) != 1 {
		return nil, false
	}
	quoted, ok := w.Parts[0].(*syntax.DblQuoted)
	if !ok || quoted.Dollar || len(quoted.Parts) != 1 {
		return nil, false
	}
	p, ok := quoted.Parts[0].(*syntax.ParamExp)
	if !ok {
		return nil, false
	}
	return r.everyElement(p)
}

// everyElement are the words of $@ or ${array[@]}; false for anything else and
// for lists that are not known.
func (r *reader) everyElement(p *syntax.ParamExp) ([]field, bool) {
	switch {
	case p.Param == nil || !plainExpansion(p):
		return nil, false
	case p.Param.Value == "@" && p.Index == nil:
		return r.scope.params, !r.scope.paramsLost
	case !isAt(p.Index):
		return nil, false
	}
	v, known := r.lookup(p.Param.Value)
	if !known || !v.array {
		return nil, false
	}
	return v.elements, true
}

// isAt tells whether an index is [@].
func isAt(index syntax.ArithmExpr) bool {
	w, ok := index.(*syntax.Word)
	return ok && w.Lit() == "@"
}

// plainExpansion tells whether an expansion only names its variable.
func plainExpansion(p *syntax.ParamExp) bool {
	return !p.Excl && !p.Length && !p.Width && !p.IsSet && p.Slice == nil && p.Repl == nil && p.Names == 0 && p.Exp == nil
}

// bareExpansion tells whether a word is one expansion outside of quotes.
func bareExpansion(w *syntax.Word) bool {
	if len(w.Parts) != 1 {
		return false
	}
	_, ok := w.Parts[0].(*syntax.ParamExp)
	return ok
}

func hasBareExpansion(w *syntax.Word) bool {
	for _, part := range w.Parts {
		if _, ok := part.(*syntax.ParamExp); ok {
			return true
		}
	}
	return false
}

// value expands a word that is not split: what is assigned.
func (r *reader) value(w *syntax.Word) chars {
	if w == nil {
		return nil
	}
	var f fields
	for i, part := range w.Parts {
		if p, ok := part.(*syntax.ParamExp); ok {
			f.quoted(one(r.param(p)))
			continue
		}
		if p, ok := part.(*syntax.CmdSubst); ok {
			f.quoted(r.substituted(p))
			continue
		}
		r.part(&f, part, i == 0)
	}
	if len(f.done) > 0 { // a list, which the shell joins
		r.observeRead(w)
		return r.mystery(offsets(w))
	}
	return one(f.cur)
}

// one is a text that is no longer split.
func one(text chars) chars {
	kept := make(chars, len(text))
	for i, c := range text {
		if c.piece != nil && c.piece.many {
			single := *c.piece
			single.many = false
			c.piece = &single
		}
		kept[i] = c
	}
	return kept
}

// part adds one part of a word.
func (r *reader) part(f *fields, part syntax.WordPart, first bool) {
	lo, hi := offsets(part)
	switch p := part.(type) {
	case *syntax.Lit:
		if hasTilde(p.Value, first) {
			f.quoted(r.mystery(lo, hi))
			return
		}
		f.bare = append(f.bare, unescaped(r.layer.text[lo:hi])...)
		f.quoted(r.decode(lo, hi, unquoted))
	case *syntax.SglQuoted:
		if p.Dollar && (r.dialect == POSIX || strings.Contains(r.layer.text[lo:hi], `\`)) {
			f.quoted(r.mystery(lo, hi))
			return
		}
		if p.Dollar {
			lo++
		}
		f.quoted(r.decode(lo+1, hi-1, single))
	case *syntax.DblQuoted:
		if p.Dollar {
			f.quoted(r.mystery(lo, hi))
			return
		}
		r.doubleQuoted(f, p)
	case *syntax.ParamExp:
		if all, ok := r.everyElement(p); ok {
			r.splitEach(f, all)
			return
		}
		f.split(r.param(p))
	case *syntax.CmdSubst:
		f.split(r.substituted(p))
	default:
		r.inside(part)
		f.quoted(r.manyOf(lo, hi))
	}
}

// splitEach adds the words of $@ outside of quotes.
func (r *reader) splitEach(f *fields, all []field) {
	for i, one := range all {
		if i > 0 {
			f.finish()
		}
		f.split(one.chars)
	}
}

func (r *reader) doubleQuoted(f *fields, q *syntax.DblQuoted) {
	f.quoted(nil)
	_, end := offsets(q)
	r.quotedParts(f, q.Parts, end-1, double)
}

// quotedParts adds what stands in double quotes or in a here-document, up to end.
func (r *reader) quotedParts(f *fields, parts []syntax.WordPart, end int, quote quoting) {
	var here *run
	for i, part := range parts {
		lo, hi := offsets(part)
		switch p := part.(type) {
		case *syntax.Lit:
			// A continued line ends one literal and begins the next.
			if hi = end; i+1 < len(parts) {
				hi, _ = offsets(parts[i+1])
			}
			text := r.decodeInto(here, lo, hi, quote)
			if len(text) > 0 {
				here = text[len(text)-1].run
			}
			f.quoted(text)
			continue
		case *syntax.ParamExp:
			r.quotedParam(f, p)
		case *syntax.CmdSubst:
			f.quoted(one(r.substituted(p)))
		default:
			r.inside(part)
			f.quoted(r.mystery(lo, hi))
		}
		here = nil
	}
}

func (r *reader) quotedParam(f *fields, p *syntax.ParamExp) {
	if all, ok := r.everyElement(p); ok {
		f.list(all)
		return
	}
	text := r.param(p)
	if !severalInQuotes(p) {
		text = one(text)
	}
	f.quoted(text)
}

// severalInQuotes tells whether an expansion may be several words even inside
// double quotes.
func severalInQuotes(p *syntax.ParamExp) bool {
	return p.Param != nil && p.Param.Value == "@" || isAt(p.Index) || p.Names != 0
}

// substituted is what a command substitution leaves: nothing where it holds only
// a comment, else an unknown text. Its commands are read.
func (r *reader) substituted(p *syntax.CmdSubst) chars {
	if len(p.Stmts) == 0 {
		return nil
	}
	lo, hi := offsets(p)
	r.inside(p)
	return r.manyOf(lo, hi)
}

// mystery is a stretch of the layer whose value is not known.
func (r *reader) mystery(lo, hi int) chars {
	from, to, outer := r.layer.place(lo, hi)
	text := unknown(r.layer.raw(lo, hi), r.layer.chars[lo:hi].needs()...)
	text[0].from, text[0].to, text[0].run = from, to, outer
	return text
}

// decode reads literal text of the layer as it is written in these quotes.
func (r *reader) decode(lo, hi int, quote quoting) chars {
	return r.decodeInto(nil, lo, hi, quote)
}

// decodeInto is decode for text that goes on with a run.
func (r *reader) decodeInto(here *run, lo, hi int, quote quoting) chars {
	var out chars
	for i := lo; i < hi; i++ {
		size := 1
		if r.layer.text[i] == '\\' && i+1 < hi && quote != single {
			switch next := r.layer.text[i+1]; {
			case next == '\n':
				i++
				continue
			case quote == unquoted || strings.IndexByte(escapable[quote], next) >= 0:
				size = 2
			}
		}
		c := r.layer.chars[i+size-1]
		from, to, outer := r.layer.place(i, i+size)
		if here == nil || here.outer != outer {
			here = &run{quote: quote, outer: outer}
			if outer != nil {
				here.source = outer.source
			}
		}
		if quote == unquoted {
			c = c.splittable()
		}
		c.from, c.to, c.run = from, to, here
		out = append(out, c)
		i += size - 1
	}
	return out
}

// differs tells whether a word means different things to different shells, or
// expands to words that are not read here: a brace expansion, and $'…' where the
// shell need not be bash.
func (r *reader) differs(w *syntax.Word) bool {
	split := &syntax.Word{Parts: slices.Clone(w.Parts)}
	syntax.SplitBraces(split)
	for i, part := range split.Parts {
		if _, ok := part.(*syntax.BraceExp); ok {
			return true
		}
		if lit, ok := part.(*syntax.Lit); ok && r.dialect == POSIX && i+1 < len(split.Parts) && strings.HasSuffix(lit.Value, "$") {
			return true
		}
	}
	return false
}

// globbed marks words that the shell replaces by the names of files.
func (r *reader) globbed(w *syntax.Word, list []field) []field {
	lo, hi := offsets(w)
	for i := range list {
		if list[i].glob && r.scope.globs {
			list[i].chars = r.manyOf(lo, hi)
		}
	}
	return list
}

// hasTilde tells whether the shell puts a home directory into a literal.
func hasTilde(text string, first bool) bool {
	if first && strings.HasPrefix(text, "~") || strings.Contains(text, ":~") {
		return true
	}
	name, value, assigns := strings.Cut(text, "=")
	return assigns && validName(name) && strings.HasPrefix(value, "~")
}

// unescaped are the bytes of a bare literal without those behind a backslash.
func unescaped(written string) []byte {
	var bare []byte
	for i := 0; i < len(written); i++ {
		if written[i] == '\\' {
			i++
			continue
		}
		bare = append(bare, written[i])
	}
	return bare
}
