package e2e

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

// clamped asks for more requests than its mamba slots allow: 60 // 3.
const clamped = `apiVersion: apps/v1
kind: Deployment
metadata: {name: hybrid, namespace: llm}
spec:
  template:
    spec:
      containers:
        - name: server
          image: lmsysorg/sglang:v0.5.16
          command: [python3, -m, sglang.launch_server]
          args:
            - --model-path=Qwen/Qwen3.6-27B
            - --max-mamba-cache-size=60
            - --max-running-requests=32
            - --disable-overlap-schedule
            - --pre-warm-nccl
          resources: {limits: {nvidia.com/gpu: 1}}
`

// clampFacts are what the manifest cannot tell.
const clampFacts = "model: {name: Qwen/Qwen3.6-27B, dtype: bfloat16}\n"

// In a kpt pipeline the mutator trims and the validator fails on what must not
// be trimmed away: it names the clamp, and no file is written.
func TestKptMutatorAndValidatorOfOnePipeline(t *testing.T) {
	t.Parallel()
	pipeline := "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata: {name: package, annotations: {config.kubernetes.io/local-config: \"true\"}}\n" +
		"pipeline:\n  mutators:\n    - exec: " + trimtab + "\n      configPath: trim.yaml\n  validators:\n    - exec: " + trimtab + "\n      configPath: verify.yaml\n"
	dir := kptPackage(t, map[string]string{
		"Kptfile": pipeline, "server.yaml": clamped,
		"trim.yaml":   config("Trim", clampFacts+"keep: [--max-running-requests]\n"),
		"verify.yaml": config("Verify", clampFacts),
	})
	before := files(t, dir)
	got, results := render(t, dir)
	require.Equal(t, 1, got.code)
	require.Contains(t, got.stderr, "clamped-setting: --max-running-requests")
	require.Equal(t, before, files(t, dir))
	require.NotZero(t, results.ExitCode)
	require.NotEmpty(t, results.Items)

	write(t, dir, map[string]string{"trim.yaml": config("Trim", clampFacts)})
	got, results = render(t, dir)
	require.Zero(t, got.code, got.stderr)
	require.Zero(t, results.ExitCode)
	require.Len(t, results.Items, 2)
	server := read(t, filepath.Join(dir, "server.yaml"))
	require.NotContains(t, server, "--max-running-requests")
	require.NotContains(t, server, "--pre-warm-nccl")
	once := files(t, dir)
	_, _ = render(t, dir)
	require.Equal(t, once, files(t, dir))
}

// A package around another one gets the server of both; each file stays in its
// own.
func TestKptPackageWithSubpackages(t *testing.T) {
	t.Parallel()
	inner := strings.ReplaceAll(deployment, "name: chat", "name: coder")
	dir := kptPackage(t, map[string]string{
		"inner/Kptfile":     "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata: {name: inner, annotations: {config.kubernetes.io/local-config: \"true\"}}\n",
		"inner/server.yaml": inner,
	})
	got, _ := render(t, dir)
	require.Zero(t, got.code, got.stderr)
	for _, file := range []string{"server.yaml", "inner/server.yaml"} {
		requireTrimmed(t, read(t, filepath.Join(dir, file)))
	}
	require.Contains(t, read(t, filepath.Join(dir, "inner/server.yaml")), "name: coder")
	require.NotContains(t, read(t, filepath.Join(dir, "server.yaml")), "name: coder")
	once := files(t, dir)
	_, _ = render(t, dir)
	require.Equal(t, once, files(t, dir))
}

// A base and its overlay both run trimtab, through a component and with every
// built-in transformer before and after it: what the overlay raises stays, what
// does nothing goes.
func TestKustomizeBaseComponentAndOverlay(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"base/kustomization.yaml": "resources: [server.yaml]\ntransformers: [trim.yaml]\n",
		"base/server.yaml":        deployment,
		"base/trim.yaml":          strings.Replace(functionTrim, "name: servers", "name: of-the-base", 1),
		"overlay/kustomization.yaml": `resources: [../base]
components: [../part]
namePrefix: team-
nameSuffix: -b
namespace: ai
images: [{name: lmsysorg/sglang, newTag: v0.5.15}]
labels: [{pairs: {team: a}, includeSelectors: false}]
patches:
  - target: {kind: Deployment}
    patch: |-
      - {op: add, path: /spec/template/spec/containers/0/args/-, value: --num-continuous-decode-steps=4}
replacements:
  - source: {kind: Deployment, fieldPath: metadata.namespace}
    targets: [{select: {kind: Deployment}, fieldPaths: [metadata.annotations.space], options: {create: true}}]
transformers: [trim.yaml]
`,
		"overlay/trim.yaml":       functionTrim,
		"part/kustomization.yaml": "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\ntransformers: [trim.yaml]\n",
		"part/trim.yaml":          strings.Replace(functionTrim, "name: servers", "name: of-the-part", 1),
	})
	for _, folder := range []string{"base", "overlay", "part"} {
		install(t, filepath.Join(dir, folder))
	}
	got := build(t, dir, "overlay")
	require.Zero(t, got.code, got.stderr)
	require.NotEmpty(t, got.stderr)
	requireTrimmed(t, got.stdout)
	require.NotContains(t, got.stdout, "--num-continuous-decode-steps")
	for _, text := range []string{"name: team-chat-b", "namespace: ai", "lmsysorg/sglang:v0.5.15", "team: a", "space: ai"} {
		require.Contains(t, got.stdout, text)
	}
}

// The catalogue of functions reads what the function is from metadata.yaml.
func TestFunctionMetadata(t *testing.T) {
	t.Parallel()
	var metadata struct {
		Image, Description string
		Tags, Emails       []string
		SourceURL          string   `yaml:"sourceURL"`
		ExamplePackageURLs []string `yaml:"examplePackageURLs"`
		License            string
		Hidden             bool
		FunctionTypes      []string `yaml:"functionTypes"`
	}
	decoder := yaml.NewDecoder(strings.NewReader(read(t, filepath.Join(repository, "metadata.yaml"))))
	decoder.KnownFields(true)
	require.NoError(t, decoder.Decode(&metadata))
	require.Equal(t, []string{"mutator", "validator"}, metadata.FunctionTypes)
	require.NotEmpty(t, metadata.ExamplePackageURLs)
	for _, url := range metadata.ExamplePackageURLs {
		_, folder, found := strings.Cut(url, "/main/")
		require.True(t, found, url)
		require.DirExists(t, filepath.Join(repository, folder))
	}
	help := run(t, t.TempDir(), "", trimtab, "--help")
	require.Contains(t, help.stdout, "functionConfig")
}
