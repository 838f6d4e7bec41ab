package e2e

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const listHead = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\n"

// Input that is not one ResourceList: exit code 2, nothing on standard output,
// one line that says what to do.
func TestInputRefusedByFunction(t *testing.T) {
	t.Parallel()
	const plain = "use `trimtab trim -` for plain documents"
	tests := []struct{ name, input, says string }{
		{"empty", "", plain},
		{"blanks", "  \n\n", plain},
		{"comment", "# nothing here\n", plain},
		{"document marker", "---\n", plain},
		{"null", "null\n", plain},
		{"bare document", bystander, plain},
		{"bare documents", documents(bystander, deployment), plain},
		{"bare JSON", `{"apiVersion": "v1", "kind": "ConfigMap"}`, plain},
		{"a word", "hello\n", plain},
		{"v1 List", "apiVersion: v1\nkind: List\nitems: []\n", plain},
		{"not YAML", "items: [a\n", "not valid YAML"},
		{"a Helm template", listHead + "items:\n{{- range .Values.servers }}\n- a: 1\n{{- end }}\n", "not valid YAML"},
		{"a log line before the list", "starting up\n" + list("", bystander), "not valid YAML"},
		{"two lists", list("", bystander) + "---\n" + list("", deployment), "more than one document"},
		{"a list and a document", list("", bystander) + "---\n" + deployment, plain},
		{"no apiVersion", "kind: ResourceList\nitems: []\n", "`apiVersion`"},
		{"unknown apiVersion", strings.Replace(list("", bystander), "io/v1", "io/v2", 1), "`apiVersion` \"config.kubernetes.io/v2\""},
		{"no items", listHead, "`items`"},
		{"items is a mapping", listHead + "items: {a: 1}\n", "`items`"},
		{"items is a word", listHead + "items: all\n", "`items`"},
		{"items twice", list("", bystander) + "items: []\n", "`items` stands twice"},
		{"item is a word", listHead + "items:\n- word\n" + element(deployment), "item 0"},
		{"item is a number", listHead + "items:\n" + element(deployment) + "- 7\n", "item 1"},
		{"item is a list", listHead + "items:\n- [a, b]\n", "item 0"},
		{"tab as indent", listHead + "items:\n- apiVersion: v1\n\tkind: ConfigMap\n", "tab"},
		{"tab as indent in a server", list("", strings.Replace(deployment, "          args:", "\t  args:", 1)), "tab"},
		{"NUL", list("", strings.Replace(bystander, "one", "o\x00e", 1)), `"\x00"`},
		{"bad UTF-8", list("", strings.Replace(bystander, "one", "o\xffe", 1)), `"\xff"`},
		{"UTF-16", "\xff\xfe" + strings.Join(strings.Split(list("", bystander), ""), "\x00") + "\x00", "UTF-16"},
		{"unknown anchor", listHead + "items:\n- *missing\n", "missing"},
		{"too deep", listHead + "items:\n- a: " + strings.Repeat("[", 20000) + strings.Repeat("]", 20000) + "\n", "depth"},
		{"config is a word", list("", bystander) + "functionConfig: trim\n", "`functionConfig`"},
		{"config is a list", list("", bystander) + "functionConfig: [trim]\n", "`functionConfig`"},
		{"spec is a word", list(functionHead+"kind: Trim\nspec: all\n", bystander), "`spec` must be a mapping"},
		{"spec is a list", list(functionHead+"kind: Trim\nspec: [all]\n", bystander), "`spec` must be a mapping"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got := run(t, t.TempDir(), test.input, trimtab)
			require.Equal(t, 2, got.code)
			require.Empty(t, got.stdout)
			require.Equal(t, 1, strings.Count(got.stderr, "\n"), got.stderr)
			require.Less(t, len(got.stderr), 400)
			require.Contains(t, got.stderr, test.says)
		})
	}
}

// passing are items that nothing is said about; they come back byte for byte,
// whatever stands beside them.
var passing = map[string]string{
	"no server":             bystander,
	"no apiVersion":         "kind: Kustomization\nresources: [a.yaml]   # vllm\n",
	"args is text":          strings.Replace(argsOf(deployment, ` "--pre-warm-nccl"`), "name: chat", "name: text", 1),
	"args is a mapping":     argsOf(deployment, " {--pre-warm-nccl: 1}"),
	"args holds a mapping":  argsOf(deployment, " [--pre-warm-nccl: 1]"),
	"command is text":       strings.Replace(deployment, "[python3, -m, sglang.launch_server]", "sglang.launch_server", 1),
	"containers is text":    "kind: Pod\napiVersion: v1\nspec: {containers: sglang}\n",
	"containers holds text": "kind: Pod\napiVersion: v1\nspec: {containers: [sglang, null, 7]}\n",
	"spec is text":          "kind: InferenceService\napiVersion: inference.llmkube.dev/v1alpha1\nspec: sglang\n",
	"spec is a list":        "kind: InferenceService\napiVersion: inference.llmkube.dev/v1alpha1\nspec: [sglang]\n",
	"extraArgs is text":     "kind: InferenceService\napiVersion: inference.llmkube.dev/v1alpha1\nspec: {runtime: sglang, extraArgs: --pre-warm-nccl}\n",
	"runtime is a list":     "kind: InferenceService\napiVersion: inference.llmkube.dev/v1alpha1\nspec: {runtime: [sglang], extraArgs: [--pre-warm-nccl]}\n",
	"metadata is text":      "kind: Deployment\napiVersion: apps/v1\nmetadata: sglang\n",
	"keys of other types":   "kind: X\napiVersion: x/v1\nspec: {1: sglang, true: vllm, 1.5: [a], ? [b] : c}\n",
	"alias to itself":       "kind: X\napiVersion: x/v1\nspec: &self {sglang: *self}\n",
	"anchors inside":        "kind: X\napiVersion: x/v1\na: &a [sglang]\nb: *a\nc: &m {d: 1}\ne: {<<: *m}\n",
	"values of all styles":  "kind: X\napiVersion: x/v1\na: 0644\nb: ~\nc: yes\nd: 1e3\ne: \"\\u00e9 😀\"\nf: 'it''s'\ng: !!binary aGk=\nh: |+\n  kept\n\n\n",
	"tags":                  "kind: X\napiVersion: x/v1\na: !mine {sglang: 1}\nb: !!str 7\n",
	"comments everywhere":   "# above sglang\nkind: X # beside\n# between\napiVersion: x/v1\n# below\n",
}

// twice are servers in which a key stands twice: they pass through as well, and
// one line says so.
var twice = map[string]string{
	"metadata.name":                         strings.Replace(deployment, "  name: chat\n", "  name: chat\n  name: twin\n", 1),
	"spec.template.spec.containers[0].args": strings.Replace(deployment, "          env:\n", "          args: [--pre-warm-nccl]\n          env:\n", 1),
}

func TestInputWithAKeyTwice(t *testing.T) {
	t.Parallel()
	for key, item := range twice {
		says := "Deployment chat is not looked at: `" + key + "` stands in it twice\n"
		alone := list("", item)
		require.Equal(t, ran{stdout: alone, stderr: "trimtab: " + says}, run(t, t.TempDir(), alone, trimtab))
		require.Equal(t, ran{stdout: item, stderr: "trimtab: -:1: " + says}, run(t, t.TempDir(), item, trimtab, "trim", "-"))
	}
}

// argsOf replaces the args of a deployment.
func argsOf(manifest, args string) string {
	start := strings.Index(manifest, "          args:\n")
	end := strings.Index(manifest, "          env:\n")
	return manifest[:start] + "          args:" + args + "\n" + manifest[end:]
}

// Items that are none of our business pass through the function and the filter
// untouched, alone and between servers that are edited.
func TestInputPassesThrough(t *testing.T) {
	t.Parallel()
	other := strings.Replace(deployment, "name: chat", "name: other", 1)
	for name, item := range passing {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			alone := list("", item)
			require.Equal(t, ran{stdout: alone}, run(t, t.TempDir(), alone, trimtab))
			require.Equal(t, ran{stdout: item}, run(t, t.TempDir(), item, trimtab, "trim", "-"))

			between := run(t, t.TempDir(), list("", deployment, item, other), trimtab)
			require.Equal(t, 0, between.code, between.stderr)
			require.Contains(t, between.stdout, "\n"+element(item)+"- ", "the item is not as it was")
			requireTrimmed(t, strings.Replace(beforeResults(between.stdout), "\n"+element(item)+"- ", "\n- ", 1))
			require.Len(t, parseList(t, between.stdout).Items, 3)

			filtered := run(t, t.TempDir(), documents(deployment, item, other), trimtab, "trim", "-")
			require.Equal(t, 0, filtered.code, filtered.stderr)
			require.Contains(t, filtered.stdout, "---\n"+item+"---\n")
			requireTrimmed(t, strings.Replace(filtered.stdout, "---\n"+item+"---\n", "---\n", 1))
		})
	}
}

// Null items, and items that are aliases of others, stay in their places.
func TestInputNullsAndAliases(t *testing.T) {
	t.Parallel()
	anchored := "- &server\n" + indent(deployment, "  ")
	tests := []struct{ name, input string }{
		{"null items", listHead + "items:\n- null\n" + element(bystander) + "- ~\n-\n"},
		{"the same item twice", list("", bystander, bystander)},
		{"an item that is an alias", listHead + "items:\n" + anchored + "- *server\n"},
		{"an anchor used by a later item", listHead + "items:\n- kind: A\n  apiVersion: a/v1\n  list: &args [--model-path=/m, --pre-warm-nccl]\n" +
			element(argsOf(deployment, " *args"))},
		{"args are an alias in the same item", list("", strings.Replace(argsOf(deployment, " *args"), "spec:\n", "x: &args [--model-path=/m, --pre-warm-nccl]\nspec:\n", 1))},
		{"args with a merge key beside", list("", strings.Replace(deployment, "        - name: server\n", "        - <<: {args: [--pre-warm-nccl]}\n          name: server\n", 1))},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got := run(t, t.TempDir(), test.input, trimtab)
			require.Equal(t, 0, got.code, got.stderr)
			require.Equal(t, identitiesWithNulls(t, test.input), identitiesWithNulls(t, got.stdout))
			removed, added := changedLines(test.input, beforeResults(got.stdout))
			require.Empty(t, added)
			for _, line := range removed {
				require.Regexp(t, `--pre-warm-nccl|--disable-custom-all-reduce|CUDA_VISIBLE_DEVICES|value: "0"`, line)
			}
			again := run(t, t.TempDir(), got.stdout, trimtab)
			require.Equal(t, beforeResults(got.stdout), beforeResults(again.stdout))
		})
	}
}

// identitiesWithNulls counts null items too.
func identitiesWithNulls(t *testing.T, text string) []string {
	t.Helper()
	names := []string{}
	for _, item := range parseList(t, text).Items {
		var o object
		require.NoError(t, item.Decode(&o))
		names = append(names, o.Kind+"/"+o.Metadata.Namespace+"/"+o.Metadata.Name)
	}
	return names
}

// beforeResults is a list up to the results that stand at its end.
func beforeResults(text string) string {
	before, _, _ := strings.Cut(text, "\nresults:\n")
	return strings.TrimSuffix(before, "\n") + "\n"
}
