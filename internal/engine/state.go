// Package engine tells what settings do: the facts of engines/ENGINE/facts,
// conditions over settings and facts that may be unknown, and the judgement of
// one setting of one server at one release.
package engine

import (
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/trimtab/trimtab/internal/catalogue"
	"github.com/trimtab/trimtab/internal/facts"
	"github.com/trimtab/trimtab/internal/setting"
)

// State is one server at one release: its settings, what is true about its
// target, and the engine it runs.
type State struct {
	Engine  *catalogue.Engine
	Release catalogue.Release
	// Settings are all occurrences in order: command line, then variables.
	Settings []setting.Setting
	Facts    facts.Set
	// Opaque names a word of the command line that may hold any option; empty
	// when every word is known.
	Opaque string
	// Refused is true when that word is seen, and only refused by the parser.
	Refused bool
	// Knowledge holds the definitions that conditions may ask for.
	Knowledge *Knowledge

	byKey   map[string]*setting.Setting
	byName  map[string]*setting.Setting
	derived map[string]derived
	// withMembers and absent are remembered: every rule asks for them.
	withMembers func() []setting.Setting
	absent      func() ([]Judgement, error)
}

// NewState indexes the settings; of a repeated option the last one counts, as
// in the engines' own parsers.
func NewState(engine *catalogue.Engine, k *Knowledge, release catalogue.Release, settings []setting.Setting, known facts.Set, opaque string) *State {
	s := &State{
		Engine: engine, Knowledge: k, Release: release, Settings: settings, Facts: known, Opaque: opaque,
		byKey: map[string]*setting.Setting{}, byName: map[string]*setting.Setting{}, derived: map[string]derived{},
	}
	for i := range settings {
		s.byName[settings[i].Name] = &settings[i]
		if settings[i].Key != "" && !settings[i].Overridden {
			s.byKey[settings[i].Key] = &settings[i]
		}
	}
	s.withMembers = sync.OnceValue(s.addMembers)
	s.absent = sync.OnceValues(func() ([]Judgement, error) { return k.judgeAbsent(s) })
	return s
}

// Value is what a setting resolves to before the engine's own start-up code:
// given, else written by the operator, else the parser's default. A default of
// null means that the engine decides at start-up: then the facts with the verb
// equals tell what it takes. An option that the release does not have is not
// known, nor one that a configuration file may set.
func (s *State) Value(key string) (value any, known bool, needs []string) {
	option, ok := s.Engine.OptionByKey(key, s.Release)
	if !ok {
		return nil, false, []string{key}
	}
	if s.Opaque != "" {
		return nil, false, []string{s.Opaque}
	}
	given := s.byKey[key]
	switch {
	case given == nil && s.byKey["config"] != nil:
		return nil, false, []string{"--config"} // its file may say more
	case given == nil && option.HasDefault && option.Default != nil:
		return parserDefault(option), true, nil
	case given == nil:
		return s.automatic(option)
	case given.Unknown && len(given.Needs) > 0:
		return nil, false, given.Needs
	case given.Unknown:
		return nil, false, []string{given.Name}
	}
	value, ok = Typed(option, given.Off, given.Values)
	return value, ok, []string{given.Name}
}

// Given tells whether an option is written, by the manifest or an operator.
func (s *State) Given(key string) bool { return s.byKey[key] != nil }

// automatic is what the engine takes for an option that is not given and whose
// parser has no default, by the first fact that tells it.
func (s *State) automatic(option catalogue.Option) (any, bool, []string) {
	if s.Knowledge == nil {
		return nil, false, []string{option.Flag}
	}
	name := "automatic " + option.Flag
	if known, ok := s.derived[name]; ok {
		return known.Value, known.Known && !known.busy, known.Needs
	}
	s.derived[name] = derived{busy: true, outcome: outcome{Needs: []string{option.Flag}}}
	result := s.firstDefault(option)
	s.derived[name] = derived{outcome: result}
	return result.Value, result.Known, result.Needs
}

func (s *State) firstDefault(option catalogue.Option) outcome {
	absent := setting.Setting{Name: option.Flag, Key: option.Key}
	for _, fact := range s.Knowledge.About(option.Flag) {
		if fact.Verb != Equals || fact.Mark == "R" || !fact.Versions.Contains(s.Release) {
			continue
		}
		if fact.Also != "" {
			out, err := s.evaluate(fact.Also, absent)
			if err != nil || !out.Known {
				return outcome{Needs: out.Needs}
			}
			if out.Value != true {
				continue
			}
		}
		out, err := s.evaluate(fact.When, absent)
		if err != nil {
			return outcome{Needs: []string{option.Flag}}
		}
		return out
	}
	return outcome{Needs: []string{option.Flag}}
}

// member is a value inside a JSON option: compilation_config.mode. What the
// value does not hold is null.
func (s *State) member(key, name string) (any, bool, []string) {
	option, ok := s.Engine.OptionByKey(key, s.Release)
	if !ok {
		return nil, false, []string{key}
	}
	if s.Opaque != "" {
		return nil, false, []string{s.Opaque}
	}
	if s.byKey[key] == nil {
		return s.dotted(option, name)
	}
	value, known, needs := s.Value(key)
	if !known {
		return nil, false, needs
	}
	object, _ := value.(map[string]any)
	return object[name], true, nil
}

// keys are the names at the top of a JSON option, sorted, written as one value or
// as dotted flags; none where the option is not given.
func (s *State) keys(key string) (any, bool, []string) {
	names := map[string]bool{}
	if s.byKey[key] != nil {
		value, known, needs := s.Value(key)
		if !known {
			return nil, false, needs
		}
		object, _ := value.(map[string]any)
		for name := range object {
			names[name] = true
		}
	} else if given, known, needs := s.given(key); !known {
		return given, false, needs
	}
	for written := range s.byKey {
		if rest, ok := strings.CutPrefix(written, key+"."); ok {
			name, _, _ := strings.Cut(rest, ".")
			names[name] = true
		}
	}
	sorted := []any{}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		sorted = append(sorted, name)
	}
	return sorted, true, nil
}

// dotted is a value inside a JSON option that is written as dotted flags, if at
// all: --compilation-config.mode 3.
func (s *State) dotted(option catalogue.Option, name string) (any, bool, []string) {
	prefix := option.Key + "." + name
	var deeper map[string]any
	for key, given := range s.byKey {
		rest, ok := strings.CutPrefix(key, prefix)
		if !ok || rest != "" && rest[0] != '.' {
			continue
		}
		if given.Unknown {
			return nil, false, []string{given.Name}
		}
		value, ok := decodedJSON(given.Value())
		if !ok {
			value = given.Value()
		}
		if rest == "" {
			return value, true, nil
		}
		if deeper == nil {
			deeper = map[string]any{}
		}
		put(deeper, strings.Split(rest[1:], "."), value)
	}
	if deeper != nil {
		return deeper, true, nil
	}
	if s.byKey["config"] != nil {
		return nil, false, []string{"--config"}
	}
	object, _ := parserDefault(option).(map[string]any)
	return object[name], true, nil
}

func put(object map[string]any, path []string, value any) {
	for _, name := range path[:len(path)-1] {
		inner, ok := object[name].(map[string]any)
		if !ok {
			inner = map[string]any{}
			object[name] = inner
		}
		object = inner
	}
	object[path[len(path)-1]] = value
}
