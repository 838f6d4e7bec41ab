package validators

import (
	"path"
	"slices"
	"strings"

	"github.com/trimtab/trimtab/internal/finding"
	"github.com/trimtab/trimtab/internal/rule"
	"github.com/trimtab/trimtab/internal/server"
	"github.com/trimtab/trimtab/internal/setting"
)

// storageDir is where SGLang's file backend keeps its pages.
const storageDir = "env/SGLANG_HICACHE_FILE_BACKEND_STORAGE_DIR"

// unprunedCache finds a growing cache tier on a volume that outlives the pod and
// that no CronJob of the input prunes.
func unprunedCache() rule.Rule {
	meta := rule.Named("unpruned-cache")
	return rule.Rule{Meta: meta, CheckRelease: func(r rule.Release) ([]finding.Finding, error) {
		for _, about := range r.State.Settings {
			if about.Name != storageDir || about.Unknown || !usesFileBackend(r) {
				continue
			}
			tier, ok := hicacheTier(r, about.Value())
			if !ok || prunedByHand(r, tier) {
				return nil, nil
			}
			return []finding.Finding{unpruned(r, meta, about, tier)}, nil
		}
		return nil, nil
	}}
}

func unpruned(r rule.Release, meta rule.Meta, about setting.Setting, tier *finding.Tier) finding.Finding {
	f := r.About(meta, about)
	f.Places, f.Tier, f.Action = nil, tier, finding.Add
	f.Message = storageDir + ": the engine never removes the directories beside " + path.Base(about.Value()) +
		", which earlier images and weights left in " + tier.Parent + ", and no CronJob here prunes them"
	f.Undo = "set `prune: false` in the config; a rollback to a generation that was pruned starts cold"
	f.Evidence = []finding.Evidence{{
		Engine: "sglang", Versions: ">=0.4.10",
		Source: "python/sglang/srt/mem_cache/hicache_storage.py, HiCacheFile, and storage/file/lru_file_evictor.py: both look at the configured directory alone",
	}}
	return f
}

func usesFileBackend(r rule.Release) bool {
	on, known, _ := r.State.Value("enable_hierarchical_cache")
	backend, knownBackend, _ := r.State.Value("hicache_storage_backend")
	return known && knownBackend && on == true && backend == "file"
}

// hicacheTier is the tier of a configured directory; false when it does not lie
// below a folder of a volume that outlives the pod.
func hicacheTier(r rule.Release, dir string) (*finding.Tier, bool) {
	dir = path.Clean(dir)
	mount, persistent := r.Persistent(dir)
	parent := path.Dir(dir)
	if !persistent || !path.IsAbs(dir) || !server.Below(mount.Path, parent) {
		return nil, false
	}
	tier := &finding.Tier{
		Name: "hicache", Claim: mount.Claim, HostPath: mount.HostPath, SubPath: mount.SubPath,
		MountPath: mount.Path, Parent: parent, Keep: []string{path.Base(dir)}, Page: "*.bin",
	}
	tier.Reserved = reserved(r, tier)
	return tier, true
}

// reserved are the names below the tier's parent that other mounts, variables
// and arguments of the server name.
func reserved(r rule.Release, tier *finding.Tier) []string {
	var texts, names []string
	for _, mount := range r.Mounts {
		texts = append(texts, mount.Path)
		if mount.Claim == tier.Claim && mount.HostPath == tier.HostPath && mount.SubPath != "" && tier.SubPath == "" {
			texts = append(texts, path.Join(tier.MountPath, mount.SubPath))
		}
	}
	for _, s := range r.State.Settings {
		texts = append(texts, s.Values...)
	}
	for _, text := range texts {
		below, ok := strings.CutPrefix(path.Clean(text), tier.Parent+"/")
		name, _, _ := strings.Cut(below, "/")
		if ok && name != "" && !slices.Contains(tier.Keep, name) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// prunedByHand tells whether a CronJob that is not ours mounts the tier's volume
// and deletes in it.
func prunedByHand(r rule.Release, tier *finding.Tier) bool {
	return slices.ContainsFunc(r.CronJobs, func(job server.CronJob) bool {
		return job.Deletes && sameNamespace(job.Object, r.Object) && job.Labels["app.kubernetes.io/managed-by"] != "trimtab" && MountsTier(job, tier)
	})
}

// MountsTier tells whether a CronJob mounts the volume of a tier.
func MountsTier(job server.CronJob, tier *finding.Tier) bool {
	return slices.ContainsFunc(job.Mounts, func(m server.Mount) bool {
		return tier.Claim != "" && m.Claim == tier.Claim || tier.HostPath != "" && m.HostPath == tier.HostPath
	})
}

// sameNamespace: an object without a namespace gets that of the kustomization or
// the command that applies it.
func sameNamespace(a, b finding.Object) bool {
	return a.Namespace == b.Namespace || a.Namespace == "" || b.Namespace == ""
}
