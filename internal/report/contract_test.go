package report

import (
	"encoding/json"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var fieldName = regexp.MustCompile(`"([A-Za-z]+)":`)

// firstNames lists the field names of a JSON text in order of appearance.
func firstNames(text string) []string {
	var names []string
	seen := map[string]bool{}
	for _, match := range fieldName.FindAllStringSubmatch(text, -1) {
		if !seen[match[1]] {
			seen[match[1]] = true
			names = append(names, match[1])
		}
	}
	return names
}

// Every field of the JSON printed in the contract is there, in its order, with
// its type.
func TestContractShape(t *testing.T) {
	text, err := os.ReadFile("../../../shared/CONTRACT.md")
	if err != nil {
		t.Skip("../shared/CONTRACT.md is not here")
	}
	_, after, found := strings.Cut(string(text), "```json\n{\"findings\"")
	require.True(t, found)
	body, _, found := strings.Cut(after, "```")
	require.True(t, found)
	contract := strings.ReplaceAll("{\"findings\""+body, "{…}", "{}")

	findings, servers := fixture()
	r := New(findings, servers)
	r.Findings = r.Findings[3:] // the one with evidence and a namespace
	got := printed(t, func(w io.Writer) error { return WriteJSON(w, r) })

	require.Equal(t, firstNames(contract), firstNames(got))

	var want, have map[string]any
	require.NoError(t, json.Unmarshal([]byte(contract), &want))
	require.NoError(t, json.Unmarshal([]byte(got), &have))
	requireSameTypes(t, "$", want, have)
}

func requireSameTypes(t *testing.T, path string, want, have any) {
	t.Helper()
	require.IsType(t, want, have, path)
	switch want := want.(type) {
	case map[string]any:
		for name, value := range want {
			require.Contains(t, have, name, path)
			requireSameTypes(t, path+"."+name, value, have.(map[string]any)[name])
		}
	case []any:
		require.NotEmpty(t, have, path)
		requireSameTypes(t, path+"[0]", want[0], have.([]any)[0])
	}
}
