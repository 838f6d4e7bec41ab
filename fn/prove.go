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
	var unproven []int
	for _, release := range j.facts.Span.Releases {
		unproven = append(unproven, j.unprovenAt(after, release)...)
	}
	if len(unproven) == 0 {
		return false
	}
	first := slices.Min(unproven)
	for k := range j.findings {
		if other := &j.findings[k]; k == first || other.Group != "" && other.Group == j.findings[first].Group {
			j.stop(other)
			other.Message += " (not edited: it does nothing only beside another setting that goes)"
		}
	}
	return true
}

// unprovenAt are the findings whose removal changes something at a release where
// all the other edits are made.
func (j *judged) unprovenAt(after *judged, release catalogue.Release) []int {
	isIdle := func(f finding.Finding) bool {
		return f.Action == finding.Remove && !isAboutObject(f) && rule.SaysIdle(f.Rule)
	}
	if !slices.ContainsFunc(j.findings, isIdle) {
		return nil
	}
	before, others := j.readAt(release).Settings, after.readAt(release)
	state := func(settings []setting.Setting) rule.Release {
		return rule.Release{
			Server: rule.Server{Server: after.Server, Facts: after.facts},
			State:  engine.NewState(j.engine, j.known, release, settings, after.facts.Set, others.Opaque),
		}
	}
	without := state(others.Settings)
	at := make(map[string]int, len(before))
	for i, s := range slices.Backward(before) {
		at[s.Origin.String()] = i
	}
	var unproven []int
	for i, f := range j.findings {
		index, known := at[f.Origin.String()]
		if !isIdle(f) || !known { // the release does not know it
			continue
		}
		removed := before[index]
		with := state(slices.Concat(others.Settings, []setting.Setting{removed}))
		if !with.IsIdle(f.Rule, removed) || without.Replaced(f.Rule, with, removed) {
			unproven = append(unproven, i)
		}
	}
	return unproven
}
