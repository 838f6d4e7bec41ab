package fn

import (
	"cmp"
	"slices"
	"strings"

	"github.com/trimtab/trimtab/internal/catalogue"
	"github.com/trimtab/trimtab/internal/finding"
	"github.com/trimtab/trimtab/internal/report"
	"github.com/trimtab/trimtab/internal/rule"
)

// upgradeReport is what a server's change of versions comes to.
func (j *judged) upgradeReport() report.UpgradedServer {
	to := j.release()
	upgraded := report.UpgradedServer{
		Object: j.Object, Container: j.Container, Engine: j.Engine,
		From: cmp.Or(versionText(j.crossing.from), "an unknown version"), To: to.Version, Note: j.crossing.said(), Changes: []report.Change{},
	}
	for _, f := range j.findings {
		if effectOf(f) == none {
			continue
		}
		change := report.Change{Finding: f, From: j.crossing.releases(j.crossing.since[identity(f)])}
		change.Kind, change.Impact = kindOf(f)
		upgraded.Changes = append(upgraded.Changes, change)
	}
	upgraded.Changes = append(upgraded.Changes, j.crossing.changes...)
	report.SortChanges(upgraded.Changes)
	return upgraded
}

// kindOf says what a finding of the release that is to come means.
func kindOf(f finding.Finding) (report.Kind, report.Impact) {
	kind, impact := report.ValueChanged, report.Silent
	switch effectOf(f) {
	case misread, refusal:
		kind, impact = report.Refused, report.Breaking
		if f.Rule == "removed-flag" && f.Proposed != "" || f.Rule == "deprecated-flag" {
			kind = report.Renamed
		}
	case notice:
		return report.Deprecated, report.Harmless
	case idle:
		kind = report.Dead
	}
	if f.Severity.Rank() < rule.Named(f.Rule).Severity.Rank() && !f.Fixed {
		impact = report.Harmless // not certain, as on a fork
	}
	return kind, impact
}

// remark adds to what is to be said about a server's version.
func (c *crossing) remark(text string) {
	if text != "" {
		c.remarks = append(c.remarks, text)
	}
}

// said is what is to be said about the version of a server; empty where it is
// known and all was done.
func (c *crossing) said() string {
	says := c.remarks
	switch {
	case c.from.Exact:
	case len(c.compared) == 0:
		says = append([]string{strings.TrimPrefix(c.from.Why+": nothing can be compared, and only what the version that is to come refuses is told", ": ")}, says...)
	default:
		says = append([]string{c.from.Why + ": compared with " + catalogue.Runs(c.compared)}, says...)
	}
	return strings.Join(says, "; ")
}

// releases prints those that are not all that were compared.
func (c *crossing) releases(some []catalogue.Release) string {
	if len(some) == len(c.compared) {
		return ""
	}
	return catalogue.Runs(some)
}

// merge joins the changes that are the same for several present releases. Each
// names one release, and comes to name all those for which it holds.
func (c *crossing) merge() {
	type same struct {
		kind                           report.Kind
		origin, setting, before, after string
	}
	var merged []report.Change
	at, from := map[same]int{}, map[same][]catalogue.Release{}
	for _, change := range c.changes {
		key := same{change.Kind, change.Origin.String(), change.Setting, change.Before, change.After}
		index, known := at[key]
		if !known {
			index = len(merged)
			at[key], merged = index, append(merged, change)
		}
		merged[index] = change // the words of the newest release count
		from[key] = append(from[key], c.compared[slices.IndexFunc(c.compared, func(r catalogue.Release) bool { return r.Version == change.From })])
	}
	for key, index := range at {
		merged[index].From = c.releases(from[key])
	}
	c.changes = merged
}
