package validators

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/trimtab/trimtab/internal/facts"
	"github.com/trimtab/trimtab/internal/finding"
	"github.com/trimtab/trimtab/internal/rule"
	"github.com/trimtab/trimtab/internal/server"
	"github.com/trimtab/trimtab/internal/setting"
)

// deviceResources are what the device plugin of each vendor calls a whole GPU,
// which is also what its taints and tolerations are called.
//
// Source: NVIDIA/k8s-device-plugin, ROCm/k8s-device-plugin,
// intel/intel-device-plugins-for-kubernetes (i915; xe for the newer driver).
var deviceResources = map[string]string{"nvidia": "nvidia.com/gpu", "amd": "amd.com/gpu", "intel": "gpu.intel.com/xe"}

// vendorImages are images of each engine for the GPUs of a vendor.
var vendorImages = map[string]string{
	"vllm nvidia":   "vllm/vllm-openai",
	"vllm amd":      "vllm/vllm-openai-rocm (from 0.14.0 on), or rocm/vllm",
	"sglang nvidia": "lmsysorg/sglang without `-rocm` in its tag",
	"sglang amd":    "lmsysorg/sglang with `-rocm` and the card in its tag (v0.5.6-rocm700-mi30x)",
}

// placedElsewhere finds what places the pod on other GPUs than the stated target:
// resources, labels of the node, tolerations, runtime class and image. The value
// to write is told and not written: where a pod runs is its owner's business.
func placedElsewhere(s rule.Server, meta rule.Meta) []finding.Finding {
	moved, ok := s.Facts.MovedFrom()
	if !ok {
		return nil
	}
	p := placement{Server: s, Moved: moved, meta: meta}
	p.target, _ = s.Facts.Set["gpu.vendor"].Value.(string)
	p.resources()
	p.node()
	if p.target != "" && p.target != moved.Vendor {
		p.pod()
		p.image()
	}
	return p.found
}

// placement is a server whose pod is placed on other GPUs than the target.
type placement struct {
	rule.Server
	facts.Moved
	meta   rule.Meta
	target string // its vendor
	found  []finding.Finding
}

// says adds a finding about a field.
func (p *placement) says(path setting.Path, value, proposed, source, message string) {
	f := proven(p.Server, p.AboutServer(p.meta), source)
	f.Setting, f.Value, f.Proposed, f.Message, f.Placement = path.String(), value, proposed, message, true
	f.Origin = setting.Origin{Kind: setting.Field, Path: path}
	f.Undo = "or state the GPUs of the manifest as the target"
	p.found = append(p.found, f)
}

// resources: the name of the resource and its count.
func (p *placement) resources() {
	count, _ := p.Facts.Set["gpu.count"].Value.(int64)
	asked, isAsked := p.Facts.Set["gpu.asked"].Value.(int64)
	path := p.Path.Join("resources")
	now, wanted := deviceResources[p.GPUs.Vendor], deviceResources[p.target]
	switch {
	case !isAsked:
	case p.GPUs.Vendor != "" && p.target != "" && p.GPUs.Vendor != p.target && wanted != "":
		if p.Count == 0 || !p.OnePod {
			count = asked
		}
		p.says(path, fmt.Sprintf("%s: %d", now, asked), fmt.Sprintf("%s: %d", wanted, count), "the resources that device plugins offer: "+now+", "+wanted,
			fmt.Sprintf("the pod asks for %d of %s (%s), and the target %s is of %s: write %s: %d", asked, now, p.GPUs.Source, named(p.Facts), p.target, wanted, count))
	case p.Count > 0 && p.OnePod: // of several pods each asks for its share
		p.says(path, fmt.Sprint(asked), fmt.Sprint(count), "the count under "+p.GPUs.Source,
			fmt.Sprintf("the pod asks for %s (%s), and the target has %d: write %d", many(asked, "GPU"), p.GPUs.Source, count, count))
	}
}

// node: a label of the node that names another card.
func (p *placement) node() {
	label, isLabel := strings.CutPrefix(p.Told["gpu.name"], "node label ")
	if !isLabel {
		return
	}
	target, known := p.Facts.Set["gpu.name"].Value.(string)
	if !known {
		return
	}
	write := "the label of a node with " + recordedAs(target)
	if p.target != "" && p.target != p.Vendor {
		write += ", such as " + deviceResources[p.target] + map[string]string{"nvidia": ".product", "amd": ".product-name"}[p.target]
	}
	pod, _ := podOf(p.Path)
	p.says(pod.Join("nodeSelector"), label+": "+p.Node[label], "", "the label "+label+", read by the catalogue of GPUs",
		fmt.Sprintf("the node is chosen by %s: %s, which is %s, and the target is %s: write %s", label, p.Node[label], p.Card, recordedAs(target), write))
}

// podOf is the path of the pod's spec that holds a container, and whether there is
// one.
func podOf(container setting.Path) (setting.Path, bool) {
	if len(container) < 2 || container[len(container)-2] != "containers" {
		return container, false
	}
	return container[:len(container)-2], true
}

// pod: tolerations and the runtime class of the old vendor.
func (p *placement) pod() {
	path, ok := podOf(p.Path)
	root, err := p.Item.Root()
	if !ok || err != nil || root == nil {
		return
	}
	now, wanted := deviceResources[p.Vendor], deviceResources[p.target]
	tolerations := server.Lookup(root, path.Join("tolerations"))
	if tolerations != nil && tolerations.Kind == yaml.SequenceNode && now != "" && wanted != "" {
		for i := range tolerations.Content {
			key := server.Lookup(root, path.Join("tolerations", i, "key"))
			if key != nil && key.Value == now {
				p.says(path.Join("tolerations", i, "key"), now, wanted, "nodes with GPUs are tainted by the name of their resource: "+now+", "+wanted,
					fmt.Sprintf("the pod tolerates the taint %s, and nodes of the target have %s: write that", now, wanted))
			}
		}
	}
	class := server.Lookup(root, path.Join("runtimeClassName"))
	if class != nil && class.Value == "nvidia" && p.target != "nvidia" {
		p.says(path.Join("runtimeClassName"), class.Value, "", "NVIDIA/gpu-operator and NVIDIA/nvidia-container-toolkit: the class nvidia is their runtime",
			"the runtime class nvidia is that of NVIDIA's container toolkit, which nodes of the target do not have: take it out")
	}
}

// image: an official image is built for one vendor.
func (p *placement) image() {
	built := imageVendor(p.Image)
	if built == "" || built == p.target || p.target == "intel" {
		return
	}
	p.says(p.ImagePath, p.Image, "", imageProof,
		fmt.Sprintf("the image is built for %s GPUs, and the target %s is of %s: take an image of the same release for %s: %s",
			built, named(p.Facts), p.target, p.target, vendorImages[p.Engine+" "+p.target]))
}
