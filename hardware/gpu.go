package hardware

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/agext/levenshtein"
)

// GPUEntry is one accelerator.
type GPUEntry struct {
	Name string `yaml:"name"`
	// Aliases are other names: products as node labels write them, cloud types.
	Aliases []string `yaml:"aliases"`
	// Vendor is nvidia, amd or intel.
	Vendor string `yaml:"vendor"`
	// Arch is the vendor's own name: sm_90, gfx1201.
	Arch string `yaml:"arch"`
	// ComputeCapability is NVIDIA's MAJOR.MINOR: 8.9. Empty elsewhere.
	ComputeCapability string `yaml:"compute_capability"`
	// PCIIDs are the PCI device ids, hexadecimal: 74a1.
	PCIIDs []string `yaml:"pci_ids"`

	// Memory is the total in bytes: what the driver's tool prints, to the MiB;
	// else the figure in GiB that MemoryBasis explains, to its last digit.
	Memory int64 `yaml:"-"`
	// MemoryTorch is the total in bytes as cudaMemGetInfo reports it to the
	// engines, which lies up to 1 % lower; 0 where no source has it.
	MemoryTorch int64 `yaml:"-"`
	// MemoryBasis says what Memory is: smi, nominal, measured.
	MemoryBasis string `yaml:"memory_basis"`

	// Bandwidth is that of the memory, in bytes per second; the others are for
	// the PCIe model, for one of two devices of a card, and as measured. 0 where
	// no source has it.
	Bandwidth          int64 `yaml:"-"`
	BandwidthPCIe      int64 `yaml:"-"`
	BandwidthPerDevice int64 `yaml:"-"`
	BandwidthMeasured  int64 `yaml:"-"`

	// TFLOPS are dense matrix rates by format, in 1e12 operations per second.
	TFLOPS map[string]float64 `yaml:"tflops"`
	// BF16, FP8 and FP4 tell whether matrix units take the format; nil where no
	// source says. INT8Tensor is false where there is no INT8 matrix rate.
	BF16       *bool `yaml:"bf16"`
	FP8        *bool `yaml:"fp8"`
	FP4        *bool `yaml:"fp4"`
	INT8Tensor *bool `yaml:"int8_tensor"`
	// FP8Formats and FP4Formats name them: e4m3fn, e4m3fnuz, nvfp4.
	FP8Formats []string `yaml:"fp8_formats"`
	FP4Formats []string `yaml:"fp4_formats"`
	// Interconnect tells how cards talk to each other.
	Interconnect string `yaml:"interconnect"`
	// Sources back the figures.
	Sources []string `yaml:"sources"`
	Note    string   `yaml:"note"`
}

// gpuLine is an entry as the file spells it.
type gpuLine struct {
	GPUEntry `yaml:",inline"`

	MemoryMiB      int64   `yaml:"memory_mib"`
	MemoryGiB      float64 `yaml:"memory_gib"`
	MemoryTorchGiB float64 `yaml:"memory_torch_gib"`
	BandwidthGBs   int64   `yaml:"bandwidth_gbs"`
	PCIeGBs        int64   `yaml:"bandwidth_gbs_pcie"`
	PerDeviceGBs   int64   `yaml:"bandwidth_gbs_per_device"`
	MeasuredGBs    int64   `yaml:"bandwidth_gbs_measured"`
}

// vendors are the makers whose name may stand in front of a product's.
var vendors = [...]string{"nvidia", "amd", "intel"}

// GPU finds an accelerator by its name or an alias. Case, blanks, dashes,
// underscores and the vendor in front do not count: r9700,
// AMD_Radeon_AI_PRO_R9700 and NVIDIA-H100-80GB-HBM3 are found. A name that
// fits cards of two sizes (V100) is not.
func GPU(name string) (GPUEntry, bool) {
	if name == "" {
		return GPUEntry{}, false // without reading the table
	}
	known, err := gpus()
	if err != nil { // not with the embedded file: a test reads it
		return GPUEntry{}, false
	}
	entry, ok := known.byName[gpuWord(name)]
	if vendor := vendorOf(name); !ok || vendor != "" && vendor != entry.Vendor {
		return GPUEntry{}, false
	}
	return entry.clone(), true
}

// GPUsLike are the names of the accelerators that a name may mean which is none
// itself: those that hold it (H100), else the one that is spelled most alike;
// none where nothing is spelled alike.
func GPUsLike(name string) []string {
	known, err := gpus()
	if err != nil || len(known.names) == 0 {
		return nil
	}
	const fewest = 2
	word := gpuWord(name)
	var like []string
	for _, candidate := range known.names {
		entry, ok := known.byName[gpuWord(candidate)]
		if ok && len(word) >= fewest && strings.Contains(gpuWord(candidate), word) && !slices.Contains(like, entry.Name) {
			like = append(like, entry.Name)
		}
	}
	if len(like) > 0 {
		return like
	}
	nearest := slices.MinFunc(known.names, func(a, b string) int {
		return levenshtein.Distance(word, gpuWord(a), nil) - levenshtein.Distance(word, gpuWord(b), nil)
	})
	if other := gpuWord(nearest); levenshtein.Distance(word, other, nil) > max(1, max(len(word), len(other))/3) {
		return nil
	}
	return []string{nearest}
}

// GPUByDevice finds an accelerator by its PCI device id, hexadecimal: 74a1.
func GPUByDevice(id string) (GPUEntry, bool) {
	id = strings.TrimPrefix(strings.ToLower(id), "0x")
	if len(id) != 4 { // a name: it needs no search
		return GPUEntry{}, false
	}
	known, err := gpus()
	if err != nil {
		return GPUEntry{}, false
	}
	for _, name := range known.names {
		if entry, ok := known.byName[gpuWord(name)]; ok && slices.Contains(entry.PCIIDs, id) {
			return entry.clone(), true
		}
	}
	return GPUEntry{}, false
}

// GPUNames are the names and aliases of all accelerators, for messages that
// offer the nearest one.
func GPUNames() []string {
	known, err := gpus()
	if err != nil {
		return nil
	}
	return slices.Clone(known.names)
}

var gpus = sync.OnceValues(func() (*index[GPUEntry], error) { return readGPUs(gpuFile) })

func readGPUs(data []byte) (*index[GPUEntry], error) {
	var file struct {
		Version int               `yaml:"version"`
		Sources map[string]string `yaml:"sources"`
		GPUs    []gpuLine         `yaml:"gpus"`
	}
	if err := decode(data, &file); err != nil {
		return nil, err
	}
	known := &index[GPUEntry]{byName: map[string]GPUEntry{}}
	for i, line := range file.GPUs {
		entry, err := line.entry(file.Sources)
		if err != nil {
			return nil, fmt.Errorf("entry %d, %q: %w", i+1, line.Name, err)
		}
		if err := known.put(entry, gpuWord, entry.Name, entry.Aliases); err != nil {
			return nil, err
		}
	}
	return known, nil
}

func (l gpuLine) entry(table map[string]string) (GPUEntry, error) {
	e := l.GPUEntry
	if !slices.Contains(vendors[:], e.Vendor) || e.Arch == "" || e.MemoryBasis == "" {
		return e, errors.New("`vendor` (nvidia, amd, intel), `arch` and `memory_basis` are compulsory")
	}
	var err error
	if e.Memory, err = gibibytes("memory_gib", l.MemoryGiB); err != nil {
		return e, err
	}
	if l.MemoryMiB < 0 || l.MemoryMiB >= 1<<43 {
		return e, fmt.Errorf("`memory_mib` must be from 0, got %d", l.MemoryMiB)
	}
	if l.MemoryMiB > 0 {
		e.Memory = l.MemoryMiB << 20
	}
	if e.Memory == 0 {
		return e, errors.New("`memory_mib` or `memory_gib` is compulsory")
	}
	if e.MemoryTorch, err = gibibytes("memory_torch_gib", l.MemoryTorchGiB); err != nil {
		return e, err
	}
	for _, rate := range []struct {
		bytes *int64
		gbs   int64
	}{{&e.Bandwidth, l.BandwidthGBs}, {&e.BandwidthPCIe, l.PCIeGBs}, {&e.BandwidthPerDevice, l.PerDeviceGBs}, {&e.BandwidthMeasured, l.MeasuredGBs}} {
		if rate.gbs < 0 || rate.gbs > 1e9 {
			return e, fmt.Errorf("a bandwidth must be from 0 GB/s, got %d", rate.gbs)
		}
		*rate.bytes = rate.gbs * 1e9
	}
	e.Sources, err = proofs(e.Sources, table)
	return e, err
}

// clone returns an entry that shares no memory with the catalogue.
func (e GPUEntry) clone() GPUEntry {
	e.Aliases, e.PCIIDs, e.Sources = slices.Clone(e.Aliases), slices.Clone(e.PCIIDs), slices.Clone(e.Sources)
	e.FP8Formats, e.FP4Formats = slices.Clone(e.FP8Formats), slices.Clone(e.FP4Formats)
	e.TFLOPS = maps.Clone(e.TFLOPS)
	for _, flag := range []**bool{&e.BF16, &e.FP8, &e.FP4, &e.INT8Tensor} {
		*flag = cloned(*flag)
	}
	return e
}

func cloned[T any](p *T) *T {
	if p == nil {
		return nil
	}
	copied := *p
	return &copied
}

// gpuWord reduces a name to what counts.
func gpuWord(name string) string {
	word := plainGPUName(name)
	return strings.TrimPrefix(word, vendorOf(name))
}

// vendorOf is the vendor that stands in front of a product's name, or "".
func vendorOf(name string) string {
	word := plainGPUName(name)
	for _, vendor := range vendors {
		if strings.HasPrefix(word, vendor) {
			return vendor
		}
	}
	return ""
}

var gpuNameMarks = strings.NewReplacer("-", "", "_", "", " ", "", "/", "")

func plainGPUName(name string) string { return gpuNameMarks.Replace(strings.ToLower(name)) }
