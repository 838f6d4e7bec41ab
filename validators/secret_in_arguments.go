package validators

import (
	"strings"

	"github.com/trimtab/trimtab/internal/finding"
	"github.com/trimtab/trimtab/internal/rule"
	"github.com/trimtab/trimtab/internal/setting"
)

// secretInArguments finds keys, tokens and passwords that stand as text in
// arguments or variables. Their value is in no finding.
func secretInArguments() rule.Rule {
	meta := rule.Named("secret-in-arguments")
	return rule.Rule{Meta: meta, CheckServer: func(s rule.Server) []finding.Finding {
		var found []finding.Finding
		for _, about := range s.Newest.Written() {
			value := about.Value()
			if about.Origin.Path == nil || about.Unknown || len(about.Values) == 0 || !rule.IsSecret(about.Name, value) {
				continue
			}
			if rule.GivesAway(value) && unexpanded(s, about) == "" {
				found = append(found, secret(s, meta, about))
			}
		}
		return append(found, straySecrets(s, meta)...)
	}}
}

func secret(s rule.Server, meta rule.Meta, about setting.Setting) finding.Finding {
	f := s.About(meta, about)
	f.Message = about.Name + " holds a secret as text, for everyone who reads the manifest or lists processes: " + wayOut(about)
	f.Value = ""
	return f
}

// wayOut says where a secret belongs.
func wayOut(about setting.Setting) string {
	if about.Origin.Kind == setting.Env {
		return "take it from a Secret with valueFrom.secretKeyRef"
	}
	return "put it into a Secret, into the environment with secretKeyRef, and refer to it as $(NAME)"
}

// straySecrets finds secrets in words that the catalogue knows no option for:
// the release may be older than it.
func straySecrets(s rule.Server, meta rule.Meta) []finding.Finding {
	var found []finding.Finding
	stray := s.Newest.Line.Stray
	for i, word := range stray {
		name, value, attached := strings.Cut(word.Text, "=")
		places := []setting.Path{word.Origin.Path}
		if !attached && i+1 < len(stray) && strings.HasPrefix(name, "--") && !strings.HasPrefix(stray[i+1].Text, "-") {
			value = stray[i+1].Text
			places = append(places, stray[i+1].Origin.Path)
			if stray[i+1].Unknown {
				continue
			}
		}
		if !strings.HasPrefix(name, "--") || word.Unknown || word.Origin.Path == nil || !rule.IsSecret(name, value) || !rule.GivesAway(value) {
			continue
		}
		about := setting.Setting{Name: plainFlag(name), Spelled: name, Values: []string{value}, Origin: word.Origin, Places: places}
		if unexpanded(s, about) == "" {
			found = append(found, secret(s, meta, about))
		}
	}
	return found
}
