package engine

import (
	"errors"
	"slices"
	"strings"

	"github.com/trimtab/trimtab/internal/catalogue"
)

// Renaming is what a release wants written instead of an option, or what became
// of an option that nothing replaces.
type Renaming struct {
	// To is the new option as it is written (--new), with the value an old
	// switch stands for (--new=value), or the new metric; empty when nothing
	// replaces the old one.
	To string `yaml:"to"`
	// Same is true when the new form means exactly the same, so that it may be
	// written by Trim.
	Same bool `yaml:"same"`
	// Values are the new names of the values; without it they stay.
	Values map[string]string `yaml:"values"`
	// Positional is true when the value stands alone, without an option.
	Positional bool `yaml:"positional"`
	// Mode is the program that the fact is about; empty: all.
	Mode string `yaml:"mode"`
	// Deprecated is true when the release warns of the option, although its
	// parser declares it as any other.
	Deprecated bool `yaml:"deprecated"`
}

// Renaming returns what a release wants written instead of a spelling of an
// option or of a variable (env/NAME); nil when no fact says it.
func (k *Knowledge) Renaming(spelled, mode string, release catalogue.Release) *Fact {
	for _, fact := range k.About(spelled) {
		fits := fact.Verb == Renamed && (fact.Renaming.Mode == "" || fact.Renaming.Mode == mode)
		if fits && fact.Versions.Contains(release) {
			return fact
		}
	}
	return nil
}

// complete says what a renaming of settings lacks.
func (r *Renaming) complete(settings []string) error {
	isMetric := slices.ContainsFunc(settings, func(name string) bool { return strings.HasPrefix(name, MetricPrefix) })
	switch {
	case isMetric && (r.To == "" || r.Same):
		return errors.New("`renamed` of a metric needs `to`, and no query is rewritten, so not `same`")
	case isMetric:
		return nil
	case r.Same && r.To == "" && !r.Positional:
		return errors.New("`renamed.same` needs `to`")
	case r.To != "" && !strings.HasPrefix(r.To, "--"):
		return errors.New("`renamed.to` must be an option as it is written")
	case len(r.Values) > 0 && strings.Contains(r.To, "="):
		return errors.New("`renamed.to` holds a value, and `values` maps values")
	}
	return nil
}

// Rewrite gives the words of an option in the new form: nil where a word goes.
// The words are the option as written and, where it takes one, its value in a
// word of its own. It is false where the new form is not known.
func (r *Renaming) Rewrite(words []string) ([]*string, bool) {
	_, value, attached := strings.Cut(words[0], "=")
	if strings.Contains(r.To, "=") && (attached || len(words) > 1) || r.To == "" && !r.Positional {
		return nil, false
	}
	if attached {
		value, ok := r.value(value)
		if r.Positional {
			return []*string{&value}, ok
		}
		return []*string{text(r.To + "=" + value)}, ok
	}
	first := text(r.To)
	if r.Positional {
		if len(words) == 1 {
			return nil, false
		}
		first = nil
	}
	rewritten := []*string{first}
	for _, word := range words[1:] {
		value, ok := r.value(word)
		if !ok {
			return nil, false
		}
		rewritten = append(rewritten, &value)
	}
	return rewritten, true
}

// value is the new name of a value.
func (r *Renaming) value(old string) (string, bool) {
	if len(r.Values) == 0 {
		return old, true
	}
	mapped, ok := r.Values[old]
	return mapped, ok
}

func text(s string) *string { return &s }
