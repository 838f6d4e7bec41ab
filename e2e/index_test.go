package e2e

import (
	"encoding/json"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trimtab/trimtab/hardware"
	"github.com/trimtab/trimtab/internal/server"
	"github.com/trimtab/trimtab/internal/stream"
)

// indexed is a row of INDEX.tsv.
type indexed struct{ file, engine, version, gpu, how, flags string }

// shown is what show tells of a file.
type shown struct {
	Servers []struct {
		Engine, Version, Image string
		Facts                  []struct{ Fact, Value string }
	}
	Left []struct{ Why string }
}

// values are what the servers of a file say of a fact.
func (s shown) values(fact string) []string {
	var values []string
	for _, one := range s.Servers {
		for _, f := range one.Facts {
			if f.Fact == fact {
				values = append(values, f.Value)
			}
		}
	}
	return values
}

// images are those of the servers; the index also reads an architecture off
// comments.
func (s shown) images() []string {
	var images []string
	for _, one := range s.Servers {
		images = append(images, one.Image)
	}
	return images
}

func indexRows(t *testing.T, dir string) []indexed {
	t.Helper()
	var rows []indexed
	for _, line := range strings.Split(strings.TrimSuffix(read(t, filepath.Join(dir, "INDEX.tsv")), "\n"), "\n")[1:] {
		cells := strings.Split(line, "\t")
		require.GreaterOrEqual(t, len(cells), 9, line)
		rows = append(rows, indexed{cells[0], cells[4], cells[5], cells[6], cells[7], cells[8]})
	}
	require.Greater(t, len(rows), 100)
	return rows
}

const scriptsAreNotRead = "scripts are not read yet"

// TestIndex: every server of the public manifests is found, with engine, version,
// GPU and flags as their index says; what is no server stays out.
func TestIndex(t *testing.T) {
	t.Parallel()
	dir := publicCases(t)
	var pending []string
	judged, disagreements := 0, 0
	for _, row := range indexRows(t, dir) {
		if row.file == brokenCase {
			continue
		}
		got := showCase(t, dir, row.file)
		inScript := slices.ContainsFunc(got.Left, func(l struct{ Why string }) bool { return strings.Contains(l.Why, scriptsAreNotRead) })
		switch {
		case row.engine == "llama.cpp":
			require.Empty(t, got.Servers, row.file)
			continue
		case len(got.Servers) == 0 && (inScript || strings.Contains(row.how, "shell")):
			pending = append(pending, row.file)
			require.NotEmpty(t, got.Left, "%s: nothing is said of it", row.file)
			continue
		}
		judged++
		for _, what := range row.differences(t, dir, got, inScript) {
			why, known := indexExplained[row.file+" "+what.column]
			t.Logf("%-60s %-8s index %q, shown %q  %s", row.file, what.column, what.index, what.shown, why)
			disagreements++
			if !known {
				t.Errorf("%s: %s: the index says %q, show says %q", row.file, what.column, what.index, what.shown)
			}
		}
	}
	t.Logf("%d files agree or are explained in %d places, %d wait for scripts:\n%s", judged, disagreements, len(pending), strings.Join(pending, "\n"))
}

func showCase(t *testing.T, dir, name string) shown {
	t.Helper()
	ran := run(t, t.TempDir(), "", trimtab, "show", "-o", "json", filepath.Join(dir, name))
	require.Equal(t, 0, ran.code, ran.stderr)
	var got shown
	require.NoError(t, json.Unmarshal([]byte(ran.stdout), &got))
	return got
}

// difference is one cell of the index that show contradicts.
type difference struct{ column, index, shown string }

func (r indexed) differences(t *testing.T, dir string, got shown, inScript bool) []difference {
	t.Helper()
	var found []difference
	add := func(column, index string, shown ...string) {
		found = append(found, difference{column, index, strings.Join(shown, " ")})
	}
	if len(got.Servers) == 0 {
		add("server", r.engine)
		return found
	}
	var engines, versions []string
	for _, s := range got.Servers {
		engines, versions = append(engines, s.Engine), append(versions, s.Version)
	}
	if !slices.Contains(engines, r.engine) {
		add("engine", r.engine, engines...)
	}
	if !slices.ContainsFunc(versions, r.versionFits) {
		add("version", r.version, versions...)
	}
	if count := gpuCount.FindStringSubmatch(r.gpu); count != nil && !slices.Contains(got.values("gpu.count"), count[1]) {
		add("count", r.gpu, got.values("gpu.count")...)
	}
	if vendor := indexedVendor(r.gpu); vendor != "" && !slices.Contains(got.values("gpu.vendor"), vendor) {
		add("vendor", r.gpu, got.values("gpu.vendor")...)
	}
	words := strings.Fields(r.gpu)
	for _, word := range words {
		if card, ok := hardware.GPU(word); ok && !slices.Contains(got.values("gpu.name"), card.Name) {
			add("card", r.gpu, got.values("gpu.name")...)
		}
		if strings.HasPrefix(word, "gfx") && strings.Contains(strings.Join(got.images(), " "), "-"+word) && !slices.Contains(got.values("gpu.arch"), word) {
			add("arch", r.gpu, got.values("gpu.arch")...)
		}
	}
	if unseen := r.unseenFlags(t, dir); len(unseen) > 0 && !inScript && !strings.Contains(r.how, "shell") {
		add("flags", strings.Join(unseen, " "))
	}
	return found
}

var gpuCount = regexp.MustCompile(`(?:\bx|count=|-l4:)([0-9]+)`)

func indexedVendor(gpu string) string {
	for word, vendor := range map[string]string{"NVIDIA": "nvidia", "nvidia-": "nvidia", "AMD AMD": "amd", "Gaudi": "intel"} {
		if strings.HasPrefix(gpu, word) {
			return vendor
		}
	}
	return ""
}

var exactVersion = regexp.MustCompile(`^[0-9]+\.[0-9]+`)

// versionFits compares with the version that the index read off the image: a
// release is that release, a floating tag is shown by its name, all else is a
// range.
func (r indexed) versionFits(shown string) bool {
	isRange := strings.HasPrefix(shown, ">=")
	switch version := strings.Split(r.version, ",")[0]; {
	case exactVersion.MatchString(version):
		return shown == version
	case version == "latest" || version == "dev" || version == "nightly" || version == "(no tag)":
		return shown == version || isRange || shown == "latest"
	default:
		return isRange
	}
}

// unseenFlags are flags of the index that stand in no command line of the file.
func (r indexed) unseenFlags(t *testing.T, dir string) []string {
	t.Helper()
	source, err := stream.ParseDocuments(r.file, []byte(read(t, filepath.Join(dir, r.file))))
	require.NoError(t, err)
	servers, err := server.Find(source.Items)
	require.NoError(t, err)
	seen := map[string]bool{}
	for _, s := range servers {
		for _, word := range s.CommandLine(s.GPUs.Count) {
			flag, _, _ := strings.Cut(word.Text, "=")
			seen[strings.ReplaceAll(flag, "_", "-")] = true
		}
	}
	var unseen []string
	for _, flag := range strings.Fields(r.flags) {
		if !seen[strings.ReplaceAll(flag, "_", "-")] {
			unseen = append(unseen, flag)
		}
	}
	return unseen
}

// indexExplained are the cells of the index that show contradicts, with the
// reason.
var indexExplained = map[string]string{
	// Flags of other containers of the file.
	"other/kthena-vllm-data-parallel.yaml flags":                "those of an init container that downloads the model",
	"other/ome-srt-bge-reranker.yaml flags":                     "those of the router",
	"other/ome-srt-gpt-oss-120b-grpc.yaml flags":                "those of the router",
	"other/ome-srt-kimi-k2-pd.yaml flags":                       "those of the router",
	"other/ome-srt-llama31-405b-fp8.yaml flags":                 "those of the router",
	"other/ome-srt-nemotron3-nano.yaml flags":                   "those of the router",
	"workload/aibrix-kvcache-infinistore.yaml flags":            "those of an init container that downloads the model",
	"workload/aibrix-llava-7b.yaml flags":                       "those of an init container that downloads the model",
	"workload/aibrix-reg-v021-naive-chunked-false.yaml flags":   "those of an init container that downloads the model",
	"workload/aibrix-reg-v030-lmcache-v0connector.yaml flags":   "those of a router and of a downloader",
	"workload/gcp-llmd-base-sidecar.yaml flags":                 "those of the routing sidecar",
	"workload/llmd-sched-multilora-regression.yaml flags":       "one of git, in the script of another container",
	"workload/llmd-sched-vllm-cpu-32b.yaml flags":               "one of git, in the script of another container",
	"workload/llmd-sched-vllm-multilora-tp2.yaml flags":         "one of git, in the script of another container",
	"workload/tpu-qwen35-397b-tp8.yaml flags":                   "those of the TPU's library, in the text of a variable",
	"other/ome-vllm-llama32-11b-vision.yaml version":            "the tag is v0.9.0.1",
	"workload/aibrix-reg-v030-lmcache-v0connector.yaml version": "the tag lmcache-v0.8.5-20250418 begins with no release of the engine",
	"workload/gcp-patch-vllm-args-h100-gemma4.yaml vendor":      "a part of the object's name, in a patch that asks for nothing",
	"workload/k8s-examples-gemma3.yaml card":                    "the node selector is a comment",
	"shell/neuron-qwen-tp1.yaml count":                          "accelerators that are no GPUs: how many ranks one carries is not known",
	"workload/llmd-ms-rebellions.yaml count":                    "accelerators that are no GPUs: how many ranks one carries is not known",
	"workload/tpu-qwen35-397b-tp8.yaml count":                   "accelerators that are no GPUs: a chip carries two ranks",
}
