// Package config reads what users tell trimtab: the Trim and Verify documents
// of trimtab.dev/v1alpha1, the flat ConfigMap form of kpt, and the annotations
// of one object. A decoded YAML tree (or annotations) comes in; a typed Config
// (or Overrides) goes out, or one error line that names the field and what to
// write instead. The spec is strict: what is not known is an error. Nothing
// here knows engines, GPUs or servers.
package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// The names under which a config document is known.
const (
	Group      = "trimtab.dev"
	APIVersion = Group + "/v1alpha1"
	// FunctionConfig is the source of a config that a host handed over.
	FunctionConfig = "functionConfig"
)

// Mode says what is done with the findings; it is the kind of the document.
type Mode string

// The modes of the contract.
const (
	Trim   Mode = "Trim"
	Verify Mode = "Verify"
)

// Config is one functionConfig or config document.
type Config struct {
	Kind Mode
	// Name is metadata.name; empty when the document has none.
	Name string
	// Source is the file the document stands in, or FunctionConfig.
	Source string
	Spec   Spec
}

// Default is the config of a run that has none: trim, by what the manifests
// say themselves.
func Default() *Config {
	return &Config{Kind: Trim, Source: FunctionConfig}
}

// Label names the config in messages: its source, and its name where the
// document has one.
func (c *Config) Label() string {
	if c.Name == "" {
		return c.Source
	}
	return c.Source + " (" + c.Name + ")"
}

// IsConfig tells whether a document claims to be a config of ours. It looks at
// the API group alone, so that a misspelled kind or version reaches Decode and
// its error instead of being passed over.
func IsConfig(apiVersion, _ string) bool {
	group, _, _ := strings.Cut(apiVersion, "/")
	return group == Group
}

// Decode reads a Trim or Verify document or the ConfigMap form. Source names
// the file, or is FunctionConfig; knownRules are the names allowed under
// rules. A root that is nil, null or empty is Default. Errors are one line
// that begins with the source.
func Decode(root *yaml.Node, source string, knownRules []string) (*Config, error) {
	c := &Config{Kind: Trim, Source: source}
	node := resolve(root)
	if isNull(node) || node.Kind == yaml.MappingNode && len(node.Content) == 0 {
		return c, nil
	}
	d := decoder{rules: knownRules, inHost: source == FunctionConfig}
	if err := d.document(node, c); err != nil {
		return nil, fmt.Errorf("%s: %w", source, err)
	}
	return c, nil
}

// document chooses between the two forms by apiVersion and kind.
func (d decoder) document(node *yaml.Node, c *Config) error {
	if node.Kind != yaml.MappingNode {
		return fmt.Errorf("a config must be a mapping, got %s", describe(node))
	}
	apiVersion, kind := scalarAt(node, "apiVersion"), scalarAt(node, "kind")
	if kind == "ConfigMap" {
		if apiVersion != "v1" {
			return fmt.Errorf("`apiVersion` of a ConfigMap must be v1, got %s", quote(apiVersion))
		}
		return d.configMap(node, c)
	}
	if err := checkKind(apiVersion, kind); err != nil {
		return err
	}
	c.Kind = Mode(kind)
	return d.fields(node, "", fields{
		"apiVersion": ignore,
		"kind":       ignore,
		"metadata":   metadataName(&c.Name),
		"spec":       d.spec(&c.Spec),
	})
}

func checkKind(apiVersion, kind string) error {
	kinds := []string{string(Trim), string(Verify)}
	if kind == "" {
		return errors.New("field `kind` is missing; write Trim or Verify")
	}
	if !slices.Contains(kinds, kind) {
		if near, ok := nearest(kind, kinds); ok {
			return fmt.Errorf("unknown `kind` %s; did you mean %q?", quote(kind), near)
		}
		return fmt.Errorf("`kind` must be Trim or Verify of %s, or a ConfigMap, got %s", APIVersion, quote(kind))
	}
	if apiVersion == "" {
		return fmt.Errorf("field `apiVersion` is missing; write %s", APIVersion)
	}
	if apiVersion != APIVersion {
		return fmt.Errorf("unknown `apiVersion` %s; did you mean %q?", quote(apiVersion), APIVersion)
	}
	return nil
}

// metadataName reads metadata.name and nothing else: hosts write what they
// like into metadata.
func metadataName(to *string) read {
	return func(node *yaml.Node, _ string) error {
		if node.Kind == yaml.MappingNode {
			*to = scalarAt(node, "name")
		}
		return nil
	}
}

// scalarAt returns the text of a scalar field, or nothing.
func scalarAt(node *yaml.Node, key string) string {
	for i := 0; i+1 < len(node.Content); i += 2 {
		if resolve(node.Content[i]).Value != key {
			continue
		}
		if value := resolve(node.Content[i+1]); value.Kind == yaml.ScalarNode && !isNull(value) {
			return value.Value
		}
	}
	return ""
}
