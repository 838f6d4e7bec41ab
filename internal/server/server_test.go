package server_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trimtab/trimtab/internal/server"
	"github.com/trimtab/trimtab/internal/setting"
	"github.com/trimtab/trimtab/internal/stream"
)

func find(t *testing.T, manifests string) []*server.Server {
	t.Helper()
	source, err := stream.ParseDocuments("in.yaml", []byte(manifests))
	require.NoError(t, err)
	found, err := server.Find(source.Items)
	require.NoError(t, err)
	return found
}

func line(s *server.Server, gpus *int64) string {
	var texts []string
	for _, word := range s.CommandLine(gpus) {
		text := word.Text
		if word.Unknown {
			text = "?" + text
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, " ")
}

const model = `
apiVersion: inference.llmkube.dev/v1alpha1
kind: Model
metadata: {name: m, namespace: ai}
spec:
  source: hf://org/name
  hardware: {gpu: {count: GPUS, vendor: AMD, resourceName: amd.com/gpu}}
---
`

func service(spec string) string {
	return `apiVersion: inference.llmkube.dev/v1alpha1
kind: InferenceService
metadata: {name: s, namespace: ai}
spec:
  modelRef: m
` + spec
}

func TestLLMKubeArgumentsStandInTheOperatorsOrder(t *testing.T) {
	cases := []struct{ name, gpus, spec, want string }{
		{"sglang defaults", "1", "  runtime: sglang\n",
			"--model-path ?hf://org/name --port 30000 --enable-metrics --host :: --served-model-name m"},
		{"typed fields before extraArgs", "1", `
  runtime: sglang
  bindAddress: 0.0.0.0
  containerPort: 31000
  sglangConfig: {tensorParallelSize: 1, memFractionStatic: 0.8, kvCacheDtype: auto, trustRemoteCode: true}
  extraArgs: [--host=1.2.3.4, --tp-size, "2"]
`, "--model-path ?hf://org/name --port 31000 --enable-metrics --served-model-name m --tp 1 --mem-fraction-static 0.8 --trust-remote-code --host=1.2.3.4 --tp-size 2"},
		{"GPU count becomes TP", "4", "  runtime: sglang\n  extraArgs: [--served-model-name, x]\n",
			"--model-path ?hf://org/name --port 30000 --enable-metrics --host :: --tp 4 --served-model-name x"},
		{"endpoint without port is 8080", "1", "  runtime: sglang\n  endpoint: {}\n",
			"--model-path ?hf://org/name --port 8080 --enable-metrics --host :: --served-model-name m"},
		{"speculation needs all three", "1", "  runtime: sglang\n  sglangConfig: {speculative: {enabled: true, algorithm: EAGLE, numSteps: 3}}\n",
			"--model-path ?hf://org/name --port 30000 --enable-metrics --host :: --served-model-name m"},
		{"custom cache type wins", "1", "  runtime: sglang\n  sglangConfig: {kvCacheDtype: fp8_e5m2, kvCacheCustomDtype: fp8_e4m3}\n",
			"--model-path ?hf://org/name --port 30000 --enable-metrics --host :: --served-model-name m --kv-cache-dtype fp8_e4m3"},
		{"vllm leaves TP of one out", "1", `
  runtime: vllm
  image: vllm/vllm-openai:v0.25.1
  vllmConfig: {tensorParallelSize: 1, dtype: auto, enablePrefixCaching: false, gpuMemoryUtilization: 0.9}
  parallelSlots: 8
`, "?hf://org/name --port 8000 --host :: --dtype auto --gpu-memory-utilization 0.9 --max-num-seqs 8"},
		{"list field", "1", "  runtime: sglang\n  sglangConfig: {loraTargetModules: [q_proj, k_proj]}\n",
			"--model-path ?hf://org/name --port 30000 --enable-metrics --host :: --served-model-name m --lora-target-modules q_proj k_proj"},
		{"adapters of both fields behind one flag", "1", "  runtime: sglang\n  sglangConfig: {loraAdapters: [{name: a, path: /l/a}], loraModules: [b=/l/b]}\n",
			"--model-path ?hf://org/name --port 30000 --enable-metrics --host :: --served-model-name m --lora-paths a=/l/a b=/l/b"},
		{"embeddings by the path that is served", "1", "  runtime: sglang\n  endpoint: {path: /v1/embeddings, port: 1}\n",
			"--model-path ?hf://org/name --port 1 --enable-metrics --host :: --served-model-name m --is-embedding"},
		{"generic passes on args alone", "1", "  runtime: generic\n  image: vllm/vllm-openai:v0.11.0\n  args: [--seed, \"1\"]\n  extraArgs: [--x]\n  vllmConfig: {maxModelLen: 8}\n",
			"--seed 1"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			found := find(t, strings.ReplaceAll(model, "GPUS", c.gpus)+service(c.spec))
			require.Len(t, found, 1)
			require.NotNil(t, found[0].GPUs.Count)
			require.Equal(t, c.want, line(found[0], found[0].GPUs.Count))
		})
	}
}

func TestLLMKubeLeavesWhatTheAgentForMacOSRuns(t *testing.T) {
	metal := strings.Replace(model, "hardware: {", "hardware: {accelerator: metal, ", 1)
	require.Empty(t, find(t, strings.ReplaceAll(metal, "GPUS", "1")+service("  runtime: vllm\n")))
}

func TestLLMKubeFieldsThatBecomeNothing(t *testing.T) {
	cases := []struct{ name, spec, want string }{
		{"of another runtime", "  runtime: vllm\n  contextSize: 1\n  jinja: true\n  sglangConfig: {contextLength: 8}\n", "spec.contextSize spec.jinja spec.sglangConfig"},
		{"a limit that vLLM has", "  runtime: vllm\n  parallelSlots: 4\n", ""},
		{"and SGLang has not", "  runtime: sglang\n  parallelSlots: 4\n", "spec.parallelSlots"},
		{"switches off", "  runtime: vllm\n  vllmConfig: {enablePrefixCaching: false, enableExpertParallel: true}\n", "--enable-prefix-caching"},
		{"arguments of the generic runtime", "  runtime: sglang\n  args: [--foo]\n  resources: {gpuMemory: 8Gi}\n", "spec.resources.gpuMemory spec.args"},
		{"arguments that tell the mode", "  runtime: sglang\n  args: [--embedding]\n", ""},
		{"extra arguments of the generic runtime", "  runtime: generic\n  image: vllm/vllm-openai:v0.11.0\n  args: [--seed=1]\n  extraArgs: [--foo]\n", "spec.extraArgs"},
		{"empty", "  runtime: vllm\n  contextSize:\n", ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			found := find(t, strings.ReplaceAll(model, "GPUS", "1")+service(c.spec))
			require.Len(t, found, 1)
			var names []string
			for _, field := range found[0].Unread {
				names = append(names, field.Name)
				require.NotEmpty(t, field.Why)
				require.NotEmpty(t, field.Source)
			}
			require.Equal(t, c.want, strings.Join(names, " "))
		})
	}
}

func TestLLMKubeWithoutItsModelDoesNotKnowTheGPUs(t *testing.T) {
	found := find(t, service("  runtime: sglang\n  resources: {gpu: 1}\n"))
	require.Len(t, found, 1)
	require.Nil(t, found[0].GPUs.Count)
	words := found[0].CommandLine(nil)
	last := words[len(words)-1]
	require.True(t, last.Unknown)
	require.Equal(t, []string{"gpu.count"}, last.Needs)
	require.Equal(t, "--tp", words[len(words)-2].Text)
}

func TestLLMKubeModelIsFoundByNamespaceElseByName(t *testing.T) {
	other := strings.ReplaceAll(strings.ReplaceAll(model, "GPUS", "8"), "namespace: ai", "namespace: other")
	here := strings.ReplaceAll(model, "GPUS", "2")
	for manifests, want := range map[string]int64{
		other + here + service("  runtime: sglang\n"): 2,
		other + service("  runtime: sglang\n"):        8,
	} {
		found := find(t, manifests)
		require.Len(t, found, 1)
		require.NotNil(t, found[0].GPUs.Count)
		require.Equal(t, want, *found[0].GPUs.Count)
	}
	third := strings.ReplaceAll(other, "namespace: other", "namespace: third")
	found := find(t, other+third+service("  runtime: sglang\n"))
	require.Len(t, found, 1)
	require.Nil(t, found[0].GPUs.Count, "two Models of that name: neither is told")
}

func TestLLMKubeSharedDevicesAreNotWhole(t *testing.T) {
	one := strings.ReplaceAll(model, "GPUS", "1")
	for spec, whole := range map[string]bool{
		"  runtime: sglang\n": true,
		"  runtime: sglang\n  resources: {gpuSharing: {mode: shared}}\n": false,
	} {
		found := find(t, one+service(spec))
		require.Equal(t, whole, *found[0].GPUs.Whole, spec)
	}
}

func deployment(container, podSpec string) string {
	return `apiVersion: apps/v1
kind: Deployment
metadata: {name: d}
spec:
  template:
    spec:
` + podSpec + `      containers:
      - name: sidecar
        image: docker.io/vllm/helper:1
        command: [sleep, "1"]
      - name: server
` + container
}

func TestPodTemplateCommands(t *testing.T) {
	cases := []struct {
		name, container     string
		engine, mode, words string
		direct              bool
	}{
		{"module in command", "        command: [python3, -m, sglang.launch_server]\n        args: [--tp, 2]\n", "sglang", "launch", "--tp 2", true},
		{"everything in args", "        args: [python3, -u, -m, vllm.entrypoints.openai.api_server, --model, x]\n", "vllm", "api", "--model x", true},
		{"cli", "        command: [/usr/local/bin/vllm, serve, x]\n", "vllm", "serve", "x", true},
		{"sglang cli", "        command: [sglang, serve]\n        args: [--model-path, x]\n", "sglang", "serve", "--model-path x", true},
		{"official image", "        image: docker.io/vllm/vllm-openai:v0.11.0\n        args: [--model, x]\n", "vllm", "api", "--model x", true},
		{"a shell script", "        command: [sh, -c]\n        args: ['exec vllm serve x']\n", "vllm", "serve", "x", false},
		{"wrapper in front", "        command: [/launch.sh, vllm, serve, x]\n", "vllm", "serve", "x", false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			found := find(t, deployment(c.container, ""))
			require.Len(t, found, 1)
			s := found[0]
			require.Equal(t, []string{c.engine, c.mode, c.words, "server"}, []string{s.Engine, s.Mode, line(s, nil), s.Container})
			require.Equal(t, c.direct, *s.Direct)
			require.Equal(t, "spec.template.spec.containers[1]", s.Path.String())
		})
	}
}

func TestPodTemplateLeavesOthersAlone(t *testing.T) {
	for name, container := range map[string]string{
		"a text in a script":  "        command: [sh, -c, 'echo vllm serve x; grep vllm serve']\n",
		"a client":            "        command: [vllm, bench, serve]\n",
		"a router":            "        command: [python3, -m, sglang_router.launch_router]\n",
		"args of wrong type":  "        image: vllm/vllm-openai:v0.11.0\n        args: --model x\n",
		"nested args":         "        image: vllm/vllm-openai:v0.11.0\n        args: [[--model], x]\n",
		"a fork's entrypoint": "        image: ghcr.io/x/vllm-fork:v0.11.0\n        args: [--model, x]\n",
	} {
		t.Run(name, func(t *testing.T) {
			require.Empty(t, find(t, deployment(container, "")))
		})
	}
}

func TestPodTemplateGPUs(t *testing.T) {
	const run = "        command: [vllm, serve, x]\n"
	cases := []struct {
		name, container, podSpec string
		count                    int64
		vendor                   string
		whole                    bool
	}{
		{"limits", "        resources: {limits: {cpu: 2, nvidia.com/gpu: \"2\"}}\n", "", 2, "nvidia", true},
		{"requests", "        resources: {requests: {amd.com/gpu: 1}}\n", "", 1, "amd", true},
		{"generic plugin", "        resources: {limits: {squat.ai/dri: 1}}\n", "", 1, "", true},
		{"time slices", "        resources: {limits: {nvidia.com/gpu.shared: 1}}\n", "", 1, "nvidia", false},
		{"MIG", "        resources: {limits: {nvidia.com/mig-1g.5gb: 1}}\n", "", 1, "nvidia", false},
		{"privileged", "        resources: {limits: {amd.com/gpu: 1}}\n        securityContext: {privileged: true}\n", "", 1, "amd", false},
		{"host devices", "        resources: {limits: {amd.com/gpu: 1}}\n", "      volumes: [{name: kfd, hostPath: {path: /dev/kfd}}]\n", 1, "amd", false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			found := find(t, deployment(run+c.container, c.podSpec))
			require.Len(t, found, 1)
			g := found[0].GPUs
			require.Equal(t, c.count, *g.Count)
			require.Equal(t, c.vendor, g.Vendor)
			require.Equal(t, c.whole, *g.Whole)
		})
	}
	found := find(t, deployment(run+"        resources: {claims: [{name: gpus}]}\n", ""))
	require.Nil(t, found[0].GPUs.Count, "a claim says how many, not the container")
}

func TestOriginsLeadToWhereTheWordsStand(t *testing.T) {
	found := find(t, strings.ReplaceAll(model, "GPUS", "1")+service("  runtime: sglang\n  sglangConfig: {tensorParallelSize: 1}\n  extraArgs: [--pre-warm-nccl]\n  env: [{name: A, value: $(B)}, {name: C, valueFrom: {}}]\n"))
	origins := map[string]setting.Origin{}
	for _, word := range found[0].CommandLine(found[0].GPUs.Count) {
		origins[word.Text] = word.Origin
	}
	require.Equal(t, "spec.sglangConfig.tensorParallelSize", origins["--tp"].String())
	require.Equal(t, setting.Field, origins["--tp"].Kind)
	require.Equal(t, "spec.extraArgs[0]", origins["--pre-warm-nccl"].String())
	require.Equal(t, "llmkube", origins["--enable-metrics"].String())
	require.True(t, found[0].Env[0].Unknown)
	require.True(t, found[0].Env[1].Unknown)
	require.Equal(t, "spec.env[1]", found[0].Env[1].Path.String())
}

func TestObjectsWithADuplicateKeyAreLeftAlone(t *testing.T) {
	require.Empty(t, find(t, service("  runtime: sglang\n  runtime: vllm\n")))
}

func TestMergeKeysAndAliasesAreRead(t *testing.T) {
	found := find(t, `apiVersion: v1
kind: Pod
metadata: {name: p}
x: &base
  command: [vllm, serve, x]
args: &args [--tensor-parallel-size, "2"]
spec:
  containers:
  - <<: *base
    name: server
    args: *args
`)
	require.Len(t, found, 1)
	require.Equal(t, "x --tensor-parallel-size 2", line(found[0], nil))
}
