package server

import (
	"strings"

	"go.yaml.in/yaml/v3"
)

// containerGPUs reads the device resources of a container's limits, or of its
// requests where there are no limits.
func containerGPUs(podSpec, container *yaml.Node) GPUs {
	if !isNull(at(container, "resources", "claims")) {
		return GPUs{} // dynamic resource allocation: the claim says how many
	}
	var asked GPUs
	shared := false
	for _, list := range []string{"limits", "requests"} {
		resources := at(container, "resources", list)
		if resources == nil || resources.Kind != yaml.MappingNode {
			continue
		}
		for i := 0; i+1 < len(resources.Content); i += 2 {
			name := resources.Content[i].Value
			if sharesDevice(name) {
				shared = true
			}
			if !isDevice(name) {
				continue
			}
			if asked.Count != nil {
				if asked.Source != "resources."+list+"["+name+"]" && list == "limits" {
					shared = true // two kinds of devices in one container
				}
				continue
			}
			count, ok := integer(resources.Content[i+1])
			if !ok {
				return GPUs{Vendor: vendorOf(name)}
			}
			asked = GPUs{
				Count: known(count), Vendor: vendorOf(name),
				Whole:  known(wholeDevice(name) && !seesHostDevices(podSpec, container)),
				Slice:  strings.Contains(name, "/mig-"),
				Source: "resources." + list + "[" + name + "]",
			}
		}
	}
	if shared {
		asked.Whole = known(false)
	}
	return asked
}

// sharesDevice recognises the resources by which schedulers hand out parts of a
// GPU: memory or cores of it.
func sharesDevice(resource string) bool {
	domain, name, _ := strings.Cut(resource, "/")
	part := strings.Contains(name, "mem") || strings.Contains(name, "core") || strings.Contains(name, "percent")
	return part && (domain == "nvidia.com" || domain == "amd.com" || strings.Contains(name, "gpu"))
}

// isDevice recognises the resource names under which device plugins hand out
// accelerators: those of the vendors, and the generic plugins' render nodes.
func isDevice(resource string) bool {
	domain, name, found := strings.Cut(resource, "/")
	if !found {
		return false
	}
	switch domain {
	case "nvidia.com", "amd.com":
		return name == "gpu" || strings.HasPrefix(name, "gpu.") || strings.HasPrefix(name, "mig-")
	case "gpu.intel.com", "habana.ai":
		return !strings.HasSuffix(name, "_monitoring")
	case "intel.com":
		return name == "gpu"
	}
	return resource == "squat.ai/dri" || resource == "devic.es/dri-render"
}

func vendorOf(resource string) string {
	switch {
	case strings.HasPrefix(resource, "nvidia.com/"):
		return "nvidia"
	case strings.HasPrefix(resource, "amd.com/"):
		return "amd"
	case strings.HasPrefix(resource, "gpu.intel.com/"), resource == "intel.com/gpu", strings.HasPrefix(resource, "habana.ai/"):
		return "intel"
	}
	return ""
}

// wholeDevice is false for the names of slices: MIG profiles and the renamed
// resource of NVIDIA time slicing.
func wholeDevice(resource string) bool {
	return !strings.Contains(resource, "mig-") && !strings.HasSuffix(resource, ".shared")
}

// seesHostDevices: a privileged container, or one that mounts device files of
// the host, sees devices that no plugin handed out.
func seesHostDevices(podSpec, container *yaml.Node) bool {
	if text(at(container, "securityContext", "privileged")) == "true" {
		return true
	}
	volumes := at(podSpec, "volumes")
	if volumes == nil || volumes.Kind != yaml.SequenceNode {
		return false
	}
	for _, volume := range volumes.Content {
		path := text(at(volume, "hostPath", "path"))
		if path == "/dev" || strings.HasPrefix(path, "/dev/dri") || strings.HasPrefix(path, "/dev/kfd") || strings.HasPrefix(path, "/dev/nvidia") {
			return true
		}
	}
	return false
}
