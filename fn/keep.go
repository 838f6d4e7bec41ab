package fn

import (
	"fmt"
	"slices"

	"github.com/agext/levenshtein"

	"github.com/trimtab/trimtab/internal/config"
	"github.com/trimtab/trimtab/internal/finding"
	"github.com/trimtab/trimtab/internal/rule"
)

// checkKeeps reports the keep entries of the configs that speak of no setting of
// any server they select: a typing error there would let an edit happen.
func (j *judgements) checkKeeps(configs []*config.Config) {
	for _, c := range configs {
		selected := j.selectedBy(c)
		if len(selected) == 0 {
			continue
		}
		for _, entry := range c.Spec.Keep {
			if !slices.ContainsFunc(selected, func(s *judged) bool { return s.speaksOf(entry) }) {
				selected[0].staleKeep(entry, c.Label())
			}
		}
	}
}

// selectedBy are the servers a config is about.
func (j *judgements) selectedBy(c *config.Config) []*judged {
	var selected []*judged
	for i := range j.servers {
		if s := &j.servers[i]; selects(c, s.Server) {
			selected = append(selected, s)
		}
	}
	return selected
}

func (j *judged) speaksOf(entry string) bool {
	if slices.ContainsFunc(j.findings, func(f finding.Finding) bool { return f.Setting == entry }) {
		return true
	}
	return rule.Policy{Engine: j.engine, Span: j.facts.Span}.SpeaksOf(entry, j.settings)
}

func (j *judged) staleKeep(entry, label string) {
	meta := rule.Named("stale-exception")
	wanted := j.config.Spec.Rules[meta.Name]
	if wanted.Off {
		return
	}
	f := finding.Finding{
		Rule: meta.Name, Severity: meta.Severity, Object: j.Object, Container: j.Container, Setting: entry, Value: entry,
		Action: finding.None, Message: fmt.Sprintf("keep entry %q of %s matches no setting%s", entry, label, j.nearest(entry)),
	}
	if wanted.Severity != nil {
		f.Severity = *wanted.Severity
	}
	j.locate(&f)
	j.findings = append(j.findings, f)
}

// nearest suggests the setting an entry may have meant.
func (j *judged) nearest(entry string) string {
	best, least := "", 1+len(entry)/2
	for _, s := range j.settings {
		for _, name := range []string{s.Name, s.Spelled} {
			if distance := levenshtein.Distance(entry, name, nil); distance < least {
				best, least = s.Name, distance
			}
		}
	}
	if best == "" {
		return ""
	}
	return "; did you mean " + best + "?"
}
