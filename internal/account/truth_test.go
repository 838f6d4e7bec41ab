package account_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trimtab/trimtab/internal/account"
	"github.com/trimtab/trimtab/internal/ledger"
)

// fleet is one public fleet: a 27B hybrid on one card.
func fleet(args string, known map[string]any) server {
	return server{engine: "vllm", version: "0.24.0", model: "Qwen/Qwen3.6-27B", args: "--enable-prefix-caching " + args, facts: known}
}

const (
	fp8   = "--kv-cache-dtype fp8 "
	small = fp8 + "--mamba-ssm-cache-dtype bfloat16 "
	mtp   = ` --speculative-config {"method":"mtp","num_speculative_tokens":`
)

// tokensLogged are the rows of ground_truth.csv with a pool and its tokens.
var tokensLogged = map[string]struct{ pool, args string }{
	"ae5d405b8 9 GiB, L 221,612":                          {"9Gi", small + "--max-model-len 221612"},
	"0a81fb284 7 GiB, L 221,612":                          {"7Gi", small + "--max-model-len 221612"},
	"bc7a9a484 5 GiB, L 148,000":                          {"5Gi", small + "--max-model-len 148000"},
	"bc7a9a484 5 GiB, L 112,000, SSM bf16":                {"5Gi", small + "--max-model-len 112000"},
	"5770d6902 6 GiB, L 112,000":                          {"6Gi", small + "--max-model-len 112000"},
	"5770d6902 3.22 GiB (logged), L 98,000":               {"3.22Gi", small + "--max-model-len 98000"},
	"d24c4c34b 4 GiB, L 112,000":                          {"4Gi", small + "--max-model-len 112000"},
	"871966389 4,691,494,912 B, L 112,000":                {"4691494912", small + "--max-model-len 112000"},
	"4046ed3cb 9 GiB, L 246,944":                          {"9Gi", small + "--max-model-len 246944"},
	"4046ed3cb 9 GiB, L 249,477":                          {"9Gi", small + "--max-model-len 249477"},
	"d2af75443 fp16 KV 7.46 GiB (logged), L 32,768":       {"7.46Gi", "--max-model-len 32768"},
	"346821e45 EXP-005 MTP4, 8.55 GiB: longest L":         {"8.55Gi", fp8 + "--max-model-len 262144" + mtp + "4}"},
	"fd8992f42 8.33 GiB, L 131,072: concurrency":          {"8.33Gi", fp8 + "--max-model-len 131072"},
	"346821e45 EXP-005 MTP4, GiB needed for 262,144":      {"", fp8 + "--max-model-len 262144" + mtp + "4}"},
	"a48512219 MTP4, GiB needed for 234,320":              {"", fp8 + "--max-model-len 234320" + mtp + "4}"},
	"346821e45 EXP-001 fp8, L 32,768 (n = 162)":           {"n = 162", fp8 + "--max-model-len 32768"},
	"346821e45 EXP-003 MTP4, seqs 32, L 32,768 (n = 141)": {"n = 141", fp8 + "--max-model-len 32768" + mtp + "4}"},
	"10da748b8 no MTP, L 234,320 (n = 192)":               {"n = 192", fp8 + "--max-model-len 234320"},
	"346821e45 EXP-013 MTP5, same n = 163: longest L":     {"n = 163", fp8 + "--max-model-len 262144" + mtp + "5}"},
	"ecb9850d5 MTP2: longest L (n = 170)":                 {"n = 170", fp8 + "--max-model-len 262144" + mtp + "2}"},
}

// TestGroundTruth predicts what the fleet's vLLM logged, from the bytes of each
// pool, or from its number of blocks where the bytes were solved from the log.
func TestGroundTruth(t *testing.T) {
	seen := 0
	for _, row := range sheet(t, "ground_truth") {
		if row["engine"] != "vllm" || row["metric"] != "kv_pool" || row["basis"] == "measurement" {
			continue
		}
		name := row["commit"] + " " + row["setting"]
		c, ok := tokensLogged[name]
		require.True(t, ok, "no prediction for %q", name)
		seen++
		args, known := c.args, map[string]any{}
		if blocks, given := strings.CutPrefix(c.pool, "n = "); given {
			args += " --num-gpu-blocks-override " + blocks
		} else if c.pool != "" {
			known["measured.kvBytes"] = c.pool
		}
		a := fleet(args, known).draw(t)
		predicted, bound := truthOf(t, a, row)
		hold(t, row["commit"], row["setting"], predicted, figure(t, row["measured"]), bound, map[bool]float64{true: halfDigit(row["measured"])}[row["unit"] != "tokens"])
	}
	require.Equal(t, len(tokensLogged), seen, "a prediction has no row")
}

// truthOf is the figure that a row logs, and its bound.
func truthOf(t *testing.T, a *account.Account, row map[string]string) (figure, bound float64) {
	t.Helper()
	switch setting := row["setting"]; {
	case strings.Contains(setting, "longest L"):
		longest, ok := a.Longest(*a.Length)
		require.True(t, ok)
		return float64(longest.Value), longest.Bound()
	case strings.Contains(setting, "GiB needed"):
		bytes, ok := a.BytesFor(*a.Length)
		require.True(t, ok, a.Needs)
		return float64(bytes) / gib, 0
	case row["unit"] == "x":
		return concurrency(t, a), rowOf(t, a, ledger.KV).Bound
	}
	require.NotNil(t, a.Capacity, "%s needs %v", row["setting"], a.Needs)
	return float64(a.Capacity.Value), a.Capacity.Bound()
}
