package hardware

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

func TestEmbeddedFilesAreStrictAndSourced(t *testing.T) {
	cards, err := readGPUs(gpuFile)
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(cards.names), 100)
	for name, card := range cards.byName {
		require.NotEmpty(t, card.Sources, name)
		require.Positive(t, card.Memory, name)
		require.NotNil(t, card.BF16, name)
		require.NotNil(t, card.FP8, name)
		for _, source := range card.Sources {
			require.Contains(t, source, " ", "%s: %q is a word of the table, not its text", name, source)
		}
	}
}

func TestGPUNames(t *testing.T) {
	for name, want := range map[string]string{
		"r9700":                       "Radeon-AI-PRO-R9700",
		"R9700":                       "Radeon-AI-PRO-R9700",
		"AMD_Radeon_AI_PRO_R9700":     "Radeon-AI-PRO-R9700",
		"radeon ai pro r9700":         "Radeon-AI-PRO-R9700",
		"amd/R9700":                   "Radeon-AI-PRO-R9700",
		"H100-80GB":                   "H100-SXM",
		"NVIDIA-H100-80GB-HBM3":       "H100-SXM",
		"nvidia_h100_80gb":            "H100-SXM",
		"a100 80gb":                   "A100-80GB",
		"NVIDIA-A100-SXM4-80GB":       "A100-80GB",
		"v100-32gb":                   "V100-32GB",
		"NVIDIA Tesla V100 SXM2 32GB": "V100-32GB",
		"mi300x":                      "MI300X",
		"AMD_Instinct_MI300X_OAM":     "MI300X",
		"nvidia-tesla-a100":           "A100-40GB",
		"nvidia-l4":                   "L4",
		"NVIDIA-GeForce-RTX-4090":     "RTX-4090",
		"NVIDIA-H200":                 "H200",
		"a10g":                        "A10G",
		"AMD_Radeon_RX_7900_XTX":      "RX-7900-XTX",
		"HL-225":                      "Gaudi2",
	} {
		card, ok := GPU(name)
		require.True(t, ok, name)
		require.Equal(t, want, card.Name, name)
	}
	for _, name := range []string{"", "amd", "nvidia", "-", "V100", "A100", "nvidia-r9700", "amd-h100-80gb", "R9700X", "NVIDIA-A100-SXM4-80GB-MIG-1g.10gb"} {
		_, ok := GPU(name)
		require.False(t, ok, name)
	}
	require.Subset(t, GPUNames(), []string{"MI300X", "R9700", "Radeon-AI-PRO-R9700"})
}

func TestGPUFigures(t *testing.T) {
	const mib, gib = 1 << 20, 1 << 30
	card, _ := GPU("v100-32gb")
	require.Equal(t, int64(32510*mib), card.Memory, "MiB win over GiB")
	require.Equal(t, int64(900e9), card.Bandwidth)
	require.False(t, *card.BF16)
	require.False(t, *card.INT8Tensor)

	card, _ = GPU("a100-80gb")
	require.Equal(t, int64(80*gib), card.Memory)
	require.Equal(t, int64(85_169_201_480), card.MemoryTorch, "79.32 GiB to the nearest byte")
	require.Equal(t, int64(1935e9), card.BandwidthPCIe)

	card, _ = GPU("r9700")
	require.Equal(t, int64(34_209_414_513), card.Memory, "31.86 GiB to the nearest byte")
	require.Zero(t, card.MemoryTorch)
	require.Equal(t, []string{"e4m3fn", "e5m2"}, card.FP8Formats)
	require.Nil(t, card.INT8Tensor)
	require.Empty(t, card.ComputeCapability)
	require.Equal(t, "gfx1201", card.Arch)
}

func TestGPUsByPCIDevice(t *testing.T) {
	for id, want := range map[string]string{"74a1": "MI300X", "0x74A5": "MI325X", "740f": "MI210"} {
		card, ok := GPUByDevice(id)
		require.True(t, ok, id)
		require.Equal(t, want, card.Name)
	}
	for _, id := range []string{"", "0x", "ffff"} {
		_, ok := GPUByDevice(id)
		require.False(t, ok, id)
	}
}

// A card of two devices counts as two: its memory is that of one.
func TestMemoryIsThatOfOneDevice(t *testing.T) {
	card, ok := GPU("MI250X")
	require.True(t, ok)
	require.EqualValues(t, 64<<30, card.Memory)
}

// TestEntriesAreCopies: what a caller changes stays with the caller.
func TestEntriesAreCopies(t *testing.T) {
	card, _ := GPU("r9700")
	card.Aliases[0], card.Sources[0], card.FP8Formats[0], *card.BF16 = "x", "x", "x", false
	again, _ := GPU("r9700")
	require.NotEqual(t, card.Aliases, again.Aliases)
	require.NotEqual(t, card.Sources, again.Sources)
	require.True(t, *again.BF16)
	require.Equal(t, "e4m3fn", again.FP8Formats[0])

	model, _ := Model("Qwen/Qwen3.6-27B")
	model.State.VHeads, model.Aliases[0], *model.AutoMap = 1, "x", true
	fresh, _ := Model("Qwen/Qwen3.6-27B")
	require.Equal(t, int64(48), fresh.State.VHeads)
	require.False(t, *fresh.AutoMap)
	require.NotEqual(t, model.Aliases, fresh.Aliases)
}

func TestBadGPUFiles(t *testing.T) {
	const good = "name: A, vendor: amd, arch: gfx1, memory_gib: 1, memory_basis: nominal, sources: [s]"
	for entries, want := range map[string]string{
		"{" + good + "}":                    "",
		"{" + good + ", colour: red}":       "colour",
		"{" + good + "}\n- {" + good + "}":  "another entry",
		"{" + good + ", aliases: [amd-a]}":  "",
		"{" + good + ", aliases: ['-']}":    "is no name",
		"{" + good + ", memory_mib: -1}":    "memory_mib",
		"{" + good + ", bandwidth_gbs: -1}": "bandwidth",
		"{name: A, vendor: acme, arch: x, memory_gib: 1, memory_basis: n, sources: [s]}":   "vendor",
		"{name: A, vendor: amd, arch: x, memory_basis: n, sources: [s]}":                   "memory_gib",
		"{name: A, vendor: amd, arch: x, memory_gib: .nan, memory_basis: n, sources: [s]}": "memory_gib",
		"{name: A, vendor: amd, arch: x, memory_gib: 1, memory_basis: n}":                  "sources",
		"{name: A, vendor: amd, arch: x, memory_gib: 1, memory_basis: n, sources: [t]}":    "not in the table",
	} {
		_, err := readGPUs([]byte("sources: {s: some text}\ngpus:\n- " + entries + "\n"))
		if want == "" {
			require.NoError(t, err, entries)
			continue
		}
		require.ErrorContains(t, err, want, entries)
	}
}

// whole reads a file of the whole catalogue, of which ours holds a part.
func whole(t *testing.T, name string, into any) []byte {
	data, err := os.ReadFile(filepath.Join("..", "..", "shared", "facts", name))
	if errors.Is(err, fs.ErrNotExist) {
		t.Skipf("../shared/facts/%s is not beside this checkout", name)
	}
	require.NoError(t, err)
	require.NoError(t, yaml.Unmarshal(data, into))
	return data
}

// TestWholeGPUCatalogue: every entry of the whole catalogue has our form, and
// ours carry the same figures.
func TestWholeGPUCatalogue(t *testing.T) {
	var file struct {
		Sources map[string]string `yaml:"sources"`
		GPUs    []yaml.Node       `yaml:"gpus"`
		Rest    map[string]any    `yaml:",inline"`
	}
	whole(t, "gpus.yaml", &file)
	data, err := yaml.Marshal(map[string]any{"sources": file.Sources, "gpus": file.GPUs})
	require.NoError(t, err)
	all, err := readGPUs(data)
	require.NoError(t, err)
	require.Greater(t, len(all.names), 40)
	compared := 0
	for _, name := range GPUNames() {
		ours, _ := GPU(name)
		theirs, both := all.byName[gpuWord(name)]
		if !both {
			continue // added since
		}
		compared++
		require.Len(t, ours.Sources, len(theirs.Sources), name)
		ours.Sources, ours.Note, ours.MemoryBasis = theirs.Sources, theirs.Note, theirs.MemoryBasis
		if theirs.MemoryTorch == 0 {
			require.Less(t, ours.MemoryTorch, ours.Memory, name)
			ours.MemoryTorch = 0 // logs tell it of some more
		}
		if theirs.BandwidthPerDevice > 0 {
			theirs.Memory /= 2 // ours is that of one of the two devices of a card
		}
		require.Equal(t, theirs, ours)
	}
	require.Greater(t, compared, 40)
}
