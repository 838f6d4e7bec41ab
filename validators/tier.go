package validators

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/trimtab/trimtab/internal/engine"
	"github.com/trimtab/trimtab/internal/finding"
	"github.com/trimtab/trimtab/internal/rule"
	"github.com/trimtab/trimtab/internal/server"
	"github.com/trimtab/trimtab/internal/setting"
)

// cacheTier is a cache that a setting of a server names and that lies on a volume
// which outlives the pod.
type cacheTier struct {
	about setting.Setting
	fact  *engine.Fact
	why   string
	// directory is the one that the engine is given.
	directory string
	mount     server.Mount
	// bounded tells whether the engine bounds the directory by itself.
	bounded engine.Truth
}

// tiersOf are the tiers of a server, by the facts about what grows; false where
// a setting that decides about one is not known.
func tiersOf(r rule.Release) (tiers []cacheTier, known bool) {
	known = !r.EnvFrom && r.State.Opaque == "" && !r.State.Given("config")
	for _, about := range r.State.Settings {
		if about.Overridden {
			continue
		}
		judgements, _ := r.State.Knowledge.Judge(r.State, about, engine.Grows)
		for _, judgement := range judgements {
			directories, told := judgement.Fact.Directories(r.State, about)
			if judgement.Holds != engine.True || !told {
				known = false
				continue
			}
			for _, directory := range directories {
				directory = path.Clean(directory)
				if mount, persistent := r.Persistent(directory); persistent && path.IsAbs(directory) {
					tiers = append(tiers, cacheTier{about, judgement.Fact, judgement.Why, directory, mount, judgement.Fact.Bounded(r.State, about)})
				}
			}
		}
	}
	return tiers, known
}

// pruned is what a job would prune of a tier; nil where nothing grows without
// bound.
func (c cacheTier) pruned(r rule.Release) *finding.Tier {
	facts := c.fact.Tier
	tier := &finding.Tier{
		Name: facts.Name, Claim: c.mount.Claim, HostPath: c.mount.HostPath, SubPath: c.mount.SubPath, MountPath: c.mount.Path,
		Pages: facts.Pages, Partial: facts.Partial, Trees: facts.Trees,
	}
	generation := c.directory
	switch {
	case facts.Held != "":
		tier.Flat, tier.Blocked = true, "nothing in it may be deleted while the server runs: "+facts.Held
	case facts.Flat():
		tier.Flat = true
	case facts.Compiled:
		if generation = c.versioned(r); generation == "" {
			return nil // one set of kernels for all images, which grows by megabytes
		}
		if generation != c.directory {
			// One directory for all caches of a version: what lies in it are they.
			tier.Name, tier.Partial = "compiled", ""
			tier.Pages = []string{strings.SplitN(strings.TrimPrefix(c.directory, generation+"/"), "/", 2)[0]}
		}
	case !server.Below(c.mount.Path, path.Dir(c.directory)):
		if c.bounded != engine.False {
			return nil // there is nothing beside it on the volume
		}
		tier.Flat = true
	}
	if tier.Parent = path.Dir(generation); tier.Flat {
		tier.Parent = c.directory
	}
	if tier.Name == facts.Name && !c.fact.MayEdit(r.State.Release) && tier.Blocked == "" {
		tier.Blocked = "what it holds is not read in source for this release"
	}
	c.locate(r, tier)
	if !tier.Flat {
		tier.Keep = map[string][]string{keeper(tier, r.Object): {path.Base(generation)}}
	}
	return tier
}

// locate tells where on its volume a tier lies.
func (c cacheTier) locate(r rule.Release, tier *finding.Tier) {
	place, ok := server.PlaceOf(r.Mounts, tier.Parent)
	if !ok {
		root, _ := c.mount.Root()
		place = root
		tier.Blocked = "which folder of the volume is mounted is decided in the cluster"
	}
	tier.Volume, tier.Place = place.Volume, place.Path
}

// versionText is text that changes with an image or with weights: a release, a
// digest, a revision.
var versionText = regexp.MustCompile(`[0-9]+\.[0-9]+|(^|[^0-9a-z])([0-9a-f]*[0-9][0-9a-f]*[a-f][0-9a-f]*|[0-9a-f]*[a-f][0-9a-f]*[0-9][0-9a-f]*)([^0-9a-z]|$)`)

// names tells whether a name holds a version: its own image's or revision's, or
// what looks like one.
func namesVersion(r rule.Release, name string) bool {
	if strings.Contains(name, "$") {
		return true // decided elsewhere, and not for nothing
	}
	for _, part := range versionText.FindAllString(name, -1) {
		if strings.Contains(part, ".") || len(strings.Trim(part, "-_.@+")) >= 7 {
			return true
		}
	}
	for _, version := range versionsOf(r) {
		if len(version) >= 5 && strings.Contains(name, version) {
			return true
		}
	}
	return false
}

// versioned is the directory, at or above that of a tier and below the mount,
// whose name holds a version; empty where none does.
func (c cacheTier) versioned(r rule.Release) string {
	for directory := c.directory; directory != c.mount.Path && server.Below(c.mount.Path, directory); directory = path.Dir(directory) {
		if namesVersion(r, path.Base(directory)) {
			return directory
		}
	}
	return ""
}

// joinCompiled gives caches that lie in one directory of a version the pages of
// all, for one job prunes it.
func joinCompiled(tiers []*finding.Tier) {
	for _, tier := range tiers {
		if tier.Name != "compiled" {
			continue
		}
		for _, other := range tiers {
			if other.Name == tier.Name && other.Volume == tier.Volume && other.Place == tier.Place {
				tier.Pages = append(tier.Pages, other.Pages...)
			}
		}
		slices.Sort(tier.Pages)
		tier.Pages = slices.Compact(tier.Pages)
	}
}
