package engine

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/agext/levenshtein"
	"go.yaml.in/yaml/v3"

	"github.com/trimtab/trimtab/internal/catalogue"
)

// With returns the knowledge with facts that a user states, which come before
// the engine's own. They have the form of the fact files; proof and way back may
// be left out, for the user vouches for them. An entry may name its engine; one
// of another engine is left out. Errors name the entry and what is wrong.
func (k *Knowledge) With(entries []*yaml.Node, engine *catalogue.Engine) (*Knowledge, error) {
	if len(entries) == 0 {
		return k, nil
	}
	with := *k
	for i, node := range entries {
		stated, err := statedEntry(node)
		if err == nil && stated.Engine != "" && stated.Engine != engine.Name {
			continue
		}
		var fact *Fact
		if err == nil {
			fact, err = stated.fact(engine.Name, "spec.facts")
		}
		if err == nil {
			err = fact.checkNames(engine, k)
		}
		if err != nil {
			return nil, fmt.Errorf("`spec.facts[%d]`: %w", i, err)
		}
		fact.Stated = true
		with.stated = append(with.stated, fact)
	}
	return &with, nil
}

// States tells whether a user states a fact about a setting.
func (k *Knowledge) States(setting string) bool {
	return slices.ContainsFunc(k.stated, func(f *Fact) bool { return slices.Contains(f.Settings, setting) })
}

var unknownField = regexp.MustCompile(`field (\S+) not found`)

func statedEntry(node *yaml.Node) (entry, error) {
	var stated entry
	data, err := yaml.Marshal(node)
	if err != nil {
		return stated, err
	}
	if err := strictly(data, &stated); err != nil {
		if field := unknownField.FindStringSubmatch(err.Error()); field != nil {
			return stated, fmt.Errorf("unknown field `%s`; did you mean `%s`?", field[1], nearestKey(field[1]))
		}
		return stated, errors.New("a fact is a mapping with `setting`, `versions`, one verb and `why`")
	}
	if stated.Define != "" {
		return stated, errors.New("`define` is for the engine's own facts")
	}
	if stated.Versions == "" {
		stated.Versions = ">=0"
	}
	if stated.Evidence.Source == "" {
		stated.Evidence.Source = "stated by the user in spec.facts"
	}
	if stated.Evidence.Mark == "" {
		stated.Evidence.Mark = "M"
	}
	if stated.Undo == "" {
		stated.Undo = "take the entry out of spec.facts"
	}
	return stated, nil
}

// entryKeys are the fields of an entry, to suggest one.
var entryKeys = []string{
	"setting", "settings", "engine", "versions", "inert", "mismatch", "equals", "clamp", "load_bearing", "missing", "overridden",
	"refused", "needs", "when", "effective", "removable", "write", "rule", "group", "why", "evidence", "undo", "cases",
}

func nearestKey(word string) string {
	return slices.MinFunc(entryKeys, func(a, b string) int {
		return levenshtein.Distance(word, a, nil) - levenshtein.Distance(word, b, nil)
	})
}

// checkNames makes sure that a user's fact speaks of something: flags are
// written as flags, and its conditions ask for names that can be there.
func (f *Fact) checkNames(engine *catalogue.Engine, k *Knowledge) error {
	for _, setting := range f.Settings {
		if !strings.HasPrefix(setting, "--") && !strings.HasPrefix(setting, "env/") {
			return fmt.Errorf("`setting` %q must be a flag such as --max-num-seqs, or env/NAME", setting)
		}
	}
	names, err := f.Names()
	if err != nil {
		return err
	}
	for _, name := range names {
		root, _, dotted := strings.Cut(name, ".")
		known := name == "value" || dotted && slices.Contains(FactRoots, root) || engine.KnownKey(root) || k.byDefine[name] != nil
		if !known {
			return fmt.Errorf("condition asks for %q, which is no setting of %s and no fact", name, engine.Name)
		}
	}
	return nil
}
