package server_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trimtab/trimtab/internal/server"
	"github.com/trimtab/trimtab/internal/setting"
)

func predictor(spec string) string {
	return "apiVersion: serving.kserve.io/v1beta1\nkind: InferenceService\nmetadata: {name: llama, namespace: ai}\nspec: {predictor: " + spec + "}\n"
}

const servingRuntime = `
apiVersion: serving.kserve.io/v1alpha1
kind: ServingRuntime
metadata: {name: custom, namespace: ai}
spec:
  containers:
  - name: kserve-container
    image: vllm/vllm-openai:v0.11.0
    command: [python, -m, vllm.entrypoints.openai.api_server]
    args: [--port=8080, --model=/mnt/models]
---
`

func TestKServeModels(t *testing.T) {
	cases := []struct{ name, manifest, line, image, model string }{
		{"huggingfaceserver by format",
			predictor("{model: {modelFormat: {name: huggingface}, args: [--model_id=Qwen/Qwen3-8B, --max_model_len=4096]}}"),
			"--model_name=llama --model_id=Qwen/Qwen3-8B --max_model_len=4096", "", "Qwen/Qwen3-8B"},
		{"huggingfaceserver by runtime, on several nodes",
			predictor("{model: {runtime: kserve-huggingfaceserver-multinode, storageUri: 'hf://Qwen/Qwen3-8B'}, workerSpec: {pipelineParallelSize: 2, tensorParallelSize: 1}}"),
			"--model_name=llama --tensor-parallel-size=1 --pipeline-parallel-size=2", "", "hf://Qwen/Qwen3-8B"},
		{"vllm by format",
			predictor("{model: {modelFormat: {name: vLLM}, image: 'quay.io/x:v0.11.0', args: [--max-model-len=4096]}}"),
			"--max-model-len=4096", "quay.io/x:v0.11.0", ""},
		{"a runtime of the input",
			servingRuntime + predictor("{model: {runtime: custom, args: [--max-model-len=4096]}}"),
			"--port=8080 --model=/mnt/models --max-model-len=4096", "vllm/vllm-openai:v0.11.0", ""},
		{"a container of one's own",
			predictor("{containers: [{name: kserve-container, image: 'vllm/vllm-openai:v0.11.0', args: [--model, Qwen/Qwen3-8B]}]}"),
			"--model Qwen/Qwen3-8B", "vllm/vllm-openai:v0.11.0", "Qwen/Qwen3-8B"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			found := find(t, c.manifest)
			require.NotEmpty(t, found)
			s := found[len(found)-1]
			require.Equal(t, "InferenceService", s.Object.Kind)
			require.Equal(t, []string{"vllm", c.line, c.image, c.model}, []string{s.Engine, line(s, nil), s.Image, s.ModelSource})
		})
	}
}

func TestWordsOfARuntimeStandElsewhere(t *testing.T) {
	found := find(t, servingRuntime+predictor("{model: {runtime: custom, args: [--max-model-len=4096]}}"))
	words := found[1].CommandLine(nil)
	require.Equal(t, setting.Origin{Kind: setting.Operator, Name: "serving runtime custom"}, words[0].Origin)
	require.Equal(t, "spec.predictor.model.args[0]", words[2].Origin.String())
}

func TestHuggingfaceserverHasOptionsOfItsOwn(t *testing.T) {
	found := find(t, predictor("{model: {modelFormat: {name: huggingface}}}"))
	require.Equal(t, []string{"--*"}, found[0].Knows)
	require.False(t, *found[0].Direct)
	found, left := survey(t, predictor("{model: {modelFormat: {name: huggingface}, args: [--backend=huggingface]}}"))
	require.Empty(t, found)
	require.Equal(t, "its backend is Hugging Face's own, not vllm", left[0].Why)
}

func TestOtherFormatsAreNoServers(t *testing.T) {
	for _, spec := range []string{
		"{model: {modelFormat: {name: sklearn}, storageUri: 'gs://x'}}",
		"{sklearn: {storageUri: 'gs://x'}}",
		"{model: {modelFormat: {name: gguf}, runtime: llamacpp, args: [--model, /mnt/models, --ctx-size, '1']}}",
	} {
		require.Empty(t, find(t, predictor(spec)))
	}
}

func llmService(spec string) string {
	return "apiVersion: serving.kserve.io/v1alpha2\nkind: LLMInferenceService\nmetadata: {name: q}\nspec:\n  model: {uri: 'hf://Qwen/Qwen3-8B', name: qwen}\n" + spec
}

func TestLLMInferenceService(t *testing.T) {
	const start = "?/mnt/models --served-model-name ?qwen --port 8000"
	cases := []struct {
		name, spec string
		lines      map[string]string // by path
		onePod     bool
	}{
		{"nothing but the model", "", map[string]string{"spec.template": start}, true},
		{"options in the variable, then args", "  template: {containers: [{name: side, image: busybox}, {name: main, env: [{name: VLLM_ADDITIONAL_ARGS, value: '--enforce-eager  --block-size=$B'}], args: [--max-model-len, '1']}]}\n",
			map[string]string{"spec.template.containers[1]": start + " --enforce-eager ?--block-size=$B --max-model-len 1"}, true},
		{"quotes only a shell takes apart", "  template: {containers: [{name: main, env: [{name: VLLM_ADDITIONAL_ARGS, value: \"--x '{}'\"}]}]}\n",
			map[string]string{"spec.template.containers[0]": start + " ?$VLLM_ADDITIONAL_ARGS"}, true},
		{"typed sizes", "  parallelism: {tensor: 2}\n  prefill: {parallelism: {tensor: 4}, template: {containers: [{name: main}]}}\n  template: {containers: [{name: main}]}\n",
			map[string]string{"spec.template.containers[0]": start + " --tensor-parallel-size 2", "spec.prefill.template.containers[0]": start + " --tensor-parallel-size 4"}, true},
		{"workers", "  parallelism: {data: 16, dataLocal: 8, expert: true, tensor: 1}\n  template: {containers: [{name: main}]}\n  worker: {containers: [{name: main}]}\n",
			map[string]string{
				"spec.template.containers[0]": start + " --data-parallel-size 16 --data-parallel-size-local 8 --enable-expert-parallel",
				"spec.worker.containers[0]":   start + " --data-parallel-size 16 --data-parallel-size-local 8 --enable-expert-parallel",
			}, false},
		{"args that name the model are the whole line", "  parallelism: {tensor: 2}\n  template: {containers: [{name: main, image: 'vllm/vllm-openai:v0.9.1', args: [--model, /mnt/models]}]}\n",
			map[string]string{"spec.template.containers[0]": "--model /mnt/models"}, true},
		{"a command of one's own", "  template: {containers: [{name: main, command: [vllm, serve, x], args: [--port, '1']}]}\n",
			map[string]string{"spec.template.containers[0]": "x --port 1"}, true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			lines := map[string]string{}
			for _, s := range find(t, llmService(c.spec)) {
				lines[s.Path.String()] = line(s, nil)
				require.Equal(t, c.onePod, s.OnePod)
				require.Equal(t, "vllm", s.Engine)
				require.Equal(t, "kserve", s.Operator)
			}
			require.Equal(t, c.lines, lines)
		})
	}
}

func TestDevicesClaimedByAnnotations(t *testing.T) {
	found := find(t, `
apiVersion: serving.kserve.io/v1alpha2
kind: LLMInferenceService
metadata:
  name: q
  annotations: {serving.kserve.io/exp-dra-device-class: gpu.nvidia.com, serving.kserve.io/exp-dra-device-count: "2"}
spec: {template: {containers: [{name: main, resources: {limits: {cpu: 1}}}]}}
`)
	require.Len(t, found, 1)
	require.NotNil(t, found[0].GPUs.Count)
	require.EqualValues(t, 2, *found[0].GPUs.Count)
	require.Equal(t, "nvidia", found[0].GPUs.Vendor)
}

func TestAConfigWithoutMainIsNoServer(t *testing.T) {
	var none []*server.Server
	require.Equal(t, none, find(t, "apiVersion: serving.kserve.io/v1alpha2\nkind: LLMInferenceServiceConfig\nmetadata: {name: c}\nspec: {router: {}}\n"))
}
