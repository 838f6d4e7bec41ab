package rule

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// What the patterns find is never passed over for want of a hint.
func TestHintsMissNothing(t *testing.T) {
	pieces := []string{
		"key", "API_KEY", "api-ke", "Token", "hf_", "abcdefghij0123456789", "PASSWD", "passphrase", "Secret", "credentials", "Bearer ", "basic ",
		"@", "://", "user:pw", "sk-", "ghp_", "ghs_", "glpat-", "AKIA", "ABCDEFGHIJ012345", "nvapi-", "=", ":", " ", "--", "-", "_", "a", "é", "\u212a", "\u017f",
		`"`, "'", "\\", "1", "X", "/", ".",
	}
	random := rand.New(rand.NewPCG(1, 2))
	matched := 0
	for range 200_000 {
		text := ""
		for range 1 + random.IntN(7) {
			text += pieces[random.IntN(len(pieces))]
		}
		if secretText.MatchString(text) {
			matched++
			require.True(t, textHints.in(text), "%q", text)
			require.True(t, writtenHints.in(text), "%q", text)
		}
		plain := strings.ToUpper(strings.ReplaceAll(text, "-", "_"))
		if secretName.MatchString(plain) {
			matched++
			require.True(t, nameHints.in(text), "%q", text)
			require.True(t, writtenHints.in(text), "%q", text)
		}
	}
	require.Greater(t, matched, 10_000)
}
