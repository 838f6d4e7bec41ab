package fn_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trimtab/trimtab/internal/config"
)

// TestKeysOfJSONOptions: what is known of a key holds in a JSON text and as a
// dotted flag; only the flag is edited.
func TestKeysOfJSONOptions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		pod
		want []string
	}{
		{"dropped, in the text", pod{image: "vllm/vllm-openai:v0.11.0", args: []string{"m", "--compilation-config", `{"cudagraph_modus":"NONE"}`}},
			[]string{"warning inert-setting --compilation-config.cudagraph_modus none"}},
		{"dropped, in an object of the text", pod{image: "vllm/vllm-openai:v0.11.0", args: []string{"m", "--compilation-config", `{"pass_config":{"nope":1}}`}},
			[]string{"warning inert-setting --compilation-config.pass_config.nope none"}},
		{"dropped, as a flag", pod{image: "vllm/vllm-openai:v0.11.0", args: []string{"m", "--kv-transfer-config.nope", "1"}},
			[]string{"warning inert-setting --kv-transfer-config.nope none"}},
		{"dropped, perhaps not by a fork", pod{image: "acme/vllm:v0.11.0", args: []string{"m", "--compilation-config", `{"nope":1}`}},
			[]string{"info inert-setting --compilation-config.nope none"}},
		{"added by a fork", pod{image: "acme/vllm:v0.11.0", args: []string{"m", "--compilation-config", `{"nope":1}`}, spec: "{engine: {knows: [--compilation-config]}}"}, nil},
		{"refused by now", pod{image: vllm19, args: []string{"m", "--compilation-config", `{"nope":1}`}}, []string{"error bad-value --compilation-config none"}},
		{"known", pod{image: "vllm/vllm-openai:v0.11.0", args: []string{"m", "--compilation-config", `{"cudagraph_mode":"NONE","pass_config":{"enable_noop":true}}`}}, nil},
		{"read by nobody", pod{image: vllm19, args: []string{"m", "--kv-transfer-config", `{"kv_connector":"NixlConnector","kv_role":"kv_both","kv_rank":0,"kv_ip":"::1"}`}},
			[]string{"warning inert-setting --kv-transfer-config.kv_rank none", "warning inert-setting --kv-transfer-config.kv_ip none"}},
		{"read by nobody, as flags", pod{image: vllm19, args: []string{"m", "--kv-transfer-config.kv_connector=NixlConnector", "--kv-transfer-config.kv_role=kv_both", "--kv-transfer-config.kv_rank=0"}},
			[]string{"warning inert-setting --kv-transfer-config.kv_rank remove"}},
		{"of a connector that nobody here knows", pod{image: vllm19, args: []string{"m", "--kv-transfer-config", `{"kv_connector":"Own","kv_role":"kv_both","kv_rank":0}`}}, nil},
		{"one of several without effect", pod{image: vllm19, args: []string{"m", "--enforce-eager", "-cc", `{"mode":3,"backend":"eager"}`}}, []string{"warning inert-setting --compilation-config.mode none"}},
		{"the whole without effect", pod{image: vllm19, args: []string{"m", "--enforce-eager", "-cc", `{"mode":3}`}}, []string{"warning inert-setting --compilation-config remove"}},
		{"the user's own", pod{image: vllm19, args: []string{"m", "--additional-config", `{"x":{"y":1}}`}, spec: `{facts: [{setting: --additional-config.x.y, inert: "value == '1'", why: our plugin is off}]}`},
			[]string{"warning inert-setting --additional-config.x.y none"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.engine = "vllm"
			outcome, _ := c.process(t, config.Verify)
			var got []string
			for _, f := range outcome.Report.Findings {
				if f.Rule == "inert-setting" || f.Rule == "bad-value" {
					got = append(got, strings.Join([]string{string(f.Severity), f.Rule, f.Setting, string(f.Action)}, " "))
				}
			}
			require.ElementsMatch(t, c.want, got)
		})
	}
}
