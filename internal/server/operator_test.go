package server

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trimtab/trimtab/engines"
	"github.com/trimtab/trimtab/internal/finding"
)

// Every table decodes, and is found by the objects it is about.
func TestOperatorTables(t *testing.T) {
	files, err := engines.Files.ReadDir("operators")
	require.NoError(t, err)
	for _, file := range files {
		name := strings.TrimSuffix(file.Name(), ".yaml")
		if name == "places" {
			_, err := loadPlaces()
			require.NoError(t, err)
			continue
		}
		require.True(t, slices.Contains(operatorTables, name), name)
		table, err := operators[name].load()
		require.NoError(t, err)
		require.Equal(t, name, table.Name)
		found, err := operatorOf(finding.Object{APIVersion: table.APIGroup + "/v1", Kind: table.Kind})
		require.NoError(t, err)
		require.Same(t, table, found)
	}
	found, err := operatorOf(finding.Object{APIVersion: "apps/v1", Kind: "Deployment"})
	require.NoError(t, err)
	require.Nil(t, found)
}
