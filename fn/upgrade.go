package fn

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/trimtab/trimtab/internal/catalogue"
	"github.com/trimtab/trimtab/internal/config"
	"github.com/trimtab/trimtab/internal/finding"
	"github.com/trimtab/trimtab/internal/report"
	"github.com/trimtab/trimtab/internal/rule"
	"github.com/trimtab/trimtab/internal/setting"
	"github.com/trimtab/trimtab/internal/stream"
)

// Upgraded is what other engine versions change, and the bytes of the sources
// that the fixes change.
type Upgraded struct {
	Report report.Upgrade
	// Changed holds the new bytes of each source that changes; empty unless the
	// input's mode is Trim.
	Changed map[*stream.Source][]byte
	// Failed is true when something that breaks remains, unless the config of its
	// server fails on nothing.
	Failed bool
	Overlooked
}

// Upgrade tells what the releases that in.To names change for the servers of
// their engines, downwards as well. In mode Trim it writes the fixes that mean
// the same, as the release that is to come reads them. Errors are those of
// Process.
func Upgrade(in Input) (*Upgraded, error) {
	if len(in.To) == 0 {
		return nil, errors.New("no version to compare with: name one as `--to ENGINE=VERSION`")
	}
	done, err := trim(in, rounds)
	if err != nil {
		return nil, err
	}
	out := &Upgraded{Changed: map[*stream.Source][]byte{}}
	writes := in.Mode == config.Trim
	if writes && done.again != nil {
		done.judged.settle(done.final())
		out.Changed = done.bytes(in)
	} else {
		done.judged.dropCoupled()
	}
	servers, tags := make([]*judged, len(done.judged.servers)), make([]*report.Change, len(done.judged.servers))
	for i := range done.judged.servers {
		s := &done.judged.servers[i]
		servers[i] = s
		if in.Retag {
			var why string
			tags[i], why = in.retag(s)
			s.crossing.remark(why)
		}
		if writes && tags[i] == nil && slices.ContainsFunc(s.findings, func(f finding.Finding) bool { return f.Fixed }) {
			s.crossing.remark(fmt.Sprintf("what was written is meant for %s, and the image is as it was", s.release()))
		}
	}
	if writes && in.Retag {
		if err := in.writeTags(servers, tags, out.Changed); err != nil {
			return nil, err
		}
	}
	secrets := done.judged.secrets()
	for i, s := range servers {
		if tags[i] != nil {
			s.crossing.changes = append(s.crossing.changes, *tags[i])
		}
		upgraded := s.upgradeReport()
		hideSecrets(upgraded.Changes, secrets)
		out.Report.Servers = append(out.Report.Servers, upgraded)
		for _, change := range upgraded.Changes {
			breaks := change.Impact == report.Breaking && !change.Fixed
			out.Failed = out.Failed || breaks && s.config.Spec.FailOn.Fails(finding.Error)
		}
	}
	if out.Report.Queries, err = in.queriesSince(servers); err != nil {
		return nil, err
	}
	out.Overlooked = in.overlooked(done.judged)
	return out, nil
}

// crossing is what a server's change of versions brings about, beside the
// findings of the release that is to come.
type crossing struct {
	from catalogue.Span
	// compared are the present releases that were compared, present the server at
	// each of them.
	compared []catalogue.Release
	present  []*judged
	remarks  []string
	// since are the present releases for which a finding is new, by identity.
	since   map[string][]catalogue.Release
	changes []report.Change
}

// at is the server as if it ran exactly one release.
func (s *subject) at(release catalogue.Release) *subject {
	there, gathered := *s, *s.facts
	gathered.Span = catalogue.Span{Releases: []catalogue.Release{release}, Exact: true, Text: release.Version}
	there.facts = &gathered
	return &there
}

// cross judges a server at another release, and keeps what is new there.
func (s *subject) cross(to catalogue.Release, rules []rule.Rule) (*judged, error) {
	there := s.at(to)
	after, err := there.judge(rules, there.look())
	if err != nil {
		return nil, err
	}
	after.crossing = &crossing{from: s.facts.Span, since: map[string][]catalogue.Release{}}
	var present []*judged
	for _, release := range s.facts.Span.Releases {
		here := s.at(release)
		before, err := here.judge(rules, here.look())
		if err != nil {
			return nil, err
		}
		present = append(present, before)
	}
	present = starting(present)
	after.crossing.present = present
	for _, before := range present {
		after.crossing.compared = append(after.crossing.compared, before.release())
	}
	after.keepNew(present)
	for _, before := range present {
		after.crossing.changes = append(after.crossing.changes, after.silentSince(before)...)
	}
	after.crossing.merge()
	return after, nil
}

// release is the one of a server that is judged at exactly one.
func (j *judged) release() catalogue.Release { return j.facts.Span.Releases[0] }

// starting leaves out the releases whose parser refuses the command line, where
// others take it: the server runs none of those.
func starting(present []*judged) []*judged {
	refused := func(j *judged) bool {
		return slices.ContainsFunc(j.findings, func(f finding.Finding) bool { return effectOf(f) == misread && f.Severity == finding.Error })
	}
	running := slices.DeleteFunc(slices.Clone(present), refused)
	if len(running) == 0 {
		return present
	}
	return running
}

// effect is what a finding means for a change of versions.
type effect int

const (
	none    effect = iota
	misread        // the parser refuses it
	refusal        // the engine refuses it behind the parser
	notice         // the engine warns of it
	idle           // the engine does nothing with it
	instead        // the engine uses something else
)

var effects = map[string]effect{
	"unknown-flag": misread, "removed-flag": misread, "bad-value": misread,
	"conflicting-settings": refusal, "unsupported-on-gpu": refusal,
	"deprecated-flag": notice, "dead-env": idle, "inert-setting": idle,
	"overridden-setting": instead, "clamped-setting": instead,
}

func effectOf(f finding.Finding) effect {
	if f.Rule == "deprecated-flag" && f.Severity == finding.Error {
		return misread
	}
	return effects[f.Rule]
}

// effectKey finds the same effect on the same setting at another release.
type effectKey struct {
	effect effect
	origin string
	// setting is set where the origin holds more than one.
	setting string
}

func (j *judged) keyOf(f finding.Finding) effectKey {
	key := effectKey{effect: effectOf(f), origin: f.Origin.String()}
	if f.Origin.Path == nil || f.Origin.String() == j.Path.String() || strings.HasPrefix(f.Setting, "env/") {
		key.setting = f.Setting
	}
	return key
}

func (j *judged) effects() map[effectKey]finding.Finding {
	found := map[effectKey]finding.Finding{}
	for _, f := range j.undecided {
		found[j.keyOf(f)] = f // it may hold
	}
	for _, f := range j.findings {
		found[j.keyOf(f)] = f
	}
	return found
}

// keepNew leaves the findings that a present release does not bring, and adds
// what the present ones bring and this one does not.
func (j *judged) keepNew(present []*judged) {
	at := make([]map[effectKey]finding.Finding, len(present))
	for i, before := range present {
		at[i] = before.effects()
	}
	here, split := j.effects(), map[string]bool{}
	j.findings = slices.DeleteFunc(j.findings, func(f finding.Finding) bool {
		isNew := len(present) == 0
		for i, before := range present {
			if _, known := at[i][j.keyOf(f)]; !known && effectOf(f) != none {
				isNew = true
				j.crossing.since[identity(f)] = append(j.crossing.since[identity(f)], before.release())
			}
		}
		split[f.Group] = split[f.Group] || f.Group != "" && (!isNew || effectOf(f) == none)
		return !isNew || effectOf(f) == none
	})
	for i := range j.findings {
		if f := &j.findings[i]; split[f.Group] && f.Action != finding.None {
			f.Action = finding.None
			f.Message += " (not edited: others of its group are as they were)"
		}
	}
	for i, before := range present {
		for key, f := range at[i] {
			if _, still := here[key]; !still && len(f.Needs) == 0 && j.takes(f) {
				j.crossing.changes = append(j.crossing.changes, before.gone(f, j.release())...)
			}
		}
	}
	j.dropIdle(present)
}

// takes tells whether the release takes the setting of a finding, so that what
// was said about it before can have come to an end.
func (j *judged) takes(f finding.Finding) bool {
	reading := j.readAt(j.release())
	if strings.HasPrefix(f.Setting, "env/") {
		return true
	}
	return slices.ContainsFunc(reading.Settings, func(s setting.Setting) bool {
		return s.Origin.String() == f.Origin.String() && s.Held == ""
	})
}

// gone is what it means that a finding comes to its end.
func (j *judged) gone(f finding.Finding, to catalogue.Release) []report.Change {
	change := report.Change{Finding: f, From: j.release().Version}
	change.Action, change.Proposed, change.Undo, change.Edits = finding.None, "", "", nil
	switch effectOf(f) {
	case misread, refusal:
		change.Kind, change.Impact = report.Accepted, report.Harmless
		change.Message = fmt.Sprintf("%s takes it, %s did not: %s", to, j.release(), f.Message)
	case idle:
		change.Kind, change.Impact = report.Alive, report.Silent
		change.Message = fmt.Sprintf("%s has an effect in %s; in %s it had none: %s", f.Setting, to, j.release(), f.Message)
	default:
		return nil // a warning that ends; another value is compared by itself
	}
	change.Severity = finding.Info
	return []report.Change{change}
}

// dropIdle takes options out that are gone and did nothing in any present
// release: without them the server starts, and does what it did.
func (j *judged) dropIdle(present []*judged) {
	for i := range j.findings {
		f := &j.findings[i]
		if f.Rule != "removed-flag" || f.Action != finding.None || len(f.Places) == 0 || len(present) == 0 {
			continue
		}
		did := slices.ContainsFunc(present, func(before *judged) bool {
			return !slices.ContainsFunc(before.findings, func(old finding.Finding) bool {
				return old.Rule == "inert-setting" && old.Action == finding.Remove && old.Origin.String() == f.Origin.String()
			})
		})
		if !did {
			f.Action = finding.Remove
			f.Message += "; it did nothing before, so it may go"
		}
	}
}
