package server

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/trimtab/trimtab/internal/shell"
)

// unknownText stands in a word of a script for what only the running script
// knows.
const unknownText = "\x00"

// script reads the commands of a shell script in their order, with what is
// needed to tell where files are removed: pipes, quotes, variables that are
// given a text, and loops over words. Whether a branch is taken it does not ask:
// each one is read.
func (r *deletionReader) script(text string) {
	file, _, err := shell.Parse(text, shell.Bash)
	if err != nil {
		r.unclear("a script that no shell reads")
		return
	}
	syntax.Walk(file, func(node syntax.Node) bool {
		if declared, is := node.(*syntax.FuncDecl); is && declared.Name != nil {
			r.functions = append(r.functions, declared.Name.Value)
		}
		return true
	})
	r.statements(file.Stmts)
}

// fed reads commands that share what comes out of a pipe.
func (r *deletionReader) fed(list []*syntax.Stmt, piped []string) {
	for _, statement := range list {
		r.command(statement.Cmd, piped)
	}
}

func (r *deletionReader) statements(list []*syntax.Stmt) {
	r.fed(list, nil)
}

// command reads one command, simple or not; piped and printed are paths, as in
// run.
func (r *deletionReader) command(command syntax.Command, piped []string) (printed []string) {
	switch c := command.(type) {
	case *syntax.CallExpr:
		return r.call(c, piped)
	case *syntax.BinaryCmd:
		printed = r.command(c.X.Cmd, piped)
		if c.Op != syntax.Pipe && c.Op != syntax.PipeAll {
			printed = nil
		}
		return r.command(c.Y.Cmd, printed)
	case *syntax.Block:
		r.fed(c.Stmts, piped)
	case *syntax.Subshell:
		dir := r.dir
		r.fed(c.Stmts, piped)
		r.dir = dir
	case *syntax.IfClause:
		for branch := c; branch != nil; branch = branch.Else {
			r.statements(branch.Cond)
			r.statements(branch.Then)
		}
	case *syntax.WhileClause:
		r.fed(c.Cond, piped)
		r.statements(c.Do)
	case *syntax.ForClause:
		r.loop(c)
	case *syntax.CaseClause:
		for _, item := range c.Items {
			r.statements(item.Stmts)
		}
	case *syntax.FuncDecl:
		if c.Body != nil {
			r.command(c.Body.Cmd, nil)
		}
	case *syntax.TimeClause:
		if c.Stmt != nil {
			return r.command(c.Stmt.Cmd, piped)
		}
	case *syntax.CoprocClause:
		r.command(c.Stmt.Cmd, nil)
	case *syntax.DeclClause:
		r.assign(c.Args)
	}
	return nil
}

// call reads a simple command.
func (r *deletionReader) call(call *syntax.CallExpr, piped []string) []string {
	r.assign(call.Assigns)
	var words []string
	for _, word := range call.Args {
		words = append(words, r.expand(word.Parts)...)
	}
	if len(words) > 0 && slices.Contains(r.functions, words[0]) {
		return nil // its body is read where it stands
	}
	return r.run(words, piped)
}

func (r *deletionReader) assign(list []*syntax.Assign) {
	for _, assign := range list {
		switch {
		case assign.Name == nil || assign.Naked:
		case assign.Value == nil && assign.Array == nil:
			r.variables[assign.Name.Value] = []string{""}
		case assign.Value == nil || assign.Append || assign.Index != nil:
			delete(r.variables, assign.Name.Value)
		default:
			r.variables[assign.Name.Value] = r.expand(assign.Value.Parts)
		}
	}
}

// loop: for NAME in WORDS.
func (r *deletionReader) loop(loop *syntax.ForClause) {
	if over, is := loop.Loop.(*syntax.WordIter); is {
		var values []string
		for _, word := range over.Items {
			values = append(values, r.expand(word.Parts)...)
		}
		if len(values) == 0 {
			values = []string{unknownText}
		}
		r.variables[over.Name.Value] = values
	}
	r.statements(loop.Do)
}

// expand puts the values of variables into a word: one word for each text that
// a loop gives.
func (r *deletionReader) expand(parts []syntax.WordPart) []string {
	expanded := []string{""}
	for _, part := range parts {
		var longer []string
		for _, text := range expanded {
			for _, value := range r.part(part) {
				longer = append(longer, text+value)
			}
		}
		const most = 100
		expanded = longer[:min(len(longer), most)]
	}
	return expanded
}

// part is what a part of a word may stand for.
func (r *deletionReader) part(part syntax.WordPart) []string {
	switch p := part.(type) {
	case *syntax.Lit:
		return []string{unescaped(p.Value, "")}
	case *syntax.SglQuoted:
		return []string{p.Value}
	case *syntax.DblQuoted:
		inner := make([]syntax.WordPart, len(p.Parts))
		for i, one := range p.Parts {
			inner[i] = one
			if literal, is := one.(*syntax.Lit); is {
				inner[i] = &syntax.SglQuoted{Value: unescaped(literal.Value, "$`\"\\\n")}
			}
		}
		return r.expand(inner)
	case *syntax.ParamExp:
		return r.variable(p)
	case *syntax.CmdSubst:
		r.statements(p.Stmts)
	}
	return []string{unknownText}
}

// variable is what $NAME and ${NAME:-default} may stand for.
func (r *deletionReader) variable(p *syntax.ParamExp) []string {
	known, ok := r.variables[p.Param.Value]
	changed := p.Excl || p.Length || p.Width || p.Index != nil || p.Slice != nil || p.Repl != nil || p.Names != 0
	isDefault := p.Exp != nil && (p.Exp.Op == syntax.DefaultUnset || p.Exp.Op == syntax.DefaultUnsetOrNull)
	switch {
	case changed || p.Exp != nil && !isDefault:
		return []string{unknownText}
	case ok:
		return known
	case isDefault && p.Exp.Word != nil:
		return r.expand(p.Exp.Word.Parts)
	}
	return []string{unknownText}
}

// unescaped takes the backslashes from a text: those before the given characters,
// or all.
func unescaped(text, special string) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+1 < len(text) && (special == "" || strings.IndexByte(special, text[i+1]) >= 0) {
			i++
			if text[i] == '\n' {
				continue
			}
		}
		b.WriteByte(text[i])
	}
	return b.String()
}
