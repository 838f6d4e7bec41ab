package validators

import (
	"strings"

	"github.com/trimtab/trimtab/internal/engine"
	"github.com/trimtab/trimtab/internal/finding"
	"github.com/trimtab/trimtab/internal/rule"
)

// slowCacheLookup finds a file-backed cache without its metadata cache.
func slowCacheLookup() rule.Rule {
	return missingSetting("slow-cache-lookup")
}

// missingSetting finds variables that are not there and should be, by the facts
// that name the rule.
func missingSetting(name string) rule.Rule {
	meta := rule.Named(name)
	return rule.Rule{Meta: meta, CheckRelease: func(r rule.Release) ([]finding.Finding, error) {
		judgements, err := r.State.Absent()
		if err != nil {
			return nil, err
		}
		var found []finding.Finding
		for _, judgement := range judgements {
			if judgement.Fact.Rule == name {
				found = append(found, absent(r, meta, judgement))
			}
		}
		return found, nil
	}}
}

func absent(r rule.Release, meta rule.Meta, judgement engine.Judgement) finding.Finding {
	fact := judgement.Fact
	f := r.Proven(r.AboutServer(meta), judgement)
	f.Setting, f.Proposed = fact.Settings[0], fact.Write
	f.Message = f.Setting + " is missing: " + judgement.Why
	variable, isVariable := strings.CutPrefix(f.Setting, "env/")
	if isVariable && fact.MayEdit(r.State.Release) && !r.EnvFrom && r.EnvPath != nil {
		f.Action = finding.Add
		f.Edits = []finding.Edit{{
			Action: finding.Add, Path: r.EnvPath,
			Fields: []finding.FieldValue{{Name: "name", Value: variable}, {Name: "value", Value: fact.Write}},
		}}
	}
	return f
}
