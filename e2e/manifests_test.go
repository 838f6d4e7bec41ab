package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/aymanbagabas/go-udiff"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/trimtab/trimtab/internal/rule"
)

// deployment runs SGLang on one GPU with two settings that do nothing there.
const deployment = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: chat
  namespace: llm
spec:
  template:
    spec:
      containers:
        - name: server
          image: lmsysorg/sglang:v0.5.16
          command: [python3, -m, sglang.launch_server]
          args:
            - --model-path=/models/chat
            - --pre-warm-nccl
            - --tp-size
            - "1"
            - --disable-custom-all-reduce
          env:
            - name: CUDA_VISIBLE_DEVICES
              value: "0"
            - name: HF_HOME
              value: /cache
          resources:
            limits:
              nvidia.com/gpu: 1
`

// trimmed are the settings of deployment that do nothing.
var trimmed = []string{"--disable-custom-all-reduce", "--pre-warm-nccl", "env/CUDA_VISIBLE_DEVICES"}

// refused asks for more ranks than it has GPUs: an error nobody can trim away.
const refused = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: twice
  namespace: llm
spec:
  template:
    spec:
      containers:
        - name: server
          image: lmsysorg/sglang:v0.5.16
          command: [python3, -m, sglang.launch_server]
          args: [--model-path=/models/twice, --tp-size, "2"]
          resources:
            limits:
              nvidia.com/gpu: 1
`

// bystander is no server; its layout is one that an encoder would not keep.
const bystander = `apiVersion: v1
kind: ConfigMap
metadata: {name:   settings,  namespace: llm}   # spacing of its own
data:
    folded: >-
        one
        two
    octal:   "0644"
    # says nothing of sglang
    script: |
        #!/bin/sh
        echo "vllm"
`

// functionTrim and functionVerify are configs for kustomize; the function lies
// beside the kustomization as ./trimtab.
const (
	functionTrim   = functionHead + "kind: Trim\n" + functionMetadata
	functionVerify = functionHead + "kind: Verify\n" + functionMetadata

	functionHead     = "apiVersion: trimtab.dev/v1alpha1\n"
	functionMetadata = `metadata:
  name: servers
  annotations:
    config.kubernetes.io/local-config: "true"
    config.kubernetes.io/function: |
      exec:
        path: ./trimtab
`
)

// documents joins manifests into one file.
func documents(manifests ...string) string { return strings.Join(manifests, "---\n") }

// list makes a ResourceList of manifests; the text of each stays, indented.
func list(functionConfig string, items ...string) string {
	var b strings.Builder
	b.WriteString("apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n")
	for _, item := range items {
		b.WriteString(element(item))
	}
	if functionConfig != "" {
		b.WriteString("functionConfig:\n" + indent(functionConfig, "  "))
	}
	return b.String()
}

// element is a manifest as an entry of the items of list.
func element(manifest string) string { return "- " + strings.TrimPrefix(indent(manifest, "  "), "  ") }

func indent(text, by string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if strings.TrimSpace(line) != "" {
			b.WriteString(by)
		}
		b.WriteString(line)
	}
	return b.String()
}

// config is a Trim with a spec, on one line each.
func config(kind, spec string) string {
	return "apiVersion: trimtab.dev/v1alpha1\nkind: " + kind + "\nmetadata: {name: servers}\nspec:\n" + indent(spec, "  ")
}

// resourceList is what a function reads and writes.
type resourceList struct {
	Kind           string
	Items          []yaml.Node
	FunctionConfig yaml.Node `yaml:"functionConfig"`
	Results        []result
}

type result struct {
	Message, Severity string
	ResourceRef       struct {
		APIVersion            string `yaml:"apiVersion"`
		Kind, Name, Namespace string
	} `yaml:"resourceRef"`
	Field struct {
		Path          string
		CurrentValue  string `yaml:"currentValue"`
		ProposedValue string `yaml:"proposedValue"`
	}
	File struct {
		Path  string
		Index int
	}
	Tags map[string]string
}

// only is a spec under which the named rules are on and all others off.
func only(rules ...string) string {
	var b strings.Builder
	b.WriteString("rules:\n")
	for _, name := range rule.Names() {
		if !slices.Contains(rules, name) {
			b.WriteString("  " + name + ": off\n")
		}
	}
	return b.String()
}

// ofRule are the results of one rule, in their order.
func ofRule(results []result, name string) []result {
	return slices.DeleteFunc(slices.Clone(results), func(r result) bool { return r.Tags["rule"] != name })
}

// settingsOf are the settings that results speak of.
func settingsOf(results []result) []string {
	var settings []string
	for _, r := range results {
		settings = append(settings, r.Tags["setting"])
	}
	return settings
}

// parseList reads a complete ResourceList.
func parseList(t *testing.T, text string) resourceList {
	t.Helper()
	var parsed resourceList
	require.NoError(t, yaml.Unmarshal([]byte(text), &parsed), text)
	require.Equal(t, "ResourceList", parsed.Kind, text)
	return parsed
}

// object is the part of a Kubernetes object that tests ask for.
type object struct {
	APIVersion string `yaml:"apiVersion"`
	Kind       string
	Metadata   struct {
		Name, Namespace string
		Annotations     map[string]string
	}
}

// objects decodes documents, or the items of a ResourceList, in their order.
func objects(t *testing.T, text string) []object {
	t.Helper()
	var found []object
	for _, node := range nodes(t, text) {
		var o object
		require.NoError(t, node.Decode(&o))
		found = append(found, o)
	}
	return found
}

// nodes returns the documents of a stream, or the items of a ResourceList.
func nodes(t *testing.T, text string) []*yaml.Node {
	t.Helper()
	var found []*yaml.Node
	decoder := yaml.NewDecoder(strings.NewReader(text))
	for {
		var document yaml.Node
		err := decoder.Decode(&document)
		if errors.Is(err, io.EOF) {
			return found
		}
		require.NoError(t, err, text)
		root := document.Content[0]
		if node := at(root, "kind"); node != nil && node.Value == "ResourceList" {
			if items := at(root, "items"); items != nil {
				found = append(found, items.Content...)
			}
			continue
		}
		if root.Tag != "!!null" {
			found = append(found, root)
		}
	}
}

// at returns the value of a key of a mapping, nil where there is none.
func at(node *yaml.Node, keys ...string) *yaml.Node {
	for _, key := range keys {
		var next *yaml.Node
		for i := 0; node.Kind == yaml.MappingNode && i+1 < len(node.Content); i += 2 {
			if node.Content[i].Value == key {
				next = node.Content[i+1]
			}
		}
		if next == nil {
			return nil
		}
		node = next
	}
	return node
}

// identities names the objects of a text in their order.
func identities(t *testing.T, text string) []string {
	t.Helper()
	names := []string{}
	for _, o := range objects(t, text) {
		names = append(names, o.Kind+"/"+o.Metadata.Namespace+"/"+o.Metadata.Name)
	}
	return names
}

// report is what -o json prints.
type report struct {
	Findings []finding
	Skipped  []struct {
		Rule, Setting string
		Needs         []string
	}
	Servers []struct{ Engine, Version, Container string }
	Summary struct{ Error, Warning, Info int }
}

type finding struct {
	Rule, Severity, Message, File, Setting, Origin, Value, Proposed, Undo, Action, Group string
	Line, Column                                                                         int
	Object                                                                               struct{ Kind, Name string }
	Fixed                                                                                bool
	Evidence                                                                             []struct{ Engine, Versions, Source string }
}

func parseReport(t *testing.T, text string) report {
	t.Helper()
	var parsed report
	decoder := json.NewDecoder(bytes.NewBufferString(text))
	require.NoError(t, decoder.Decode(&parsed), text)
	require.NotNil(t, parsed.Findings)
	require.NotNil(t, parsed.Servers)
	return parsed
}

// install puts the built binary into a folder under its name.
func install(t *testing.T, dir string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(dir, 0o755))
	require.NoError(t, os.Symlink(trimtab, filepath.Join(dir, "trimtab")))
}

// recorder installs a function in a folder that passes everything through
// trimtab and keeps what went in and out.
func recorder(t *testing.T, dir string) (received, returned func() string) {
	t.Helper()
	in, out := filepath.Join(dir, "received"), filepath.Join(dir, "returned")
	script := "#!/bin/sh\ntee '" + in + "' | '" + trimtab + "' > '" + out + "'\ncode=$?\ncat '" + out + "'\nexit $code\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "trimtab"), []byte(script), 0o755))
	return func() string { return read(t, in) }, func() string { return read(t, out) }
}

// publicCases is the folder of real manifests; the test is skipped without it.
func publicCases(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(repository, "..", "shared", "cases", "public")
	if _, err := os.Stat(dir); err != nil {
		t.Skip("../shared/cases/public is not there")
	}
	return dir
}

// toJSON prints a value as JSON.
func toJSON(t *testing.T, value any) string {
	t.Helper()
	data, err := json.Marshal(value)
	require.NoError(t, err)
	return string(data)
}

// indentedItems is list with the entries of items indented.
func indentedItems(items ...string) string {
	var b strings.Builder
	b.WriteString("apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n")
	for _, item := range items {
		b.WriteString(indent(element(item), "  "))
	}
	return b.String()
}

// itemsOf prints the items of a ResourceList, without what stands around them.
func itemsOf(t *testing.T, text string) string {
	t.Helper()
	data, err := yaml.Marshal(parseList(t, text).Items)
	require.NoError(t, err)
	return string(data)
}

// requireOnlyRemoved asserts that after is before without a number of lines.
func requireOnlyRemoved(t *testing.T, before, after string, count int) {
	t.Helper()
	removed, added := changedLines(before, after)
	require.Empty(t, added, "added lines")
	require.Len(t, removed, count, "removed lines")
}

// changedLines are the lines that only one of two texts has.
func changedLines(before, after string) (removed, added []string) {
	for line := range strings.Lines(udiff.Unified("before", "after", before, after)) {
		switch {
		case strings.HasPrefix(line, "---") || strings.HasPrefix(line, "+++"):
		case strings.HasPrefix(line, "-"):
			removed = append(removed, line[1:])
		case strings.HasPrefix(line, "+"):
			added = append(added, line[1:])
		}
	}
	return removed, added
}
