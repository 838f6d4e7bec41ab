package argv

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestKeysOfJSONOptions(t *testing.T) {
	const refused = "bad-value"
	for _, c := range []struct{ engine, version, option, value, problem string }{
		{"vllm", "0.8.5", "--compilation-config", `{"use_inductor":true}`, refused}, // true is no literal of Python
		{"vllm", "0.8.5", "--compilation-config", `{"use_inductor":True,"backend":"true"}`, ""},
		{"vllm", "0.8.5", "--compilation-config", `{"level":3,"backend":"true"}`, ""},
		{"vllm", "0.9.2", "--compilation-config", `{"use_inductor":true}`, ""},
		{"vllm", "0.12.0", "--compilation-config", `{"nope":1}`, ""},
		{"vllm", "0.13.0", "--compilation-config", `{"nope":1}`, refused},
		{"vllm", "0.13.0", "--compilation-config", `{"pass_config":{"nope":1}}`, refused},
		{"vllm", "0.20.0", "--compilation-config", `{"pass_config":{"fuse_norm_quant":null}}`, ""},
		{"vllm", "0.20.0", "--compilation-config", `{"cudagraph_mode":"piecewise"}`, ""},
		{"vllm", "0.20.0", "--compilation-config", `{"cudagraph_mode":"pieces"}`, refused},
		{"vllm", "0.20.0", "--compilation-config", `{"mode":3}`, ""},
		{"vllm", "0.20.0", "--compilation-config", `{"mode":4}`, refused},
		{"vllm", "0.20.0", "--compilation-config", `{"mode":"vllm_compile"}`, ""},
		{"vllm", "0.20.0", "--compilation-config", `{"cudagraph_capture_sizes":8}`, refused},
		{"vllm", "0.20.0", "--compilation-config", `{"cudagraph_capture_sizes":[8]}`, ""},
		{"vllm", "0.20.0", "--compilation-config", `{"cudagraph_copy_inputs":"on"}`, ""},
		{"vllm", "0.20.0", "--compilation-config", `{"cudagraph_copy_inputs":2}`, refused},
		{"vllm", "0.20.0", "--compilation-config", `{"cudagraph_num_of_warmups":"1.0"}`, ""},
		{"vllm", "0.20.0", "--compilation-config", `{"cudagraph_num_of_warmups":1.5}`, refused},
		{"vllm", "0.20.0", "--compilation-config", `{"backend":7}`, refused},
		{"vllm", "0.20.0", "--compilation-config", `3`, refused},
		{"vllm", "0.11.0", "--compilation-config", `3`, ""},
		{"vllm", "0.19.1", "--kv-transfer-config", `{"kv_port":1k}`, refused},
		{"vllm", "0.21.0", "--kv-transfer-config", `{"kv_port":1k}`, ""},
		{"vllm", "0.21.0", "--kv-transfer-config", `{"kv_role":"kv_both"}`, ""},
		{"vllm", "0.21.0", "--kv-transfer-config", `{"kv_role":"both"}`, refused},
		{"vllm", "0.21.0", "--kv-transfer-config", `{"kv_connector":"x"}`, refused},
		{"vllm", "0.21.0", "--kv-transfer-config", `{"kv_connector":"x","kv_role":"kv_both"}`, ""},
		{"vllm", "0.21.0", "--eplb-config", `{"window_size":0}`, refused},
		{"vllm", "0.21.0", "--structured-outputs-config", `{"disable_any_whitespace":true}`, refused},
		{"vllm", "0.21.0", "--structured-outputs-config", `{"disable_any_whitespace":true,"backend":"xgrammar"}`, ""},
		{"vllm", "0.27.1", "--quantization-config", `{"linear":{}}`, ""},
		{"vllm", "0.27.1", "--quantization-config", `{"method":"fp8"}`, refused},
		{"vllm", "0.27.1", "--quantization-config", `None`, ""},
		{"vllm", "0.33.0", "--compilation-config", `{"backend":7}`, ""}, // behind what was read
		{"vllm", "0.33.0", "--speculative-config", `{"nope":1}`, ""},
		{"sglang", "0.5.18", "--cuda-graph-config", `{"decode":{"backend":"full"}}`, ""},
		{"sglang", "0.5.18", "--cuda-graph-config", `{"decode":{"backends":"full"}}`, refused},
		{"sglang", "0.5.18", "--cuda-graph-config", `{"extend":{}}`, refused},
		{"sglang", "0.5.18", "--cuda-graph-config", `{"decode":[]}`, refused},
		{"sglang", "0.5.18", "--forward-hooks", `{"a":NaN}`, refused},
		{"sglang", "0.5.18", "--forward-hooks", `{"a":"NaN"}`, ""},
	} {
		line := []string{"m", c.option, c.value}
		mode, want := Serve, c.problem
		if c.engine == "sglang" {
			line, mode = []string{"--model-path", "m", c.option, c.value}, Launch
		}
		if want != "" {
			want += " " + c.option
		}
		require.Equal(t, want, kinds(parseWords(t, c.engine, c.version, mode, line)), "%s %s %s", c.version, c.option, c.value)
	}
}

func TestDemands(t *testing.T) {
	for _, c := range []struct{ version, line, problems string }{
		{"0.27.1", "m --enable-auto-tool-choice", "refused --enable-auto-tool-choice"},
		{"0.27.1", "m --enable-auto-tool-choice --no-enable-auto-tool-choice", ""},
		{"0.27.1", "m --enable-auto-tool-choice --tool-call-parser hermes", ""},
		{"0.27.1", "m --enable-auto-tool-choice --tool-call-parser $PARSER", ""},
		{"0.27.1", "m --enable-auto-tool-choice $MORE", ""},
		{"0.27.1", "m --enable-auto-tool-choice --tool-call-parser=", "refused --enable-auto-tool-choice"},
		{"0.10.2", "m --enable-log-outputs", ""},
		{"0.11.0", "m --enable-log-outputs", "refused --enable-log-outputs"},
		{"0.8.1", "m --enable-auto-tool-choice --tool-call-parser hermes --enable-reasoning --reasoning-parser x", "bad-choice --reasoning-parser; refused --enable-auto-tool-choice"},
		{"0.8.2", "m --enable-auto-tool-choice --tool-call-parser hermes --enable-reasoning --reasoning-parser deepseek_r1", ""},
		{"0.32.0", "m --sse-keep-alive-interval -1", "refused --sse-keep-alive-interval"},
		{"0.32.0", "m --sse-keep-alive-interval 5", ""},
		{"0.33.0", `m --reasoning-effort-map {"low":"x"}`, ""},
		{"0.33.0", `m --reasoning-effort-map.low 1`, "refused --reasoning-effort-map"},
		{"0.33.0", `m --reasoning-effort-map [1]`, "refused --reasoning-effort-map"},
		{"0.27.1", "m --enable-per-request-metrics --disable-log-stats", "refused --enable-per-request-metrics"},
		{"0.27.1", "m --data-parallel-multi-port-external-lb --data-parallel-size 4 --data-parallel-size-local 2", ""},
		{"0.27.1", "m --data-parallel-multi-port-external-lb --data-parallel-size 4 --data-parallel-size-local 2 --uds /x", "refused --data-parallel-multi-port-external-lb"},
	} {
		require.Equal(t, c.problems, kinds(parse(t, "vllm", c.version, Serve, c.line)), "%s %s", c.version, c.line)
	}
}

func TestDottedKeysOfTheFirstReleases(t *testing.T) {
	line := parse(t, "vllm", "0.9.0", Serve, "m -cc.a 1 --speculative-config.num_speculative_tokens 3")
	require.Equal(t, "unknown -cc.a", kinds(line), "one dash: no dotted key yet")
	require.Equal(t, "--model=m --speculative-config.num-speculative-tokens=3", show(line))
}
