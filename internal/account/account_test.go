package account_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trimtab/trimtab/hardware"
	"github.com/trimtab/trimtab/internal/account"
	"github.com/trimtab/trimtab/internal/argv"
	"github.com/trimtab/trimtab/internal/catalogue"
	"github.com/trimtab/trimtab/internal/engine"
	"github.com/trimtab/trimtab/internal/facts"
	"github.com/trimtab/trimtab/internal/ledger"
	"github.com/trimtab/trimtab/internal/setting"
)

// hybrid is the account of Qwen3.6-27B on SGLang with some arguments and facts.
func hybrid(t *testing.T, version string, known map[string]any, args ...string) *account.Account {
	t.Helper()
	sglang, err := catalogue.Load("sglang")
	require.NoError(t, err)
	release, ok := sglang.Find(version)
	require.True(t, ok)
	knowledge, err := engine.Load("sglang")
	require.NoError(t, err)
	var words []setting.Word
	for _, arg := range append([]string{"--model-path", "/m"}, args...) {
		words = append(words, setting.Word{Text: arg})
	}
	line := argv.Parse(sglang, release, argv.Launch, words)
	require.Empty(t, line.Problems)
	shape, ok := hardware.Model("Qwen/Qwen3.6-27B")
	require.True(t, ok)
	set := facts.Set{"model.architecture": {Value: shape.Architectures[0]}}
	for name, value := range known {
		set[name] = facts.Fact{Value: value}
	}
	state := engine.NewState(sglang, knowledge, release, line.Settings, set, "")
	drawn, err := account.Of(state, &facts.Gathered{Set: set, Shape: &shape})
	require.NoError(t, err)
	return drawn
}

var (
	seed     = []string{"--max-mamba-cache-size", "60", "--disable-overlap-schedule", "--kv-cache-dtype", "fp8_e4m3", "--mamba-ssm-dtype", "bfloat16"}
	measured = map[string]any{"measured.kvTokens": int64(183240), "measured.kvBytes": "5.60Gi", "measured.mambaSlots": int64(60), "measured.mambaBytes": "4.46Gi"}
)

func TestMeasuredPool(t *testing.T) {
	a := hybrid(t, "0.5.16", measured, seed...)
	require.Equal(t, int64(183240), *a.Tokens)
	require.Equal(t, ledger.Measured, a.TokensSource)
	require.Equal(t, int64(20), *a.Requests)
	require.Equal(t, int64(3), *a.Ratio)
	tokens, slot, cell, ok := a.Resized(48)
	require.True(t, ok)
	require.Equal(t, []int64{211968, 78446592, 32768}, []int64{tokens, slot, cell})
}

func TestPoolIsCarriedOverToTheSlotsThatAreSet(t *testing.T) {
	args := append([]string{}, seed...)
	args[1] = "48"
	a := hybrid(t, "0.5.16", measured, args...)
	require.Equal(t, int64(211968), *a.Tokens)
	require.Equal(t, ledger.Computed, a.TokensSource)
	require.Equal(t, int64(16), *a.Requests)
}

func TestLoggedBytesThatDisagreeStopTheAccount(t *testing.T) {
	for name, logged := range map[string]string{"measured.kvBytes": "5.62Gi", "measured.mambaBytes": "4.40Gi"} {
		known := map[string]any{}
		for fact, value := range measured {
			known[fact] = value
		}
		known[name] = logged
		a := hybrid(t, "0.5.16", known, seed...)
		require.Nil(t, a.Tokens, name)
		require.Contains(t, a.Needs[len(a.Needs)-1], name)
	}
}

func TestNothingIsGuessed(t *testing.T) {
	a := hybrid(t, "0.5.16", nil, "--max-mamba-cache-size", "60")
	require.Nil(t, a.Tokens)
	require.Nil(t, a.Cell, "auto on a checkpoint whose type is not known")
	require.Subset(t, a.Needs, []string{"model.dtype", "measured.kvTokens"})
	_, _, _, ok := a.Resized(48)
	require.False(t, ok)
}

func TestPlanShowsEveryRankAndTheCeiling(t *testing.T) {
	counts := map[string]any{"measured.kvTokens": int64(183240), "measured.mambaSlots": int64(60)}
	plan, err := hybrid(t, "0.5.16", counts, append([]string{"--tp-size", "2"}, seed...)...).Plan("r9700")
	require.NoError(t, err)
	require.Len(t, plan.GPUs, 2)
	var names []string
	for _, row := range plan.GPUs[1].Rows {
		names = append(names, row.Name)
	}
	require.Equal(t, []string{"card", "engine", "weights", "graphs", "kv", "mamba", "free"}, names)
	require.Equal(t, int64(20), *plan.Ceiling.Requests)
}

// Figures that no such server can have are not taken at face value.
func TestMeasuredFiguresThatCannotBe(t *testing.T) {
	card := map[string]any{"gpu.memory": int64(32) << 30}
	tests := []struct {
		name  string
		known map[string]any
		want  string
	}{
		{"slots for a rack", map[string]any{"measured.mambaSlots": int64(1_000_000)}, "measured.kvTokens and measured.mambaSlots that fit into the 34,359,738,368 B of the GPU"},
		{"slots alone", map[string]any{"measured.mambaSlots": int64(1_000_000), "measured.kvTokens": nil}, "measured.mambaSlots that fit into the 34,359,738,368 B of the GPU"},
		{"slots on a card nobody named", map[string]any{"measured.mambaSlots": int64(1_000_000), "gpu.memory": nil}, "of any GPU"},
		{"tokens for a rack", map[string]any{"measured.kvTokens": int64(2_000_000)}, "that fit into"},
		{"one token", map[string]any{"measured.kvTokens": int64(1)}, "measured.kvTokens of at least 7: 1 cannot be"},
		{"fewer tokens than requests", map[string]any{"measured.kvTokens": int64(15), "workload.peakRunning": int64(16)}, "measured.kvTokens of at least 16"},
		{"no room for the slots that are set", map[string]any{"measured.kvTokens": int64(100), "measured.mambaSlots": int64(1)}, "measured.kvTokens that leave room for 60 mamba slots"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			known := map[string]any{"measured.kvTokens": int64(183240), "measured.mambaSlots": int64(60)}
			for _, facts := range []map[string]any{card, test.known} {
				for name, value := range facts {
					known[name] = value
				}
			}
			a := hybrid(t, "0.5.16", known, seed...)
			require.Nil(t, a.Tokens)
			require.Len(t, a.Misfits, 1)
			require.Contains(t, a.Misfits[0], test.want)
			require.Subset(t, a.Needs, a.Misfits)
		})
	}
	require.Empty(t, hybrid(t, "0.5.16", map[string]any{"measured.kvTokens": int64(183240), "measured.mambaSlots": int64(60), "gpu.memory": int64(32) << 30}, seed...).Misfits)
}
