package fn

import (
	"maps"
	"slices"
	"strings"

	"github.com/trimtab/trimtab/internal/server"
	"github.com/trimtab/trimtab/internal/stream"
)

// namesBy are names of directories by the object that names them.
type namesBy map[string][]string

// tierNames are the names that a job keeps.
type tierNames struct{ keep, reserved namesBy }

func (n namesBy) add(by string, names ...string) {
	n[by] = union(n[by], names)
}

func (n namesBy) flat() []string { return union(slices.Collect(maps.Values(n))...) }

// restates tells whether a record says the same: for each object its names, or,
// where it does not know the object, names that it keeps for others. A host may
// have renamed the object.
func (n namesBy) restates(recorded namesBy) bool {
	if !slices.Equal(n.flat(), recorded.flat()) {
		return false
	}
	for by, names := range n {
		if known, ok := recorded[by]; ok && !slices.Equal(union(known), names) {
			return false
		}
	}
	return true
}

// namesIn are the names that the job of a tier keeps: those of all servers of the
// input, renewed, and those that the job keeps for others, which stay.
func (j *judgements) namesIn(tier *sharedTier, all []*sharedTier) tierNames {
	names := tierNames{namesBy{}, namesBy{}}
	for _, other := range all {
		if other.place != tier.place || other.name != tier.name || tier.place.Volume != "" && apart(other.claims[0].owner.Object, tier.claims[0].owner.Object) {
			continue
		}
		for _, claim := range other.claims {
			for by, kept := range claim.finding().Tier.Keep {
				names.keep.add(by, kept...)
			}
			for by, reserved := range claim.finding().Tier.Reserved {
				names.reserved.add(by, reserved...)
			}
		}
		if job := other.stands; job != nil && job.place == tier.place {
			j.addAbsent(names.keep, job.keeps)
			j.addAbsent(names.reserved, job.reserves)
		}
	}
	kept := names.keep.flat()
	for by, reserved := range names.reserved {
		if names.reserved[by] = slices.DeleteFunc(reserved, func(name string) bool { return slices.Contains(kept, name) }); len(names.reserved[by]) == 0 {
			delete(names.reserved, by)
		}
	}
	return names
}

func (j *judgements) addAbsent(names, recorded namesBy) {
	for by, kept := range recorded {
		if !j.present(by) {
			names.add(by, kept...)
		}
	}
}

// present tells whether an object of a record is in the input: "Deployment chat".
func (j *judgements) present(by string) bool {
	if known, ok := j.presence[by]; ok {
		return known
	}
	kind, name, _ := strings.Cut(by, " ")
	name = name[strings.LastIndex(name, "/")+1:]
	found := slices.ContainsFunc(j.items, func(item *stream.Item) bool {
		if by == nobody || !item.Mentions(name) {
			return false
		}
		object, err := server.ObjectOf(item)
		return err == nil && object.Kind == kind && object.Name == name
	})
	if j.presence == nil {
		j.presence = map[string]bool{}
	}
	j.presence[by] = found
	return found
}

func union(lists ...[]string) []string {
	all := slices.Concat(lists...)
	slices.Sort(all)
	return slices.Compact(all)
}
