package validators

import (
	"fmt"

	"github.com/trimtab/trimtab/internal/engine"
	"github.com/trimtab/trimtab/internal/finding"
	"github.com/trimtab/trimtab/internal/rule"
	"github.com/trimtab/trimtab/internal/setting"
)

// inertSetting finds what the engine accepts and never acts on here.
func inertSetting() rule.Rule {
	meta := rule.Named("inert-setting")
	return rule.Rule{Meta: meta, CheckRelease: func(r rule.Release) ([]finding.Finding, error) {
		found := r.Findings(meta, engine.Inert, func(engine.Judgement) rule.Verdict {
			return rule.Verdict{Says: "does nothing here", Action: finding.Remove}
		})
		return append(found, droppedKeys(r, meta)...), nil
	}, CheckServer: func(s rule.Server) []finding.Finding {
		return unreadFields(s, meta)
	}}
}

// unreadFields finds what the operator accepts and makes nothing of.
func unreadFields(s rule.Server, meta rule.Meta) []finding.Finding {
	var found []finding.Finding
	for _, field := range s.Unread {
		f := s.AboutServer(meta)
		f.Setting, f.Spelled, f.Value = field.Name, field.Path[len(field.Path)-1].(string), field.Value
		f.Origin, f.Places = setting.Origin{Kind: setting.Field, Path: field.Path}, []setting.Path{field.Path}
		f.Action, f.Undo = finding.Remove, ""
		f.Message = fmt.Sprintf("%s does nothing here: %s", field.Path, field.Why)
		f.Evidence = []finding.Evidence{{Engine: s.Operator, Versions: "*", Source: field.Source}}
		found = append(found, f)
	}
	return found
}
