package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// redirect follows a redirection: its words may not change.
func (r *reader) redirect(redirect *syntax.Redirect) {
	lo, hi := offsets(redirect.Word)
	r.observe(r.layer.raw(lo, hi) + "=" + r.value(redirect.Word).String())
	if redirect.Hdoc != nil {
		r.observe(r.heredoc(redirect).String())
	}
}

// heredoc is the text of a here-document, without the line that ends it.
func (r *reader) heredoc(redirect *syntax.Redirect) chars {
	if redirect.Hdoc == nil {
		return nil
	}
	lo, hi := offsets(redirect.Hdoc)
	end := lo + strings.LastIndexByte(r.layer.text[lo:hi], '\n') + 1
	switch {
	case lo == end:
		return nil
	case redirect.Op == syntax.DashHdoc:
		r.observeRead(redirect.Hdoc)
		return r.mystery(lo, end)
	case !isPlain(redirect.Word):
		return r.decode(lo, end, single)
	}
	var f fields
	r.quotedParts(&f, redirect.Hdoc.Parts, end, hereDocument)
	if len(f.done) > 0 {
		r.observeRead(redirect.Hdoc)
		return r.mystery(lo, end)
	}
	return one(f.cur)
}

// observeRead notes the variables that a word reads whose text is not followed.
func (r *reader) observeRead(w *syntax.Word) {
	syntax.Walk(w, func(n syntax.Node) bool {
		if p, ok := n.(*syntax.ParamExp); ok && p.Param != nil {
			r.observeVariable(p.Param.Value)
		}
		return true
	})
}

// isPlain tells whether a word is written without quotes.
func isPlain(w *syntax.Word) bool {
	for _, part := range w.Parts {
		lit, ok := part.(*syntax.Lit)
		if !ok || int(lit.End().Offset()-lit.Pos().Offset()) != len(lit.Value) || strings.Contains(lit.Value, `\`) {
			return false
		}
	}
	return true
}
