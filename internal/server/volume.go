package server

import (
	"path"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/trimtab/trimtab/internal/finding"
	"github.com/trimtab/trimtab/internal/stream"
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
}

// Pod is what a helper pod must share with a server's to reach its volumes and
// to delete what the server wrote.
type Pod struct {
	// RunAsUser, RunAsGroup and FSGroup are nil where the manifest is silent.
	RunAsUser, RunAsGroup, FSGroup *int64
	SupplementalGroups             []int64
	NodeSelector                   map[string]string
	// Labels are those of the pod, where the manifest writes them.
	Labels      map[string]string
	Tolerations []map[string]any
}

// CronJob is a CronJob among the items: what it mounts and whether it deletes.
type CronJob struct {
	Item                *stream.Item
	Object              finding.Object
	Labels, Annotations map[string]string
	Mounts              []Mount
	// Deletes is true when a command of it removes files.
	Deletes bool
}

// Persistent finds the mount that a path lies in, when its volume outlives the
// pod: the one with the longest mount path.
func (s *Server) Persistent(name string) (Mount, bool) {
	var best Mount
	for _, mount := range s.Mounts {
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

// mounts joins the lists of volumes and of mounts.
func mounts(volumes, volumeMounts *yaml.Node) []Mount {
	if volumeMounts == nil || volumeMounts.Kind != yaml.SequenceNode {
		return nil
	}
	var list []Mount
	for _, element := range volumeMounts.Content {
		mount := Mount{Path: text(at(element, "mountPath")), SubPath: text(at(element, "subPath"))}
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

// cronJobs finds the CronJobs among the items.
func cronJobs(items []*stream.Item) ([]CronJob, error) {
	var jobs []CronJob
	for _, item := range items {
		if !item.Mentions("CronJob") {
			continue
		}
		root, err := item.Root()
		if err != nil {
			return nil, err
		}
		object := objectOf(root)
		if object.Kind != "CronJob" || !strings.HasPrefix(object.APIVersion, "batch/") {
			continue
		}
		job := CronJob{Item: item, Object: object, Labels: stringMap(at(root, "metadata", "labels")), Annotations: stringMap(at(root, "metadata", "annotations"))}
		podSpec := at(root, "spec", "jobTemplate", "spec", "template", "spec")
		containers := at(podSpec, "containers")
		if containers == nil || containers.Kind != yaml.SequenceNode {
			continue
		}
		for _, container := range containers.Content {
			job.Mounts = append(job.Mounts, mounts(at(podSpec, "volumes"), at(container, "volumeMounts"))...)
			job.Deletes = job.Deletes || deletes(at(container, "command")) || deletes(at(container, "args"))
		}
		jobs = append(jobs, job)
	}
	return jobs, nil
}

// deletes tells whether a command or a script in it removes files.
func deletes(list *yaml.Node) bool {
	if list == nil {
		return false
	}
	for _, element := range list.Content {
		word := text(element)
		if word == "rm" || strings.Contains(word, "rm -") || strings.Contains(word, "rm --") || strings.Contains(word, "-delete") {
			return true
		}
	}
	return false
}
