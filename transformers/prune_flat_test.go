package transformers_test

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/trimtab/trimtab/transformers"
)

func allPruneCases() []pruneCase { return slices.Concat(pruneCases, treeCases, flatCases) }

// blocks makes the job that of vLLM's fs tier.
func blocks(job *transformers.PruneJob) {
	job.Tier, job.Flat, job.Keep = "fs", true, nil
	job.Pages, job.Partial = []string{"*_????????????_r*/???/??_g*/*.bin"}, "*_????????????_r*/???/??_g*/*.bin_*.tmp"
}

// atMost is blocks with a bound in KiB.
func atMost(kib int64) func(*transformers.PruneJob) {
	return func(job *transformers.PruneJob) {
		blocks(job)
		job.Most = kib << 10
	}
}

// files makes the job that of HiCache's file tier in a directory of its own.
func files(job *transformers.PruneJob) {
	job.Flat, job.Keep, job.Partial = true, nil, "*.bin.tmp.*"
}

// kernels makes the job that of Triton's cache.
func kernels(job *transformers.PruneJob) {
	job.Tier, job.Trees, job.Pages = "triton", true, []string{"????????????????????????????????????????????????????"}
}

const (
	model  = "Qwen_Qwen3-32B_0123456789ab"
	kernel = "5QH3Z6RJ4W7X2KQ5B5JZC3TT7VGQ2Q5YB6MFA4JH5K2R3W7X2KQA"
	other  = "AQH3Z6RJ4W7X2KQ5B5JZC3TT7VGQ2Q5YB6MFA4JH5K2R3W7X2KQA"
)

// removed is the last line of a flat job. Where its bound is a size, the age that
// follows from it grows with the time the tests take: N stands for it.
func removed(gone, from, kept, kib string) string {
	return "done: " + gone + " pages written " + from + " minutes ago or earlier removed, " + kept + " kept, " + kib + " KiB\n"
}

// printed is what a job printed on a volume, as the cases write it.
func printed(v volume, job transformers.PruneJob, out string) string {
	out = strings.ReplaceAll(out, v.root, "VOLUME")
	if job.Most > 0 {
		out = writtenAgo.ReplaceAllString(out, "written N minutes ago")
	}
	return out
}

var writtenAgo = regexp.MustCompile(`written \d+ minutes ago`)

var flatCases = []pruneCase{
	{
		name: "blocks go by age, and nothing else goes",
		lay: func(v volume) {
			v.put("tier/"+model, 9*day, "config.json")
			v.put("tier/"+model+"_r0/abc/de_g0", 3*day, "abcde1.bin", "-rf.bin", "a b\n$x.bin", "abcde2.bin_77.tmp", "notes.txt")
			v.put("tier/"+model+"_r0/abc/df_g0", 2*time.Hour, "abcdf1.bin", "abcdf2.bin_78.tmp")
			v.put("tier/"+model+"_r0/abc/e0_g0", -3*day, "abce01.bin")
			v.put("tier/"+model+"_r0/abc", 3*day, "beside.bin")
			v.age(v.root+"/tier/"+model+"_r0/abc/df_g0/abcdf1.bin", 2*time.Hour)
			v.age(v.root+"/tier/"+model+"_r0/abc/df_g0/abcdf2.bin_78.tmp", 2*time.Hour)
			v.age(v.root+"/tier/"+model+"_r0/abc/e0_g0/abce01.bin", -3*day)
			v.put("tier/$(x 'it's' *_0123456789ab_r1/abc/de_g0", 3*day, "a.bin")
			v.put("tier/weights_0123456789ab_r0/abc/de_g0", 3*day, "a.bin")
			v.put("tier/hub/models--Qwen/snapshots/abc", 9*day, "pytorch_model.bin")
			v.put("tier/lost+found", 9*day)
			v.put("outside/abc/de_g0", 9*day, "a.bin")
			v.link("../outside", "tier/away_0123456789ab_r0")
			v.link("../../../../outside/abc/de_g0/a.bin", "tier/"+model+"_r0/abc/de_g0/link.bin")
		},
		reserved: []string{"weights_0123456789ab_r0"},
		shape:    blocks,
		want: "kept: not a page: " + model + "\nkept: not a page: hub\nkept: not a page: lost+found\n" +
			removed("4", "1440", "2", "8"),
		gone: []string{
			"/tier/" + model + "_r0/abc/de_g0/abcde1.bin", "/tier/" + model + "_r0/abc/de_g0/-rf.bin", "/tier/" + model + "_r0/abc/de_g0/a b\n$x.bin",
			"/tier/" + model + "_r0/abc/de_g0/abcde2.bin_77.tmp", "/tier/$(x 'it's' *_0123456789ab_r1/abc/de_g0/a.bin",
		},
		everyHost: true,
	},
	{
		name: "the oldest go above the size, and an old empty directory",
		lay: func(v volume) {
			v.put("tier/"+model+"_r0/000/00_g0", 5*day)
			v.put("tier/"+model+"_r0/001/01_g0", 3*time.Hour, "a.bin")
			v.put("tier/"+model+"_r0/001/02_g0", 2*time.Hour, "a.bin", "b.bin")
			v.put("tier/"+model+"_r1/001/03_g0", time.Hour, "a.bin")
		},
		shape: atMost(13),
		want:  removed("1", "N", "3", "12"),
		gone:  []string{"/tier/" + model + "_r0/000/00_g0", "/tier/" + model + "_r0/001/01_g0/a.bin"},
	},
	{
		name: "below the size nothing that is young goes",
		lay: func(v volume) {
			v.put("tier/"+model+"_r0/001/01_g0", 23*time.Hour, "a.bin", "b.bin")
		},
		shape: atMost(8),
		want:  removed("0", "N", "2", "8"),
	},
	{
		name: "pages in a directory of their own",
		lay: func(v volume) {
			v.put("tier", 3*day, "old.bin", "older.k.bin", "died.bin.tmp.7.8.9", "README")
			v.put("tier/deeper", 3*day, "a.bin")
			v.put("tier/as-page.bin", 3*day, "a.bin")
			v.age(v.root+"/tier", 3*day)
			v.put("fresh", time.Minute, "x")
			v.link("../fresh/x", "tier/link.bin")
		},
		shape: files,
		want:  "kept: not a page: README\nkept: not a page: deeper\n" + removed("2", "1440", "0", "0"),
		gone:  []string{"/tier/old.bin", "/tier/older.k.bin", "/tier/died.bin.tmp.7.8.9"},
	},
	{
		name:  "blocks on an empty volume",
		lay:   func(volume) {},
		shape: blocks,
		want:  "nothing to do: no such directory: VOLUME/tier\n",
	},
	{
		name:  "no blocks yet",
		lay:   func(v volume) { v.put("tier", 9*day) },
		shape: blocks,
		want:  removed("0", "1440", "0", "0"),
	},
	{
		name: "blocks behind a link out of the volume",
		lay: func(v volume) {
			away := v.t.TempDir()
			volume{v.t, away}.put(model+"_r0/abc/de_g0", 9*day, "a.bin")
			v.link(away, "tier")
		},
		shape: blocks,
		want:  "nothing to do: a link leads out of the volume: VOLUME/tier\n",
	},
}

var treeCases = []pruneCase{
	{
		name: "kernels of other versions, and what only looks like them",
		lay: func(v volume) {
			v.put("outside", 9*day, "x")
			v.put("tier/triton-0.5.16/"+kernel, 40*day, "a.json", "a.hsaco", "tmp.pid_1_2/x")
			v.put("tier/triton-0.5.16", 40*day)
			v.put("tier/triton-0.5.15/"+kernel, 9*day, "a.json", "-rf", "a b\n.cubin")
			v.put("tier/triton-0.5.15/"+other, 9*day, "deep/er/x")
			v.link("../../../outside/x", "tier/triton-0.5.15/"+other+"/link")
			v.ageLink("tier/triton-0.5.15/"+other+"/link", 9*day)
			v.put("tier/triton-0.5.15", 9*day)
			v.put("tier/triton-0.5.14/"+kernel, 9*day, "a.json")
			v.put("tier/triton-0.5.14", 9*day)
			v.age(v.root+"/tier/triton-0.5.14/"+kernel+"/a.json", time.Hour)
			v.put("tier/mine/"+kernel, 9*day, "a.json")
			v.put("tier/mine", 9*day, "notes")
			v.put("tier/hub/models--Qwen--Qwen3", 9*day, "blobs/0123")
			v.put("tier/empty", 9*day)
			v.put("tier/zz-newest/"+kernel, 2*day, "a.json")
			v.put("tier/zz-newest", 2*day)
		},
		keep:  []string{"triton-0.5.16"},
		shape: kernels,
		want: "kept: not a generation: empty (no page in it)\nkept: not a generation: hub (no page in it)\nkept: not a generation: mine (not only pages in it)\n" +
			"removed: triton-0.5.15\nkept: named by a manifest: triton-0.5.16\nkept: written within 1440 minutes: triton-0.5.14\nkept: newest: zz-newest\n" +
			"done: 1 generations removed, 3 kept, 0 could not be removed\n",
		gone: []string{"/tier/triton-0.5.15"},
	},
	{
		name: "one directory of a version for several caches",
		lay: func(v volume) {
			v.put("tier/v1/triton/"+kernel, 9*day, "a.json")
			v.put("tier/v1/vllm/torch_compile_cache/0a", 9*day, "x.py")
			v.put("tier/v2/triton/"+kernel, 2*day, "a.json")
			v.put("tier/v0/triton/"+kernel, 9*day, "a.json")
			v.put("tier/v0/huggingface/hub", 9*day, "w.safetensors")
			v.put("tier/v1", 9*day)
			v.put("tier/v2", 2*day)
		},
		keep: []string{"v2"},
		shape: func(job *transformers.PruneJob) {
			job.Tier, job.Trees, job.Pages = "compiled", true, []string{"triton", "vllm"}
		},
		want: "kept: not a generation: v0 (not only pages in it)\nremoved: v1\nkept: named by a manifest: v2\n" +
			"done: 1 generations removed, 1 kept, 0 could not be removed\n",
		gone: []string{"/tier/v1"},
	},
	{
		name: "what an earlier run began to remove goes, though it changed since",
		lay: func(v volume) {
			v.put("", day, "precious")
			v.put("tier/half", 3*day, "b.bin")
			v.put("tier/half", time.Hour, ".trimtab-removes")
			v.age(v.root+"/tier/half/b.bin", 3*day)
			v.put("tier/back", time.Hour, "b.bin", ".trimtab-removes")
			v.age(v.root+"/tier/back/.trimtab-removes", 2*time.Hour)
			v.put("tier/named", 3*day, "b.bin", ".trimtab-removes")
			v.put("tier/linked", 3*day, "b.bin")
			v.link("../../precious", "tier/linked/.trimtab-removes")
			v.age(v.root+"/tier/linked", 3*day)
		},
		keep: []string{"named"},
		want: "removed: half\nkept: not a generation: linked (not only pages in it)\nkept: named by a manifest: named\nkept: newest: back\n" +
			"done: 1 generations removed, 2 kept, 0 could not be removed\n",
		gone: []string{"/tier/half", "/tier/back/.trimtab-removes", "/tier/named/.trimtab-removes"},
	},
	{
		name: "pages that are not whole are pages, and make no generation alone",
		lay: func(v volume) {
			v.put("tier/died", 3*day, "a.bin", "b.bin.tmp.7.8.9")
			v.put("tier/torn", 3*day, "b.bin.tmp.7.8.9")
			v.put("tier/new", 2*day, "a.bin")
		},
		keep:  []string{"x"},
		shape: func(job *transformers.PruneJob) { job.Partial = "*.bin.tmp.*" },
		want: "removed: died\nkept: not a generation: torn (no page in it)\nkept: newest: new\n" +
			"done: 1 generations removed, 1 kept, 0 could not be removed\n",
		gone: []string{"/tier/died"},
	},
}
