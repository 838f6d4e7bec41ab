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
	// Spelled is the setting's name as written.
	Spelled string
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
	// Places are the nodes the setting stands in; Remove deletes them.
	Places []setting.Path
	// Edits are what Set and Add do.
	Edits []Edit
	// Coupled is true for an edit that another one of its group calls for: by
	// itself the setting is in order.
	Coupled bool
	// Placement is true where a finding is about where the pod runs, against a
	// target that the user states: it does not keep the settings from being edited
	// for that target.
	Placement bool
	// Fix is what the edit would write into the file; only where it is asked for.
	Fix []Replacement
	// Tier is the cache tier that wants a job to prune it; nil elsewhere.
	Tier *Tier
	// Monitors is what a monitoring object that the finding adds, renews or takes
	// away is for; empty elsewhere.
	Monitors string

	// File, Line and Column (from 1) say where the setting stands in the input.
	File   string
	Line   int
	Column int
	// FileIndex is the position of the object's document in its file, as kpt
	// counts (from 0).
	FileIndex int
}

// Point is a place in a file: line and column in characters, both from 1.
type Point struct{ Line, Column int }

// Replacement is text of a file that an edit replaces; To is the first character
// that stays.
type Replacement struct {
	From, To Point
	Text     string
}

// Edit is one change to one node of one object.
type Edit struct {
	Action Action
	// Path leads to the node that Remove deletes or Set rewrites, and to the
	// sequence that Add appends to, which need not exist yet.
	Path setting.Path
	// Value is the new text of the scalar for Set. For Add without Fields it is
	// the element, always a string.
	Value string
	// Fields make the element of Add a mapping, in this order.
	Fields []FieldValue
	// Create has Set add the last key of Path to its mapping where it is not there
	// yet, and that mapping to the one above.
	Create bool
}

// FieldValue is one field of a mapping that Add appends. Both are text: the
// value is written so that it reads as a string.
type FieldValue struct{ Name, Value string }

// Tier is a growing cache tier on a volume: directories of generations beside
// each other, each holding pages, or one directory of pages alone.
type Tier struct {
	// Name tells tiers of one server apart: hicache.
	Name string
	// Claim or HostPath is the volume, with the subPath of the server's mount.
	Claim, HostPath, SubPath string
	// MountPath is where the server mounts the volume, Parent the directory of
	// the generations, or of a flat tier's pages, at or below it.
	MountPath, Parent string
	// Flat is true where the pages of all versions lie together, and only their
	// age and number tell which of them are superfluous.
	Flat bool
	// Volume and Place are where Parent lies, whatever path a server sees it at:
	// the claim, or empty for the disk of the node, and the path on it.
	Volume, Place string
	// Keep are the generations that manifests name, Reserved other names below
	// Parent, both by the object that names them: "Deployment chat".
	Keep, Reserved map[string][]string
	// Blocked says why no job may be written; empty where one may.
	Blocked string
	// Gone are the jobs of ours for this server's tier where it no longer is.
	// Without a Parent that is all the finding is about.
	Gone []Object
	// Group is one for the findings that one job settles.
	Group string
	// Pages are globs of what the tier writes in a generation, or of paths below
	// the Parent of a flat one; Partial is the glob of a page that is not whole.
	Pages   []string
	Partial string
	// Trees is true where a page is a directory with all that lies in it.
	Trees bool
}
