package ledger_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/trimtab/trimtab/hardware"
	"github.com/trimtab/trimtab/internal/ledger"
)

// attentionOf and stateOf carry an entry of the catalogue over, on one rank.
func attentionOf(m hardware.ModelEntry, elementBytes int64) ledger.Attention {
	return ledger.Attention{Layers: m.LayersFullAttention, KVHeads: m.KVHeads, KeyDim: m.HeadDim, ValueDim: m.HeadDim, Element: ledger.Element{Bytes: elementBytes, Of: 1}, TP: 1}
}

func stateOf(m hardware.ModelEntry, ssmBytes int64) ledger.State {
	return ledger.State{Layers: m.LayersLinear, KeyHeads: m.State.KHeads, KeyDim: m.State.KHeadDim,
		ValueHeads: m.State.VHeads, ValueDim: m.State.VHeadDim, ConvKernel: m.State.ConvKernel, SSMElementBytes: ssmBytes, TP: 1}
}

// TestCatalogueShapes: every grouped-query entry of the embedded catalogue can
// be accounted for, and the elements of each gated-delta state are those of the
// formula.
func TestCatalogueShapes(t *testing.T) {
	cells := map[string]int64{"Qwen/Qwen3-32B": 262_144, "Qwen/Qwen3-30B-A3B": 98_304, "Qwen/Qwen3.6-27B": 65_536}
	for id, want := range cells {
		model, ok := hardware.Model(id)
		require.True(t, ok, id)
		got, err := attentionOf(model, 2).CellBytes()
		require.NoError(t, err, id)
		require.Equal(t, want, got, id)
	}
	plain, delta := 0, 0
	for _, name := range hardware.ModelNames() {
		model, ok := hardware.Model(name)
		require.True(t, ok, name)
		if model.GroupedQuery() {
			plain++
			_, err := attentionOf(model, 2).CellBytes()
			require.NoError(t, err, name)
		}
		if model.State == nil || model.State.Kind != "gdn" {
			continue
		}
		delta++
		conv, ssm, err := stateOf(model, 4).Parts()
		require.NoError(t, err, name)
		require.Equal(t, model.LayersLinear*model.State.ConvElems*2, conv, name)
		require.Equal(t, model.LayersLinear*model.State.SSMElems*4, ssm, name)
	}
	require.Greater(t, plain, 40)
	require.Greater(t, delta, 8)
}

// TestDerivedState compares slots with what the whole catalogue derives.
func TestDerivedState(t *testing.T) {
	path := filepath.Join("..", "..", "..", "shared", "facts", "models.yaml")
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("../shared/facts/models.yaml is not beside this checkout")
	}
	require.NoError(t, err)
	var file struct {
		Models []struct {
			hardware.ModelEntry `yaml:",inline"`

			Derived struct {
				KVBF16   int64 `yaml:"kv_bytes_per_token_bf16"`
				KVFP8    int64 `yaml:"kv_bytes_per_token_fp8"`
				SlotBF16 int64 `yaml:"state_bytes_per_slot_ssm_bf16"`
				SlotFP32 int64 `yaml:"state_bytes_per_slot_ssm_fp32"`
			} `yaml:"derived"`
		} `yaml:"models"`
	}
	require.NoError(t, yaml.Unmarshal(data, &file))
	slots := 0
	for _, model := range file.Models {
		if model.State == nil || model.State.Kind != "gdn" {
			continue
		}
		slots++
		for elementBytes, want := range map[int64][2]int64{
			2: {model.Derived.KVBF16, model.Derived.SlotBF16},
			1: {model.Derived.KVFP8, 0},
			4: {0, model.Derived.SlotFP32},
		} {
			cell, err := attentionOf(model.ModelEntry, elementBytes).CellBytes()
			require.NoError(t, err, model.ID)
			slot, err := stateOf(model.ModelEntry, elementBytes).SlotBytes()
			require.NoError(t, err, model.ID)
			if want[0] != 0 {
				require.Equal(t, want[0], cell, model.ID)
			}
			if want[1] != 0 {
				require.Equal(t, want[1], slot, model.ID)
			}
		}
	}
	require.Equal(t, 9, slots)
}
