package validators

import (
	"path"
	"slices"
	"strings"

	"github.com/trimtab/trimtab/internal/finding"
	"github.com/trimtab/trimtab/internal/rule"
	"github.com/trimtab/trimtab/internal/server"
)

// prunedByOthers tells whether a CronJob that is not ours deletes generations of
// a tier. One that may do so blocks a job of ours; one that deletes elsewhere on
// the volume is only noted.
func prunedByOthers(r rule.Release, users []server.VolumeUser, tier *finding.Tier) (pruned bool, note string) {
	for _, u := range sharing(r, users, tier) {
		if u.Object.Kind != "CronJob" || !writes(u, tier) {
			continue
		}
		deletion := u.Deletion()
		prunes := slices.ContainsFunc(deletion.Targets, func(t server.DeletionTarget) bool { return reaches(u, t, tier) })
		switch {
		case prunes:
			return true, ""
		case deletion.Broken != "" && tier.Blocked == "":
			tier.Blocked = nameOf(u.Object) + " is there to prune it and removes nothing: it uses " + deletion.Broken + "; use `stat -c` there"
		case deletion.Unclear != "" && tier.Blocked == "":
			tier.Blocked = nameOf(u.Object) + " mounts the volume and may prune it: what it removes cannot be read, because of " + deletion.Unclear
		case len(deletion.Targets) > 0:
			note += " (" + nameOf(u.Object) + " mounts the volume and removes " + targetsOf(deletion) + ", which are other files)"
		}
	}
	return false, note
}

// writes tells whether a container may change what lies at a tier.
func writes(u server.VolumeUser, tier *finding.Tier) bool {
	return slices.ContainsFunc(u.Mounts, func(m server.Mount) bool {
		root, ok := m.Root()
		return ok && !m.ReadOnly && (m.Anywhere && root.Volume == tier.Volume || root.Holds(placeOf(tier)))
	})
}

func targetsOf(d server.Deletion) string {
	var paths []string
	for _, target := range d.Targets {
		text := target.Path
		if target.Name != "" {
			text += " (" + target.Name + ")"
		}
		paths = append(paths, text)
	}
	return strings.Join(slices.Compact(paths), ", ")
}

// reaches tells whether a deletion takes generations of a tier, not only named
// ones: it deletes the parent, a directory above, or by a pattern below.
func reaches(u server.VolumeUser, target server.DeletionTarget, tier *finding.Tier) bool {
	folder, patterns := splitPattern(target.Path)
	var way []string // from the folder to the parent of the generations
	switch place, ok := server.PlaceOf(u.Mounts, folder); {
	case ok && place.Holds(placeOf(tier)):
		way = components(strings.TrimPrefix(tier.Place, place.Path))
	case ok:
		return false
	default:
		// A folder that holds mounts of the volume.
		return len(patterns) == 0 && slices.ContainsFunc(u.Mounts, func(m server.Mount) bool {
			root, ok := m.Root()
			return ok && server.Below(folder, m.Path) && root.Holds(placeOf(tier))
		})
	}
	for i, pattern := range patterns {
		if i == len(way) {
			return takesGenerations(pattern, tier)
		}
		if ok, err := path.Match(pattern, way[i]); !ok || err != nil {
			return false
		}
	}
	left := len(way) - min(len(patterns), len(way))
	if target.Depth >= 0 && target.Depth < max(left, 1) {
		return false
	}
	return target.Name == "" || takesGenerations(target.Name, tier) || takesPages(target.Name, tier)
}

// takesGenerations tells whether a pattern takes directories like those that are
// kept. A name without a wildcard is one directory alone.
func takesGenerations(pattern string, tier *finding.Tier) bool {
	if !strings.ContainsAny(pattern, "*?[") {
		return false
	}
	for _, names := range tier.Keep {
		if slices.ContainsFunc(names, func(name string) bool { return matches(pattern, name) }) {
			return true
		}
	}
	return !strings.Contains(pattern, ".") // old-*: a pattern of directories
}

// takesPages tells whether a pattern takes files like the pages of a tier.
func takesPages(pattern string, tier *finding.Tier) bool {
	return slices.ContainsFunc(tier.Pages, func(page string) bool {
		return matches(pattern, strings.NewReplacer("*", "page", "?", "x").Replace(path.Base(page)))
	})
}

func matches(pattern, name string) bool {
	ok, err := path.Match(pattern, name)
	return ok && err == nil
}

// splitPattern parts a path before its first component with a wildcard.
func splitPattern(p string) (folder string, patterns []string) {
	parts := components(p)
	wild := slices.IndexFunc(parts, func(part string) bool { return strings.ContainsAny(part, "*?[") })
	if wild < 0 {
		return p, nil
	}
	return "/" + strings.Join(parts[:wild], "/"), parts[wild:]
}

func components(p string) []string {
	return strings.FieldsFunc(p, func(c rune) bool { return c == '/' })
}
