package e2e

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

// fleet holds every shape in which these rules find something, and settings
// that only look alike.
const fleet = `apiVersion: inference.llmkube.dev/v1alpha1
kind: Model
metadata: {name: coder, namespace: llm}
spec:
  hardware: {accelerator: cuda, gpu: {enabled: true, count: 2, vendor: nvidia, resourceName: nvidia.com/gpu}}
---
apiVersion: inference.llmkube.dev/v1alpha1
kind: InferenceService
metadata: {name: coder, namespace: llm}
spec:
  modelRef: coder
  runtime: sglang
  image: lmsysorg/sglang:v0.5.16
  sglangConfig: {tensorParallelSize: 2, contextLength: 8192}
  env:
    - {name: CUDA_VISIBLE_DEVICES, value: "0,1"}
  extraArgs: [--pre-warm-nccl, --disable-custom-all-reduce, --num-continuous-decode-steps, "4", --log-level=info]
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: chat, namespace: llm}
spec:
  template:
    spec:
      containers:
        - name: proxy
          image: nginx:1.29
          args: [--pre-warm-nccl]
        - name: server
          image: vllm/vllm-openai:v0.11.0
          args:
            - --model=/models/chat
            - --disable-custom-all-reduce
            - --max-model-len=8192
          env:
            - name: CUDA_VISIBLE_DEVICES
              value: "0"
          resources: {limits: {nvidia.com/gpu: 1}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: steps, namespace: llm}
spec:
  template:
    spec:
      containers:
        - name: server
          image: lmsysorg/sglang:v0.5.16
          command: [python3, -m, sglang.launch_server]
          args: [--model-path, /models/steps, --tp-size, "${TP:=1}", --pre-warm-nccl, --num-continuous-decode-steps=16]
          env:
            - {name: CUDA_VISIBLE_DEVICES, value: "1"}
          resources: {limits: {nvidia.com/gpu: 1}}
`

// removedFrom names what is gone: object, and the words of its lists.
func removedFrom(t *testing.T, before, after string) []string {
	t.Helper()
	var gone []string
	were, are := words(t, before), words(t, after)
	for name, count := range were {
		for range count - are[name] {
			gone = append(gone, name)
		}
	}
	for name, count := range are {
		require.LessOrEqual(t, count, were[name], "added: %s", name)
	}
	slices.Sort(gone)
	return gone
}

// words counts the scalars of sequences and the values of env entries of every
// object, without the order of keys and without comments.
func words(t *testing.T, text string) map[string]int {
	t.Helper()
	found := map[string]int{}
	for _, node := range nodes(t, text) {
		var o object
		require.NoError(t, node.Decode(&o))
		var walk func(*yaml.Node)
		walk = func(n *yaml.Node) {
			for _, child := range n.Content {
				switch {
				case n.Kind == yaml.SequenceNode && child.Kind == yaml.ScalarNode:
					found[o.Kind+"/"+o.Metadata.Name+" "+child.Value]++
				case n.Kind == yaml.SequenceNode && at(child, "value") != nil:
					found[o.Kind+"/"+o.Metadata.Name+" env/"+at(child, "name").Value]++
				}
				walk(child)
			}
		}
		walk(node)
	}
	return found
}

// The same manifest leads to the same removals through every door.
func TestSameDecisionsEverywhere(t *testing.T) {
	t.Parallel()
	const spec = "engine: {name: sglang, version: v0.5.16}\nselect: [{namespace: llm}]\nrules: {facts-disagree: off}\n"
	want := []string{
		"Deployment/steps --num-continuous-decode-steps=16",
		"InferenceService/coder --num-continuous-decode-steps",
		"InferenceService/coder 4",
		"InferenceService/coder env/CUDA_VISIBLE_DEVICES",
		"StatefulSet/chat --disable-custom-all-reduce",
		"StatefulSet/chat env/CUDA_VISIBLE_DEVICES",
	}
	slices.Sort(want)
	doors := map[string]func(t *testing.T, dir string) string{
		"trim -w on a file": func(t *testing.T, dir string) string {
			got := run(t, dir, "", trimtab, "trim", "-w", "-c", "trim.yaml", "server.yaml")
			require.Equal(t, 0, got.code, got.stderr)
			return read(t, filepath.Join(dir, "server.yaml"))
		},
		"trim -w on a folder that holds the config": func(t *testing.T, dir string) string {
			got := run(t, dir, "", trimtab, "trim", "-w", ".")
			require.Equal(t, 0, got.code, got.stderr)
			return read(t, filepath.Join(dir, "server.yaml"))
		},
		"filter": func(t *testing.T, dir string) string {
			got := run(t, dir, fleet, trimtab, "trim", "-c", "trim.yaml", "-")
			require.Equal(t, 0, got.code, got.stderr)
			return got.stdout
		},
		"function": func(t *testing.T, dir string) string {
			got := run(t, dir, list(config("Trim", spec), strings.Split(fleet, "---\n")...), trimtab)
			require.Equal(t, 0, got.code, got.stderr)
			return got.stdout
		},
		"kustomize": func(t *testing.T, dir string) string {
			got := build(t, kustomization(t, map[string]string{"server.yaml": fleet, "trim.yaml": functionTrim + "spec:\n" + indent(spec, "  ")}), ".")
			require.Equal(t, 0, got.code, got.stderr)
			return got.stdout
		},
		"kpt fn render": func(t *testing.T, dir string) string {
			pkg := kptPackage(t, map[string]string{"server.yaml": fleet, "trim.yaml": config("Trim", spec)})
			got, _ := render(t, pkg)
			require.Equal(t, 0, got.code, got.stderr)
			return read(t, filepath.Join(pkg, "server.yaml"))
		},
		"kpt fn eval": func(t *testing.T, dir string) string {
			got := run(t, dir, "", kpt(t), "fn", "eval", ".", "--exec", trimtab, "--fn-config", "trim.yaml")
			require.Equal(t, 0, got.code, got.stderr)
			return read(t, filepath.Join(dir, "server.yaml"))
		},
	}
	for name, door := range doors {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			write(t, dir, map[string]string{"server.yaml": fleet, "trim.yaml": config("Trim", spec)})
			require.Equal(t, want, removedFrom(t, fleet, door(t, dir)))
		})
	}
}

// F9: a value that Flux fills in later is not known: what depends on it is
// skipped, and says what it waits for.
func TestFluxF9UnresolvedValue(t *testing.T) {
	t.Parallel()
	got := run(t, t.TempDir(), fleet, trimtab, "verify", "-o", "json", "-")
	require.Equal(t, 0, got.code, got.stderr)
	waiting := map[string][]string{}
	for _, s := range parseReport(t, got.stdout).Skipped {
		waiting[s.Setting] = s.Needs
	}
	require.Equal(t, []string{"--tp-size"}, waiting["--pre-warm-nccl"])
}

// F4: `flux build` ends every document with a marker, the last one too.
func TestFluxF4TrailingMarker(t *testing.T) {
	t.Parallel()
	flux := bystander + "---\n" + deployment + "---\n"
	got := run(t, t.TempDir(), flux, trimtab, "verify", "-")
	require.Equal(t, 0, got.code, got.stderr)
	require.Equal(t, len(trimmed), strings.Count(got.stdout, ": warning inert-setting: "), got.stdout)
	filtered := run(t, t.TempDir(), flux, trimtab, "trim", "-")
	require.Equal(t, 0, filtered.code, filtered.stderr)
	requireOnlyRemoved(t, flux, filtered.stdout, 4)
}
