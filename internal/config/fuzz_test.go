package config

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

// Whatever a config document holds, Decode answers with a config or one line,
// and a config merges with itself.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		wholeDocument,
		configMap("gpu: r9700\nrules: inert-setting=off\nprune: \"false\""),
		spec("gpu: &g {name: *g}"),
		spec("model: {config: &c [*c]}"),
		spec("facts: [{? [a] : b}]\nmonitor: {<<: {a: b}, labels: {a: b}, gateway: {selector: {a: b}}}"),
		"{apiVersion: trimtab.dev/v1alpha1, kind: Trim, spec: !!int x}",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var node yaml.Node
		if yaml.Unmarshal(data, &node) != nil {
			return
		}
		c, err := Decode(&node, FunctionConfig, testRules)
		if err != nil {
			require.True(t, strings.HasPrefix(err.Error(), "functionConfig: "))
			require.NotContains(t, err.Error(), "\n")
			return
		}
		c.Selects("Pod", "a", "b", map[string]string{"tier": "prod"}, "c")
		_, err = Merge([]*Config{c, c})
		require.NoError(t, err)
	})
}

func FuzzDecodeAnnotations(f *testing.F) {
	f.Add("keep", "inert-setting --a until sglang>=0.5.17: why")
	f.Add("ignore", "oversized-pool --b: because\n\n--c")
	f.Add("engine", "vllm@0.11.0rc1")
	f.Fuzz(func(t *testing.T, name, value string) {
		o, err := DecodeAnnotations(map[string]string{"trimtab.dev/" + name: value}, testRules)
		if err != nil {
			require.NotContains(t, err.Error(), "\n")
			return
		}
		for _, e := range append(o.Keep, o.Ignore...) {
			require.NotEmpty(t, e.Setting)
			require.Contains(t, value, e.Line)
			require.Equal(t, e.UntilEngine == "", e.UntilVersion == "")
		}
		for _, e := range o.Ignore {
			require.NotEmpty(t, e.Rule)
			require.NotEmpty(t, e.Reason)
		}
	})
}
