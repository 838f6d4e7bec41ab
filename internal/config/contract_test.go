package config

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The document printed in the contract decodes as it stands there.
func TestContractDocument(t *testing.T) {
	text, err := os.ReadFile("../../../shared/CONTRACT.md")
	if err != nil {
		t.Skip("../shared/CONTRACT.md is not here")
	}
	_, after, found := strings.Cut(string(text), "## 2. functionConfig\n\n```yaml\n")
	require.True(t, found)
	document, _, found := strings.Cut(after, "```")
	require.True(t, found)
	document = strings.NewReplacer("{…}", "{}", "[…]", "[]", "image: …", "image: busybox").Replace(document)

	c := mustDecode(t, FunctionConfig, document)
	s := c.Spec
	require.Equal(t, "r9700", c.Name)
	require.Equal(t, "v0.5.16", s.Engine.Version)
	require.Equal(t, "4.6G", s.GPU.Reserve.Text)
	require.Equal(t, Prompt{Tokens: 8000, Output: 2000, Running: 3}, s.Workload.Prompts[1])
	require.True(t, s.Rules["unversioned-cache"].Off)
	require.NotNil(t, s.Model.Config)
	require.NotNil(t, s.Prune)
	require.NotNil(t, s.Monitor)
}
