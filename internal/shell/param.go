package shell

import (
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// param is the text of a parameter expansion.
func (r *reader) param(p *syntax.ParamExp) chars {
	lo, hi := offsets(p)
	many := r.manyOf(lo, hi)
	if p.Param == nil {
		return many
	}
	name := p.Param.Value
	many[0].piece.needs = []string{name}
	if !plainExpansion(p) || p.Index != nil {
		r.observeVariable(name)
	}
	if name == "#" || name == "*" || name == "@" {
		for _, f := range r.scope.params {
			r.observe(f.chars.String())
		}
	}
	text, known := r.parameter(name, p)
	if p.Exp != nil {
		return r.defaulted(p, text, known, many)
	}
	if !known || !plainExpansion(p) {
		return many
	}
	return text
}

// parameter is the value of a variable or a positional parameter.
func (r *reader) parameter(name string, p *syntax.ParamExp) (chars, bool) {
	if p.Excl || p.Length || p.Width || p.IsSet || p.Index != nil || p.Slice != nil || p.Repl != nil || p.Names != 0 {
		return nil, false
	}
	if n, err := strconv.Atoi(name); err == nil {
		switch {
		case n == 0:
			return r.scope.zero, r.scope.zero != nil
		case r.scope.paramsLost || many(r.scope.params):
			return nil, false
		case n > len(r.scope.params):
			return nil, p.Exp == nil
		}
		return r.scope.params[n-1].chars, true
	}
	v, known := r.lookup(name)
	if !known {
		return nil, false
	}
	if v.array {
		if len(v.elements) == 0 {
			return nil, true
		}
		return v.elements[0].chars, true
	}
	return v.text, true
}

// defaulted is ${NAME:-word} and its kin.
func (r *reader) defaulted(p *syntax.ParamExp, text chars, known bool, many chars) chars {
	word := r.alternative(p.Exp.Word)
	empty, filled := known && len(text) == 0, known && len(text) > 0 && text[0].piece == nil
	switch op := p.Exp.Op; op {
	case syntax.DefaultUnset, syntax.AssignUnset, syntax.ErrorUnset:
		if known {
			return text
		}
		if op != syntax.ErrorUnset {
			many[0].piece.ifUnset = word.whenKnown()
		}
	case syntax.DefaultUnsetOrNull, syntax.AssignUnsetOrNull, syntax.ErrorUnsetOrNull:
		if filled {
			return text
		}
		if empty && op == syntax.DefaultUnsetOrNull {
			return word
		}
		if op != syntax.ErrorUnsetOrNull {
			many[0].piece.ifUnset = word.whenKnown()
		}
	case syntax.AlternateUnset, syntax.AlternateUnsetOrNull:
		if filled || known && op == syntax.AlternateUnset {
			return word
		}
		if empty {
			return nil
		}
		many[0].piece.ifUnset = chars{}.whenKnown()
	default:
		r.observeVariable(p.Param.Value)
	}
	if op := p.Exp.Op; op == syntax.AssignUnset || op == syntax.AssignUnsetOrNull {
		r.forget(p.Param.Value)
	}
	return many
}

// alternative is the word inside ${NAME:-word}. It is not edited there.
func (r *reader) alternative(w *syntax.Word) chars {
	if w == nil {
		return nil
	}
	if lo, hi := offsets(w); lo < hi && strings.Contains(r.layer.text[lo:hi], `\`) {
		return r.mystery(lo, hi)
	}
	text := r.value(w)
	for i := range text {
		text[i].run = nil
	}
	return text
}
