package transformers

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// tolerations are the tolerations with their keys in order.
func tolerations(all []map[string]any) (sequence, error) {
	var list sequence
	for _, toleration := range all {
		var one mapping
		for _, key := range slices.Sorted(maps.Keys(toleration)) {
			var value string
			switch v := toleration[key].(type) {
			case string:
				if value = yamlText(v); !utf8.ValidString(v) || strings.Contains(v, "\x00") {
					return nil, fmt.Errorf("the toleration's %s %q is no text that YAML can hold: rewrite it", key, v)
				}
			case int, int64:
				value = fmt.Sprint(v)
			default:
				return nil, fmt.Errorf("the toleration's %s is %v: write a text or a whole number", key, v)
			}
			one = append(one, field{yamlText(key), plain(value)})
		}
		list = append(list, one)
	}
	return list, nil
}

var (
	// objectName is a DNS subdomain, as the API server wants names.
	objectName = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`)
	unfitGlob  = regexp.MustCompile("[\\s'\"\\\\$]")
	labelValue = regexp.MustCompile(`^[A-Za-z0-9]([-_.A-Za-z0-9]*[A-Za-z0-9])?$`)
	otherRunes = regexp.MustCompile(`[^a-z0-9]+`)
	// plainScalar is text that every YAML parser reads as itself; yamlWord is
	// text that some read as a boolean or as nothing.
	plainScalar = regexp.MustCompile(`^[A-Za-z/]([-A-Za-z0-9/._@]|:[A-Za-z0-9])*$`)
	yamlWord    = regexp.MustCompile(`(?i)^(y|n|yes|no|on|off|true|false|null)$`)
)

// yamlText writes a text as a YAML scalar in ASCII, plain where that is safe.
func yamlText(text string) string {
	if plainScalar.MatchString(text) && !yamlWord.MatchString(text) {
		return text
	}
	return strconv.QuoteToASCII(text)
}
