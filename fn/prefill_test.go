package fn_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trimtab/trimtab/internal/config"
)

// TestPrefillSettings: what vLLM makes of the settings that are to keep one long
// prompt from owning the prefill path, release by release.
func TestPrefillSettings(t *testing.T) {
	t.Parallel()
	const volta = "{gpu: {name: v100-32gb}, model: {name: Qwen/Qwen3-32B}}"
	partial := []string{"m", "--max-num-partial-prefills=2", "--max-long-partial-prefills=2"}
	for _, c := range []struct {
		name, version string
		args          []string
		spec          string
		env           [][2]string
		want          []string
	}{
		{name: "left for the old engine", version: "0.8.5", args: partial,
			want: []string{"warning overridden-setting --max-num-partial-prefills none", "warning overridden-setting --max-long-partial-prefills none"}},
		{name: "left for the old engine, at last", version: "0.10.2", args: partial[:2], want: []string{"warning overridden-setting --max-num-partial-prefills none"}},
		{name: "where the old engine is asked for", version: "0.10.0", args: partial[:2], env: [][2]string{{"VLLM_USE_V1", "0"}}},
		{name: "where it is forbidden", version: "0.9.2", args: partial[:2], env: [][2]string{{"VLLM_USE_V1", "1"}},
			want: []string{"warning overridden-setting --max-num-partial-prefills none", "error conflicting-settings --max-num-partial-prefills none"}},
		{name: "a bare assertion", version: "0.11.0", args: partial,
			want: []string{"error conflicting-settings --max-num-partial-prefills none", "error conflicting-settings --max-long-partial-prefills none"}},
		{name: "an error", version: "0.26.0", args: partial[:2], want: []string{"error conflicting-settings --max-num-partial-prefills none"}},
		{name: "gone", version: "0.27.0", args: partial[:2], want: []string{"error removed-flag --max-num-partial-prefills none"}},
		{name: "one is the default", version: "0.11.0", args: []string{"m", "--max-num-partial-prefills=1"}, want: []string{"info restated-default --max-num-partial-prefills none"}},

		{name: "at the budget", version: "0.11.0", args: []string{"m", "--long-prefill-token-threshold=4096", "--max-num-batched-tokens=4096"}, spec: volta,
			want: []string{"warning inert-setting --long-prefill-token-threshold remove"}},
		{name: "at the budget that this GPU gets", version: "0.11.0", args: []string{"m", "--long-prefill-token-threshold=2048"}, spec: volta,
			want: []string{"warning inert-setting --long-prefill-token-threshold remove"}},
		{name: "below the budget", version: "0.11.0", args: []string{"m", "--long-prefill-token-threshold=1024", "--max-num-batched-tokens=4096"}, spec: volta},
		{name: "a budget that is not known", version: "0.11.0", args: []string{"m", "--long-prefill-token-threshold=8192"}},
		{name: "above the context, still taken", version: "0.26.0", args: []string{"m", "--long-prefill-token-threshold=8192", "--max-num-batched-tokens=16384", "--max-model-len=4096"}},
		{name: "above the context", version: "0.27.0", args: []string{"m", "--long-prefill-token-threshold=8192", "--max-num-batched-tokens=16384", "--max-model-len=4096"},
			want: []string{"error conflicting-settings --long-prefill-token-threshold none"}},
		{name: "read by the old engine alone", version: "0.8.2", args: []string{"m", "--long-prefill-token-threshold=1024"},
			want: []string{"warning overridden-setting --long-prefill-token-threshold none"}},

		{name: "chunks are forced", version: "0.11.0", args: []string{"m", "--no-enable-chunked-prefill"}, spec: volta, want: []string{"warning inert-setting --enable-chunked-prefill remove"}},
		{name: "and can be switched off", version: "0.11.1", args: []string{"m", "--no-enable-chunked-prefill", "--max-model-len=2048"}, spec: volta},
		{name: "without chunks a prompt must fit", version: "0.19.1", args: []string{"m", "--no-enable-chunked-prefill", "--max-model-len=8192", "--max-num-batched-tokens=2048"}, spec: volta,
			want: []string{"error conflicting-settings --max-num-batched-tokens none"}},
		{name: "both restated", version: "0.11.0", args: []string{"m", "--enable-chunked-prefill", "--enable-prefix-caching"}, spec: volta,
			want: []string{"info restated-default --enable-chunked-prefill none", "info restated-default --enable-prefix-caching none"}},
		{name: "of a model that may embed", version: "0.11.0", args: []string{"m", "--enable-prefix-caching"}, spec: "{gpu: {name: v100-32gb}}"},
		{name: "of a hybrid, off until 0.28.0", version: "0.27.1", args: []string{"m", "--enable-prefix-caching"}, spec: "{gpu: {name: h100-80gb}, model: {name: Qwen/Qwen3.5-35B-A3B}}"},
		{name: "of a hybrid, on from 0.28.0", version: "0.28.0", args: []string{"m", "--enable-prefix-caching"}, spec: "{gpu: {name: h100-80gb}, model: {name: Qwen/Qwen3.5-35B-A3B}}",
			want: []string{"info restated-default --enable-prefix-caching none"}},

		{name: "a connector that is replaced", version: "0.19.1", args: []string{"m", "--kv-transfer-config", `{"kv_connector":"NixlConnector","kv_role":"kv_both"}`, "--kv-offloading-size=4"},
			want: []string{"warning overridden-setting --kv-transfer-config none"}},
		{name: "a connector that is replaced, as flags", version: "0.19.1", args: []string{"m", "--kv-transfer-config.kv_connector=NixlConnector", "--kv-transfer-config.kv_role=kv_both", "--kv-offloading-size=4"},
			want: []string{"warning overridden-setting --kv-transfer-config.kv_connector none", "warning overridden-setting --kv-transfer-config.kv_role none"}},
		{name: "a size without a back end", version: "0.12.0", args: []string{"m", "--kv-transfer-config", `{"kv_connector":"NixlConnector","kv_role":"kv_both"}`, "--kv-offloading-size=4"},
			want: []string{"warning inert-setting --kv-offloading-size remove"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := pod{engine: "vllm", image: "vllm/vllm-openai:v" + c.version, args: c.args, spec: c.spec, env: c.env}
			outcome, _ := p.process(t, config.Verify)
			var got []string
			for _, f := range outcome.Report.Findings {
				about := f.Setting != "--dtype" && f.Setting != "--max-num-batched-tokens" || f.Severity == "error"
				if strings.HasPrefix(f.Setting, "--") && about && f.Rule != "gpu-mismatch" && f.Setting != "--max-model-len" {
					got = append(got, strings.Join([]string{string(f.Severity), f.Rule, f.Setting, string(f.Action)}, " "))
				}
			}
			require.ElementsMatch(t, c.want, got)
		})
	}
}
