package validators

import (
	"fmt"

	"github.com/trimtab/trimtab/internal/finding"
	"github.com/trimtab/trimtab/internal/ledger"
	"github.com/trimtab/trimtab/internal/rule"
	"github.com/trimtab/trimtab/internal/setting"
)

// usualShm is what a container runtime gives a container, in bytes: with it
// several ranks in one pod were seen to fail. What they need above it no source
// tells.
const usualShm = 64 << 20

// shmTooSmall finds a /dev/shm that the ranks of one pod, or a KV tier of the
// host, outgrow.
func shmTooSmall() rule.Rule {
	meta := rule.Named("shm-too-small")
	return rule.Rule{Meta: meta, CheckServer: func(s rule.Server) []finding.Finding {
		size, known := s.Facts.Set["server.shm"].Value.(int64)
		if !known {
			return nil
		}
		if pool := sharedPool(s, size); pool != nil {
			f := shmFinding(s, meta)
			f.Message = fmt.Sprintf("/dev/shm has %s B and %s keeps %s B there: mount an emptyDir of medium Memory at /dev/shm that is larger, "+
				"and let the memory limit hold it too", ledger.Grouped(size), pool.about.Name, ledger.Grouped(pool.bytes))
			f.Evidence = []finding.Evidence{{Engine: s.Engine, Versions: "*", Source: pool.source}}
			return []finding.Finding{f}
		}
		ranks, told := ranksInPod(s)
		vendor, _ := s.Facts.Set["gpu.vendor"].Value.(string)
		if !told || ranks < 2 || size > usualShm || !speaksNCCL(s.Server, vendor) {
			return nil
		}
		f := shmFinding(s, meta)
		f.Message = fmt.Sprintf("/dev/shm has %s B for %d ranks in one pod, which share tensors and messages there: mount an emptyDir of medium Memory at /dev/shm "+
			"(1Gi and more are usual)", ledger.Grouped(size), ranks)
		f.Evidence = []finding.Evidence{{
			Engine: s.Engine, Versions: "*",
			Source: "reported: ai-dynamo/dynamo#1408, llm-d/llm-d#352, sgl-project/sgl-project.github.io#5 (64 MiB and two ranks or more); KServe mounts 1Gi to 8Gi",
		}}
		return []finding.Finding{f}
	}}
}

// sharedPool is a pool in /dev/shm that is as large as it, or larger.
func sharedPool(s rule.Server, size int64) *hostPool {
	for _, pool := range hostPools(s) {
		if pool.shared && pool.bytes >= size {
			return &pool
		}
	}
	return nil
}

// shmFinding stands at the volume mounted at /dev/shm, else at the container.
func shmFinding(s rule.Server, meta rule.Meta) finding.Finding {
	f := s.AboutServer(meta)
	f.Setting = "/dev/shm"
	if mount, mounted := s.Mounted("/dev/shm"); mounted && mount.At != nil {
		f.Origin = setting.Origin{Kind: setting.Field, Path: mount.At}
		f.Value = mount.SizeLimit
	}
	return f
}
