package fn

import (
	"encoding/json"
	"maps"
	"path"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/trimtab/trimtab/internal/server"
	"github.com/trimtab/trimtab/internal/stream"
	"github.com/trimtab/trimtab/transformers"
	"github.com/trimtab/trimtab/validators"
)

// pruneJob is a CronJob that mounts a volume; ours bears our label.
type pruneJob struct {
	server.VolumeUser
	// place is what a job of ours prunes; the zero place where it is not told.
	place server.Place
	// keeps and reserves are what it says about whose names it keeps.
	keeps, reserves namesBy
	// taken is true when a tier has it, or it goes.
	taken    bool
	affinity map[string]string
	image    string
}

func (p *pruneJob) ours() bool { return validators.IsPruneJob(p.VolumeUser) }

// about tells whether a job of ours prunes a tier.
func (p *pruneJob) about(tier *sharedTier) bool {
	if !p.ours() || p.place != tier.place || validators.TierOfJob(p.VolumeUser) != tier.name {
		return false
	}
	return tier.place.Volume == "" || !slices.ContainsFunc(tier.claims, func(c tierClaim) bool { return apart(p.Object, c.owner.Object) })
}

// nearness orders the jobs that a server may have: in its file, in its folder.
func (p *pruneJob) nearness(s *server.Server) int {
	return nearness(s, p.Item, p.Annotations)
}

// nearness is how near an object of ours stands to a server: 2 in its file, 1 in
// its folder, else 0.
func nearness(s *server.Server, item *stream.Item, annotations map[string]string) int {
	name := func(item *stream.Item, annotations map[string]string) string {
		if item.Source.List == nil {
			return item.Source.Name
		}
		file, _ := hostFile(annotations)
		return file
	}
	own, its := name(s.Item, s.Annotations), name(item, annotations)
	switch {
	case own == its:
		return 2
	case path.Dir(own) == path.Dir(its):
		return 1
	}
	return 0
}

// pruneJobs are the CronJobs of the input that mount a volume, ours and others.
func (j *judgements) pruneJobs() ([]*pruneJob, error) {
	users, err := j.servers[0].VolumeUsers()
	if err != nil {
		return nil, err
	}
	var jobs []*pruneJob
	for _, user := range users {
		if user.Object.Kind != "CronJob" {
			continue
		}
		job := &pruneJob{VolumeUser: user}
		parent := user.Annotations[transformers.ParentAnnotation]
		if variable, ok := user.Variable("PARENT"); parent == "" && ok {
			parent = variable.Value
		}
		if parent != "" {
			job.place, _ = server.PlaceOf(user.Mounts, parent)
		}
		job.keeps = record(user, transformers.KeepsAnnotation, "KEEP")
		job.reserves = record(user, transformers.ReservesAnnotation, "RESERVED")
		job.affinity, job.image = placement(user)
		jobs = append(jobs, job)
	}
	return jobs, nil
}

// nobody stands in a record for names of which it is not known who keeps them.
const nobody = "unknown"

// record reads whose names a job keeps. What a job without the annotation keeps
// stays: nobody can tell whose it is.
func record(user server.VolumeUser, annotation, variable string) namesBy {
	if text, ok := user.Annotations[annotation]; ok {
		var names namesBy
		if json.Unmarshal([]byte(text), &names) == nil {
			return names
		}
	}
	if _, ok := user.Annotations[transformers.KeepsAnnotation]; ok {
		return nil
	}
	listed, _ := user.Variable(variable)
	names := strings.FieldsFunc(listed.Value, func(c rune) bool { return c == '/' })
	if len(names) == 0 {
		return nil
	}
	return namesBy{nobody: names}
}

// placement reads the labels that a job of ours follows, and its image.
func placement(user server.VolumeUser) (affinity map[string]string, image string) {
	root, err := user.Item.Root()
	if err != nil || root == nil {
		return nil, ""
	}
	var pod struct {
		Affinity struct {
			PodAffinity struct {
				Required []struct {
					LabelSelector struct {
						MatchLabels map[string]string `yaml:"matchLabels"`
					} `yaml:"labelSelector"`
				} `yaml:"requiredDuringSchedulingIgnoredDuringExecution"`
			} `yaml:"podAffinity"`
		}
		Containers []struct{ Image string }
	}
	node := server.Lookup(root, user.Path[:len(user.Path)-2])
	if node == nil || node.Decode(&pod) != nil {
		return nil, ""
	}
	if required := pod.Affinity.PodAffinity.Required; len(required) > 0 {
		affinity = required[0].LabelSelector.MatchLabels
	}
	if len(pod.Containers) > 0 {
		image = pod.Containers[0].Image
	}
	return affinity, image
}

// assignJobs gives each tier the job of ours that stands for it: the one nearest
// to its servers, whatever name an overlay gave it.
func assignJobs(tiers []*sharedTier, jobs []*pruneJob) {
	type pair struct {
		tier *sharedTier
		job  *pruneJob
		near int
	}
	var pairs []pair
	for _, tier := range tiers {
		for _, job := range jobs {
			if !job.about(tier) {
				continue
			}
			near := 0
			for _, claim := range tier.claims {
				owner := 0
				if job.Annotations[transformers.ServerAnnotation] == objectName(claim.owner.Object) {
					owner = 1
				}
				near = max(near, 2*job.nearness(claim.owner.Server)+owner)
			}
			pairs = append(pairs, pair{tier, job, near})
		}
	}
	slices.SortStableFunc(pairs, func(a, b pair) int { return b.near - a.near })
	for _, p := range pairs {
		if p.tier.stands == nil && !p.job.taken {
			p.tier.stands, p.job.taken = p.job, true
		}
	}
}

// upToDate tells whether the job runs as a text says and knows whose names it
// keeps. Names, labels and annotations may have been changed by a host on the
// way. Where its owner is not in the input, only what it keeps and when it runs
// are compared: another server sees the volume at other paths.
func (p *pruneJob) upToDate(text string, names tierNames, tier *sharedTier) bool {
	var wanted, stands map[string]any
	root, err := p.Item.Root()
	if err != nil || root == nil || yaml.Unmarshal([]byte(text), &wanted) != nil || root.Decode(&stands) != nil {
		return false
	}
	if !names.keep.restates(p.keeps) || !names.reserved.restates(p.reserves) {
		return false
	}
	if owner := p.Annotations[transformers.ServerAnnotation]; owner != objectName(tier.leader().owner.Object) && p.place == tier.place {
		return reflect.DeepEqual(essence(wanted), essence(stands))
	}
	return reflect.DeepEqual(running(wanted), running(stands))
}

// running is the spec of a job without the labels and annotations in it.
func running(job map[string]any) any {
	spec, _ := job["spec"].(map[string]any)
	template, _ := spec["jobTemplate"].(map[string]any)
	delete(template, "metadata")
	inner, _ := template["spec"].(map[string]any)
	pod, _ := inner["template"].(map[string]any)
	delete(pod, "metadata")
	return spec
}

// essence is what a job keeps, and when it runs.
func essence(job map[string]any) map[string]any {
	spec, _ := job["spec"].(map[string]any)
	kept := map[string]any{"schedule": spec["schedule"]}
	node, _ := running(job).(map[string]any)
	for _, key := range []string{"jobTemplate", "spec", "template", "spec"} {
		node, _ = node[key].(map[string]any)
	}
	containers, _ := node["containers"].([]any)
	for _, container := range containers {
		fields, _ := container.(map[string]any)
		kept["image"] = fields["image"]
		variables, _ := fields["env"].([]any)
		for _, variable := range variables {
			entry, _ := variable.(map[string]any)
			if name, _ := entry["name"].(string); name != "MOUNT" && name != "PARENT" {
				kept["env/"+name] = entry["value"]
			}
		}
	}
	return kept
}

// others are the labels or annotations of a job that are not ours: they stay.
func others(of map[string]string) map[string]string {
	kept := withoutFlux(of)
	maps.DeleteFunc(kept, func(key, _ string) bool {
		return strings.HasPrefix(key, "trimtab.dev/") || key == transformers.ManagedByLabel
	})
	return kept
}

// withoutFlux leaves out the labels by which Flux tells what it applied: an object
// that bears another's is taken away as soon as that one's inventory changes.
func withoutFlux(labels map[string]string) map[string]string {
	kept := maps.Clone(labels)
	maps.DeleteFunc(kept, func(key, _ string) bool {
		group, _, _ := strings.Cut(key, "/")
		return strings.HasSuffix(group, ".toolkit.fluxcd.io")
	})
	return kept
}
