package facts

import (
	"maps"
	"strings"

	"github.com/trimtab/trimtab/hardware"
	"github.com/trimtab/trimtab/internal/config"
)

// Moved is where a manifest was written for another target than the stated one.
type Moved struct {
	// Card is the catalogue's name of the GPU that the manifest names; empty where
	// only its vendor is known.
	Card string
	// Vendor is that of the GPU that the manifest was written for.
	Vendor string
	// Count is the number of GPUs that the manifest asks for where the stated one
	// is another; 0 elsewhere.
	Count int64
	// Told are the sources of the manifest by the fact that they tell otherwise:
	// gpu.name by a node label, gpu.vendor by a resource name, gpu.count.
	Told map[string]string
	// There is what is known of the server with the GPUs of the manifest.
	There *Gathered
}

// MovedFrom tells what a manifest was written for, where a config or an annotation
// states another target: another card, vendor or count. It is false where both
// say the same, or one says nothing.
func (g *Gathered) MovedFrom() (Moved, bool) {
	m := Moved{Told: map[string]string{}}
	for _, d := range g.Disagreements {
		stated := d.Used.Source == "config" || strings.HasPrefix(d.Used.Source, "annotation ") || strings.HasPrefix(d.Used.Source, "the catalogue's entry ")
		if !stated || d.Unused.Source == "config" || m.Told[d.Fact] != "" {
			continue
		}
		switch d.Fact {
		case "gpu.name":
			m.Card, _ = d.Unused.Value.(string)
		case "gpu.vendor":
			m.Vendor, _ = d.Unused.Value.(string)
		case "gpu.count":
			m.Count, _ = d.Unused.Value.(int64)
		default:
			continue
		}
		m.Told[d.Fact] = d.Unused.Source
	}
	if len(m.Told) == 0 {
		return m, false
	}
	card, known := hardware.GPU(m.Card)
	switch target, _ := g.Set["gpu.vendor"].Value.(string); {
	case m.Vendor == "" && known:
		m.Vendor = card.Vendor
	case m.Vendor == "":
		m.Vendor = target
	}
	m.There = g.on(m)
	return m, true
}

// on is what is known of a server with the GPUs that its manifest names. Nothing
// is known there of what was measured, or of a card that is not named.
func (g *Gathered) on(m Moved) *Gathered {
	there := *g
	there.Set, there.Disagreements, there.Unresolved = maps.Clone(g.Set), nil, nil
	for name := range g.Set {
		isCard := strings.HasPrefix(name, "gpu.") && name != "gpu.count" && name != "gpu.reserve"
		if isCard && m.Card+m.Told["gpu.vendor"] != "" || strings.HasPrefix(name, "measured.") {
			delete(there.Set, name)
		}
	}
	if m.Count > 0 {
		there.Set["gpu.count"] = Fact{Value: m.Count, Source: m.Told["gpu.count"]}
	}
	if m.Card+m.Told["gpu.vendor"] != "" {
		there.tellText("gpu.name", m.Card, m.Told["gpu.name"])
		there.tellText("gpu.vendor", m.Vendor, m.Told["gpu.vendor"])
		there.tellCard(config.GPU{})
	}
	return &there
}
