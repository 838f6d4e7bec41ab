// Package report prints what was found: text for people, one line a finding
// for programs and logs, the JSON object of the contract, and the results of a
// KRM function. A Report comes in, bytes go out; nothing is decided here but
// the order and which values are hidden. The same report gives the same bytes.
package report

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"github.com/trimtab/trimtab/internal/finding"
	"github.com/trimtab/trimtab/internal/rule"
)

// Report is what one run has to say.
type Report struct {
	Findings []finding.Finding
	Skipped  []Skipped
	Servers  []Server
	// Secrets are what no line of the input may be shown for.
	Secrets rule.Secrets
}

// Skipped is a rule that did not run because facts are not known.
type Skipped struct {
	Rule    string         `json:"rule"`
	Setting string         `json:"setting"`
	Object  finding.Object `json:"object"`
	// Needs are the fields that would let the rule run: workload.peakRunning.
	Needs []string `json:"needs"`
}

// Server is one engine process that was looked at. What is not known is empty.
type Server struct {
	Object    finding.Object `json:"object"`
	Container string         `json:"container"`
	Engine    string         `json:"engine"`
	Version   string         `json:"version"`
	GPU       string         `json:"gpu"`
}

// Summary counts findings by severity.
type Summary struct {
	Error   int `json:"error"`
	Warning int `json:"warning"`
	Info    int `json:"info"`
}

// New makes the report of a run. Findings that need facts become Skipped, once
// each; findings are ordered by file, line, column, rule and setting, and what
// is equal in all of these stays in the order given. The arguments are not
// changed.
func New(found []finding.Finding, servers []Server) Report {
	r := Report{Servers: slices.Clone(servers)}
	for _, f := range found {
		if len(f.Needs) == 0 {
			r.Findings = append(r.Findings, f)
			continue
		}
		r.Skipped = append(r.Skipped, Skipped{Rule: f.Rule, Setting: f.Setting, Object: f.Object, Needs: f.Needs})
	}
	slices.SortStableFunc(r.Findings, comparePlaces)
	slices.SortStableFunc(r.Skipped, compareSkipped)
	r.Skipped = slices.CompactFunc(r.Skipped, func(a, b Skipped) bool { return compareSkipped(a, b) == 0 })
	return r
}

// Summary counts the findings.
func (r Report) Summary() Summary {
	var s Summary
	for _, f := range r.Findings {
		switch f.Severity {
		case finding.Error:
			s.Error++
		case finding.Warning:
			s.Warning++
		default:
			s.Info++
		}
	}
	return s
}

func comparePlaces(a, b finding.Finding) int {
	return cmp.Or(
		cmp.Compare(a.File, b.File),
		cmp.Compare(a.Line, b.Line),
		cmp.Compare(a.Column, b.Column),
		cmp.Compare(a.Rule, b.Rule),
		cmp.Compare(a.Setting, b.Setting),
	)
}

// worstFirst returns the findings by severity, then by place.
func worstFirst(found []finding.Finding) []finding.Finding {
	ordered := slices.Clone(found)
	slices.SortStableFunc(ordered, func(a, b finding.Finding) int {
		return cmp.Or(cmp.Compare(b.Severity.Rank(), a.Severity.Rank()), comparePlaces(a, b))
	})
	return ordered
}

func compareSkipped(a, b Skipped) int {
	return cmp.Or(
		cmp.Compare(a.Rule, b.Rule),
		cmp.Compare(a.Setting, b.Setting),
		cmp.Compare(a.Object.Kind, b.Object.Kind),
		cmp.Compare(a.Object.Namespace, b.Object.Namespace),
		cmp.Compare(a.Object.Name, b.Object.Name),
		slices.Compare(a.Needs, b.Needs),
	)
}

// shown returns the value of a setting, or that it is hidden.
func shown(setting, value string) string {
	if value != "" && rule.IsSecret(setting, value) {
		return rule.HiddenSecret
	}
	return value
}

// oneLine turns line breaks and tabs into single blanks.
func oneLine(s string) string { return printable(strings.Join(strings.Fields(s), " ")) }

// printable replaces control characters: text of a manifest must not break
// lines or drive a terminal.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
			return unicode.ReplacementChar
		}
		return r
	}, s)
}
