package rule

import (
	"regexp"
	"slices"
	"strings"

	"github.com/trimtab/trimtab/internal/finding"
	"github.com/trimtab/trimtab/internal/setting"
)

// names tells whether a user's name for a setting means the one a finding is
// about: the canonical name, any spelling the engine knows, env/NAME, or the
// typed field by its path or last name.
func (p Policy) names(f finding.Finding, name string) bool {
	if name == f.Setting || name == f.Spelled && name != "" {
		return true
	}
	if f.Origin.Kind == setting.Field && (name == f.Origin.String() || name == lastKey(f.Origin.Path)) {
		return true
	}
	if !strings.HasPrefix(name, "-") {
		return false
	}
	for _, release := range p.Span.Releases {
		for _, spelled := range []string{name, strings.ReplaceAll(name, "_", "-")} {
			if option, ok := p.Engine.Option(spelled, release); ok {
				return option.Flag == f.Setting
			}
		}
	}
	return false
}

func lastKey(path setting.Path) string {
	for i := len(path) - 1; i >= 0; i-- {
		if key, ok := path[i].(string); ok {
			return key
		}
	}
	return ""
}

// wordsOfReason is how many words besides names and values make a comment a
// reason and not a label.
const wordsOfReason = 2

// lettersOfReason is the same for scripts that put no blanks between words.
const lettersOfReason = 4

// GivesReason tells whether a comment names the setting of a finding, or its
// value, and says why it is there.
func GivesReason(comment string, f finding.Finding) bool {
	rest, named := withoutNames(comment, f)
	return named && (len(reasonWord.FindAllString(rest, -1)) >= wordsOfReason || len(ideograph.FindAllString(rest, -1)) >= lettersOfReason)
}

// AsksToKeep tells whether a comment says trimtab:keep.
func AsksToKeep(comment string) bool { return keepComment.MatchString(comment) }

// SpeaksOnlyOf tells whether a comment names the setting of a finding and none
// of the other settings, so that it goes with it.
func SpeaksOnlyOf(comment string, f finding.Finding, others []setting.Setting) bool {
	if _, named := withoutNames(comment, f); !named {
		return false
	}
	for _, other := range others {
		if other.Name == f.Setting {
			continue
		}
		if _, named := withoutNames(comment, finding.Finding{Setting: other.Name, Origin: other.Origin}); named {
			return false
		}
	}
	return true
}

var (
	reasonWord  = regexp.MustCompile(`\pL{2,}`)
	ideograph   = regexp.MustCompile(`[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}]`)
	keepComment = regexp.MustCompile(`(?i)\btrimtab:\s*keep\b`)
)

// withoutNames cuts the names and the value of a setting out of a comment and
// tells whether there were any.
func withoutNames(comment string, f finding.Finding) (rest string, named bool) {
	rest = strings.ToLower(comment)
	for _, name := range spellings(f) {
		if found := name.FindStringIndex(rest); found != nil {
			named = true
			rest = name.ReplaceAllString(rest, " ")
		}
	}
	return rest, named
}

// spellings are the texts by which a comment may name a setting: the flag with
// dashes or underscores, the variable, the typed field, and a value that is a
// word of its own (a digit such as 1 says nothing).
func spellings(f finding.Finding) []*regexp.Regexp {
	var texts []string
	bare := strings.TrimPrefix(strings.TrimLeft(f.Setting, "-"), "env/")
	texts = append(texts, bare, strings.ReplaceAll(bare, "-", "_"))
	if f.Origin.Kind == setting.Field {
		texts = append(texts, lastKey(f.Origin.Path))
	}
	if value := f.Value; len(value) > 1 && value != "true" && value != "false" {
		texts = append(texts, value)
	}
	patterns := make([]*regexp.Regexp, 0, len(texts))
	for _, text := range texts {
		if text == "" {
			continue
		}
		patterns = append(patterns, regexp.MustCompile(`(^|[^a-z0-9])(-{0,2})`+regexp.QuoteMeta(strings.ToLower(text))+`([^a-z0-9]|$)`))
	}
	return patterns
}

// SpeaksOf tells whether a user's name means one of the settings.
func (p Policy) SpeaksOf(name string, settings []setting.Setting) bool {
	return slices.ContainsFunc(settings, func(s setting.Setting) bool {
		return p.names(finding.Finding{Setting: s.Name, Spelled: s.Spelled, Origin: s.Origin}, name)
	})
}
