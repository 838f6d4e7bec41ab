package engine

import (
	"slices"
	"strconv"
	"strings"

	"github.com/trimtab/trimtab/internal/catalogue"
	"github.com/trimtab/trimtab/internal/setting"
)

// ParserDefault tells whether a setting says what the parser assumes without it.
// The engine cannot tell the two apart. It is false where another setting of the
// same option, or a configuration file, would take its place.
func (s *State) ParserDefault(about setting.Setting) (catalogue.Option, bool) {
	if about.Key == "" || about.Unknown || about.Overridden || s.Opaque != "" && !s.Refused || s.byKey["config"] != nil {
		return catalogue.Option{}, false
	}
	for _, other := range s.Settings {
		if other.Key == about.Key && other.Origin.String() != about.Origin.String() {
			return catalogue.Option{}, false
		}
	}
	option, ok := s.Engine.OptionByKey(about.Key, s.Release)
	if !ok || !option.HasDefault || option.Default == nil {
		return catalogue.Option{}, false
	}
	value, ok := Typed(option, about.Off, about.Values)
	return option, ok && Same(value, parserDefault(option))
}

// DefaultSpan is the first and the last of the releases around this one in which
// the parser assumes the same without an option, however else that may change.
func (s *State) DefaultSpan(option catalogue.Option) (since, until catalogue.Release) {
	same := func(r catalogue.Release) bool {
		other, ok := s.Engine.Option(option.Flag, r)
		return ok && other.HasDefault && Same(parserDefault(option), parserDefault(other))
	}
	since, until = option.Since, option.Until
	for since.Index > 0 && same(s.Engine.Releases[since.Index-1]) {
		since = s.Engine.Releases[since.Index-1]
	}
	for until.Index+1 < len(s.Engine.Releases) && same(s.Engine.Releases[until.Index+1]) {
		until = s.Engine.Releases[until.Index+1]
	}
	return since, until
}

// VariableDefault tells whether a variable says what the engine assumes without
// it.
func (s *State) VariableDefault(about setting.Setting) (catalogue.EnvVar, bool) {
	name, ok := strings.CutPrefix(about.Name, "env/")
	if !ok || about.Unknown || about.Overridden {
		return catalogue.EnvVar{}, false
	}
	variable, ok := s.Engine.Env(name, s.Release)
	if !ok || !variable.Read || variable.Default == nil {
		return catalogue.EnvVar{}, false
	}
	text, isText := variable.Default.(string)
	if isText && (strings.HasPrefix(text, "expr:") || text == "") {
		return catalogue.EnvVar{}, false
	}
	return variable, sameVariable(variable, about.Value())
}

// Future is a server in later releases, without the settings that say what the
// engine does anyway.
type Future struct {
	now    *State
	others []setting.Setting
	states map[int]*State // by release
}

// Future is the server in later releases without the options given.
func (s *State) Future(without []setting.Setting) *Future {
	f := &Future{now: s, states: map[int]*State{}}
	for _, other := range s.Settings {
		if !slices.ContainsFunc(without, func(gone setting.Setting) bool { return gone.Key != "" && gone.Key == other.Key }) {
			f.others = append(f.others, other)
		}
	}
	return f
}

func (f *Future) at(r catalogue.Release) *State {
	if f.states[r.Index] == nil {
		f.states[r.Index] = NewState(f.now.Engine, f.now.Knowledge, r, f.others, f.now.Facts, f.now.Opaque)
	}
	return f.states[r.Index]
}

// ChangesFrom is the first later release in which the engine, without the
// setting, is known to take another value than the one written, and that value.
// It is false where no release does, and where one before it cannot be told.
func (f *Future) ChangesFrom(about setting.Setting) (from catalogue.Release, takes any, changes bool) {
	s := f.now
	if name, ok := strings.CutPrefix(about.Name, "env/"); ok {
		return s.variableChangesFrom(name, about.Value())
	}
	now, resolves := s.resolves(about)
	for _, later := range s.Engine.Releases[s.Release.Index+1:] {
		option, ok := s.Engine.Option(about.Name, later)
		if !ok {
			break
		}
		if resolves {
			if option.Default == nil || !Same(now, parserDefault(option)) {
				return catalogue.Release{}, nil, false
			}
			continue // what becomes of it is not the parser's to say
		}
		given, ok := Typed(option, about.Off, about.Values)
		takes, known := parserDefault(option), option.Default != nil
		if !known {
			takes, known, _ = f.at(later).automatic(option)
		}
		switch {
		case !ok || !known:
			return catalogue.Release{}, nil, false
		case !Same(given, takes):
			return later, takes, true
		}
	}
	return catalogue.Release{}, nil, false
}

// resolves gives the parser's default where it is not what is written: the
// setting is what the engine makes of it, as of "auto".
func (s *State) resolves(about setting.Setting) (takes any, resolves bool) {
	option, ok := s.Engine.Option(about.Name, s.Release)
	if !ok || option.Default == nil {
		return nil, false
	}
	takes = parserDefault(option)
	given, ok := Typed(option, about.Off, about.Values)
	return takes, ok && !Same(given, takes)
}

func (s *State) variableChangesFrom(name, text string) (catalogue.Release, any, bool) {
	for _, later := range s.Engine.Releases[s.Release.Index+1:] {
		variable, ok := s.Engine.Env(name, later)
		if !ok || !variable.Read || variable.Default == nil {
			break
		}
		if !sameVariable(variable, text) {
			return later, variable.Default, true
		}
	}
	return catalogue.Release{}, nil, false
}

// sameVariable compares a variable's text with its default as the engine reads
// it.
func sameVariable(variable catalogue.EnvVar, text string) bool {
	switch variable.Kind {
	case "bool", "bool_word":
		given, known := truthWord(text)
		unset, ok := variable.Default.(bool)
		if !ok {
			word, _ := variable.Default.(string)
			unset, ok = truthWord(word)
		}
		return known && ok && given == unset
	case "int", "float":
		given, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
		unset, ok := asFloat(variable.Default)
		if !ok {
			word, _ := variable.Default.(string)
			n, wordErr := strconv.ParseFloat(word, 64)
			unset, ok = n, wordErr == nil
		}
		return err == nil && ok && given == unset
	}
	unset, ok := variable.Default.(string)
	return ok && unset == text
}

func truthWord(text string) (value, known bool) {
	switch strings.ToLower(text) {
	case "1", "true":
		return true, true
	case "0", "false":
		return false, true
	}
	return false, false
}
