package fn

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/trimtab/trimtab/internal/config"
)

// off tells whether a config of one of the servers wants no job.
func (t *sharedTier) off() bool {
	return slices.ContainsFunc(t.prunes(), func(p *config.Prune) bool { return p.Off }) && t.conflict() == ""
}

// prunes are what the configs of the servers say about the job.
func (t *sharedTier) prunes() []*config.Prune {
	var said []*config.Prune
	for _, claim := range t.claims {
		if prune := claim.owner.config.Spec.Prune; prune != nil {
			said = append(said, prune)
		}
	}
	return said
}

// held says why no job may be written or changed; empty where one may.
func (t *sharedTier) held() string {
	for _, claim := range t.claims {
		if blocked := claim.finding().Tier.Blocked; blocked != "" {
			return blocked
		}
	}
	return t.conflict()
}

// conflict names the field of `prune` that the configs of two servers give
// different values; empty where there is none.
func (t *sharedTier) conflict() string {
	said := t.prunes()
	for _, field := range []struct {
		name string
		of   func(*config.Prune) string
	}{
		{"prune", func(p *config.Prune) string {
			if p.Off {
				return "false"
			}
			return "a job"
		}},
		{"prune.schedule", func(p *config.Prune) string { return p.Schedule }},
		{"prune.priorityClassName", func(p *config.Prune) string { return p.PriorityClassName }},
		{"prune.image", func(p *config.Prune) string { return p.Image }},
		{"prune.keepFor", func(p *config.Prune) string {
			if p.KeepFor == nil {
				return ""
			}
			return p.KeepFor.String()
		}},
	} {
		first := ""
		for _, prune := range said {
			value := field.of(prune)
			if first != "" && value != "" && value != first {
				return fmt.Sprintf("the configs of servers that share it give different values for `%s`, %s and %s; make them one", field.name, first, value)
			}
			first = cmp.Or(first, value)
		}
	}
	return ""
}

// pruned is what the configs of the servers say together; they do not disagree.
func (t *sharedTier) pruned() config.Prune {
	var all config.Prune
	for _, prune := range t.prunes() {
		all.Schedule, all.Image = cmp.Or(all.Schedule, prune.Schedule), cmp.Or(all.Image, prune.Image)
		all.PriorityClassName = cmp.Or(all.PriorityClassName, prune.PriorityClassName)
		if all.KeepFor == nil {
			all.KeepFor = prune.KeepFor
		}
	}
	return all
}
