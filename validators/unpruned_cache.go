package validators

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/trimtab/trimtab/internal/engine"
	"github.com/trimtab/trimtab/internal/finding"
	"github.com/trimtab/trimtab/internal/rule"
	"github.com/trimtab/trimtab/internal/server"
)

// storageDir is where SGLang's file backend keeps its pages.
const storageDir = "env/SGLANG_HICACHE_FILE_BACKEND_STORAGE_DIR"

// unprunedCache finds growing cache tiers on volumes that outlive the pod and
// that nothing in the input prunes, and jobs of ours that prune where the tier
// of their server no longer is.
func unprunedCache() rule.Rule {
	meta := rule.Named("unpruned-cache")
	return rule.Rule{Meta: meta, CheckRelease: func(r rule.Release) ([]finding.Finding, error) {
		if len(r.Mounts) == 0 && len(r.State.Settings) == 0 {
			return nil, nil
		}
		caches, known := tiersOf(r)
		users, err := r.VolumeUsers()
		if err != nil {
			return nil, err
		}
		var growing []cacheTier
		var tiers []*finding.Tier
		for _, cache := range caches {
			if tier := cache.pruned(r); tier != nil {
				growing, tiers = append(growing, cache), append(tiers, tier)
			}
		}
		joinCompiled(tiers)
		var gone []finding.Object
		if known {
			gone = goneJobs(r, users, tiers)
		}
		var found []finding.Finding
		for i, tier := range tiers {
			f := growing[i].unpruned(r, meta, tier)
			pruned, note := prunedByOthers(r, users, tier)
			if pruned {
				continue
			}
			f.Message += note
			tier.Reserved = reserved(r, users, tier)
			if tier.Blocked == "" {
				tier.Blocked = untold(r, users, tier)
			}
			tier.Gone, gone = ofTier(users, gone, tier)
			found = append(found, f)
		}
		return append(found, outlived(r, meta, gone)...), nil
	}}
}

// unpruned is the finding about one tier.
func (c cacheTier) unpruned(r rule.Release, meta rule.Meta, tier *finding.Tier) finding.Finding {
	f := r.Proven(r.About(meta, c.about), engine.Judgement{Fact: c.fact})
	f.Places, f.Tier, f.Action = nil, tier, finding.Add
	switch {
	case tier.Flat:
		f.Message = c.about.Name + ": " + c.why + ", and no CronJob here prunes " + tier.Parent
		f.Undo = "set `prune: false` in the config"
	case c.fact.Tier.Compiled:
		f.Message = c.about.Name + ": nothing removes the directories beside " + path.Base(c.generation(tier)) +
			", which hold what earlier images compiled in " + tier.Parent + ", and no CronJob here prunes them"
		f.Undo = "set `prune: false` in the config; a rollback to an image whose kernels were pruned compiles them anew"
	default:
		f.Message = c.about.Name + ": the engine never removes the directories beside " + path.Base(c.generation(tier)) +
			", which earlier images and weights left in " + tier.Parent + ", and no CronJob here prunes them"
		f.Undo = "set `prune: false` in the config; a rollback to a generation that was pruned starts cold"
		if c.bounded == engine.False {
			f.Message += "; " + path.Base(c.directory) + " itself grows too, for " + c.why
		}
	}
	if perToken, known, _ := r.State.Derived("file_per_token"); known && perToken == true && c.fact.Tier.Name == "hicache" {
		f.Message += "; with page size 1 it writes a file for each token"
	}
	return f
}

// generation is the directory of a tier that the server uses now.
func (c cacheTier) generation(tier *finding.Tier) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(c.directory, strings.TrimSuffix(tier.Parent, "/")+"/"), "/")
	return path.Join(tier.Parent, name)
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
// where none of its tiers is.
func goneJobs(r rule.Release, users []server.VolumeUser, tiers []*finding.Tier) []finding.Object {
	var gone []finding.Object
	for _, u := range users {
		if !IsPruneJob(u) || u.Annotations["trimtab.dev/server"] != nameOf(r.Object) || !sameNamespace(u.Object, r.Object) {
			continue
		}
		place, known := server.PlaceOf(u.Mounts, u.Annotations["trimtab.dev/parent"])
		still := slices.ContainsFunc(tiers, func(t *finding.Tier) bool { return place == placeOf(t) && TierOfJob(u) == t.Name })
		if !still && (known || len(tiers) == 0) {
			gone = append(gone, u.Object)
		}
	}
	return gone
}

// ofTier parts the jobs that prune a tier of a name from the others.
func ofTier(users []server.VolumeUser, jobs []finding.Object, tier *finding.Tier) (own, others []finding.Object) {
	for _, job := range jobs {
		its := slices.IndexFunc(users, func(u server.VolumeUser) bool { return u.Object == job && IsPruneJob(u) })
		if TierOfJob(users[its]) == tier.Name {
			own = append(own, job)
			continue
		}
		others = append(others, job)
	}
	return own, others
}

// TierOfJob is the name of the tier that a job of ours prunes.
func TierOfJob(u server.VolumeUser) string {
	return cmp.Or(u.Annotations["trimtab.dev/tier"], "hicache")
}

// sameNamespace: an object without a namespace gets that of the kustomization or
// the command that applies it.
func sameNamespace(a, b finding.Object) bool {
	return a.Namespace == b.Namespace || a.Namespace == "" || b.Namespace == ""
}
