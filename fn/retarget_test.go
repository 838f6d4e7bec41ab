package fn_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/trimtab/trimtab/fn"
	"github.com/trimtab/trimtab/internal/config"
	"github.com/trimtab/trimtab/internal/finding"
	"github.com/trimtab/trimtab/internal/rule"
	"github.com/trimtab/trimtab/internal/stream"
)

// TestRealManifestsMoveToOtherGPUs: whatever a move changes is justified by a
// fact, twice is once, and what is left to do afterwards is nothing that a trim
// could do.
func TestRealManifestsMoveToOtherGPUs(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../shared/cases/public/*/*.yaml")
	require.NoError(t, err)
	if len(files) == 0 {
		t.Skip("../shared/cases/public is not there")
	}
	moved, changed := 0, 0
	for _, file := range files {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, target := range []string{"mi300x", "l40s", "v100-32gb"} {
			name := filepath.Base(file) + " to " + target
			in, ok := moveTo(t, file, data, target, config.Trim)
			if !ok {
				continue
			}
			outcome, err := fn.Process(in)
			if err != nil {
				continue // an annotation or a config of its own that says otherwise
			}
			moved++
			for _, f := range outcome.Report.Findings {
				if f.Rule != "retargeted-setting" && f.Rule != "unsupported-on-gpu" && f.Rule != "gpu-mismatch" {
					continue
				}
				require.NotEmpty(t, f.Message, name)
				require.NotEmpty(t, f.Evidence, "%s: %s", name, f.Message)
				require.NotEmpty(t, f.Evidence[0].Source, "%s: %s", name, f.Message)
				require.False(t, f.Fixed && f.Undo == "", "%s: no way back: %s", name, f.Message)
			}
			text, ok := outcome.Changed[in.Sources[0]]
			if !ok {
				continue
			}
			changed++
			again, ok := moveTo(t, file, text, target, config.Verify)
			require.True(t, ok, name)
			after, err := fn.Process(again)
			require.NoError(t, err, name)
			for _, f := range after.Report.Findings {
				require.Equal(t, finding.None, f.Action, "%s: a second trim would act: %s: %s", name, f.Rule, f.Message)
			}
		}
	}
	t.Logf("%d moves, %d of them change something", moved, changed)
	require.Greater(t, moved, 240)
	require.Greater(t, changed, 40)
}

// moveTo is a file with a config that names the target; false where it does not
// parse.
func moveTo(t *testing.T, file string, data []byte, target string, mode config.Mode) (fn.Input, bool) {
	t.Helper()
	source, err := stream.ParseDocuments(file, data)
	if err != nil {
		return fn.Input{}, false
	}
	var root yaml.Node
	require.NoError(t, yaml.Unmarshal(fmt.Appendf(nil, "apiVersion: trimtab.dev/v1alpha1\nkind: Trim\nspec: {gpu: {name: %s}, prune: false}\n", target), &root))
	parsed, err := config.Decode(root.Content[0], "config.yaml", rule.Names())
	require.NoError(t, err)
	return fn.Input{Sources: []*stream.Source{source}, Configs: []*config.Config{parsed}, Mode: mode}, true
}
