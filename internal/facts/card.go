package facts

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/trimtab/trimtab/hardware"
	"github.com/trimtab/trimtab/internal/config"
)

// OfCard are the facts that the catalogue's entry of a GPU tells: gpu.name,
// gpu.vendor, gpu.arch, gpu.cc and gpu.memory.
func OfCard(name string) Set {
	g := &Gathered{Set: Set{}}
	g.tell("gpu.name", name, "the catalogue")
	g.tellCard(config.GPU{})
	return g.Set
}

// tellCard tells what is true of the target GPU: gpu.memory (bytes of one GPU),
// gpu.arch (sm_90, gfx1201) and, on NVIDIA, gpu.cc, the compute capability as a
// whole number (8.9 is 89), each from the config's own description before the
// catalogue's entry.
func (g *Gathered) tellCard(described config.GPU) {
	if memory := described.Memory; memory != nil {
		g.tell("gpu.memory", memory.Bytes, "config")
	}
	g.tellText("gpu.arch", described.Arch, "config")
	g.tellCapability(described.ComputeCapability, "config")
	name, _ := g.Set["gpu.name"].Value.(string)
	card, ok := hardware.GPU(name)
	if !ok {
		if name != "" && described.Memory == nil && described.Arch == "" && described.ComputeCapability == "" {
			like := strings.Join(hardware.GPUsLike(name), ", ")
			if like != "" {
				like = "write " + like + ", or "
			}
			g.Unresolved = append(g.Unresolved, fmt.Sprintf("`gpu.name` is %s by %s, which is no GPU of the catalogue: %sdescribe it with gpu.vendor, gpu.arch and gpu.memory",
				name, g.Set["gpu.name"].Source, like))
		}
		return
	}
	source := "the catalogue's entry " + card.Name
	g.tellText("gpu.vendor", card.Vendor, source)
	if _, told := g.Set["gpu.memory"]; !told && card.Memory > 0 {
		g.tell("gpu.memory", card.Memory, source)
	}
	g.tellText("gpu.arch", card.Arch, source)
	g.tellCapability(card.ComputeCapability, source)
}

func (g *Gathered) tellCapability(text, source string) {
	major, minor, _ := strings.Cut(text, ".")
	whole, err := strconv.ParseInt(major, 10, 64)
	tenth, _ := strconv.ParseInt(minor, 10, 64) // "9" is 9.0
	if err == nil {
		g.tell("gpu.cc", 10*whole+tenth, source)
	}
}
