package transformers_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trimtab/trimtab/transformers"
)

// scripts are the texts of all scripts.
func scripts(t *testing.T) map[string]string {
	t.Helper()
	names, err := filepath.Glob("*.sh")
	require.NoError(t, err)
	require.NotEmpty(t, names)
	texts := map[string]string{}
	for _, name := range names {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		texts[name] = string(text)
	}
	return texts
}

// TestPruneScriptsAreClean lints the scripts that run, with the dialect that is
// nearest to busybox's shell.
func TestPruneScriptsAreClean(t *testing.T) {
	shellcheck, err := exec.LookPath("shellcheck")
	if err != nil {
		require.Empty(t, os.Getenv("CI"), "CI must have shellcheck")
		t.Skip("shellcheck is not there: apt-get install shellcheck")
	}
	for name, shape := range map[string]func(*transformers.PruneJob){"generations": func(*transformers.PruneJob) {}, "flat": blocks, "trees": kernels} {
		job := hicache()
		shape(&job)
		words, _ := started(t, job, hosts["no Flux"])
		lint := exec.Command(shellcheck, "--shell=dash", "--norc", "-")
		lint.Stdin = strings.NewReader(words[2])
		out, err := lint.CombinedOutput()
		require.NoError(t, err, "%s: %s", name, out)
	}
}

// The guard of the repository that the job is made after failed three times in
// production. Each of the three would fail here first.

// Flux replaced the variables of the script, for it was written with `$`.
func TestProductionFluxAteTheVariables(t *testing.T) {
	guard := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: guard}\ndata:\n  script: |\n    avail=1; [ \"${avail}\" -ge 2 ]; echo \"$$avail\"\n"
	broken := flux(t, guard, map[string]any{"CLUSTER": "home"})
	require.Contains(t, broken, `[ "" -ge 2 ]`, "what Flux makes of a script that is not written for it")
	for _, c := range allPruneCases()[:1] {
		job := c.job(volume{t, "/cache"})
		for name, host := range hosts {
			words, env := started(t, job, host)
			plain, plainEnv := started(t, job, hosts["no Flux"])
			require.Equal(t, plain, words, name)
			require.Equal(t, plainEnv, env, name)
		}
	}
}

// The disk was full, and the guard was evicted, or not admitted, for that.
func TestProductionDiskPressureEvictedTheGuard(t *testing.T) {
	_, cron := decode(t, hicache())
	pod := cron.Spec.JobTemplate.Spec.Template.Spec
	require.Contains(t, []string{"system-node-critical", "system-cluster-critical"}, pod.PriorityClassName,
		"the kubelet admits critical pods alone while the disk is full, and evicts the others")
	tolerated := false
	for _, toleration := range pod.Tolerations {
		tolerated = tolerated || toleration.Key == "node.kubernetes.io/disk-pressure" && toleration.Operator == "Exists" && toleration.Effect == "NoSchedule"
	}
	require.True(t, tolerated, "the scheduler places nothing else on such a node")
	require.NotZero(t, pod.Containers[0].Resources.Requests.Memory().Value(), "a pod of best effort goes first")
}

// The script asked find for -printf, which busybox does not have, and the branch
// in which it did had never run.
func TestProductionBusyboxHasNoPrintf(t *testing.T) {
	bin := install(t)
	out, err := exec.Command(filepath.Join(bin, "find"), t.TempDir(), "-printf", "%T@ %p\n").CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(out), "-printf")
	for _, script := range scripts(t) {
		for _, option := range []string{"-printf", "-delete", "-newermt", "--", "date -d"} {
			for line := range strings.Lines(script) {
				code, _, _ := strings.Cut(line, "#")
				require.NotRegexp(t, `(^|\s)`+option+`[a-z]`, code)
			}
		}
	}
	// And a run that prunes leaves no branch of the script for the first time: the
	// cases remove, keep, fail and go on.
	v := volume{t, t.TempDir()}
	v.put("tier/old", 3*day, "a.bin")
	v.put("tier/new", 2*day, "a.bin")
	printed, code := run(t, command(t, jobOn(v, []string{"x"}, nil), hosts["Flux strict"], bin))
	require.Contains(t, printed, "removed: old\n")
	require.Zero(t, code)
}
