package validators

import (
	"github.com/trimtab/trimtab/internal/engine"
	"github.com/trimtab/trimtab/internal/finding"
	"github.com/trimtab/trimtab/internal/rule"
)

// conflictingSettings finds what keeps the engine from starting behind its
// parser.
func conflictingSettings() rule.Rule { return refusals("conflicting-settings") }

// unsupportedOnGPU finds what the target GPU lacks.
func unsupportedOnGPU() rule.Rule { return refusals("unsupported-on-gpu") }

// refusals is the rule for facts with the verbs refused and needs. A fact may
// name the value to write instead, or that the engine chooses well without it.
func refusals(name string) rule.Rule {
	meta := rule.Named(name)
	return rule.Rule{Meta: meta, CheckRelease: func(r rule.Release) ([]finding.Finding, error) {
		var found []finding.Finding
		for _, verb := range []engine.Verb{engine.Refused, engine.Needs} {
			found = append(found, r.Findings(meta, verb, func(judgement engine.Judgement) rule.Verdict {
				verdict := rule.Verdict{Says: "keeps the server from starting", Action: finding.None}
				switch fact := judgement.Fact; {
				case fact.Write != "":
					verdict.Action, verdict.Proposed = finding.Set, fact.Write
				case fact.Remove:
					verdict.Action = finding.Remove
				}
				return verdict
			})...)
		}
		return found, nil
	}}
}
