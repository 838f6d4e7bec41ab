package engine

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"github.com/trimtab/trimtab/engines"
	"github.com/trimtab/trimtab/internal/catalogue"
)

// Verb is what a fact says of a setting when its condition holds.
type Verb string

// The verbs of the fact files.
const (
	// Inert: the engine does nothing with the setting.
	Inert Verb = "inert"
	// Mismatch: the setting does not fit the GPUs that are asked for.
	Mismatch Verb = "mismatch"
)

// Fact is one entry of engines/ENGINE/facts: what a setting does in a range of
// releases under a condition, with its proof and the way back.
type Fact struct {
	Engine   string
	Settings []string
	Versions catalogue.Range
	// VersionText is the range as written, for evidence.
	VersionText string
	Verb        Verb
	// When is a CEL condition over settings by key and facts by dotted name.
	When  string
	Group string
	Why   string
	// Source names file and function in the engine's tree, or the measurement.
	Source string
	// Mark says how the fact is known: V, V-parser, T, M may edit; R, D may not.
	Mark  string
	Undo  string
	Cases []Case
	file  string
}

// Case is a one-line command line and what the fact says about it.
type Case struct {
	Args string `yaml:"args"`
	// Version is the release the case is about; empty: every release of the
	// fact's range that the catalogue knows.
	Version  string            `yaml:"version"`
	Env      map[string]string `yaml:"env"`
	Facts    map[string]any    `yaml:"facts"`
	Inert    *bool             `yaml:"inert"`
	Mismatch *bool             `yaml:"mismatch"`
	// Needs are the facts without which the condition cannot be decided.
	Needs []string `yaml:"needs"`
}

// entry is a fact as the files spell it.
type entry struct {
	Setting  string   `yaml:"setting"`
	Settings []string `yaml:"settings"`
	Versions string   `yaml:"versions"`
	Inert    string   `yaml:"inert"`
	Mismatch string   `yaml:"mismatch"`
	Group    string   `yaml:"group"`
	Why      string   `yaml:"why"`
	Evidence struct {
		Source string `yaml:"source"`
		Mark   string `yaml:"mark"`
	} `yaml:"evidence"`
	Undo  string `yaml:"undo"`
	Cases []Case `yaml:"cases"`
}

// Knowledge is all facts of one engine, by the setting they are about.
type Knowledge struct {
	Facts     []*Fact
	bySetting map[string][]*Fact
}

// About returns the facts about a setting, in the order of the files.
func (k *Knowledge) About(setting string) []*Fact { return k.bySetting[setting] }

var knowledge = map[string]func() (*Knowledge, error){
	"sglang": sync.OnceValues(func() (*Knowledge, error) { return load("sglang") }),
	"vllm":   sync.OnceValues(func() (*Knowledge, error) { return load("vllm") }),
}

// Load reads the facts of an engine, once per process. An unknown engine and a
// malformed file are errors.
func Load(engine string) (*Knowledge, error) {
	loadOnce, ok := knowledge[engine]
	if !ok {
		return nil, fmt.Errorf("no facts about engine %q", engine)
	}
	return loadOnce()
}

func load(engine string) (*Knowledge, error) {
	folder := path.Join(engine, "facts")
	files, err := engines.Files.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	k := &Knowledge{bySetting: map[string][]*Fact{}}
	for _, file := range files {
		name := path.Join(folder, file.Name())
		data, err := engines.Files.ReadFile(name)
		if err != nil {
			return nil, err
		}
		facts, err := decode(engine, name, data)
		if err != nil {
			return nil, fmt.Errorf("engines/%s: %w", name, err)
		}
		for _, fact := range facts {
			k.Facts = append(k.Facts, fact)
			for _, setting := range fact.Settings {
				k.bySetting[setting] = append(k.bySetting[setting], fact)
			}
		}
	}
	return k, nil
}

// decode reads a list of entries strictly: an unknown key, a missing part or a
// second verb is an error that names the entry.
func decode(engine, file string, data []byte) ([]*Fact, error) {
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	decoder.KnownFields(true)
	var entries []entry
	if err := decoder.Decode(&entries); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	facts := make([]*Fact, 0, len(entries))
	for i, e := range entries {
		fact, err := e.fact(engine, file)
		if err != nil {
			return nil, fmt.Errorf("entry %d: %w", i+1, err)
		}
		facts = append(facts, fact)
	}
	return facts, nil
}

func (e entry) fact(engine, file string) (*Fact, error) {
	fact := &Fact{
		Engine: engine, Settings: e.Settings, VersionText: e.Versions, Group: e.Group,
		Why: e.Why, Source: e.Evidence.Source, Mark: e.Evidence.Mark, Undo: e.Undo, Cases: e.Cases, file: file,
	}
	if e.Setting != "" {
		fact.Settings = append([]string{e.Setting}, e.Settings...)
	}
	if len(fact.Settings) == 0 {
		return nil, errors.New("`setting` is missing")
	}
	name := strings.Join(fact.Settings, ", ")
	for verb, when := range map[Verb]string{Inert: e.Inert, Mismatch: e.Mismatch} {
		if when == "" {
			continue
		}
		if fact.Verb != "" {
			return nil, fmt.Errorf("%s: an entry has one verb", name)
		}
		fact.Verb, fact.When = verb, when
	}
	switch {
	case fact.Verb == "":
		return nil, fmt.Errorf("%s: a verb is missing: `inert` or `mismatch`", name)
	case fact.Why == "":
		return nil, fmt.Errorf("%s: `why` is missing", name)
	case fact.Source == "":
		return nil, fmt.Errorf("%s: `evidence.source` is missing", name)
	case fact.Verb == Inert && fact.Undo == "":
		return nil, fmt.Errorf("%s: `undo` is missing", name)
	}
	switch fact.Mark {
	case "V", "V-parser", "T", "M", "R", "D":
	default:
		return nil, fmt.Errorf("%s: `evidence.mark` must be V, V-parser, T, M, R or D", name)
	}
	var err error
	if fact.Versions, err = catalogue.ParseRange(e.Versions); err != nil {
		return nil, fmt.Errorf("%s: `versions`: %w", name, err)
	}
	return fact, nil
}

// MayEdit tells whether the proof is strong enough for an edit.
func (f *Fact) MayEdit() bool { return f.Mark != "R" && f.Mark != "D" }

// Names are the names the condition asks for. An error means that it is no CEL.
func (f *Fact) Names() ([]string, error) {
	compiled, err := compile(f.When)
	if err != nil {
		return nil, err
	}
	return compiled.names, nil
}

// Wants is the verdict a case states for a verb; nil when it states none.
func (c Case) Wants(verb Verb) *bool {
	return map[Verb]*bool{Inert: c.Inert, Mismatch: c.Mismatch}[verb]
}
