package e2e

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

// K17: an empty answer would delete everything with exit code 0; ours is a
// complete list, or a failure.
func TestKustomizeK17EmptyOutput(t *testing.T) {
	t.Parallel()
	dir := kustomization(t, map[string]string{"server.yaml": documents(deployment, bystander, refused), "trim.yaml": functionTrim})
	received, returned := recorderAt(t, dir)
	got := build(t, dir, ".")
	require.Equal(t, 1, got.code)
	require.Equal(t, identities(t, received()), identities(t, returned()))
	require.Len(t, parseList(t, returned()).Items, 3)

	const empty = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems: []\n"
	for _, input := range []string{empty, strings.Replace(empty, "[]", "null", 1)} {
		got := run(t, dir, input, trimtab)
		require.Equal(t, ran{stdout: input}, got)
	}
	const none = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\n"
	noItems := run(t, dir, none, trimtab)
	require.Equal(t, 2, noItems.code, "kustomize would emit the list itself as a resource")
	require.Empty(t, noItems.stdout)
}

// K17: what other hosts send: the older version of the list, JSON, CRLF, and
// keys nobody knows.
func TestKustomizeK17ListForms(t *testing.T) {
	t.Parallel()
	spec := config("Trim", only("inert-setting"))
	configured := "functionConfig:\n" + indent(spec, "  ")
	plain := list(spec, bystander, deployment)
	var tree map[string]any
	require.NoError(t, yaml.Unmarshal([]byte(plain), &tree))
	inputs := map[string]string{
		"v1":                plain,
		"v1alpha1":          strings.Replace(plain, "config.kubernetes.io/v1", "config.kubernetes.io/v1alpha1", 1),
		"JSON":              toJSON(t, tree),
		"CRLF":              strings.ReplaceAll(plain, "\n", "\r\n"),
		"unknown key":       plain + "more: {a: 1}\n",
		"items last":        strings.Replace(list("", bystander, deployment), "items:\n", configured+"items:\n", 1),
		"document start":    "---\n" + plain,
		"byte order mark":   "\ufeff" + plain,
		"no line at end":    strings.TrimSuffix(plain, "\n"),
		"comment at end":    plain + "# the end\n",
		"document end":      plain + "...\n",
		"indented sequence": indentedItems(bystander, deployment) + configured,
	}
	for name, input := range inputs {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := run(t, t.TempDir(), input, trimtab)
			require.Equal(t, 0, got.code, got.stderr)
			requireTrimmed(t, itemsOf(t, got.stdout))
			after := parseList(t, got.stdout)
			require.Len(t, after.Items, 2)
			require.Len(t, after.Results, 3)
			require.Equal(t, strings.Contains(input, "more: {a: 1}"), strings.Contains(got.stdout, "more: {a: 1}"))
			again := run(t, t.TempDir(), got.stdout, trimtab)
			require.Equal(t, ran{stdout: got.stdout}, again, "a second run has nothing to do and nothing to say")
		})
	}
}

// K18: a generator gets its own config as the only item and never sees the
// resources; it is no place for us, and nothing is lost.
func TestKustomizeK18Generator(t *testing.T) {
	t.Parallel()
	dir := kustomization(t, map[string]string{
		"kustomization.yaml": "resources: [server.yaml]\ngenerators: [trim.yaml]\n"})
	received, returned := recorderAt(t, dir)
	got := build(t, dir, ".")
	require.Equal(t, 0, got.code, got.stderr)
	require.Equal(t, []string{"Trim//servers"}, identities(t, received()))
	require.Equal(t, received(), returned())
	require.Contains(t, got.stdout, "--pre-warm-nccl")
	require.Contains(t, identities(t, got.stdout), "Deployment/llm/chat")
}

// K19: the annotations by which kustomize finds its objects again all come
// back, in the same order of items; the hash of a generated name survives.
func TestKustomizeK19AnnotationsAndOrder(t *testing.T) {
	t.Parallel()
	const zoo = `apiVersion: v1
kind: Service
metadata: {name: zebra, namespace: llm, annotations: {example.com/own: "yes"}}
spec: {ports: [{port: 80}]}
`
	reader := strings.Replace(deployment, "      containers:\n", "      volumes:\n        - name: texts\n          configMap: {name: texts}\n      containers:\n", 1)
	dir := kustomization(t, map[string]string{
		"kustomization.yaml": "namePrefix: a-\nresources: [zoo.yaml, server.yaml]\ntransformers: [first.yaml, trim.yaml]\n" +
			"configMapGenerator: [{name: texts, namespace: llm, literals: [a=b]}]\nbuildMetadata: [originAnnotations]\n",
		"zoo.yaml": zoo, "server.yaml": reader,
		"first.yaml": strings.NewReplacer("./trimtab", "/bin/cat", "name: servers", "name: first").Replace(functionTrim),
	})
	received, returned := recorderAt(t, dir)
	got := build(t, dir, ".")
	require.Equal(t, 0, got.code, got.stderr)
	requireTrimmed(t, got.stdout)

	before, after := objects(t, received()), objects(t, returned())
	require.Equal(t, before, after)
	seen := map[string]bool{}
	for _, o := range before {
		for name := range o.Metadata.Annotations {
			seen[name] = true
		}
	}
	for _, name := range []string{"kustomize.config.k8s.io/id", "config.kubernetes.io/index", "internal.config.kubernetes.io/index",
		"config.kubernetes.io/path", "config.kubernetes.io/origin", "example.com/own", "internal.config.kubernetes.io/previousNames"} {
		require.True(t, seen[name], name)
	}
	require.Regexp(t, `name: a-texts-[a-z0-9]{10}\n(.*\n)*.*name: a-texts-[a-z0-9]{10}\n`, got.stdout)
}

// K20: kustomize hands over items without comments, so a comment keeps nothing
// there, and `keep` does; it prints the others as it prints them without us.
func TestKustomizeK20CommentsAreGone(t *testing.T) {
	t.Parallel()
	commented := strings.Replace(deployment, "- --pre-warm-nccl", "- --pre-warm-nccl # trimtab:keep", 1)
	dir := kustomization(t, map[string]string{"server.yaml": documents(commented, bystander)})
	received, returned := recorderAt(t, dir)
	got := build(t, dir, ".")
	require.Equal(t, 0, got.code, got.stderr)
	require.NotContains(t, received(), "trimtab:keep")
	requireTrimmed(t, got.stdout)
	requireOnlyRemoved(t, itemsOf(t, received()), itemsOf(t, returned()), 4)

	kept := kustomization(t, map[string]string{"server.yaml": commented, "trim.yaml": functionTrim + "spec: {keep: [--pre-warm-nccl]}\n"})
	require.Contains(t, build(t, kept, ".").stdout, "--pre-warm-nccl")

	without := kustomization(t, map[string]string{"server.yaml": documents(commented, bystander), "kustomization.yaml": "resources: [server.yaml]\n"})
	requireOnlyRemoved(t, build(t, without, ".").stdout, got.stdout, 4)
}

// K21: the ConfigMap form with bare scalars; results name the file that the
// origin annotation tells, not the one that kustomize invents.
func TestKustomizeK21ConfigMapAndOrigin(t *testing.T) {
	t.Parallel()
	configMap := strings.NewReplacer(functionHead, "apiVersion: v1\n", "kind: Trim", "kind: ConfigMap").Replace(functionTrim) +
		"data: {mode: verify, gpuCount: 1, keep: --tp-size, prune: false, engine: sglang@v0.5.16, failOn: never}\n"
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"base/kustomization.yaml":    "resources: [server.yaml]\n",
		"base/server.yaml":           documents(bystander, deployment),
		"overlay/kustomization.yaml": "resources: [../base]\ntransformers: [trim.yaml]\nbuildMetadata: [originAnnotations]\n",
		"overlay/trim.yaml":          strings.Replace(configMap, "./trimtab", "../trimtab", 1),
	})
	received, returned := recorder(t, dir)
	got := build(t, dir, "overlay")
	require.Equal(t, 0, got.code, got.stderr)
	require.Contains(t, received(), "gpuCount: 1\n")
	require.Contains(t, got.stdout, "--pre-warm-nccl", "mode: verify changes nothing")
	for _, r := range parseList(t, returned()).Results {
		require.Equal(t, "../base/server.yaml", r.File.Path)
	}
	require.Contains(t, got.stderr, "../base/server.yaml: warning inert-setting")
}
