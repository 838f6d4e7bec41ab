package fn

import (
	"fmt"
	"slices"

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
	// tier is the group of findings that the object settles, monitors what the
	// finding that it settles calls it; one of the two is empty.
	tier, monitors string
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

// tierKey tells tiers apart: by what is kept, and where. A claim belongs to a namespace, the disk of a node
// to the nodes that a selector names. Servers of one name are copies of one in
// several clusters: each gets a job of its own.
type tierKey struct {
	namespace string
	place     server.Place
	name      string
	nodes     string
	copy      int
}

// String is the key in one text, the group of the findings about a tier: it tells
// tiers apart and is not to be read.
func (k tierKey) String() string {
	return fmt.Sprintf("%s\x00%s\x00%s\x00%s\x00%s\x00%d", k.namespace, k.place.Volume, k.place.Path, k.name, k.nodes, k.copy)
}

// settleTiers decides what becomes of the findings about cache tiers: servers
// that share one get one job, a job of ours that is up to date ends the matter,
// and one whose tier is gone, or that the config does not want, goes.
func (j *judgements) settleTiers() error {
	tiers, gone := j.tiers()
	if len(tiers)+len(gone) == 0 {
		return nil
	}
	j.generates = true
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
		setting string
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
			key := tierKey{namespace: s.Object.Namespace, name: f.Tier.Name, place: server.Place{Volume: f.Tier.Volume, Path: f.Tier.Place}}
			if f.Tier.Volume == "" {
				key.namespace, key.nodes = "", fmt.Sprint(s.Pod.NodeSelector) // maps print in the order of their keys
			}
			one := copied{key, s.Object.Kind + "/" + s.Object.Namespace + "/" + s.Object.Name + "/" + s.Path.String() + "/" + f.Setting}
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
	if err == nil && tier.stands == nil {
		err = unwritable(c.owner, text)
	}
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

// followTiers takes the action from findings about tiers whose job is not
// written after all.
func (j *judgements) followTiers() {
	acting, written := map[string]bool{}, map[string]bool{}
	for _, s := range j.servers {
		for _, f := range s.findings {
			if f.Tier != nil && f.Action != finding.None {
				acting[f.Tier.Group] = true
			}
		}
	}
	for i := range j.servers {
		s := &j.servers[i]
		s.generated = slices.DeleteFunc(s.generated, func(g generated) bool { return g.tier != "" && !acting[g.tier] })
		for _, object := range s.generated {
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
