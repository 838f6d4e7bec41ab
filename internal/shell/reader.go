package shell

import (
	"fmt"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// maxSteps bounds the statements that are followed, maxDepth how deep scripts
// and functions are nested.
const (
	maxSteps = 20_000
	maxDepth = 12
)

// reader follows a script statement by statement.
type reader struct {
	env     map[string]Value
	envFrom bool

	dialect Dialect
	layer   *layer
	scope   *scope

	commands []Command
	// observed are texts that the script reads otherwise than as words of a
	// command: an edit may not change them.
	observed []string
	// lost are the values of variables where the script is not followed any
	// further: an edit may not change them either.
	lost []string
	// comments are those of the script, which an edit keeps.
	comments []string
	// functions are those of the script by their bodies, defined in order.
	functions map[*syntax.Stmt]*function
	defined   []*function
	// looked are the variables from outside that the script looks up.
	looked map[string]bool
	// locals are the variables that the functions being followed declared.
	locals []string

	conditional  int
	depth, steps int
	// copied counts the bytes and fields taken out of variables so far.
	copied int
}

func newReader(s Script) *reader {
	r := &reader{env: s.Env, envFrom: s.EnvFrom, functions: map[*syntax.Stmt]*function{}, looked: map[string]bool{}}
	r.scope = newScope()
	for i, arg := range s.Args {
		source := Source(fmt.Sprintf("arg/%d", i))
		text := literal(source, arg.Text)
		if arg.Unknown {
			text = chars{{b: placeholder, to: len(arg.Text), run: &run{source: source}, piece: &piece{raw: arg.Text}}}
		}
		if i == 0 {
			r.scope.zero = text
			continue
		}
		r.scope.params = append(r.scope.params, field{chars: text, site: wholeArgument(text)})
	}
	return r
}

func newScope() *scope {
	return &scope{variables: map[string]*variable{}, functions: map[string]*function{}, splits: true, globs: true}
}

// observe notes a text that an edit may not change.
func (r *reader) observe(text string) { r.observed = append(r.observed, text) }

// observeVariable notes the value of a variable that is read in another way than
// as words of a command.
func (r *reader) observeVariable(name string) {
	v, known := r.lookup(name)
	if !known {
		return
	}
	texts := []string{v.text.String()}
	for _, element := range v.elements {
		texts = append(texts, element.chars.String())
	}
	r.observe(name + "=" + strings.Join(texts, "\x00"))
}

// script reads a whole text as a script.
func (r *reader) script(text *layer, dialect Dialect) error {
	file, spoken, err := Parse(text.text, dialect)
	if err != nil {
		return err
	}
	outer, language := r.layer, r.dialect
	r.layer, r.dialect = text, spoken
	r.note(file)
	r.depth++
	r.stmts(file.Stmts)
	r.depth--
	r.layer, r.dialect = outer, language
	return nil
}

// note keeps the comments of a script, and what it reads from here-documents
// and files.
func (r *reader) note(file *syntax.File) {
	syntax.Walk(file, func(n syntax.Node) bool {
		if c, ok := n.(*syntax.Comment); ok {
			r.comments = append(r.comments, c.Text)
		}
		return true
	})
}

func (r *reader) stmts(list []*syntax.Stmt) {
	for _, st := range list {
		r.stmt(st)
	}
}

func (r *reader) stmt(st *syntax.Stmt) {
	if r.steps++; st == nil || r.steps > maxSteps || r.scope.ended {
		return
	}
	if st.Background || st.Coprocess {
		r.subshell(func() { r.run(st) })
		return
	}
	r.run(st)
}

// run follows one statement in this shell.
func (r *reader) run(st *syntax.Stmt) {
	for _, redirect := range st.Redirs {
		r.redirect(redirect)
	}
	switch c := st.Cmd.(type) {
	case nil:
	case *syntax.CallExpr:
		r.call(c, st.Redirs)
	case *syntax.DeclClause:
		r.declare(c)
	case *syntax.Block:
		r.stmts(c.Stmts)
	case *syntax.Subshell:
		r.subshell(func() { r.stmts(c.Stmts) })
	case *syntax.BinaryCmd:
		r.binary(c)
	case *syntax.IfClause:
		r.branch(c)
	case *syntax.WhileClause:
		r.loop(func() { r.stmts(c.Cond); r.stmts(c.Do) })
	case *syntax.ForClause:
		r.forEach(c)
	case *syntax.CaseClause:
		r.choose(c)
	case *syntax.FuncDecl:
		r.define(c)
	case *syntax.TimeClause:
		r.stmt(c.Stmt)
	default:
		r.inside(c)
		r.forgetNamed(c)
	}
}

// subshell follows statements whose variables do not outlive them.
func (r *reader) subshell(body func()) {
	kept := r.scope
	r.scope = kept.clone()
	body()
	r.scope = kept
}

// maybe follows statements that may run or not.
func (r *reader) maybe(body func()) {
	before := r.scope.clone()
	r.conditional++
	body()
	r.conditional--
	r.meet(r.scope, before)
}

// loop follows statements that may run several times: what they change is not
// known from their beginning on.
func (r *reader) loop(body func()) {
	commands, observed := len(r.commands), len(r.observed)
	r.maybe(body)
	r.commands, r.observed = r.commands[:commands], r.observed[:observed]
	r.maybe(body)
}

func (r *reader) forEach(c *syntax.ForClause) {
	words, ok := c.Loop.(*syntax.WordIter)
	if !ok {
		r.inside(c.Loop)
		r.loop(func() { r.forgetNamed(c.Loop); r.stmts(c.Do) })
		return
	}
	for _, item := range r.words(words.Items, inCommand) {
		r.observe(item.chars.String())
	}
	r.loop(func() {
		r.forget(words.Name.Value)
		r.stmts(c.Do)
	})
}

// binary follows two statements around &&, || or |.
func (r *reader) binary(c *syntax.BinaryCmd) {
	switch c.Op {
	case syntax.AndStmt:
		r.chain(c)
	case syntax.OrStmt:
		r.stmt(c.X)
		r.maybe(func() { r.stmt(c.Y) })
	default:
		r.subshell(func() { r.stmt(c.X) })
		r.subshell(func() { r.stmt(c.Y) })
	}
}

// chain follows statements joined by &&. Inside the chain each one has
// succeeded; behind it, what came after one that can fail may not have run.
func (r *reader) chain(c *syntax.BinaryCmd) {
	var links []*syntax.Stmt
	for {
		links = append(links, c.Y)
		next, ok := c.X.Cmd.(*syntax.BinaryCmd)
		if !ok || next.Op != syntax.AndStmt || c.X.Negated || len(c.X.Redirs) > 0 {
			links = append(links, c.X)
			break
		}
		c = next
	}
	slices.Reverse(links)
	var failed *scope
	for i, st := range links {
		r.stmt(st)
		if failed == nil && i < len(links)-1 && !succeeds(st) {
			failed = r.scope.clone()
		}
	}
	if failed != nil {
		r.meet(r.scope, failed)
	}
}

// succeeds tells whether a statement cannot fail.
func succeeds(st *syntax.Stmt) bool {
	if st.Negated || len(st.Redirs) > 0 {
		return false
	}
	switch c := st.Cmd.(type) {
	case *syntax.CallExpr:
		return len(c.Args) == 0 && !substitutes(c)
	case *syntax.DeclClause:
		return c.Variant.Value == "export" && !substitutes(c)
	}
	return false
}

// substitutes tells whether a node runs commands of its own.
func substitutes(n syntax.Node) bool {
	found := false
	syntax.Walk(n, func(n syntax.Node) bool {
		_, is := n.(*syntax.CmdSubst)
		found = found || is
		return !found
	})
	return found
}

// branch follows an if: the first condition runs, all else may.
func (r *reader) branch(c *syntax.IfClause) {
	r.stmts(c.Cond)
	before := r.scope.clone()
	r.conditional++
	r.stmts(c.Then)
	if c.Else != nil {
		then := r.scope
		r.scope = before.clone()
		r.branch(c.Else)
		r.meet(r.scope, then)
	}
	r.conditional--
	r.meet(r.scope, before)
}

func (r *reader) choose(c *syntax.CaseClause) {
	r.observe(r.value(c.Word).String())
	before := r.scope
	after := before.clone()
	for _, item := range c.Items {
		r.scope = before.clone()
		for _, pattern := range item.Patterns {
			r.observe(r.value(pattern).String())
		}
		r.conditional++
		r.stmts(item.Stmts)
		r.conditional--
		r.meet(after, r.scope)
	}
	r.scope = after
}

func (r *reader) define(c *syntax.FuncDecl) {
	if c.Name == nil {
		return
	}
	f, again := r.functions[c.Body]
	if !again {
		f = &function{body: c.Body, layer: r.layer, dialect: r.dialect}
		r.functions[c.Body] = f
		r.defined = append(r.defined, f)
	}
	r.scope.functions[c.Name.Value] = f
}

// uncalled follows the functions that nothing calls by name: a trap might.
func (r *reader) uncalled() {
	r.conditional++
	for i := 0; i < len(r.defined); i++ {
		if f := r.defined[i]; !f.called {
			r.scope.ended = false
			r.goWild()
			r.enter(f, nil)
		}
	}
	r.conditional--
}

// enter follows the body of a function.
func (r *reader) enter(f *function, params []field) {
	if r.depth > maxDepth {
		r.goWild()
		return
	}
	f.called = true
	layer, dialect, outer, lost := r.layer, r.dialect, r.scope.params, r.scope.paramsLost
	r.layer, r.dialect = f.layer, f.dialect
	r.scope.params = params
	declared := len(r.locals)
	r.depth++
	r.stmt(f.body)
	r.depth--
	for _, name := range r.locals[declared:] {
		r.forget(name)
	}
	r.locals = r.locals[:declared]
	r.layer, r.dialect = layer, dialect
	r.scope.params, r.scope.paramsLost = outer, lost
}

// inside follows the commands that a node runs by itself, each in a shell of its
// own, and notes the variables it reads.
func (r *reader) inside(n syntax.Node) {
	syntax.Walk(n, func(n syntax.Node) bool {
		switch c := n.(type) {
		case *syntax.CmdSubst:
			if !c.Backquotes || !strings.Contains(r.rawOf(c), `\`) {
				r.subshell(func() { r.stmts(c.Stmts) })
			}
			return false
		case *syntax.ProcSubst:
			r.subshell(func() { r.stmts(c.Stmts) })
			return false
		case *syntax.CoprocClause:
			r.subshell(func() { r.stmt(c.Stmt) })
			return false
		case *syntax.ParamExp:
			if c.Param != nil {
				r.observeVariable(c.Param.Value)
			}
		}
		return true
	})
}

func (r *reader) rawOf(n syntax.Node) string {
	lo, hi := offsets(n)
	return r.layer.raw(lo, hi)
}

// forgetNamed forgets the variables that arithmetic may set.
func (r *reader) forgetNamed(n syntax.Node) {
	if _, test := n.(*syntax.TestClause); test {
		return
	}
	syntax.Walk(n, func(n syntax.Node) bool {
		if lit, ok := n.(*syntax.Lit); ok && validName(lit.Value) {
			r.observeVariable(lit.Value)
			r.forget(lit.Value)
		}
		return true
	})
}
