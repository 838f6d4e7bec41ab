package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/trimtab/trimtab/internal/config"
	"github.com/trimtab/trimtab/internal/rule"
)

func TestPagesAreNotStale(t *testing.T) {
	pages, err := pages("../..")
	require.NoError(t, err)
	for name, want := range pages {
		got, err := os.ReadFile(filepath.Join("../..", name))
		require.NoError(t, err)
		require.Equal(t, want, string(got), "%s: run `make docs`", name)
	}
}

// Every field of the config says what it is.
func TestConfigFieldsAreExplained(t *testing.T) {
	read, err := readSpec("../../internal/config")
	require.NoError(t, err)
	for _, kind := range []string{"Spec", "Selector", "Engine", "GPU", "Model", "Workload", "Prompt", "Measured", "Prune", "Monitor", "Gateway"} {
		require.NotEmpty(t, read.types[kind], kind)
		for _, f := range read.types[kind] {
			require.NotEmpty(t, f.doc, "%s of %s", f.name, kind)
		}
	}
}

// Each field that the schema knows is one that a config is read by.
func TestSchemaKnowsWhatIsRead(t *testing.T) {
	read, err := readSpec("../../internal/config")
	require.NoError(t, err)
	paths := map[string]string{"Spec": "", "Engine": "engine", "GPU": "gpu", "Model": "model", "Workload": "workload", "Measured": "measured", "Prune": "prune", "Monitor": "monitor", "Gateway": "monitor.gateway"}
	for kind, path := range paths {
		for _, f := range read.types[kind] {
			require.NotContains(t, refusal(t, path, f.name), "unknown field", "%s.%s", path, f.name)
		}
		require.Contains(t, refusal(t, path, "surelynot"), "unknown field", path)
	}
}

// refusal is what is said of a field of a config whose value has a form that no
// field takes.
func refusal(t *testing.T, path, name string) string {
	t.Helper()
	text := name + ": [[1]]"
	if path != "" {
		for _, key := range slices.Backward(strings.Split(path, ".")) {
			text = key + ": {" + text + "}"
		}
	}
	var document yaml.Node
	require.NoError(t, yaml.Unmarshal([]byte("apiVersion: trimtab.dev/v1alpha1\nkind: Trim\nspec: {"+text+"}"), &document))
	_, err := config.Decode(document.Content[0], "config.yaml", rule.Names())
	require.Error(t, err, text)
	return err.Error()
}
