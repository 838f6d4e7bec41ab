package e2e

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// seedChanged are the lines that go and come, without their indentation, which
// belongs to the host, and without the CronJob.
func seedChanged() (removed, added []string) {
	for _, text := range slices.Concat(seedInert, seedGone, []string{"    - \"60\"\n"}) {
		removed = append(removed, strings.SplitAfter(text, "\n")...)
	}
	added = append(strings.SplitAfter(seedAdded, "\n"), "    - \"48\"\n")
	return bare(removed), bare(added)
}

// bare takes the indentation, and the mark of a list's element, off lines and
// sorts them. Comments and empty lines are left out.
func bare(lines []string) []string {
	var all []string
	for _, line := range lines {
		line = strings.TrimSpace(line)
		line = strings.TrimPrefix(line, "- ")
		if line != "" && !strings.HasPrefix(line, "#") {
			all = append(all, line)
		}
	}
	slices.Sort(all)
	return all
}

// requireSeedChanges asserts that exactly the lines of the pair differ, apart
// from the CronJob, which is cut off.
func requireSeedChanges(t *testing.T, before, after string) {
	t.Helper()
	wantRemoved, wantAdded := seedChanged()
	removed, added := changedLines(before, after)
	require.Equal(t, wantRemoved, bare(removed))
	require.Equal(t, wantAdded, bare(added))
}

// withoutObject cuts the document of an object out of a stream.
func withoutObject(t *testing.T, text, kind, name string) string {
	t.Helper()
	var rest []string
	for _, document := range documentMarker.Split(text, -1) {
		if o := objects(t, document); len(o) != 1 || o[0].Kind != kind || o[0].Metadata.Name != name {
			rest = append(rest, document)
		}
	}
	return strings.Join(rest, "---\n")
}

// Through kustomize the same happens; comments are gone there, so `keep` keeps
// what a comment keeps in a file.
func TestSeedThroughKustomize(t *testing.T) {
	t.Parallel()
	spec := seedSpec + "keep: [--hicache-write-policy]\n"
	inputs := map[string]string{
		"server.yaml": seed(t, "before.yaml"), "trim.yaml": functionTrim + "spec:\n" + indent(spec, "  "),
		"plain/kustomization.yaml": "resources: [server.yaml]\n", "plain/server.yaml": seed(t, "before.yaml")}
	dir := kustomization(t, inputs)
	plain := build(t, dir, "plain")
	require.Equal(t, 0, plain.code, plain.stderr)
	got := build(t, dir, ".")
	require.Equal(t, 0, got.code, got.stderr)
	requireSeedJob(t, got.stdout)
	requireSeedChanges(t, plain.stdout, withoutObject(t, got.stdout, "CronJob", seedPrune))
	require.ElementsMatch(t, append(identities(t, plain.stdout), "CronJob//"+seedPrune), identities(t, got.stdout))

	filtered := run(t, dir, got.stdout, trimtab, "trim", "-c", "trim.yaml", "-")
	require.Equal(t, 0, filtered.code, filtered.stderr)
	require.Equal(t, got.stdout, filtered.stdout, "twice is once")

	write(t, dir, map[string]string{"trim.yaml": functionTrim + "spec:\n" + indent(seedSpec, "  ")})
	removed, added := changedLines(got.stdout, build(t, dir, ".").stdout)
	require.Empty(t, added)
	require.Equal(t, []string{"--hicache-write-policy", "write_through"}, bare(removed), "nothing gives the reason here")
}

// In a pipeline of kustomize new objects come last, in the order of the list.
func TestSeedFunctionAppends(t *testing.T) {
	t.Parallel()
	input := list(config("Trim", seedSpec), nonEmpty(t, seed(t, "before.yaml"))...)
	got := run(t, t.TempDir(), input, trimtab)
	require.Equal(t, 0, got.code, got.stderr)
	require.Equal(t, append(identities(t, input), "CronJob//"+seedPrune), identities(t, got.stdout))
	requireSeedJob(t, got.stdout)
	again := run(t, t.TempDir(), got.stdout, trimtab)
	require.Equal(t, beforeResults(got.stdout), beforeResults(again.stdout), "twice is once")
}

// Through kpt the CronJob lands in the server's file, behind its documents; a
// second render changes nothing.
func TestSeedThroughKpt(t *testing.T) {
	t.Parallel()
	inputs := map[string]string{"server.yaml": seed(t, "before.yaml"), "trim.yaml": config("Trim", seedSpec)}
	dir := kptPackage(t, inputs)
	_, returned := recorder(t, filepath.Dir(dir))
	write(t, dir, map[string]string{"Kptfile": kptfile("mutators", filepath.Join(filepath.Dir(dir), "trimtab"), "configPath: trim.yaml\n")})
	got, _ := render(t, dir)
	require.Equal(t, 0, got.code, got.stderr)
	items := objects(t, returned())
	job := items[len(items)-1]
	require.Equal(t, seedPrune, job.Metadata.Name)
	require.Equal(t, "server.yaml", job.Metadata.Annotations["internal.config.kubernetes.io/path"])
	next := strconv.Itoa(len(objects(t, seed(t, "before.yaml"))))
	require.Equal(t, next, job.Metadata.Annotations["internal.config.kubernetes.io/index"])

	once := files(t, dir)
	requireSeedJob(t, once["server.yaml"])
	require.Equal(t, append(identities(t, seed(t, "before.yaml")), "CronJob//"+seedPrune), identities(t, once["server.yaml"]))

	inputs["Kptfile"] = kptfile("mutators", "/bin/cat", "configPath: trim.yaml\n")
	echo := kptPackage(t, inputs)
	render(t, echo)
	before := files(t, echo)
	require.Equal(t, len(before), len(once), "no file is new")
	requireSeedChanges(t, before["server.yaml"], withoutObject(t, once["server.yaml"], "CronJob", seedPrune))
	removed, _ := changedLines(before["server.yaml"], once["server.yaml"])
	for _, line := range removed {
		require.NotContains(t, line, "#", "every comment stays")
	}

	render(t, dir)
	require.Equal(t, once, files(t, dir), "twice is once")
}

// kpt gives an element of a list without comments those that stood at its index
// before. Only taking its own identifying annotations out would stop it, which a
// function must not do (P13): the copy is pinned here, and files are the way in
// that keeps comments where they are.
func TestKptP12CommentsAreCopiedByPosition(t *testing.T) {
	t.Parallel()
	const service = `apiVersion: inference.llmkube.dev/v1alpha1
kind: Model
metadata: {name: coder}
spec:
  hardware: {gpu: {count: 1, vendor: nvidia}}
---
apiVersion: inference.llmkube.dev/v1alpha1
kind: InferenceService
metadata: {name: coder}
spec:
  modelRef: coder
  runtime: sglang
  image: lmsysorg/sglang:v0.5.16
  env:
    - name: CUDA_VISIBLE_DEVICES
      value: "0"
    # the claim
    - name: HF_HOME
      value: /cache
    - name: TRITON_CACHE_DIR
      value: /cache/triton
`
	dir := kptPackage(t, map[string]string{"server.yaml": service, "trim.yaml": config("Trim", only("inert-setting"))})
	got, _ := render(t, dir)
	require.Equal(t, 0, got.code, got.stderr)
	after := read(t, filepath.Join(dir, "server.yaml"))
	require.NotContains(t, after, "CUDA_VISIBLE_DEVICES")
	require.Equal(t, 2, strings.Count(after, "# the claim"), after)
}
