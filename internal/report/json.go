package report

import (
	"encoding/json"
	"io"

	"github.com/trimtab/trimtab/internal/finding"
)

// document is the object of -o json, field by field in the contract's order.
type document struct {
	Findings []jsonFinding `json:"findings"`
	Skipped  []Skipped     `json:"skipped"`
	Servers  []Server      `json:"servers"`
	Summary  Summary       `json:"summary"`
}

type jsonFinding struct {
	Rule      string             `json:"rule"`
	Severity  finding.Severity   `json:"severity"`
	Message   string             `json:"message"`
	File      string             `json:"file"`
	Line      int                `json:"line"`
	Column    int                `json:"column"`
	Object    finding.Object     `json:"object"`
	Container string             `json:"container"`
	Setting   string             `json:"setting"`
	Origin    string             `json:"origin"`
	Value     string             `json:"value"`
	Proposed  string             `json:"proposed"`
	Group     string             `json:"group"`
	Fixed     bool               `json:"fixed"`
	Action    finding.Action     `json:"action"`
	Evidence  []finding.Evidence `json:"evidence"`
	Undo      string             `json:"undo"`
}

// WriteJSON prints the report as one JSON object, indented, with a final
// newline. Every field is there, lists are never null, line and column are 0
// where a finding has no place. It returns the error of the writer.
func WriteJSON(w io.Writer, r Report) error {
	d := document{
		Findings: []jsonFinding{},
		Skipped:  []Skipped{},
		Servers:  append([]Server{}, r.Servers...),
		Summary:  r.Summary(),
	}
	for _, f := range r.Findings {
		d.Findings = append(d.Findings, jsonFindingOf(f))
	}
	for _, s := range r.Skipped {
		s.Needs = append([]string{}, s.Needs...)
		d.Skipped = append(d.Skipped, s)
	}
	return Encode(w, d)
}

// Encode prints a value as the JSON of every command. Errors are those of the
// writer, or of a value that is no JSON.
func Encode(w io.Writer, value any) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false) // ranges such as >=0.5.10 stay readable
	encoder.SetIndent("", "  ")
	return encoder.Encode(value)
}

func jsonFindingOf(f finding.Finding) jsonFinding {
	action := f.Action
	if action == "" {
		action = finding.None
	}
	return jsonFinding{
		Rule: f.Rule, Severity: f.Severity, Message: f.Message,
		File: f.File, Line: f.Line, Column: f.Column,
		Object: f.Object, Container: f.Container,
		Setting: f.Setting, Origin: f.Origin.String(),
		Value: shown(f.Setting, f.Value), Proposed: shown(f.Setting, f.Proposed),
		Group: f.Group, Fixed: f.Fixed, Action: action,
		Evidence: append([]finding.Evidence{}, f.Evidence...),
		Undo:     f.Undo,
	}
}
