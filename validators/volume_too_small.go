package validators

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/trimtab/trimtab/internal/config"
	"github.com/trimtab/trimtab/internal/finding"
	"github.com/trimtab/trimtab/internal/rule"
	"github.com/trimtab/trimtab/internal/server"
	"github.com/trimtab/trimtab/internal/setting"
)

const (
	fileCacheCap   = "env/SGLANG_HICACHE_FILE_BACKEND_MAX_SIZE"
	fileCacheFloor = "env/SGLANG_HICACHE_FILE_BACKEND_MIN_FREE_SPACE"
	lmcacheCap     = "env/LMCACHE_MAX_LOCAL_DISK_SIZE"
)

// nodeThreshold is the share of a node's disk, in hundredths, below which the
// kubelet evicts pods by default (nodefs.available<10%).
const nodeThreshold = 10

// volumeTooSmall finds caches whose own bound is not below what their claim asks
// for, and floors of free space below the one that the kubelet defends.
func volumeTooSmall() rule.Rule {
	meta := rule.Named("volume-too-small")
	return rule.Rule{Meta: meta, CheckRelease: func(r rule.Release) ([]finding.Finding, error) {
		caches, _ := tiersOf(r)
		users, err := r.VolumeUsers()
		if err != nil {
			return nil, err
		}
		var found []finding.Finding
		for _, cache := range caches {
			bound, ok := cache.bound(r)
			if !ok || cache.mount.Claim == "" && cache.mount.HostPath == "" {
				continue
			}
			claim, known := r.VolumeClaim(cache.mount.Claim)
			if known && cache.mount.Claim != "" {
				found = append(found, cache.overfull(r, meta, bound, claim, users)...)
			}
			found = append(found, cache.floor(r, meta, bound, claim)...)
		}
		return found, nil
	}}
}

// cacheBound is how much a cache may hold by its own settings.
type cacheBound struct {
	about setting.Setting
	// each is what one process may write, in bytes; processes is how many there
	// are, at least.
	each, processes int64
	evidence        finding.Evidence
}

func (b cacheBound) bytes() int64 { return b.each * b.processes }

// bound reads what a cache may hold; false where nothing bounds it, or where that
// is not told.
func (c cacheTier) bound(r rule.Release) (cacheBound, bool) {
	switch c.fact.Tier.Name {
	case "hicache":
		capped, known, _ := r.State.Derived("file_cache_capped")
		text, told, _ := r.State.Derived("file_cache_cap")
		if !known || !told || capped != true {
			return cacheBound{}, false
		}
		size, err := config.ParseQuantity(strings.TrimSpace(fmt.Sprint(text)))
		about, ok := firstGiven(r, fileCacheCap, "--hicache-storage-backend-extra-config")
		bound := cacheBound{about: about, each: size.Bytes, processes: 1, evidence: finding.Evidence{
			Engine: "sglang", Versions: ">=0.5.14",
			Source: "python/sglang/srt/mem_cache/storage/file/lru_file_evictor.py, LRUFileEvictor: one for each suffix, which holds the rank unless the model has MLA",
		}}
		if mla, ok := r.Facts.Set["model.mla"]; ok && mla.Value == false {
			bound.processes = ranks(r, "tp_size", "pp_size")
		}
		return bound, ok && err == nil
	case "lmcache":
		about, ok := firstGiven(r, lmcacheCap)
		gib, err := strconv.ParseFloat(strings.TrimSpace(about.Value()), 64)
		const most = 1 << 20 // GiB; more is no disk
		if !ok || about.Unknown || err != nil || gib <= 0 || gib > most {
			return cacheBound{}, false
		}
		return cacheBound{about: about, each: int64(gib * (1 << 30)), processes: ranks(r, "tp_size", "pp_size", "tensor_parallel_size", "pipeline_parallel_size"), evidence: finding.Evidence{
			Engine: r.Engine, Versions: c.fact.VersionText,
			Source: "lmcache/v1/storage_backend/local_disk_backend.py, LocalDiskBackend.__init__: max_local_disk_size x 1024^3, in each worker",
		}}, true
	}
	return cacheBound{}, false
}

// firstGiven finds the first of some settings that counts.
func firstGiven(r rule.Release, names ...string) (setting.Setting, bool) {
	for _, name := range names {
		for _, s := range r.State.Settings {
			if s.Name == name && !s.Overridden {
				return s, true
			}
		}
	}
	return setting.Setting{}, false
}

// ranks multiplies the parallel sizes that are known.
func ranks(r rule.Release, keys ...string) int64 {
	product := int64(1)
	for _, key := range keys {
		if value, known, _ := r.State.Value(key); known {
			if size, ok := value.(int64); ok && size > 1 && size < 1<<16 {
				product *= size
			}
		}
	}
	return product
}

// overfull compares what all servers of a claim may write with the claim.
func (c cacheTier) overfull(r rule.Release, meta rule.Meta, bound cacheBound, claim server.VolumeClaim, users []server.VolumeUser) []finding.Finding {
	size, err := config.ParseQuantity(claim.Storage)
	if err != nil {
		return nil
	}
	total, others := bound.bytes(), 0
	for _, u := range users {
		if more, ok := otherCap(r, u, bound, c); ok {
			total += more
			others++
		}
	}
	if total < size.Bytes {
		return nil
	}
	f := r.About(meta, bound.about)
	f.Places, f.Evidence = nil, []finding.Evidence{bound.evidence}
	f.Undo = "lower the bound, or let the claim " + claim.Object.Name + " ask for more"
	writes := fmt.Sprintf("%s: up to %s", bound.about.Name, gibibytes(bound.each))
	if bound.processes > 1 {
		writes += fmt.Sprintf(" for each of %d ranks", bound.processes)
	}
	if others > 0 {
		writes += fmt.Sprintf(", %s with %d more on the claim", gibibytes(total), others)
	}
	if total == size.Bytes {
		f.Message = writes + fmt.Sprintf(" is all that the claim %s asks for, %s: nothing is left for the file system itself, nor for an earlier generation until it is pruned", claim.Object.Name, claim.Storage)
	} else {
		f.Message = writes + fmt.Sprintf(" is more than the claim %s asks for, %s: the disk is full before anything is evicted", claim.Object.Name, claim.Storage)
	}
	if reasoned(claim, f) {
		f.Severity = finding.Info
		f.Message += " (a comment at the claim gives its owner's reason)"
	}
	return []finding.Finding{f}
}

// otherCap is what another server with a file cache may write to the same claim.
func otherCap(r rule.Release, u server.VolumeUser, bound cacheBound, c cacheTier) (int64, bool) {
	if u.Is(r.Server.Server) || IsPruneJob(u) || bound.about.Name != fileCacheCap || !sameNamespace(u.Object, r.Object) {
		return 0, false
	}
	dir, ok := u.Variable(strings.TrimPrefix(storageDir, "env/"))
	size, capped := u.Variable(strings.TrimPrefix(fileCacheCap, "env/"))
	if !ok || !capped || dir.Unknown || size.Unknown {
		return 0, false
	}
	place, ok := server.PlaceOf(u.Mounts, dir.Value)
	own, _ := server.PlaceOf(r.Mounts, c.directory)
	more, err := config.ParseQuantity(strings.TrimSpace(size.Value))
	return more.Bytes, ok && err == nil && place.Volume == c.mount.Claim && place != own
}

// reasoned tells whether a comment at a claim's size speaks of what bounds it.
func reasoned(claim server.VolumeClaim, f finding.Finding) bool {
	short := f
	short.Setting = strings.TrimPrefix(strings.TrimPrefix(f.Setting, "env/SGLANG_HICACHE_FILE_BACKEND_"), "env/LMCACHE_")
	return slices.ContainsFunc(claim.Comments, func(comment string) bool {
		return rule.GivesReason(comment, f) || rule.GivesReason(comment, short)
	})
}

// floor compares the free space that the engine leaves with what the kubelet
// defends, where the cache lies on the disk of the node: one that is large enough
// for the cache is under pressure before the engine stops.
func (c cacheTier) floor(r rule.Release, meta rule.Meta, bound cacheBound, claim server.VolumeClaim) []finding.Finding {
	about, ok := firstGiven(r, fileCacheFloor)
	floored, known, _ := r.State.Derived("file_cache_floored")
	floor, err := config.ParseQuantity(strings.TrimSpace(about.Value()))
	if c.fact.Tier.Name != "hicache" || !ok || !known || floored != true || err != nil || !onNode(c.mount, claim) || floor.Bytes >= bound.each/100*nodeThreshold {
		return nil
	}
	f := r.About(meta, about)
	f.Places, f.Severity, f.Evidence = nil, finding.Info, []finding.Evidence{bound.evidence}
	f.Message = fmt.Sprintf("%s: %s is less than %d %% of any disk that holds %s, and below that the kubelet evicts pods (nodefs.available<10%%): the node is under disk pressure before the engine stops writing",
		about.Name, gibibytes(floor.Bytes), nodeThreshold, gibibytes(bound.each))
	f.Undo = "set it above the eviction threshold of the node"
	return []finding.Finding{f}
}

// onNode tells whether a volume is a folder of the node's own disk.
func onNode(m server.Mount, claim server.VolumeClaim) bool {
	class := strings.ToLower(claim.StorageClass)
	return m.HostPath != "" || strings.Contains(class, "hostpath") || strings.Contains(class, "local-path")
}

// gibibytes writes bytes for people.
func gibibytes(bytes int64) string {
	return strconv.FormatFloat(float64(bytes)/(1<<30), 'g', 4, 64) + " GiB"
}
