package transformers

import "github.com/trimtab/trimtab/internal/finding"

// size rewrites and adds settings as the findings say.
func size(found []finding.Finding) []finding.Edit {
	var edits []finding.Edit
	for _, f := range found {
		if f.Action == finding.Set || f.Action == finding.Add {
			edits = append(edits, f.Edits...)
		}
	}
	return edits
}
