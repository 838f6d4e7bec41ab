package engine

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/trimtab/trimtab/internal/catalogue"
	"github.com/trimtab/trimtab/internal/setting"
)

// Members are the keys in the value of a JSON option at any depth, as settings of
// their own, named like the dotted flags that would build them:
// --kv-transfer-config.kv_rank. They stand where the option stands and have no
// place of their own. Keys that are written as dotted flags are settings already.
func (s *State) Members(about setting.Setting) []setting.Setting {
	if about.Key == "" || about.Overridden || strings.Contains(about.Key, ".") {
		return nil
	}
	value, known, _ := s.own(about)
	object, ok := value.(map[string]any)
	if !known || !ok {
		return nil
	}
	member := about
	member.Places, member.Off = nil, false
	return membersOf(member, object, nil)
}

// WithMembers are the settings, each JSON option followed by its members where
// facts know some. They are not to be changed.
func (s *State) WithMembers() []setting.Setting { return s.withMembers() }

func (s *State) addMembers() []setting.Setting {
	all := make([]setting.Setting, 0, len(s.Settings))
	for _, about := range s.Settings {
		all = append(all, about)
		if s.Knowledge.HasMemberFacts(about.Name) {
			all = append(all, s.Members(about)...)
		}
	}
	return all
}

func membersOf(owner setting.Setting, object map[string]any, found []setting.Setting) []setting.Setting {
	for _, key := range slices.Sorted(maps.Keys(object)) {
		member := owner
		member.Name, member.Key = owner.Name+"."+key, owner.Key+"."+key
		member.Values = []string{jsonText(object[key])}
		found = append(found, member)
		if inner, ok := object[key].(map[string]any); ok {
			found = membersOf(member, inner, found)
		}
	}
	return found
}

// jsonText is a value as a dotted flag would have it: a text without its quotes.
func jsonText(value any) string {
	if text, ok := value.(string); ok {
		return text
	}
	data, _ := json.Marshal(value) // it was decoded from JSON
	return string(data)
}

// HasMemberFacts tells whether a fact speaks of a key of a JSON option.
func (k *Knowledge) HasMemberFacts(flag string) bool {
	return k.members[flag] || slices.ContainsFunc(k.stated, func(f *Fact) bool {
		return slices.ContainsFunc(f.Settings, func(about string) bool { return strings.HasPrefix(about, flag+".") })
	})
}

// Dropped tells whether the release leaves a key of a JSON option out without a
// word, and from which release on it refuses the key instead; the latter is zero
// where none is known to.
func (s *State) Dropped(member setting.Setting) (dropped bool, refusedFrom catalogue.Release) {
	path := strings.Split(member.Name, ".")
	config, ok := s.Engine.Config(path[0])
	for _, key := range path[1:] {
		switch {
		case !ok || !config.Known(s.Release):
			return false, catalogue.Release{}
		case config.Drops(key, s.Release):
			for _, later := range s.Engine.Releases[s.Release.Index+1:] {
				if config.Refuses(key, later) {
					return true, later
				}
			}
			return true, catalogue.Release{}
		}
		config, ok = s.Engine.Config(strings.TrimSuffix(config.Takes(key, s.Release), "?"))
	}
	return false, catalogue.Release{}
}
