package report

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

var resultTexts = []string{
	"", "a", "--", "--a", "---a", "--a: b", "--a #b", "it's: so", "0123", "09", "00", "18446744073709551616999", "a #", "off", "Yes", "NaN", "info", "--x ", "n", "Y", "true", "False", "no", "on", "null", "~", "12", "1e3", "0x10", "1:30", "2026-12-01", ".inf", "<<", "=",
	"some words", "words: and more", "ends with:", "ends ", " begins", "a #comment", "a#b", "#a", "- a", "-a", "--tp-size=1",
	"--tp-size: twice", "{a}", "a {b}, [c]", "[a]", "'a'", `"a"`, "it's \"quoted\" words", "a\tb longer", "ünïcode words", "emoji 🙂 words",
	"line\nbreaks here", "line break at end\n", "a\u2028b longer", "a\u0085b longer", "bell \a inside", "? a", "@at", "%x", "&a", "*a", "!a", "|a", ">a", "`a`",
	"namespace/name-with-dashes.and.dots", "---", "--- a", "...", "\ufeffmarked", "trailing tab\t", "back\\slash words", "a:b:c:d", "Infinity", "apps/v1",
}

func requireAsEncoded(t *testing.T, text string) {
	t.Helper()
	result := Result{
		Message: text, Severity: text, ResourceRef: &ResourceRef{text, text, text, text},
		Field: &ResultField{text, text, text}, File: &ResultFile{text, len(text)}, Tags: map[string]string{"rule": text, "undo": text},
	}
	var encoded bytes.Buffer
	encoder := yaml.NewEncoder(&encoded)
	encoder.SetIndent(2)
	require.NoError(t, encoder.Encode(result))
	require.Equal(t, encoded.String(), string(result.AppendYAML(nil)), "%q", text)
}

func FuzzResultYAML(f *testing.F) {
	for _, text := range resultTexts {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) { requireAsEncoded(t, clean(text)) })
}
