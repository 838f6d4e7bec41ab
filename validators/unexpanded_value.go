package validators

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/trimtab/trimtab/internal/finding"
	"github.com/trimtab/trimtab/internal/rule"
	"github.com/trimtab/trimtab/internal/setting"
)

// unexpandedValue finds texts that were to become something else and do not:
// a shell variable where no shell is, a placeholder, an empty name of a model.
func unexpandedValue() rule.Rule {
	meta := rule.Named("unexpanded-value")
	return rule.Rule{Meta: meta, CheckServer: func(s rule.Server) []finding.Finding {
		var found []finding.Finding
		for _, about := range s.Newest.Written() {
			if about.Origin.Path == nil || about.Unknown || about.Overridden {
				continue
			}
			says := unexpanded(s, about)
			if says == "" {
				continue
			}
			f := s.About(meta, about)
			f.Value = about.Value() // a placeholder, no secret
			f.Message = fmt.Sprintf("%s is %s", about.Name, says)
			found = append(found, f)
		}
		for _, word := range s.Newest.Line.Stray {
			if word.Unknown || word.Origin.Path == nil || !directly(s) || !isReference.MatchString(word.Text) {
				continue
			}
			f := s.AboutServer(meta)
			f.Setting, f.Spelled, f.Value, f.Origin = word.Text, word.Text, word.Text, word.Origin
			f.Message = fmt.Sprintf("%s is %s", word.Text, referenceText)
			found = append(found, f)
		}
		return found
	}}
}

const referenceText = "the text of a shell variable, which nothing expands here: Kubernetes replaces $(NAME) alone"

var (
	// isReference is a value that is a shell variable, or a path that holds one.
	isReference = regexp.MustCompile(`^([^\s{}\[\]"'\\|*+?^()]*[/:=,@])?\$[A-Za-z_][A-Za-z0-9_]*([/:,@.][^\s{}\[\]"'\\|*+?^()$]*)?$`)
	// isPlaceholder is a value, or the part of a path, that says it is to be
	// replaced.
	isPlaceholder = regexp.MustCompile(`(?i)^(<[^<>|]*\b(your|my|insert|replace|model|token|name|path|key|secret|url|host|image|repo|org|user|password|value|id)\b[^<>|]*>|<[A-Z0-9_-]{3,}>|<\s*>|<(your|insert|replace)[^<>]*>|change[-_ ]?me|replace[-_ ]?me|fix[-_ ]?me|todo|tbd|placeholder|your[-_ ][a-z0-9_ -]+|replace[-_ ](with|by)[-_ ].+|insert[-_ ].+[-_ ]here|.+[-_]goes[-_]here|hf_(x{3,}|\.{3}|\*+))$`)
)

// modelOptions name a model: without a text there is none.
var modelOptions = []string{"--model", "--model-path"}

func unexpanded(s rule.Server, about setting.Setting) string {
	value := about.Value()
	isVariable := about.Origin.Kind == setting.Env
	switch {
	case len(about.Values) == 0:
		return ""
	case value == "" && slices.Contains(modelOptions, about.Name):
		return "empty, and a model is needed"
	case isReference.MatchString(value) && (directly(s) || isVariable && about.Held == ""):
		return referenceText
	case slices.ContainsFunc(append(strings.Split(value, "/"), value), isPlaceholder.MatchString):
		return "a placeholder: put the value in its place"
	}
	return ""
}

// directly tells whether the engine is started without a script that could
// expand its arguments.
func directly(s rule.Server) bool { return s.Facts.Set["server.direct"].Value == true }
