package engine

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"cel.dev/cel-go/cel"
	celast "cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"
	"cel.dev/cel-go/ext"
)

// Truth is the outcome of a condition over facts that may be unknown.
type Truth int

// The three outcomes.
const (
	Unknown Truth = iota
	False
	True
)

// condition is a compiled CEL expression and the names it asks for: settings by
// key (tp_size), facts by dotted name (gpu.count), `value` for the setting's own.
type condition struct {
	program cel.Program
	names   []string
}

// compile parses a condition once per process. Names are resolved when it is
// evaluated, so nothing has to be declared.
func compile(expression string) (*condition, error) {
	conditions.Lock()
	defer conditions.Unlock()
	if known, ok := conditions.byText[expression]; ok {
		return known, nil
	}
	env, err := environment()
	if err != nil {
		return nil, err
	}
	parsed, issues := env.Parse(expression)
	if issues.Err() != nil {
		return nil, fmt.Errorf("condition %q: %s", expression, issues.Errors()[0].Message)
	}
	program, err := env.Program(parsed, cel.EvalOptions(cel.OptOptimize))
	if err != nil {
		return nil, fmt.Errorf("condition %q: %w", expression, err)
	}
	compiled := &condition{program: program, names: namesIn(parsed)}
	conditions.byText[expression] = compiled
	return compiled, nil
}

var conditions = struct {
	sync.Mutex
	byText map[string]*condition
}{byText: map[string]*condition{}}

var environment = sync.OnceValues(func() (*cel.Env, error) { return cel.NewEnv(ext.Strings()) })

// namesIn lists the identifiers and dotted names of an expression.
func namesIn(parsed *cel.Ast) []string {
	var names []string
	inSelect := map[int64]bool{}
	bound := boundIn(parsed)
	visit := celast.NewExprVisitor(func(e celast.Expr) {
		name := ""
		switch e.Kind() {
		case celast.IdentKind:
			if !inSelect[e.ID()] && !bound[e.AsIdent()] {
				name = e.AsIdent()
			}
		case celast.SelectKind:
			if operand := e.AsSelect().Operand(); operand.Kind() == celast.IdentKind {
				inSelect[operand.ID()] = true
				name = operand.AsIdent() + "." + e.AsSelect().FieldName()
			}
		}
		if root, _, _ := cutName(name); name != "" && !bound[root] && !slices.Contains(names, name) {
			names = append(names, name)
		}
	})
	celast.PreOrderVisit(parsed.NativeRep().Expr(), visit)
	return names
}

// boundIn are the names that the macros of an expression bind: the element of a
// list that filter or map goes through.
func boundIn(parsed *cel.Ast) map[string]bool {
	bound := map[string]bool{}
	celast.PreOrderVisit(parsed.NativeRep().Expr(), celast.NewExprVisitor(func(e celast.Expr) {
		if e.Kind() == celast.ComprehensionKind {
			over := e.AsComprehension()
			bound[over.IterVar()], bound[over.AccuVar()] = true, true
		}
	}))
	return bound
}

// lookup gives the value of a name; known is false when it is decided
// elsewhere, and needs then names what would settle it.
type lookup func(name string) (value any, known bool, needs []string)

// outcome is what an expression evaluates to. Without Known, Needs names the
// facts that would settle it.
type outcome struct {
	Value any
	Known bool
	Needs []string
}

// truth reads an outcome as a condition.
func (o outcome) truth() (Truth, error) {
	if !o.Known {
		return Unknown, nil
	}
	switch o.Value {
	case true:
		return True, nil
	case false:
		return False, nil
	}
	return Unknown, fmt.Errorf("a condition must be true or false, not %v", o.Value)
}

// evaluate computes an expression. An error means that the expression asks for
// an operation its values do not have.
func (c *condition) evaluate(find lookup) (outcome, error) {
	names := &asked{names: c.names, find: find}
	result, _, err := c.program.Eval(names)
	if unknown, ok := result.(*types.Unknown); ok {
		return outcome{Needs: neededBy(unknown, names.needs)}, nil
	}
	if err != nil {
		return outcome{}, err
	}
	return outcome{Value: plainValue(result), Known: true}, nil
}

// asked resolves the names of a condition when they are asked for: what a
// condition decides without, is never computed. It is a cel.Activation.
type asked struct {
	names []string
	find  lookup
	// needs are what would settle each name that is not known.
	needs map[string][]string
}

// Parent is that of an activation on its own.
func (a *asked) Parent() cel.Activation { return nil }

// ResolveName finds a name, dotted ones as a whole.
func (a *asked) ResolveName(name string) (any, bool) {
	if !slices.Contains(a.names, name) {
		return nil, false
	}
	value, known, needs := a.find(name)
	if known {
		return value, true
	}
	if a.needs == nil {
		a.needs = map[string][]string{}
	}
	a.needs[name] = needs
	return types.NewUnknown(1, types.NewAttributeTrail(name)), true
}

// plainValue turns a result into a value as settings have them: nil for null, a
// list of plain values for a list.
func plainValue(result ref.Val) any {
	switch v := result.(type) {
	case types.Null:
		return nil
	case traits.Lister:
		list := []any{}
		for each := v.Iterator(); each.HasNext() == types.True; {
			list = append(list, plainValue(each.Next()))
		}
		return list
	}
	return result.Value()
}

func neededBy(unknown *types.Unknown, needsOf map[string][]string) []string {
	var needs []string
	for _, id := range unknown.IDs() {
		trails, _ := unknown.GetAttributeTrails(id)
		for _, trail := range trails {
			for _, need := range needsOf[trail.Variable()] {
				if !slices.Contains(needs, need) {
					needs = append(needs, need)
				}
			}
		}
	}
	slices.Sort(needs)
	return needs
}

// cutName splits gpu.count into gpu and count.
func cutName(name string) (root, member string, dotted bool) {
	return strings.Cut(name, ".")
}
