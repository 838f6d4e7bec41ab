package fn

import (
	"github.com/trimtab/trimtab/internal/finding"
	"github.com/trimtab/trimtab/internal/report"
)

// deadRules are the rules whose findings are settings without effect.
var deadRules = map[string]bool{"inert-setting": true, "dead-env": true, "shadowed-setting": true, "repeated-setting": true}

// Fleet is one line a server: what it is, what it can carry, and what is wrong.
// Errors are those of Process.
func Fleet(in Input) ([]report.FleetServer, error) {
	done, err := trim(in, rounds)
	if err != nil {
		return nil, err
	}
	servers := []report.FleetServer{}
	for i := range done.judged.servers {
		s := &done.judged.servers[i]
		plan, err := s.plan()
		if err != nil {
			return nil, err
		}
		row := report.FleetServer{
			Server: s.summary(), File: s.Item.Source.Name,
			KVTokens: plan.Tokens, Ceiling: plan.Ceiling.Requests, Dead: []string{},
		}
		for _, f := range s.findings {
			if deadRules[f.Rule] && len(f.Places) > 0 {
				row.Dead = append(row.Dead, f.Setting)
			}
			switch f.Severity {
			case finding.Error:
				row.Errors++
			case finding.Warning:
				row.Warnings++
			}
		}
		servers = append(servers, row)
	}
	return servers, nil
}
