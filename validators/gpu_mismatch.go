package validators

import (
	"fmt"
	"slices"
	"strings"

	"github.com/trimtab/trimtab/internal/argv"
	"github.com/trimtab/trimtab/internal/engine"
	"github.com/trimtab/trimtab/internal/finding"
	"github.com/trimtab/trimtab/internal/rule"
	"github.com/trimtab/trimtab/internal/setting"
)

// gpuMismatch finds parallel sizes that do not fit the GPUs of the pod, nor the
// model's heads, images of another vendor than the GPUs, and pods that are placed
// on other GPUs than the stated target. It needs no release: the sizes mean the
// same in all.
func gpuMismatch() rule.Rule {
	meta := rule.Named("gpu-mismatch")
	return rule.Rule{
		Meta: meta,
		CheckServer: func(s rule.Server) []finding.Finding {
			return slices.Concat(ranksAgainstGPUs(s, meta), headsAgainstRanks(s, meta), sharesAgainstRanks(s, meta), imageAgainstVendor(s, meta), placedElsewhere(s, meta))
		},
		CheckRelease: func(r rule.Release) ([]finding.Finding, error) {
			return r.Findings(meta, engine.Mismatch, func(engine.Judgement) rule.Verdict {
				return rule.Verdict{Says: "does not fit the GPUs", Action: finding.None}
			}), nil
		},
	}
}

// parallelFlags are the sizes that multiply to the ranks of one pod, the tensor
// parallel size first.
var parallelFlags = map[string][]string{
	"vllm":   {"--tensor-parallel-size", "--pipeline-parallel-size", "--data-parallel-size"},
	"sglang": {"--tp-size", "--pp-size", "--dp-size"},
}

// elsewhere are settings under which ranks run in other pods, or under which the
// sizes do not simply multiply.
var elsewhere = []string{
	"--nnodes", "--node-rank", "--headless", "--data-parallel-size-local", "--data-parallel-address", "--data-parallel-rank",
	"--data-parallel-start-rank", "--data-parallel-hybrid-lb", "--data-parallel-external-lb", "--data-parallel-backend",
	"--decode-context-parallel-size", "--prefill-context-parallel-size", "--dist-init-addr", "--config", "--omni", "env/RAY_ADDRESS",
	"--enable-dp-attention", "--attn-dp-size", "--attn-cp-size", "--moe-dp-size", "--dcp-size", "--elastic-ep-backend", "--use-ray",
	"--device", "--base-gpu-id", "--gpu-id-step",
}

// visibleDevices are the variables that narrow the devices of a container.
var visibleDevices = []string{"env/CUDA_VISIBLE_DEVICES", "env/HIP_VISIBLE_DEVICES", "env/ROCR_VISIBLE_DEVICES"}

func ranksAgainstGPUs(s rule.Server, meta rule.Meta) []finding.Finding {
	asked, known := s.Facts.Set["gpu.asked"].Value.(int64)
	ranks, sizes, ok := ranksOf(s)
	if !known || !ok || !s.OnePod || s.Facts.Contested("gpu.count") {
		return nil
	}
	proof := ranksProof[s.Engine]
	if backend, ok := given(s, "--distributed-executor-backend"); ok && backend.Value() == "ray" {
		proof = rayProof
	}
	about := proven(s, parallelFinding(s, meta), proof)
	switch {
	case ranks > asked:
		about.Message = fmt.Sprintf("%s: %s (%s) take one GPU each, and the pod is given %d: ask for more GPUs or lower the sizes",
			about.Setting, many(ranks, "rank"), sizes, asked)
		return []finding.Finding{about}
	case narrowed(s, ranks) != nil:
		variable := *narrowed(s, ranks)
		f := proven(s, s.About(meta, variable), proof)
		f.Places = nil
		f.Message = fmt.Sprintf("%s shows %s, and %s (%s) take one each", variable.Name, many(devices(variable), "GPU"), many(ranks, "rank"), sizes)
		return []finding.Finding{f}
	case ranks < asked && usesNoMore(s):
		about.Message = fmt.Sprintf("%s: the pod is given %d GPUs, and with %s (%s) the others stay idle", about.Setting, asked, many(ranks, "rank"), sizes)
		return []finding.Finding{about}
	}
	return nil
}

// ranksOf multiplies the parallel sizes; false where one is decided elsewhere,
// or where another setting spreads the ranks over pods.
func ranksOf(s rule.Server) (ranks int64, sizes string, ok bool) {
	ranks = 1
	var texts []string
	if s.Newest.Line.Opaque {
		return 0, "", false
	}
	for _, given := range s.Newest.Settings {
		if slices.Contains(elsewhere, given.Name) || given.Name == "--distributed-executor-backend" && given.Value() == "external_launcher" {
			return 0, "", false
		}
		if !slices.Contains(parallelFlags[s.Engine], given.Name) || given.Overridden {
			continue
		}
		size, valid := engine.WholeNumber(given.Value())
		if given.Unknown || !valid || size < 1 || size > mostRanks {
			return 0, "", false
		}
		ranks *= size // of three sizes, which cannot overflow
		texts = append(texts, fmt.Sprintf("%s %d", given.Name, size))
	}
	if len(texts) == 0 {
		texts = append(texts, "no "+parallelFlags[s.Engine][0])
	}
	return ranks, strings.Join(texts, ", "), ranks < mostRanks
}

// mostRanks is more than any server has; what is above it is a typing error that
// says nothing about GPUs.
const mostRanks = 1 << 20

// ranksProof is where an engine starts one process, with a device of its own, for
// each rank.
var ranksProof = map[string]string{
	"vllm":   "vllm/v1/executor/multiproc_executor.py, MultiprocExecutor._init_executor: one local worker and device per rank",
	"sglang": "python/sglang/srt/entrypoints/engine.py, _launch_scheduler_processes: one scheduler process and one gpu_id per rank",
}

// rayProof is the same where Ray starts the processes.
const rayProof = "ray_utils.py, initialize_ray_cluster: a placement group has one device for each rank"

// proven adds the proof of a mismatch.
func proven(s rule.Server, f finding.Finding, source string) finding.Finding {
	f.Evidence = []finding.Evidence{{Engine: s.Engine, Versions: "*", Source: source}}
	return f
}

// parallelFinding stands at the tensor parallel size, and at the container where
// none is written.
func parallelFinding(s rule.Server, meta rule.Meta) finding.Finding {
	flag := parallelFlags[s.Engine][0]
	for _, given := range s.Newest.Settings {
		if given.Name == flag && !given.Overridden && given.Origin.Path != nil {
			f := s.About(meta, given)
			f.Places = nil
			return f
		}
	}
	f := s.AboutServer(meta)
	f.Setting = flag
	return f
}

// usesNoMore tells whether nothing else in the container could use a GPU: the
// engine is started directly, the devices are whole ones, and every word of the
// line is known to the engine.
func usesNoMore(s rule.Server) bool {
	unknown := slices.ContainsFunc(s.Newest.Line.Problems, func(p argv.Problem) bool { return p.Kind == argv.Unknown })
	direct, _ := s.Facts.Set["server.direct"].Value.(bool)
	whole, _ := s.Facts.Set["gpu.whole"].Value.(bool)
	return direct && whole && !unknown
}

// narrowed is a variable that shows the container fewer devices than it needs.
func narrowed(s rule.Server, ranks int64) *setting.Setting {
	for i, given := range s.Newest.Settings {
		if slices.Contains(visibleDevices, given.Name) && !given.Unknown && !given.Overridden && devices(given) > 0 && devices(given) < ranks {
			return &s.Newest.Settings[i]
		}
	}
	return nil
}

func many(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// devices counts the elements of a list of devices; 0 for "all" and the like.
func devices(variable setting.Setting) int64 {
	var n int64
	for device := range strings.SplitSeq(variable.Value(), ",") {
		if strings.Trim(strings.TrimSpace(device), "0123456789") != "" {
			return 0
		}
		n++
	}
	return n
}

var headsProof = map[string]string{
	"vllm":   "vllm/config/model.py (to 0.10 vllm/config.py), ModelConfig.verify_with_parallel_config",
	"sglang": "python/sglang/srt/models: the attention layers assert total_num_heads % tp_size == 0",
}

// headsAgainstRanks: tensor parallelism splits the attention heads evenly.
func headsAgainstRanks(s rule.Server, meta rule.Meta) []finding.Finding {
	heads, known := s.Facts.Set["model.heads"].Value.(int64)
	flag := parallelFlags[s.Engine][0]
	at := slices.IndexFunc(s.Newest.Settings, func(given setting.Setting) bool { return given.Name == flag && !given.Overridden && !given.Unknown })
	if !known || at < 0 {
		return nil
	}
	size, valid := engine.WholeNumber(s.Newest.Settings[at].Value())
	if !valid || size < 1 || heads%size == 0 {
		return nil
	}
	f := proven(s, parallelFinding(s, meta), headsProof[s.Engine])
	f.Message = fmt.Sprintf("%s: the model has %d attention heads, which %d ranks cannot share evenly: take a divisor of %d", flag, heads, size, heads)
	return []finding.Finding{f}
}

// sharedEvenly are the architectures whose attention was read in both engines:
// KV heads are a multiple of the ranks, or the ranks of them.
var sharedEvenly = []string{
	"LlamaForCausalLM", "MistralForCausalLM", "MixtralForCausalLM", "Qwen2ForCausalLM", "Qwen2MoeForCausalLM", "Qwen3ForCausalLM", "Qwen3MoeForCausalLM",
	"Qwen3NextForCausalLM", "Qwen3_5ForConditionalGeneration", "Qwen3_5MoeForConditionalGeneration",
}

var sharesProof = map[string]string{
	"vllm":   "vllm/model_executor/models/llama.py, LlamaAttention.__init__, and its like in qwen2.py, qwen3.py, mixtral.py: total_num_kv_heads % tp_size == 0 or tp_size % total_num_kv_heads == 0",
	"sglang": "python/sglang/srt/models/llama.py, LlamaAttention.__init__, and its like in qwen2.py, qwen3.py, mixtral.py: total_num_kv_heads % tp_size == 0 or tp_size % total_num_kv_heads == 0",
}

// sharesAgainstRanks: KV heads go whole to ranks, and whole ranks to KV heads;
// the heads of linear attention are split evenly. With attention DP fewer ranks
// share them than there are.
func sharesAgainstRanks(s rule.Server, meta rule.Meta) []finding.Finding {
	shape := s.Facts.Shape
	architecture, _ := s.Facts.Set["model.architecture"].Value.(string)
	heads, known := s.Facts.Set["model.heads"].Value.(int64)
	size, ok := tensorParallelSize(s)
	if shape == nil || !known || !ok || heads%size != 0 || !slices.Contains(sharedEvenly, architecture) {
		return nil
	}
	f := proven(s, parallelFinding(s, meta), sharesProof[s.Engine])
	flag := parallelFlags[s.Engine][0]
	switch kv, state := shape.KVHeads, shape.State; {
	case kv > 0 && kv%size != 0 && size%kv != 0:
		f.Message = fmt.Sprintf("%s: the model has %d KV heads, which %d ranks cannot share: take a size that divides them or a multiple of them", flag, kv, size)
	case state != nil && state.Kind == "gdn" && (state.VHeads%size != 0 || state.KHeads%size != 0):
		f.Message = fmt.Sprintf("%s: linear attention has %d key heads and %d value heads, which %d ranks cannot share evenly: take a divisor of both", flag, state.KHeads, state.VHeads, size)
	default:
		return nil
	}
	return []finding.Finding{f}
}

// tensorParallelSize is the size that is written; false where none is, or where
// another setting says over how many ranks attention is split.
func tensorParallelSize(s rule.Server) (int64, bool) {
	size, ok := int64(0), false
	for _, given := range s.Newest.Settings {
		if slices.Contains([]string{"--enable-dp-attention", "--attn-dp-size", "--attn-cp-size", "--config"}, given.Name) {
			return 0, false
		}
		if given.Name == parallelFlags[s.Engine][0] && !given.Overridden && !given.Unknown {
			size, ok = engine.WholeNumber(given.Value())
		}
	}
	return size, ok && size > 0
}

// imageVendors are the engines' own images and the GPUs they are built for.
var imageVendors = []struct{ repository, vendor string }{
	{"vllm/vllm-openai", "nvidia"}, {"vllm/vllm-openai-rocm", "amd"}, {"lmsysorg/sglang", "nvidia"},
}

const imageProof = "the repository and tag of the engine's own images name the platform they are built for"

// imageAgainstVendor: an image holds the kernels of one vendor.
func imageAgainstVendor(s rule.Server, meta rule.Meta) []finding.Finding {
	vendor, known := s.Facts.Set["gpu.vendor"].Value.(string)
	built := imageVendor(s.Image)
	if !known || built == "" || vendor == built || s.GPUs.Vendor != vendor {
		return nil
	}
	f := proven(s, s.AboutServer(meta), imageProof)
	f.Setting, f.Value = s.ImagePath.String(), s.Image
	f.Origin = setting.Origin{Kind: setting.Field, Path: s.ImagePath}
	f.Message = fmt.Sprintf("the image is built for %s GPUs, and the pod asks for those of %s", built, vendor)
	return []finding.Finding{f}
}

// imageVendor is the vendor an official image is built for; empty where its name
// does not tell.
func imageVendor(image string) string {
	name, tag, _ := strings.Cut(strings.TrimPrefix(image, "docker.io/"), ":")
	name, _, _ = strings.Cut(name, "@")
	tag = strings.ToLower(tag)
	for _, known := range imageVendors {
		if name != known.repository {
			continue
		}
		switch {
		case strings.Contains(tag, "rocm"), strings.Contains(tag, "gfx"):
			return "amd"
		case strings.Contains(tag, "cpu"), strings.Contains(tag, "xpu"), strings.Contains(tag, "npu"), strings.Contains(tag, "hpu"):
			return ""
		}
		return known.vendor
	}
	return ""
}
