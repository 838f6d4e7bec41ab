// Package rule runs rules over a server at every release that its version
// leaves possible, keeps what holds for all of them, and decides with the
// user's config and exceptions what becomes of each finding. Rules speak of
// settings and facts; nothing here knows YAML.
package rule

import (
	"github.com/trimtab/trimtab/internal/catalogue"
	"github.com/trimtab/trimtab/internal/engine"
	"github.com/trimtab/trimtab/internal/facts"
	"github.com/trimtab/trimtab/internal/finding"
	"github.com/trimtab/trimtab/internal/server"
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
}

// Server is what a rule sees that needs no release.
type Server struct {
	*server.Server
	Facts *facts.Gathered
}

// Release is what a rule sees of a server at one release.
type Release struct {
	Server
	State     *engine.State
	Knowledge *engine.Knowledge
}

// Findings turns what the facts with one verb say about the settings into
// findings; says is the verb in words. Settings that an operator or the engine
// writes by itself are in no manifest and are passed over.
func (r Release) Findings(meta Meta, verb engine.Verb, says string, action finding.Action) ([]finding.Finding, error) {
	var found []finding.Finding
	for _, about := range r.State.Settings {
		if about.Origin.Path == nil {
			continue
		}
		judgements, err := r.Knowledge.Judge(r.State, about, verb)
		if err != nil {
			return nil, err
		}
		if judgement, ok := decisive(judgements); ok {
			f := r.finding(meta, about, judgement, action)
			f.Message = about.Name + " " + says + ": " + judgement.Fact.Why
			found = append(found, f)
		}
	}
	return found, nil
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

func (r Release) finding(meta Meta, about setting.Setting, judgement engine.Judgement, action finding.Action) finding.Finding {
	fact := judgement.Fact
	f := r.About(meta, about)
	f.Group = fact.Group
	f.Undo = fact.Undo
	f.Needs = judgement.Needs
	f.Evidence = []finding.Evidence{{Engine: fact.Engine, Versions: fact.VersionText, Source: fact.Source}}
	if fact.MayEdit() {
		f.Action = action
	}
	return f
}

// About is a finding of a rule about a setting of this server, without message.
func (s Server) About(meta Meta, about setting.Setting) finding.Finding {
	return finding.Finding{
		Rule: meta.Name, Severity: meta.Severity, Object: s.Object, Container: s.Container,
		Setting: about.Name, Origin: about.Origin, Value: about.Value(), Action: finding.None,
		Places: about.Places,
	}
}

// key identifies a finding over releases, in which names may change.
type key struct{ rule, origin string }

func keyOf(f finding.Finding) key {
	place := f.Origin.String()
	if f.Origin.Path == nil {
		place = f.Setting
	}
	return key{f.Rule, place}
}

// Result is what the rules say about one server, before the user's config.
type Result struct {
	Findings []finding.Finding
	// Undecided are findings that lack a fact; their Needs name it.
	Undecided []finding.Finding
}

// Run applies the rules to a server. settingsAt gives the settings and the
// opaque word of the command line at a release.
func Run(rules []Rule, s Server, known *engine.Knowledge, catalogued *catalogue.Engine, settingsAt func(catalogue.Release) ([]setting.Setting, string)) (Result, error) {
	var result Result
	for _, r := range rules {
		if r.CheckServer != nil {
			result.Findings = append(result.Findings, r.CheckServer(s)...)
		}
	}
	tally := newTally()
	for _, release := range s.Facts.Span.Releases {
		settings, opaque := settingsAt(release)
		view := Release{Server: s, Knowledge: known, State: engine.NewState(catalogued, release, settings, s.Facts.Set, opaque)}
		tally.knows(settings)
		for _, r := range rules {
			if r.CheckRelease == nil {
				continue
			}
			found, err := r.CheckRelease(view)
			if err != nil {
				return Result{}, err
			}
			tally.add(found)
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
	newest finding.Finding
	times  int
	needs  map[string]bool
}

func newTally() *tally {
	return &tally{found: map[key]*counted{}, known: map[string]int{}}
}

func (t *tally) knows(settings []setting.Setting) {
	for _, s := range settings {
		t.known[s.Origin.String()]++
	}
}

func (t *tally) add(found []finding.Finding) {
	for _, f := range found {
		k := keyOf(f)
		entry := t.found[k]
		if entry == nil {
			entry = &counted{needs: map[string]bool{}}
			t.found[k] = entry
			t.order = append(t.order, k)
		}
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
		if entry.times < t.known[k.origin] {
			continue
		}
		f := entry.newest
		if len(entry.needs) > 0 {
			f.Needs = sortedKeys(entry.needs)
			result.Undecided = append(result.Undecided, f)
			continue
		}
		if span.Floating {
			f.Action = finding.None
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
