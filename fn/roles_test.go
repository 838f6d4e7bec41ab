package fn_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trimtab/trimtab/fn"
	"github.com/trimtab/trimtab/internal/config"
	"github.com/trimtab/trimtab/internal/stream"
)

// group is a LeaderWorkerSet of SGLang with the words of both parts.
func group(leader, worker string) string {
	part := func(image, words string) string {
		return `
      spec:
        containers:
          - name: server
            image: ` + image + `
            command: [python3, -m, sglang.launch_server, --nnodes=2, --dist-init-addr=x:1, ` + words + `]
            resources: {limits: {nvidia.com/gpu: 8}}`
	}
	return `apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata: {name: l}
spec:
  leaderWorkerTemplate:
    size: 2
    leaderTemplate:` + part("lmsysorg/sglang:v0.5.16", leader) + `
    workerTemplate:` + part("lmsysorg/sglang:v0.5.16", worker) + "\n"
}

// half is one Deployment of a service, by its name, image and command.
func half(name, image, command string) string {
	return `---
apiVersion: apps/v1
kind: Deployment
metadata: {name: ` + name + `}
spec:
  template:
    metadata: {labels: {app: chat}}
    spec:
      containers:
        - name: server
          image: ` + image + `
          command: [` + command + "]\n"
}

func TestRolesDisagree(t *testing.T) {
	t.Parallel()
	const service = "---\napiVersion: v1\nkind: Service\nmetadata: {name: chat}\nspec: {selector: {app: chat}, ports: [{port: 8000}]}\n"
	serve := func(words string) string { return "vllm, serve, " + words }
	sgl := func(words string) string { return "python3, -m, sglang.launch_server, --model-path=m, " + words }
	connector := func(name, role string) string {
		return `--kv-transfer-config, '{"kv_connector":"` + name + `","kv_role":"` + role + `"}'`
	}
	vllms := func(prefill, decode string) string {
		return half("c-prefill", vllmImage, serve(prefill)) + half("c-decode", vllmImage, serve(decode))
	}
	sgls := func(prefill, decode string) string {
		return half("c-prefill", sglangImage, sgl(prefill)) + half("c-decode", sglangImage, sgl(decode))
	}
	for _, c := range []struct {
		name, manifest string
		want           []string
	}{
		{"ranks that agree", group("--model-path=m, --tp-size=16, --node-rank=0", "--model-path=m, --tp-size=16, --node-rank=1"), nil},
		{"ranks of two models", group("--model-path=a/m, --tp-size=16", "--model-path=a/n, --tp-size=16"), []string{"warning --model-path none"}},
		{"ranks of one model, by two names", group("--model-path=a/m, --tp-size=16", "--model-path=/models/m, --tp-size=16"), nil},
		{"ranks of two sizes", group("--model-path=m, --tp-size=16", "--model-path=m, --tp-size=8"), []string{"warning --tp-size none"}},
		{"a rank with the default size", group("--model-path=m, --tp-size=16", "--model-path=m"), []string{"warning --tp-size none"}},
		{"ranks of two types", group("--model-path=m, --dtype=half", "--model-path=m, --dtype=bfloat16"), []string{"warning --dtype none"}},
		{"one type by two names", group("--model-path=m, --dtype=half", "--model-path=m, --dtype=float16"), nil},
		{"a type that the checkpoint decides", group("--model-path=m, --dtype=half", "--model-path=m"), nil},
		{"a switch of one rank", group("--model-path=m, --disable-radix-cache", "--model-path=m"), []string{"warning --disable-radix-cache none"}},
		{"a value that nobody knows", group("--model-path=m, --tp-size=$(TP)", "--model-path=m, --tp-size=8"), nil},
		{"what each rank has of its own", group("--model-path=m, --node-rank=0, --host=0.0.0.0", "--model-path=m, --node-rank=1"), nil},

		{"halves that agree", vllms("m, "+connector("NixlConnector", "kv_producer"), "m, "+connector("NixlConnector", "kv_consumer")), nil},
		{"halves of two models", vllms("a/m, "+connector("NixlConnector", "kv_both"), "a/n, "+connector("NixlConnector", "kv_both")), []string{"warning --model none"}},
		{"halves through two connectors", vllms("m, "+connector("NixlConnector", "kv_producer"), "m, "+connector("P2pNcclConnector", "kv_consumer")), []string{"warning --kv-transfer-config none"}},
		{"two producers", vllms("m, "+connector("NixlConnector", "kv_producer"), "m, "+connector("NixlConnector", "kv_producer")), []string{"warning --kv-transfer-config none"}},
		{"both of both", vllms("m, "+connector("NixlConnector", "kv_both"), "m, "+connector("NixlConnector", "kv_both")), nil},
		{"halves of two sizes, which the connector maps", vllms("m, --tensor-parallel-size=2, "+connector("NixlConnector", "kv_both"), "m, --tensor-parallel-size=4, "+connector("NixlConnector", "kv_both")), nil},
		{"halves of two sizes, which it does not", vllms("m, --tensor-parallel-size=2, "+connector("P2pNcclConnector", "kv_producer"), "m, --tensor-parallel-size=4, "+connector("P2pNcclConnector", "kv_consumer")),
			[]string{"warning --tensor-parallel-size none"}},
		{"blocks of two sizes", vllms("m, --block-size=64", "m, --block-size=128"), []string{"warning --block-size none"}},
		{"two types of the cache", vllms("m, --kv-cache-dtype=fp8", "m, --kv-cache-dtype=bfloat16"), []string{"warning --kv-cache-dtype none"}},
		{"two images", half("c-prefill", vllmImage, serve("m")) + half("c-decode", "vllm/vllm-openai:v0.20.0", serve("m")),
			[]string{"warning spec.template.spec.containers[0].image none"}},
		{"one release, built twice", half("c-prefill", vllmImage, serve("m")) + half("c-decode", "vllm/vllm-openai-rocm:v0.19.1", serve("m")),
			[]string{"info spec.template.spec.containers[0].image none"}},
		{"pages of two sizes", sgls("--disaggregation-mode=prefill, --page-size=64", "--disaggregation-mode=decode, --page-size=1"), []string{"warning --page-size none"}},
		{"pages of two sizes with a sparse cache", sgls("--disaggregation-mode=prefill, --page-size=64", "--disaggregation-mode=decode, --page-size=1, --enable-hisparse"), nil},
		{"a default backend against another", sgls("--disaggregation-mode=prefill", "--disaggregation-mode=decode, --disaggregation-transfer-backend=nixl"),
			[]string{"warning --disaggregation-transfer-backend none"}},
		{"twice the same half", sgls("--disaggregation-mode=prefill", "--disaggregation-mode=prefill"), []string{"warning --disaggregation-mode none"}},
		{"halves of two services", half("a-prefill", sglangImage, sgl("--disaggregation-mode=prefill, --page-size=64")) +
			"---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: b-decode}\nspec:\n  template:\n    spec:\n      containers:\n        - name: server\n          image: " + sglangImage +
			"\n          command: [" + sgl("--disaggregation-mode=decode, --page-size=1") + "]\n", nil},

		{"behind one Service", half("one", vllmImage, serve("a/m, --served-model-name=chat")) + half("two", vllmImage, serve("a/n, --served-model-name=chat")) + service, nil},
		{"behind one Service by two names", half("one", vllmImage, serve("a/m")) + half("two", vllmImage, serve("a/n")) + service, []string{"warning --served-model-name none"}},
		{"of no common Service", half("one", vllmImage, serve("a/m")) + half("two", vllmImage, serve("a/n")), nil},
		{"two engines in one pod", pods("      command: [vllm, serve, a/m]\n    - name: second\n      image: " + vllmImage + "\n      command: [vllm, serve, a/n, --port=8001]\n"), nil},
		{"parts of one object", `apiVersion: nvidia.com/v1alpha1
kind: DynamoGraphDeployment
metadata: {name: d}
spec:
  services:
    VllmDecodeWorker:
      extraPodSpec:
        mainContainer: {image: acme/d, command: [python3, -m, dynamo.vllm, --model=a/m, --block-size=64]}
    VllmPrefillWorker:
      extraPodSpec:
        mainContainer: {image: acme/d, command: [python3, -m, dynamo.vllm, --model=a/m, --block-size=32, --is-prefill-worker]}
`, []string{"warning --block-size none"}},
		{"an entry and its workers", `apiVersion: workload.serving.volcano.sh/v1alpha1
kind: ModelServing
metadata: {name: k}
spec:
  template:
    roles:
      - name: serve
        workerReplicas: 1
        entryTemplate: {spec: {containers: [{name: e, image: vllm/vllm-openai:v0.19.1, command: [vllm, serve, m, --data-parallel-size=2]}]}}
        workerTemplate: {spec: {containers: [{name: w, image: vllm/vllm-openai:v0.19.1, command: [vllm, serve, m, --data-parallel-size=4, --headless]}]}}
`, []string{"warning --data-parallel-size none"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.want, found(t, c.manifest, "roles-disagree"), "%v", messages(t, c.manifest, "roles-disagree"))
		})
	}
}

// TestRolesOfOneFolder: two files of one folder describe one service, those of
// two folders two clusters.
func TestRolesOfOneFolder(t *testing.T) {
	t.Parallel()
	serve := func(words string) string { return "vllm, serve, m, " + words }
	for second, want := range map[string]int{"dev/decode.yaml": 1, "prod/decode.yaml": 0} {
		var sources []*stream.Source
		for name, text := range map[string]string{
			"dev/prefill.yaml": half("c-prefill", vllmImage, serve("--block-size=64")),
			second:             half("c-decode", vllmImage, serve("--block-size=128")),
		} {
			source, err := stream.ParseDocuments(name, []byte(text))
			require.NoError(t, err)
			sources = append(sources, source)
		}
		outcome, err := fn.Process(fn.Input{Sources: sources, Mode: config.Verify})
		require.NoError(t, err)
		count := 0
		for _, f := range outcome.Report.Findings {
			if f.Rule == "roles-disagree" {
				count++
			}
		}
		require.Equal(t, want, count, second)
	}
}
