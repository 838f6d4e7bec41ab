// Package transformers turns findings into edits and generated objects: strip
// takes settings out, size sets and adds them, prune writes the CronJob of a
// cache tier. A finding is all it is told; it knows no rules.
package transformers

import "github.com/trimtab/trimtab/internal/finding"

// Edits returns what the findings do to the objects they stand in.
func Edits(found []finding.Finding) []finding.Edit {
	return append(strip(found), size(found)...)
}

// strip takes out the settings of the findings that remove: each of a setting's
// places goes, once where two findings want it.
func strip(found []finding.Finding) []finding.Edit {
	var edits []finding.Edit
	gone := map[string]bool{}
	for _, f := range found {
		if f.Action != finding.Remove {
			continue
		}
		for _, place := range f.Places {
			if gone[place.String()] {
				continue
			}
			gone[place.String()] = true
			edits = append(edits, finding.Edit{Action: finding.Remove, Path: place})
		}
	}
	return edits
}
