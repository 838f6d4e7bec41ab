package shell

import (
	"maps"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// variable is what the script knows of one of its variables.
type variable struct {
	text chars
	// elements are those of an array; nil for a plain variable.
	elements []field
	array    bool
	// lost variables have a value that is not known.
	lost     bool
	exported bool
}

// function is a function of the script with the text its body stands in.
type function struct {
	body    *syntax.Stmt
	layer   *layer
	dialect Dialect
	called  bool
}

// scope is the state of a shell at one point of the script.
type scope struct {
	variables map[string]*variable
	// functions by name; nil for one that may be defined or not.
	functions map[string]*function
	// params are $1 and on, zero is $0; paramsLost when they are not known.
	params     []field
	zero       chars
	paramsLost bool
	// wild is true when something unknown may have set any variable.
	wild bool
	// splits is false when IFS is no longer the default.
	splits bool
	// exportAll is set by set -a.
	exportAll bool
	// globs is false after set -f.
	globs bool
	// ended is true behind exec and exit: what follows does not run.
	ended bool
}

func (s *scope) clone() *scope {
	copied := *s
	copied.variables, copied.functions = maps.Clone(s.variables), maps.Clone(s.functions)
	return &copied
}

// meet leaves what is the same in both scopes: what one of two ways changed is
// not known where the ways meet.
func (r *reader) meet(s, other *scope) {
	for _, name := range slices.Sorted(maps.Keys(s.variables)) {
		if ours, theirs := s.variables[name], other.variables[name]; theirs != ours {
			s.variables[name] = r.common(name, ours, theirs)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(other.variables)) {
		if _, have := s.variables[name]; !have {
			s.variables[name] = r.common(name, other.variables[name], nil)
		}
	}
	for name, theirs := range other.functions {
		if s.functions[name] != theirs {
			s.functions[name] = nil
		}
	}
	for name, ours := range s.functions {
		if other.functions[name] != ours {
			s.functions[name] = nil
		}
	}
	if !slices.EqualFunc(s.params, other.params, func(a, b field) bool { return a.chars.String() == b.chars.String() }) {
		s.paramsLost = true
	}
	s.paramsLost = s.paramsLost || other.paramsLost
	s.wild = s.wild || other.wild
	s.splits = s.splits && other.splits
	s.globs = s.globs || other.globs
	s.exportAll = s.exportAll || other.exportAll
	s.ended = s.ended && other.ended
}

// common is what two values of a variable begin with, followed by what nobody
// knows: often one way only adds words to a list.
func (r *reader) common(name string, a, b *variable) *variable {
	if b == nil {
		r.lose(a)
		if value, outside := r.env[name]; outside && !value.Unknown {
			r.lost = append(r.lost, value.Text)
		}
		return &variable{lost: true, exported: a.exported}
	}
	met := &variable{exported: a.exported || b.exported, array: a.array}
	switch {
	case a.lost || b.lost || a.array != b.array:
		r.lose(a)
		r.lose(b)
		met.lost = true
	case a.array:
		n := 0
		for n < min(len(a.elements), len(b.elements)) && sameChars(a.elements[n].chars, b.elements[n].chars) {
			n++
		}
		rest := unknown("${"+name+"[@]}", name)
		rest[0] = rest[0].splittable()
		r.lose(&variable{elements: a.elements[n:]})
		r.lose(&variable{elements: b.elements[n:]})
		met.elements = append(slices.Clone(a.elements[:n]), field{chars: rest})
	default:
		n := commonText(a.text, b.text)
		r.lose(&variable{text: a.text[n:]})
		r.lose(&variable{text: b.text[n:]})
		rest := append(chars{{b: ' '}}, unknown("$"+name, name)...)
		met.text = append(slices.Clone(a.text[:n]), rest...)
	}
	return met
}

// lose notes the value of a variable that is not followed any further: what the
// script makes of it is not known, so that an edit may not change it.
func (r *reader) lose(v *variable) {
	if v.lost {
		return
	}
	if text := v.text.String(); text != "" {
		r.lost = append(r.lost, text)
	}
	for _, element := range v.elements {
		r.lost = append(r.lost, element.chars.String())
	}
}

// commonText is how far two texts begin with the same words.
func commonText(a, b chars) int {
	n := 0
	for n < min(len(a), len(b)) && sameChars(a[n:n+1], b[n:n+1]) {
		n++
	}
	ends := func(c chars) bool { return n == len(c) || c[n].piece == nil && strings.IndexByte(" \t\n", c[n].b) >= 0 }
	if !ends(a) || !ends(b) {
		for n > 0 && strings.IndexByte(" \t\n", a[n-1].b) < 0 {
			n--
		}
	}
	return n
}

// sameChars tells whether two texts are the same one, written in one place.
func sameChars(a, b chars) bool { return slices.Equal(a, b) }

// mostCopied bounds what one reading takes out of variables: a script that
// doubles a text line by line fills any memory. The kernel takes no argument of
// more than 128 KiB.
const mostCopied = 1 << 20

// size is what a look-up of the variable copies.
func (v *variable) size() int {
	size := len(v.text) + len(v.elements)
	for _, element := range v.elements {
		size += len(element.chars)
	}
	return size
}

// lookup finds a variable; false when its value is not known, or more than the
// reading can hold.
func (r *reader) lookup(name string) (*variable, bool) {
	if v, ours := r.scope.variables[name]; ours {
		r.copied += v.size()
		return v, !v.lost && r.copied <= mostCopied
	}
	r.looked[name] = true
	if r.scope.wild {
		return nil, false
	}
	value, defined := r.env[name]
	if !defined || value.Unknown {
		return nil, false
	}
	return &variable{text: literal(envSource(name), value.Text), exported: true}, true
}

// set gives a variable a new value, keeping that it is exported.
func (r *reader) set(name string, v variable) {
	old, ours := r.scope.variables[name]
	_, outside := r.env[name]
	v.exported = v.exported || r.scope.exportAll || ours && old.exported || !ours && outside
	if name == "IFS" {
		r.scope.splits = false
	}
	if v.exported && !v.lost {
		r.observe(name + "=" + v.text.String())
	}
	r.scope.variables[name] = &v
}

// forget makes the value of a variable unknown.
func (r *reader) forget(name string) {
	if v, known := r.lookup(name); known {
		r.lose(v)
	}
	r.set(name, variable{lost: true})
}

// goWild forgets all variables: something unknown runs in this shell.
func (r *reader) goWild() {
	for name, v := range r.scope.variables {
		r.scope.variables[name] = &variable{lost: true, exported: v.exported}
	}
	r.scope.wild, r.scope.paramsLost, r.scope.splits = true, true, false
}

// exports are the variables that the script exported, in order of their names.
func (r *reader) exports() []Assign {
	var list []Assign
	for _, name := range slices.Sorted(maps.Keys(r.scope.variables)) {
		v := r.scope.variables[name]
		if !v.exported || v.array {
			continue
		}
		text := v.text
		if v.lost {
			text = unknown("$"+name, name)
		}
		list = append(list, Assign{Name: name, Value: field{chars: text, fixed: "other commands may read the exported variable"}.word()})
	}
	return list
}
