package cli_test

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/trimtab/trimtab/cli"
)

func decodeFile(t *testing.T, file string, into any) {
	t.Helper()
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	decoder.KnownFields(true)
	require.NoError(t, decoder.Decode(into))
}

func TestPreCommitHooksRunOverTheWholeRepository(t *testing.T) {
	var hooks []struct {
		ID, Name, Description, Entry, Language, Files string
		Args                                          []string
		PassFilenames                                 *bool `yaml:"pass_filenames"`
	}
	decodeFile(t, "../.pre-commit-hooks.yaml", &hooks)
	require.Len(t, hooks, 2)
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("pod.yaml", []byte("apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n"), 0o600))
	for _, hook := range hooks {
		require.NotNil(t, hook.PassFilenames, hook.ID)
		require.False(t, *hook.PassFilenames, hook.ID)
		words := append(strings.Fields(hook.Entry), hook.Args...)
		require.Equal(t, "trimtab", words[0])
		var out, err bytes.Buffer
		require.Zero(t, cli.Run(words[1:], cli.Streams{In: strings.NewReader(""), Out: &out, Err: &err}), err.String())
	}
}

func TestTheActionPassesEveryInputOn(t *testing.T) {
	var action struct {
		Name, Description, Author string
		Branding                  map[string]string
		Inputs                    yaml.Node
		Runs                      struct {
			Using, Image string
			Args         []string
		}
	}
	decodeFile(t, "../action.yml", &action)
	require.Equal(t, "docker", action.Runs.Using)
	require.FileExists(t, "../"+action.Runs.Image)
	var wanted []string
	for i := 0; i < len(action.Inputs.Content); i += 2 {
		wanted = append(wanted, "${{ inputs."+action.Inputs.Content[i].Value+" }}")
	}
	require.Equal(t, wanted, action.Runs.Args)
}
