package e2e

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// seedSpec states what the manifest of the pair cannot tell of its server.
const seedSpec = `engine: {name: sglang, version: v0.5.16}
gpu: {name: r9700}
` + seedModel + `workload: {peakRunning: 16, peakMambaSlots: 32}
measured: {kvTokens: 183240, kvBytes: 5.60Gi, mambaSlots: 60, mambaBytes: 4.46Gi}
rules: {restated-default: fix}
`

// seedModel are the facts about the checkpoint.
const seedModel = "model: {name: Qwen/Qwen3.6-27B, dtype: bfloat16, quantization: awq, remoteCode: false}\n"

// seedPrune is the CronJob that nobody has written yet.
const seedPrune = "qwen36-27b-hicache-prune"

// seedInert are the lines of the settings that do nothing on one rank.
var seedInert = []string{
	"    - name: HIP_VISIBLE_DEVICES\n      value: \"0\"\n", "    - name: ROCR_VISIBLE_DEVICES\n      value: \"0\"\n",
	"    - name: GPU_DEVICE_ORDINAL\n      value: \"0\"\n", "    - name: CUDA_VISIBLE_DEVICES\n      value: \"0\"\n",
	"    - --num-continuous-decode-steps\n    - \"16\"\n", "    - --pre-warm-nccl\n", "    - --disable-custom-all-reduce\n",
}

// seedGone are the lines that go besides.
var seedGone = []string{
	"    maxRunningRequests: 32\n", "    tensorParallelSize: 1\n", "    quantization: awq\n",
	"    - --dtype\n    - bfloat16\n", "    - --trust-remote-code\n", "    - --cuda-graph-backend-prefill=disabled\n",
}

// seedAdded are the variables of the metadata cache.
const seedAdded = "    - name: SGLANG_HICACHE_FILE_BACKEND_ENABLE_METADATA_CACHE\n      value: \"1\"\n" +
	"    - name: SGLANG_HICACHE_FILE_BACKEND_METADATA_TTL\n      value: \"-1\"\n"

func seed(t *testing.T, file string) string {
	t.Helper()
	return read(t, filepath.Join(publicCases(t), "llmkube", "pairs", "acd924a35", file))
}

// without takes texts that stand there exactly once out of another.
func without(t *testing.T, text string, gone ...string) string {
	t.Helper()
	for _, part := range gone {
		text = instead(t, text, part, "")
	}
	return text
}

// instead replaces a text that stands there exactly once.
func instead(t *testing.T, text, old, new string) string {
	t.Helper()
	require.Equal(t, 1, strings.Count(text, old), old)
	return strings.Replace(text, old, new, 1)
}

// seedTrimmed is the manifest as it should be, without the CronJob.
func seedTrimmed(t *testing.T) string {
	t.Helper()
	want := without(t, seed(t, "before.yaml"), slices.Concat(seedInert, seedGone)...)
	want = instead(t, want, "    - --max-mamba-cache-size\n    - \"60\"\n", "    - --max-mamba-cache-size\n    - \"48\"\n")
	return instead(t, want, "      value: 100Gi\n", "      value: 100Gi\n"+seedAdded)
}

// trimFile trims one manifest with a spec in a file of its own.
func trimFile(t *testing.T, manifest, spec string) (after string, got ran, found report) {
	t.Helper()
	dir := t.TempDir()
	write(t, dir, map[string]string{"server.yaml": manifest, "config.yaml": config("Trim", spec)})
	got = run(t, dir, "", trimtab, "trim", "-w", "-o", "json", "-c", "config.yaml", "server.yaml")
	return read(t, filepath.Join(dir, "server.yaml")), got, parseReport(t, got.stderr)
}

// findingsOf are the findings of one rule, in their order.
func findingsOf(found report, rule string) []finding {
	return slices.DeleteFunc(slices.Clone(found.Findings), func(f finding) bool { return f.Rule != rule })
}

// findingOf is the one finding of a rule about a setting.
func findingOf(t *testing.T, found report, rule, setting string) finding {
	t.Helper()
	about := slices.DeleteFunc(findingsOf(found, rule), func(f finding) bool { return f.Setting != setting })
	require.Len(t, about, 1, "%s %s", rule, setting)
	return about[0]
}

// What its author did by hand, minus the mistakes: these lines go, one number
// and two variables change, one document comes, and every other byte stays.
func TestSeed(t *testing.T) {
	t.Parallel()
	after, got, found := trimFile(t, seed(t, "before.yaml"), seedSpec)
	require.Equal(t, 0, got.code)
	edited, job, appended := strings.Cut(after, "---\napiVersion: batch/v1\nkind: CronJob\n")
	require.True(t, appended)
	require.Equal(t, seedTrimmed(t), edited)
	require.NotContains(t, job, "\n---", "one document is added")
	requireSeedJob(t, after)
	removed, added := changedLines(seed(t, "before.yaml"), edited)
	require.Len(t, removed, 20)
	require.Len(t, added, 5)
	for _, rule := range []string{"clamped-setting", "inert-setting", "oversized-pool", "slow-cache-lookup", "unpruned-cache"} {
		require.NotEmpty(t, findingsOf(found, rule), rule)
		for _, f := range findingsOf(found, rule) {
			require.True(t, f.Fixed, f.Setting)
			require.Equal(t, "info", f.Severity, f.Setting)
		}
	}

	again, second, foundAgain := trimFile(t, after, seedSpec)
	require.Equal(t, 0, second.code)
	require.Equal(t, after, again, "twice is once")
	require.Empty(t, fixed(foundAgain))
	for _, rule := range []string{"clamped-setting", "inert-setting", "oversized-pool", "slow-cache-lookup", "unpruned-cache"} {
		require.Empty(t, findingsOf(foundAgain, rule))
	}
}

// Verify says of each setting what Trim does with it and why, fails, and names
// the clamp.
func TestSeedFindings(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, map[string]string{"server.yaml": seed(t, "before.yaml"), "config.yaml": config("Trim", seedSpec)})
	text := run(t, dir, "", trimtab, "verify", "-c", "config.yaml", "server.yaml")
	require.Equal(t, 1, text.code)
	require.Contains(t, text.stdout, "error clamped-setting: --max-running-requests")
	got := run(t, dir, "", trimtab, "verify", "-o", "json", "-c", "config.yaml", "server.yaml")
	require.Equal(t, 1, got.code)
	require.Equal(t, seed(t, "before.yaml"), read(t, filepath.Join(dir, "server.yaml")))
	found := parseReport(t, got.stdout)

	rows := []struct {
		setting, rule, severity, action, value, proposed string
		says                                             []string
	}{
		{"--max-running-requests", "clamped-setting", "error", "remove", "32", "20", []string{"min(32, 60 // 3) = 20"}},
		{"--tp-size", "restated-default", "info", "remove", "1", "", []string{"LLMKube writes the number of GPUs where it is above one"}},
		{"--trust-remote-code", "inert-setting", "warning", "remove", "true", "", []string{"ships no Python code"}},
		{"--quantization", "restated-default", "info", "remove", "awq", "", []string{"config.json", "ROCm"}},
		{"--dtype", "restated-default", "info", "remove", "bfloat16", "", []string{"bfloat16"}},
		{"--max-mamba-cache-size", "oversized-pool", "warning", "set", "60", "48", []string{"183,240", "211,968", "+15.7", "28,728",
			"78,446,592", "32,768", "12 slots", "48 are enough", "16 running x 3 slots", "the new ceiling is 16 requests"}},
		{"--disable-overlap-schedule", "load-bearing-setting", "info", "none", "true", "", []string{"3 mamba slots", "5 slots", "ROCm"}},
		{"--hicache-write-policy", "restated-default", "info", "none", "write_through", "", []string{"a comment gives its owner's reason"}},
		{"--cuda-graph-backend-prefill", "restated-default", "info", "remove", "disabled", "", []string{"ROCm"}},
		{"env/SGLANG_HICACHE_FILE_BACKEND_ENABLE_METADATA_CACHE", "slow-cache-lookup", "warning", "add", "", "1", []string{"is missing"}},
		{"env/SGLANG_HICACHE_FILE_BACKEND_METADATA_TTL", "slow-cache-lookup", "warning", "add", "", "-1", []string{"never expires"}},
		{"env/SGLANG_HICACHE_FILE_BACKEND_STORAGE_DIR", "unpruned-cache", "warning", "add",
			"/hicache/sglang-v0.5.16_awq-f541031d_fork-cb7b760", "CronJob " + seedPrune, []string{"/hicache", "no CronJob here prunes"}},
		{steps, "inert-setting", "warning", "remove", "16", "", []string{"no release reads it"}},
	}
	for _, row := range rows {
		f := findingOf(t, found, row.rule, row.setting)
		require.Equal(t, []string{row.severity, row.action, row.value, row.proposed}, []string{f.Severity, f.Action, f.Value, f.Proposed}, row.setting)
		require.False(t, f.Fixed, row.setting)
		for _, text := range row.says {
			require.Contains(t, f.Message, text, row.setting)
		}
		require.NotEmpty(t, f.Evidence, row.setting)
		require.Equal(t, row.rule == "load-bearing-setting", f.Undo == "", row.setting)
	}
	for _, name := range ranks {
		f := findingOf(t, found, "inert-setting", name)
		require.Equal(t, []string{"warning", "remove"}, []string{f.Severity, f.Action}, name)
	}
	for _, f := range found.Findings {
		require.NotContains(t, []string{"--kv-cache-dtype", "--attention-backend", "--chunked-prefill-size"}, f.Setting, "it is not detected by itself: %s", f.Message)
	}
}

// Without the facts about the checkpoint nothing is guessed: what depends on
// them stays, and says which field would settle it.
func TestSeedWithoutModelFacts(t *testing.T) {
	t.Parallel()
	after, got, found := trimFile(t, seed(t, "before.yaml"), without(t, seedSpec, seedModel))
	require.Equal(t, 0, got.code)
	want := without(t, seed(t, "before.yaml"), append(slices.Clone(seedInert), "    tensorParallelSize: 1\n", "    - --cuda-graph-backend-prefill=disabled\n")...)
	want = instead(t, want, "      value: 100Gi\n", "      value: 100Gi\n"+seedAdded)
	edited, _, appended := strings.Cut(after, "---\napiVersion: batch/v1\nkind: CronJob\n")
	require.True(t, appended)
	require.Equal(t, want, edited)

	needs := map[string][]string{}
	for _, s := range found.Skipped {
		needs[s.Rule+" "+s.Setting] = s.Needs
	}
	for waiting, fields := range map[string][]string{
		"inert-setting --trust-remote-code":               {"model.remoteCode"},
		"restated-default --dtype":                        {"model.dtype"},
		"restated-default --quantization":                 {"model.name", "model.quantization"},
		"clamped-setting --max-running-requests":          {"model.name"},
		"oversized-pool --max-mamba-cache-size":           {"model.name"},
		"load-bearing-setting --disable-overlap-schedule": {"model.name"},
	} {
		require.Equal(t, fields, needs[waiting], waiting)
		rule, setting, _ := strings.Cut(waiting, " ")
		require.Empty(t, slices.DeleteFunc(findingsOf(found, rule), func(f finding) bool { return f.Setting != setting }), waiting)
	}
}

// The author's own after-state keeps what he wrote but the dead flag and, where
// the config says so, what restates ROCm's outcome. His CronJob is a pruner.
func TestSeedAfterState(t *testing.T) {
	t.Parallel()
	dead, restated := "    - --num-continuous-decode-steps\n    - \"16\"\n", "    - --cuda-graph-backend-prefill=disabled\n"
	for spec, gone := range map[string][]string{
		seedSpec: {dead, restated},
		without(t, seedSpec, "rules: {restated-default: fix}\n"): {dead},
	} {
		after, got, found := trimFile(t, seed(t, "after.yaml"), spec)
		require.Equal(t, 0, got.code)
		require.Equal(t, without(t, seed(t, "after.yaml"), gone...), after)
		for _, rule := range []string{"clamped-setting", "oversized-pool", "slow-cache-lookup", "unpruned-cache"} {
			require.Empty(t, findingsOf(found, rule), rule)
		}
		require.Equal(t, "none", findingOf(t, found, "load-bearing-setting", "--disable-overlap-schedule").Action)
	}
}

// The pool is as large as the larger of what running requests hold and what was
// seen in use; it is never made larger.
func TestSeedPoolSizes(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, slots, running, seen, want string
	}{
		{"the pair's own", "60", "16", "32", "48"},
		{"what is enough already", "48", "16", "32", ""},
		{"one slot too many", "49", "16", "32", "48"},
		{"fewer than wanted", "45", "16", "32", ""},
		{"more slots seen in use", "60", "16", "50", "50"},
		{"all slots seen in use", "60", "16", "60", ""},
		{"as many requests as fit", "60", "20", "32", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			const size = "    - --max-mamba-cache-size\n    - \"SLOTS\"\n"
			lines := strings.Replace(size, "SLOTS", test.slots, 1)
			manifest := instead(t, seed(t, "before.yaml"), strings.Replace(size, "SLOTS", "60", 1), lines)
			spec := instead(t, seedSpec, "workload: {peakRunning: 16, peakMambaSlots: 32}", "workload: {peakRunning: "+test.running+", peakMambaSlots: "+test.seen+"}")
			if test.slots != "60" {
				spec = without(t, spec, "measured: {kvTokens: 183240, kvBytes: 5.60Gi, mambaSlots: 60, mambaBytes: 4.46Gi}\n")
			}
			after, got, found := trimFile(t, manifest, spec)
			require.Equal(t, 0, got.code)
			if test.want == "" {
				require.Empty(t, findingsOf(found, "oversized-pool"))
				require.Contains(t, after, lines)
				return
			}
			require.Equal(t, test.want, findingOf(t, found, "oversized-pool", "--max-mamba-cache-size").Proposed)
			require.Contains(t, after, strings.Replace(size, "SLOTS", test.want, 1))
		})
	}
}
