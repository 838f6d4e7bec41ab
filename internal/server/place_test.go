package server_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trimtab/trimtab/internal/server"
	"github.com/trimtab/trimtab/internal/stream"
)

// survey reads manifests and returns servers and what was left.
func survey(t *testing.T, manifests string) ([]*server.Server, []server.Left) {
	t.Helper()
	source, err := stream.ParseDocuments("in.yaml", []byte(manifests))
	require.NoError(t, err)
	found, left, err := server.Survey(source.Items)
	require.NoError(t, err)
	return found, left
}

func TestContainersAtThePlacesOfTheirKind(t *testing.T) {
	const run = "{command: [python3, -m, sglang.launch_server, --tp, '2'], resources: {limits: {nvidia.com/gpu: 2}}}"
	cases := []struct {
		name, manifest string
		paths          []string
		onePod         bool
		nodes          int64 // 0: not told
	}{
		{"OME runtime", `
apiVersion: ome.io/v1beta1
kind: ClusterServingRuntime
metadata: {name: r}
spec: {engineConfig: {runner: ` + run + `}, routerConfig: {runner: {command: [python3, -m, sglang_router.launch_router]}}}
`, []string{"spec.engineConfig.runner"}, true, 0},
		{"OME service with prefill and decode", `
apiVersion: ome.io/v1beta1
kind: InferenceService
metadata: {name: r}
spec: {engine: {runner: ` + run + `}, decoder: {runner: ` + run + `}}
`, []string{"spec.engine.runner", "spec.decoder.runner"}, true, 0},
		{"OME leader and worker", `
apiVersion: ome.io/v1beta1
kind: ServingRuntime
metadata: {name: r}
spec: {engineConfig: {leader: {runner: ` + run + `}, worker: {runner: ` + run + `}}}
`, []string{"spec.engineConfig.leader.runner", "spec.engineConfig.worker.runner"}, false, 0},
		{"kthena role of one pod", `
apiVersion: workload.serving.volcano.sh/v1alpha1
kind: ModelServing
metadata: {name: r}
spec: {template: {roles: [{name: decode, workerReplicas: 0, entryTemplate: {spec: {containers: [` + run + `]}}}]}}
`, []string{"spec.template.roles[0].entryTemplate.spec.containers[0]"}, true, 1},
		{"LeaderWorkerSet", `
apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata: {name: r}
spec: {leaderWorkerTemplate: {size: 4, leaderTemplate: {spec: {containers: [` + run + `]}}, workerTemplate: {spec: {containers: [` + run + `]}}}}
`, []string{"spec.leaderWorkerTemplate.leaderTemplate.spec.containers[0]", "spec.leaderWorkerTemplate.workerTemplate.spec.containers[0]"}, false, 4},
		{"JobSet", `
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: r}
spec: {replicatedJobs: [{template: {spec: {template: {spec: {containers: [` + run + `]}}}}}]}
`, []string{"spec.replicatedJobs[0].template.spec.template.spec.containers[0]"}, false, 0},
		{"Argo Rollout", `
apiVersion: argoproj.io/v1alpha1
kind: Rollout
metadata: {name: r}
spec: {template: {spec: {containers: [` + run + `]}}}
`, []string{"spec.template.spec.containers[0]"}, true, 0},
		{"a kind nobody knows", `
apiVersion: example.org/v1
kind: Fleet
metadata: {name: r}
spec: {groups: [{pod: {containers: [` + run + `]}}]}
`, []string{"spec.groups[0].pod.containers[0]"}, false, 0},
		{"Dynamo of two nodes", `
apiVersion: nvidia.com/v1alpha1
kind: DynamoGraphDeployment
metadata: {name: r}
spec: {services: {decode: {multinode: {nodeCount: 2}, resources: {limits: {gpu: "2"}}, extraPodSpec: {mainContainer: {command: [python3, -m, dynamo.sglang, --tp, '2']}}}}}
`, []string{"spec.services.decode.extraPodSpec.mainContainer"}, false, 2},
		{"a sidecar that runs along", `
apiVersion: apps/v1
kind: Deployment
metadata: {name: r}
spec: {template: {spec: {containers: [{name: app}], initContainers: [{restartPolicy: Always, ` + run[1:] + `]}}}
`, []string{"spec.template.spec.initContainers[0]"}, true, 0},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			found, _ := survey(t, c.manifest)
			var paths []string
			for _, s := range found {
				paths = append(paths, s.Path.String())
				require.Equal(t, "--tp 2", line(s, nil))
				require.Equal(t, c.onePod, s.OnePod)
				require.NotNil(t, s.GPUs.Count)
				require.EqualValues(t, 2, *s.GPUs.Count)
				require.Equal(t, "nvidia", s.GPUs.Vendor)
				if c.nodes == 0 {
					require.Nil(t, s.Nodes)
				} else {
					require.NotNil(t, s.Nodes)
					require.Equal(t, c.nodes, *s.Nodes)
				}
			}
			require.Equal(t, c.paths, paths)
		})
	}
}

func TestAServerIsKnownByItsOptionsWhereTheImageDoesNotTell(t *testing.T) {
	cases := []struct {
		name, container string
		found           bool
	}{
		{"a fork", "        image: example.org/team/vllm-openai-ubi9:0.4.2\n        args: [--model, /mnt/models, --max-model-len, '6144']\n", true},
		{"a placeholder", "        image: ${VLLM_IMAGE}\n        args: [--model=$(MODEL), --tensor-parallel-size=8]\n", true},
		{"one option says little", "        image: example.org/vllm:1\n        args: [--port, '8000']\n", false},
		{"options of another program", "        image: example.org/vllm:1\n        args: [--model-id, x, --num-shard, '2', --port, '80']\n", false},
		{"a router", "        image: example.org/vllm-router:1\n        args: [--port, '8000', --host, 0.0.0.0]\n", false},
		{"a benchmark", "        image: example.org/vllm-bench:1\n        args: [--model, x, --tokenizer, x]\n", false},
		{"a name of no engine", "        image: example.org/app:1\n        args: [--model, x, --max-model-len, '1']\n", false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			found := find(t, deployment(c.container, ""))
			if !c.found {
				require.Empty(t, found)
				return
			}
			require.Len(t, found, 1)
			require.Equal(t, "vllm", found[0].Engine)
			require.Nil(t, found[0].Direct, "the image decides what runs")
		})
	}
}

func TestWhatIsLeftIsSaidWithTheReason(t *testing.T) {
	cases := map[string]string{
		"        command: [bash, -lc, 'vllm serve \"x']\n":           "the shell script does not parse, line:column 1:12: reached EOF without closing quote `\"`",
		"        command: [sh, -c, 'vllm serve {{- .Model }}']\n":    "its shell script is a template",
		"        command: [sh, -c, 'sleep 1; echo vllm']\n":          "its shell script starts no engine",
		"        command: [vllm, bench, serve]\n":                    "its command starts no engine",
		"        image: lmsysorg/sglang:v0.5.9\n        args: []\n":  "the image starts no engine without a command",
		"        image: vllm/vllm-openai:v0.11.0\n        args: x\n": "its args are no list of texts",
	}
	for container, why := range cases {
		found, left := survey(t, deployment(container, ""))
		require.Empty(t, found)
		require.Len(t, left, 2, "the sidecar, too")
		require.Equal(t, "server", left[1].Container)
		require.Equal(t, why, left[1].Why)
	}
	found, _ := survey(t, service("  runtime: vllm\n  command: [bash, -c, exec vllm serve x]\n"))
	require.Len(t, found, 1, "the operator starts the user's script")
	_, left := survey(t, service("  runtime: tgi\n"))
	require.Len(t, left, 1)
	require.Equal(t, "the runtime tgi is neither vllm nor sglang", left[0].Why)
}

func TestInitContainersAreNoServers(t *testing.T) {
	found, left := survey(t, `
apiVersion: v1
kind: Pod
metadata: {name: p}
spec:
  initContainers: [{name: warm, command: [vllm, serve, x]}]
  containers: [{name: app, image: example.org/app}]
`)
	require.Empty(t, found)
	require.Equal(t, "an init container ends before the pod serves", left[1].Why)
}

func TestTheCheckpointIsNamedByTheArguments(t *testing.T) {
	for container, want := range map[string]string{
		"        command: [vllm, serve, Qwen/Qwen3-8B, --port, '1']\n":                                                     "Qwen/Qwen3-8B",
		"        command: [vllm, serve, --model-tag, Qwen/Qwen3-8B]\n":                                                     "Qwen/Qwen3-8B",
		"        command: [python3, -m, sglang.launch_server, --model-path=Qwen/Qwen3-8B]\n":                               "Qwen/Qwen3-8B",
		"        command: [vllm, serve, $(MODEL)]\n        env: [{name: MODEL, value: Qwen/Qwen3-8B}]\n":                   "Qwen/Qwen3-8B",
		"        command: [vllm, serve, $(MODEL)]\n        env: [{name: MODEL, valueFrom: {}}]\n":                          "",
		"        command: [vllm, serve, $$(MODEL)]\n        env: [{name: MODEL, value: Qwen/Qwen3-8B}]\n":                  "",
		"        command: [vllm, serve, /mnt/models/Qwen3-8B]\n":                                                           "",
		"        command: [vllm, serve, s3://bucket/Qwen3-8B]\n":                                                           "",
		"        command: [python3, -m, vllm.entrypoints.openai.api_server, --model, /data, --model, Qwen/Qwen3-8B@abc]\n": "Qwen/Qwen3-8B@abc",
	} {
		found := find(t, deployment(container, ""))
		require.Len(t, found, 1)
		require.Equal(t, want, found[0].ModelSource, container)
	}
}
