// Package fn is the pipeline: manifests and configs go in, findings and changed
// bytes come out. Serve runs it as a KRM function; package cli runs it on files.
package fn

import (
	"fmt"
	"slices"

	"github.com/trimtab/trimtab/internal/catalogue"
	"github.com/trimtab/trimtab/internal/config"
	"github.com/trimtab/trimtab/internal/finding"
	"github.com/trimtab/trimtab/internal/monitoring"
	"github.com/trimtab/trimtab/internal/report"
	"github.com/trimtab/trimtab/internal/rule"
	"github.com/trimtab/trimtab/internal/stream"
)

// Input is what one run works on.
type Input struct {
	Sources []*stream.Source
	Configs []*config.Config
	Mode    config.Mode
	// OnlySelected leaves servers alone that no config selects; otherwise they
	// are judged as without a config.
	OnlySelected bool
	// Held says of a source why nothing in it is edited.
	Held map[*stream.Source]string
	// Veto says why what a finding proposes must not be done in a file of that
	// name, empty where it may; nil forbids nothing.
	Veto func(file string, f finding.Finding) string
	// Place moves a finding to where its setting stands in the files that a source
	// was made of; nil leaves it where it is.
	Place func(*finding.Finding)
	// HostEncodes is true where whoever reads the output encodes it anew: an
	// item whose bytes cannot be spliced is then encoded alone.
	HostEncodes bool
	// WantFixes has Verify tell of each finding what Trim would write.
	WantFixes bool
	// ParseQuery reads PromQL, for the queries of dashboards and rules; nil: they
	// are not looked at.
	ParseQuery monitoring.Parse
	// To are the releases that servers are to run instead of their own, by engine,
	// for Upgrade; servers of other engines are left alone. nil: every server is
	// judged at its own version.
	To map[string]catalogue.Release
	// Retag has Upgrade write the new version into image tags.
	Retag bool
	// Known are findings of an earlier run, which are left out of the outcome.
	Known *report.Baseline
}

// Outcome is what one run found, and what it changes.
type Outcome struct {
	Report report.Report
	// Changed holds the new bytes of each source that changes.
	Changed map[*stream.Source][]byte
	// rewritten are the same sources, read again.
	rewritten map[*stream.Source]*stream.Source
	// Failed is true when a finding remains at or above the severity that the
	// config of its server names in failOn.
	Failed bool
	Overlooked
}

// Process is the pipeline: find the servers, judge their settings, edit what the
// findings say, read the result again and judge it once more. Trim keeps the
// result; Verify takes from it only which edits hold.
// Errors mean that the work could not be done; findings are no errors.
func Process(in Input) (*Outcome, error) {
	done, err := trim(in, rounds)
	switch {
	case err != nil:
		return nil, err
	case in.Mode == config.Verify:
		done.judged.dropCoupled()
		if in.WantFixes {
			done.judged.showFixes(in)
		}
		return in.outcome(done.judged, nil) // the actions are what a trim does
	}
	return done.finish(in)
}

// rounds is how often edits may call for further edits, which are made in the
// same run.
const rounds = 4

// trim edits until nothing is left to edit, at most so many rounds more. Edits
// that do not hold are given up, and so are those that would lead further than
// that, or to something worse.
func trim(in Input, more int) (*trimmed, error) {
	judged, err := judge(in, in.Sources, nil)
	if err == nil {
		judged.holdSources(in.Held)
		judged.heed(in.Veto)
		judged.checkKeeps(in.Configs)
	}
	if err != nil {
		return nil, err
	}
	for {
		done, err := attempt(in, judged)
		if err != nil || done.again == nil {
			return done, err
		}
		if judged.holdUnproven(done.again) {
			continue // without the removals that another one contradicts
		}
		if judged.hold(done.again) {
			continue // without the servers whose other settings would change
		}
		if len(done.again.stillOpen(done.changes)) > 0 && more > 0 {
			if done.next, err = trim(in.reading(done.rewritten), more-1); err != nil {
				return nil, err
			}
		}
		if judged.holdOpen(done.final(), done.refused()) {
			continue // without the servers that would change once more
		}
		if judged.holdWorse(done.final()) {
			continue // without the edits that bring about an error
		}
		done.join()
		return done, nil
	}
}

// trimmed is one try of the edits: what they change, and the judgement of the
// result; nil where nothing changes. Next are the edits that follow from them.
type trimmed struct {
	judged    *judgements
	changes   *changes
	rewritten []*stream.Source
	again     *judgements
	next      *trimmed
}

func attempt(in Input, judged *judgements) (*trimmed, error) {
	judged.followTiers()
	judged.followMonitors()
	changes, err := change(in, judged)
	if err != nil || len(changes.sources) == 0 {
		return &trimmed{judged: judged, changes: changes}, err
	}
	changes.addStopped(judged)
	rewritten := slices.Clone(in.Sources)
	for i, source := range in.Sources {
		if now, ok := changes.sources[source]; ok {
			rewritten[i] = now
		}
	}
	wanted := changes.items
	if judged.generates {
		wanted = nil // what a job keeps, and what a dashboard shows, is told by all servers together
	}
	again, err := judge(in, rewritten, wanted)
	return &trimmed{judged: judged, changes: changes, rewritten: rewritten, again: again}, err
}

// reading is the same input with its text as it is after some edits.
func (in Input) reading(sources []*stream.Source) Input {
	held := map[*stream.Source]string{}
	for i, source := range in.Sources {
		if why := in.Held[source]; why != "" {
			held[sources[i]] = why
		}
	}
	in.Sources, in.Held = sources, held
	return in
}

// final is the judgement after the last edits.
func (t *trimmed) final() *judgements {
	switch {
	case t.next != nil:
		return t.next.final()
	case t.again != nil:
		return t.again
	}
	return t.judged
}

// refused are the changes of the last edits.
func (t *trimmed) refused() *changes {
	if t.next != nil {
		return t.next.refused()
	}
	return t.changes
}

// finish gives the outcome of edits that are made.
func (t *trimmed) finish(in Input) (*Outcome, error) {
	if t.again == nil {
		return in.outcome(t.judged, nil)
	}
	final := t.final()
	if open := final.stillOpen(t.refused()); len(open) > 0 {
		return nil, fmt.Errorf("%s of %s %s would change again on its own output; nothing was written, please report this manifest",
			open[0].Setting, open[0].Object.Kind, open[0].Object.Name)
	}
	t.judged.settle(final)
	out, err := in.outcome(t.judged, t.bytes(in))
	if err == nil {
		out.rewritten = t.sources(in)
	}
	return out, err
}

// bytes is the text of the sources that change, after the last edits.
func (t *trimmed) bytes(in Input) map[*stream.Source][]byte {
	changed := map[*stream.Source][]byte{}
	for source, again := range t.sources(in) {
		changed[source] = again.Data
	}
	return changed
}

// sources are the sources that change, as they are read after the last edits.
func (t *trimmed) sources(in Input) map[*stream.Source]*stream.Source {
	changed := map[*stream.Source]*stream.Source{}
	for i, source := range in.Sources {
		if _, ok := t.changes.sources[source]; ok {
			changed[source] = t.rewritten[i]
		}
	}
	if t.next != nil {
		later := t.next.sources(in.reading(t.rewritten))
		for i, source := range in.Sources {
			if again, ok := later[t.rewritten[i]]; ok {
				changed[source] = again
			}
		}
	}
	return changed
}

// settle takes the findings of the second pass for the servers that were
// edited: what was fixed is information, what is new is added. Positions stay
// those of the input.
func (j *judgements) settle(again *judgements) {
	index := again.byKey()
	for i := range j.servers {
		before := &j.servers[i]
		after := index[before.key()]
		if after == nil {
			continue
		}
		known := map[string]bool{}
		for k := range before.findings {
			f := &before.findings[k]
			known[identity(*f)] = true
			if f.Action != finding.None {
				f.Fixed, f.Severity = true, finding.Info
			}
		}
		for _, f := range after.findings {
			if !known[identity(f)] {
				before.findings = append(before.findings, f)
			}
		}
	}
}

// identity tells findings of one server apart without their place, which moves
// when lines go.
func identity(f finding.Finding) string {
	return f.Rule + "\x00" + f.Setting + "\x00" + f.Value
}

func (in Input) outcome(judged *judgements, changed map[*stream.Source][]byte) (*Outcome, error) {
	out := &Outcome{Changed: changed}
	var found []finding.Finding
	var servers []report.Server
	secrets := judged.secrets()
	for _, s := range judged.servers {
		fresh := in.fresh(s.findings, secrets)
		found = append(found, fresh...)
		for _, undecided := range s.undecided {
			secrets.HideIn(&undecided)
			found = append(found, undecided)
		}
		servers = append(servers, s.summary())
		out.fail(fresh, s.config)
	}
	queries, err := in.deadMetrics(judged.all(), catalogue.Names())
	if err != nil {
		return nil, err
	}
	queries = in.fresh(queries, secrets)
	found = append(found, queries...)
	out.fail(queries, config.Default())
	out.Report = report.New(found, servers)
	out.Report.Secrets = secrets
	out.Overlooked = in.overlooked(judged)
	return out, nil
}

// fresh are findings at their place in the files and without secrets, less those
// of an earlier run.
func (in Input) fresh(found []finding.Finding, secrets rule.Secrets) []finding.Finding {
	fresh := slices.Clone(found)
	for i := range fresh {
		secrets.HideIn(&fresh[i])
	}
	if in.Place != nil {
		for i := range fresh {
			in.Place(&fresh[i])
		}
	}
	return slices.DeleteFunc(fresh, in.Known.Takes)
}

// fail notes that a finding remains on which a config fails.
func (o *Outcome) fail(found []finding.Finding, c *config.Config) {
	for _, f := range found {
		o.Failed = o.Failed || !f.Fixed && c.Spec.FailOn.Fails(f.Severity)
	}
}
