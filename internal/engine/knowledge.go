package engine

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"sync"

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
	// Equals: the setting is what the engine does without it.
	Equals Verb = "equals"
	// Clamp: the engine uses at most this much.
	Clamp Verb = "clamp"
	// LoadBearing: the setting looks redundant and is not.
	LoadBearing Verb = "load_bearing"
	// Missing: the setting is not there and should be.
	Missing Verb = "missing"
	// Overridden: the engine silently uses something else.
	Overridden Verb = "overridden"
	// Refused: with the setting the server does not start.
	Refused Verb = "refused"
	// Needs: without its condition the server does not start, and a metric is not
	// emitted.
	Needs Verb = "needs"
	// Renamed: the setting is written another way, or gone for good.
	Renamed Verb = "renamed"
	// Grows: the setting names a directory that the engine fills.
	Grows Verb = "grows"
)

// MetricPrefix begins the names of metrics, where others are those of settings:
// metric/vllm:num_requests_running. A fact about metric/* is about all.
const MetricPrefix = "metric/"

// ruleOf is the rule a verb belongs to, where a fact names none.
var ruleOf = map[Verb]string{
	Inert: "inert-setting", Mismatch: "gpu-mismatch", Equals: "restated-default", Clamp: "clamped-setting",
	LoadBearing: "load-bearing-setting", Overridden: "overridden-setting",
	Refused: "conflicting-settings", Needs: "conflicting-settings", Grows: "unpruned-cache",
}

// Fact is one entry of engines/ENGINE/facts: what a setting does in a range of
// releases under a condition, with its proof and the way back.
type Fact struct {
	Engine   string
	Settings []string
	Versions catalogue.Range
	// VersionText is the range as written, for evidence.
	VersionText string
	Verb        Verb
	// When is a CEL expression over settings by key and facts by dotted name: a
	// condition, for Equals the value the engine would use, for Clamp the most
	// it uses.
	When string
	// Also is a further condition of Equals and Clamp, Removable the condition
	// under which a clamped setting may go.
	Also, Removable string
	// Instead is the value the engine uses where it overrides the setting, or
	// instead of an Inert one.
	Instead string
	// Write is the value of a Missing setting, and what to write instead of the
	// value of a Refused one where that means the same; empty where nothing does.
	Write string
	// Remove is true where a Refused setting may go: the engine's own choice, which
	// is what was meant, takes its place.
	Remove bool
	// Unasked is true where nothing is said while the outcome is not known.
	Unasked bool
	// Rule is the rule whose findings the fact makes.
	Rule  string
	Group string
	// Renaming is what to write instead of a Renamed setting; nil elsewhere.
	Renaming *Renaming
	// Tier is what a setting that Grows fills; nil elsewhere.
	Tier *Tier
	// Why may hold names in braces, which stand for their values: {tp_size}.
	Why string
	// Source names file and function in the engine's tree, or the measurement.
	Source string
	// Mark says how the fact is known: V, V-parser, T, M may edit; R, D may not.
	Mark string
	// Read are the releases of the range whose source was read; empty: all. In
	// the others the fact is said and edits nothing.
	Read  []string
	Undo  string
	Cases []Case
	// Stated is true for a user's own fact.
	Stated bool
	file   string
}

// Case is a one-line command line and what the fact says about it.
type Case struct {
	Args string `yaml:"args"`
	// Version is the release the case is about; empty: every release of the
	// fact's range that the catalogue knows.
	Version string            `yaml:"version"`
	Env     map[string]string `yaml:"env"`
	Facts   map[string]any    `yaml:"facts"`

	Inert       *bool `yaml:"inert"`
	Mismatch    *bool `yaml:"mismatch"`
	Equals      *bool `yaml:"equals"`
	Clamped     *bool `yaml:"clamped"`
	LoadBearing *bool `yaml:"load_bearing"`
	Missing     *bool `yaml:"missing"`
	Overridden  *bool `yaml:"overridden"`
	Refused     *bool `yaml:"refused"`
	Grows       *bool `yaml:"grows"`
	// Directories are what a tier fills, Bounded whether the engine bounds it.
	Directories []string `yaml:"directories"`
	Bounded     *bool    `yaml:"bounded"`
	// Effective is the value a clamp or an override leaves, Removable whether the
	// setting may go.
	Effective any   `yaml:"effective"`
	Removable *bool `yaml:"removable"`
	// Becomes is the command line of a renamed setting in its new form; empty
	// where there is none.
	Becomes *string `yaml:"becomes"`
	// Value is what a definition evaluates to.
	Value any `yaml:"value"`
	// Needs are the facts without which the condition cannot be decided.
	Needs []string `yaml:"needs"`
}

// definition is a derived name: a value that conditions may ask for.
type definition struct {
	name, engine, file string
	versions           catalogue.Range
	value              string
	Cases              []Case
}

// Knowledge is all facts of one engine, by the setting they are about. An entry
// is decoded when one of its settings occurs.
type Knowledge struct {
	entries   []*lazyEntry
	bySetting map[string][]*lazyEntry
	byDefine  map[string][]*lazyEntry
	missing   []*lazyEntry
	// members are the JSON options of which a fact knows a key.
	members map[string]bool
	// stated are the user's own facts, which come before all others.
	stated []*Fact
}

// FactRoots are the families of facts that conditions may ask for: gpu.count,
// given.lora_paths, keys.compilation_config, env.NAME.
var FactRoots = []string{"given", "keys", "env", "gpu", "image", "measured", "model", "server", "workload"}

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
	k := &Knowledge{bySetting: map[string][]*lazyEntry{}, byDefine: map[string][]*lazyEntry{}, members: map[string]bool{}}
	for _, owner := range []string{engine, "libraries"} {
		folder := path.Join(owner, "facts")
		files, err := engines.Files.ReadDir(folder)
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			name := path.Join(folder, file.Name())
			data, err := engines.Files.ReadFile(name)
			if err != nil {
				return nil, err
			}
			for _, text := range splitEntries(string(data)) {
				k.index(&lazyEntry{engine: engine, file: name, text: text})
			}
		}
	}
	return k, nil
}

// About are the facts about a setting: the user's own, then those of the fact
// files in their order.
func (k *Knowledge) About(setting string) []*Fact {
	var facts []*Fact
	for _, fact := range k.stated {
		if slices.Contains(fact.Settings, setting) {
			facts = append(facts, fact)
		}
	}
	for _, entry := range k.bySetting[setting] {
		if fact := entry.asFact(); fact != nil {
			facts = append(facts, fact)
		}
	}
	return facts
}

// All decodes every fact. An error is that of a malformed entry, with its file.
func (k *Knowledge) All() ([]*Fact, error) {
	facts := slices.Clone(k.stated)
	for _, entry := range k.entries {
		if err := entry.decode(); err != nil {
			return nil, err
		}
		if entry.fact != nil {
			facts = append(facts, entry.fact)
		}
	}
	return facts, nil
}

// Settings are the settings that have a fact, sorted.
func (k *Knowledge) Settings() []string { return slices.Sorted(maps.Keys(k.bySetting)) }

// Verified tells whether the fact was read in source or measured, and is not
// only reported or derived.
func (f *Fact) Verified() bool { return f.Mark != "R" && f.Mark != "D" }

// MayEdit tells whether the proof is strong enough for an edit at a release.
func (f *Fact) MayEdit(release catalogue.Release) bool {
	return f.Verified() && (len(f.Read) == 0 || slices.Contains(f.Read, release.Version))
}

// Names are the names the expressions of a fact ask for. An error means that
// one is no CEL.
func (f *Fact) Names() ([]string, error) {
	var names []string
	for _, expression := range append([]string{f.When, f.Also, f.Removable, f.Instead}, f.Tier.expressions()...) {
		if expression == "" {
			continue
		}
		compiled, err := compile(expression)
		if err != nil {
			return nil, err
		}
		names = append(names, compiled.names...)
	}
	return names, nil
}

// Wants is the verdict a case states for a verb; nil when it states none.
func (c Case) Wants(verb Verb) *bool {
	return map[Verb]*bool{
		Inert: c.Inert, Mismatch: c.Mismatch, Equals: c.Equals,
		Clamp: c.Clamped, LoadBearing: c.LoadBearing, Missing: c.Missing,
		Overridden: c.Overridden, Refused: c.Refused, Needs: c.Refused, Grows: c.Grows,
	}[verb]
}

// Defines tells whether a name is a derived one at a release.
func (k *Knowledge) Defines(name string, release catalogue.Release) bool {
	return slices.ContainsFunc(k.defined(name), func(d *definition) bool { return d.versions.Contains(release) })
}

// EachDefinition visits the derived names with their ranges and cases.
func (k *Knowledge) EachDefinition(visit func(name string, versions catalogue.Range, cases []Case)) {
	for _, name := range slices.Sorted(maps.Keys(k.byDefine)) {
		for _, defined := range k.defined(name) {
			visit(name, defined.versions, defined.Cases)
		}
	}
}
