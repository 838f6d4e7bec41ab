package fn_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// gpuPod is a Pod of vLLM 0.19.1 on NVIDIA GPUs: its words, the rest of its
// resources and what follows the container.
func gpuPod(words, gpus, resources, rest string) string {
	return pods(`      command: [vllm, serve, m, ` + words + `]
      resources:
        limits: {nvidia.com/gpu: ` + gpus + resources + rest)
}

const shmOf = `      volumeMounts: [{name: shm, mountPath: /dev/shm}]
  volumes: [{name: shm, emptyDir: {medium: Memory, sizeLimit: `

func TestSharedMemory(t *testing.T) {
	t.Parallel()
	tiered := func(bytes string) string {
		return `--kv-transfer-config, '{"kv_connector":"OffloadingConnector","kv_role":"kv_both","kv_connector_extra_config":{"spec_name":"TieringOffloadingSpec","cpu_bytes_to_use":` + bytes + `}}'`
	}
	for _, c := range []struct {
		name, manifest string
		want           []string
	}{
		{"one rank", gpuPod("--seed=1", "1", "}\n", ""), nil},
		{"two ranks", gpuPod("--tensor-parallel-size=2", "2", "}\n", ""), []string{"warning /dev/shm none"}},
		{"two stages", gpuPod("--pipeline-parallel-size=2", "2", "}\n", ""), []string{"warning /dev/shm none"}},
		{"ranks that nobody knows", gpuPod("--tensor-parallel-size=$(TP)", "2", "}\n", ""), nil},
		{"two ranks with a volume", gpuPod("--tensor-parallel-size=2", "2", "}\n", shmOf+"1Gi}}]\n"), nil},
		{"a volume without a limit", gpuPod("--tensor-parallel-size=2", "2", "}\n", "      volumeMounts: [{name: shm, mountPath: /dev/shm}]\n  volumes: [{name: shm, emptyDir: {medium: Memory}}]\n"), nil},
		{"a volume as small as none", gpuPod("--tensor-parallel-size=2", "2", "}\n", shmOf+"64Mi}}]\n"), []string{"warning /dev/shm none"}},
		{"the host's", gpuPod("--tensor-parallel-size=2", "2", "}\n", "  hostIPC: true\n"), nil},
		{"a tier as large as the volume", gpuPod(tiered("2147483648"), "1", "}\n", shmOf+"2Gi}}]\n"), []string{"warning /dev/shm none"}},
		{"a tier below the volume", gpuPod(tiered("2147483648"), "1", "}\n", shmOf+"3Gi}}]\n"), nil},
		{"ranks in other pods", `apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata: {name: l}
spec:
  leaderWorkerTemplate:
    size: 2
    workerTemplate:
      spec:
        containers:
          - name: server
            image: lmsysorg/sglang:v0.5.16
            command: [python3, -m, sglang.launch_server, --model-path=m, --tp-size=2, --nnodes=2, --node-rank=$(LWS_WORKER_INDEX), --dist-init-addr=x]
            resources: {limits: {nvidia.com/gpu: 1}}
`, nil},
		{"some ranks in other pods", `apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata: {name: l}
spec:
  leaderWorkerTemplate:
    size: 2
    workerTemplate:
      spec:
        containers:
          - name: server
            image: lmsysorg/sglang:v0.5.16
            command: [python3, -m, sglang.launch_server, --model-path=m, --tp-size=16, --nnodes=2, --node-rank=$(LWS_WORKER_INDEX), --dist-init-addr=x]
            resources: {limits: {nvidia.com/gpu: 8}}
`, []string{"warning /dev/shm none"}},
		{"an operator that mounts one", `apiVersion: nvidia.com/v1alpha1
kind: DynamoGraphDeployment
metadata: {name: d}
spec:
  services:
    worker:
      resources: {limits: {gpu: "2"}}
      extraPodSpec:
        mainContainer:
          image: vllm/vllm-openai:v0.19.1
          command: [python3, -m, dynamo.vllm, --model=m, --tensor-parallel-size=2]
`, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.want, found(t, c.manifest, "shm-too-small"))
		})
	}
}

func TestHostMemory(t *testing.T) {
	t.Parallel()
	const limits = "spec.containers[0].resources.limits.memory"
	const requests = "spec.containers[0].resources.requests.memory"
	hicache := func(words, resources string) string {
		return `apiVersion: v1
kind: Pod
metadata: {name: p}
spec:
  containers:
    - name: server
      image: lmsysorg/sglang:v0.5.16
      command: [python3, -m, sglang.launch_server, --model-path=m, ` + words + `]
      resources: ` + resources + "\n"
	}
	for _, c := range []struct {
		name, manifest string
		want           []string
	}{
		{"a volume that fills the limit", gpuPod("--seed=1", "1", ", memory: 16Gi}\n", shmOf+"15Gi}}]\n"), []string{"warning " + limits + " none"}},
		{"a volume that leaves enough", gpuPod("--seed=1", "1", ", memory: 16Gi}\n", shmOf+"8Gi}}]\n"), nil},
		{"a volume above the request, no limit", gpuPod("--seed=1", "1", "}\n        requests: {memory: 8Gi}\n", shmOf+"16Gi}}]\n"), []string{"warning " + requests + " none"}},
		{"a volume above the request, below the limit", gpuPod("--seed=1", "1", ", memory: 32Gi}\n        requests: {memory: 8Gi}\n", shmOf+"16Gi}}]\n"), nil},
		{"nothing is said", gpuPod("--seed=1", "1", "}\n", ""), nil},
		{"weights of the host above the limit", gpuPod("--cpu-offload-gb=16", "1", ", memory: 16Gi}\n", ""), []string{"warning " + limits + " none"}},
		{"weights of the host of each rank", gpuPod("--cpu-offload-gb=8, --tensor-parallel-size=2", "2", ", memory: 16Gi}\n", ""), []string{"warning " + limits + " none"}},
		{"a tier that all ranks share", gpuPod("--kv-offloading-size=8, --tensor-parallel-size=2", "2", ", memory: 16Gi}\n", ""), nil},
		{"a tier of another process", gpuPod("--kv-offloading-size=80, --kv-offloading-backend=lmcache", "1", ", memory: 16Gi}\n", ""), nil},
		{"weights of the host above the request", gpuPod("--cpu-offload-gb=16", "1", ", memory: 64Gi}\n        requests: {memory: 4Gi}\n", ""), []string{"warning " + requests + " none"}},
		{"weights of the host that nobody asks for", gpuPod("--cpu-offload-gb=16", "1", "}\n", ""), []string{"warning " + requests + " none"}},
		{"none", gpuPod("--cpu-offload-gb=0", "1", ", memory: 1Gi}\n", ""), nil},
		{"a size that nobody knows", gpuPod("--cpu-offload-gb=$(GB)", "1", ", memory: 1Gi}\n", ""), nil},
		{"a pool of the host for each rank", hicache("--enable-hierarchical-cache, --hicache-size=40, --tp-size=2", "{limits: {nvidia.com/gpu: 2, memory: 64Gi}}"), []string{"warning " + limits + " none"}},
		{"a pool of the host in decimal units", hicache("--enable-hierarchical-cache, --hicache-size=32", "{limits: {nvidia.com/gpu: 1, memory: 32Gi}}"), nil},
		{"a pool of a feature that is off", hicache("--hicache-size=80", "{limits: {nvidia.com/gpu: 1, memory: 32Gi}}"), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.want, found(t, c.manifest, "memory-request-too-small"))
		})
	}
}

// A limit of a volume is what it may hold, not what is in it.
func TestVolumesInMemoryMayFill(t *testing.T) {
	t.Parallel()
	require.Equal(t, []string{"the memory request of 8,589,934,592 B does not cover up to 17,179,869,184 B of memory at /dev/shm: " +
		"as they fill, the node runs short, and this pod is among the first to be evicted"},
		messages(t, gpuPod("--seed=1", "1", "}\n        requests: {memory: 8Gi}\n", shmOf+"16Gi}}]\n"), "memory-request-too-small"))
	require.Equal(t, []string{"the memory limit of 17,179,869,184 B leaves 1,073,741,824 B for the engine beside up to 16,106,127,360 B of memory at /dev/shm: " +
		"it is killed when they fill (assumed: an engine takes 2 GiB at least)"},
		messages(t, gpuPod("--seed=1", "1", ", memory: 16Gi}\n", shmOf+"15Gi}}]\n"), "memory-request-too-small"))
}
