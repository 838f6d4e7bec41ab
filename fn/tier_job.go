package fn

import (
	"cmp"
	"path"

	"github.com/trimtab/trimtab/internal/catalogue"
	"github.com/trimtab/trimtab/internal/config"
	"github.com/trimtab/trimtab/internal/finding"
	"github.com/trimtab/trimtab/transformers"
)

// pruneJob is the job that a tier wants, as the server of the claim sees it.
func (c tierClaim) pruneJob(tier *sharedTier, names tierNames) transformers.PruneJob {
	s, t, prune := c.owner, c.finding().Tier, tier.pruned()
	job := transformers.PruneJob{
		Name: transformers.PruneName(s.Object.Name, t.Name), Namespace: s.Object.Namespace, Owner: s.Object,
		Schedule: prune.Schedule, Image: prune.Image, PriorityClass: prune.PriorityClassName, KeepFor: transformers.PruneKeepFor,
		Claim: t.Claim, HostPath: t.HostPath, SubPath: t.SubPath, MountPath: t.MountPath, Parent: t.Parent,
		Tier: t.Name, Pages: t.Pages, Partial: t.Partial, Trees: t.Trees, Flat: t.Flat, Most: c.most(),
		Keep: names.keep.flat(), Reserved: names.reserved.flat(), KeptBy: names.keep, ReservedBy: names.reserved,
		RunAsUser: s.Pod.RunAsUser, RunAsGroup: s.Pod.RunAsGroup, FSGroup: s.Pod.FSGroup,
		SupplementalGroups: s.Pod.SupplementalGroups, NodeSelector: s.Pod.NodeSelector, Tolerations: s.Pod.Tolerations,
	}
	if prune.KeepFor != nil {
		job.KeepFor = *prune.KeepFor
	}
	if len(job.NodeSelector) == 0 {
		job.AffinityLabels = withoutFlux(s.Pod.Labels)
	}
	if stands := tier.stands; stands != nil {
		job.Name = stands.Object.Name
		job.Labels, job.Annotations = others(stands.Labels), others(stands.Annotations)
		if len(job.AffinityLabels) > 0 && isPartOf(stands.affinity, job.AffinityLabels) {
			job.AffinityLabels = stands.affinity // a host added labels to one of the two
		}
		if job.Image == "" && imageName(stands.image) == imageName(transformers.PruneImage) {
			job.Image = stands.image // a mirror of it
		}
	}
	return job
}

// isPartOf tells whether labels select the pods that have all of those given.
func isPartOf(some, all map[string]string) bool {
	for key, value := range some {
		if all[key] != value {
			return false
		}
	}
	return len(some) > 0
}

// imageName is the last part of an image's repository.
func imageName(image string) string {
	repository, _, _ := catalogue.SplitImage(image)
	return path.Base(repository)
}

// most is how many bytes a flat tier may hold: nine tenths of the claim, where
// the input has it; else 0.
func (c tierClaim) most() int64 {
	t := c.finding().Tier
	if !t.Flat || t.Claim == "" {
		return 0
	}
	claim, ok := c.owner.VolumeClaim(t.Claim)
	if !ok {
		return 0
	}
	size, err := config.ParseQuantity(claim.Storage)
	if err != nil {
		return 0
	}
	return size.Bytes / 10 * 9
}

// freeName is the name of a new job, another one where a CronJob bears it.
func freeName(name string, owner finding.Object, tier *sharedTier, jobs []*pruneJob) string {
	for _, job := range jobs {
		sameTier := job.about(tier)
		if job.Object.Name == name && !sameTier && !apart(job.Object, owner) {
			return transformers.PruneName(owner.Name+"-"+cmp.Or(tier.place.Volume, "disk"), tier.claims[0].finding().Tier.Name)
		}
	}
	return name
}

// apart tells whether two objects are in different namespaces.
func apart(a, b finding.Object) bool {
	return a.Namespace != b.Namespace && a.Namespace != "" && b.Namespace != ""
}
