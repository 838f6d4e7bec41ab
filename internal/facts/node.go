package facts

import (
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/trimtab/trimtab/hardware"
	"github.com/trimtab/trimtab/internal/server"
)

// productLabels name the card of a node: GKE's accelerator, NVIDIA's GPU feature
// discovery, AMD's node labeller, EKS and Karpenter, Alibaba Cloud. The more
// exact come first.
var productLabels = []string{
	"nvidia.com/gpu.product", "amd.com/gpu.product-name", "beta.amd.com/gpu.product-name",
	"cloud.google.com/gke-accelerator", "k8s.amazonaws.com/accelerator", "karpenter.k8s.aws/instance-gpu-name",
	"aliyun.accelerator/nvidia_name",
}

// deviceLabels hold the PCI device id of an AMD card.
var deviceLabels = []string{"amd.com/gpu.device-id", "beta.amd.com/gpu.device-id"}

// tellNamedCard tells the card that the labels of the node, or the object by
// name, ask for. A name the catalogue does not know, or that fits several cards,
// tells nothing; a MIG slice is not the card.
func (g *Gathered) tellNamedCard(s *server.Server) {
	if s.GPUs.Slice {
		return
	}
	if card, ok := hardware.GPU(s.GPUs.Card); ok {
		g.tellNamed(card, s.GPUs.CardSource)
	}
	for _, label := range productLabels {
		if card, ok := hardware.GPU(strings.TrimSuffix(s.Node[label], "-SHARED")); ok {
			g.tellNamed(card, "node label "+label)
		}
	}
	for _, label := range deviceLabels {
		if card, ok := hardware.GPUByDevice(s.Node[label]); ok {
			g.tellNamed(card, "node label "+label)
		}
	}
}

// tellMaker tells what labels say of the maker alone, and the image of the
// architecture it is built for.
func (g *Gathered) tellMaker(s *server.Server) {
	for _, label := range slices.Sorted(maps.Keys(s.Node)) {
		if vendor, ok := vendorOfLabel(label, s.Node[label]); ok {
			g.tell("gpu.vendor", vendor, "node label "+label)
		}
	}
	g.tellText("gpu.arch", builtFor(s.Image), "image")
}

// tellNamed records a card under the catalogue's name, unless the user's name
// for the target means the same one.
func (g *Gathered) tellNamed(card hardware.GPUEntry, source string) {
	if stated, ok := g.Set["gpu.name"].Value.(string); ok {
		same, known := hardware.GPU(stated)
		switch {
		case known && same.Name == card.Name:
			return
		case !known && slices.Contains(hardware.GPUsLike(stated), card.Name):
			// The user names a family (h100), and the node which of it.
			g.Set["gpu.name"] = Fact{Value: card.Name, Source: g.Set["gpu.name"].Source + " and " + source}
			return
		}
	}
	g.tell("gpu.name", card.Name, source)
}

// vendorOfLabel is the maker that a label of the labellers tells; one whose
// value is false tells none.
func vendorOfLabel(label, value string) (string, bool) {
	if value == "false" || value == "" {
		return "", false
	}
	domain, _, _ := strings.Cut(strings.TrimPrefix(label, "beta."), "/")
	switch domain {
	case "nvidia.com":
		return "nvidia", true
	case "amd.com":
		return "amd", true
	case "gpu.intel.com", "habana.ai":
		return "intel", true
	}
	return "", false
}

// builtFor is the architecture for which a ROCm image says it is built, in its
// tag or name: v0.5.15-gfx1201. A family such as gfx120X, and several, are none.
func builtFor(image string) string {
	reference, _, _ := strings.Cut(image, "@")
	var only string
	for _, arch := range gfx.FindAllString(path.Base(reference), -1) {
		if only != "" && only != arch {
			return ""
		}
		only = arch
	}
	return only
}

var gfx = regexp.MustCompile(`\bgfx[0-9a-f]{3,4}\b`)
