package server

import (
	"path"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/trimtab/trimtab/internal/setting"
)

// Mount is a volume as a container sees it. Claim and HostPath are empty for
// volumes that do not outlive the pod.
type Mount struct {
	Path, SubPath   string
	Claim, HostPath string
	// ConfigMap is the one whose keys are mounted, Keys the keys by their paths
	// where the volume lists them.
	ConfigMap string
	Keys      map[string]string
	// InMemory is true for an emptyDir of medium Memory; SizeLimit is that of an
	// emptyDir, as written.
	InMemory  bool
	SizeLimit string
	ReadOnly  bool
	// At leads to the mount in the object.
	At setting.Path
	// Anywhere is true where the subPath is an expression: which folder of the
	// volume is mounted is then decided in the cluster.
	Anywhere bool
}

// Place is a folder or file inside a volume that outlives the pod, whatever
// paths containers mount it at. Volume is the name of a claim, or empty for the
// disk of the node; Path begins with a slash and is clean.
type Place struct{ Volume, Path string }

// Holds tells whether another place is this one or lies below it.
func (p Place) Holds(other Place) bool {
	return p.Volume == other.Volume && Below(p.Path, other.Path)
}

// Under is the name directly below this place on the way to another one; empty
// where that is no place below it.
func (p Place) Under(other Place) string {
	if !p.Holds(other) {
		return ""
	}
	rest := strings.TrimPrefix(strings.TrimPrefix(other.Path, p.Path), "/")
	name, _, _ := strings.Cut(rest, "/")
	return name
}

// Root is the place that a mount shows; false for volumes that do not outlive
// the pod.
func (m Mount) Root() (Place, bool) {
	switch {
	case m.Claim != "":
		return Place{m.Claim, path.Join("/", m.SubPath)}, true
	case m.HostPath != "":
		return Place{"", path.Join("/", m.HostPath, m.SubPath)}, true
	}
	return Place{}, false
}

// PlaceOf is where a path of a container lies, by the mount with the longest
// path; false outside of volumes that outlive the pod.
func PlaceOf(mounts []Mount, name string) (Place, bool) {
	mount, persistent := mountOf(mounts, name)
	root, _ := mount.Root()
	if !persistent || mount.Anywhere {
		return Place{}, false
	}
	root.Path = path.Join(root.Path, strings.TrimPrefix(path.Clean(name), path.Clean(mount.Path)))
	return root, true
}

// Pod is what a helper pod must share with a server's to reach its volumes and
// to delete what the server wrote.
type Pod struct {
	// RunAsUser, RunAsGroup and FSGroup are nil where the manifest is silent.
	RunAsUser, RunAsGroup, FSGroup *int64
	SupplementalGroups             []int64
	NodeSelector                   map[string]string
	// Labels are those of the pod, as the manifest or its operator writes them.
	Labels      map[string]string
	Tolerations []map[string]any
}

// Persistent finds the mount that a path lies in, when its volume outlives the
// pod: the one with the longest mount path.
func (s *Server) Persistent(name string) (Mount, bool) {
	return mountOf(s.Mounts, name)
}

func mountOf(mounts []Mount, name string) (Mount, bool) {
	var best Mount
	for _, mount := range mounts {
		if Below(mount.Path, name) && len(mount.Path) > len(best.Path) {
			best = mount
		}
	}
	return best, best.Claim != "" || best.HostPath != ""
}

// Mounted finds the mount at a path.
func (s *Server) Mounted(name string) (Mount, bool) {
	for _, mount := range s.Mounts {
		if path.Clean(mount.Path) == name {
			return mount, true
		}
	}
	return Mount{}, false
}

// Below tells whether a path is a folder or lies in it.
func Below(folder, name string) bool {
	folder, name = path.Clean(folder), path.Clean(name)
	return name == folder || strings.HasPrefix(name, strings.TrimSuffix(folder, "/")+"/")
}

// mounts joins the lists of volumes and of mounts; the path leads to the latter.
func mounts(volumes, volumeMounts *yaml.Node, path setting.Path) []Mount {
	if volumeMounts == nil || volumeMounts.Kind != yaml.SequenceNode {
		return nil
	}
	var list []Mount
	for i, element := range volumeMounts.Content {
		mount := Mount{
			At:   path.Join(i),
			Path: text(at(element, "mountPath")), SubPath: text(at(element, "subPath")), ReadOnly: text(at(element, "readOnly")) == "true",
			Anywhere: text(at(element, "subPathExpr")) != "" || decidedElsewhere(text(at(element, "subPath"))),
		}
		if mount.Path == "" {
			continue
		}
		volume := named(volumes, text(at(element, "name")))
		mount.Claim = text(at(volume, "persistentVolumeClaim", "claimName"))
		mount.HostPath = text(at(volume, "hostPath", "path"))
		mount.InMemory = text(at(volume, "emptyDir", "medium")) == "Memory"
		mount.SizeLimit = text(at(volume, "emptyDir", "sizeLimit"))
		if source := at(volume, "configMap"); source != nil {
			mount.ConfigMap, mount.Keys = text(at(source, "name")), keysOf(source)
		}
		list = append(list, mount)
	}
	return list
}

// named finds the element of a list that has a name.
func named(list *yaml.Node, name string) *yaml.Node {
	if list == nil || list.Kind != yaml.SequenceNode {
		return nil
	}
	for _, element := range list.Content {
		if element = resolve(element); text(at(element, "name")) == name {
			return element
		}
	}
	return nil
}

// podOf reads what a helper pod must share; own is the container's security
// context, which wins over the pod's.
func podOf(security, own, nodeSelector, tolerations, labels *yaml.Node) Pod {
	pod := Pod{
		RunAsUser: number(own, security, "runAsUser"), RunAsGroup: number(own, security, "runAsGroup"),
		FSGroup: number(security, security, "fsGroup"), NodeSelector: stringMap(nodeSelector), Labels: stringMap(labels),
	}
	if groups := at(security, "supplementalGroups"); groups != nil {
		for _, element := range groups.Content {
			if group, err := strconv.ParseInt(element.Value, 10, 64); err == nil {
				pod.SupplementalGroups = append(pod.SupplementalGroups, group)
			}
		}
	}
	if tolerations != nil {
		var list []map[string]any
		if tolerations.Decode(&list) == nil {
			pod.Tolerations = list
		}
	}
	return pod
}

func number(first, second *yaml.Node, key string) *int64 {
	for _, node := range []*yaml.Node{first, second} {
		if n, ok := integer(at(node, key)); ok {
			return &n
		}
	}
	return nil
}
