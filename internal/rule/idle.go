package rule

import (
	"slices"

	"github.com/trimtab/trimtab/internal/engine"
	"github.com/trimtab/trimtab/internal/setting"
)

// idleVerbs are the rules that take a setting away because it changes nothing,
// and what a fact says then.
var idleVerbs = map[string]engine.Verb{
	"inert-setting": engine.Inert, "restated-default": engine.Equals, "clamped-setting": engine.Clamp,
}

// SaysIdle tells whether a rule takes settings away because they change nothing.
func SaysIdle(name string) bool {
	_, ok := idleVerbs[name]
	return ok
}

// IsIdle tells whether a rule would take a setting away here.
func (r Release) IsIdle(name string, about setting.Setting) bool {
	verb := idleVerbs[name]
	proven := slices.ContainsFunc(r.judge(about, Named(name), verb), func(j engine.Judgement) bool {
		return j.Holds == engine.True && j.Fact.MayEdit(r.State.Release) && (verb != engine.Clamp || j.Removable)
	})
	if proven || verb != engine.Equals {
		return proven
	}
	_, restated := r.State.ParserDefault(about)
	return restated && !r.DoesMore(about)
}

// Replaced tells whether something else takes the place of a setting that is
// called restated and is gone: an operator may write a value of its own.
func (r Release) Replaced(name string, with Release, about setting.Setting) bool {
	if idleVerbs[name] != engine.Equals || about.Key == "" || !r.State.Given(about.Key) {
		return false
	}
	value, known, _ := r.State.Value(about.Key)
	given, _, _ := with.State.Value(about.Key)
	return !known || !engine.Same(value, given)
}
