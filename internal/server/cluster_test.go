package server_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// In a Ray cluster ranks run in other pods, also where a Deployment is its head.
func TestPodsOfARayCluster(t *testing.T) {
	const serve = "vllm serve m --tensor-parallel-size 16"
	const script = "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: scripts}\ndata:\n  run.sh: |\n    #!/bin/bash\n    ray start --head\n    " + serve + "\n"
	for name, c := range map[string]struct {
		container, pod, after string
		onePod                bool
	}{
		"alone":                {"        command: [sh, -c, '" + serve + " --distributed-executor-backend ray']\n", "", "", true},
		"a name alone":         {"        command: [sh, -c, 'echo ray; " + serve + "']\n", "", "", true},
		"its head":             {"        command: [sh, -c, 'ray start --head --port=6379; " + serve + "']\n", "", "", false},
		"joins one":            {"        command: [bash, -c, \"ray  start --address=head:6379 && " + serve + "\"]\n", "", "", false},
		"by vLLM's own script": {"        command: [bash, -c, 'bash /vllm-workspace/examples/online_serving/multi-node-serving.sh leader; " + serve + "']\n", "", "", false},
		"beside the server":    {"        image: vllm/vllm-openai:v0.11.0\n        args: [m]\n      - {name: ray, image: rayproject/ray, command: [ray, start, --head, --block]}\n", "", "", false},
		"after its start":      {"        image: vllm/vllm-openai:v0.11.0\n        args: [m]\n        lifecycle: {postStart: {exec: {command: [sh, -c, 'ray start --head']}}}\n", "", "", false},
		"in a mounted script": {
			"        command: [bash, /s/run.sh]\n        volumeMounts: [{name: s, mountPath: /s}]\n",
			"      volumes: [{name: s, configMap: {name: scripts}}]\n", script, false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			found := find(t, deployment(c.container, c.pod)+c.after)
			require.Len(t, found, 1)
			require.Equal(t, c.onePod, found[0].OnePod)
		})
	}
}
