package transformers

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/template"
	"time"
	"unicode/utf8"

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
)

// HiCachePage is what SGLang's file tier calls a page: one flat file for each page
// and pool (sglang mem_cache/hicache_storage.py, HiCacheFile).
const HiCachePage = "*.bin"

// PruneJob is everything the CronJob of one growing cache tier needs. Namespace,
// volume, placement and tolerations are copied as the server states them and may
// hold `${VAR}`; what the script reads as data may not.
type PruneJob struct {
	Name, Namespace string // Name as PruneName gives it; no Namespace: the line is left out
	// Owner is the server whose tier it is, or one of those on the claim.
	Owner finding.Object
	// Labels and Annotations are those that others put on the object.
	Labels, Annotations map[string]string
	// Schedule and Image fall back to PruneSchedule and PruneImage.
	Schedule, Image string
	// KeepFor is at least a minute, at most ten years, rounded up to minutes.
	KeepFor time.Duration

	// Claim or HostPath is the volume, with the subPath of the server's mount.
	Claim, HostPath, SubPath string
	// MountPath is where the server mounts the volume, and so does the job.
	// Parent is the directory that holds the generations: MountPath or below.
	MountPath, Parent string
	// Keep are the directories under Parent that manifests name as generations,
	// at least one. Reserved are other names there that a mount, a subPath, a
	// variable or an argument names.
	Keep, Reserved []string
	// KeptBy and ReservedBy are the same by the objects that name them:
	// "Deployment chat".
	KeptBy, ReservedBy map[string][]string
	// Page is the glob of a page file.
	Page string

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
	//go:embed prune.sh
	pruneScript string
	//go:embed prune.yaml.tmpl
	pruneYAML string
)

var pruneTemplate = template.Must(template.New("prune").Funcs(template.FuncMap{"text": yamlText}).Parse(pruneYAML))

// PruneName is the name of the job that prunes a tier of a server, at most 52
// characters (a CronJob's limit): SERVER-TIER-prune. A longer one, or one with
// letters that no name may hold, is cut and tells itself apart by a hash.
func PruneName(server, tier string) string {
	const limit = 52
	whole := server + "-" + tier + "-prune"
	if len(whole) <= limit && objectName.MatchString(whole) {
		return whole
	}
	sum := hash(server + "/" + tier)
	tail := "-" + sum + "-" + cut(plainName(tier), 20) + "-prune"
	return strings.TrimLeft(cut(plainName(server), limit-len(tail))+tail, "-")
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
		Env: [][2]string{
			{"MOUNT", job.MountPath},
			{"PARENT", job.Parent},
			{"PAGE", job.Page},
			{"KEEP", list(job.Keep)},
			{"RESERVED", list(job.Reserved)},
			{"KEEP_FOR_MINUTES", strconv.FormatInt(minutes, 10)},
		},
		Script: indent(pruneScript, 18),
	}
	view.Keeps, view.Reserves = recordOf(job.KeptBy), recordOf(job.ReservedBy)
	view.Schedule = cmp.Or(job.Schedule, PruneSchedule)
	view.Image = cmp.Or(job.Image, PruneImage)
	switch {
	case job.RunAsUser == nil:
		view.Root = "the server states no user and its image runs as root: only root may remove what it wrote"
	case *job.RunAsUser == 0:
		view.Root = "the server runs as root: only root may remove what it wrote"
	}
	var err error
	if view.Tolerated, err = tolerations(job.Tolerations); err != nil {
		return "", fmt.Errorf("prune job %q: %w", job.Name, err)
	}
	var out strings.Builder
	if err := pruneTemplate.Execute(&out, view); err != nil {
		return "", fmt.Errorf("prune job %q: %w", job.Name, err)
	}
	return out.String(), nil
}

// pruneView is what the template sees.
type pruneView struct {
	PruneJob
	Prunes, Server, Rollback, Root, Script string
	Keeps, Reserves                        string
	Env                                    [][2]string
	Tolerated                              []string
}

// check refuses what would make a job that does not start, or that prunes
// something else than was meant.
func (job *PruneJob) check() error {
	if len(job.Name) > 52 || !objectName.MatchString(job.Name) {
		return errors.New("the name must have at most 52 lower case letters, digits, `-` or `.`: use PruneName")
	}
	if job.KeepFor < time.Minute || job.KeepFor > 10*365*24*time.Hour {
		return fmt.Errorf("keepFor is %v: state at least 1m and at most 87600h, or prune: false for no job", job.KeepFor)
	}
	if job.Owner.Name == "" {
		return errors.New("no server is named: give the server a name")
	}
	if (job.Claim == "") == (job.HostPath == "") {
		return errors.New("the cache must lie on a claim or on a hostPath, one of the two")
	}
	if job.MountPath == "/" || !path.IsAbs(job.MountPath) || !path.IsAbs(job.Parent) {
		return fmt.Errorf("mount path %q and directory %q must be absolute, and the mount path not `/`", job.MountPath, job.Parent)
	}
	if job.Parent != job.MountPath && !strings.HasPrefix(job.Parent, job.MountPath+"/") {
		return fmt.Errorf("the directory %q is not on the volume mounted at %q: mount the volume at a parent of the generations", job.Parent, job.MountPath)
	}
	if job.Page == "" || strings.Contains(job.Page, "/") {
		return fmt.Errorf("the page glob %q must be a file name pattern such as %s", job.Page, HiCachePage)
	}
	if len(job.Keep) == 0 {
		return errors.New("no generation is named that must stay: name the directory the server is configured with")
	}
	for _, name := range slices.Concat(job.Keep, job.Reserved) {
		if name == "" || name == "." || name == ".." || strings.Contains(name, "/") {
			return fmt.Errorf("%q is no name of a directory in %s: name a directory that lies directly in it", name, job.Parent)
		}
	}
	return job.checkTexts()
}

// checkTexts refuses texts that would not reach the script, or the object, as
// they are: kubelet replaces $(NAME) and halves dollars, Flux replaces ${NAME}.
func (job *PruneJob) checkTexts() error {
	data := slices.Concat([]string{job.MountPath, job.Parent, job.Page}, job.Keep, job.Reserved)
	for _, text := range data {
		for _, form := range []string{"$(", "${", "$$"} {
			if strings.Contains(text, form) {
				return fmt.Errorf("%q holds `%s`, which kubelet or Flux replaces: write the value out, or rename the directory", text, form)
			}
		}
	}
	all := slices.Concat(data, []string{job.Namespace, job.Schedule, job.Image, job.Claim, job.HostPath, job.SubPath, job.Owner.Kind, job.Owner.Name})
	for _, labels := range []map[string]string{job.NodeSelector, job.AffinityLabels, job.Labels, job.Annotations} {
		all = slices.Concat(all, slices.Collect(maps.Keys(labels)), slices.Collect(maps.Values(labels)))
	}
	for _, text := range all {
		if !utf8.ValidString(text) || strings.Contains(text, "\x00") {
			return fmt.Errorf("%q is no text that YAML can hold: rename it", text)
		}
	}
	return nil
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

// indent moves each line that is not empty to the right, without the last
// line's end.
func indent(text string, blanks int) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	for i, line := range lines {
		if line != "" {
			lines[i] = strings.Repeat(" ", blanks) + line
		}
	}
	return strings.Join(lines, "\n")
}

// tolerations writes the tolerations line by line, keys in order.
func tolerations(all []map[string]any) ([]string, error) {
	var lines []string
	for _, toleration := range all {
		start := "- "
		for _, key := range slices.Sorted(maps.Keys(toleration)) {
			var value string
			switch v := toleration[key].(type) {
			case string:
				if value = yamlText(v); !utf8.ValidString(v) || strings.Contains(v, "\x00") {
					return nil, fmt.Errorf("the toleration's %s %q is no text that YAML can hold: rewrite it", key, v)
				}
			case int, int64:
				value = fmt.Sprint(v)
			default:
				return nil, fmt.Errorf("the toleration's %s is %v: write a text or a whole number", key, v)
			}
			lines = append(lines, start+yamlText(key)+": "+value)
			start = "  "
		}
	}
	return lines, nil
}

var (
	// objectName is a DNS subdomain, as the API server wants names.
	objectName = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`)
	labelValue = regexp.MustCompile(`^[A-Za-z0-9]([-_.A-Za-z0-9]*[A-Za-z0-9])?$`)
	otherRunes = regexp.MustCompile(`[^a-z0-9]+`)
	// plainScalar is text that every YAML parser reads as itself; yamlWord is
	// text that some read as a boolean or as nothing.
	plainScalar = regexp.MustCompile(`^[A-Za-z/]([-A-Za-z0-9/._@]|:[A-Za-z0-9])*$`)
	yamlWord    = regexp.MustCompile(`(?i)^(y|n|yes|no|on|off|true|false|null)$`)
)

// yamlText writes a text as a YAML scalar in ASCII, plain where that is safe.
func yamlText(text string) string {
	if plainScalar.MatchString(text) && !yamlWord.MatchString(text) {
		return text
	}
	return strconv.QuoteToASCII(text)
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
