// Package engine tells what settings do: the facts of engines/ENGINE/facts,
// conditions over settings and facts that may be unknown, and the judgement of
// one setting of one server at one release.
package engine

import (
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
	// Knowledge holds the definitions that conditions may ask for.
	Knowledge *Knowledge

	byKey   map[string]*setting.Setting
	byName  map[string]*setting.Setting
	derived map[string]derived
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
