package server

import (
	"go.yaml.in/yaml/v3"

	"github.com/trimtab/trimtab/internal/stream"
)

// claimIndex are the claims of dynamic resource allocation among the items.
type claimIndex []*yaml.Node

// makers are the vendors of the device classes that stand for whole GPUs.
var makers = map[string]string{"gpu.nvidia.com": "nvidia", "gpu.amd.com": "amd", "gpu.intel.com": "intel"}

// gpus adds up the whole GPUs that a container's claims request; nothing where a
// claim is not in the input, or does not say how many it requests.
func (c claimIndex) gpus(podSpec, container *yaml.Node, namespace string) GPUs {
	asked := GPUs{Count: known(int64(0))}
	wanted := at(container, "resources", "claims")
	if wanted == nil || wanted.Kind != yaml.SequenceNode {
		return GPUs{}
	}
	for _, element := range wanted.Content {
		claim := named(at(podSpec, "resourceClaims"), text(at(resolve(element), "name")))
		requests := c.requests(claim, namespace)
		if requests == nil || requests.Kind != yaml.SequenceNode {
			return GPUs{}
		}
		for _, request := range requests.Content {
			if !asked.add(resolve(request), text(at(resolve(element), "request"))) {
				return GPUs{}
			}
		}
	}
	if *asked.Count == 0 {
		return GPUs{}
	}
	asked.Source = "resource claims"
	return asked
}

// add counts one request; false where its number, or the device, is not told.
// Of a claim with several requests a container can take one.
func (g *GPUs) add(request *yaml.Node, only string) bool {
	if only != "" && text(at(request, "name")) != only {
		return true
	}
	if exactly := at(request, "exactly"); exactly != nil {
		request = exactly
	}
	vendor := makers[text(at(request, "deviceClassName"))]
	if vendor == "" || text(at(request, "allocationMode")) == "All" || g.Vendor != "" && g.Vendor != vendor {
		return false
	}
	count := int64(1)
	if node := at(request, "count"); node != nil {
		var ok bool
		if count, ok = integer(node); !ok {
			return false
		}
	}
	g.Vendor, g.Count = vendor, known(*g.Count+count)
	return true
}

// requests are those of the claim, or of the template, that an entry of a pod's
// resourceClaims names.
func (c claimIndex) requests(entry *yaml.Node, namespace string) *yaml.Node {
	kind, name, path := "ResourceClaimTemplate", text(at(entry, "resourceClaimTemplateName")), []string{"spec", "spec", "devices", "requests"}
	if own := text(at(entry, "resourceClaimName")); own != "" {
		kind, name, path = "ResourceClaim", own, path[1:]
	}
	var found *yaml.Node
	for _, claim := range c {
		object := objectOf(claim)
		if object.Kind != kind || object.Name != name || object.Namespace != namespace {
			continue
		}
		if found != nil {
			return nil // an overlay changes one into the other
		}
		found = claim
	}
	return at(found, path...)
}

var namedResourceClaim = stream.Register("ResourceClaim")

// resourceClaims reads the claims and their templates, once.
func (in *input) resourceClaims() (claimIndex, error) {
	if in.claims != nil {
		return in.claims, nil
	}
	in.claims = claimIndex{}
	for _, item := range in.items {
		if !item.MentionsAny(namedResourceClaim) {
			continue
		}
		root, err := item.Root()
		if err != nil {
			return nil, err
		}
		if kind := objectOf(root).Kind; kind == "ResourceClaim" || kind == "ResourceClaimTemplate" {
			in.claims = append(in.claims, root)
		}
	}
	return in.claims, nil
}
