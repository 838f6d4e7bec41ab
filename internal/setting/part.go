package setting

import "github.com/trimtab/trimtab/internal/shell"

// Part is the last element of a path that leads to a word inside a scalar.
type Part struct {
	Script *Script
	// Span is where the word stands in the decoded text of the scalar.
	Span shell.Span
}

// Script is a shell script in a manifest, with the scalars that hold its texts.
type Script struct {
	shell.Script
	// Places lead to the scalars of the script's own text, of the variables and of
	// the arguments; a text that stands in no manifest is missing.
	Places map[shell.Source]Path
	// Given are the arguments as words, with the origins they have by themselves.
	Given []Word
	// Name tells people where the script's own text stands when it has no place.
	Name string
}

// Part takes a path apart into that of the scalar and the word in it; false for
// a path that leads to a node.
func (p Path) Part() (Path, Part, bool) {
	if len(p) == 0 {
		return p, Part{}, false
	}
	part, is := p[len(p)-1].(Part)
	if !is {
		return p, Part{}, false
	}
	return p[:len(p)-1], part, true
}
