package fn

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/trimtab/trimtab/internal/finding"
	"github.com/trimtab/trimtab/internal/setting"
	"github.com/trimtab/trimtab/internal/stream"
)

// hold compares the settings in force before and after the edits. A server of
// which others change than those that were edited is held: none of its findings
// is edited any more. It tells whether there was one.
func (j *judgements) hold(again *judgements) bool {
	held := false
	index := again.byKey()
	for i := range j.servers {
		before := &j.servers[i]
		after := index[before.key()]
		switch {
		case after == nil && slices.ContainsFunc(before.findings, func(f finding.Finding) bool { return f.Action == finding.Remove && !isAboutObject(f) }):
			before.stopEdits("without them nothing would show which engine runs here")
			held = true
		case after == nil || before.reads(effective(after.settings)):
		default:
			before.stopEdits("the engine would read other settings of the line differently")
			held = true
		}
	}
	return held
}

// reads tells whether the settings in force after the edits are those that
// should be. The text of a variable in which a word was edited is another one.
func (j *judged) reads(after map[string]string) bool {
	wanted := j.expected()
	for _, f := range j.findings {
		if f.Action == finding.None {
			continue
		}
		for _, place := range f.Places {
			scalar, _, inside := place.Part()
			for _, s := range j.settings {
				if inside && s.Origin.Kind == setting.Env && s.Origin.Path != nil && strings.HasPrefix(scalar.String()+".", s.Origin.Path.String()+".") {
					delete(wanted, s.Name)
					delete(after, s.Name)
				}
			}
		}
	}
	return maps.Equal(wanted, after)
}

// expected are the settings that should be in force after the edits.
func (j *judged) expected() map[string]string {
	inForce := effective(j.settings)
	dead := map[string]bool{}
	for _, s := range j.settings {
		dead[s.Origin.String()] = s.Overridden
	}
	for _, f := range j.findings {
		overridden, read := dead[f.Origin.String()]
		if isAboutObject(f) || overridden || f.Action == finding.Remove && !read {
			continue // what is overridden, or never written, is not in force
		}
		_, given := inForce[f.Setting]
		switch {
		case f.Action == finding.Remove:
			delete(inForce, f.Setting)
		case f.Action == finding.Add, f.Action == finding.Set && given:
			inForce[f.Setting] = f.Proposed
		}
	}
	return inForce
}

// stopEdits takes the action from all findings of a server.
func (j *judged) stopEdits(why string) {
	for i := range j.findings {
		if f := &j.findings[i]; f.Action != finding.None {
			j.stop(f)
			f.Message += " (not edited: " + why + ")"
		}
	}
	j.generated = nil
}

// stop takes the action from a finding: a second reading will find it again.
func (j *judged) stop(f *finding.Finding) {
	f.Action = finding.None
	if j.stopped == nil {
		j.stopped = map[string]bool{}
	}
	j.stopped[identity(*f)] = true
}

// holdSources takes the action from all findings in the sources that must not
// be edited, and leaves the jobs there as they are.
func (j *judgements) holdSources(held map[*stream.Source]string) {
	for i := range j.servers {
		j.servers[i].generated = slices.DeleteFunc(j.servers[i].generated, func(g generated) bool {
			return g.stands != nil && held[g.stands.Source] != ""
		})
		if why := held[j.servers[i].Item.Source]; why != "" {
			j.servers[i].stopEdits(why)
		}
	}
}

// heed takes the action from the findings that a veto speaks against, and from
// those of their group.
func (j *judgements) heed(veto func(string, finding.Finding) string) {
	if veto == nil {
		return
	}
	for i := range j.servers {
		s := &j.servers[i]
		against := map[string]string{}
		for k, f := range s.findings {
			if f.Action == finding.None {
				continue
			}
			if why := veto(s.Item.Source.Name, f); why != "" {
				against[orGroup(f, k)] = why
			}
		}
		for k := range s.findings {
			if why := against[orGroup(s.findings[k], k)]; why != "" && s.findings[k].Action != finding.None {
				s.stop(&s.findings[k])
				s.findings[k].Message += " (not edited: " + why + ")"
			}
		}
	}
}

// orGroup names the group of a finding, or the finding alone.
func orGroup(f finding.Finding, index int) string {
	if f.Group != "" {
		return "group " + f.Group
	}
	return strconv.Itoa(index)
}

// holdOpen stops the edits of servers that further edits would follow without
// end. It tells whether there was one.
func (j *judgements) holdOpen(final *judgements, made *changes) bool {
	open := map[string]string{}
	for _, f := range final.stillOpen(made) {
		if !isAboutObject(f.Finding) {
			open[f.server] = f.Rule + " of " + f.Setting
		}
	}
	held := false
	for i := range j.servers {
		s := &j.servers[i]
		if why := open[s.key()]; why != "" && s.stopCauses(why) {
			held = true
		}
	}
	return held
}

// isAboutObject tells whether the edit of a finding writes or takes away an object
// beside the server, and no setting.
func isAboutObject(f finding.Finding) bool { return f.Tier != nil || f.Monitors != "" }
