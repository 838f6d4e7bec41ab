// Package engine tells what settings do: the facts of engines/ENGINE/facts,
// conditions over settings and facts that may be unknown, and the judgement of
// one setting of one server at one release.
package engine

import (
	"fmt"
	"strconv"
	"strings"

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

	byKey map[string]*setting.Setting
}

// NewState indexes the settings; of a repeated option the last one counts, as
// in the engines' own parsers.
func NewState(engine *catalogue.Engine, release catalogue.Release, settings []setting.Setting, known facts.Set, opaque string) *State {
	s := &State{Engine: engine, Release: release, Settings: settings, Facts: known, Opaque: opaque, byKey: map[string]*setting.Setting{}}
	for i := range settings {
		if settings[i].Key != "" && !settings[i].Overridden {
			s.byKey[settings[i].Key] = &settings[i]
		}
	}
	return s
}

// Value is what a setting resolves to: given, else written by the operator,
// else the parser's default. A default of null means that the engine decides
// at start-up, which is not known. An option that the release does not have is
// not known either, nor one that a configuration file may set.
func (s *State) Value(key string) (value any, known bool, needs []string) {
	option, ok := s.Engine.OptionByKey(key, s.Release)
	if !ok {
		return nil, false, []string{key}
	}
	if s.Opaque != "" {
		return nil, false, []string{s.Opaque}
	}
	given := s.byKey[key]
	if given == nil {
		if _, ok := s.byKey["config"]; ok {
			return nil, false, []string{"--config"} // its file may say more
		}
		return option.Default, option.HasDefault && option.Default != nil, []string{option.Flag}
	}
	if given.Unknown {
		if len(given.Needs) > 0 {
			return nil, false, given.Needs
		}
		return nil, false, []string{given.Name}
	}
	value, ok = typed(option, given.Value())
	return value, ok, []string{given.Name}
}

// typed reads a text as the option's type; false when it is none.
func typed(option catalogue.Option, text string) (any, bool) {
	switch option.Type {
	case "int", "human_int", "human_int_auto":
		n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
		return n, err == nil
	case "float":
		n, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
		return n, err == nil
	case "bool":
		b, err := strconv.ParseBool(text)
		return b, err == nil
	}
	return text, true
}

// Judgement is what one fact says of one setting here.
type Judgement struct {
	Fact  *Fact
	Holds Truth
	// Needs are the facts that would settle an unknown outcome.
	Needs []string
}

// Judge returns what the facts with a verb say of a setting at the state's
// release. Facts whose condition is false are left out.
func (k *Knowledge) Judge(s *State, about setting.Setting, verb Verb) ([]Judgement, error) {
	var judgements []Judgement
	for _, fact := range k.bySetting[about.Name] {
		if fact.Verb != verb || !fact.Versions.Contains(s.Release) {
			continue
		}
		holds, needs, err := fact.judge(s, about)
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w", fact.file, about.Name, err)
		}
		if holds != False {
			judgements = append(judgements, Judgement{Fact: fact, Holds: holds, Needs: needs})
		}
	}
	return judgements, nil
}

func (f *Fact) judge(s *State, about setting.Setting) (Truth, []string, error) {
	compiled, err := compile(f.When)
	if err != nil {
		return Unknown, nil, err
	}
	return compiled.evaluate(func(name string) (any, bool, []string) {
		if name == "value" {
			return about.Value(), !about.Unknown, []string{about.Name}
		}
		if _, _, dotted := cutName(name); dotted {
			fact, ok := s.Facts[name]
			return fact.Value, ok, []string{facts.SettledBy(name)}
		}
		return s.Value(name)
	})
}
