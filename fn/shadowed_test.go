package fn_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// llmkubePair is a Model and an InferenceService that points to it.
func llmkubePair(model, spec string) string {
	return `apiVersion: inference.llmkube.dev/v1alpha1
kind: Model
metadata: {name: m, namespace: ai}
spec:
  source: Qwen/Qwen3-0.6B
` + model + `---
apiVersion: inference.llmkube.dev/v1alpha1
kind: InferenceService
metadata: {name: s, namespace: ai}
spec:
  modelRef: m
` + spec
}

func TestShadowedSettings(t *testing.T) {
	t.Parallel()
	const gpu = "  hardware:\n    gpu: {count: 1, vendor: nvidia}\n"
	for _, c := range []struct {
		name, manifest string
		want           []string
		// gone are the lines that a trim takes away.
		gone []string
	}{
		{"a field behind its flag", llmkubePair(gpu, `  runtime: vllm
  image: vllm/vllm-openai:v0.19.1
  vllmConfig:
    maxModelLen: 8192
    dtype: float16
  extraArgs:
    - --max-model-len=4096
`), []string{"warning --max-model-len remove"}, []string{"    maxModelLen: 8192"}},
		{"a field that says the same as its flag", llmkubePair(gpu, `  runtime: sglang
  image: lmsysorg/sglang:v0.5.16
  sglangConfig:
    contextLength: 4096
    memFractionStatic: 0.8
  extraArgs: [--context-length, "4096"]
`), []string{"warning --context-length remove"}, []string{"    contextLength: 4096"}},
		{"a type of the cache behind the custom one", llmkubePair(gpu, `  runtime: vllm
  image: vllm/vllm-openai:v0.19.1
  vllmConfig:
    kvCacheDtype: fp8_e4m3
    kvCacheCustomDtype: fp8_e5m2
`), []string{"warning --kv-cache-dtype remove"}, []string{"    kvCacheDtype: fp8_e4m3"}},
		{"auto hides nothing", llmkubePair(gpu, `  runtime: vllm
  image: vllm/vllm-openai:v0.19.1
  vllmConfig:
    kvCacheDtype: fp8_e4m3
    kvCacheCustomDtype: auto
`), nil, nil},
		{"a count of GPUs behind the Model's", llmkubePair(gpu, `  runtime: vllm
  image: vllm/vllm-openai:v0.19.1
  resources:
    gpu: 1
    cpu: "4"
`), []string{"warning spec.resources.gpu remove"}, []string{"    gpu: 1"}},
		{"two counts of GPUs", llmkubePair(gpu, `  runtime: vllm
  image: vllm/vllm-openai:v0.19.1
  resources:
    gpu: 2
    cpu: "4"
`), []string{"warning spec.resources.gpu none"}, nil},
		{"a count of GPUs where the Model has none", llmkubePair("", `  runtime: vllm
  image: vllm/vllm-openai:v0.19.1
  resources:
    gpu: 1
    cpu: "4"
`), nil, nil},
		{"a request behind another", llmkubePair(gpu, `  runtime: vllm
  image: vllm/vllm-openai:v0.19.1
  resources:
    memory: 16Gi
    hostMemory: 32Gi
`), []string{"warning spec.resources.memory none"}, nil},
		{"what the operator writes", llmkubePair(gpu, `  runtime: vllm
  image: vllm/vllm-openai:v0.19.1
  extraArgs: [--port=9000]
  endpoint: {port: 9000}
`), []string{"info --port none"}, nil},
		{"a variable behind a flag", pods(`      env:
        - name: VLLM_API_KEY
          value: test
      command: [vllm, serve, m, --api-key=none]
`), []string{"warning env/VLLM_API_KEY remove"}, []string{"      env:", "        - name: VLLM_API_KEY", "          value: test"}},
		{"a variable of a script before its own words", pods(`      env:
        - name: EXTRA
          value: --max-num-seqs=8 --seed=1
      command: [bash, -c]
      args:
        - |
          exec vllm serve m $EXTRA --max-num-seqs=4
`), []string{"warning --max-num-seqs remove"}, []string{"          value: --max-num-seqs=8 --seed=1"}},
		{"twice in one list is another rule", pods("      command: [vllm, serve, m, --max-num-seqs=8, --max-num-seqs=4]\n"), nil, nil},
		{"the file of --config behind a flag", pods(`      command: [vllm, serve, m, --config, /etc/vllm/c.yaml, --max-num-seqs=4]
      volumeMounts: [{name: c, mountPath: /etc/vllm}]
  volumes: [{name: c, configMap: {name: c}}]
---
apiVersion: v1
kind: ConfigMap
metadata: {name: c}
data:
  c.yaml: |
    max-num-seqs: 8
    seed: 1
`), []string{"warning --max-num-seqs none"}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.want, found(t, c.manifest, "shadowed-setting"))
			kept := strings.Split(trimmed(t, c.manifest), "\n")
			for _, line := range c.gone {
				require.Contains(t, strings.Split(c.manifest, "\n"), line)
				require.NotContains(t, kept, line)
			}
			require.Equal(t, strings.Join(kept, "\n"), trimmed(t, strings.Join(kept, "\n")), "twice is once")
			if c.want != nil && len(c.gone) == 0 {
				require.Equal(t, c.manifest, strings.Join(kept, "\n"))
			}
		})
	}
}

func TestWhatAShadowedSettingSays(t *testing.T) {
	t.Parallel()
	said := messages(t, pods(`      command: [vllm, serve, m, --config, /etc/vllm/c.yaml, --max-num-seqs=4]
      volumeMounts: [{name: c, mountPath: /etc/vllm}]
  volumes: [{name: c, configMap: {name: c}}]
---
apiVersion: v1
kind: ConfigMap
metadata: {name: c}
data:
  c.yaml: |
    seed: 1
    max-num-seqs: 8
`), "shadowed-setting")
	require.Equal(t, []string{
		"--max-num-seqs (8) is overridden by the one at spec.containers[0].command[5] (4), which the engine reads later " +
			"(edit it by hand in ConfigMap c, c.yaml, line 2: max-num-seqs)",
	}, said)
	require.Equal(t, []string{
		"env/VLLM_API_KEY is overridden: --api-key is given and wins",
	}, messages(t, pods("      env: [{name: VLLM_API_KEY, value: hidden-a}]\n      command: [vllm, serve, m, --api-key=hidden-b]\n"), "shadowed-setting"))
}

// pods is a Pod with one container of vLLM 0.19.1, whose further fields follow.
func pods(container string) string {
	return `apiVersion: v1
kind: Pod
metadata: {name: p}
spec:
  containers:
    - name: server
      image: vllm/vllm-openai:v0.19.1
` + container
}
