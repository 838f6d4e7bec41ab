package e2e

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trimtab/trimtab/validators"
)

// expected is a row of EXPECT.tsv.
type expected struct{ file, rule, setting, severity, action, finding, confidence string }

func (e expected) String() string { return e.file + " " + e.rule + " " + e.setting }

// expectations reads EXPECT.tsv.
func expectations(t *testing.T, dir string) []expected {
	t.Helper()
	var rows []expected
	for i, line := range strings.Split(strings.TrimSuffix(read(t, filepath.Join(dir, "EXPECT.tsv")), "\n"), "\n") {
		cells := strings.Split(line, "\t")
		require.Len(t, cells, 7, line)
		if i > 0 {
			rows = append(rows, expected{cells[0], cells[1], cells[2], cells[3], cells[4], cells[5], cells[6]})
		}
	}
	require.Greater(t, len(rows), 200)
	return rows
}

// disputed are rows that the engines' own parsers or the manifest contradict;
// the value says how. The finding must be there all the same, as given here.
var disputed = map[string]struct{ setting, severity, action, why string }{
	"workload/aibrix-quickstart.yaml deprecated-flag --model": {
		"--model", "error", "set", "0.11.0 refuses `vllm serve --model` (ValueError, measured); the warning came with 0.11.1",
	},
	"kserve/llmisvc-doc-llama2-70b-production.yaml unknown-version spec.template.spec.containers[0].image": {
		"spec.template.containers[0].image", "info", "none", "the template of this kind is the pod's spec itself, so the field has this path",
	},
}

// stated are the facts that the manifests cannot tell.
func stated(manifest string) string {
	var spec []string
	if strings.Contains(manifest, ":sha-cb7b") {
		spec = append(spec, "engine: {name: sglang, version: v0.5.16}")
	}
	if strings.Contains(manifest, "/Qwen3.6-27B-AWQ") {
		spec = append(spec, "model: {name: Qwen/Qwen3.6-27B, dtype: bfloat16, quantization: awq, remoteCode: false}")
	}
	if len(spec) == 0 {
		return "{}\n"
	}
	return strings.Join(spec, "\n") + "\n"
}

// verifyCase verifies one real manifest with the facts it cannot tell.
func verifyCase(t *testing.T, dir, name string) report {
	t.Helper()
	tmp := t.TempDir()
	manifest := read(t, filepath.Join(dir, name))
	write(t, tmp, map[string]string{"case.yaml": manifest, "config.yaml": config("Verify", stated(manifest))})
	got := run(t, tmp, "", trimtab, "verify", "-o", "json", "-c", "config.yaml", "case.yaml")
	require.Less(t, got.code, 2, got.stderr)
	return parseReport(t, got.stdout)
}

// TestExpectations compares the findings of the rules there are with the rows of
// EXPECT.tsv: what is sure must be found, what is a trap must not.
func TestExpectations(t *testing.T) {
	t.Parallel()
	dir := publicCases(t)
	implemented := map[string]bool{}
	for _, rule := range validators.All() {
		implemented[rule.Name] = true
	}
	byFile := map[string][]expected{}
	for _, row := range expectations(t, dir) {
		byFile[row.file] = append(byFile[row.file], row)
	}
	reports := map[string]report{}
	for name := range byFile {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil && name != brokenCase {
			reports[name] = verifyCase(t, dir, name)
		}
	}
	counts := map[string]*[3]int{} // by rule: found, shape not found, disputed
	var unjudged, missing, waiting, forbidden []string
	for name, rows := range byFile {
		found, ok := reports[name]
		if !ok {
			continue
		}
		for _, row := range rows {
			switch {
			case row.rule == "none":
				forbidden = append(forbidden, violations(row, found)...)
			case row.confidence == "high" && implemented[row.rule]:
				count := counts[row.rule]
				if count == nil {
					count = &[3]int{}
					counts[row.rule] = count
				}
				if len(found.Servers) == 0 {
					count[1]++
					unjudged = append(unjudged, row.String())
					continue
				}
				if why := differs(row, found, count); why != "" {
					if needs := waitsFor(row, found); needs != "" {
						waiting = append(waiting, fmt.Sprintf("%s: needs %s", row, needs))
						continue
					}
					missing = append(missing, fmt.Sprintf("%s: %s", row, why))
				}
			}
		}
	}
	for _, rule := range slices.Sorted(maps.Keys(counts)) {
		t.Logf("%-22s %3d found, %d of them disputed, %d in shapes that are not found", rule, counts[rule][0], counts[rule][2], counts[rule][1])
	}
	slices.Sort(unjudged)
	t.Logf("in shapes that are not found:\n%s", strings.Join(unjudged, "\n"))
	slices.Sort(waiting)
	t.Logf("left open, for want of a fact:\n%s", strings.Join(waiting, "\n"))
	require.Empty(t, forbidden, "the table says that nothing may be said here")
	for _, line := range missing {
		t.Errorf("expected: %s", line)
	}
}

// waitsFor is what a row of facts waits for, where the report says so; empty
// elsewhere. What the parser refuses waits for nothing.
func waitsFor(row expected, found report) string {
	if slices.Contains(completeRules, row.rule) {
		return ""
	}
	for _, skipped := range found.Skipped {
		if skipped.Rule == row.rule && skipped.Setting == row.setting {
			return strings.Join(skipped.Needs, ", ")
		}
	}
	return notRead[row.String()]
}

// notRead are rows about releases whose source nobody read.
var notRead = map[string]string{
	"other/helmrelease-vllm-strix-shell.yaml restated-default --enable-chunked-prefill": "what 0.8.0 to 0.8.4, which the range holds, do for a model that no catalogue knows",
}

// completeRules are the rules of which every sure row must be found, and every
// finding be justified.
var completeRules = []string{
	"unknown-flag", "removed-flag", "deprecated-flag", "abbreviated-flag", "bad-value", "repeated-setting",
	"dead-env", "unexpanded-value", "secret-in-arguments", "unknown-version",
	"shadowed-setting", "roles-disagree", "probe-unfit", "shm-too-small", "memory-request-too-small",
}

// differs compares a row that must be found with the findings; empty when it is
// there.
func differs(row expected, found report, count *[3]int) string {
	setting, severity, action := row.setting, row.severity, row.action
	dispute, isDisputed := disputed[row.String()]
	if isDisputed {
		setting, severity, action = dispute.setting, dispute.severity, dispute.action
		count[2]++
	}
	var near []string
	for _, f := range found.Findings {
		if f.Rule != row.rule || f.Setting != setting {
			continue
		}
		if f.Severity == severity && f.Action == action {
			count[0]++
			return ""
		}
		near = append(near, f.Severity+" "+f.Action)
	}
	return fmt.Sprintf("wanted %s %s, found %v", severity, action, near)
}

// violations are the findings at warning or error about a setting of which
// nothing may be said.
func violations(row expected, found report) []string {
	if row.confidence == "low" {
		return nil
	}
	var list []string
	for _, f := range found.Findings {
		if f.Severity != "info" && (row.setting == "*" || f.Setting == row.setting) {
			list = append(list, fmt.Sprintf("%s: %s %s: %s", row, f.Severity, f.Rule, f.Message))
		}
	}
	return list
}

// examined are findings at warning or error that have no row, with the reason
// why they are right.
var examined = map[string]string{
	"workload/aibrix-kvcache-infinistore.yaml deprecated-flag --model":                                          "0.10.2 refuses it (ValueError, measured)",
	"workload/aibrix-llava-7b.yaml deprecated-flag --model":                                                     "0.9.2 refuses it (ValueError, measured)",
	"shell/aibrix-vllm-pd-reuse.yaml deprecated-flag --model":                                                   "0.10.2 refuses it (ValueError, measured)",
	"shell/aibrix-qwen-audio-pip-install.yaml deprecated-flag --model":                                          "0.9.2 refuses it (ValueError, measured)",
	"workload/aibrix-adapter-base.yaml deprecated-flag --model":                                                 "0.24.0 warns of it, as in the row of aibrix-quickstart",
	"workload/gcp-tuned-a100-dws-envsubst.yaml probe-unfit spec.template.spec.containers[1].readinessProbe":     "the row names the container before it",
	"workload/llmd-sched-multilora-regression.yaml probe-unfit spec.template.spec.containers[0].livenessProbe":  "5 x 1 s, as in the row of llmd-sched-prefix-cache",
	"workload/llmd-sched-multilora-regression.yaml probe-unfit spec.template.spec.containers[0].readinessProbe": "1 x 1 s, as in the row of llmd-sched-prefix-cache",
	"llmkube/pairs/4961dbece/before.yaml shm-too-small /dev/shm":                                                "a tier of 8 GiB in 64 MiB; a later commit of its author mounts a volume for it",
	"llmkube/pairs/4961dbece/after.yaml shm-too-small /dev/shm":                                                 "as before the change, which is about something else",
	"llmkube/sample-qwen3-coder-30b-fp8-agentic.yaml shm-too-small /dev/shm":                                    "two ranks in 64 MiB: the operator mounts no volume there (operators.md 1.6)",
	// The tag dev is what would run today: the newest release, at most a warning.
	"other/ome-srt-kimi-k2-pd.yaml deprecated-flag --disable-cuda-graph":  "0.5.23 marks it as deprecated",
	"other/ome-srt-kimi-k2-pd.yaml deprecated-flag --enable-dp-attention": "0.5.23 marks it as deprecated",
	"other/ome-srt-kimi-k2-pd.yaml removed-flag --cuda-graph-bs":          "0.5.20 and later do not know it",
}

// TestNoOtherFindings: each finding of the complete rules at warning
// or error has a row, or was examined.
func TestNoOtherFindings(t *testing.T) {
	t.Parallel()
	dir, names := caseFiles(t)
	rows := map[string]bool{}
	for _, row := range expectations(t, dir) {
		rows[row.String()] = true
	}
	for _, name := range names {
		if name == brokenCase {
			continue
		}
		for _, f := range verifyCase(t, dir, name).Findings {
			key := expected{file: name, rule: f.Rule, setting: f.Setting}.String()
			if !slices.Contains(completeRules, f.Rule) || f.Severity == "info" || rows[key] || examined[key] != "" {
				continue
			}
			t.Errorf("%s: %s: %s", key, f.Severity, f.Message)
		}
	}
}
