package sdk_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	kpt "github.com/GoogleContainerTools/kpt-functions-sdk/go/fn"
	"github.com/stretchr/testify/require"

	"github.com/trimtab/trimtab/fn"
	"github.com/trimtab/trimtab/fn/sdk"
	"github.com/trimtab/trimtab/internal/promql"
)

var _ kpt.ResourceListProcessor = sdk.Processor{}

// list builds the ResourceList a host would send for a folder of manifests.
func list(t *testing.T, config string, files ...string) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n")
	indent := func(document string, first, rest string) {
		for i, line := range strings.Split(strings.TrimSpace(document), "\n") {
			prefix := rest
			if i == 0 {
				prefix = first
			}
			b.WriteString(prefix + line + "\n")
		}
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		for document := range strings.SplitSeq(string(data), "\n---\n") {
			indent(strings.TrimPrefix(document, "---\n"), "- ", "  ")
		}
	}
	data, err := os.ReadFile(config)
	require.NoError(t, err)
	b.WriteString("functionConfig:\n")
	indent(string(data), "  ", "  ")
	return b.String()
}

// TestBothDoorsMakeTheSame runs every example through the function and through
// the SDK.
func TestBothDoorsMakeTheSame(t *testing.T) {
	configs, err := filepath.Glob("../../examples/*/trim.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, configs)
	for _, config := range configs {
		folder := filepath.Dir(config)
		t.Run(filepath.Base(folder), func(t *testing.T) {
			files, err := filepath.Glob(filepath.Join(folder, "server*.yaml"))
			require.NoError(t, err)
			require.NotEmpty(t, files)
			input := list(t, config, files...)

			output, failed, err := fn.Run([]byte(input), promql.Parse)
			require.NoError(t, err)
			plain, err := kpt.ParseResourceList(output)
			require.NoError(t, err)

			composed, err := kpt.ParseResourceList([]byte(input))
			require.NoError(t, err)
			before := composed.Items.String()
			passed, err := sdk.Processor{}.Process(composed)
			require.NoError(t, err)
			require.Equal(t, !failed, passed)
			require.NotEqual(t, before, composed.Items.String(), "an example has something to trim")

			sortItems := func(l *kpt.ResourceList) map[string]string {
				byID := map[string]string{}
				for _, item := range l.Items {
					byID[item.GetId().String()] = item.String()
				}
				return byID
			}
			require.Equal(t, sortItems(plain), sortItems(composed))
			require.Equal(t, plain.Results, composed.Results)
		})
	}
}

func TestErrorsLeaveTheListAsItWas(t *testing.T) {
	input := "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n- apiVersion: v1\n  kind: ConfigMap\n  metadata:\n    name: a\nfunctionConfig:\n  apiVersion: trimtab.dev/v1alpha1\n  kind: Trim\n  metadata:\n    name: x\n  spec:\n    gpus: 1\n"
	composed, err := kpt.ParseResourceList([]byte(input))
	require.NoError(t, err)
	before := composed.Items.String()
	passed, err := sdk.Processor{}.Process(composed)
	require.ErrorContains(t, err, "did you mean `gpu`")
	require.False(t, passed)
	require.Equal(t, before, composed.Items.String())
}
