// Package transformers turns findings into edits: strip takes settings out. A
// finding is all it is told; it knows no rules and no YAML.
package transformers

import "github.com/trimtab/trimtab/internal/finding"

// Strip returns the edits of the findings that remove a setting: each of the
// setting's places goes.
func Strip(found []finding.Finding) []finding.Edit {
	var edits []finding.Edit
	for _, f := range found {
		if f.Action != finding.Remove {
			continue
		}
		for _, place := range f.Places {
			edits = append(edits, finding.Edit{Action: finding.Remove, Path: place})
		}
	}
	return edits
}
