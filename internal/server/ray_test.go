package server_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trimtab/trimtab/internal/setting"
)

const rayService = `
apiVersion: ray.io/v1
kind: RayService
metadata: {name: r}
spec:
  serveConfigV2: |
    applications:
    - import_path: ray.serve.llm:build_openai_app
      args:
        llm_configs:
        - model_loading_config: {model_id: qwen, model_source: Qwen/Qwen3-8B}
          accelerator_type: L4
          engine_kwargs: {max_model_len: 4096, tensor_parallel_size: 2, enforce_eager: true, enable_x: false, hf_overrides: {a: 1}}
        - /configs/other.yaml
  rayClusterConfig:
    headGroupSpec: {template: {spec: {containers: [{name: head, image: rayproject/ray-llm:2.56.0}]}}}
    workerGroupSpecs:
    - template: {spec: {containers: [{name: worker, image: 'rayproject/ray-llm:2.56.0', resources: {limits: {nvidia.com/gpu: 2}}}]}}
`

func TestRayServeModels(t *testing.T) {
	found := find(t, rayService)
	require.Len(t, found, 1)
	s := found[0]
	require.Equal(t, []string{"vllm", "qwen", "Qwen/Qwen3-8B", "rayproject/ray-llm:2.56.0", "L4", "spec.serveConfigV2"},
		[]string{s.Engine, s.Container, s.ModelSource, s.Image, s.GPUs.Card, s.Path.String()})
	require.Equal(t, `--model Qwen/Qwen3-8B --enforce-eager --hf-overrides {"a":1} --max-model-len 4096 --tensor-parallel-size 2`, line(s, nil))
	require.EqualValues(t, 2, *s.GPUs.Count)
	require.False(t, s.OnePod)
	last := s.CommandLine(nil)[8]
	require.Equal(t, setting.Bound, last.Origin.Kind)
	require.Equal(t, "spec.serveConfigV2, applications[0].args.llm_configs[0].engine_kwargs.tensor_parallel_size", last.Origin.String())
}
