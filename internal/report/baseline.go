package report

import (
	"encoding/json"
	"fmt"

	"github.com/trimtab/trimtab/internal/finding"
)

// Baseline are the findings of an earlier run, which a later one leaves out.
// The zero value and nil hold none.
type Baseline struct{ left map[known]int }

// known tells a finding of two runs apart from others: without its line, which
// moves when others change, and without its message and severity.
type known struct {
	rule, file, container, setting, value string
	object                                finding.Object
}

// ReadBaseline reads what -o json printed. It returns an error for what is no
// such text.
func ReadBaseline(data []byte) (*Baseline, error) {
	var d struct {
		Findings *[]jsonFinding `json:"findings"`
	}
	if err := json.Unmarshal(data, &d); err != nil || d.Findings == nil {
		return nil, fmt.Errorf("no report: write one with `trimtab verify -o json`")
	}
	b := &Baseline{left: map[known]int{}}
	for _, f := range *d.Findings {
		b.left[f.known()]++
	}
	return b, nil
}

// Takes tells whether the baseline holds a finding, and counts it off: of a
// finding that is there twice and was there once, one is new.
func (b *Baseline) Takes(f finding.Finding) bool {
	if b == nil {
		return false
	}
	key := jsonFindingOf(f).known()
	if b.left[key] == 0 {
		return false
	}
	b.left[key]--
	return true
}

func (f jsonFinding) known() known {
	return known{rule: f.Rule, file: f.File, container: f.Container, setting: f.Setting, value: f.Value, object: f.Object}
}
