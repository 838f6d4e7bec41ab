package facts_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trimtab/trimtab/internal/catalogue"
	"github.com/trimtab/trimtab/internal/config"
	"github.com/trimtab/trimtab/internal/facts"
	"github.com/trimtab/trimtab/internal/server"
	"github.com/trimtab/trimtab/internal/stream"
)

// gathered are the facts of the one server in a manifest.
func gathered(t *testing.T, manifest string, spec config.Spec) *facts.Gathered {
	t.Helper()
	source, err := stream.ParseDocuments("in.yaml", []byte(manifest))
	require.NoError(t, err)
	servers, err := server.Find(source.Items)
	require.NoError(t, err)
	require.Len(t, servers, 1)
	engine, err := catalogue.Load(servers[0].Engine)
	require.NoError(t, err)
	g, err := facts.Gather(servers[0], engine, &spec, &config.Overrides{})
	require.NoError(t, err)
	return g
}

func pod(spec, container string) string {
	return "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n" + spec + "  containers:\n  - command: [vllm, serve, x]\n    image: vllm/vllm-openai:v0.11.0\n" + container
}

func TestTheCardByTheLabelsOfTheNode(t *testing.T) {
	affinity := func(terms string) string {
		return "  affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: " + terms + "}}}\n"
	}
	cases := []struct{ name, spec, container, card, vendor string }{
		{"GKE", "  nodeSelector: {cloud.google.com/gke-accelerator: nvidia-l4}\n", "", "L4", "nvidia"},
		{"GPU feature discovery", "  nodeSelector: {nvidia.com/gpu.product: NVIDIA-H100-80GB-HBM3}\n", "", "H100-SXM", "nvidia"},
		{"shared in time", "  nodeSelector: {nvidia.com/gpu.product: NVIDIA-A10G-SHARED}\n", "", "A10G", "nvidia"},
		{"Karpenter", "  nodeSelector: {karpenter.k8s.aws/instance-gpu-name: l40s}\n", "", "L40S", "nvidia"},
		{"AMD's labeller", "  nodeSelector: {amd.com/gpu.product-name: AMD_Instinct_MI300X_OAM}\n", "", "MI300X", "amd"},
		{"AMD's device id", "  nodeSelector: {beta.amd.com/gpu.device-id: 74a5}\n", "", "MI325X", "amd"},
		{"affinity", affinity("[{matchExpressions: [{key: nvidia.com/gpu.product, operator: In, values: [NVIDIA-L4]}]}]"), "", "L4", "nvidia"},
		{"two values are none", affinity("[{matchExpressions: [{key: nvidia.com/gpu.product, operator: In, values: [NVIDIA-L4, NVIDIA-A10]}]}]"), "", "", ""},
		{"alternatives that differ", affinity("[{matchExpressions: [{key: nvidia.com/gpu.product, operator: In, values: [NVIDIA-L4]}]}, {matchExpressions: [{key: x, operator: Exists}]}]"), "", "", ""},
		{"not that card", affinity("[{matchExpressions: [{key: nvidia.com/gpu.product, operator: NotIn, values: [NVIDIA-L4]}]}]"), "", "", ""},
		{"the maker alone", "  nodeSelector: {amd.com/gpu: 'true'}\n", "", "", "amd"},
		{"a label that says no", "  nodeSelector: {nvidia.com/gpu.present: 'false'}\n", "", "", ""},
		{"a name of two cards", "  nodeSelector: {karpenter.k8s.aws/instance-gpu-name: a100}\n", "", "", ""},
		{"a slice is not the card", "  nodeSelector: {cloud.google.com/gke-accelerator: nvidia-a100-80gb}\n", "    resources: {limits: {nvidia.com/mig-1g.10gb: 1}}\n", "", "nvidia"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			set := gathered(t, pod(c.spec, c.container), config.Spec{}).Set
			name, _ := set["gpu.name"].Value.(string)
			vendor, _ := set["gpu.vendor"].Value.(string)
			require.Equal(t, c.card, name)
			require.Equal(t, c.vendor, vendor)
			_, told := set["gpu.memory"]
			require.Equal(t, c.card != "", told)
		})
	}
}

func TestTheStatedCardWinsOverTheNode(t *testing.T) {
	manifest := pod("  nodeSelector: {nvidia.com/gpu.product: NVIDIA-L4}\n", "")
	same := gathered(t, manifest, config.Spec{GPU: config.GPU{Name: "l4"}})
	require.Empty(t, same.Disagreements)
	require.Equal(t, "l4", same.Set["gpu.name"].Value)
	other := gathered(t, manifest, config.Spec{GPU: config.GPU{Name: "a10"}})
	require.Equal(t, "a10", other.Set["gpu.name"].Value)
	require.Equal(t, int64(86), other.Set["gpu.cc"].Value)
	require.NotEmpty(t, other.Disagreements)
}

func TestTheArchitectureAnImageIsBuiltFor(t *testing.T) {
	for image, want := range map[string]any{
		"example.org/sglang:v0.5.15-gfx1201":          "gfx1201",
		"example.org/vllm:v0.11.0-gfx90a@sha256:00":   "gfx90a",
		"example.org/gfx1201:v0.11.0":                 nil,
		"rocm/vllm:rocm7.13.0_gfx120X-all_vllm_0.9.1": nil,
		"vllm/vllm-openai:v0.11.0":                    nil,
	} {
		manifest := "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{command: [vllm, serve, x], image: '" + image + "'}]}\n"
		require.Equal(t, want, gathered(t, manifest, config.Spec{}).Set["gpu.arch"].Value, image)
	}
}

func TestWhatThePodHas(t *testing.T) {
	volume := func(source string) string {
		return "  volumes: [{name: shm, " + source + "}]\n"
	}
	const mount = "    volumeMounts: [{name: shm, mountPath: /dev/shm/}]\n"
	cases := []struct {
		name, spec, container string
		shm                   any
	}{
		{"the container's own", "", "", int64(64 << 20)},
		{"in memory with a limit", volume("emptyDir: {medium: Memory, sizeLimit: 8Gi}"), mount, int64(8 << 30)},
		{"in memory without a limit", volume("emptyDir: {medium: Memory}"), mount, nil},
		{"on a disk", volume("emptyDir: {sizeLimit: 8Gi}"), mount, nil},
		{"the host's", "  hostIPC: true\n", "", nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.shm, gathered(t, pod(c.spec, c.container), config.Spec{}).Set["server.shm"].Value)
		})
	}
	set := gathered(t, pod("", "    resources: {limits: {memory: 8Gi}, requests: {memory: 500M}}\n"), config.Spec{}).Set
	require.Equal(t, int64(8<<30), set["server.memoryLimit"].Value)
	require.Equal(t, int64(500e6), set["server.memoryRequest"].Value)
}
