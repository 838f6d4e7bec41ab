package facts

import (
	"github.com/trimtab/trimtab/internal/config"
	"github.com/trimtab/trimtab/internal/server"
)

// defaultShm is the size of /dev/shm in a container whose pod mounts nothing
// there.
//
// Source: containerd, pkg/cri/sbserver/sandbox_run_linux.go, and CRI-O,
// server/sandbox_run_linux.go: 64 MiB where the pod does not set it.
const defaultShm = 64 << 20

// tellPod tells what the pod has beside its devices: server.shm, the bytes of
// /dev/shm; server.memoryLimit and server.memoryRequest, in bytes; server.nodes,
// how many pods form one server.
func (g *Gathered) tellPod(s *server.Server) {
	g.tellBytes("server.memoryLimit", s.MemoryLimit, "resources.limits.memory")
	g.tellBytes("server.memoryRequest", s.MemoryRequest, "resources.requests.memory")
	if s.Nodes != nil {
		g.tell("server.nodes", *s.Nodes, "manifest")
	}
	mount, mounted := s.Mounted("/dev/shm")
	switch {
	case mounted && mount.InMemory:
		g.tellBytes("server.shm", mount.SizeLimit, "the size limit of the volume at /dev/shm")
	case !mounted && s.OwnShm:
		g.tell("server.shm", int64(defaultShm), "no volume at /dev/shm")
	}
}

// tellBytes records a Kubernetes quantity; one that cannot be read tells
// nothing.
func (g *Gathered) tellBytes(name, quantity, source string) {
	if quantity == "" {
		return
	}
	if read, err := config.ParseQuantity(quantity); err == nil {
		g.tell(name, read.Bytes, source)
	}
}
