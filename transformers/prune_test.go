package transformers_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/trimtab/trimtab/internal/finding"
	"github.com/trimtab/trimtab/transformers"
)

// hicache is a job as a server on a claim would get it.
func hicache() transformers.PruneJob {
	return transformers.PruneJob{
		Name:      transformers.PruneName("coder", "hicache"),
		Namespace: "ai",
		Owner:     finding.Object{Kind: "InferenceService", Namespace: "ai", Name: "coder"},
		KeepFor:   transformers.PruneKeepFor,
		Claim:     "coder-cache",
		MountPath: "/cache",
		Parent:    "/cache/hicache",
		Keep:      []string{"sha-1"},
		Tier:      "hicache",
		Pages:     []string{"*.bin"},
	}
}

// decode generates the job and decodes it strictly.
func decode(t *testing.T, job transformers.PruneJob) (string, *batchv1.CronJob) {
	t.Helper()
	text, err := transformers.PruneCronJob(job)
	require.NoError(t, err)
	cron := &batchv1.CronJob{}
	require.NoError(t, yaml.UnmarshalStrict([]byte(text), cron), text)
	return text, cron
}

func ptr[T any](v T) *T { return &v }

func TestPruneCronJobIsHardened(t *testing.T) {
	text, cron := decode(t, hicache())
	require.Equal(t, "batch/v1", cron.APIVersion)
	require.Equal(t, "CronJob", cron.Kind)
	require.Equal(t, "coder-hicache-prune", cron.Name)
	require.Equal(t, "ai", cron.Namespace)
	labels := map[string]string{"app.kubernetes.io/managed-by": "trimtab", "trimtab.dev/prunes": "coder-cache"}
	require.Equal(t, labels, cron.Labels)
	require.Equal(t, map[string]string{
		transformers.ServerAnnotation:   "InferenceService coder",
		transformers.ParentAnnotation:   "/cache/hicache",
		transformers.TierAnnotation:     "hicache",
		transformers.PriorityAnnotation: "while the disk of the node is full the kubelet admits critical pods alone",
		transformers.RollbackAnnotation: "a rollback to a generation that was last written more than 24h ago starts cold: this job has removed it",
		transformers.RootAnnotation:     "the server states no user and its image runs as root: only root may remove what it wrote",
	}, cron.Annotations)
	require.Equal(t, "30 4 * * *", cron.Spec.Schedule)
	require.Equal(t, batchv1.ForbidConcurrent, cron.Spec.ConcurrencyPolicy)
	require.EqualValues(t, 3600, *cron.Spec.StartingDeadlineSeconds)
	require.EqualValues(t, 1, *cron.Spec.SuccessfulJobsHistoryLimit)
	require.EqualValues(t, 3, *cron.Spec.FailedJobsHistoryLimit)
	require.EqualValues(t, 2, *cron.Spec.JobTemplate.Spec.BackoffLimit)
	require.EqualValues(t, 21600, *cron.Spec.JobTemplate.Spec.ActiveDeadlineSeconds)

	template := cron.Spec.JobTemplate.Spec.Template
	require.Equal(t, labels, template.Labels)
	pod := template.Spec
	require.Equal(t, corev1.RestartPolicyOnFailure, pod.RestartPolicy)
	require.False(t, *pod.AutomountServiceAccountToken)
	require.False(t, *pod.EnableServiceLinks)
	require.Equal(t, &corev1.PodSecurityContext{
		RunAsUser:      ptr(int64(0)),
		SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
	}, pod.SecurityContext)
	require.Len(t, pod.Containers, 1)
	container := pod.Containers[0]
	require.Equal(t, &corev1.SecurityContext{
		AllowPrivilegeEscalation: ptr(false),
		ReadOnlyRootFilesystem:   ptr(true),
		Capabilities:             &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
	}, container.SecurityContext)
	require.Equal(t, transformers.PruneImage, container.Image)
	require.Equal(t, "64Mi", container.Resources.Requests.Memory().String())
	require.Equal(t, "128Mi", container.Resources.Limits.Memory().String())
	require.NotContains(t, container.Resources.Limits, corev1.ResourceCPU)
	require.Equal(t, []corev1.VolumeMount{{Name: "cache", MountPath: "/cache"}}, container.VolumeMounts)
	require.Equal(t, []corev1.Volume{{Name: "cache", VolumeSource: corev1.VolumeSource{
		PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "coder-cache"},
	}}}, pod.Volumes)
	require.Nil(t, pod.Affinity)
	requireFormat(t, text)
}

// requireFormat demands block YAML that every host leaves as it is.
func requireFormat(t *testing.T, text string) {
	t.Helper()
	require.True(t, strings.HasSuffix(text, "\n") && !strings.HasSuffix(text, "\n\n"))
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		require.Equal(t, strings.TrimRight(line, " \t\r"), line, "blanks at the end of a line")
		require.NotRegexp(t, `[:-] >[-+0-9]*$`, line, "a folded block")
		for _, letter := range line {
			require.True(t, letter >= ' ' && letter <= '~', "%q is no printable ASCII", letter)
		}
	}
}

func TestPruneCronJobActsAsTheServer(t *testing.T) {
	job := hicache()
	job.Namespace, job.Claim, job.HostPath, job.SubPath = "", "", "/var/lib/caches", "coder"
	job.Schedule, job.Image, job.KeepFor = "@daily", "example.org/busybox:1", 90*time.Minute+time.Second
	job.RunAsUser, job.RunAsGroup, job.FSGroup, job.SupplementalGroups = ptr(int64(1000)), ptr(int64(0)), ptr(int64(2000)), []int64{44, 109}
	job.NodeSelector = map[string]string{"kubernetes.io/hostname": "gpu-1", "gpu": "true", "pool": "${POOL}"}
	job.AffinityLabels = map[string]string{"app": "coder", "1": "2"}
	job.Tolerations = []map[string]any{
		{"key": "amd.com/gpu", "operator": "Exists", "effect": "NoSchedule"},
		{"key": "on", "operator": "Equal", "value": "1e3", "effect": "NoExecute", "tolerationSeconds": 60},
	}
	text, cron := decode(t, job)
	requireFormat(t, text)
	again, err := transformers.PruneCronJob(job)
	require.NoError(t, err)
	require.Equal(t, text, again)

	require.NotContains(t, text, "namespace:")
	require.Equal(t, "@daily", cron.Spec.Schedule)
	require.Equal(t, "coder", cron.Labels[transformers.PrunesLabel])
	require.NotContains(t, cron.Annotations, transformers.RootAnnotation)
	require.Contains(t, cron.Annotations[transformers.RollbackAnnotation], " 91m ago")
	pod := cron.Spec.JobTemplate.Spec.Template.Spec
	require.Equal(t, &corev1.PodSecurityContext{
		RunAsNonRoot: ptr(true), RunAsUser: ptr(int64(1000)), RunAsGroup: ptr(int64(0)),
		FSGroup: ptr(int64(2000)), FSGroupChangePolicy: ptr(corev1.FSGroupChangeOnRootMismatch), SupplementalGroups: []int64{44, 109},
		SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
	}, pod.SecurityContext)
	require.Equal(t, job.NodeSelector, pod.NodeSelector)
	terms := pod.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	require.Len(t, terms, 1)
	require.Equal(t, "kubernetes.io/hostname", terms[0].TopologyKey)
	require.Equal(t, job.AffinityLabels, terms[0].LabelSelector.MatchLabels)
	require.Equal(t, []corev1.Toleration{
		{Key: "amd.com/gpu", Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule},
		{Key: "on", Operator: corev1.TolerationOpEqual, Value: "1e3", Effect: corev1.TaintEffectNoExecute, TolerationSeconds: ptr(int64(60))},
		{Key: "node.kubernetes.io/disk-pressure", Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule},
	}, pod.Tolerations)
	require.Equal(t, "example.org/busybox:1", pod.Containers[0].Image)
	require.Equal(t, []corev1.VolumeMount{{Name: "cache", MountPath: "/cache", SubPath: "coder"}}, pod.Containers[0].VolumeMounts)
	require.Equal(t, &corev1.HostPathVolumeSource{Path: "/var/lib/caches"}, pod.Volumes[0].HostPath)
	require.Nil(t, pod.Volumes[0].PersistentVolumeClaim)

	job.RunAsUser = ptr(int64(0))
	_, cron = decode(t, job)
	require.Equal(t, "the server runs as root: only root may remove what it wrote", cron.Annotations[transformers.RootAnnotation])
}

func TestPruneScriptUsesOnlySafeForms(t *testing.T) {
	for name, script := range scripts(t) {
		for _, form := range []string{"${", "$$", "\t"} {
			require.NotContains(t, script, form, name)
		}
		require.NotRegexp(t, `\$\([A-Za-z_][-A-Za-z0-9_.]*\)`, script, "kubelet may replace it")
	}
}

func TestPruneCronJobRefuses(t *testing.T) {
	cases := []struct {
		change func(*transformers.PruneJob)
		want   string
	}{
		{func(j *transformers.PruneJob) { j.Name = strings.Repeat("x", 53) }, "the name must have at most 52 lower case letters, digits, `-` or `.`: use PruneName"},
		{func(j *transformers.PruneJob) { j.Name = "" }, "the name must have at most 52 lower case letters, digits, `-` or `.`: use PruneName"},
		{func(j *transformers.PruneJob) { j.Owner.Name = "" }, "no server is named: give the server a name"},
		{func(j *transformers.PruneJob) { j.KeepFor = 0 }, "keepFor is 0s: state at least 1m and at most 87600h, or prune: false for no job"},
		{func(j *transformers.PruneJob) { j.KeepFor = 59 * time.Second }, "keepFor is 59s: state at least 1m and at most 87600h, or prune: false for no job"},
		{func(j *transformers.PruneJob) { j.KeepFor = -time.Hour }, "keepFor is -1h0m0s: state at least 1m and at most 87600h, or prune: false for no job"},
		{func(j *transformers.PruneJob) { j.KeepFor = 1<<63 - 1 }, "keepFor is 2562047h47m16.854775807s: state at least 1m and at most 87600h, or prune: false for no job"},
		{func(j *transformers.PruneJob) { j.Claim = "" }, "the cache must lie on a claim or on a hostPath, one of the two"},
		{func(j *transformers.PruneJob) { j.HostPath = "/x" }, "the cache must lie on a claim or on a hostPath, one of the two"},
		{func(j *transformers.PruneJob) { j.MountPath, j.Parent = "/", "/x" }, "mount path \"/\" and directory \"/x\" must be absolute, and the mount path not `/`"},
		{func(j *transformers.PruneJob) { j.Parent = "hicache" }, "mount path \"/cache\" and directory \"hicache\" must be absolute, and the mount path not `/`"},
		{func(j *transformers.PruneJob) { j.Parent = "" }, "mount path \"/cache\" and directory \"\" must be absolute, and the mount path not `/`"},
		{func(j *transformers.PruneJob) { j.Parent = "/cache2/x" }, "the directory \"/cache2/x\" is not on the volume mounted at \"/cache\": mount the volume at a parent of the generations"},
		{func(j *transformers.PruneJob) { j.Parent = "/cache/../etc" }, "the directory \"/etc\" is not on the volume mounted at \"/cache\": mount the volume at a parent of the generations"},
		{func(j *transformers.PruneJob) { j.Pages = []string{""} }, "the page glob \"\" must be a file name pattern such as *.bin"},
		{func(j *transformers.PruneJob) { j.Pages = []string{"*/*.bin"} }, "the page glob \"*/*.bin\" must be a file name pattern such as *.bin"},
		{func(j *transformers.PruneJob) { j.Keep = nil }, "no generation is named that must stay: name the directory the server is configured with"},
		{func(j *transformers.PruneJob) { j.Keep = []string{"a", ".."} }, "\"..\" is no name of a directory in /cache/hicache"},
		{func(j *transformers.PruneJob) { j.Reserved = []string{"a/b"} }, "\"a/b\" is no name of a directory in /cache/hicache"},
		{func(j *transformers.PruneJob) { j.Keep = []string{"$(PARENT)"} }, "\"$(PARENT)\" holds `$(`, which kubelet or Flux replaces: write the value out, or rename the directory"},
		{func(j *transformers.PruneJob) { j.Parent = "/cache/${DIR}" }, "\"/cache/${DIR}\" holds `${`, which kubelet or Flux replaces: write the value out, or rename the directory"},
		{func(j *transformers.PruneJob) { j.Reserved = []string{"a$$b"} }, "\"a$$b\" holds `$$`, which kubelet or Flux replaces: write the value out, or rename the directory"},
		{func(j *transformers.PruneJob) { j.Keep = []string{"\xff"} }, "\"\\xff\" is no text that YAML can hold: rename it"},
		{func(j *transformers.PruneJob) { j.NodeSelector = map[string]string{"a": "\x00"} }, "\"\\x00\" is no text that YAML can hold: rename it"},
		{func(j *transformers.PruneJob) { j.Tolerations = []map[string]any{{"value": []string{"x"}}} }, "the toleration's value is [x]: write a text or a whole number"},
		{func(j *transformers.PruneJob) { j.Tolerations = []map[string]any{{"value": "\xff"}} }, "the toleration's value \"\\xff\" is no text that YAML can hold"},
	}
	for _, c := range cases {
		job := hicache()
		c.change(&job)
		text, err := transformers.PruneCronJob(job)
		require.ErrorContains(t, err, ": "+c.want)
		require.Empty(t, text)
	}
}

func TestPruneName(t *testing.T) {
	cases := []struct{ server, tier, want string }{
		{"qwen36-27b", "hicache", "qwen36-27b-hicache-prune"},
		{strings.Repeat("a", 38), "hicache", strings.Repeat("a", 38) + "-hicache-prune"},
		{strings.Repeat("a", 39), "hicache", strings.Repeat("a", 29) + "-fdcdb142-hicache-prune"},
		{strings.Repeat("a", 40), "hicache", strings.Repeat("a", 29) + "-4c9c4d69-hicache-prune"},
		{strings.Repeat("a", 28) + "-" + strings.Repeat("b", 28), "hicache", ""},
		{"Coder_${APP}", "hicache", ""},
		{"", "hicache", ""},
		{"é", strings.Repeat("long", 30), ""},
	}
	seen := map[string]bool{}
	for _, c := range cases {
		got := transformers.PruneName(c.server, c.tier)
		if c.want != "" {
			require.Equal(t, c.want, got)
		}
		require.LessOrEqual(t, len(got), 52)
		require.Regexp(t, `^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`, got)
		require.False(t, seen[got], got)
		seen[got] = true
	}
}

func TestLabelValue(t *testing.T) {
	require.Equal(t, "Cache_1.data", transformers.LabelValue("Cache_1.data"))
	require.Equal(t, strings.Repeat("a", 63), transformers.LabelValue(strings.Repeat("a", 63)))
	seen := map[string]bool{}
	for _, text := range []string{strings.Repeat("a", 64), strings.Repeat("a", 65), "${APP}", "-x", "x-", "", "a b", "a.b/c", "é"} {
		got := transformers.LabelValue(text)
		require.LessOrEqual(t, len(got), 63)
		require.Regexp(t, `^[A-Za-z0-9]([-_.A-Za-z0-9]*[A-Za-z0-9])?$`, got)
		require.False(t, seen[got], got)
		seen[got] = true
	}
}
