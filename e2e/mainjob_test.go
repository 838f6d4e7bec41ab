package e2e

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// mainConfig is what a user of that server would write for this job.
var mainConfig = config("Trim", "engine: {name: sglang, version: v0.5.16}\n"+only("inert-setting", "gpu-mismatch"))

// ranks are the settings that depend on the number of ranks or GPUs.
var ranks = []string{"--disable-custom-all-reduce", "--pre-warm-nccl", "env/CUDA_VISIBLE_DEVICES",
	"env/GPU_DEVICE_ORDINAL", "env/HIP_VISIBLE_DEVICES", "env/ROCR_VISIBLE_DEVICES"}

const steps = "--num-continuous-decode-steps"

// mainJob trims a variant of the real manifest, in a file of its own.
func mainJob(t *testing.T, manifest string) (trimmed string, got ran, found report) {
	t.Helper()
	dir := t.TempDir()
	write(t, dir, map[string]string{"server.yaml": manifest, "config.yaml": mainConfig})
	got = run(t, dir, "", trimtab, "trim", "-w", "-o", "json", "-c", "config.yaml", "server.yaml")
	return read(t, filepath.Join(dir, "server.yaml")), got, parseReport(t, got.stderr)
}

func realManifest(t *testing.T) string {
	t.Helper()
	return read(t, filepath.Join(publicCases(t), "llmkube", "pairs", "acd924a35", "before.yaml"))
}

// The main job: exactly these lines go, every other byte stays, each removal
// has its proof and its way back, and a second run has nothing to do.
func TestMainJob(t *testing.T) {
	t.Parallel()
	before := realManifest(t)
	after, got, found := mainJob(t, before)
	require.Equal(t, 0, got.code)
	gone := []string{"    - --num-continuous-decode-steps\n", "    - \"16\"\n", "    - --pre-warm-nccl\n", "    - --disable-custom-all-reduce\n"}
	for _, device := range []string{"HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL", "CUDA_VISIBLE_DEVICES"} {
		gone = append(gone, "    - name: "+device+"\n      value: \"0\"\n")
	}
	want := before
	for _, text := range gone {
		require.Equal(t, 1, strings.Count(want, text), text)
		want = strings.Replace(want, text, "", 1)
	}
	require.Equal(t, want, after)
	requireOnlyRemoved(t, before, after, 12)

	require.Equal(t, slices.Sorted(slices.Values(append(slices.Clone(ranks), steps))), fixed(found))
	for _, f := range found.Findings {
		if !f.Fixed {
			continue
		}
		require.Equal(t, "info", f.Severity)
		require.Equal(t, "remove", f.Action)
		require.NotEmpty(t, f.Evidence, f.Setting)
		for _, e := range f.Evidence {
			require.Equal(t, "sglang", e.Engine)
			require.NotEmpty(t, e.Versions)
			require.NotEmpty(t, e.Source)
		}
		require.NotEmpty(t, f.Undo, f.Setting)
		require.NotEmpty(t, f.Message)
		require.Equal(t, "server.yaml", f.File)
		require.Contains(t, strings.Split(before, "\n")[f.Line-1], strings.TrimPrefix(f.Setting, "env/"))
		require.Equal(t, strings.HasPrefix(f.Setting, "env/"), f.Group != "", "the device variables fall together")
	}
	require.Equal(t, "0.5.16", strings.TrimPrefix(found.Servers[0].Version, "v"))
	require.Zero(t, found.Summary.Error)
	require.Zero(t, found.Summary.Warning)

	again, second, foundAgain := mainJob(t, after)
	require.Equal(t, 0, second.code)
	require.Equal(t, after, again)
	require.Empty(t, fixed(foundAgain))
}

// fixed lists the settings that were changed.
func fixed(found report) []string {
	var settings []string
	for _, f := range found.Findings {
		if f.Fixed {
			settings = append(settings, f.Setting)
		}
	}
	slices.Sort(settings)
	return settings
}

// Where the number of ranks comes from decides what is removed.
func TestMainJobRanks(t *testing.T) {
	t.Parallel()
	before := realManifest(t)
	const field, model = "    tensorParallelSize: 1\n", "apiVersion: inference.llmkube.dev/v1alpha1\nkind: Model\n"
	withoutField := strings.Replace(before, field, "", 1)
	withoutModel := strings.Replace(withoutField, model, "apiVersion: example.com/v1\nkind: Model\n", 1)
	require.NotEqual(t, before, withoutField)
	require.NotEqual(t, withoutField, withoutModel)
	everything := slices.Sorted(slices.Values(append(slices.Clone(ranks), steps)))

	t.Run("two ranks by the field", func(t *testing.T) {
		t.Parallel()
		manifest := strings.Replace(before, field, "    tensorParallelSize: 2\n", 1)
		after, got, found := mainJob(t, manifest)
		require.Equal(t, 1, got.code, "two ranks on one GPU")
		require.Equal(t, manifest, after)
		require.Empty(t, fixed(found))
	})
	t.Run("the operator's default", func(t *testing.T) {
		t.Parallel()
		after, got, found := mainJob(t, withoutField)
		require.Equal(t, 0, got.code)
		require.Equal(t, everything, fixed(found))
		requireOnlyRemoved(t, withoutField, after, 12)
	})
	t.Run("two GPUs by the Model", func(t *testing.T) {
		t.Parallel()
		manifest := strings.Replace(withoutField, "      count: 1\n", "      count: 2\n", 1)
		after, got, _ := mainJob(t, manifest)
		require.Equal(t, 1, got.code, "two ranks, and the variables show one GPU")
		require.Equal(t, manifest, after)

		manifest = strings.ReplaceAll(manifest, "value: \"0\"\n", "value: \"0,1\"\n")
		after, got, found := mainJob(t, manifest)
		require.Equal(t, 0, got.code)
		require.Contains(t, fixed(found), steps)
		require.NotContains(t, fixed(found), "--pre-warm-nccl")
		require.NotContains(t, fixed(found), "--disable-custom-all-reduce")
		requireOnlyRemoved(t, manifest, after, 10)
	})
	t.Run("nobody knows", func(t *testing.T) {
		t.Parallel()
		after, got, found := mainJob(t, withoutModel)
		require.Equal(t, 0, got.code)
		require.Equal(t, []string{steps}, fixed(found))
		requireOnlyRemoved(t, withoutModel, after, 2)
		waiting := []string{}
		for _, s := range found.Skipped {
			if s.Rule == "inert-setting" && slices.Contains(s.Needs, "gpu.count") {
				waiting = append(waiting, s.Setting)
			}
		}
		slices.Sort(waiting)
		require.Equal(t, ranks, waiting)
	})
}

// A statement of the GPU count takes the Model's place.
func TestMainJobStatedCount(t *testing.T) {
	t.Parallel()
	before := strings.Replace(realManifest(t), "kind: Model\n", "kind: Sample\n", 1)
	dir := t.TempDir()
	write(t, dir, map[string]string{"server.yaml": before, "config.yaml": mainConfig + "  gpu: {count: 1}\n"})
	got := run(t, dir, "", trimtab, "trim", "-o", "json", "-c", "config.yaml", "server.yaml")
	require.Equal(t, 0, got.code)
	require.Subset(t, fixed(parseReport(t, got.stderr)), []string{"--disable-custom-all-reduce", "--pre-warm-nccl", steps})
}

// The same job through the hosts removes the same settings.
func TestMainJobThroughHosts(t *testing.T) {
	t.Parallel()
	before := realManifest(t)
	_, spec, _ := strings.Cut(mainConfig, "spec:\n")
	want := []string{"InferenceService/qwen36-27b --disable-custom-all-reduce", "InferenceService/qwen36-27b " + steps,
		"InferenceService/qwen36-27b --pre-warm-nccl", "InferenceService/qwen36-27b 16",
		"InferenceService/qwen36-27b env/CUDA_VISIBLE_DEVICES", "InferenceService/qwen36-27b env/GPU_DEVICE_ORDINAL",
		"InferenceService/qwen36-27b env/HIP_VISIBLE_DEVICES", "InferenceService/qwen36-27b env/ROCR_VISIBLE_DEVICES"}
	slices.Sort(want)

	t.Run("kustomize", func(t *testing.T) {
		t.Parallel()
		files := map[string]string{"server.yaml": before, "trim.yaml": functionTrim + "spec:\n" + spec}
		got := build(t, kustomization(t, files), ".")
		require.Equal(t, 0, got.code, got.stderr)
		require.Equal(t, want, removedFrom(t, before, got.stdout))
		files["kustomization.yaml"] = "resources: [server.yaml]\n"
		requireOnlyRemoved(t, build(t, kustomization(t, files), ".").stdout, got.stdout, 12)
	})
	t.Run("kpt", func(t *testing.T) {
		t.Parallel()
		dir := kptPackage(t, map[string]string{"server.yaml": before, "trim.yaml": mainConfig})
		got, _ := render(t, dir)
		require.Equal(t, 0, got.code, got.stderr)
		once := files(t, dir)
		require.Equal(t, want, removedFrom(t, before, once["server.yaml"]))
		echo := kptPackage(t, map[string]string{"server.yaml": before, "trim.yaml": mainConfig, "Kptfile": kptfile("mutators", "/bin/cat", "configPath: trim.yaml\n")})
		render(t, echo)
		requireOnlyRemoved(t, read(t, filepath.Join(echo, "server.yaml")), once["server.yaml"], 12)
		render(t, dir)
		require.Equal(t, once, files(t, dir))
	})
}
