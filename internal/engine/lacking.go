package engine

import (
	"slices"
	"strings"

	"github.com/trimtab/trimtab/internal/catalogue"
	"github.com/trimtab/trimtab/internal/facts"
	"github.com/trimtab/trimtab/internal/setting"
)

// Lack is what one fact says that a target does not take.
type Lack struct {
	Fact *Fact
	// Settings are the options, Values those of their choices that are refused; none
	// where whatever the option says is.
	Settings []string
	Values   []string
	// Why is the fact's reason, for the last of the values.
	Why string
}

// Lacking tells which values of options an engine refuses by a rule where these
// facts hold, and nothing else is known: each as the newest release says that the
// fact is about. Errors are an unknown engine, and those of its files.
func Lacking(name string, known facts.Set, rule string) ([]Lack, error) {
	catalogued, err := catalogue.Load(name)
	if err != nil {
		return nil, err
	}
	k, err := Load(name)
	if err != nil {
		return nil, err
	}
	all, err := k.All()
	if err != nil {
		return nil, err
	}
	var lacking []Lack
	for _, fact := range all {
		if fact.Rule != rule || fact.Verb != Refused {
			continue
		}
		newest := -1
		for i, release := range catalogued.Releases {
			if fact.Versions.Contains(release) {
				newest = i
			}
		}
		for _, name := range fact.Settings {
			if newest < 0 || !strings.HasPrefix(name, "--") {
				continue
			}
			option, ok := catalogued.Option(name, catalogued.Releases[newest])
			if !ok {
				continue
			}
			lack := k.lack(catalogued, catalogued.Releases[newest], fact, option, known)
			if lack == nil {
				continue
			}
			if last := len(lacking) - 1; last >= 0 && lacking[last].Fact == fact && slices.Equal(lacking[last].Values, lack.Values) {
				lacking[last].Settings = append(lacking[last].Settings, option.Flag)
				continue
			}
			lacking = append(lacking, *lack)
		}
	}
	return lacking, nil
}

// lack is nil where the fact holds for no value of the option.
func (k *Knowledge) lack(catalogued *catalogue.Engine, release catalogue.Release, fact *Fact, option catalogue.Option, known facts.Set) *Lack {
	holds := func(values ...string) (string, bool) {
		about := setting.Setting{Name: option.Flag, Key: option.Key, Spelled: option.Flag, Values: values}
		state := NewState(catalogued, k, release, []setting.Setting{about}, known, "")
		judgement, err := fact.judge(state, about)
		return judgement.Why, err == nil && judgement.Holds == True
	}
	lack := Lack{Fact: fact, Settings: []string{option.Flag}}
	if len(option.Choices) == 0 {
		const anything = "anything"
		values := []string{anything}
		if option.IsSwitch() {
			values = nil
		}
		why, refused := holds(values...)
		lack.Why = why
		if refused {
			return &lack
		}
		return nil
	}
	for _, choice := range option.Choices {
		if why, refused := holds(choice); refused {
			lack.Values, lack.Why = append(lack.Values, choice), why
		}
	}
	if len(lack.Values) == 0 {
		return nil
	}
	slices.Sort(lack.Values)
	return &lack
}
