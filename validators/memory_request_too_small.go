package validators

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/trimtab/trimtab/internal/finding"
	"github.com/trimtab/trimtab/internal/ledger"
	"github.com/trimtab/trimtab/internal/rule"
	"github.com/trimtab/trimtab/internal/setting"
)

// leastEngine is what a server takes of the host's memory besides its pools, in
// bytes: the libraries and the CUDA or ROCm context of one process. It is an
// assumption on the low side, and findings state it.
const leastEngine = 2 << 30

// memoryRequestTooSmall finds memory that settings and volumes allocate and the
// limit does not hold, or that the request does not tell the scheduler of.
// Volumes in memory and pinned pools are charged to the pod.
func memoryRequestTooSmall() rule.Rule {
	meta := rule.Named("memory-request-too-small")
	return rule.Rule{Meta: meta, CheckServer: func(s rule.Server) []finding.Finding {
		needs := hostNeeds(s)
		if needs == nil {
			return nil
		}
		limit, limited := s.Facts.Set["server.memoryLimit"].Value.(int64)
		request, requested := s.Facts.Set["server.memoryRequest"].Value.(int64)
		switch {
		case limited && needs.most()+leastEngine > limit:
			return []finding.Finding{needs.finding(s, meta, s.MemoryLimitPath, s.MemoryLimit, fmt.Sprintf(
				"the memory limit of %s B leaves %s for the engine beside %s: it is killed when they fill (assumed: an engine takes 2 GiB at least)",
				ledger.Grouped(limit), left(limit-needs.most()), needs))}
		case requested && (request < needs.pools || !limited && request < needs.volumes):
			return []finding.Finding{needs.finding(s, meta, s.MemoryRequestPath, s.MemoryRequest, fmt.Sprintf(
				"the memory request of %s B does not cover %s: as they fill, the node runs short, and this pod is among the first to be evicted",
				ledger.Grouped(request), needs))}
		case !requested && !limited && needs.pools > 0 && s.MemoryRequest == "" && s.MemoryLimit == "":
			return []finding.Finding{needs.finding(s, meta, s.MemoryRequestPath, "", fmt.Sprintf(
				"no memory is requested beside %s: the scheduler knows nothing of it", needs))}
		}
		return nil
	}}
}

// left says how much is left, in bytes; what is overdrawn leaves nothing.
func left(bytes int64) string {
	if bytes <= 0 {
		return "nothing"
	}
	return ledger.Grouped(bytes) + " B"
}

// hostMemory is what is charged to the pod besides the engine itself, in bytes.
type hostMemory struct {
	volumes, pools int64
	// texts name the parts, sources say where they were read.
	texts, sources []string
}

// hostNeeds adds up volumes and pools; nil where there are none.
func hostNeeds(s rule.Server) *hostMemory {
	needs := &hostMemory{}
	volumes := memoryVolumes(s)
	for _, path := range slices.Sorted(maps.Keys(volumes)) {
		needs.volumes += volumes[path]
		needs.texts = append(needs.texts, fmt.Sprintf("up to %s B of memory at %s", ledger.Grouped(volumes[path]), path))
	}
	if needs.volumes > 0 {
		needs.sources = append(needs.sources, "Kubernetes: an emptyDir of medium Memory is charged to the containers that write it")
	}
	for _, pool := range hostPools(s) {
		needs.pools += pool.bytes
		needs.sources = append(needs.sources, pool.source)
		needs.texts = append(needs.texts, fmt.Sprintf("%s B of %s", ledger.Grouped(pool.bytes), pool.about.Name))
	}
	if len(needs.texts) == 0 {
		return nil
	}
	return needs
}

// most is the larger of volumes and pools: a pool may lie in a volume, and a
// volume need not be full.
func (n *hostMemory) most() int64 { return max(n.volumes, n.pools) }

// String lists what the memory is taken by, each with its bytes.
func (n *hostMemory) String() string { return strings.Join(n.texts, " and ") }

func (n *hostMemory) finding(s rule.Server, meta rule.Meta, path setting.Path, value, message string) finding.Finding {
	f := s.AboutServer(meta)
	if path == nil {
		path = s.Path.Join("resources", "requests", "memory")
	}
	f.Setting, f.Value, f.Message = path.String(), value, message
	f.Origin = setting.Origin{Kind: setting.Field, Path: s.Path} // it is about what is not written
	if value != "" {
		f.Origin.Path = path
	}
	for _, source := range n.sources {
		f.Evidence = append(f.Evidence, finding.Evidence{Engine: s.Engine, Versions: "*", Source: source})
	}
	return f
}
