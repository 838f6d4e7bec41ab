package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// assign follows NAME=value, NAME+=value and NAME=(…).
func (r *reader) assign(a *syntax.Assign, exported bool) {
	if a.Name == nil {
		r.goWild()
		return
	}
	name := a.Name.Value
	old, known := r.lookup(name)
	switch {
	case a.Index != nil:
		r.value(a.Value)
		r.set(name, variable{lost: true, array: true, exported: exported})
	case a.Array != nil:
		r.assignArray(name, a, old, known)
	case !a.Append:
		r.set(name, variable{text: r.value(a.Value), exported: exported})
	case !known:
		text := append(unknown("$"+name, name), r.value(a.Value)...)
		text[0].piece.many = true
		r.set(name, variable{text: text, exported: exported})
	case old.array:
		r.set(name, variable{lost: true, array: true})
	default:
		text := append(append(chars{}, old.text...), r.value(a.Value)...)
		r.set(name, variable{text: text, exported: exported})
	}
}

func (r *reader) assignArray(name string, a *syntax.Assign, old *variable, known bool) {
	v := variable{array: true}
	if a.Append {
		v.lost = !known || !old.array
		if known {
			v.elements = append(v.elements, old.elements...)
		}
	}
	for _, element := range a.Array.Elems {
		if element.Index != nil || element.Value == nil {
			v.lost = true
			r.inside(element)
			continue
		}
		v.elements = append(v.elements, r.fields(element.Value, inArray)...)
	}
	r.set(name, v)
}

// declare follows export, declare, local and their kin as bash reads them.
func (r *reader) declare(c *syntax.DeclClause) {
	flags := ""
	for _, a := range c.Args {
		if a.Naked && a.Name == nil {
			flag := r.value(a.Value)
			if !flag.known() {
				r.goWild()
				return
			}
			flags += flag.String()
			continue
		}
		exports := c.Variant.Value == "export" && !strings.Contains(flags, "n") || strings.Contains(flags, "x")
		if a.Naked {
			r.export(a.Name.Value, exports)
			continue
		}
		r.assign(a, exports)
		if strings.ContainsAny(flags, "iulnA") {
			r.forget(a.Name.Value)
		}
	}
	if c.Variant.Value == "local" {
		r.localize(c)
	}
}

// localize forgets local variables when what declared them may have returned.
func (r *reader) localize(c *syntax.DeclClause) {
	for _, a := range c.Args {
		if a.Name != nil {
			r.locals = append(r.locals, a.Name.Value)
		}
	}
}

// export marks a variable for the programs that run from here on.
func (r *reader) export(name string, exports bool) {
	if !exports {
		return
	}
	v := variable{lost: true}
	if old, known := r.lookup(name); known {
		v = *old
	}
	v.exported = true
	r.set(name, v)
}

// declareWords follows export and its kin as a plain shell reads them: as a
// command with words.
func (r *reader) declareWords(builtin string, arguments []field) {
	for _, f := range arguments {
		text := f.chars.String()
		name, _, assigns := strings.Cut(text, "=")
		switch {
		case strings.HasPrefix(text, "-"):
		case !validName(name):
			r.goWild()
			return
		case assigns:
			r.set(name, variable{text: f.chars[len(name)+1:], exported: builtin == "export"})
		default:
			r.export(name, builtin == "export")
		}
		if assigns && builtin == "local" {
			r.locals = append(r.locals, name)
		}
	}
}
