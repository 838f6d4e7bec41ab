package shell

import "strings"

// quoting is how a stretch of text is written in the text around it.
type quoting int

const (
	asIs     quoting = iota // as in a text that is no script
	unquoted                // bare, with backslashes
	single
	double
	hereDocument
)

// escapable are the bytes that a backslash makes literal in such quotes.
var escapable = map[quoting]string{double: "\\$\"`", hereDocument: "\\$`"}

// encode writes a text so that it can stand inside the run.
func (r *run) encode(text string) string {
	switch r.quote {
	case single:
		text = strings.ReplaceAll(text, "'", `'\''`)
	case double:
		text = escape(text, escapable[double])
	case unquoted:
		text = escape(text, "\\$\"`'\t !#&()*;<=>?[]^{|}~")
	}
	if r.outer == nil {
		return text
	}
	return r.outer.encode(text)
}

// writable tells whether a text can be written inside the run at all: a line
// break cannot be escaped outside of quotes.
func (r *run) writable(text string) bool {
	for ; r != nil; r = r.outer {
		if r.quote == unquoted && strings.Contains(text, "\n") {
			return false
		}
	}
	return true
}

func escape(text, special string) string {
	var b strings.Builder
	for i := range len(text) {
		if strings.IndexByte(special, text[i]) >= 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

// quoteLike writes a text as one shell word, in the quotes of the word that
// stands there now where that is possible.
func quoteLike(written, text string) string {
	switch {
	case whole(written, '\'') && !strings.Contains(text, "'"):
		return "'" + text + "'"
	case whole(written, '"'):
		return `"` + escape(text, "\\$\"`") + `"`
	case plain(text):
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// whole tells whether a word is written inside one pair of quotes.
func whole(written string, quote byte) bool {
	last := len(written) - 1
	if last < 1 || written[0] != quote || written[last] != quote {
		return false
	}
	return quote == '"' || strings.IndexByte(written[1:last], quote) < 0
}

// plain tells whether a text needs no quotes in any shell.
func plain(text string) bool {
	for i := range len(text) {
		c := text[i]
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if !letter && strings.IndexByte("-_./:,+@%=", c) < 0 {
			return false
		}
	}
	return text != ""
}
