package shell

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// call follows a simple command.
func (r *reader) call(c *syntax.CallExpr, redirects []*syntax.Redirect) {
	all := r.words(c.Args, inCommand)
	if len(all) == 0 {
		for _, a := range c.Assigns {
			r.assign(a, false)
		}
		return
	}
	assigns := r.prefix(c.Assigns)
	name := all[0].chars
	if f, ours := r.scope.functions[name.String()]; ours && name.known() {
		r.observeArguments(all)
		if f == nil {
			all[0] = field{chars: unknown(name.String()), fixed: "a function of the script may take its place"}
			r.emit(all, assigns)
			r.goWild()
			return
		}
		r.enter(f, all[1:])
		return
	}
	if r.nested(all, redirects) {
		r.scope.ended = r.scope.ended || name.String() == "exec"
		return
	}
	r.emit(all, assigns)
	if name.known() {
		r.effects(all)
	} else if len(assigns) == 0 && name.many() {
		r.goWild() // it may be any builtin
	}
}

// observeArguments notes the words of a function call that have no place of
// their own: the others are words of the commands in the function.
func (r *reader) observeArguments(all []field) {
	for _, f := range all {
		if _, together := f.site.span(); !together || f.site.kind == inText {
			r.observe(f.chars.String())
		}
	}
}

// prefix are the assignments in front of a command.
func (r *reader) prefix(list []*syntax.Assign) []Assign {
	var assigns []Assign
	for _, a := range list {
		if a.Name == nil {
			continue
		}
		one := field{chars: r.value(a.Value)}
		if a.Value != nil {
			lo, hi := offsets(a.Value)
			one.site = site{kind: inCommand, layer: r.layer, lo: lo, hi: hi}
		}
		if a.Append {
			one.chars = unknown("$"+a.Name.Value, a.Name.Value)
		}
		assigns = append(assigns, Assign{Name: a.Name.Value, Value: one.word()})
	}
	return assigns
}

// emit adds a command.
func (r *reader) emit(all []field, assigns []Assign) {
	command := Command{Conditional: r.conditional > 0, Env: append(r.exports(), assigns...)}
	for _, f := range all {
		command.Words = append(command.Words, f.word())
	}
	if slices.ContainsFunc(all, func(f field) bool { return path.Base(f.chars.String()) == "xargs" }) {
		command.Words = append(command.Words, Word{Unknown: true, Many: true, Fixed: "xargs reads it from its input"})
	}
	r.commands = append(r.commands, command)
}

// nested follows a literal script that the command hands to eval or to another
// shell; false when it hands over none.
func (r *reader) nested(all []field, redirects []*syntax.Redirect) bool {
	if r.depth > maxDepth {
		return false
	}
	texts := make([]string, len(all))
	for i, f := range all {
		texts[i] = f.chars.String()
	}
	if texts[0] == "eval" {
		return r.eval(all[1:])
	}
	invocation, ok := FindShell(texts)
	if !ok {
		return false
	}
	var script *layer
	switch {
	case invocation.Script < 0:
		if script = r.piped(redirects); script == nil {
			return false
		}
	case invocation.File:
		return false
	default:
		script = newLayer(all[invocation.Script].chars)
		script.fixed = r.layer.fixed
	}
	for i, f := range all {
		if i != invocation.Script && (i < invocation.Script || invocation.Script < 0) {
			r.observe(f.chars.String())
		}
	}
	return r.child(script, invocation, all)
}

// piped is the script that a here-document hands to a shell.
func (r *reader) piped(redirects []*syntax.Redirect) *layer {
	for _, redirect := range redirects {
		if redirect.Hdoc != nil {
			script := newLayer(r.heredoc(redirect))
			script.fixed = "it stands in a here-document"
			return script
		}
	}
	return nil
}

// child follows a script in a shell of its own, which sees only what is exported.
func (r *reader) child(script *layer, invocation Invocation, all []field) bool {
	outer := r.scope
	r.scope = newScope()
	r.scope.wild = outer.wild
	for name, v := range outer.variables {
		kept := *v
		kept.lost = v.lost || !v.exported
		r.scope.variables[name] = &kept
	}
	if invocation.Script >= 0 && invocation.Script+1 < len(all) {
		behind := all[invocation.Script+1:]
		r.scope.zero, r.scope.params = behind[0].chars, behind[1:]
		r.scope.paramsLost = slices.ContainsFunc(behind, func(f field) bool { return f.chars.many() })
	}
	err := r.script(script, invocation.Dialect)
	r.scope = outer
	return err == nil
}

// eval follows the text that its words join to.
func (r *reader) eval(all []field) bool {
	var text chars
	for i, f := range all {
		if i > 0 {
			text = append(text, char{b: ' '})
		}
		text = append(text, f.chars...)
	}
	script := newLayer(text)
	script.fixed = r.layer.fixed
	if err := r.script(script, r.dialect); err != nil {
		return false
	}
	if !text.known() {
		r.goWild()
	}
	return true
}

// effects are what a builtin does to the shell itself.
func (r *reader) effects(all []field) {
	name := all[0].chars.String()
	arguments := all[1:]
	switch name {
	case "exec", "exit":
		r.scope.ended = name == "exit" || len(arguments) > 0
	case "export", "readonly", "local", "typeset", "declare":
		r.declareWords(name, arguments)
	case "eval", ".", "source":
		if name != "eval" && len(arguments) == 1 && strings.HasSuffix(arguments[0].chars.String(), "/bin/activate") {
			return // of a virtual environment: it sets PATH, PS1 and its own
		}
		r.goWild()
	case "builtin", "command":
		if len(arguments) > 0 && arguments[0].chars.String() != "-v" && !plainProgram(arguments) {
			r.goWild()
		}
	case "read", "getopts", "mapfile", "readarray", "printf", "unset", "let", "wait":
		for _, f := range arguments {
			r.forgetWord(name, f.chars)
		}
	case "set":
		r.setOptions(arguments)
	case "shift":
		r.shift(arguments)
	case "shopt", "alias":
		r.scope.globs = true
	}
}

// plainProgram tells whether the words behind command begin no builtin that
// changes variables.
func plainProgram(arguments []field) bool {
	name := arguments[0].chars
	return name.known() && !strings.HasPrefix(name.String(), "-") && !slices.Contains([]string{
		"export", "readonly", "local", "typeset", "declare", "eval", ".", "source", "read", "getopts", "mapfile",
		"readarray", "printf", "unset", "let", "wait", "set", "shift", "builtin", "command",
	}, name.String())
}

// forgetWord forgets the variable a builtin names in a word.
func (r *reader) forgetWord(builtin string, word chars) {
	name, _, _ := strings.Cut(word.String(), "[")
	name, _, _ = strings.Cut(name, "=")
	switch {
	case !word.known() && builtin != "printf":
		r.goWild()
	case validName(name):
		r.forget(name)
	case builtin == "unset" && validName(strings.TrimPrefix(name, "-")):
		return
	}
}

// setOptions follows set: options that matter here, and new parameters.
func (r *reader) setOptions(arguments []field) {
	for i := 0; i < len(arguments); i++ {
		word := arguments[i].chars
		text := word.String()
		switch {
		case !word.known():
			r.scope.paramsLost = true
			return
		case text == "--":
			r.scope.params, r.scope.paramsLost = arguments[i+1:], many(arguments[i+1:])
			return
		case text == "-o" || text == "+o":
			if i++; i < len(arguments) && arguments[i].chars.String() == "allexport" {
				r.scope.exportAll = text == "-o"
			}
		case strings.HasPrefix(text, "-") && len(text) > 1:
			r.scope.exportAll = r.scope.exportAll || strings.Contains(text, "a")
			r.scope.globs = r.scope.globs && !strings.Contains(text, "f")
			if strings.HasSuffix(text, "o") {
				i++
			}
		case strings.HasPrefix(text, "+") && len(text) > 1:
			r.scope.globs = r.scope.globs || strings.Contains(text, "f")
		default:
			r.scope.params, r.scope.paramsLost = arguments[i:], many(arguments[i:])
			return
		}
	}
}

func many(list []field) bool {
	return slices.ContainsFunc(list, func(f field) bool { return f.chars.many() })
}

func (r *reader) shift(arguments []field) {
	if len(arguments) > 0 && arguments[0].chars.String() != "1" || len(r.scope.params) == 0 {
		r.scope.paramsLost = true
		return
	}
	r.scope.params = r.scope.params[1:]
}
