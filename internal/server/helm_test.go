package server_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

const release = `
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: vllm}
spec:
  values:
    defaultPodOptions:
      nodeSelector: {nvidia.com/gpu.product: NVIDIA-L4}
      securityContext: {runAsUser: 7}
    controllers:
      main:
        pod: {securityContext: {runAsUser: 8}}
        initContainers:
          warm: {image: {repository: vllm/vllm-openai, tag: v0.11.0}, args: [--model, x]}
        containers:
          app:
            image: {repository: vllm/vllm-openai, tag: v0.11.0@sha256:00}
            args: [--model, Qwen/Qwen3-8B]
            env:
              HF_HOME: /models
              TOKEN: {valueFrom: {secretKeyRef: {name: a, key: b}}}
              PORT: {value: 8000}
              ZONE: ${ZONE}
            probes: {liveness: {spec: {exec: {command: [vllm, serve]}}}}
            resources: {limits: {nvidia.com/gpu: 1}}
          side: {image: {repository: busybox}}
    persistence:
      models: {existingClaim: data, globalMounts: [{path: /models, subPath: hub}]}
      shm: {type: emptyDir, medium: Memory, sizeLimit: 8Gi, advancedMounts: {main: {app: [{path: /dev/shm}]}}}
      other: {type: emptyDir, advancedMounts: {main: {side: [{path: /other}]}}}
      off: {enabled: false, existingClaim: x, globalMounts: [{path: /off}]}
      cache: {existingClaim: cache}
`

func TestValuesOfTheAppTemplate(t *testing.T) {
	found, left := survey(t, release)
	require.Len(t, found, 1)
	s := found[0]
	require.Equal(t, []string{"vllm", "app", "vllm/vllm-openai:v0.11.0@sha256:00", "--model Qwen/Qwen3-8B"}, []string{s.Engine, s.Container, s.Image, line(s, nil)})
	require.Equal(t, "spec.values.controllers.main.containers.app", s.Path.String())
	require.Equal(t, "spec.values.controllers.main.containers.app.args[0]", s.CommandLine(nil)[0].Origin.String())
	require.True(t, s.OnePod)
	require.EqualValues(t, 1, *s.GPUs.Count)
	require.Equal(t, "NVIDIA-L4", s.Node["nvidia.com/gpu.product"])
	require.EqualValues(t, 8, *s.Pod.RunAsUser, "the controller's own before that of all")
	require.Len(t, s.Env, 4)
	require.Equal(t, "spec.values.controllers.main.containers.app.env.HF_HOME", s.Env[0].Path.String())
	require.True(t, s.Env[1].Unknown)
	require.Equal(t, "8000", s.Env[2].Value)
	require.True(t, s.Env[3].Unknown)
	require.Nil(t, s.EnvPath, "a mapping has no end to add an element to")
	var paths []string
	for _, m := range s.Mounts {
		paths = append(paths, m.Path+" "+m.Claim+" "+m.SubPath)
	}
	require.Equal(t, []string{"/models data hub", "/dev/shm  ", "/cache cache "}, paths)
	var why []string
	for _, l := range left {
		why = append(why, l.Container+": "+l.Why)
	}
	require.Equal(t, []string{"warm: an init container ends before the pod serves", "side: neither command, image nor options tell of an engine"}, why)
}

func TestValuesOfOtherCharts(t *testing.T) {
	found := find(t, `
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: app}
spec:
  sources:
  - {chart: other, helm: {valuesObject: {a: 1}}}
  - chart: x
    helm:
      valuesObject:
        server:
          image: lmsysorg/sglang:v0.5.9
          command: [python3, -m, sglang.launch_server]
          args: [--tp, "2"]
          resources: {limits: {nvidia.com/gpu: 2}}
          nodeSelector: {cloud.google.com/gke-accelerator: nvidia-l4}
`)
	require.Len(t, found, 1)
	require.Equal(t, "spec.sources[1].helm.valuesObject.server", found[0].Path.String())
	require.EqualValues(t, 2, *found[0].GPUs.Count)
	require.Equal(t, "nvidia-l4", found[0].Node["cloud.google.com/gke-accelerator"])
	require.Nil(t, found[0].EnvPath)
}
