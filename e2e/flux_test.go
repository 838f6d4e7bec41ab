package e2e

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	flux "github.com/fluxcd/pkg/kustomize"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/kustomize/api/provider"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// fluxKustomization is a Flux Kustomization with variables; nil gives it no
// postBuild.
func fluxKustomization(variables map[string]any) unstructured.Unstructured {
	spec := map[string]any{"path": "./"}
	if variables != nil {
		spec["postBuild"] = map[string]any{"substitute": variables}
	}
	return unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "kustomize.toolkit.fluxcd.io/v1", "kind": "Kustomization",
		"metadata": map[string]any{"name": "chat", "namespace": "flux-system"}, "spec": spec,
	}}
}

// substituted is what Flux applies of one manifest.
func substituted(t *testing.T, manifest string, variables map[string]any, options ...flux.SubstituteOption) string {
	t.Helper()
	resource, err := provider.NewDefaultDepProvider().GetResourceFactory().FromBytes([]byte(manifest))
	require.NoError(t, err)
	changed, err := flux.SubstituteVariables(context.Background(), nil, fluxKustomization(variables), resource, options...)
	require.NoError(t, err)
	if changed == nil {
		changed = resource // nothing to substitute
	}
	text, err := changed.AsYAML()
	require.NoError(t, err)
	return string(text)
}

// F1: Flux runs no functions, so a kustomization that names one must not be the
// one it reads.
func TestFluxF1RunsNoFunction(t *testing.T) {
	dir := kustomization(t, nil)
	_, err := flux.Build(filesys.MakeFsOnDisk(), dir)
	require.ErrorContains(t, err, "external plugins disabled")

	write(t, dir, map[string]string{"kustomization.yaml": "resources: [server.yaml]\n"})
	built, err := flux.Build(filesys.MakeFsOnDisk(), dir)
	require.NoError(t, err)
	text, err := built.AsYaml()
	require.NoError(t, err)
	require.Contains(t, string(text), "--pre-warm-nccl")
}

// F2: of a folder without a kustomization Flux applies every file; a config that
// carries local-config is none of them.
func TestFluxF2ConfigIsNoResource(t *testing.T) {
	dir := kustomization(t, nil)
	require.NoError(t, os.Remove(filepath.Join(dir, "kustomization.yaml")))
	require.NoError(t, os.Remove(filepath.Join(dir, "trimtab")))
	_, err := flux.NewGenerator(dir, fluxKustomization(nil)).WriteFile(dir)
	require.NoError(t, err)
	built, err := flux.Build(filesys.MakeFsOnDisk(), dir)
	require.NoError(t, err)
	text, err := built.AsYaml()
	require.NoError(t, err)
	require.Contains(t, string(text), "--pre-warm-nccl")
	require.NotContains(t, string(text), "trimtab.dev")
}

// F3: what Flux would apply goes through a pipe into verify.
func TestFluxF3PipeIntoVerify(t *testing.T) {
	server := substituted(t, deployment, map[string]any{"MODEL": "chat"})
	got := run(t, t.TempDir(), server, trimtab, "verify", "-")
	require.Zero(t, got.code, got.stderr)
	require.Contains(t, got.stdout, "warning inert-setting: --pre-warm-nccl")
}

// F5, F6, F7: what trimtab writes is the same under every kind of substitution.
func TestFluxF5GeneratedTextIsTheSame(t *testing.T) {
	jobs := 0
	for _, document := range documentsOf(t, oneJob(t, onlyPrune, tiered("chat", "/pages/chat-2", "pages"))) {
		if document.kind != "CronJob" {
			continue
		}
		jobs++
		plain := substituted(t, document.text, nil)
		require.Equal(t, plain, substituted(t, document.text, map[string]any{"d": "x", "name": "y", "dir": "z"}))
		require.Equal(t, plain, substituted(t, document.text, map[string]any{"CLUSTER": "home"}, flux.SubstituteWithStrict(true)))
	}
	require.NotZero(t, jobs)
}

// F8: an item that is wholly a variable with a number for its default becomes a
// number, whatever quotes it has; that is what substitution-hazard says.
func TestFluxF8WhollyAVariable(t *testing.T) {
	const pod = `apiVersion: v1
kind: Pod
metadata: {name: p}
spec:
  containers:
    - name: c
      image: vllm/vllm-openai:v0.19.1
      command: [vllm, serve, m]
      args: ["--max-num-seqs", "${SEQS:=48}"]
`
	applied := substituted(t, pod, map[string]any{"CLUSTER": "home"})
	require.Contains(t, applied, "- 48\n")
	dir := t.TempDir()
	write(t, dir, map[string]string{"apps/pod.yaml": pod, "flux.yaml": "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: chat}\nspec: {path: ./apps, postBuild: {substitute: {CLUSTER: home}}}\n"})
	got := run(t, dir, "", trimtab, "verify", ".")
	require.Contains(t, got.stdout, "warning substitution-hazard: --max-num-seqs is wholly a variable that becomes 48, which is a number")
}
