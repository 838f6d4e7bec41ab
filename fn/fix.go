package fn

import (
	"bytes"
	"slices"
	"unicode/utf8"

	"github.com/trimtab/trimtab/internal/finding"
	"github.com/trimtab/trimtab/internal/setting"
	"github.com/trimtab/trimtab/internal/stream"
)

// showFixes tells each finding that a trim acts on what its edit would write, by
// itself or together with those of its group.
func (j *judgements) showFixes(in Input) {
	for item, servers := range j.byItem() {
		var acting []*finding.Finding
		var settings []setting.Setting
		for _, s := range servers {
			settings = append(settings, s.settings...)
			for i := range s.findings {
				if f := &s.findings[i]; f.Action != finding.None && len(f.Places)+len(f.Edits) > 0 {
					acting = append(acting, f)
				}
			}
		}
		for _, group := range groups(acting) {
			planned, err := in.plan(item, group, settings)
			if err != nil {
				continue
			}
			for _, f := range group {
				f.Fix = replacements(item.Source.Data, planned)
			}
		}
	}
}

// replacements are splices by line and column.
func replacements(data []byte, splices []stream.Splice) []finding.Replacement {
	list := make([]finding.Replacement, 0, len(splices))
	for _, s := range splices {
		list = append(list, finding.Replacement{
			From: pointAt(data, s.Offset), To: pointAt(data, s.Offset+s.Delete), Text: s.Insert,
		})
	}
	return slices.Clip(list)
}

func pointAt(data []byte, offset int) finding.Point {
	before := data[:offset]
	line := bytes.LastIndexByte(before, '\n') + 1
	return finding.Point{Line: bytes.Count(before, []byte{'\n'}) + 1, Column: utf8.RuneCount(before[line:]) + 1}
}
