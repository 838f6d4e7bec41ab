package server

import (
	"maps"

	"go.yaml.in/yaml/v3"
)

// nodeLabels are the labels that every node of a pod has: those of its node
// selector, and those to which all alternatives of its required node affinity
// give one value.
func nodeLabels(podSpec *yaml.Node) map[string]string {
	labels := stringMap(at(podSpec, "nodeSelector"))
	terms := at(podSpec, "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms")
	if terms == nil || terms.Kind != yaml.SequenceNode {
		return labels
	}
	var common map[string]string
	for _, term := range terms.Content {
		own := labelsOfTerm(resolve(term))
		if common == nil {
			common = own
			continue
		}
		maps.DeleteFunc(common, func(key, value string) bool { return own[key] != value })
	}
	for key, value := range common {
		if _, selected := labels[key]; !selected {
			labels[key] = value
		}
	}
	return labels
}

// labelsOfTerm are the labels that one alternative gives a single value.
func labelsOfTerm(term *yaml.Node) map[string]string {
	labels := map[string]string{}
	expressions := at(term, "matchExpressions")
	if expressions == nil || expressions.Kind != yaml.SequenceNode {
		return labels
	}
	for _, expression := range expressions.Content {
		values := at(expression, "values")
		single := values != nil && values.Kind == yaml.SequenceNode && len(values.Content) == 1
		if text(at(expression, "operator")) == "In" && single {
			labels[text(at(expression, "key"))] = text(values.Content[0])
		}
	}
	return labels
}
