package e2e

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const pagesClaim = `apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: pages, namespace: llm}
spec:
  accessModes: [ReadWriteOnce]
  resources: {requests: {storage: 1Gi}}
`

// What kustomize renames, relabels and mirrors on the way leaves a job of ours
// alone: a build does not write it anew, and a build of its output neither.
func TestPruneThroughRenames(t *testing.T) {
	t.Parallel()
	overlays := map[string]string{
		"prefix":    "namePrefix: team-\n",
		"suffix":    "nameSuffix: -canary\n",
		"namespace": "namespace: prod\n",
		"labels":    "labels: [{pairs: {team: chat}, includeSelectors: true, includeTemplates: true}]\n",
		"notes":     "commonAnnotations: {owner: chat}\n",
		"mirror":    "images: [{name: ghcr.io/home-operations/busybox, newName: mirror.example.org/library/busybox}]\n",
		"all": "namePrefix: team-\nnameSuffix: -canary\nnamespace: prod\ncommonAnnotations: {owner: chat}\n" +
			"labels: [{pairs: {team: chat}, includeSelectors: true, includeTemplates: true}]\n",
	}
	server := strings.Replace(tiered("chat", "/pages/chat-2", "pages"), "  template:\n",
		"  selector: {matchLabels: {app: chat}}\n  template:\n    metadata: {labels: {app: chat}}\n", 1)
	for name, overlay := range overlays {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			trim := functionTrim + "spec:\n" + indentedSpec(onlyPrune)
			dir := kustomization(t, map[string]string{
				"base/server.yaml": documents(server, pagesClaim), "config.yaml": config("Trim", onlyPrune),
				"base/kustomization.yaml": "resources: [server.yaml]\n", "plain/kustomization.yaml": "resources: [../base]\n" + overlay,
				"with/kustomization.yaml": "resources: [../base]\n" + overlay + "transformers: [trim.yaml]\n", "with/trim.yaml": trim,
				"again/kustomization.yaml": "resources: [once.yaml]\ntransformers: [trim.yaml]\n", "again/trim.yaml": trim,
			})
			for _, folder := range []string{"with", "again"} {
				install(t, filepath.Join(dir, folder))
			}
			written := run(t, dir, "", trimtab, "trim", "-w", "-c", "config.yaml", "base")
			require.Equal(t, 0, written.code, written.stderr)

			plain := run(t, dir, "", kustomize, "build", "plain")
			require.Equal(t, 0, plain.code, plain.stderr)
			once := build(t, dir, "with")
			require.Equal(t, 0, once.code, once.stderr)
			require.Equal(t, pruneJobs(t, plain.stdout), pruneJobs(t, once.stdout), "the job is up to date")
			require.NotContains(t, once.stderr, "unpruned-cache")
			require.Empty(t, once.stderr, "nothing to do")
			require.Len(t, pruneJobs(t, once.stdout), 1)
			require.Equal(t, "/chat-2/", pruneJobs(t, once.stdout)[0].env("KEEP"))

			write(t, dir, map[string]string{"again/once.yaml": once.stdout})
			twice := build(t, dir, "again")
			require.Equal(t, ran{stdout: once.stdout}, twice)
		})
	}
}

// indentedSpec is what config writes under spec.
func indentedSpec(spec string) string {
	_, text, _ := strings.Cut(config("Trim", spec), "spec:\n")
	return text
}

// Without a job in the base the overlay writes one for the renamed server, and
// its output is stable.
func TestPruneWrittenInARenamingBuild(t *testing.T) {
	t.Parallel()
	trim := functionTrim + "spec:\n" + indentedSpec(onlyPrune)
	dir := kustomization(t, map[string]string{
		"server.yaml": documents(tiered("one", "/pages/one-7", "pages"), tiered("two", "/pages/two-3", "pages"), pagesClaim), "trim.yaml": trim,
		"kustomization.yaml":       "resources: [server.yaml]\nnamePrefix: team-\ntransformers: [trim.yaml]\n",
		"again/kustomization.yaml": "resources: [once.yaml]\nnameSuffix: -b\ntransformers: [trim.yaml]\n", "again/trim.yaml": trim,
	})
	install(t, filepath.Join(dir, "again"))
	once := build(t, dir, ".")
	require.Equal(t, 0, once.code, once.stderr)
	require.Len(t, pruneJobs(t, once.stdout), 1)
	job := pruneJobs(t, once.stdout)[0]
	require.Equal(t, []string{"team-one-hicache-prune", "/one-7/two-3/"}, []string{job.Metadata.Name, job.env("KEEP")})
	require.Equal(t, "team-pages", job.pod().Volumes[0].PersistentVolumeClaim.ClaimName)
	write(t, dir, map[string]string{"again/once.yaml": once.stdout})
	twice := build(t, dir, "again")
	require.Equal(t, 0, twice.code, twice.stderr)
	require.Len(t, pruneJobs(t, twice.stdout), 1)
	require.Equal(t, "/one-7/two-3/", pruneJobs(t, twice.stdout)[0].env("KEEP"))
}

// Two jobs that come into one file under kpt have an index each, a renewed one
// keeps its place, and what others noted on it stays.
func TestPruneIndexesUnderKpt(t *testing.T) {
	t.Parallel()
	servers := documents(tiered("one", "/pages/one-7", "pages"), tiered("two", "/pages/two-3", "others"))
	dir := kptPackage(t, map[string]string{"server.yaml": servers, "trim.yaml": config("Trim", onlyPrune)})
	got, _ := render(t, dir)
	require.Equal(t, 0, got.code, got.stderr)
	once := files(t, dir)
	require.Len(t, pruneJobs(t, once["server.yaml"]), 2)
	render(t, dir)
	require.Equal(t, once, files(t, dir))

	noted := strings.NewReplacer("/pages/one-7", "/pages/one-8", "  annotations:\n    trimtab.dev/server", "  annotations:\n    argocd.argoproj.io/sync-wave: \"3\"\n    trimtab.dev/server").Replace(once["server.yaml"])
	require.Equal(t, 2, strings.Count(noted, "sync-wave"))
	write(t, dir, map[string]string{"server.yaml": noted})
	got, _ = render(t, dir)
	require.Equal(t, 0, got.code, got.stderr)
	renewed := files(t, dir)
	require.Len(t, renewed, len(once), "no file is added")
	jobs := pruneJobs(t, renewed["server.yaml"])
	require.Len(t, jobs, 2)
	require.Equal(t, []string{"/one-8/", "/two-3/"}, []string{jobs[0].env("KEEP"), jobs[1].env("KEEP")})
	require.Equal(t, 2, strings.Count(renewed["server.yaml"], "argocd.argoproj.io/sync-wave: \"3\""))
}
