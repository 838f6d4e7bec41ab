package fn

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/trimtab/trimtab/internal/finding"
	"github.com/trimtab/trimtab/transformers"
)

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
		f.Tier = &finding.Tier{Name: tier.name, Group: tier.String() + "\x00" + job.Object.Name}
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
