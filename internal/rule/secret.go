package rule

import (
	"regexp"
	"strings"

	"github.com/trimtab/trimtab/internal/setting"
)

// tokenText are the forms of well-known tokens.
const tokenText = `\b(?:hf_[A-Za-z0-9]{20,}|sk-[A-Za-z0-9_-]{20,}|gh[pousr]_[A-Za-z0-9]{30,}|glpat-[A-Za-z0-9_-]{20,}|AKIA[A-Z0-9]{16}|nvapi-[A-Za-z0-9_-]{20,})\b`

var (
	secretName = regexp.MustCompile(`(API_?KEY|(^|_)(ACCESS_KEY|SECRET_KEY|PRIVATE_KEY|AUTH_KEY|TOKEN|PASSWORD|PASSWD|PASSPHRASE|SECRET|CREDENTIALS?))(_[0-9]+)?$`)
	// nameHints are in every name that secretName matches, textHints in every text
	// that secretText does.
	nameHints = hintsOf("key", "token", "passw", "passphrase", "secret", "credential")
	textHints = hintsOf("hf_", "sk-", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "glpat-", "akia", "nvapi-", "://")
	// tokenOfText names a token in the sense of tokenizers.
	tokenOfText = regexp.MustCompile(`(^|_)(BOS|EOS|PAD|UNK|SEP|CLS|MASK|STOP|START|BEGIN|END|THINK|IMAGE|VIDEO|AUDIO|PLACEHOLDER|SPECIAL|NEXT|PER|A|ONE|EACH)_TOKEN$`)
	// secretText are the forms of well-known tokens, and a password in a URL.
	secretText = regexp.MustCompile(tokenText + `|://[^/\s:@]*:[^/\s:@]+@`)
	// noSecret are texts that people write where no secret is needed.
	noSecret = regexp.MustCompile(`(?i)^(none|null|nil|true|false|yes|no|empty|unused|dummy([-_]?(key|token))?|fake([-_]?(key|token))?|test|local|not[-_]?needed|not[-_]?used|no[-_]?key|sk-no-key(-required)?|token|secret|key|na|n/a|-+|x+|\*+|[0-9.]{1,6})$`)
)

// IsSecret tells whether a name or a text says that a value is a key, a token or
// a password.
func IsSecret(name, value string) bool {
	if textHints.in(value) && secretText.MatchString(value) {
		return true
	}
	if !nameHints.in(name) {
		return false
	}
	plain := strings.ToUpper(strings.ReplaceAll(strings.TrimLeft(strings.TrimPrefix(name, "env/"), "-"), "-", "_"))
	return secretName.MatchString(plain) && !tokenOfText.MatchString(plain)
}

// GivesAway tells whether a value is the secret itself: neither the path of a
// file nor a word that stands for no secret.
func GivesAway(value string) bool {
	value = strings.TrimSpace(value)
	isPath := strings.HasPrefix(value, "/") || strings.HasPrefix(value, "./") || strings.HasPrefix(value, "file:")
	return value != "" && !isPath && !noSecret.MatchString(value)
}

// shown is the value of a setting as findings may print it: a secret is not.
func shown(about setting.Setting) string {
	value := about.Value()
	if len(about.Values) > 0 && IsSecret(about.Name, value) {
		return ""
	}
	return value
}
