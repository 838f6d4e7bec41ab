package server_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trimtab/trimtab/internal/setting"
)

func TestResourcesOfOtherOperators(t *testing.T) {
	cases := []struct{ name, manifest, engine, image, line string }{
		{"KubeAI", `
apiVersion: kubeai.org/v1
kind: Model
metadata: {name: m}
spec:
  engine: VLLM
  url: hf://Qwen/Qwen3-8B
  image: vllm/vllm-openai:v0.11.0
  args: [--max-model-len=8192]
  env: {VLLM_USE_V1: "1"}
  resourceProfile: nvidia-gpu-l4:2
`, "vllm", "vllm/vllm-openai:v0.11.0", "--model ?hf://Qwen/Qwen3-8B --served-model-name m --max-model-len=8192"},
		{"VLLMRuntime", `
apiVersion: production-stack.vllm.ai/v1alpha1
kind: VLLMRuntime
metadata: {name: m}
spec:
  model: {modelURL: Qwen/Qwen3-8B, maxModelLen: 4096, enableLoRA: true, chatTemplate: x}
  vllmConfig: {enableChunkedPrefill: true, tensorParallelSize: 2, port: 8000, extraArgs: [--max-num-seq, "8"], env: [{name: VLLM_USE_V1, value: "1"}]}
  deploymentConfig: {image: {registry: docker.io, name: "vllm/vllm-openai:v0.11.0"}, resources: {gpu: "2"}}
`, "vllm", "docker.io/vllm/vllm-openai:v0.11.0", "?Qwen/Qwen3-8B --host 0.0.0.0 --port 8000 --enable-lora --enable-chunked-prefill --no-enable-prefix-caching --max-model-len 4096 --tensor-parallel-size 2 --max-num-seq 8 --chat-template /etc/chat-template.json"},
		{"VLLMRuntime of older releases", `
apiVersion: production-stack.vllm.ai/v1alpha1
kind: VLLMRuntime
metadata: {name: m}
spec: {model: {modelURL: Qwen/Qwen3-8B}, tensorParallelSize: 0, maxLoras: 2, extraArgs: [--a], image: {name: x}, resources: {gpu: "2"}, env: [{name: VLLM_USE_V1, value: "1"}]}
`, "vllm", "x", "?Qwen/Qwen3-8B --host 0.0.0.0 --no-enable-chunked-prefill --no-enable-prefix-caching --max-loras 2 --a"},
		{"llmaz", `
apiVersion: inference.llmaz.io/v1alpha1
kind: Playground
metadata: {name: m}
spec: {modelClaim: {modelName: x}, backendRuntimeConfig: {backendName: sglang, args: [--tp, "2"], envs: [{name: VLLM_USE_V1, value: "1"}], resources: {limits: {nvidia.com/gpu: 2}}}}
`, "sglang", "", "--model-path ? --served-model-name ? --host 0.0.0.0 --port 8080 --tp 2"},
		{"kthena", `
apiVersion: workload.serving.volcano.sh/v1alpha1
kind: ModelBooster
metadata: {name: m}
spec:
  backend:
    type: vLLM
    modelURI: hf://Qwen/Qwen3-8B
    env: [{name: VLLM_USE_V1, value: "1"}]
    workers: [{type: server, image: "x:1", pods: 1, config: {max_model_len: 4096, enforce-eager: "", block-size: "16"}, resources: {limits: {nvidia.com/gpu: 2}}}]
`, "vllm", "x:1", "--model ?hf://Qwen/Qwen3-8B --block-size 16 --enforce-eager --max-model-len 4096"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			found, _ := survey(t, c.manifest)
			require.Len(t, found, 1)
			s := found[0]
			require.Equal(t, []string{c.engine, c.image, c.line}, []string{s.Engine, s.Image, line(s, nil)})
			require.NotNil(t, s.GPUs.Count)
			require.EqualValues(t, 2, *s.GPUs.Count)
			require.Equal(t, "nvidia", s.GPUs.Vendor)
			require.Len(t, s.Env, 1)
			require.Equal(t, "1", s.Env[0].Value)
			require.True(t, s.OnePod)
		})
	}
}

func TestResourcesOfOtherEnginesAreLeft(t *testing.T) {
	for _, manifest := range []string{
		"apiVersion: kubeai.org/v1\nkind: Model\nmetadata: {name: m}\nspec: {engine: OLlama, url: ollama://x}\n",
		"apiVersion: inference.llmaz.io/v1alpha1\nkind: Playground\nmetadata: {name: m}\nspec: {backendRuntimeConfig: {backendName: llamacpp}}\n",
	} {
		found, left := survey(t, manifest)
		require.Empty(t, found)
		require.Len(t, left, 1)
		require.Contains(t, left[0].Why, "is neither vllm nor sglang")
	}
}

func TestASwitchTheOperatorWouldWriteTheOtherWayIsNotEdited(t *testing.T) {
	found, _ := survey(t, `
apiVersion: production-stack.vllm.ai/v1alpha1
kind: VLLMRuntime
metadata: {name: m}
spec: {vllmConfig: {enableChunkedPrefill: true, enablePrefixCaching: false}}
`)
	origins := map[string]setting.Origin{}
	for _, word := range found[0].CommandLine(nil) {
		origins[word.Text] = word.Origin
	}
	require.Equal(t, setting.Bound, origins["--enable-chunked-prefill"].Kind)
	require.Nil(t, origins["--enable-chunked-prefill"].Path)
	require.Equal(t, "spec.vllmConfig.enableChunkedPrefill", origins["--enable-chunked-prefill"].String())
	require.Equal(t, "spec.vllmConfig.enablePrefixCaching", origins["--no-enable-prefix-caching"].Path.String())
}

func TestAProfileOfAnotherDeviceTellsNoGPU(t *testing.T) {
	for profile, card := range map[string]string{"nvidia-gpu-l4:1": "l4", "amd-gpu-mi300x:8": "mi300x", "google-tpu-v5e-2x2:4": "", "cpu:2": "", "nvidia-gpu-l4": ""} {
		found, _ := survey(t, "apiVersion: kubeai.org/v1\nkind: Model\nmetadata: {name: m}\nspec: {engine: VLLM, resourceProfile: '"+profile+"'}\n")
		require.Len(t, found, 1)
		require.Equal(t, card, found[0].GPUs.Card, profile)
		require.Equal(t, card != "", found[0].GPUs.Count != nil, profile)
	}
}
