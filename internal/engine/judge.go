package engine

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/trimtab/trimtab/internal/setting"
)

// Judgement is what one fact says of one setting here.
type Judgement struct {
	Fact  *Fact
	Holds Truth
	// Needs are the facts that would settle an unknown outcome.
	Needs []string
	// Effective is what the engine uses instead of a clamped or overridden value,
	// or without a restated one; nil where the fact does not tell.
	Effective any
	// Removable is true when a clamped setting may go without effect.
	Removable bool
	// Why is the fact's reason with the values filled in.
	Why string
}

// derived is a definition's value at this state; busy while it is computed.
type derived struct {
	outcome
	busy bool
}

// Judge returns what the facts with a verb say of a setting at the state's
// release. Facts whose condition is false are left out, and so are those whose
// condition asks its values for something they do not have; the error tells of
// these.
func (k *Knowledge) Judge(s *State, about setting.Setting, verb Verb) ([]Judgement, error) {
	var judgements []Judgement
	var failed error
	for _, fact := range k.About(about.Name) {
		if fact.Verb != verb || !fact.Versions.Contains(s.Release) {
			continue
		}
		judgement, err := fact.judge(s, about)
		switch {
		case err != nil:
			failed = errors.Join(failed, fmt.Errorf("%s: %s: %w", fact.file, about.Name, err))
		case judgement.Holds == Unknown && fact.Unasked:
		case judgement.Holds != False:
			judgements = append(judgements, judgement)
		}
	}
	return judgements, failed
}

// Absent returns what the facts say of settings that are not there and should
// be, in the order of the fact files. The error is that of Judge.
func (s *State) Absent() ([]Judgement, error) { return s.absent() }

func (k *Knowledge) judgeAbsent(s *State) ([]Judgement, error) {
	var judgements []Judgement
	var failed error
	for _, fact := range k.absent() {
		if !fact.Versions.Contains(s.Release) || s.byName[fact.Settings[0]] != nil {
			continue
		}
		judgement, err := fact.judge(s, setting.Setting{Name: fact.Settings[0]})
		switch {
		case err != nil:
			failed = errors.Join(failed, fmt.Errorf("%s: %s: %w", fact.file, fact.Settings[0], err))
		case judgement.Holds != False:
			judgements = append(judgements, judgement)
		}
	}
	return judgements, failed
}

func (f *Fact) judge(s *State, about setting.Setting) (Judgement, error) {
	judgement := Judgement{Fact: f, Holds: True}
	if f.Also != "" {
		out, err := s.evaluate(f.Also, about)
		if err != nil {
			return judgement, err
		}
		if judgement.Holds, err = out.truth(); err != nil {
			return judgement, err
		}
		judgement.Needs = out.Needs
		if judgement.Holds == False {
			return judgement, nil
		}
	}
	out, err := s.evaluate(f.When, about)
	if err != nil {
		return judgement, err
	}
	judgement.Needs = append(judgement.Needs, out.Needs...)
	holds, err := f.holds(s, out, about, &judgement)
	if err != nil {
		return judgement, err
	}
	judgement.Holds = min(judgement.Holds, holds)
	if holds == False {
		judgement.Holds = False
	}
	judgement.Why = f.explain(s, about, judgement)
	return judgement, nil
}

// holds compares the outcome of the fact's expression with the setting.
func (f *Fact) holds(s *State, out outcome, about setting.Setting, judgement *Judgement) (Truth, error) {
	switch f.Verb {
	case Equals:
		return f.restates(s, out, about, judgement), nil
	case Clamp:
		return f.clamps(s, out, about, judgement)
	case Needs:
		fulfilled, err := out.truth()
		return fulfilled.not(), err
	case Overridden, Inert:
		if f.Instead != "" {
			instead, err := s.evaluate(f.Instead, about)
			if err != nil {
				return Unknown, err
			}
			if instead.Known {
				judgement.Effective = instead.Value
			}
		}
	}
	return out.truth()
}

func (f *Fact) restates(s *State, out outcome, about setting.Setting, judgement *Judgement) Truth {
	if s.byKey["config"] != nil {
		judgement.Needs = append(judgement.Needs, "--config") // its file may say otherwise
		return Unknown
	}
	given, known, needs := s.own(about)
	if !known {
		judgement.Needs = append(judgement.Needs, needs...)
		return Unknown
	}
	if !out.Known {
		return Unknown
	}
	judgement.Effective = out.Value
	return truthOf(Same(given, out.Value))
}

func (f *Fact) clamps(s *State, out outcome, about setting.Setting, judgement *Judgement) (Truth, error) {
	given, known, needs := s.own(about)
	if !known {
		judgement.Needs = append(judgement.Needs, needs...)
		return Unknown, nil
	}
	if !out.Known {
		return Unknown, nil
	}
	limit, ok := out.Value.(int64)
	wanted, isNumber := given.(int64)
	if !ok || !isNumber {
		return Unknown, fmt.Errorf("a clamp must be a whole number, not %v of %v", out.Value, given)
	}
	judgement.Effective = limit
	if wanted <= limit {
		return False, nil
	}
	if f.Removable != "" {
		may, err := s.evaluate(f.Removable, about)
		if err != nil {
			return Unknown, err
		}
		verdict, err := may.truth()
		if err != nil {
			return Unknown, err
		}
		judgement.Removable = verdict == True
	}
	return True, nil
}

// not is the opposite of an outcome that is known.
func (t Truth) not() Truth {
	switch t {
	case True:
		return False
	case False:
		return True
	}
	return Unknown
}

func truthOf(b bool) Truth {
	if b {
		return True
	}
	return False
}

// own is the value of a setting itself, typed as its option.
func (s *State) own(about setting.Setting) (any, bool, []string) {
	if about.Key != "" && !strings.Contains(about.Key, ".") {
		return s.Value(about.Key)
	}
	return about.Value(), !about.Unknown, []string{about.Name}
}

func (s *State) evaluate(expression string, about setting.Setting) (outcome, error) {
	compiled, err := compile(expression)
	if err != nil {
		return outcome{}, err
	}
	return compiled.evaluate(func(name string) (any, bool, []string) { return s.lookup(name, about) })
}

// lookup resolves a name of a condition: `value` (the setting's own text),
// given.KEY, keys.KEY (the names in a JSON option), env.NAME, a member of a JSON option, a fact, a definition, or a
// setting by its key. A definition may bear a setting's key: it then tells what
// the engine makes of that setting, and within it the key is the setting as
// given.
func (s *State) lookup(name string, about setting.Setting) (any, bool, []string) {
	if name == "value" {
		return about.Value(), !about.Unknown, []string{about.Name}
	}
	root, member, dotted := cutName(name)
	switch {
	case root == "given":
		return s.given(member)
	case root == "keys":
		return s.keys(member)
	case root == "env":
		variable := s.byName["env/"+member]
		if variable == nil {
			return "", true, nil
		}
		return variable.Value(), !variable.Unknown, []string{variable.Name}
	case dotted && !slices.Contains(FactRoots, root):
		return s.member(root, member)
	case dotted:
		fact, ok := s.Facts[name]
		return fact.Value, ok, []string{s.Facts.SettledBy(name)}
	}
	if s.Knowledge != nil && s.Knowledge.Defines(name, s.Release) && !s.derived[name].busy {
		return s.define(name)
	}
	return s.Value(name)
}

// given tells whether a setting is written at all. An option that the release
// does not have is not.
func (s *State) given(key string) (any, bool, []string) {
	if s.byKey[key] != nil {
		return true, true, nil
	}
	if s.Opaque != "" {
		return nil, false, []string{s.Opaque}
	}
	if s.byKey["config"] != nil {
		return nil, false, []string{"--config"}
	}
	return false, true, nil
}

// Derived is the value of a derived name, or what it lacks.
func (s *State) Derived(name string) (value any, known bool, needs []string) { return s.define(name) }

// define computes a derived name once. A name that no definition of the release
// gives is unknown, and so is one that asks for itself.
func (s *State) define(name string) (any, bool, []string) {
	if known, ok := s.derived[name]; ok {
		return known.Value, known.Known && !known.busy, known.Needs
	}
	s.derived[name] = derived{busy: true, outcome: outcome{Needs: []string{name}}}
	result := outcome{Needs: []string{name}}
	for _, defined := range s.Knowledge.defined(name) {
		if !defined.versions.Contains(s.Release) {
			continue
		}
		if out, err := s.evaluate(defined.value, setting.Setting{}); err == nil {
			result = out
		}
		break
	}
	s.derived[name] = derived{outcome: result}
	return result.Value, result.Known, result.Needs
}

var placeholder = regexp.MustCompile(`\{[a-zA-Z_][a-zA-Z0-9_.]*\}`)

// explain fills the values into the reason of a fact; what is not known prints
// as a question mark.
func (f *Fact) explain(s *State, about setting.Setting, judgement Judgement) string {
	return placeholder.ReplaceAllStringFunc(f.Why, func(braced string) string {
		name := strings.Trim(braced, "{}")
		if name == "effective" {
			return fmt.Sprint(judgement.Effective)
		}
		value, known, _ := s.lookup(name, about)
		if !known {
			return "?"
		}
		return fmt.Sprint(value)
	})
}
