package validators

import (
	"math"
	"strconv"
	"strings"

	"github.com/trimtab/trimtab/internal/config"
	"github.com/trimtab/trimtab/internal/engine"
	"github.com/trimtab/trimtab/internal/rule"
	"github.com/trimtab/trimtab/internal/server"
	"github.com/trimtab/trimtab/internal/serving"
	"github.com/trimtab/trimtab/internal/setting"
)

// given is the setting of a name that is in force; false where none is given.
func given(s rule.Server, name string) (setting.Setting, bool) {
	for _, one := range s.Newest.Settings {
		if one.Name == name && !one.Overridden {
			return one, true
		}
	}
	return setting.Setting{}, false
}

// holdsBeside tells whether another setting is on and holds a text; a value that
// is not known holds none.
func holdsBeside(s rule.Server, other *serving.Beside) bool {
	beside, ok := given(s, other.Setting)
	return ok && !beside.Off && !beside.Unknown && strings.Contains(beside.Value(), other.Holds)
}

// hostPool is memory of the host that the server sets aside.
type hostPool struct {
	about setting.Setting
	// bytes are those of all ranks in one pod together.
	bytes int64
	// shared is true where it lies in /dev/shm.
	shared bool
	source string
}

// hostPools are the pools whose size the settings tell.
func hostPools(s rule.Server) []hostPool {
	var pools []hostPool
	ranks, known := ranksInPod(s)
	if !known {
		ranks = 1 // at least
	}
	for _, data := range s.Serving.HostMemory {
		about, ok := given(s, data.Setting)
		if !ok || about.Unknown || data.Beside != nil && !holdsBeside(s, data.Beside) || data.Unless != nil && holdsBeside(s, data.Unless) {
			continue
		}
		text := about.Value()
		if data.JSON != "" {
			if text, ok = serving.Inside(text, data.JSON); !ok {
				continue
			}
		}
		unit, err := config.ParseQuantity(data.Unit)
		size, numberErr := strconv.ParseFloat(text, 64)
		if err != nil || numberErr != nil || !(size > 0) {
			continue
		}
		bytes := size * float64(unit.Bytes)
		if data.Each == "rank" {
			bytes *= float64(ranks)
		}
		if hybrid, _ := s.Facts.Set["model.hybrid"].Value.(bool); hybrid && data.Hybrid > 0 {
			bytes *= float64(data.Hybrid)
		}
		if bytes < math.MaxInt64/4 {
			shared := data.Shared != "" && strings.Contains(about.Value(), data.Shared)
			pools = append(pools, hostPool{about: about, bytes: int64(bytes), shared: shared, source: data.Source})
		}
	}
	return pools
}

// memoryVolumes are the size limits, in bytes, of the volumes in memory that the
// container mounts, by mount path. One without a limit is left out.
func memoryVolumes(s rule.Server) map[string]int64 {
	sizes := map[string]int64{}
	for _, mount := range s.Mounts {
		if size, err := config.ParseQuantity(mount.SizeLimit); err == nil && mount.InMemory && size.Bytes > 0 {
			sizes[mount.Path] = size.Bytes
		}
	}
	return sizes
}

// worldFlags are the sizes that multiply to the ranks which exchange tensors.
var worldFlags = map[string][]string{
	"vllm":   {"--tensor-parallel-size", "--pipeline-parallel-size"},
	"sglang": {"--tp-size", "--pp-size"},
}

// ranksInPod is how many ranks of one model a pod holds; false where that is not
// known. Where ranks are spread over pods a pod holds one for each of its GPUs.
func ranksInPod(s rule.Server) (int64, bool) {
	ranks := int64(1)
	for _, flag := range worldFlags[s.Engine] {
		size, ok := given(s, flag)
		if !ok {
			continue
		}
		n, valid := engine.WholeNumber(size.Value())
		if size.Unknown || !valid || n < 1 || n > mostRanks {
			return 0, false
		}
		ranks *= n
	}
	if s.OnePod && !spreads(s) {
		return ranks, true
	}
	asked, known := s.Facts.Set["gpu.asked"].Value.(int64)
	return min(ranks, asked), known
}

// spreads tells whether a setting puts ranks into other pods.
func spreads(s rule.Server) bool {
	for _, flag := range []string{"--nnodes", "--node-rank", "--use-ray", "env/RAY_ADDRESS"} {
		if _, ok := given(s, flag); ok {
			return true
		}
	}
	backend, ok := given(s, "--distributed-executor-backend")
	return ok && backend.Value() != "mp"
}

// speaksNCCL tells whether the pod holds GPUs whose ranks speak through NCCL or
// RCCL.
func speaksNCCL(s *server.Server, vendor string) bool {
	asks := s.GPUs.Count != nil && *s.GPUs.Count > 0
	return vendor == "nvidia" || vendor == "amd" || vendor == "" && asks
}
