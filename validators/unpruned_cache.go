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
// that nothing in the input prunes, and jobs of ours that prune where the tier
// of their server no longer is.
func unprunedCache() rule.Rule {
	meta := rule.Named("unpruned-cache")
	return rule.Rule{Meta: meta, CheckRelease: func(r rule.Release) ([]finding.Finding, error) {
		if r.Engine != "sglang" || len(r.Mounts) == 0 && len(r.State.Settings) == 0 {
			return nil, nil
		}
		about, tier, known := hicacheTier(r)
		if !known {
			return nil, nil
		}
		users, err := r.VolumeUsers()
		if err != nil {
			return nil, err
		}
		gone := goneJobs(r, users, tier)
		if tier == nil {
			return outlived(r, meta, gone), nil
		}
		tier.Gone = gone
		f := unpruned(r, meta, about, tier)
		pruned, note := prunedByOthers(r, users, tier)
		if pruned {
			return outlived(r, meta, gone), nil
		}
		f.Message += note
		tier.Reserved = reserved(r, users, tier)
		if tier.Blocked == "" {
			tier.Blocked = untold(r, users, tier)
		}
		return []finding.Finding{f}, nil
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

// outlived is the finding about jobs of ours that have nothing left to prune.
func outlived(r rule.Release, meta rule.Meta, gone []finding.Object) []finding.Finding {
	if len(gone) == 0 {
		return nil
	}
	f := r.AboutServer(meta)
	f.Severity, f.Action = finding.Info, finding.Remove
	f.Setting = storageDir
	f.Tier = &finding.Tier{Gone: gone}
	f.Undo = "the job is written anew as soon as the server keeps a cache on a volume again"
	return []finding.Finding{f}
}

// hicacheTier is the tier of a server's file backend, and the setting that names
// its directory; nil where there is none, or where it lies on no volume that
// outlives the pod. It is not known where a setting that decides it is not.
func hicacheTier(r rule.Release) (about setting.Setting, tier *finding.Tier, known bool) {
	on, knownOn, _ := r.State.Value("enable_hierarchical_cache")
	backend, knownBackend, _ := r.State.Value("hicache_storage_backend")
	switch {
	case knownOn && on == false || knownOn && knownBackend && backend != "file":
		return about, nil, true
	case !knownOn || !knownBackend:
		// An option without default that is not given is none.
		return about, nil, knownOn && r.State.Opaque == "" && !r.State.Given("hicache_storage_backend") && !r.State.Given("config")
	}
	if extra, known, _ := r.State.Value("hicache_storage_backend_extra_config"); r.State.Given("hicache_storage_backend_extra_config") {
		object, _ := extra.(map[string]any)
		if !known || object["file_storage_path"] != nil {
			return about, nil, false
		}
	}
	given := slices.IndexFunc(r.State.Settings, func(s setting.Setting) bool { return s.Name == storageDir && !s.Overridden })
	if given < 0 {
		return about, nil, !r.EnvFrom
	}
	about = r.State.Settings[given]
	if about.Unknown {
		return about, nil, false
	}
	return about, tierAt(r, about.Value()), true
}

// tierAt is the tier of a configured directory; nil when it does not lie below a
// folder of a volume that outlives the pod.
func tierAt(r rule.Release, dir string) *finding.Tier {
	dir = path.Clean(dir)
	mount, persistent := r.Persistent(dir)
	parent := path.Dir(dir)
	if !persistent || !path.IsAbs(dir) || !server.Below(mount.Path, parent) {
		return nil
	}
	tier := &finding.Tier{
		Name: "hicache", Claim: mount.Claim, HostPath: mount.HostPath, SubPath: mount.SubPath,
		MountPath: mount.Path, Parent: parent, Page: "*.bin",
	}
	place, ok := server.PlaceOf(r.Mounts, parent)
	if !ok {
		root, _ := mount.Root()
		place = root
		tier.Blocked = "which folder of the volume is mounted is decided in the cluster"
	}
	tier.Volume, tier.Place = place.Volume, place.Path
	tier.Keep = map[string][]string{keeper(tier, r.Object): {path.Base(dir)}}
	return tier
}

func placeOf(tier *finding.Tier) server.Place {
	return server.Place{Volume: tier.Volume, Path: tier.Place}
}

// nameOf names an object in a job's record and in messages.
func nameOf(o finding.Object) string { return o.Kind + " " + o.Name }

// keeper names an object in a job's record. The disk of a node is shared by
// namespaces, a claim is not.
func keeper(tier *finding.Tier, o finding.Object) string {
	if tier.Volume == "" && o.Namespace != "" {
		return o.Kind + " " + o.Namespace + "/" + o.Name
	}
	return nameOf(o)
}

// sharing are the containers other than prune jobs of ours that may see a tier.
// A claim belongs to one namespace, the disk of a node to none.
func sharing(r rule.Release, users []server.VolumeUser, tier *finding.Tier) []server.VolumeUser {
	return slices.DeleteFunc(slices.Clone(users), func(u server.VolumeUser) bool {
		return IsPruneJob(u) || !u.MaySee(placeOf(tier)) || tier.Volume != "" && !sameNamespace(u.Object, r.Object)
	})
}

// IsPruneJob tells whether a container is that of a prune job of ours.
func IsPruneJob(u server.VolumeUser) bool {
	return u.Object.Kind == "CronJob" && u.Labels["app.kubernetes.io/managed-by"] == "trimtab"
}

// reserved are the names below the tier's parent that anything else uses, by the
// object that names them: a mount, a variable, an argument.
func reserved(r rule.Release, users []server.VolumeUser, tier *finding.Tier) map[string][]string {
	names := map[string][]string{}
	add := func(o finding.Object, name string) {
		by := keeper(tier, o)
		if plainName(name) && !slices.Contains(names[by], name) {
			names[by] = append(names[by], name)
			slices.Sort(names[by])
		}
	}
	for _, u := range sharing(r, users, tier) {
		for _, name := range u.NamesUnder(placeOf(tier)) {
			add(u.Object, name)
		}
	}
	for _, s := range r.State.Settings {
		for _, value := range s.Values {
			for _, name := range server.NamesIn(value, r.Mounts, placeOf(tier)) {
				add(r.Object, name)
			}
		}
	}
	for by, own := range names {
		names[by] = slices.DeleteFunc(own, func(name string) bool { return slices.Contains(tier.Keep[by], name) })
		if len(names[by]) == 0 {
			delete(names, by)
		}
	}
	return names
}

// plainName is false for what is no name: a pattern, or a name that is decided
// elsewhere.
func plainName(name string) bool {
	return name != "" && !strings.ContainsAny(name, "*?$") && !strings.Contains(name, "{{")
}

// untold says which other container of the volume keeps something there that
// its manifest does not tell.
func untold(r rule.Release, users []server.VolumeUser, tier *finding.Tier) string {
	for _, u := range sharing(r, users, tier) {
		if u.Is(r.Server.Server) {
			continue
		}
		dir, named := u.Variable(strings.TrimPrefix(storageDir, "env/"))
		switch {
		case named && dir.Unknown && u.MayLeadTo(dir.Value, placeOf(tier)):
			return nameOf(u.Object) + " mounts the same volume, and which directory it keeps there is not told here"
		case !named && u.EnvFrom && slices.ContainsFunc(u.Texts(), func(text string) bool { return strings.Contains(text, "hicache-storage-backend") }):
			return nameOf(u.Object) + " mounts the same volume, and envFrom may tell it to keep a directory there"
		}
		for _, name := range u.NamesUnder(placeOf(tier)) {
			if strings.Contains(name, "$") || strings.Contains(name, "{{") {
				return nameOf(u.Object) + " uses " + path.Join(tier.Parent, name) + " on the same volume, and what that stands for is not told here"
			}
		}
	}
	return ""
}

// goneJobs are the prune jobs of ours that name the server as theirs and prune
// elsewhere than where its tier is.
func goneJobs(r rule.Release, users []server.VolumeUser, tier *finding.Tier) []finding.Object {
	var gone []finding.Object
	for _, u := range users {
		if !IsPruneJob(u) || u.Annotations["trimtab.dev/server"] != nameOf(r.Object) || !sameNamespace(u.Object, r.Object) {
			continue
		}
		place, known := server.PlaceOf(u.Mounts, u.Annotations["trimtab.dev/parent"])
		if tier == nil || known && place != placeOf(tier) {
			gone = append(gone, u.Object)
		}
	}
	return gone
}

// sameNamespace: an object without a namespace gets that of the kustomization or
// the command that applies it.
func sameNamespace(a, b finding.Object) bool {
	return a.Namespace == b.Namespace || a.Namespace == "" || b.Namespace == ""
}
