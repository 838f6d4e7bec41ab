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
		release, ok := newestOf(fact, catalogued.Releases)
		if !ok {
			continue
		}
		for _, name := range fact.Settings {
			option, ok := catalogued.Option(name, release)
			if !ok || !strings.HasPrefix(name, "--") {
				continue
			}
			lack, ok := k.lack(catalogued, release, fact, option, known)
			if !ok {
				continue
			}
			if last := len(lacking) - 1; last >= 0 && lacking[last].Fact == fact && slices.Equal(lacking[last].Values, lack.Values) {
				lacking[last].Settings = append(lacking[last].Settings, option.Flag)
				continue
			}
			lacking = append(lacking, lack)
		}
	}
	return lacking, nil
}

// newestOf is the newest release that a fact is about.
func newestOf(fact *Fact, releases []catalogue.Release) (catalogue.Release, bool) {
	for _, release := range slices.Backward(releases) {
		if fact.Versions.Contains(release) {
			return release, true
		}
	}
	return catalogue.Release{}, false
}

// lack is false where the fact holds for no value of the option.
func (k *Knowledge) lack(catalogued *catalogue.Engine, release catalogue.Release, fact *Fact, option catalogue.Option, known facts.Set) (Lack, bool) {
	lack := Lack{Fact: fact, Settings: []string{option.Flag}}
	refuses := func(values ...string) bool {
		about := setting.Setting{Name: option.Flag, Key: option.Key, Spelled: option.Flag, Values: values}
		state := NewState(catalogued, k, release, []setting.Setting{about}, known, "")
		judgement, err := fact.judge(state, about)
		if err != nil || judgement.Holds != True {
			return false
		}
		lack.Why = judgement.Why
		return true
	}
	if len(option.Choices) == 0 {
		values := []string{"anything"}
		if option.IsSwitch() {
			values = nil
		}
		refused := refuses(values...)
		return lack, refused
	}
	for _, choice := range option.Choices {
		if refuses(choice) {
			lack.Values = append(lack.Values, choice)
		}
	}
	slices.Sort(lack.Values)
	return lack, len(lack.Values) > 0
}
