package account_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trimtab/trimtab/internal/account"
	"github.com/trimtab/trimtab/internal/config"
	"github.com/trimtab/trimtab/internal/ledger"
)

// twoStages is a 32B model in two pipeline stages on two V100.
func twoStages(fraction string, known map[string]any) server {
	return server{engine: "vllm", version: "0.11.0", model: "Qwen/Qwen3-32B", card: "V100-32GB", facts: with(known, "model.quantization", "awq"),
		args: "--pipeline-parallel-size 2 --max-num-seqs 4 --dtype half --max-model-len 131072 --gpu-memory-utilization " + fraction}
}

// TestTwoStages: both ranks hold keys and values of the same tokens, and a larger
// share of the card is worth whole blocks.
func TestTwoStages(t *testing.T) {
	a := twoStages("0.90", map[string]any{"measured.kvTokens": int64(152432)}).draw(t)
	plan, err := a.Plan("v100-32gb")
	require.NoError(t, err)
	require.Len(t, plan.GPUs, 2)
	require.Equal(t, int64(152432), *plan.Tokens)
	for _, gpu := range plan.GPUs {
		for _, row := range gpu.Rows {
			if row.Name == ledger.KV {
				require.Equal(t, []any{int64(19_979_567_104), int64(152432), ledger.Measured}, []any{*row.Bytes, *row.Tokens, row.Source})
				require.Contains(t, row.Inputs, "blocks = 9,527")
			}
		}
	}
	tokens, ok := a.AtFraction(0.95)
	require.True(t, ok)
	require.Equal(t, int64(165_424), tokens)
	tokens, ok = a.AtFraction(0.90)
	require.True(t, ok)
	require.Equal(t, int64(152_432), tokens)

	mix := []config.Prompt{{Tokens: 64500, Output: 1000, Running: 2}, {Tokens: 8000, Output: 2000, Running: 3}}
	demand, ok := a.DemandOf(mix)
	require.True(t, ok)
	require.Equal(t, []int64{5, 161_000}, []int64{demand.Requests, demand.Tokens})
	require.Equal(t, int64(1057), account.Share(demand.Taken, demand.Held.Value))
	held, _, ok := a.HeldAt(0.95)
	require.True(t, ok)
	require.Equal(t, int64(973), account.Share(demand.Taken, held))
	require.Equal(t, int64(4), a.Largest(mix))
}

func TestShareIsRoundedAwayFromTheWhole(t *testing.T) {
	for _, c := range [][3]int64{{10_001, 10_000, 1001}, {9_999, 10_000, 999}, {10_000, 10_000, 1000}, {0, 10, 0}} {
		require.Equal(t, c[2], account.Share(c[0], c[1]))
	}
}

// TestMeasuredBytesAlone: what the log says of bytes bounds the tokens.
func TestMeasuredBytesAlone(t *testing.T) {
	a := twoStages("0.90", map[string]any{"measured.kvBytes": "18.61Gi"}).draw(t)
	require.InEpsilon(t, 152432, a.Capacity.Value, a.Capacity.Bound())
	require.Less(t, a.Capacity.Bound(), 0.001)
	b := server{engine: "sglang", version: "0.5.16", model: "Qwen/Qwen3-8B", card: "L4", facts: map[string]any{"measured.kvBytes": "8.00Gi"}}.draw(t)
	require.InEpsilon(t, float64(8<<30)/147_456, b.Capacity.Value, 0.002)
}

// TestOwnRatio: where no formula tells, a measured pool moves by what it was
// measured to take.
func TestOwnRatio(t *testing.T) {
	a := server{engine: "vllm", version: "0.20.0", card: "H100-SXM", args: "--gpu-memory-utilization 0.8",
		facts: map[string]any{"measured.kvTokens": int64(100_000), "measured.kvBytes": "10.00Gi"}}.draw(t)
	require.Nil(t, a.Cell)
	tokens, ok := a.AtFraction(0.9)
	require.True(t, ok)
	require.InEpsilon(t, 100_000*(1+0.1*78.8/10), tokens, 0.01)
	require.Equal(t, int64(10<<30), *rowOf(t, a, ledger.KV).Bytes)
}

// TestDefaultFraction: what SGLang takes of a card by itself, as measured on the
// engine for a dense model with one and with eight ranks.
func TestDefaultFraction(t *testing.T) {
	for _, c := range []struct {
		gib            float64
		version, ranks string
		vendor         string
		want           float64
	}{
		{16, "0.5.10", "1", "nvidia", 0.752}, {24, "0.5.16", "1", "nvidia", 0.833}, {24, "0.5.23", "1", "nvidia", 0.704}, {24, "0.5.23", "8", "nvidia", 0.658},
		{32, "0.5.10", "8", "nvidia", 0.844}, {32, "0.5.20", "1", "nvidia", 0.778}, {48, "0.5.16", "1", "nvidia", 0.853}, {64, "0.5.10", "1", "nvidia", 0.788},
		{80, "0.5.16", "1", "nvidia", 0.83}, {80, "0.5.20", "8", "nvidia", 0.813}, {141, "0.5.16", "1", "nvidia", 0.904}, {180, "0.5.16", "8", "nvidia", 0.85},
		{288, "0.5.23", "1", "nvidia", 0.909}, {16, "0.5.10", "1", "amd", 0.656 / 0.85}, {80, "0.5.16", "8", "amd", 0.696 / 0.85}, {192, "0.5.23", "1", "amd", 0.737 / 0.85},
	} {
		a := server{engine: "sglang", version: c.version, model: "meta-llama/Llama-3.1-8B-Instruct", args: "--tp-size " + c.ranks,
			facts: map[string]any{"gpu.memory": int64(c.gib * gib), "gpu.vendor": c.vendor}}.draw(t)
		require.InDelta(t, c.want, a.Fraction(), 0.0011, "%v GiB %s %s ranks %s", c.gib, c.version, c.ranks, c.vendor)
	}
}

// TestGraphsByRelease: vLLM takes graphs out of the pool from 0.20.0, and not on
// ROCm.
func TestGraphsByRelease(t *testing.T) {
	place := func(version, vendor, args string) string {
		row := rowOf(t, server{engine: "vllm", version: version, model: "Qwen/Qwen3-8B", card: "L40S", args: args, facts: map[string]any{"gpu.vendor": vendor}}.draw(t), ledger.Graphs)
		return strings.Join(row.Inputs, "") + fmt.Sprint(" ", row.Bytes != nil && *row.Bytes == 0)
	}
	require.Equal(t, "beside what the engine takes false", place("0.19.1", "nvidia", ""))
	require.Equal(t, "out of what the engine takes false", place("0.20.0", "nvidia", ""))
	require.Equal(t, "beside what the engine takes false", place("0.20.0", "amd", ""))
	require.Equal(t, "out of what the engine takes true", place("0.20.0", "nvidia", "--enforce-eager"))
}
