package fn_test

import (
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/trimtab/trimtab/fn"
	"github.com/trimtab/trimtab/internal/config"
	"github.com/trimtab/trimtab/internal/rule"
	"github.com/trimtab/trimtab/internal/stream"
)

// serverOf is a Pod with ordinary settings of an engine.
var serverOf = map[string]string{
	"sglang": `apiVersion: v1
kind: Pod
metadata: {name: p}
spec:
  containers:
  - name: server
    image: lmsysorg/sglang:v0.5.16
    command: [python3, -m, sglang.launch_server]
    args: [--model-path, Qwen/Qwen3-32B, --tp-size, "1", --max-running-requests, "16", --mem-fraction-static, "0.85",
      --chunked-prefill-size, "4096", --disable-custom-all-reduce, --kv-cache-dtype, fp8_e4m3]
    resources: {limits: {nvidia.com/gpu: 1}}
`,
	"vllm": `apiVersion: v1
kind: Pod
metadata: {name: p}
spec:
  containers:
  - name: server
    image: vllm/vllm-openai:v0.19.1
    command: [vllm, serve]
    args: [Qwen/Qwen3-32B, --tensor-parallel-size, "1", --max-num-seqs, "16", --gpu-memory-utilization, "0.9",
      --max-num-batched-tokens, "4096", --disable-custom-all-reduce, --kv-cache-dtype, fp8, --enable-prefix-caching]
    resources: {limits: {nvidia.com/gpu: 1}}
`,
}

// BenchmarkVerify judges one server, with what a process has read and compiled
// for the servers before it.
func BenchmarkVerify(b *testing.B) {
	var root yaml.Node
	if err := yaml.Unmarshal([]byte("apiVersion: trimtab.dev/v1alpha1\nkind: Verify\nmetadata: {name: c}\nspec: {gpu: {name: h100-80gb}}"), &root); err != nil {
		b.Fatal(err)
	}
	chosen, err := config.Decode(&root, "config", rule.Names())
	if err != nil {
		b.Fatal(err)
	}
	for engine, manifest := range serverOf {
		b.Run(engine, func(b *testing.B) {
			for b.Loop() {
				source, err := stream.ParseDocuments("pod.yaml", []byte(manifest))
				if err != nil {
					b.Fatal(err)
				}
				out, err := fn.Process(fn.Input{Sources: []*stream.Source{source}, Configs: []*config.Config{chosen}, Mode: config.Verify})
				if err != nil || len(out.Report.Servers) != 1 {
					b.Fatal(out, err)
				}
			}
		})
	}
}
