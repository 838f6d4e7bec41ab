package engine

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/trimtab/trimtab/internal/catalogue"
)

// entry is one element of a fact file: a fact about settings, or the definition
// of a derived name.
type entry struct {
	// Define names a derived value; Value is its expression.
	Define string `yaml:"define"`
	Value  string `yaml:"value"`

	// Engine limits a user's fact to one engine.
	Engine string `yaml:"engine"`

	Setting  string   `yaml:"setting"`
	Settings []string `yaml:"settings"`
	Versions string   `yaml:"versions"`

	// The verbs; an entry about settings has exactly one.
	Inert       string `yaml:"inert"`
	Mismatch    string `yaml:"mismatch"`
	Equals      string `yaml:"equals"`
	Clamp       string `yaml:"clamp"`
	LoadBearing string `yaml:"load_bearing"`
	Missing     string `yaml:"missing"`
	Overridden  string `yaml:"overridden"`
	Refused     string `yaml:"refused"`
	Requires    string `yaml:"needs"`

	Renamed *Renaming `yaml:"renamed"`
	// Grows is the condition under which the setting names a directory that grows,
	// and Tier what grows there.
	Grows string `yaml:"grows"`
	Tier  *Tier  `yaml:"tier"`

	// When is a further condition of equals, clamp and needs.
	When string `yaml:"when"`
	// Effective is the value the engine uses instead of an overridden or inert one.
	Effective string `yaml:"effective"`
	// Removable is the condition under which a clamped setting may go.
	Removable string `yaml:"removable"`
	// Write is the value of a setting that is missing, or the one to write instead
	// of a refused one.
	Write string `yaml:"write"`
	// Remove has a refused setting go: the engine chooses by itself then.
	Remove bool `yaml:"remove"`
	// Unasked has nothing said while a fact is not known that the condition needs:
	// it is about every server, and true of few.
	Unasked bool `yaml:"unasked"`
	// Rule overrides the rule a verb belongs to.
	Rule  string `yaml:"rule"`
	Group string `yaml:"group"`
	Why   string `yaml:"why"`

	Evidence struct {
		Source string `yaml:"source"`
		Mark   string `yaml:"mark"`
		// Read are the releases whose source was read, where the range has more.
		Read []string `yaml:"read"`
	} `yaml:"evidence"`
	Undo  string `yaml:"undo"`
	Cases []Case `yaml:"cases"`
}

// decode reads a list of entries strictly: an unknown key, a missing part or a
// second verb is an error that names the entry.
func decode(engine, file string, data []byte) ([]*Fact, []*definition, error) {
	var entries []entry
	if err := strictly(data, &entries); err != nil {
		return nil, nil, err
	}
	var facts []*Fact
	var definitions []*definition
	for _, e := range entries {
		if e.Define != "" {
			defined, err := e.definition(engine, file)
			if err != nil {
				return nil, nil, err
			}
			definitions = append(definitions, defined)
			continue
		}
		fact, err := e.fact(engine, file)
		if err != nil {
			return nil, nil, err
		}
		facts = append(facts, fact)
	}
	return facts, definitions, nil
}

// strictly decodes YAML and refuses fields that are not known.
func strictly(data []byte, to any) error {
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	decoder.KnownFields(true)
	if err := decoder.Decode(to); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}

func (e entry) definition(engine, file string) (*definition, error) {
	versions, err := catalogue.ParseRange(e.Versions)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: `versions`: %w", e.Define, err)
	case e.Value == "":
		return nil, fmt.Errorf("%s: `value` is missing", e.Define)
	case e.Evidence.Source == "":
		return nil, fmt.Errorf("%s: `evidence.source` is missing", e.Define)
	}
	return &definition{name: e.Define, engine: engine, file: file, versions: versions, value: e.Value, Cases: e.Cases}, nil
}

func (e entry) fact(engine, file string) (*Fact, error) {
	fact := &Fact{
		Engine: engine, Settings: e.Settings, VersionText: e.Versions, Rule: e.Rule, Group: e.Group,
		Also: e.When, Removable: e.Removable, Instead: e.Effective, Write: e.Write, Remove: e.Remove, Unasked: e.Unasked,
		Why: e.Why, Source: e.Evidence.Source, Mark: e.Evidence.Mark, Read: e.Evidence.Read, Undo: e.Undo, Cases: e.Cases, Tier: e.Tier, file: file,
	}
	if e.Setting != "" {
		fact.Settings = append([]string{e.Setting}, e.Settings...)
	}
	if len(fact.Settings) == 0 {
		return nil, errors.New("`setting` is missing")
	}
	name := strings.Join(fact.Settings, ", ")
	if err := e.verb(fact); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if fact.Rule == "" {
		fact.Rule = ruleOf[fact.Verb]
	}
	if err := fact.complete(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	var err error
	if fact.Versions, err = catalogue.ParseRange(e.Versions); err != nil {
		return nil, fmt.Errorf("%s: `versions`: %w", name, err)
	}
	return fact, nil
}

func (e entry) verb(fact *Fact) error {
	verbs := []struct {
		verb Verb
		when string
	}{
		{Inert, e.Inert}, {Mismatch, e.Mismatch}, {Equals, e.Equals},
		{Clamp, e.Clamp}, {LoadBearing, e.LoadBearing}, {Missing, e.Missing},
		{Overridden, e.Overridden}, {Refused, e.Refused}, {Needs, e.Requires}, {Grows, e.Grows},
	}
	for _, v := range verbs {
		if v.when == "" {
			continue
		}
		if fact.Verb != "" {
			return errors.New("an entry has one verb")
		}
		fact.Verb, fact.When = v.verb, v.when
	}
	if e.Renamed != nil {
		if fact.Verb != "" {
			return errors.New("an entry has one verb")
		}
		fact.Verb, fact.Renaming = Renamed, e.Renamed
		return e.Renamed.complete(fact.Settings)
	}
	if fact.Verb == "" {
		return errors.New("a verb is missing: inert, mismatch, equals, clamp, load_bearing, missing, overridden, refused, needs, grows or renamed")
	}
	return nil
}

func (f *Fact) complete() error {
	removes := f.Verb == Inert || f.Verb == Equals || f.Verb == Clamp
	switch {
	case f.Why == "":
		return errors.New("`why` is missing")
	case f.Source == "":
		return errors.New("`evidence.source` is missing")
	case removes && f.Undo == "":
		return errors.New("`undo` is missing")
	case f.Verb == Missing && (f.Write == "" || f.Rule == ""):
		return errors.New("`missing` needs `write` and `rule`")
	case f.Write != "" && f.Verb != Missing && f.Verb != Refused:
		return errors.New("`write` goes with `missing` or `refused`")
	case f.Write != "" && f.Verb == Refused && f.Undo == "":
		return errors.New("`write` needs `undo`")
	case f.Remove && (f.Verb != Refused || f.Write != "" || f.Undo == ""):
		return errors.New("`remove` goes with `refused`, needs `undo`, and stands alone")
	case (f.Verb == Grows) != (f.Tier != nil):
		return errors.New("`grows` and `tier` go together")
	}
	if f.Tier != nil {
		if err := f.Tier.complete(); err != nil {
			return err
		}
	}
	switch f.Mark {
	case "V", "V-parser", "T", "M", "R", "D":
		return nil
	}
	return errors.New("`evidence.mark` must be V, V-parser, T, M, R or D")
}
