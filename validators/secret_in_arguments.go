package validators

import (
	"strings"

	"github.com/trimtab/trimtab/internal/argv"
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
	f.Message = about.Name + " holds a secret as text" + wayOut(about)
	f.Value = ""
	return f
}

// wayOut says who can read a secret where it stands, and where it belongs.
func wayOut(about setting.Setting) string {
	if about.Origin.Kind == setting.Env {
		return ", for everyone who reads the manifest: take it from a Secret with valueFrom.secretKeyRef"
	}
	return ", for everyone who reads the manifest or lists processes: take it from a Secret into the environment and write $(NAME) here"
}

// straySecrets finds secrets behind options that the release does not know; it
// may be older than the catalogue.
func straySecrets(s rule.Server, meta rule.Meta) []finding.Finding {
	var found []finding.Finding
	words := s.Newest.Words
	for i, word := range words {
		name, value, attached := strings.Cut(word.Text, "=")
		if s.Newest.Line.Owners[i] != argv.NoSetting || !strings.HasPrefix(name, "--") || word.Unknown || word.Origin.Path == nil {
			continue
		}
		about := setting.Setting{Name: plainFlag(name), Spelled: name, Origin: word.Origin, Places: []setting.Path{word.Origin.Path}}
		if !attached && i+1 < len(words) && !words[i+1].Unknown && !strings.HasPrefix(words[i+1].Text, "-") {
			value = words[i+1].Text
			about.Places = append(about.Places, words[i+1].Origin.Path)
		}
		about.Values = []string{value}
		if rule.IsSecret(name, value) && rule.GivesAway(value) && unexpanded(s, about) == "" {
			found = append(found, secret(s, meta, about))
		}
	}
	return found
}
