package fn

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/trimtab/trimtab/internal/config"
	"github.com/trimtab/trimtab/internal/finding"
	"github.com/trimtab/trimtab/internal/server"
	"github.com/trimtab/trimtab/internal/stream"
	"github.com/trimtab/trimtab/transformers"
)

// generated is an object that a finding adds, renews or takes away.
type generated struct {
	// text is the object; empty to take away.
	text string
	// stands is the item that holds the object now; nil when there is none.
	stands *stream.Item
	// tier is the group of findings that the object settles.
	tier string
}

// tierClaim is one finding about a cache tier.
type tierClaim struct {
	owner *judged
	index int
}

func (c tierClaim) finding() *finding.Finding { return &c.owner.findings[c.index] }

// sharedTier is one cache tier with the findings of all servers that keep it,
// and the job of ours that stands for it.
type sharedTier struct {
	tierKey
	claims []tierClaim
	stands *pruneJob
}

// tierKey tells tiers apart. A claim belongs to a namespace, the disk of a node
// to the nodes that a selector names. Servers of one name are copies of one in
// several clusters: each gets a job of its own.
type tierKey struct {
	namespace string
	place     server.Place
	nodes     string
	copy      int
}

func (k tierKey) String() string {
	return fmt.Sprintf("%s\x00%s\x00%s\x00%s\x00%d", k.namespace, k.place.Volume, k.place.Path, k.nodes, k.copy)
}

// settleTiers decides what becomes of the findings about cache tiers: servers
// that share one get one job, a job of ours that is up to date ends the matter,
// and one whose tier is gone, or that the config does not want, goes.
func (j *judgements) settleTiers() error {
	tiers, gone := j.tiers()
	if len(tiers)+len(gone) == 0 {
		return nil
	}
	j.tiered = true
	jobs, err := j.pruneJobs()
	if err != nil {
		return err
	}
	assignJobs(tiers, jobs)
	for _, tier := range tiers {
		if tier.stands == nil {
			tier.stands = j.outlivedJob(tier, jobs)
		}
	}
	for _, tier := range tiers {
		j.settleTier(tier, tiers, jobs)
	}
	for _, claim := range gone {
		j.settleGone(claim, jobs)
	}
	for i := range j.servers {
		s := &j.servers[i]
		s.findings = slices.DeleteFunc(s.findings, func(f finding.Finding) bool { return f.Tier != nil && f.Message == "" })
	}
	return nil
}

// tiers groups the findings about tiers; gone are those about jobs alone.
func (j *judgements) tiers() (tiers []*sharedTier, gone []tierClaim) {
	byKey := map[tierKey]*sharedTier{}
	type copied struct {
		tierKey
		server string
	}
	copies := map[copied]int{}
	for i := range j.servers {
		s := &j.servers[i]
		for k, f := range s.findings {
			if f.Tier == nil {
				continue
			}
			if f.Tier.Parent == "" {
				gone = append(gone, tierClaim{s, k})
				continue
			}
			key := tierKey{namespace: s.Object.Namespace, place: server.Place{Volume: f.Tier.Volume, Path: f.Tier.Place}}
			if f.Tier.Volume == "" {
				key.namespace, key.nodes = "", fmt.Sprint(s.Pod.NodeSelector) // maps print in the order of their keys
			}
			one := copied{key, s.Object.Kind + "/" + s.Object.Namespace + "/" + s.Object.Name + "/" + s.Path.String()}
			key.copy = copies[one]
			copies[one]++
			if byKey[key] == nil {
				byKey[key] = &sharedTier{tierKey: key}
				tiers = append(tiers, byKey[key])
			}
			byKey[key].claims = append(byKey[key].claims, tierClaim{s, k})
		}
	}
	return tiers, gone
}

// settleTier settles one tier: one finding tells what becomes of its job, those
// of the other servers say that it keeps theirs.
func (j *judgements) settleTier(tier *sharedTier, all []*sharedTier, jobs []*pruneJob) {
	first := tier.leader()
	f := first.finding()
	for _, claim := range tier.claims {
		claim.finding().Tier.Group = tier.String()
	}
	names := j.namesIn(tier, all)
	switch off, why := tier.off(), tier.held(); {
	case off && tier.stands != nil:
		f.Severity, f.Action = finding.Info, finding.Remove
		f.Message = "CronJob " + tier.stands.Object.Name + " goes: the config says `prune: false`"
		first.takeAway(tier.stands)
	case off:
		f.Message = ""
	case why != "":
		tier.hold(why)
		return
	default:
		first.settle(tier, names, jobs)
	}
	for _, claim := range tier.claims {
		if claim != first {
			claim.follow(first)
		}
	}
	j.dropTwins(tier, first, jobs)
}

// hold says why no job is written, or why the one that stands is left alone.
func (t *sharedTier) hold(why string) {
	for _, claim := range t.claims {
		f := claim.finding()
		f.Action = finding.None
		if t.stands != nil {
			f.Message += " (CronJob " + t.stands.Object.Name + " stays as it is: " + why + ")"
			continue
		}
		f.Message += " (no job is written: " + why + ")"
	}
}

// leader is the claim whose server's view of the volume the job has: that of the
// job's owner where it is there, so that it does not change with the order of
// the files.
func (t *sharedTier) leader() tierClaim {
	if t.stands != nil {
		for _, claim := range t.claims {
			if t.stands.Annotations[transformers.ServerAnnotation] == objectName(claim.owner.Object) {
				return claim
			}
		}
	}
	return t.claims[0]
}

func objectName(o finding.Object) string { return o.Kind + " " + o.Name }

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
		if all.KeepFor == nil {
			all.KeepFor = prune.KeepFor
		}
	}
	return all
}

// follow gives the finding of a server that shares a tier the outcome of the
// leader's; where there is none, or the job goes, one finding says it.
func (c tierClaim) follow(leader tierClaim) {
	f, first := c.finding(), leader.finding()
	f.Severity, f.Action, f.Proposed = first.Severity, first.Action, first.Proposed
	if first.Message == "" || first.Action == finding.Remove {
		f.Message = ""
		return
	}
	f.Message += " (the job of " + leader.owner.Object.Name + " keeps it)"
}

// takeAway removes a job of ours.
func (c tierClaim) takeAway(job *pruneJob) {
	job.taken = true
	if c.finding().Action == finding.None {
		return
	}
	c.owner.generated = append(c.owner.generated, generated{stands: job.Item, tier: c.finding().Tier.Group})
}

// settle compares the job a tier wants with the one that stands there. A finding
// that is settled loses its message.
func (c tierClaim) settle(tier *sharedTier, names tierNames, jobs []*pruneJob) {
	f := c.finding()
	wanted := c.pruneJob(tier, names)
	if tier.stands == nil {
		wanted.Name = freeName(wanted.Name, c.owner.Object, tier, jobs)
	}
	text, err := transformers.PruneCronJob(wanted)
	if err != nil {
		f.Action = finding.None
		f.Message += " (no job can be written: " + err.Error() + ")"
		return
	}
	switch {
	case tier.stands == nil:
		f.Proposed = "CronJob " + wanted.Name
	case tier.stands.upToDate(text, names, tier):
		f.Message = ""
		return
	default:
		f.Proposed = "CronJob " + tier.stands.Object.Name
		f.Message += " as this server needs it: " + tier.stands.Object.Name + " is out of date"
	}
	if f.Action == finding.None {
		return
	}
	made := generated{text: text, tier: f.Tier.Group}
	if tier.stands != nil {
		made.stands = tier.stands.Item
	}
	c.owner.generated = append(c.owner.generated, made)
}

func (c tierClaim) pruneJob(tier *sharedTier, names tierNames) transformers.PruneJob {
	s, t, prune := c.owner, c.finding().Tier, tier.pruned()
	job := transformers.PruneJob{
		Name: transformers.PruneName(s.Object.Name, t.Name), Namespace: s.Object.Namespace, Owner: s.Object,
		Schedule: prune.Schedule, Image: prune.Image, KeepFor: transformers.PruneKeepFor,
		Claim: t.Claim, HostPath: t.HostPath, SubPath: t.SubPath, MountPath: t.MountPath, Parent: t.Parent, Page: t.Page,
		Keep: names.keep.flat(), Reserved: names.reserved.flat(), KeptBy: names.keep, ReservedBy: names.reserved,
		RunAsUser: s.Pod.RunAsUser, RunAsGroup: s.Pod.RunAsGroup, FSGroup: s.Pod.FSGroup,
		SupplementalGroups: s.Pod.SupplementalGroups, NodeSelector: s.Pod.NodeSelector, Tolerations: s.Pod.Tolerations,
	}
	if prune.KeepFor != nil {
		job.KeepFor = *prune.KeepFor
	}
	if len(job.NodeSelector) == 0 {
		job.AffinityLabels = s.Pod.Labels
	}
	if stands := tier.stands; stands != nil {
		job.Name = stands.Object.Name
		job.Labels, job.Annotations = others(stands.Labels), others(stands.Annotations)
		if len(job.AffinityLabels) > 0 && isPartOf(stands.affinity, job.AffinityLabels) {
			job.AffinityLabels = stands.affinity // a host added labels to one of the two
		}
		if job.Image == "" && path.Base(repository(stands.image)) == path.Base(repository(transformers.PruneImage)) {
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

// repository is an image reference without tag and digest.
func repository(image string) string {
	image, _, _ = strings.Cut(image, "@")
	if colon := strings.LastIndex(image, ":"); colon > strings.LastIndex(image, "/") {
		image = image[:colon]
	}
	return image
}

// freeName is the name of a new job, another one where a CronJob bears it.
func freeName(name string, owner finding.Object, tier *sharedTier, jobs []*pruneJob) string {
	for _, job := range jobs {
		sameTier := job.ours() && job.place == tier.place
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

// followTiers takes the action from findings about tiers whose job is not
// written after all.
func (j *judgements) followTiers() {
	written := map[string]bool{}
	for i := range j.servers {
		for _, object := range j.servers[i].generated {
			written[object.tier] = true
		}
	}
	for i := range j.servers {
		for k := range j.servers[i].findings {
			f := &j.servers[i].findings[k]
			if f.Tier != nil && f.Action != finding.None && !written[f.Tier.Group] {
				f.Action = finding.None
				f.Message += " (not edited: its job stands, or would, where nothing is edited)"
			}
		}
	}
}

// dropTwins takes away further jobs of ours about a tier whose servers are all
// here: one job keeps the generations of all.
func (j *judgements) dropTwins(tier *sharedTier, first tierClaim, jobs []*pruneJob) {
	for _, job := range jobs {
		owners := slices.ContainsFunc(tier.claims, func(c tierClaim) bool {
			return job.Annotations[transformers.ServerAnnotation] == objectName(c.owner.Object)
		})
		if job.taken || !owners || !job.about(tier) {
			continue
		}
		f := *first.finding()
		f.Tier = &finding.Tier{Group: tier.String() + "\x00" + job.Object.Name}
		f.Severity, f.Setting, f.Value = finding.Info, "CronJob "+job.Object.Name, ""
		if f.Action != finding.None || first.finding().Message == "" {
			f.Action = finding.Remove
		}
		f.Message = "CronJob " + job.Object.Name + " goes: another job of ours prunes the same directory"
		first.owner.findings = append(first.owner.findings, f)
		tierClaim{first.owner, len(first.owner.findings) - 1}.takeAway(job)
	}
}

// settleGone takes away the jobs of ours of a server that has no tier left where
// they prune, unless they keep generations of a server that is not here.
func (j *judgements) settleGone(claim tierClaim, jobs []*pruneJob) {
	f := claim.finding()
	f.Tier.Group = "gone\x00" + claim.owner.key()
	var going []string
	for _, job := range j.goneJobs(claim, jobs) {
		going = append(going, job.Object.Name)
		claim.takeAway(job)
	}
	if len(going) == 0 {
		return
	}
	f.Message = "CronJob " + strings.Join(going, ", ") + " goes: " + objectName(claim.owner.Object) + " keeps no cache any more where it prunes"
}

// goneJobs are those of a finding that nobody else needs.
func (j *judgements) goneJobs(claim tierClaim, jobs []*pruneJob) []*pruneJob {
	var gone []*pruneJob
	for _, job := range jobs {
		if job.ours() && !job.taken && slices.Contains(claim.finding().Tier.Gone, job.Object) && !j.keepsForAbsent(job) {
			gone = append(gone, job)
		}
	}
	slices.SortStableFunc(gone, func(a, b *pruneJob) int {
		return cmp.Compare(b.nearness(claim.owner.Server), a.nearness(claim.owner.Server))
	})
	if len(gone) > len(claim.finding().Tier.Gone) {
		gone = gone[:len(claim.finding().Tier.Gone)]
	}
	return gone
}

// outlivedJob is a job of ours of one of the servers that prunes where no tier
// is any more: it becomes the job of the tier that is now.
func (j *judgements) outlivedJob(tier *sharedTier, jobs []*pruneJob) *pruneJob {
	for _, claim := range tier.claims {
		for _, job := range j.goneJobs(claim, jobs) {
			job.taken = true
			return job
		}
	}
	return nil
}

// keepsForAbsent tells whether a job keeps generations of a server that is not
// in the input.
func (j *judgements) keepsForAbsent(job *pruneJob) bool {
	return slices.ContainsFunc(slices.Collect(maps.Keys(job.keeps)), func(by string) bool { return !j.present(by) })
}
