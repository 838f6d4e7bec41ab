package fn

import (
	"slices"

	"github.com/trimtab/trimtab/internal/catalogue"
	"github.com/trimtab/trimtab/internal/engine"
	"github.com/trimtab/trimtab/internal/finding"
	"github.com/trimtab/trimtab/internal/rule"
	"github.com/trimtab/trimtab/internal/setting"
)

// holdUnproven stops removals that do not hold once all edits are made: of two
// settings that are idle because of each other only one may go. It tells whether
// there was one.
func (j *judgements) holdUnproven(again *judgements) bool {
	held := false
	index := again.byKey()
	for i := range j.servers {
		before := &j.servers[i]
		if after := index[before.key()]; after != nil && before.holdFirstUnproven(after) {
			held = true
		}
	}
	return held
}

// holdFirstUnproven holds one removal at a time: without it the others may hold.
func (j *judged) holdFirstUnproven(after *judged) bool {
	for i := range j.findings {
		f := &j.findings[i]
		if f.Action != finding.Remove || f.Tier != nil || !rule.SaysIdle(f.Rule) {
			continue
		}
		if !slices.ContainsFunc(j.facts.Span.Releases, func(r catalogue.Release) bool { return !j.holdsAfter(after, r, *f) }) {
			continue
		}
		for k := range j.findings {
			if other := &j.findings[k]; k == i || f.Group != "" && other.Group == f.Group {
				j.stop(other)
				other.Message += " (not edited: it does nothing only beside another setting that goes)"
			}
		}
		return true
	}
	return false
}

// holdsAfter tells whether a removal still changes nothing at a release where
// all the other edits are made.
func (j *judged) holdsAfter(after *judged, release catalogue.Release, f finding.Finding) bool {
	before := j.readAt(release).Settings
	at := slices.IndexFunc(before, func(s setting.Setting) bool { return s.Origin.String() == f.Origin.String() })
	if at < 0 {
		return true // the release does not know it
	}
	others := after.readAt(release)
	removed := before[at]
	state := func(settings []setting.Setting) rule.Release {
		return rule.Release{
			Server: rule.Server{Server: after.Server, Facts: after.facts},
			State:  engine.NewState(j.engine, j.known, release, settings, after.facts.Set, others.Opaque),
		}
	}
	without, with := state(others.Settings), state(slices.Concat(others.Settings, []setting.Setting{removed}))
	return with.IsIdle(f.Rule, removed) && !without.Replaced(f.Rule, with, removed)
}
