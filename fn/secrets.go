package fn

import (
	"go.yaml.in/yaml/v3"

	"github.com/trimtab/trimtab/internal/report"
	"github.com/trimtab/trimtab/internal/rule"
	"github.com/trimtab/trimtab/internal/setting"
	"github.com/trimtab/trimtab/internal/stream"
)

// secrets are those that the objects of the servers hold.
func (j *judgements) secrets() rule.Secrets {
	var objects []*yaml.Node
	var settings []setting.Setting
	seen := map[*stream.Item]bool{}
	for _, s := range j.servers {
		settings = append(settings, s.settings...)
		if seen[s.Item] {
			continue
		}
		seen[s.Item] = true
		if root, err := s.Item.Root(); err == nil {
			objects = append(objects, root)
		}
	}
	return rule.SecretsOf(objects, settings)
}

// hideSecrets hides what settings and facts must not show.
func (s *Shown) hideSecrets(secrets rule.Secrets) {
	for _, server := range s.Servers {
		for i := range server.Facts {
			server.Facts[i].Value = secrets.Hide(server.Facts[i].Value)
		}
		for i := range server.Settings {
			one := &server.Settings[i]
			for _, text := range []*string{&one.Setting, &one.Value, &one.Effective, &one.Because} {
				*text = secrets.Hide(*text)
			}
		}
	}
}

// hideSecrets hides what the changes of a server must not show.
func hideSecrets(changes []report.Change, secrets rule.Secrets) {
	for i := range changes {
		c := &changes[i]
		c.Before, c.After = secrets.Hide(c.Before), secrets.Hide(c.After)
		secrets.HideIn(&c.Finding)
	}
}
