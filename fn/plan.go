package fn

import (
	"fmt"

	"github.com/trimtab/trimtab/internal/account"
	"github.com/trimtab/trimtab/internal/engine"
	"github.com/trimtab/trimtab/internal/finding"
	"github.com/trimtab/trimtab/internal/ledger"
)

// ServerPlan is the memory account of one server.
type ServerPlan struct {
	Object    finding.Object `json:"object"`
	Container string         `json:"container"`
	ledger.Plan
}

// Plan draws up the memory account of every server, at the newest release that
// its version leaves possible. Errors are those of Process.
func Plan(in Input) ([]ServerPlan, error) {
	judged, err := judge(in, in.Sources, nil)
	if err != nil {
		return nil, err
	}
	plans := make([]ServerPlan, 0, len(judged.servers))
	for i := range judged.servers {
		s := &judged.servers[i]
		plan, err := s.plan()
		if err != nil {
			return nil, err
		}
		plans = append(plans, ServerPlan{Object: s.Object, Container: s.Container, Plan: plan})
	}
	return plans, nil
}

func (j *judged) plan() (ledger.Plan, error) {
	release, ok := j.facts.Span.Newest()
	if !ok {
		return ledger.Plan{Needs: []string{"engine.version"}}.Listed(), nil
	}
	known, err := engine.Load(j.Engine)
	if err != nil {
		return ledger.Plan{}, err
	}
	state := engine.NewState(j.engine, known, release, j.settings, j.facts.Set, "")
	drawn, err := account.Of(state, j.facts)
	if err != nil {
		return ledger.Plan{}, fmt.Errorf("%s: %w", label(j.Server), err)
	}
	gpu, _ := j.facts.Set["gpu.name"].Value.(string)
	plan, err := drawn.Plan(gpu)
	if err != nil {
		return plan, fmt.Errorf("%s: %w", label(j.Server), err)
	}
	return plan, nil
}
