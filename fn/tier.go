package fn

import (
	"cmp"
	"reflect"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/trimtab/trimtab/internal/finding"
	"github.com/trimtab/trimtab/internal/server"
	"github.com/trimtab/trimtab/internal/stream"
	"github.com/trimtab/trimtab/transformers"
	"github.com/trimtab/trimtab/validators"
)

// generated is an object that a finding adds, renews or takes away.
type generated struct {
	// text is the object; empty to take away.
	text string
	// stands is the item that holds the object now; nil when there is none.
	stands *stream.Item
}

// tierClaim is one finding about a cache tier.
type tierClaim struct {
	owner *judged
	index int
}

func (c tierClaim) finding() *finding.Finding { return &c.owner.findings[c.index] }

// settleTiers decides what becomes of the findings about cache tiers: servers
// that share one get one job, a job of ours that is up to date ends the matter,
// and `prune: false` takes ours away.
func (j *judgements) settleTiers() {
	for _, claims := range j.tiers() {
		j.tiered = true
		first := claims[0]
		tier := first.finding().Tier
		for _, other := range claims[1:] {
			f := other.finding()
			tier.Keep = union(tier.Keep, f.Tier.Keep)
			tier.Reserved = union(tier.Reserved, f.Tier.Reserved)
			f.Message += " (the job of " + first.owner.Object.Name + " keeps it)"
		}
		if other := j.sharesVolume(claims); other != "" {
			for _, claim := range claims {
				f := claim.finding()
				f.Action = finding.None
				f.Message += " (no job is written: " + other + " mounts the same volume, and what it keeps there is not told here)"
			}
			continue
		}
		tier.Reserved = slices.DeleteFunc(tier.Reserved, func(name string) bool { return slices.Contains(tier.Keep, name) })
		first.settle()
		for _, other := range claims[1:] {
			other.follow(first.finding())
		}
	}
	for i := range j.servers {
		s := &j.servers[i]
		s.findings = slices.DeleteFunc(s.findings, func(f finding.Finding) bool { return f.Tier != nil && f.Message == "" })
	}
}

// sharesVolume names a server outside a group that mounts the volume of its
// tier, at another path or with a directory that is not known; empty when there
// is none.
func (j *judgements) sharesVolume(claims []tierClaim) string {
	tier := claims[0].finding().Tier
	for i := range j.servers {
		s := &j.servers[i]
		inGroup := slices.ContainsFunc(claims, func(c tierClaim) bool { return c.owner == s })
		home := claims[0].owner.Object.Namespace
		elsewhere := s.Object.Namespace != home && s.Object.Namespace != "" && home != ""
		if inGroup || elsewhere {
			continue
		}
		for _, m := range s.Mounts {
			sameClaim := tier.Claim != "" && m.Claim == tier.Claim
			samePath := tier.HostPath != "" && m.HostPath != "" && (server.Below(m.HostPath, tier.HostPath) || server.Below(tier.HostPath, m.HostPath))
			if sameClaim || samePath {
				return s.Object.Kind + " " + s.Object.Name
			}
		}
	}
	return ""
}

// tiers groups the findings about tiers by namespace, volume and parent.
func (j *judgements) tiers() [][]tierClaim {
	type key struct{ namespace, claim, hostPath, parent string }
	var order []key
	byKey := map[key][]tierClaim{}
	for i := range j.servers {
		s := &j.servers[i]
		for k, f := range s.findings {
			if f.Tier == nil {
				continue
			}
			at := key{s.Object.Namespace, f.Tier.Claim, f.Tier.HostPath, f.Tier.Parent}
			if byKey[at] == nil {
				order = append(order, at)
			}
			byKey[at] = append(byKey[at], tierClaim{s, k})
		}
	}
	grouped := make([][]tierClaim, 0, len(order))
	for _, at := range order {
		grouped = append(grouped, byKey[at])
	}
	return grouped
}

// follow gives the finding of a server that shares a tier the outcome of the
// first; where there is none, or the job goes, one finding says it.
func (c tierClaim) follow(first *finding.Finding) {
	f := c.finding()
	f.Severity, f.Action, f.Proposed = first.Severity, first.Action, first.Proposed
	if first.Message == "" || first.Action == finding.Remove {
		f.Message = ""
	}
}

// settle compares the job a tier wants with the one that stands there. A finding
// that is settled loses its message.
func (c tierClaim) settle() {
	f := c.finding()
	stands := c.owner.ourJob(f.Tier)
	if prune := c.owner.config.Spec.Prune; prune != nil && prune.Off {
		if stands == nil {
			f.Message = ""
			return
		}
		f.Severity, f.Action = finding.Info, finding.Remove
		f.Message = "CronJob " + stands.Object.Name + " goes: the config says `prune: false`"
		c.owner.generated = append(c.owner.generated, generated{stands: stands.Item})
		return
	}
	text, err := transformers.PruneCronJob(c.owner.pruneJob(f.Tier, stands))
	if err != nil {
		f.Action = finding.None
		f.Message += " (no job can be written: " + err.Error() + ")"
		return
	}
	switch {
	case stands == nil:
		f.Proposed = "CronJob " + transformers.PruneName(c.owner.Object.Name, f.Tier.Name)
	case sameJob(text, stands.Item):
		f.Message = ""
		return
	default:
		f.Proposed = "CronJob " + stands.Object.Name
		f.Message += " as this server needs it: " + stands.Object.Name + " is out of date"
	}
	if f.Action == finding.None {
		return
	}
	made := generated{text: text}
	if stands != nil {
		made.stands = stands.Item
	}
	c.owner.generated = append(c.owner.generated, made)
}

// ourJob finds the CronJob of ours that mounts the volume of a tier, whatever
// name an overlay gave it.
func (j *judged) ourJob(tier *finding.Tier) *server.CronJob {
	for i, job := range j.CronJobs {
		ours := job.Labels[transformers.ManagedByLabel] == "trimtab" && job.Object.Namespace == j.Object.Namespace
		parent := job.Annotations[transformers.ParentAnnotation]
		if ours && (parent == "" || parent == tier.Parent) && validators.MountsTier(job, tier) {
			return &j.CronJobs[i]
		}
	}
	return nil
}

func (j *judged) pruneJob(tier *finding.Tier, stands *server.CronJob) transformers.PruneJob {
	job := transformers.PruneJob{
		Name: transformers.PruneName(j.Object.Name, tier.Name), Namespace: j.Object.Namespace, Owner: j.Object,
		KeepFor: transformers.PruneKeepFor,
		Claim:   tier.Claim, HostPath: tier.HostPath, SubPath: tier.SubPath,
		MountPath: tier.MountPath, Parent: tier.Parent, Keep: tier.Keep, Reserved: tier.Reserved, Page: tier.Page,
		RunAsUser: j.Pod.RunAsUser, RunAsGroup: j.Pod.RunAsGroup, FSGroup: j.Pod.FSGroup,
		SupplementalGroups: j.Pod.SupplementalGroups, NodeSelector: j.Pod.NodeSelector, Tolerations: j.Pod.Tolerations,
	}
	if stands != nil {
		job.Name = stands.Object.Name
	}
	if len(job.NodeSelector) == 0 {
		job.AffinityLabels = j.Pod.Labels
	}
	if prune := j.config.Spec.Prune; prune != nil {
		job.Schedule, job.Image = prune.Schedule, prune.Image
		if prune.KeepFor != nil {
			job.KeepFor = *prune.KeepFor
		}
	}
	return job
}

// sameJob tells whether an object runs the same job as a text. Names, labels and
// annotations may have been changed by a host on the way.
func sameJob(text string, item *stream.Item) bool {
	var wanted, stands struct {
		Spec any `yaml:"spec"`
	}
	root, err := item.Root()
	return err == nil && root != nil && yaml.Unmarshal([]byte(text), &wanted) == nil && root.Decode(&stands) == nil &&
		reflect.DeepEqual(wanted.Spec, stands.Spec)
}

func union(lists ...[]string) []string {
	all := slices.Concat(lists...)
	slices.SortFunc(all, cmp.Compare)
	return slices.Compact(all)
}
