package account_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trimtab/trimtab/hardware"
	"github.com/trimtab/trimtab/internal/account"
	"github.com/trimtab/trimtab/internal/ledger"
)

// Shapes that the catalogue does not hold, as their config.json files say.
const (
	qwen05B = `{"architectures": ["Qwen2ForCausalLM"], "model_type": "qwen2", "hidden_act": "silu", "hidden_size": 896, "intermediate_size": 4864,
		"num_attention_heads": 14, "num_hidden_layers": 24, "num_key_value_heads": 2, "use_sliding_window": false, "tie_word_embeddings": true, "vocab_size": 151936}`
	qwenVL7B = `{"architectures": ["Qwen2_5_VLForConditionalGeneration"], "model_type": "qwen2_5_vl", "hidden_act": "silu", "hidden_size": 3584, "intermediate_size": 18944,
		"num_attention_heads": 28, "num_hidden_layers": 28, "num_key_value_heads": 4, "use_sliding_window": false, "tie_word_embeddings": false, "vocab_size": 152064,
		"vision_config": {"depth": 32, "hidden_size": 1280, "intermediate_size": 3420, "out_hidden_size": 3584, "spatial_merge_size": 2}}`
)

// method is the fact that a checkpoint is quantized so.
func method(name string) map[string]any { return map[string]any{"model.quantization": name} }

const mtp3 = ` --speculative-config {"method":"mtp","num_speculative_tokens":3}`

// loggedServers are the rows of logged_pools.csv that are accounted for, by id:
// release, model and card as the sheet names them, and what its columns do not
// say. A release that is no release is the next older one.
var loggedServers = map[string]server{
	"p286302": {version: "0.10.2", model: "Qwen/Qwen3-30B-A3B", card: "L40S", args: "--enable-expert-parallel", facts: method("fp8")},
	"p859dee": {version: "0.5.18", model: "Qwen/Qwen3.8-27B", card: "H100-SXM", facts: method("fp8")},
	"p4b0494": {version: "0.5.17", model: "Qwen/Qwen3.8-27B", card: "MI355X", facts: method("fp8")},
	"pf2886b": {version: "0.5.17", model: "Qwen/Qwen3-0.6B", card: "MI355X", args: "--context-length 40960"},
	"p1f473d": {version: "0.17.0", model: "Qwen/Qwen3.5-35B-A3B", args: "--enable-prefix-caching --max-num-batched-tokens 4096"},
	"p5cd313": {version: "0.10.2", model: "Qwen/Qwen3-Next-80B-A3B-Thinking", card: "H200", args: "--no-enable-prefix-caching"},
	"pe7b2a5": {version: "0.19.1", model: "zai-org/GLM-5", card: "H200", args: "--enforce-eager", facts: method("fp8")},
	"p78db8b": {version: "0.19.0", model: "Qwen/Qwen3.5-9B", card: "L40S", args: "--no-enable-prefix-caching"},
	"pb018e9": {version: "0.10.0", model: qwenVL7B, card: "L4"},
	"p074d8c": {version: "0.4.10", model: "Qwen/Qwen3-0.6B", card: "RTX 5080", memory: 15.92},
	"p10c7d5": {version: "0.15.1", model: "meta-llama/Llama-3.2-3B-Instruct", card: "RTX 5090 Laptop", memory: 23.89, facts: method("nvfp4")},
	"p37271c": {version: "0.13.0", model: "meta-llama/Llama-3.1-70B-Instruct", facts: method("awq")},
	"p7e9609": {version: "0.11.0", model: "Qwen/Qwen3-30B-A3B"},
	"pf961d7": {version: "0.10.2", model: "Qwen/Qwen3-235B-A22B", args: "--decode-context-parallel-size 2"},
	"p8af8a8": {version: "0.9.2", model: "Qwen/Qwen3-235B-A22B", card: "H100-SXM", facts: method("fp8")},
	"pcfd333": {version: "0.11.0", model: "openai/gpt-oss-120b", card: "H100-SXM", args: "--max-model-len 131072"},
	"p48b56d": {version: "0.28.0", model: "Qwen/Qwen3.8-27B", card: "RTX-PRO-6000-Blackwell", args: "--enable-prefix-caching" + mtp3, facts: method("nvfp4")},
	"pc98cf2": {version: "0.28.0", model: "Qwen/Qwen3.8-27B", card: "RTX-PRO-6000-Blackwell", args: "--enable-prefix-caching" + mtp3, facts: method("nvfp4")},
	"pa9fdd8": {version: "0.29.0", model: "MiniMaxAI/MiniMax-M2.7", card: "DGX-Spark-GB10", facts: method("awq")},
	"p0f28d6": {version: "0.24.0", model: "Qwen/Qwen3.6-27B", args: "--enable-prefix-caching --kv-cache-dtype fp8" + mtp3},
	"p78609c": {version: "0.22.0", model: "Qwen/Qwen3.6-27B", args: "--enable-prefix-caching" + mtp3},
	"p93c52a": {version: "0.20.1", model: "Qwen/Qwen3.6-27B", args: "--enable-prefix-caching" + mtp3},
	"p293156": {version: "0.24.0", model: "Qwen/Qwen3.6-35B-A3B", args: "--enable-prefix-caching"},
	"p2d209e": {version: "0.24.0", model: "Qwen/Qwen3.6-35B-A3B", args: "--enable-prefix-caching"},
	"p398d36": {version: "0.11.0", model: "mistralai/Mistral-7B-Instruct-v0.3", card: "DGX-Spark-GB10", facts: method("awq")},
	"p8f6fcd": {version: "0.18.0", model: "Qwen/Qwen3.5-35B-A3B", card: "DGX-Spark-GB10", args: "--enable-prefix-caching", facts: method("fp8")},
	"p8e575c": {version: "0.10.2", model: "Qwen/Qwen3-235B-A22B", args: "--enable-expert-parallel", facts: method("awq")},
	"p483442": {version: "0.16.0", model: qwen05B, card: "RX 7900 GRE", memory: 15.98, args: "--enforce-eager --dtype half", facts: map[string]any{"gpu.vendor": "amd"}},
	"p484df8": {version: "0.5.10", model: "Qwen/Qwen3.5-9B", card: "RTX-4090"},
	"p55d038": {version: "0.5.11", model: "Qwen/Qwen3.6-27B", facts: method("fp8")},
	"p2f01a7": {version: "0.5.9", model: "moonshotai/Kimi-K2.5", card: "MI355X", args: "--attention-backend triton", stored: &hardware.Weights{Bits: 4, GroupSize: 32, ScaleBits: 16}},
	"p0965d9": {version: "0.5.9", model: "zai-org/GLM-4.7-Flash"},
	"peb1b9c": {version: "0.4.6", model: "meta-llama/Llama-3.1-8B-Instruct"},
	"p156a72": {version: "0.5.10", model: "Qwen/Qwen3.5-35B-A3B", facts: method("awq")},
	"pa7447d": {version: "0.4.10", model: "deepseek-ai/DeepSeek-R1", card: "B200"},
	"p47f4d2": {version: "0.5.4", model: "deepseek-ai/DeepSeek-V3.2", card: "B200", args: "--dp-size 8 --enable-dp-attention"},
	"p6cd524": {version: "0.15.1", model: "meta-llama/Llama-3.1-8B-Instruct", card: "A100-40GB"},
	"p5d25fd": {version: "0.19.0", model: "Qwen/Qwen2.5-7B", facts: method("awq")},
	"pc686f3": {version: "0.19.1", model: "google/gemma-4-26B-A4B-it", facts: method("nvfp4")},
	"p37e377": {version: "0.20.0", model: "openai/gpt-oss-120b", args: "--max-model-len 131072 --max-num-batched-tokens 8192"},
	"pd0983b": {version: "0.25.0", model: "Qwen/Qwen3.6-27B", args: "--enable-prefix-caching" + mtp3},
}

// unaccounted are the rows that are not predicted, and the input that is
// missing.
var unaccounted = map[string]string{
	"p53b6cc": "a release of the catalogue: 0.6 runs the V0 engine (its budget is checked in TestStatedReserves)",
	"p880e2c": "gpu.name; a release of the catalogue",
	"p46dfad": "a release of the V1 engine (its budget is checked in TestStatedReserves)",
	"pb56288": "a release of the V1 engine (its budget is checked in TestStatedReserves)",
	"p9c4edd": "a release of the V1 engine (its budget is checked in TestStatedReserves)",
	"p7487bd": "a release of the catalogue (its budget is checked in TestStatedReserves)",
	"pa456ac": "a release of the catalogue; the pool and the tokens are of two ranks",
	"pcfff22": "an account of DeepSeek-V4's attention", "p447495": "an account of DeepSeek-V4's attention",
	"pac7603": "an account of DeepSeek-V4's attention", "p195326": "an account of DeepSeek-V4's attention", "p806439": "an account of DeepSeek-V4's attention",
	"p9b86ce": "an account of DeepSeek-V4's attention", "pf4899f": "an account of DeepSeek-V4's attention",
	"p6ab471": "an account of the draft model", "p96a51a": "an account of the draft model", "pabe18c": "an account of the draft model",
	"p7cdde5": "an account of MiMo's attention, whose windows have heads of their own", "p600dba": "an account of MiMo's attention",
	"p90ecad": "an account of MiMo's attention", "pf2d7c4": "an account of MiMo's attention",
	"p1d2d56": "model.config of LFM2", "p8f8e93": "model.config of MiniCPM-SALA", "p3e414d": "model.config of Kimi-Linear",
	"pa9ec91": "model.config of Gemma-4-31B", "p95fe82": "model.config of Gemma-4-31B",
	"pb1c111": "model.config of GLM-5.3-Flash", "p2a0dcd": "model.config of GLM-5.3-Flash", "pf7399c": "model.config of GLM-5.3-Flash",
	"p948de5": "model.name, which was inferred from the pool", "pc94fb5": "model.name, which was inferred from the pool",
}

// offered are refused starts whose tokens are the longest length that the
// engine offers instead, and rows whose pool and tokens are of different ranks.
var oddTokens = []string{"p8af8a8"}

// TestLoggedPools predicts what each start of the sheet logged, and holds every
// error against the bound of its row.
func TestLoggedPools(t *testing.T) {
	seen, checked := 0, 0
	for _, row := range sheet(t, "logged_pools") {
		id := row["id"]
		s, ok := loggedServers[id]
		if !ok {
			require.NotEmpty(t, unaccounted[id], "%s is neither predicted nor named", id)
			t.Logf("%s not predicted without %s", id, unaccounted[id])
			continue
		}
		seen++
		s.engine = row["engine"]
		s.args = strings.Join(append(flags(row, s.engine), s.args), " ")
		checked += fromNothing(t, row, s)
		checked += fromBytes(t, row, s)
		checked += fromTokens(t, row, s)
	}
	require.Equal(t, len(loggedServers), seen, "a server has no row")
	t.Logf("%d figures of %d starts", checked, seen)
	require.Greater(t, checked, 60)
}

// hold prints a prediction and demands that its bound holds, beyond the half of
// the last digit that was logged.
func hold(t *testing.T, id, what string, predicted, logged, bound, half float64) {
	t.Helper()
	off := predicted/logged - 1
	t.Logf("%s %-28s predicted %14.3f logged %14.3f error %+8.3f %% bound %6.2f %%", id, what, predicted, logged, 100*off, 100*bound)
	assert.LessOrEqual(t, math.Abs(predicted-logged), bound*math.Abs(predicted)+half, "%s %s", id, what)
}

// fromNothing predicts weights and pools from model, card and settings alone.
func fromNothing(t *testing.T, row map[string]string, s server) (checked int) {
	if s.card == "" {
		return 0
	}
	a := s.draw(t)
	for column, name := range map[string]string{"log_weights_gib": ledger.Weights, "log_kv_gib": ledger.KV} {
		if row[column] == "" {
			continue
		}
		predicted := rowOf(t, a, name)
		if predicted.Bytes == nil {
			t.Logf("%s %s from nothing is not predicted without %s", row["id"], name, strings.Join(a.Needs, ", "))
			continue
		}
		checked++
		hold(t, row["id"], name+" GiB from nothing", float64(*predicted.Bytes)/gib, figure(t, row[column]), predicted.Bound, halfDigit(row[column]))
	}
	kv := rowOf(t, a, ledger.KV)
	if row["log_kv_gib"] == "" && row["log_kv_tokens"] != "" && kv.Tokens != nil {
		checked++
		hold(t, row["id"], "tokens from nothing", float64(*kv.Tokens), figure(t, row["log_kv_tokens"]), kv.Bound, 0)
	}
	return checked
}

// fromBytes predicts tokens and slots from the bytes that were logged.
func fromBytes(t *testing.T, row map[string]string, s server) (checked int) {
	if row["log_kv_gib"] == "" || row["log_kv_tokens"] == "" || s.engine != "vllm" || slices.Contains(oddTokens, row["id"]) {
		return 0
	}
	s.facts = with(s.facts, "measured.kvBytes", row["log_kv_gib"]+"Gi")
	a := s.draw(t)
	require.NotNil(t, a.Capacity, "%s needs %v", row["id"], a.Needs)
	hold(t, row["id"], "tokens from bytes", float64(a.Capacity.Value), figure(t, row["log_kv_tokens"]), a.Capacity.Bound(), 0)
	if row["log_blocks"] != "" {
		kv := rowOf(t, a, ledger.KV)
		require.Contains(t, strings.Join(kv.Inputs, "; "), "blocks = ")
	}
	return 1
}

// fromTokens takes the tokens as measured: bytes, concurrency, requests.
func fromTokens(t *testing.T, row map[string]string, s server) (checked int) {
	if row["log_kv_tokens"] == "" {
		return 0
	}
	known := with(s.facts, "measured.kvTokens", int64(figure(t, row["log_kv_tokens"])))
	if row["log_mamba_slots"] != "" {
		known = with(known, "measured.mambaSlots", int64(figure(t, row["log_mamba_slots"])))
		if s.engine == "sglang" && !strings.Contains(s.args, "--max-mamba-cache-size") {
			s.args += " --max-mamba-cache-size " + row["log_mamba_slots"]
		}
	}
	s.facts = known
	a := s.draw(t)
	require.Empty(t, a.Misfits, row["id"])
	for column, name := range map[string]string{"log_kv_gib": ledger.KV, "log_mamba_gib": ledger.Mamba} {
		predicted := rowOf(t, a, name)
		if row[column] == "" || predicted.Bytes == nil || slices.Contains(oddTokens, row["id"]) {
			continue
		}
		checked++
		half := 2 * halfDigit(row[column]) // K and V, conv and ssm are logged apart
		if blocks := blocksOf(t, predicted); blocks > 0 {
			half = halfDigit(row[column]) + float64(*predicted.Bytes)/blocks/gib // what is left of the pool is less than a block
		}
		hold(t, row["id"], name+" GiB from counts", float64(*predicted.Bytes)/gib, figure(t, row[column]), predicted.Bound, half)
	}
	if row["log_concurrency"] != "" && s.engine == "vllm" {
		checked++
		hold(t, row["id"], "concurrency", concurrency(t, a), figure(t, row["log_concurrency"]), rowOf(t, a, ledger.KV).Bound, halfDigit(row["log_concurrency"])+1e-9)
	}
	if row["log_max_running"] != "" && a.Requests != nil {
		checked++
		require.Equal(t, int64(figure(t, row["log_max_running"])), *a.Requests, "%s: %s", row["id"], a.Because)
	}
	return checked
}

// blocksOf reads the number of blocks among the inputs of vLLM's row; 0 else.
func blocksOf(t *testing.T, row ledger.Row) float64 {
	for _, input := range row.Inputs {
		if text, ok := strings.CutPrefix(input, "blocks = "); ok {
			return figure(t, strings.ReplaceAll(text, ",", ""))
		}
	}
	return 0
}

func with(facts map[string]any, name string, value any) map[string]any {
	more := map[string]any{name: value}
	for key, known := range facts {
		more[key] = known
	}
	return more
}

// concurrency is what the plan says of requests of the full length.
func concurrency(t *testing.T, a *account.Account) float64 {
	plan, err := a.Plan("")
	require.NoError(t, err)
	for _, rate := range plan.Rates {
		if text, ok := strings.CutPrefix(rate, "concurrency at full length: "); ok {
			number, _, _ := strings.Cut(text, " ")
			return figure(t, number)
		}
	}
	t.Fatalf("no concurrency: %v, needs %v", plan.Rates, plan.Needs)
	return 0
}

// TestStatedReserves: where weights, activations and the rest are logged, the
// pool is what is left of the share of the card, to the rounding of the log.
func TestStatedReserves(t *testing.T) {
	logged := map[string]map[string]string{}
	for _, row := range sheet(t, "logged_pools") {
		logged[row["id"]] = row
	}
	for id, c := range map[string]struct {
		budget, weights, others float64 // GiB, as the log says
		figures                 float64
		cell                    ledger.Attention
	}{
		"p46dfad": {18.28, 0.52, 0.07 + 1.61, 4, ledger.Attention{Layers: 24, KVHeads: 2, KeyDim: 64, ValueDim: 64, Element: ledger.TwoBytes, TP: 1}},
		"pb56288": {6.89, 3.2637, 0.02 + 1.22, 4, ledger.Attention{Layers: 28, KVHeads: 8, KeyDim: 128, ValueDim: 128, Element: ledger.TwoBytes, TP: 1}},
		"p9c4edd": {13.18, 6.016, 0.05 + 0.90, 4, ledger.Attention{Layers: 28, KVHeads: 8, KeyDim: 128, ValueDim: 128, Element: ledger.TwoBytes, TP: 1}},
		"p7487bd": {139.80 * 0.90, 0, 2.38 + 0.73, 3, ledger.Attention{Layers: 22, KVHeads: 4, KeyDim: 64, ValueDim: 64, Element: ledger.TwoBytes, TP: 1}},
		"p7cdde5": {83.05 * 0.95, 43.21, 0.92, 3, ledger.Attention{}},
	} {
		row := logged[id]
		pool := int64((c.budget - c.weights - c.others) * gib)
		hold(t, id, "KV GiB, reserve stated", float64(pool)/gib, figure(t, row["log_kv_gib"]), 0, c.figures*0.005+halfDigit(row["log_kv_gib"]))
		if c.cell.Layers == 0 {
			continue
		}
		cell, err := c.cell.CellBytes()
		require.NoError(t, err)
		paged, err := ledger.NewPaged(16, ledger.LayerSet{Layers: c.cell.Layers, TokenBytes: cell / c.cell.Layers})
		require.NoError(t, err)
		tokens := paged.Blocks(pool) * 16
		bound := (c.figures*0.005 + 0.005) * gib / float64(pool)
		hold(t, id, "tokens, reserve stated", float64(tokens), figure(t, row["log_kv_tokens"]), bound, 16)
	}
}
