package server_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestClaimedDevices(t *testing.T) {
	const pod = `
apiVersion: v1
kind: Pod
metadata: {name: p, namespace: ai}
spec:
  resourceClaims: [{name: gpus, resourceClaimTemplateName: t}]
  containers: [{name: c, command: [vllm, serve, x], resources: {claims: [{name: gpus}]}}]
---
`
	template := func(requests string) string {
		return pod + "apiVersion: resource.k8s.io/v1\nkind: ResourceClaimTemplate\nmetadata: {name: t, namespace: ai}\nspec: {spec: {devices: {requests: " + requests + "}}}\n"
	}
	for requests, want := range map[string]int64{
		"[{name: g, exactly: {deviceClassName: gpu.nvidia.com, count: 2}}]":                                                       2,
		"[{name: g, deviceClassName: gpu.nvidia.com}]":                                                                            1,
		"[{name: a, deviceClassName: gpu.amd.com, count: 2}, {name: b, deviceClassName: gpu.amd.com}]":                            3,
		"[{name: g, exactly: {deviceClassName: gpu.nvidia.com, allocationMode: All}}]":                                            -1,
		"[{name: g, exactly: {deviceClassName: neuron.aws.com, count: 2}}]":                                                       -1,
		"[{name: a, deviceClassName: gpu.nvidia.com}, {name: b, deviceClassName: gpu.amd.com}]":                                   -1,
		"[{name: g, firstAvailable: [{deviceClassName: gpu.nvidia.com, count: 2}, {deviceClassName: gpu.nvidia.com, count: 4}]}]": -1,
	} {
		found := find(t, template(requests))
		require.Len(t, found, 1)
		if want < 0 {
			require.Nil(t, found[0].GPUs.Count, requests)
			continue
		}
		require.NotNil(t, found[0].GPUs.Count, requests)
		require.Equal(t, want, *found[0].GPUs.Count, requests)
		require.Nil(t, found[0].GPUs.Whole, "no device plugin hands them over")
	}
	require.Nil(t, find(t, pod)[0].GPUs.Count, "the template is not in the input")
}
