package e2e

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// pruneJob is the part of a CronJob that matters here.
type pruneJob struct {
	Kind     string
	Metadata struct {
		Name, Namespace string
		Labels          map[string]string
	}
	Spec struct {
		Schedule    string
		JobTemplate struct {
			Spec struct {
				Template struct{ Spec podSpec }
			}
		} `yaml:"jobTemplate"`
	}
}

type podSpec struct {
	NodeSelector    map[string]string `yaml:"nodeSelector"`
	SecurityContext struct {
		RunAsNonRoot       bool  `yaml:"runAsNonRoot"`
		RunAsUser          int64 `yaml:"runAsUser"`
		RunAsGroup         int64 `yaml:"runAsGroup"`
		FSGroup            int64 `yaml:"fsGroup"`
		SupplementalGroups []int `yaml:"supplementalGroups"`
	} `yaml:"securityContext"`
	Containers []struct {
		Image           string
		Command         []string
		Env             []struct{ Name, Value string }
		SecurityContext map[string]any `yaml:"securityContext"`
		Resources       struct{ Limits map[string]string }
	}
	Volumes []struct {
		PersistentVolumeClaim struct {
			ClaimName string `yaml:"claimName"`
		} `yaml:"persistentVolumeClaim"`
	}
}

// pruneJobs are the CronJobs of ours in a text.
func pruneJobs(t *testing.T, text string) []pruneJob {
	t.Helper()
	var jobs []pruneJob
	for _, node := range nodes(t, text) {
		var job pruneJob
		if at(node, "kind").Value != "CronJob" {
			continue
		}
		require.NoError(t, node.Decode(&job))
		if job.Metadata.Labels["app.kubernetes.io/managed-by"] == "trimtab" {
			jobs = append(jobs, job)
		}
	}
	return jobs
}

func (j pruneJob) pod() podSpec { return j.Spec.JobTemplate.Spec.Template.Spec }

// env is the value of a variable that the job's script reads.
func (j pruneJob) env(name string) string {
	for _, variable := range j.pod().Containers[0].Env {
		if variable.Name == name {
			return variable.Value
		}
	}
	return ""
}

// requireSeedJob asserts that a text holds the one CronJob that the server of
// the pair needs.
func requireSeedJob(t *testing.T, text string) {
	t.Helper()
	jobs := pruneJobs(t, text)
	require.Len(t, jobs, 1)
	job := jobs[0]
	require.Equal(t, seedPrune, job.Metadata.Name)
	require.Empty(t, job.Metadata.Namespace, "the server states none")
	require.Equal(t, "30 4 * * *", job.Spec.Schedule)
	require.Equal(t, "/hicache", job.env("PARENT"))
	require.Equal(t, "/sglang-v0.5.16_awq-f541031d_fork-cb7b760/", job.env("KEEP"))
	require.Equal(t, "*.bin", job.env("PAGE"))
	require.Equal(t, "1440", job.env("KEEP_FOR_MINUTES"))

	pod := job.pod()
	require.Equal(t, map[string]string{"kubernetes.io/hostname": "control-1"}, pod.NodeSelector)
	require.Equal(t, "qwen36-27b-hicache", pod.Volumes[0].PersistentVolumeClaim.ClaimName)
	who := pod.SecurityContext
	require.True(t, who.RunAsNonRoot)
	require.Equal(t, []int64{10001, 10001, 10001}, []int64{who.RunAsUser, who.RunAsGroup, who.FSGroup})
	require.Equal(t, []int{44, 226}, who.SupplementalGroups)
	container := pod.Containers[0]
	require.Contains(t, container.Image, "busybox:1.38.0@sha256:")
	require.Equal(t, []string{"/bin/sh", "-c"}, container.Command[:2])
	require.Equal(t, map[string]any{"allowPrivilegeEscalation": false, "readOnlyRootFilesystem": true,
		"capabilities": map[string]any{"drop": []any{"ALL"}}}, container.SecurityContext)
	require.NotEmpty(t, container.Resources.Limits["memory"])
}

// tiered is a server with a file-backed cache in a directory of a claim.
func tiered(name, dir, claim string) string {
	return strings.NewReplacer("NAME", name, "FOLDER", dir, "CLAIM", claim).Replace(`apiVersion: apps/v1
kind: Deployment
metadata:
  name: NAME
  namespace: llm
spec:
  template:
    spec:
      containers:
        - name: server
          image: lmsysorg/sglang:v0.5.16
          command: [python3, -m, sglang.launch_server]
          args: [--model-path=/models/NAME, --enable-hierarchical-cache, --hicache-storage-backend=file]
          env:
            - name: SGLANG_HICACHE_FILE_BACKEND_STORAGE_DIR
              value: FOLDER
          volumeMounts:
            - name: pages
              mountPath: /pages
      volumes:
        - name: pages
          persistentVolumeClaim:
            claimName: CLAIM
`)
}

// byHand is a CronJob that somebody wrote for a claim.
func byHand(script, claim string) string {
	return strings.NewReplacer("SCRIPT", script, "CLAIM", claim).Replace(`apiVersion: batch/v1
kind: CronJob
metadata: {name: sweep, namespace: llm}
spec:
  schedule: "@daily"
  jobTemplate:
    spec:
      template:
        spec:
          restartPolicy: OnFailure
          containers:
            - name: sweep
              image: busybox:1.37
              command: [sh, -c, "SCRIPT"]
              volumeMounts: [{name: volume, mountPath: /volume}]
          volumes:
            - name: volume
              persistentVolumeClaim: {claimName: CLAIM}
`)
}

var onlyPrune = only("unpruned-cache")

// Two servers on one claim get one job that keeps the generations of both, in
// one file, in two, and as items; on two claims each gets its own.
func TestPruneOneJobForOneClaim(t *testing.T) {
	t.Parallel()
	one, two := tiered("one", "/pages/one-7", "pages"), tiered("two", "/pages/two-3", "pages")
	const both = "/one-7/two-3/"
	t.Run("one text", func(t *testing.T) {
		t.Parallel()
		jobs := pruneJobs(t, oneJob(t, onlyPrune, documents(one, two)))
		require.Len(t, jobs, 1)
		require.Equal(t, both, jobs[0].env("KEEP"))
	})
	t.Run("edited besides", func(t *testing.T) {
		t.Parallel()
		after, got, _ := trimFile(t, documents(one, two), "")
		require.Equal(t, 0, got.code, got.stderr)
		require.Equal(t, both, pruneJobs(t, after)[0].env("KEEP"))
		again, _, _ := trimFile(t, after, "")
		require.Equal(t, after, again)
	})
	t.Run("two files", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		write(t, dir, map[string]string{"config.yaml": config("Trim", onlyPrune), "servers/a.yaml": one, "servers/b.yaml": two})
		for range 2 {
			got := run(t, dir, "", trimtab, "trim", "-w", "-c", "config.yaml", "servers")
			require.Equal(t, 0, got.code, got.stderr)
			require.Equal(t, two, read(t, filepath.Join(dir, "servers", "b.yaml")))
			jobs := pruneJobs(t, read(t, filepath.Join(dir, "servers", "a.yaml")))
			require.Len(t, jobs, 1)
			require.Equal(t, both, jobs[0].env("KEEP"))
		}
	})
	t.Run("items", func(t *testing.T) {
		t.Parallel()
		got := run(t, t.TempDir(), list(config("Trim", onlyPrune), one, two), trimtab)
		require.Equal(t, 0, got.code, got.stderr)
		require.Equal(t, []string{"Deployment/llm/one", "Deployment/llm/two", "CronJob/llm/one-hicache-prune"}, identities(t, got.stdout))
		require.Equal(t, both, pruneJobs(t, got.stdout)[0].env("KEEP"))
	})
	t.Run("two claims", func(t *testing.T) {
		t.Parallel()
		jobs := pruneJobs(t, oneJob(t, onlyPrune, documents(one, tiered("two", "/pages/two-3", "others"))))
		require.Len(t, jobs, 2)
		require.Equal(t, []string{"/one-7/", "/two-3/"}, []string{jobs[0].env("KEEP"), jobs[1].env("KEEP")})
	})
}

// oneJob trims documents with a spec and asserts that a second run has nothing
// to do and nothing to say.
func oneJob(t *testing.T, spec, manifests string) string {
	t.Helper()
	dir := t.TempDir()
	write(t, dir, map[string]string{"config.yaml": config("Trim", spec)})
	got := run(t, dir, manifests, trimtab, "trim", "-c", "config.yaml", "-")
	require.Equal(t, 0, got.code, got.stderr)
	require.True(t, strings.HasPrefix(got.stdout, manifests), "the servers stay as they are")
	require.Equal(t, ran{stdout: got.stdout}, run(t, dir, got.stdout, trimtab, "trim", "-c", "config.yaml", "-"))
	return got.stdout
}

// A CronJob that deletes on the claim is a pruner, whoever wrote it; one that
// only looks, or that is about another claim, is none.
func TestPruneByHand(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, script, claim string
		pruner              bool
	}{
		{"rm", "cd /volume && ls -1t | tail -n +2 | xargs rm -rf --", "pages", true},
		{"find -exec rm", "find /volume -mindepth 1 -maxdepth 1 -mtime +3 -exec rm -rf {} +", "pages", true},
		{"find -delete", "find /volume -mindepth 1 -mtime +3 -delete", "pages", true},
		{"only looks", "du -sh /volume", "pages", false},
		{"another claim", "rm -rf /volume/*", "others", false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			manifests := documents(tiered("chat", "/pages/chat-2", "pages"), byHand(test.script, test.claim))
			after := oneJob(t, onlyPrune, manifests)
			if test.pruner {
				require.Equal(t, manifests, after)
				return
			}
			require.Len(t, pruneJobs(t, after), 1)
		})
	}
}

// `prune: false` takes a CronJob of ours away, writes none, and leaves those of
// others alone.
func TestPruneOff(t *testing.T) {
	t.Parallel()
	off := onlyPrune + "prune: false\n"
	server, foreign := tiered("chat", "/pages/chat-2", "pages"), byHand("du -sh /volume", "pages")
	tests := map[string]string{
		"alone": server, "beside another's": documents(server, foreign), "beside no server": documents(server, bystander),
		"two servers on one claim": documents(server, tiered("twin", "/pages/twin-1", "pages")),
	}
	for name, manifests := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, manifests, oneJob(t, off, manifests), "none is written")
			with := oneJob(t, onlyPrune, manifests)
			require.NotEqual(t, manifests, with)
			without, got, found := trimFile(t, with, off)
			require.Equal(t, 0, got.code)
			require.Equal(t, manifests, without, "ours is taken away")
			gone := findingsOf(found, "unpruned-cache")[0]
			require.Equal(t, []string{"info", "remove"}, []string{gone.Severity, gone.Action})
			require.Contains(t, gone.Message, "prune: false")
		})
	}
}

// The pair without a CronJob of ours, and with it taken away again, is the same
// but for the CronJob.
func TestSeedPruneOff(t *testing.T) {
	t.Parallel()
	with, _, _ := trimFile(t, seed(t, "before.yaml"), seedSpec)
	for _, manifest := range []string{seed(t, "before.yaml"), with} {
		after, got, _ := trimFile(t, manifest, seedSpec+"prune: false\n")
		require.Equal(t, 0, got.code)
		require.Equal(t, seedTrimmed(t), after)
	}
	author, _, found := trimFile(t, seed(t, "after.yaml"), only("unpruned-cache")+"engine: {name: sglang, version: v0.5.16}\nprune: false\n")
	require.Equal(t, seed(t, "after.yaml"), author, "the author's own stays")
	require.Empty(t, findingsOf(found, "unpruned-cache"))
}

// A job of ours follows its server: a new generation, and what the config says.
func TestPruneFollows(t *testing.T) {
	t.Parallel()
	server := tiered("chat", "/pages/chat-2", "pages")
	first := oneJob(t, onlyPrune, server)
	bumped, _, found := trimFile(t, strings.Replace(first, "/pages/chat-2", "/pages/chat-3", 1), onlyPrune)
	require.Len(t, pruneJobs(t, bumped), 1)
	require.Equal(t, "/chat-3/", pruneJobs(t, bumped)[0].env("KEEP"))
	require.Equal(t, oneJob(t, onlyPrune, tiered("chat", "/pages/chat-3", "pages")), bumped)
	require.True(t, findingOf(t, found, "unpruned-cache", "env/SGLANG_HICACHE_FILE_BACKEND_STORAGE_DIR").Fixed)

	patient, _, _ := trimFile(t, first, onlyPrune+"prune: {schedule: \"0 3 * * 0\", keepFor: 72h}\n")
	jobs := pruneJobs(t, patient)
	require.Len(t, jobs, 1)
	require.Equal(t, []string{"0 3 * * 0", "4320"}, []string{jobs[0].Spec.Schedule, jobs[0].env("KEEP_FOR_MINUTES")})

	renamed := strings.Replace(first, "name: chat-hicache-prune\n", "name: team-chat-hicache-prune\n", 1)
	require.NotEqual(t, first, renamed)
	same, _, _ := trimFile(t, renamed, onlyPrune)
	require.Equal(t, renamed, same, "ours whatever its name")
}
