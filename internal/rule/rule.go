// Package rule runs rules over a server at every release that its version
// leaves possible, keeps what holds for all of them, and decides with the
// user's config and exceptions what becomes of each finding. Rules speak of
// settings and facts; nothing here knows YAML.
package rule

import (
	"slices"
	"strings"

	"github.com/trimtab/trimtab/internal/catalogue"
	"github.com/trimtab/trimtab/internal/engine"
	"github.com/trimtab/trimtab/internal/facts"
	"github.com/trimtab/trimtab/internal/finding"
	"github.com/trimtab/trimtab/internal/server"
	"github.com/trimtab/trimtab/internal/serving"
	"github.com/trimtab/trimtab/internal/setting"
)

// Rule is one kind of fault.
type Rule struct {
	Meta
	// CheckRelease looks at the server at one release. A finding is kept only
	// if every release that knows the setting brings it.
	CheckRelease func(Release) ([]finding.Finding, error)
	// CheckServer looks at what does not depend on a release.
	CheckServer func(Server) []finding.Finding
	// Everywhere is true when a finding is kept only if every release of the
	// range brings it: it is about what no release knows.
	Everywhere bool
	// EditsEverywhere is true when the edit is made only then: it writes what
	// another release may not know.
	EditsEverywhere bool
}

// Server is what a rule sees that needs no release.
type Server struct {
	*server.Server
	Facts *facts.Gathered
	// Newest is what the newest release of the range reads; where all are older
	// than the catalogue, what its oldest one does. NewestRelease is that release.
	Newest        Reading
	NewestRelease catalogue.Release
	// Catalogue is what exists in the engine, Serving what it offers and takes
	// beside its GPU.
	Catalogue *catalogue.Engine
	Serving   *serving.Engine
	// Earlier are the servers of the same namespace that stand before this one;
	// they know of no others.
	Earlier []Server
}

// Release is what a rule sees of a server at one release.
type Release struct {
	Server
	Reading
	State *engine.State
}

// Verdict is what a rule makes of a judgement that holds.
type Verdict struct {
	// Says is the verb in words: "does nothing here".
	Says   string
	Action finding.Action
	// Proposed is the value that would be right.
	Proposed string
}

// Findings turns what the facts with one verb say about the settings into
// findings; decide gives the verdict on each. Settings that an operator or the
// engine writes by itself are in no manifest and are passed over.
func (r Release) Findings(meta Meta, verb engine.Verb, decide func(engine.Judgement) Verdict) []finding.Finding {
	var found []finding.Finding
	whole := "" // the JSON option of which the facts speak as a whole
	for _, about := range r.State.WithMembers() {
		if !about.Origin.Stands() || about.Held != "" || whole != "" && InJSON(about) && strings.HasPrefix(about.Name, whole+".") {
			continue
		}
		whole = ""
		if judgement, ok := decisive(r.judge(about, meta, verb)); ok {
			if judgement.Holds == engine.True {
				whole = about.Name
			}
			f := r.finding(meta, about, judgement, decide(judgement))
			if other, ok := r.dissenting(judgement.Fact, meta, verb); ok && f.Action != finding.None {
				f.Action = finding.None
				f.Message += " (not edited: " + other + " of the same group says otherwise)"
			}
			found = append(found, f)
		}
	}
	return found
}

// lonely tells whether a dotted flag is all that is written of a JSON option that
// has no object by itself: without it there would be none at all.
func (r Release) lonely(about setting.Setting) bool {
	option, _, dotted := strings.Cut(about.Key, ".")
	if declared, ok := r.State.Engine.OptionByKey(option, r.State.Release); ok && declared.Default != nil {
		return false
	}
	return dotted && !slices.ContainsFunc(r.State.Settings, func(other setting.Setting) bool {
		return other.Origin.String() != about.Origin.String() && strings.HasPrefix(other.Key, option+".")
	})
}

// DoesMore tells whether a fact says that giving a setting does more than its
// value tells, or that nothing needs it at all: then it is not called a
// restatement.
func (r Release) DoesMore(about setting.Setting) bool {
	for _, verb := range []engine.Verb{engine.LoadBearing, engine.Inert} {
		judgements, _ := r.State.Knowledge.Judge(r.State, about, verb)
		for _, judgement := range judgements {
			if verb == engine.LoadBearing || judgement.Holds == engine.True {
				return true
			}
		}
	}
	return false
}

// judge returns what the facts with one verb say of a setting under one rule. A
// fact that its values do not fit says nothing; the tests of the facts see it.
func (r Release) judge(about setting.Setting, meta Meta, verb engine.Verb) []engine.Judgement {
	judgements, _ := r.State.Knowledge.Judge(r.State, about, verb)
	return slices.DeleteFunc(judgements, func(j engine.Judgement) bool { return j.Fact.Rule != meta.Name })
}

// dissenting finds a setting of a fact's group that is there and for which the
// fact does not hold: then none of the group is edited.
func (r Release) dissenting(fact *engine.Fact, meta Meta, verb engine.Verb) (string, bool) {
	if fact.Group == "" {
		return "", false
	}
	for _, about := range r.State.Settings {
		if !slices.Contains(fact.Settings, about.Name) {
			continue
		}
		judgement, ok := decisive(r.judge(about, meta, verb))
		if !ok || judgement.Holds != engine.True || about.Held != "" {
			return about.Name, true
		}
	}
	return "", false
}

// decisive picks the fact that holds, else the first that lacks a fact.
func decisive(judgements []engine.Judgement) (engine.Judgement, bool) {
	for _, judgement := range judgements {
		if judgement.Holds == engine.True {
			return judgement, true
		}
	}
	if len(judgements) == 0 {
		return engine.Judgement{}, false
	}
	return judgements[0], true
}

func (r Release) finding(meta Meta, about setting.Setting, judgement engine.Judgement, verdict Verdict) finding.Finding {
	f := r.Proven(r.About(meta, about), judgement)
	f.Message = about.Name + " " + verdict.Says + ": " + judgement.Why
	if judgement.Fact.Stated {
		f.Message += " (by your own fact)"
	}
	f.Proposed = verdict.Proposed
	if verdict.Action == finding.Set {
		f.Edits = r.Rewrite(about, verdict.Proposed)
	}
	switch release := r.State.Release; {
	case about.Origin.Path == nil && byHand(about.Origin) != "":
		f.Message += " (" + byHand(about.Origin) + ")"
	case about.Origin.Path == nil:
		f.Message += " (it stands in " + about.Origin.Name + ")"
	case InJSON(about):
		f.Message += inJSON
	case verdict.Action == finding.Remove && r.lonely(about): // an empty object is not the same as none
	case judgement.Fact.MayEdit(release) && (verdict.Action != finding.Set || len(f.Edits) > 0):
		f.Action = verdict.Action
	case judgement.Fact.MayEdit(release): // a value that has no place of its own
	case judgement.Fact.Verified():
		f.Message += " (read in other releases, not in " + release.Version + ")"
	default:
		f.Message += " (reported or derived, not read in source)"
		if f.Severity == finding.Error {
			f.Severity = finding.Warning
		}
	}
	return f
}

// inJSON says what is to be done about a key in a JSON text.
const inJSON = " (a key of a JSON text is not edited: take it out by hand)"

// InJSON tells whether a setting is a key in the value of a JSON option.
func InJSON(about setting.Setting) bool {
	return strings.Contains(about.Key, ".") && len(about.Places) == 0
}

// Proven adds a fact's proof, group and way back to a finding.
func (s Server) Proven(f finding.Finding, judgement engine.Judgement) finding.Finding {
	fact := judgement.Fact
	f.Group, f.Undo, f.Needs = fact.Group, fact.Undo, judgement.Needs
	f.Evidence = []finding.Evidence{{Engine: fact.Engine, Versions: fact.VersionText, Source: fact.Source}}
	return f
}

// About is a finding of a rule about a setting of this server, without message.
func (s Server) About(meta Meta, about setting.Setting) finding.Finding {
	return finding.Finding{
		Rule: meta.Name, Severity: meta.Severity, Object: s.Object, Container: s.Container,
		Setting: about.Name, Spelled: about.Spelled, Origin: about.Origin, Value: shown(about), Action: finding.None,
		Places: about.Places,
	}
}

// key identifies a finding over releases, in which the name of an option may
// change and that of a variable or of a key in a JSON option does not.
type key struct{ rule, origin, variable, tier string }

func keyOf(f finding.Finding) key {
	k := key{rule: f.Rule, origin: f.Origin.String()}
	if f.Origin.Path == nil || len(f.Places) == 0 || strings.HasPrefix(f.Setting, "env/") || strings.HasPrefix(f.Setting, "--") && strings.Contains(f.Setting, ".") {
		k.variable = f.Setting
	}
	if f.Tier != nil {
		k.tier = f.Tier.Name + ":" + f.Tier.Volume + ":" + f.Tier.Place
	}
	return k
}

// Result is what the rules say about one server, before the user's config.
type Result struct {
	Findings []finding.Finding
	// Undecided are findings that lack a fact; their Needs name it.
	Undecided []finding.Finding
}

// Run applies the rules to a server, which readAt reads as a release does. The
// error is that of a rule that could not do its work.
func Run(rules []Rule, s Server, known *engine.Knowledge, catalogued *catalogue.Engine, readAt func(catalogue.Release) Reading) (Result, error) {
	var result Result
	for _, r := range rules {
		if r.CheckServer != nil {
			result.Findings = append(result.Findings, r.CheckServer(s)...)
		}
	}
	tally := newTally()
	for _, release := range s.Facts.Span.Releases {
		reading := readAt(release)
		state := engine.NewState(catalogued, known, release, reading.Settings, s.Facts.Set, reading.Opaque)
		state.Refused = reading.Refused
		view := Release{Server: s, Reading: reading, State: state}
		tally.knows(reading.Settings)
		for _, r := range rules {
			if r.CheckRelease == nil {
				continue
			}
			found, err := r.CheckRelease(view)
			if err != nil {
				return Result{}, err
			}
			tally.add(r, found)
		}
	}
	tally.settle(&result, s.Facts.Span)
	return result, nil
}

// tally counts in how many releases a finding was made, and in how many its
// setting is known at all.
type tally struct {
	order []key
	found map[key]*counted
	known map[string]int
}

type counted struct {
	rule   Rule
	newest finding.Finding
	times  int
	needs  map[string]bool
	// disputed is true when releases differ in what is to be done.
	disputed bool
}

func newTally() *tally {
	return &tally{found: map[key]*counted{}, known: map[string]int{}}
}

func (t *tally) knows(settings []setting.Setting) {
	for _, s := range settings {
		t.known[s.Origin.String()]++
	}
}

func (t *tally) add(r Rule, found []finding.Finding) {
	for _, f := range found {
		k := keyOf(f)
		entry := t.found[k]
		if entry == nil {
			entry = &counted{rule: r, newest: f, needs: map[string]bool{}}
			t.found[k] = entry
			t.order = append(t.order, k)
		}
		writes := f.Action == finding.Set || f.Action == finding.Add
		entry.disputed = entry.disputed || entry.newest.Action != f.Action || writes && entry.newest.Proposed != f.Proposed
		entry.newest = f
		entry.times++
		for _, need := range f.Needs {
			entry.needs[need] = true
		}
	}
}

// settle keeps what every release that knows the setting says. What holds only
// because an image floats is at most a warning and edits nothing.
func (t *tally) settle(result *Result, span catalogue.Span) {
	for _, k := range t.order {
		entry := t.found[k]
		everywhere := entry.times >= len(span.Releases)
		if entry.times < t.known[k.origin] || entry.rule.Everywhere && !everywhere {
			continue
		}
		f := entry.newest
		if len(entry.needs) > 0 {
			f.Needs = sortedKeys(entry.needs)
			result.Undecided = append(result.Undecided, f)
			continue
		}
		writes := f.Action == finding.Add || entry.rule.EditsEverywhere
		if entry.disputed || writes && !everywhere {
			f.Action = finding.None // other releases would not know what is written
		}
		if span.Floating {
			if f.Action != finding.None {
				f.Action = finding.None
				f.Message += " (not edited: the image floats, pin its version)"
			}
			if f.Severity == finding.Error {
				f.Severity = finding.Warning
			}
		}
		result.Findings = append(result.Findings, f)
	}
}

// AboutServer is a finding of a rule about the server as a whole, placed at its
// container or spec, without setting and message.
func (s Server) AboutServer(meta Meta) finding.Finding {
	return finding.Finding{
		Rule: meta.Name, Severity: meta.Severity, Object: s.Object, Container: s.Container,
		Origin: setting.Origin{Kind: setting.Field, Path: s.Path}, Action: finding.None,
	}
}

// Rewrite is the edits that give a setting another value where it stands: in a
// typed field, behind an equals sign, or in a word of its own.
func (s Server) Rewrite(about setting.Setting, value string) []finding.Edit {
	set := func(place setting.Path, text string) []finding.Edit {
		return []finding.Edit{{Action: finding.Set, Path: place, Value: text}}
	}
	switch {
	case about.Origin.Kind == setting.Field:
		return set(about.Origin.Path, value)
	case len(about.Places) == 1:
		return set(about.Places[0], about.Spelled+"="+value)
	case len(about.Places) == 2:
		return set(about.Places[1], value)
	}
	return nil
}
