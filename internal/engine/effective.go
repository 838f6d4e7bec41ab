package engine

import (
	"maps"
	"slices"
	"strings"

	"github.com/trimtab/trimtab/internal/catalogue"
	"github.com/trimtab/trimtab/internal/setting"
)

// Effective is what the engine makes of a setting.
type Effective struct {
	// Setting is the canonical name.
	Setting string
	// Value is nil where it is not known, or where the engine sets none.
	Value any
	// Known is false where Needs name what would tell the value.
	Known bool
	Needs []string
	// Because says why the value is another than what is written, or where the
	// engine takes it from; empty where the written value counts.
	Because string
}

// Effective tells what the engine makes of a setting that is written: the value
// itself, or the one that a clamp or an override leaves.
func (s *State) Effective(about setting.Setting) Effective {
	value, known, needs := s.own(about)
	result := Effective{Setting: about.Name, Value: value, Known: known, Needs: needs}
	if known {
		result.Needs = nil
	}
	if about.Overridden {
		result.Because = "a later one wins"
		return result
	}
	if s.judged(about, &result, Refused, Needs, Inert, Overridden, Clamp) {
		return result
	}
	if about.Key != "" && s.Knowledge.Defines(about.Key, s.Release) {
		s.redefine(about.Key, &result)
	}
	return result
}

// judged puts what the facts say of a setting into its result: false where none
// holds. Where one that replaces the value may hold, the value is not known.
func (s *State) judged(about setting.Setting, result *Effective, verbs ...Verb) bool {
	for _, verb := range verbs {
		judgements, _ := s.Knowledge.Judge(s, about, verb)
		for _, judgement := range judgements {
			if judgement.Holds == Unknown && judgement.Fact.replaces() {
				result.Known, result.Needs = false, judgement.Needs
			}
			if judgement.Holds != True {
				continue
			}
			result.Because = because[verb] + judgement.Why
			switch {
			case judgement.Effective != nil:
				result.Value, result.Known, result.Needs = judgement.Effective, true, nil
			case judgement.Fact.replaces():
				result.Value, result.Known = nil, false
			}
			return true
		}
	}
	return false
}

// replaces tells whether the engine uses another value when the fact holds.
func (f *Fact) replaces() bool {
	return f.Verb == Overridden || f.Verb == Clamp || f.Verb == Inert && f.Instead != ""
}

var because = map[Verb]string{
	Refused: "the server does not start: ", Needs: "the server does not start: ",
	Inert: "does nothing here: ", Overridden: "replaced: ", Clamp: "clamped: ",
}

// Automatic tells what the engine decides at start-up for options that are not
// written: those of which a fact knows it, by name.
func (s *State) Automatic() []Effective {
	var decided []Effective
	for _, flag := range s.Knowledge.Settings() {
		option, ok := s.Engine.Option(flag, s.Release)
		if !ok || !strings.HasPrefix(flag, "--") || s.byKey[option.Key] != nil || option.Default != nil {
			continue
		}
		if fact, ok := s.defaultFact(option.Flag); ok {
			value, known, needs := s.automatic(option)
			absent := setting.Setting{Name: flag, Key: option.Key}
			one := Effective{Setting: flag, Value: value, Known: known, Needs: needs}
			if known {
				one.Needs = nil
				one.Because = fact.explain(s, absent, Judgement{Fact: fact, Effective: value})
				s.judged(absent, &one, Overridden, Clamp)
			}
			decided = append(decided, one)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(s.Knowledge.byDefine)) {
		option, ok := s.Engine.OptionByKey(key, s.Release)
		if !ok || s.byKey[key] != nil || !s.Knowledge.Defines(key, s.Release) {
			continue
		}
		if value, known, _ := s.define(key); known && !Same(value, option.Default) {
			decided = append(decided, Effective{Setting: option.Flag, Value: value, Known: true, Because: "the engine decides it at start-up"})
		}
	}
	return decided
}

// Unset is what the engine takes for an option that is not given.
type Unset struct {
	Effective
	Option catalogue.Option
	// Idle is true where a fact says that the engine does nothing with the option
	// here: its feature is off.
	Idle bool
}

// Unset tells what the engine takes for each option of the release that is not
// given, sorted by flag; nothing where arguments that are not seen may give it.
func (s *State) Unset() []Unset {
	if s.Opaque != "" || s.byKey["config"] != nil {
		return nil
	}
	var all []Unset
	for _, option := range s.Engine.Options(s.Release) {
		if main, ok := s.Engine.OptionByKey(option.Key, s.Release); !ok || main.Flag != option.Flag {
			continue // another name of an option that is in the list
		}
		if !option.HasDefault || option.Required || s.byKey[option.Key] != nil {
			continue
		}
		value, known, needs := s.unsetValue(option)
		absent := setting.Setting{Name: option.Flag, Key: option.Key, Unknown: true}
		one := Unset{Effective: Effective{Setting: option.Flag, Value: value, Known: known, Needs: needs}, Option: option}
		switch {
		case s.judged(absent, &one.Effective, Overridden, Clamp):
		case s.Knowledge.Defines(option.Key, s.Release):
			s.redefine(option.Key, &one.Effective)
		}
		one.Idle = s.Idle(absent)
		all = append(all, one)
	}
	return all
}

// unsetValue is what the engine takes for an option that is not given: what a fact
// tells, also where the parser's default is a word such as auto, else that default.
func (s *State) unsetValue(option catalogue.Option) (any, bool, []string) {
	if _, told := s.defaultFact(option.Flag); told && option.Default != nil {
		value, known, needs := s.automatic(option)
		if known || !slices.Equal(needs, []string{option.Flag}) { // no fact is about this case
			return value, known, needs
		}
	}
	return s.Value(option.Key)
}

// Idle tells whether a fact says that the engine does nothing with a setting
// here.
func (s *State) Idle(about setting.Setting) bool {
	judgements, _ := s.Knowledge.Judge(s, about, Inert)
	return slices.ContainsFunc(judgements, func(j Judgement) bool { return j.Holds == True })
}

// redefine puts what the engine makes of a setting at start-up into its result.
func (s *State) redefine(key string, result *Effective) {
	made, known, needs := s.define(key)
	switch {
	case !known:
		result.Known, result.Needs = false, needs
	case !Same(made, result.Value):
		result.Value, result.Known, result.Needs, result.Because = made, true, nil, "the engine changes it at start-up"
	}
}

func (s *State) defaultFact(flag string) (*Fact, bool) {
	for _, fact := range s.Knowledge.About(flag) {
		if fact.Verb == Equals && fact.Mark != "R" && fact.Versions.Contains(s.Release) {
			return fact, true
		}
	}
	return nil, false
}
