package rule

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/trimtab/trimtab/internal/finding"
	"github.com/trimtab/trimtab/internal/setting"
)

// HiddenSecret stands where a secret does not.
const HiddenSecret = "(hidden)"

// Secrets are the keys, tokens and passwords that manifests hold, wherever they
// stand: no text about the manifests may repeat them.
type Secrets struct {
	texts   []string // the longest first
	replace *strings.Replacer
}

// writtenSecret are the ways in which one text holds a name beside its value: an
// assignment, a flag, a pair of JSON or YAML, a URL, a header.
var writtenSecret = []*regexp.Regexp{
	regexp.MustCompile(`([A-Za-z0-9_.-]*[A-Za-z0-9_-])\\?["']?(?:\s*(?::[=?-]|[=:])|[\s\\]+)[\s\\]*(?:"([^"]+)|'([^']+)|([^\s"'\\,;{}&|()<>` + "`" + `]+))`),
	regexp.MustCompile(`()://[^/\s:@"']*:([^/\s@"']+)@`),
	regexp.MustCompile(`(?i)()\b(?:bearer|basic)\s+([^\s"'\\,;]+)`),
	regexp.MustCompile(`()(` + tokenText + `)`),
}

// writtenHints are in every text that one of the forms may find a secret in.
var writtenHints = hintsOf("key", "token", "passw", "passphrase", "secret", "credential", "bearer", "basic ", "@",
	"hf_", "sk-", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "glpat-", "akia", "nvapi-", "api-k")

// almostSecret are flags that nobody but their author would know for a secret's:
// cut short or misspelt.
var almostSecret = regexp.MustCompile(`^--?(\w+[-_])?(API[-_]?KE?|ACCESS[-_]KE|HF[-_]TOKE?)`)

// SecretsOf are the secrets that objects and settings hold.
func SecretsOf(objects []*yaml.Node, settings []setting.Setting) Secrets {
	found := map[string]bool{}
	for _, object := range objects {
		findSecrets(object, found)
	}
	for _, s := range settings {
		if len(s.Values) > 0 && IsSecret(s.Name, s.Value()) && secretText.FindString(s.Value()) == "" {
			for _, value := range s.Values {
				noteSecret(found, value)
			}
		}
	}
	var secrets Secrets
	for text := range found {
		secrets.texts = append(secrets.texts, text)
	}
	slices.SortFunc(secrets.texts, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	pairs := make([]string, 0, 2*len(found))
	for _, text := range secrets.texts {
		pairs = append(pairs, text, HiddenSecret)
	}
	secrets.replace = strings.NewReplacer(pairs...)
	return secrets
}

// StandIn tells whether a text holds one of the secrets.
func (s Secrets) StandIn(text string) bool {
	return slices.ContainsFunc(s.texts, func(secret string) bool { return strings.Contains(text, secret) })
}

// Hide returns the text with HiddenSecret in the place of each secret.
func (s Secrets) Hide(text string) string {
	if len(s.texts) == 0 {
		return text
	}
	return s.replace.Replace(text)
}

// HideIn hides the secrets in what is said of a finding. A fix that would have
// to write one is left out.
func (s Secrets) HideIn(f *finding.Finding) {
	if len(s.texts) == 0 {
		return
	}
	for _, text := range []*string{&f.Message, &f.Setting, &f.Spelled, &f.Value, &f.Proposed, &f.Undo} {
		*text = s.Hide(*text)
	}
	f.Needs = slices.Clone(f.Needs)
	for i, needs := range f.Needs {
		f.Needs[i] = s.Hide(needs)
	}
	if slices.ContainsFunc(f.Fix, func(r finding.Replacement) bool { return s.StandIn(r.Text) }) {
		f.Fix = nil
	}
}

// findSecrets looks for secrets in a tree: in each text, in pairs of a name and
// a value, and in words that follow a flag.
func findSecrets(node *yaml.Node, found map[string]bool) {
	if node == nil {
		return
	}
	switch node.Kind {
	case yaml.ScalarNode:
		findInText(node.Value, found)
	case yaml.MappingNode:
		findInMapping(node, found)
	case yaml.SequenceNode:
		for i, word := range node.Content {
			if i+1 < len(node.Content) && word.Kind == yaml.ScalarNode && namesSecret(word.Value) && strings.HasPrefix(word.Value, "-") {
				if value := node.Content[i+1]; value.Kind == yaml.ScalarNode && !strings.HasPrefix(value.Value, "-") {
					noteSecret(found, value.Value)
				}
			}
		}
	}
	for _, child := range node.Content {
		findSecrets(child, found)
	}
}

// findInMapping takes the value of a field that is named as a secret is, and the
// value of a variable that is.
func findInMapping(node *yaml.Node, found map[string]bool) {
	var name, value string
	for i := 0; i+1 < len(node.Content); i += 2 {
		key, field := node.Content[i].Value, node.Content[i+1]
		if field.Kind != yaml.ScalarNode {
			continue
		}
		switch {
		case key == "name":
			name = field.Value
		case key == "value":
			value = field.Value
		case strings.HasSuffix(strings.ToLower(key), "secret"): // the name of a Secret
		case namesSecret(key) && field.ShortTag() == "!!str":
			noteSecret(found, field.Value)
		}
	}
	if name != "" && namesSecret(name) {
		noteSecret(found, value)
	}
}

func findInText(text string, found map[string]bool) {
	if !writtenHints.in(text) {
		return
	}
	for _, form := range writtenSecret {
		for rest := text; ; {
			at := form.FindStringSubmatchIndex(rest)
			if at == nil {
				break
			}
			name, value := rest[at[2]:at[3]], ""
			for group := 4; group < len(at) && value == ""; group += 2 {
				value = rest[max(at[group], 0):max(at[group+1], 0)]
			}
			if name == "" {
				noteSecret(found, value)
				rest = rest[at[1]:]
				continue
			}
			if namesSecret(name) {
				noteSecret(found, strings.TrimSuffix(value, `\`))
			}
			rest = rest[at[3]:] // what was taken for a value may be the next name
		}
	}
}

// namesSecret tells whether a name says that its value is a secret.
func namesSecret(name string) bool {
	return nameHints.in(name) && (IsSecret(name, "") || IsSecret(snake(name), "")) ||
		strings.HasPrefix(name, "-") && almostSecret.MatchString(strings.ToUpper(name))
}

// snake writes hfToken as hf_Token, and the last key of a.dotted.api_key alone.
func snake(name string) string {
	name = name[strings.LastIndex(name, ".")+1:]
	var b strings.Builder
	for i, r := range name {
		if i > 0 && r >= 'A' && r <= 'Z' && name[i-1] >= 'a' && name[i-1] <= 'z' {
			b.WriteByte('_')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// noteSecret takes a value for a secret, unless it is a reference, stands for
// none, or is a short plain word that other texts need.
func noteSecret(found map[string]bool, value string) {
	value = strings.TrimSpace(value)
	if !GivesAway(value) || strings.HasPrefix(value, "$") || len(value) < 4 || len(value) < 8 && isLetters(value) {
		return
	}
	found[value] = true
	if quoted := strconv.Quote(value); quoted[1:len(quoted)-1] != value {
		found[quoted[1:len(quoted)-1]] = true // as messages and JSON write it
	}
}

func isLetters(text string) bool {
	return strings.Trim(strings.ToLower(text), "abcdefghijklmnopqrstuvwxyz") == ""
}
