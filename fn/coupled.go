package fn

import (
	"cmp"
	"slices"

	"github.com/trimtab/trimtab/internal/finding"
	"github.com/trimtab/trimtab/internal/rule"
	"github.com/trimtab/trimtab/internal/setting"
)

// join takes the edits that followed from the first ones over into the findings
// of the input: they are made together with those that called for them.
func (t *trimmed) join() {
	if t.next == nil {
		return
	}
	index := t.next.judged.byKey()
	for i := range t.judged.servers {
		before := &t.judged.servers[i]
		if after := index[before.key()]; after != nil {
			before.couple(after)
		}
	}
}

// couple adds what a later round edits of a server to the findings of the first,
// at the place where the setting stands in the input.
func (j *judged) couple(after *judged) {
	leader := slices.IndexFunc(j.findings, changesValue)
	if leader < 0 {
		leader = slices.IndexFunc(j.findings, func(f finding.Finding) bool { return f.Action != finding.None && !isAboutObject(f) })
	}
	if leader < 0 {
		return
	}
	known := map[string]bool{}
	for _, f := range j.findings {
		known[identity(f)] = true
	}
	for _, f := range after.findings {
		at := slices.IndexFunc(j.settings, func(s setting.Setting) bool { return s.Name == f.Setting })
		if f.Action == finding.None || isAboutObject(f) || known[identity(f)] || at < 0 {
			continue
		}
		first := &j.findings[leader]
		first.Group = cmp.Or(first.Group, "with "+first.Setting)
		first.Message += "; " + f.Setting + " goes along: " + f.Message
		f.Group, f.Origin, f.Places, f.Edits, f.Coupled = first.Group, j.settings[at].Origin, nil, nil, true
		j.locate(&f)
		j.findings = append(j.findings, f)
	}
}

// dropCoupled leaves out what only a trim brings about.
func (j *judgements) dropCoupled() {
	for i := range j.servers {
		s := &j.servers[i]
		s.findings = slices.DeleteFunc(s.findings, func(f finding.Finding) bool { return f.Coupled })
	}
}

// changesValue tells whether a finding gives a setting another value than it
// has: only such edits can bring something about.
func changesValue(f finding.Finding) bool {
	return !isAboutObject(f) && (f.Action == finding.Set || f.Action == finding.Add)
}

// holdWorse stops the edits of servers that would have more errors after them,
// one of them new: what is kept, or cannot be edited, would no longer fit. It
// tells whether there was one.
func (j *judgements) holdWorse(final *judgements) bool {
	held := false
	index := final.byKey()
	for i := range j.servers {
		before := &j.servers[i]
		after := index[before.key()]
		if after == nil {
			continue
		}
		known, errors := map[string]bool{}, 0
		for _, f := range before.findings {
			known[f.Rule+"\x00"+f.Setting] = true
			if isError(f) {
				errors++
			}
		}
		for _, f := range after.findings {
			if isError(f) {
				errors--
			}
		}
		for _, f := range after.findings {
			if errors < 0 && isError(f) && !known[f.Rule+"\x00"+f.Setting] && before.stopCauses(f.Rule+" of "+f.Setting) {
				held = true
				break
			}
		}
	}
	return held
}

// isError tells whether a finding is an error, also where a comment gives its
// owner's reason for what stands there.
func isError(f finding.Finding) bool {
	return f.Severity == finding.Error || f.Severity == finding.Info && f.Action == finding.None && rule.Named(f.Rule).Severity == finding.Error
}

// stopCauses stops the edits that may have brought something about: those that
// give a setting another value, where there are any. It tells whether there was
// one to stop.
func (j *judged) stopCauses(what string) bool {
	acts := func(f finding.Finding) bool { return f.Action != finding.None && !isAboutObject(f) }
	if slices.ContainsFunc(j.findings, changesValue) {
		acts = changesValue
	}
	groups := map[string]bool{}
	for _, f := range j.findings {
		if acts(f) && f.Group != "" {
			groups[f.Group] = true
		}
	}
	stopped := false
	for i := range j.findings {
		if f := &j.findings[i]; acts(*f) || f.Action != finding.None && groups[f.Group] {
			j.stop(f)
			f.Message += " (not edited: it would bring about " + what + ", settle that first)"
			stopped = true
		}
	}
	return stopped
}
