// Package finding holds the words every room shares about what was found and
// what is to be done: Finding, Edit, Severity, Evidence. It has no logic beyond
// ordering severities.
package finding

import "github.com/trimtab/trimtab/internal/setting"

// Severity says how bad a finding is.
type Severity string

// The severities of the contract, worst first.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
	Info    Severity = "info"
)

// Rank orders severities: Error 3, Warning 2, Info 1, anything else 0.
func (s Severity) Rank() int {
	return map[Severity]int{Error: 3, Warning: 2, Info: 1}[s]
}

// Action is what Trim does about a finding.
type Action string

// The actions of the contract.
const (
	Remove Action = "remove"
	Set    Action = "set"
	Add    Action = "add"
	None   Action = "none"
)

// Object names a Kubernetes object.
type Object struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace,omitempty"`
	Name       string `json:"name"`
}

// Evidence is the proof of a finding: which engine, in which versions, read or
// measured where.
type Evidence struct {
	Engine string `json:"engine"`
	// Versions is a PEP 440 range: ">=0.5.10,<0.5.16".
	Versions string `json:"versions"`
	// Source is file and function in the engine's own tree, or the measurement.
	Source string `json:"source"`
}

// Finding is a rule that applies to a setting.
type Finding struct {
	Rule      string
	Severity  Severity
	Message   string
	Object    Object
	Container string
	// Setting is the canonical name of what the finding is about.
	Setting string
	Origin  setting.Origin
	// Value is what is written, Proposed what would be right.
	Value    string
	Proposed string
	// Group ties findings that must be edited together or not at all.
	Group    string
	Action   Action
	Fixed    bool
	Evidence []Evidence
	// Undo says how, and when, to go back.
	Undo string
	// Needs are the facts that keep the rule from deciding; such a finding is
	// reported under "skipped".
	Needs []string
	// Places are the nodes that Remove deletes or Set rewrites.
	Places []setting.Path

	// File, Line and Column (from 1) say where the setting stands in the input.
	File   string
	Line   int
	Column int
	// FileIndex is the position of the object's document in its file, as kpt
	// counts (from 0).
	FileIndex int
}

// Edit is one change to one node of one object.
type Edit struct {
	Action Action
	Path   setting.Path
	// Value is the new text of the scalar for Set.
	Value string
}
