package transformers

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/trimtab/trimtab/internal/finding"
)

// What a prune job runs with where the config says nothing.
const (
	PruneSchedule = "30 4 * * *"
	PruneKeepFor  = 24 * time.Hour
	PruneImage    = "ghcr.io/home-operations/busybox:1.38.0@sha256:7e2c04dd50ede647bf4a7a4c8dbd629dd4971cd139b9b88fb22bfc3c7a6c13df"
)

// Labels and annotations of a prune job. An object that bears ManagedByLabel and
// PrunesLabel about the same claim or server is ours whatever its name.
const (
	ManagedByLabel = "app.kubernetes.io/managed-by" // always "trimtab"
	// PrunesLabel holds the claim, or the server where there is none, as
	// LabelValue writes it.
	PrunesLabel = "trimtab.dev/prunes"
	// ParentAnnotation is the directory that holds the generations, as the
	// server sees it; it tells two tiers on one claim apart.
	ParentAnnotation = "trimtab.dev/parent"
	ServerAnnotation = "trimtab.dev/server"
	// KeepsAnnotation and ReservesAnnotation say, as JSON, which object names
	// what is kept: a run without that object leaves its names in the job.
	KeepsAnnotation    = "trimtab.dev/keeps"
	ReservesAnnotation = "trimtab.dev/reserves"
	RollbackAnnotation = "trimtab.dev/rollback"
	RootAnnotation     = "trimtab.dev/runs-as-root"
	// TierAnnotation is the name of the tier: two of one server may lie side by
	// side.
	TierAnnotation     = "trimtab.dev/tier"
	PriorityAnnotation = "trimtab.dev/priority"
)

// PrunePriority is the class of a prune job. While the disk of a node is full the
// kubelet admits no other pod than a critical one, and evicts the others
// (k8s.io/kubernetes pkg/kubelet/eviction/eviction_manager.go, Admit: from a
// priority of 2e9); the toleration alone only passes the scheduler.
const PrunePriority = "system-node-critical"

// diskPressure is the taint of a node whose disk is full.
const diskPressure = "node.kubernetes.io/disk-pressure"

// PruneJob is everything the CronJob of one growing cache tier needs. Namespace,
// volume, placement and tolerations are copied as the server states them and may
// hold `${VAR}`; what the script reads as data may not.
type PruneJob struct {
	Name, Namespace string // Name as PruneName gives it; no Namespace: the line is left out
	// Owner is the server whose tier it is, or one of those on the claim.
	Owner finding.Object
	// Labels and Annotations are those that others put on the object.
	Labels, Annotations map[string]string
	// Schedule, Image and PriorityClass fall back to PruneSchedule, PruneImage and
	// PrunePriority.
	Schedule, Image, PriorityClass string
	// KeepFor is at least a minute, at most ten years, rounded up to minutes.
	KeepFor time.Duration

	// Claim or HostPath is the volume, with the subPath of the server's mount.
	Claim, HostPath, SubPath string
	// MountPath is where the server mounts the volume, and so does the job.
	// Parent is the directory that holds the generations: MountPath or below.
	MountPath, Parent string
	// Keep are the directories under Parent that manifests name as generations,
	// at least one unless the tier is flat. Reserved are other names there that a mount, a subPath, a
	// variable or an argument names.
	Keep, Reserved []string
	// KeptBy and ReservedBy are the same by the objects that name them:
	// "Deployment chat".
	KeptBy, ReservedBy map[string][]string
	// Tier is the name of the tier.
	Tier string
	// Pages are globs of what the tier writes: names in a generation or, of a flat
	// tier, one path below Parent. Partial is the glob of a page that is not whole,
	// empty where there is none.
	Pages   []string
	Partial string
	// Trees is true where a page of a generation is a directory with all in it.
	Trees bool
	// Flat is true where the pages of all versions lie together: they go by age,
	// and by size where Most is above 0 (bytes). Keep is then empty.
	Flat bool
	Most int64

	// The server's identity, so that the job may delete what the server wrote.
	// Without RunAsUser, or with 0, the job runs as root, as the images of the
	// engines do.
	RunAsUser, RunAsGroup, FSGroup *int64
	SupplementalGroups             []int64

	// Placement for a volume that one node at a time can mount: the server's
	// node selector, or labels of its pods (the job then waits, at most
	// activeDeadlineSeconds, for a server that is scaled to zero).
	NodeSelector, AffinityLabels map[string]string
	Tolerations                  []map[string]any // as in the pod, scalar values
}

var (
	// The script of a job is what goes to the volume, and then what prunes there.
	//go:embed prune-volume.sh
	volumeScript string
	//go:embed prune.sh
	generationsScript string
	//go:embed prune-flat.sh
	flatScript string
)

// PruneName is the name of the job that prunes a tier of a server, at most 52
// characters (a CronJob's limit): SERVER-TIER-prune. A longer one, or one with
// letters that no name may hold, is cut and tells itself apart by a hash.
func PruneName(server, tier string) string {
	return fittingName(server, "-"+tier+"-prune", "-"+cut(plainName(tier), 20)+"-prune", server+"/"+tier)
}

// fittingName is a server's name with a tail. Where that is no name, or a longer
// one than 52 characters, it is cut, and a hash of the key tells it apart before
// another tail.
func fittingName(server, tail, cutTail, key string) string {
	const limit = 52
	whole := server + tail
	if len(whole) <= limit && objectName.MatchString(whole) {
		return whole
	}
	cutTail = "-" + hash(key) + cutTail
	return strings.TrimLeft(cut(plainName(server), limit-len(cutTail))+cutTail, "-")
}

// LabelValue is the text as a label may hold it: itself, or at most 63 of its
// letters with a hash.
func LabelValue(text string) string {
	if len(text) <= 63 && labelValue.MatchString(text) {
		return text
	}
	return strings.TrimLeft(cut(plainName(text), 63-9)+"-"+hash(text), "-")
}

// PruneCronJob is the CronJob as a whole YAML document: block style, ASCII, the
// same bytes for the same job. The error says what the user can change.
func PruneCronJob(job PruneJob) (string, error) {
	job.MountPath, job.Parent = cleanPath(job.MountPath), cleanPath(job.Parent)
	if err := job.check(); err != nil {
		return "", fmt.Errorf("prune job %q: %w", job.Name, err)
	}
	minutes := int64((job.KeepFor + time.Minute - 1) / time.Minute)
	view := pruneView{
		PruneJob: job,
		Prunes:   LabelValue(cmp.Or(job.Claim, job.Owner.Name)),
		Server:   strings.Trim(job.Owner.Kind+" "+job.Owner.Name, " "),
		Rollback: "a rollback to a generation that was last written more than " + span(minutes) + " ago starts cold: this job has removed it",
		Env:      job.env(minutes),
		Script:   volumeScript + generationsScript,
	}
	if job.Flat {
		view.Rollback = "a page that was last written more than " + span(minutes) + " ago is computed anew: this job has removed it"
		view.Script = volumeScript + flatScript
	}
	view.Keeps, view.Reserves = recordOf(job.KeptBy), recordOf(job.ReservedBy)
	view.Schedule = cmp.Or(job.Schedule, PruneSchedule)
	view.Image = cmp.Or(job.Image, PruneImage)
	view.PriorityClass = cmp.Or(job.PriorityClass, PrunePriority)
	switch {
	case job.RunAsUser == nil:
		view.Root = "the server states no user and its image runs as root: only root may remove what it wrote"
	case *job.RunAsUser == 0:
		view.Root = "the server runs as root: only root may remove what it wrote"
	}
	var err error
	if view.Tolerated, err = tolerations(job.tolerating()); err != nil {
		return "", fmt.Errorf("prune job %q: %w", job.Name, err)
	}
	return document(view.cronJob()), nil
}

// env are the variables of the script.
func (job *PruneJob) env(minutes int64) [][2]string {
	env := [][2]string{{"MOUNT", job.MountPath}, {"PARENT", job.Parent}, {"PAGE", strings.Join(job.Pages, " ")}, {"PARTIAL", job.Partial}}
	if job.Flat {
		const kib = 1 << 10
		env = append(env, [2]string{"DEPTH", strconv.Itoa(job.depth())}, [2]string{"MOST_KIB", strconv.FormatInt(job.Most/kib, 10)})
	} else {
		trees := ""
		if job.Trees {
			trees = "yes"
		}
		env = append(env, [2]string{"TREES", trees}, [2]string{"KEEP", list(job.Keep)})
	}
	return append(env, [2]string{"RESERVED", list(job.Reserved)}, [2]string{"KEEP_FOR_MINUTES", strconv.FormatInt(minutes, 10)})
}

// depth is how many levels below Parent a page of a flat tier lies.
func (job *PruneJob) depth() int { return strings.Count(job.Pages[0], "/") + 1 }

// tolerating are the server's tolerations, and that of a node whose disk is full:
// there the job is needed.
func (job *PruneJob) tolerating() []map[string]any {
	for _, toleration := range job.Tolerations {
		effect, key := toleration["effect"], toleration["key"]
		if toleration["operator"] == "Exists" && (key == nil || key == "" || key == diskPressure) && (effect == nil || effect == "" || effect == "NoSchedule") {
			return job.Tolerations
		}
	}
	return append(slices.Clone(job.Tolerations), map[string]any{"key": diskPressure, "operator": "Exists", "effect": "NoSchedule"})
}

// pruneView is a job with what follows from it.
type pruneView struct {
	PruneJob
	Prunes, Server, Rollback, Root, Script string
	Keeps, Reserves                        string
	Env                                    [][2]string
	Tolerated                              sequence
}

// cleanPath is path.Clean that leaves the empty path empty.
func cleanPath(p string) string {
	if p == "" {
		return ""
	}
	return path.Clean(p)
}

// list joins names the way the script reads them: /a/b/. No name holds a slash.
func list(names []string) string {
	if len(names) == 0 {
		return ""
	}
	names = slices.Sorted(slices.Values(names))
	return "/" + strings.Join(slices.Compact(names), "/") + "/"
}

// recordOf writes names by object as JSON; empty where there are none.
func recordOf(names map[string][]string) string {
	if len(names) == 0 {
		return ""
	}
	text, _ := json.Marshal(names) // texts alone: it cannot fail
	return string(text)
}

// span writes minutes as people do: 24h, 90m.
func span(minutes int64) string {
	if minutes%60 == 0 {
		return strconv.FormatInt(minutes/60, 10) + "h"
	}
	return strconv.FormatInt(minutes, 10) + "m"
}

// plainName keeps lower case letters and digits of a text, other runs become `-`.
func plainName(text string) string {
	return strings.Trim(otherRunes.ReplaceAllString(strings.ToLower(text), "-"), "-")
}

// cut takes at most n bytes and no `-` at their end.
func cut(text string, n int) string {
	return strings.TrimRight(text[:min(n, len(text))], "-")
}

// hash tells texts apart that were cut: 8 hexadecimal digits.
func hash(text string) string {
	sum := fnv.New32a()
	sum.Write([]byte(text))
	return fmt.Sprintf("%08x", sum.Sum32())
}
