package shell

import (
	"regexp"
	"strings"
)

// kubelet expands $(NAME) as the kubelet does before it starts the container:
// $$ is a dollar sign that does not begin a reference, and the reference to a
// variable that is not defined stays as it is.
// Source: Kubernetes, third_party/forked/golang/expansion, Expand.
func (r *reader) kubelet(text chars) chars {
	var out chars
	for i := 0; i < len(text); i++ {
		if text[i].b != '$' || i+1 == len(text) {
			out = append(out, text[i])
			continue
		}
		switch text[i+1].b {
		case '$':
			dollar := text[i]
			dollar.to = text[i+1].to
			out = append(out, dollar)
			i++
			continue
		case '(':
			end := i + 2
			for end < len(text) && text[end].b != ')' {
				end++
			}
			if end < len(text) {
				out = append(out, r.reference(text[i:end+1])...)
				i = end
				continue
			}
		}
		out = append(out, text[i])
	}
	return out
}

// reference is what the kubelet puts in the place of $(NAME).
func (r *reader) reference(written chars) chars {
	raw := written.String()
	name := strings.TrimSuffix(strings.TrimPrefix(raw, "$("), ")")
	value, defined := r.env[name]
	if defined {
		r.looked[name] = true
	}
	switch {
	case defined && !value.Unknown && strings.ContainsAny(value.Text, " \t\n"):
		return literal(envSource(name), value.Text)
	case defined && !value.Unknown:
		return written.replaced(value.Text)
	case defined, r.envFrom && validName(name):
		piece := written.replaced(string(rune(placeholder)))
		piece[0].piece = unknown(raw, name)[0].piece
		return piece
	}
	return written
}

// replaced is another text in the place of what is written.
func (c chars) replaced(text string) chars {
	list := make(chars, len(text))
	for i := range len(text) {
		list[i] = char{b: text[i], from: c[0].from, to: c[len(c)-1].to, run: c[0].run}
	}
	return list
}

// expression is one that a template fills in.
var expression = regexp.MustCompile(`\{\{[^{}]*\}\}`)

// fillings puts unknown text in the place of what a template fills in.
func fillings(text chars, written string) chars {
	var out chars
	from := 0
	for _, at := range expression.FindAllStringIndex(written, -1) {
		filled := text[at[0]:at[1]].replaced(string(rune(placeholder)))
		filled[0].piece = &piece{raw: written[at[0]:at[1]]}
		out = append(append(out, text[from:at[0]]...), filled...)
		from = at[1]
	}
	return append(out, text[from:]...)
}

func envSource(name string) Source { return Source("env/" + name) }

// validName tells whether a text can be the name of a shell variable.
func validName(name string) bool {
	for i := range len(name) {
		c := name[i]
		letter := c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return name != ""
}
