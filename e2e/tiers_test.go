package e2e

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// cached is a vLLM server with variables and further arguments, and a claim of
// 100Gi at /cache.
func cached(name, arguments string, variables ...string) string {
	var env strings.Builder
	for i := 0; i < len(variables); i += 2 {
		env.WriteString("            - {name: " + variables[i] + ", value: \"" + variables[i+1] + "\"}\n")
	}
	return strings.NewReplacer("NAME", name, "ARGUMENTS", arguments, "ENV\n", env.String()).Replace(`apiVersion: apps/v1
kind: Deployment
metadata:
  name: NAME
  namespace: llm
spec:
  template:
    metadata:
      labels: {app: NAME}
    spec:
      containers:
        - name: server
          image: vllm/vllm-openai:v0.27.1
          command: [vllm, serve, Qwen/Qwen3-32B]
          args: [ARGUMENTS]
          env:
            - {name: HF_HOME, value: /models}
ENV
          volumeMounts:
            - name: cache
              mountPath: /cache
      volumes:
        - name: cache
          persistentVolumeClaim:
            claimName: cache
`)
}

const cacheClaim = `apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: cache, namespace: llm}
spec:
  accessModes: [ReadWriteOnce]
  resources:
    requests:
      storage: 100Gi
`

// offloading are the arguments of a server with vLLM's fs tier in a directory.
func offloading(dir string) string {
	return `--kv-transfer-config, '{"kv_connector":"OffloadingConnector","kv_role":"kv_both","kv_connector_extra_config":{"spec_name":"TieringOffloadingSpec","cpu_bytes_to_use":8589934592,"secondary_tiers":[{"type":"fs","root_dir":"` + dir + `"}]}}'`
}

// tierJobs are the CronJobs of ours by what they prune.
func tierJobs(t *testing.T, text string) map[string]pruneJob {
	t.Helper()
	byName := map[string]pruneJob{}
	for _, job := range pruneJobs(t, text) {
		byName[job.Metadata.Name] = job
	}
	require.Len(t, byName, len(pruneJobs(t, text)))
	return byName
}

// The pages of a tier without generations go by age, and by the size of the claim.
func TestPruneFlatTier(t *testing.T) {
	t.Parallel()
	server := cached("chat", offloading("/cache/kv"))
	job := tierJobs(t, oneJob(t, onlyPrune, documents(server, cacheClaim)))["chat-fs-prune"]
	require.Equal(t, []string{"/cache/kv", "*_????????????_r*/???/??_g*/*.bin", "4", "94371840", "1440"},
		[]string{job.env("PARENT"), job.env("PAGE"), job.env("DEPTH"), job.env("MOST_KIB"), job.env("KEEP_FOR_MINUTES")})
	require.Equal(t, "0", tierJobs(t, oneJob(t, onlyPrune, server))["chat-fs-prune"].env("MOST_KIB"), "nobody tells how large the claim is")

	both := oneJob(t, onlyPrune, documents(server, cached("twin", offloading("/cache/kv"))))
	require.Len(t, pruneJobs(t, both), 1, "they share one directory")
	apart := oneJob(t, onlyPrune, documents(server, cached("twin", offloading("/cache/other"))))
	require.Len(t, pruneJobs(t, apart), 2)
	require.Empty(t, pruneJobs(t, oneJob(t, onlyPrune, cached("chat", offloading("/tmp/kv")))), "it goes with the pod")
}

// A cache of compiled code whose directory bears a version leaves one behind with
// each image. Without a version there is nothing to tell superseded ones by.
func TestPruneCompiledCode(t *testing.T) {
	t.Parallel()
	jobs := tierJobs(t, oneJob(t, onlyPrune, cached("chat", "--seed=1",
		"TRITON_CACHE_DIR", "/cache/triton-0.27.1", "VLLM_CACHE_ROOT", "/cache/v0.27.1/vllm", "AITER_JIT_DIR", "/cache/v0.27.1/aiter", "TORCHINDUCTOR_CACHE_DIR", "/cache/v0.27.1/inductor")))
	require.Len(t, jobs, 2)
	require.Equal(t, []string{"/cache", "/triton-0.27.1/", "/v0.27.1/", "yes"}, []string{
		jobs["chat-triton-prune"].env("PARENT"), jobs["chat-triton-prune"].env("KEEP"), jobs["chat-triton-prune"].env("RESERVED"), jobs["chat-triton-prune"].env("TREES"),
	})
	require.Equal(t, []string{"/cache", "/v0.27.1/", "aiter inductor vllm", "/triton-0.27.1/"}, []string{
		jobs["chat-compiled-prune"].env("PARENT"), jobs["chat-compiled-prune"].env("KEEP"), jobs["chat-compiled-prune"].env("PAGE"), jobs["chat-compiled-prune"].env("RESERVED"),
	})
	plain := cached("chat", "--seed=1", "TRITON_CACHE_DIR", "/cache/triton", "VLLM_CACHE_ROOT", "/cache/vllm")
	require.Equal(t, plain, oneJob(t, onlyPrune, plain))
}

// Nothing may be deleted under a server that takes a lost file for one it has
// read: that is said, and no job is written.
func TestPruneNotUnderLMCache(t *testing.T) {
	t.Parallel()
	server := cached("chat", `--kv-transfer-config, '{"kv_connector":"LMCacheConnectorV1","kv_role":"kv_both"}'`, "LMCACHE_LOCAL_DISK", "file:///cache/lm/")
	after, _, found := trimFile(t, server, onlyPrune)
	require.Equal(t, server, after)
	f := findingOf(t, found, "unpruned-cache", "env/LMCACHE_LOCAL_DISK")
	require.Equal(t, []string{"warning", "none"}, []string{f.Severity, f.Action})
	require.Contains(t, f.Message, "nothing in it may be deleted while the server runs")
}

// A guard that somebody wrote is a pruner, unless its image cannot run it.
func TestPruneGuardByHand(t *testing.T) {
	t.Parallel()
	server := cached("chat", offloading("/cache"))
	const loop = " | sort -n | cut -d' ' -f2- | while IFS= read -r f; do rm -f -- \\\"$$f\\\"; done"
	works := documents(server, byHand("find /volume -type f -exec stat -c '%Y %n' {} +"+loop, "cache"))
	require.Equal(t, works, oneJob(t, onlyPrune, works))
	after, _, found := trimFile(t, documents(server, byHand("find /volume -type f -printf '%T@ %p'"+loop, "cache")), onlyPrune)
	require.Empty(t, pruneJobs(t, after))
	require.Contains(t, findingOf(t, found, "unpruned-cache", "--kv-transfer-config").Message, "removes nothing: it uses `find -printf`, which busybox does not have")
}

// Jobs of ours go with their tiers, each with its own, and `prune: false` takes
// away all.
func TestPruneSeveralTiersFollow(t *testing.T) {
	t.Parallel()
	server := cached("chat", offloading("/cache/kv"), "TRITON_CACHE_DIR", "/cache/triton-0.27.1")
	with := oneJob(t, onlyPrune, server)
	require.Len(t, pruneJobs(t, with), 2)
	moved, got, _ := trimFile(t, strings.Replace(with, "/cache/kv", "/cache/blocks", 1), onlyPrune)
	require.Equal(t, 0, got.code)
	require.Equal(t, []string{"/cache/blocks", "/cache"}, []string{tierJobs(t, moved)["chat-fs-prune"].env("PARENT"), tierJobs(t, moved)["chat-triton-prune"].env("PARENT")})
	without, _, _ := trimFile(t, strings.Replace(with, ", value: \"/cache/triton-0.27.1\"", ", value: \"/tmp/triton-0.27.1\"", 1), onlyPrune)
	require.Len(t, pruneJobs(t, without), 1)
	require.Contains(t, tierJobs(t, without), "chat-fs-prune")
	off, _, _ := trimFile(t, with, onlyPrune+"prune: false\n")
	require.Equal(t, server, off)
}

// The job's class is the user's to choose, and Flux's own labels are not passed on.
func TestPrunePodOfTheUsers(t *testing.T) {
	t.Parallel()
	server := tiered("chat", "/pages/chat-2", "pages")
	text := oneJob(t, onlyPrune+"prune: {priorityClassName: guards}\n", server)
	require.Contains(t, text, "          priorityClassName: guards\n")
	applied := strings.Replace(oneJob(t, onlyPrune, server), "    app.kubernetes.io/managed-by: trimtab\n",
		"    app.kubernetes.io/managed-by: trimtab\n    kustomize.toolkit.fluxcd.io/name: apps\n    team: ai\n", 1)
	renewed, _, _ := trimFile(t, applied, onlyPrune+"prune: {keepFor: 48h}\n")
	require.NotContains(t, renewed, "fluxcd.io")
	require.Contains(t, renewed, "    team: ai\n")
}

// With `fix` the directory of a cache is named after what the names of its pages
// lack, and follows the image.
func TestUnversionedCacheFollowsTheImage(t *testing.T) {
	t.Parallel()
	const digest = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	server := strings.NewReplacer("sglang:v0.5.16", "sglang:v0.5.16@sha256:"+digest, "/models/chat,", "Qwen/Qwen3-32B, --revision=9216db5781bf21249d130ec9da846c4624c16137, --kv-cache-dtype=fp8_e4m3,").
		Replace(tiered("chat", "/pages", "pages"))
	spec := only("unversioned-cache", "unpruned-cache")
	after, got, found := trimFile(t, server, spec)
	require.Equal(t, 0, got.code)
	f := findingOf(t, found, "unversioned-cache", "env/SGLANG_HICACHE_FILE_BACKEND_STORAGE_DIR")
	require.Equal(t, []string{"warning", "none"}, []string{f.Severity, f.Action})
	require.Equal(t, "/pages/gen-v0.5.16-01234567-9216db57-kvfp8_e4m3", f.Proposed)
	require.True(t, strings.HasPrefix(after, server))

	fix := strings.Replace(spec, "rules:\n", "rules:\n  unversioned-cache: fix\n", 1)
	named := oneJobAfter(t, fix, server)
	require.Contains(t, named, "value: /pages/gen-v0.5.16-01234567-9216db57-kvfp8_e4m3\n")
	require.Equal(t, "/gen-v0.5.16-01234567-9216db57-kvfp8_e4m3/", pruneJobs(t, named)[0].env("KEEP"))
	bumped := oneJobAfter(t, fix, strings.Replace(named, digest, strings.Repeat("9", 64), 1))
	require.Contains(t, bumped, "value: /pages/gen-v0.5.16-99999999-9216db57-kvfp8_e4m3\n")
	require.Equal(t, "/gen-v0.5.16-99999999-9216db57-kvfp8_e4m3/", pruneJobs(t, bumped)[0].env("KEEP"))

	for _, own := range []string{"img-0123456", "v0.5.16_awq", "gen3", "${GENERATION}"} {
		_, _, found = trimFile(t, strings.Replace(server, "value: /pages\n", "value: /pages/"+own+"\n", 1), spec)
		require.Empty(t, findingsOf(found, "unversioned-cache"), "a name of the user's own: %s", own)
	}
}

// oneJobAfter trims a manifest and asserts that a second run changes nothing.
func oneJobAfter(t *testing.T, spec, manifest string) string {
	t.Helper()
	after, got, _ := trimFile(t, manifest, spec)
	require.Equal(t, 0, got.code, got.stderr)
	again, _, _ := trimFile(t, after, spec)
	require.Equal(t, after, again)
	return after
}

// A bound that is not below the claim's size does not keep the volume from
// filling up.
func TestVolumeTooSmall(t *testing.T) {
	t.Parallel()
	bounded := func(name, size string) string {
		return strings.Replace(tiered(name, "/pages/"+name+"-1.0", "cache"), "          volumeMounts:\n",
			"            - {name: SGLANG_HICACHE_FILE_BACKEND_MAX_SIZE, value: "+size+"}\n          volumeMounts:\n", 1)
	}
	lmcache := cached("chat", `--tensor-parallel-size=4, --kv-transfer-config, '{"kv_connector":"LMCacheConnectorV1","kv_role":"kv_both"}'`,
		"LMCACHE_LOCAL_DISK", "/cache/lm", "LMCACHE_MAX_LOCAL_DISK_SIZE", "30")
	reason := strings.Replace(cacheClaim, "    requests:\n", "    # The disk has no quota: MAX_SIZE bounds the cache.\n    requests:\n", 1)
	onDisk := strings.Replace(cacheClaim, "  resources:\n", "  storageClassName: openebs-hostpath\n  resources:\n", 1)
	floor := strings.Replace(bounded("chat", "80Gi"), "          volumeMounts:\n",
		"            - {name: SGLANG_HICACHE_FILE_BACKEND_MIN_FREE_SPACE, value: 5Gi}\n          volumeMounts:\n", 1)
	const capped, floored, disk = "env/SGLANG_HICACHE_FILE_BACKEND_MAX_SIZE", "env/SGLANG_HICACHE_FILE_BACKEND_MIN_FREE_SPACE", "env/LMCACHE_MAX_LOCAL_DISK_SIZE"
	for _, test := range []struct{ name, manifests, setting, severity, says string }{
		{"above", documents(bounded("chat", "120Gi"), cacheClaim), capped, "warning", "120 GiB is more than the claim cache asks for, 100Gi"},
		{"equal", documents(bounded("chat", "100Gi"), cacheClaim), capped, "warning", "is all that the claim cache asks for"},
		{"below", documents(bounded("chat", "90Gi"), cacheClaim), "", "", ""},
		{"decimal", documents(bounded("chat", "107G"), cacheClaim), "", "", ""},
		{"nobody tells the claim", bounded("chat", "120Gi"), "", "", ""},
		{"several servers", documents(bounded("chat", "60Gi"), bounded("other", "60Gi"), cacheClaim), capped, "warning", "120 GiB with 1 more on the claim"},
		{"a comment says why", documents(bounded("chat", "100Gi"), reason), capped, "info", "a comment at the claim gives its owner's reason"},
		{"a size that is none", documents(bounded("chat", "120GB"), cacheClaim), "", "", ""},
		{"a floor below the kubelet's", documents(floor, onDisk), floored, "info", "the kubelet evicts pods"},
		{"a floor on a disk of its own", documents(floor, cacheClaim), "", "", ""},
		{"for each rank", documents(lmcache, cacheClaim), disk, "warning", "up to 30 GiB for each of 4 ranks is more than the claim"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			_, _, found := trimFile(t, test.manifests, only("volume-too-small"))
			if test.setting == "" {
				require.Empty(t, findingsOf(found, "volume-too-small"))
				return
			}
			f := findingsOf(found, "volume-too-small")[0]
			require.Equal(t, []string{test.setting, test.severity, "none"}, []string{f.Setting, f.Severity, f.Action})
			require.Contains(t, f.Message, test.says)
		})
	}
}

// A job lands where the server's pod is: by its node selector, or beside a pod
// that bears the labels which the operator gives it.
func TestPruneFollowsTheOperatorsPod(t *testing.T) {
	t.Parallel()
	text := oneJob(t, onlyPrune, `apiVersion: inference.llmkube.dev/v1alpha1
kind: InferenceService
metadata: {name: chat, namespace: llm}
spec:
  modelRef: chat
  runtime: sglang
  image: lmsysorg/sglang:v0.5.16
  env:
    - name: SGLANG_HICACHE_FILE_BACKEND_STORAGE_DIR
      value: /pages/chat-2
  extraArgs: [--enable-hierarchical-cache, --hicache-storage-backend=file]
  extraVolumes:
    - name: pages
      persistentVolumeClaim: {claimName: pages}
  extraVolumeMounts:
    - name: pages
      mountPath: /pages
`)
	require.Contains(t, text, "                    matchLabels:\n                      inference.llmkube.dev/service: chat\n")
}
