package validators

import (
	"fmt"
	"strings"

	"github.com/trimtab/trimtab/internal/finding"
	"github.com/trimtab/trimtab/internal/rule"
)

// droppedKeys finds keys of JSON options that the release does not know and
// leaves out without a word. They are only said: most are misspelled or meant for
// another release.
func droppedKeys(r rule.Release, meta rule.Meta) []finding.Finding {
	var found []finding.Finding
	for _, about := range r.State.Settings {
		if !about.Origin.Stands() || about.Held != "" || adds(r, about.Name) {
			continue
		}
		keys := r.State.Members(about)
		if strings.Contains(about.Key, ".") {
			keys = append(keys, about)
		}
		for _, key := range keys {
			dropped, refusedFrom := r.State.Dropped(key)
			if !dropped {
				continue
			}
			f := r.About(meta, key)
			flag, _, _ := strings.Cut(key.Name, ".")
			f.Message = fmt.Sprintf("%s does nothing here: %s has no such key and drops it without a word", key.Name, here(r))
			if refusedFrom.Version != "" {
				f.Message += ", and from " + refusedFrom.Version + " on refuses it"
			}
			f.Evidence = []finding.Evidence{{
				Engine: r.Engine, Versions: "==" + r.State.Release.Version, Source: "class that " + flag + " is read into: its fields, and no extra=\"forbid\"",
			}}
			found = append(found, mayKnowMore(r, f))
		}
	}
	return found
}
