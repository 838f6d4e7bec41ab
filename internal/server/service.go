package server

import (
	"go.yaml.in/yaml/v3"

	"github.com/trimtab/trimtab/internal/finding"
	"github.com/trimtab/trimtab/internal/stream"
)

// services finds the Services among the items that have an address of their
// own: of a headless or external one Kubernetes tells containers nothing.
func services(items []*stream.Item) ([]finding.Object, error) {
	var found []finding.Object
	for _, item := range items {
		if !item.Mentions("Service") {
			continue
		}
		root, err := item.Root()
		if err != nil {
			return nil, err
		}
		object := objectOf(root)
		if object.Kind != "Service" || object.APIVersion != "v1" {
			continue
		}
		address, kind := text(at(root, "spec", "clusterIP")), text(at(root, "spec", "type"))
		if address != "None" && kind != "ExternalName" {
			found = append(found, object)
		}
	}
	return found, nil
}

// boolean reads true or false; nil where the node says neither.
func boolean(node *yaml.Node) *bool {
	switch text(node) {
	case "true":
		return known(true)
	case "false":
		return known(false)
	}
	return nil
}
