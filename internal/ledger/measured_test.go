package ledger_test

import (
	"compress/gzip"
	"encoding/csv"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trimtab/trimtab/internal/ledger"
)

const (
	gib = 1 << 30
	gb  = 1e9
	// cardBytes is the R9700 of the measured fleet: 31.86 GiB.
	cardBytes = int64(3186 * gib / 100)
)

// sheet reads a sheet of logged figures; rows are maps by column.
func sheet(t *testing.T, name string) []map[string]string {
	file, err := os.Open(filepath.Join("..", "account", "testdata", name+".gz"))
	require.NoError(t, err)
	defer file.Close()
	plain, err := gzip.NewReader(file)
	require.NoError(t, err)
	lines, err := csv.NewReader(plain).ReadAll()
	require.NoError(t, err)
	var rows []map[string]string
	for _, line := range lines[1:] {
		row := map[string]string{}
		for i, column := range lines[0] {
			row[column] = line[i]
		}
		rows = append(rows, row)
	}
	return rows
}

func number(t *testing.T, text string) float64 {
	n, err := strconv.ParseFloat(text, 64)
	require.NoError(t, err)
	return n
}

// prediction is what the formulas say of one row, in its unit, and the error
// we stand for beyond the rounding of the logged figure.
type prediction struct {
	value, bound float64
}

// exchanged moves a measured pool; frac is the change of the memory fraction.
func exchanged(t *testing.T, measured int64, from, to ledger.Pool, frac ...float64) float64 {
	freed := int64(0)
	if len(frac) == 2 {
		var err error
		freed, err = ledger.FractionBytes(cardBytes, frac[0], frac[1])
		require.NoError(t, err)
	}
	tokens, err := ledger.Exchange(measured, from, to, freed)
	require.NoError(t, err)
	return float64(tokens)
}

// predictions are keyed by commit and setting of the sheet's rows. Each starts
// from another measured row, or from nothing but the shape.
func predictions(t *testing.T) map[string]prediction {
	bf16, fp32, cell := slotOf(t, 2), slotOf(t, 4), cellOf(t, 1)
	pool := func(slots, slotBytes, cellBytes int64) ledger.Pool {
		return ledger.Pool{Slots: slots, SlotBytes: slotBytes, CellBytes: cellBytes}
	}
	allocated := func(slots int64) float64 {
		bytes, err := pool(slots, bf16, cell).Allocated()
		require.NoError(t, err)
		return float64(bytes)
	}
	_, ssm, err := state(4).Parts()
	require.NoError(t, err)
	return map[string]prediction{
		"acd924a35 state GiB of 60 + 1 slots (bf16 SSM)": {allocated(60) / gib, 0},
		"7e6bd5687 60 -> 48 slots: tokens":               {exchanged(t, 183_240, pool(60, bf16, cell), pool(48, bf16, cell)), 0},
		// the pool before is known as "127K" alone
		"626dbaa7c SSM fp32 -> bf16, 48 slots: tokens":               {exchanged(t, 127_000, pool(48, fp32, cell), pool(48, bf16, cell)), ledger.ExchangeBound},
		"8419715b5 SSM only, 49 slots fp32, GiB":                     {49 * float64(ssm) / gib, 0},
		"7e6bd5687 mem-fraction 0.90 -> 0.875 (31.86 GiB), 48 slots": {exchanged(t, 237_446, pool(48, bf16, cell), pool(48, bf16, cell), 0.90, 0.875), ledger.FractionBound},
		"3dbd86ace mem-fraction 0.875 -> 0.95 (31.86 GiB), 60 slots": {exchanged(t, 183_240, pool(60, bf16, cell), pool(60, bf16, cell), 0.875, 0.95), ledger.FractionBound},
		"3dbd86ace host state GB, 91 slots":                          {allocated(90) / gb, 0},
		"a6db519fe host state GB, 73 slots":                          {allocated(72) / gb, 0},
		"3dbd86ace host KV GB, ratio 1.5 of 261,019":                 {261_019 * 1.5 * float64(cell) / gb, 0},
		"fd8992f42 KV bf16 from fp8 (212,220 / 2)":                   {exchanged(t, 212_220, pool(48, bf16, cell), pool(48, bf16, cellOf(t, 2))), ledger.ExchangeBound},
	}
}

// TestGroundTruth predicts every SGLang pool of the sheet that has a formula.
func TestGroundTruth(t *testing.T) {
	known, seen := predictions(t), 0
	for _, row := range sheet(t, "ground_truth.csv") {
		if row["engine"] != "sglang" || row["metric"] != "kv_pool" || row["basis"] == "measurement" {
			continue
		}
		name := row["commit"] + " " + row["setting"]
		predicted, ok := known[name]
		require.True(t, ok, "no prediction for %q", name)
		seen++
		measured := number(t, row["measured"])
		half := 0.0 // of the last digit that was logged
		if row["unit"] != "tokens" {
			half = math.Pow10(-decimals(row["measured"])) / 2
		}
		off := predicted.value/measured - 1
		t.Logf("%-64s predicted %12.3f measured %10s %-6s error %+.3f %%", name, predicted.value, row["measured"], row["unit"], 100*off)
		require.LessOrEqual(t, math.Abs(predicted.value-measured), half+predicted.bound*measured, name)
	}
	require.Equal(t, len(known), seen, "a prediction has no row")
}

func decimals(text string) int {
	for i := range text {
		if text[i] == '.' {
			return len(text) - i - 1
		}
	}
	return 0
}

// logged are the shapes of rows of the sheet of other people's servers.
var logged = map[string]struct {
	attention ledger.Attention
	state     *ledger.State
}{
	"p859dee": {attention(2), pointer(state(4))},
	"p55d038": {attention(2), pointer(state(4))},
	"p156a72": {
		ledger.Attention{Layers: 10, KVHeads: 2, KeyDim: 256, ValueDim: 256, Element: ledger.Element{Bytes: 2, Of: 1}, TP: 1},
		&ledger.State{Layers: 30, KeyHeads: 16, KeyDim: 128, ValueHeads: 32, ValueDim: 128, ConvKernel: 4, SSMElementBytes: 4, TP: 1},
	},
	"pf2886b": {ledger.Attention{Layers: 28, KVHeads: 8, KeyDim: 128, ValueDim: 128, Element: ledger.Element{Bytes: 2, Of: 1}, TP: 1}, nil},
	"p074d8c": {ledger.Attention{Layers: 28, KVHeads: 8, KeyDim: 128, ValueDim: 128, Element: ledger.Element{Bytes: 2, Of: 1}, TP: 1}, nil},
	"peb1b9c": {ledger.Attention{Layers: 32, KVHeads: 8, KeyDim: 128, ValueDim: 128, Element: ledger.Element{Bytes: 2, Of: 1}, TP: 1}, nil},
}

func pointer[T any](v T) *T { return &v }

// TestLoggedPools checks cells and slots against pools that other people's
// SGLang servers logged, on other cards. Each size is the sum of two rounded
// figures: K and V, conv and ssm.
func TestLoggedPools(t *testing.T) {
	seen := 0
	for _, row := range sheet(t, "logged_pools.csv") {
		shape, ok := logged[row["id"]]
		if !ok {
			continue
		}
		seen++
		kv, err := ledger.KVRow(int64(number(t, row["log_kv_tokens"])), shape.attention, ledger.Measured)
		require.NoError(t, err)
		checkLogged(t, row["id"], kv, row["log_kv_gib"])
		if shape.state == nil {
			continue
		}
		mamba, err := ledger.MambaRow(int64(number(t, row["log_mamba_slots"])), *shape.state, ledger.Measured)
		require.NoError(t, err)
		checkLogged(t, row["id"], mamba, row["log_mamba_gib"])
	}
	require.Equal(t, len(logged), seen)
}

func checkLogged(t *testing.T, id string, row ledger.Row, text string) {
	size := number(t, text)
	off := float64(*row.Bytes)/(size*gib) - 1
	t.Logf("%s %-5s predicted %7.3f GiB logged %6s error %+.3f %%", id, row.Name, float64(*row.Bytes)/gib, text, 100*off)
	agrees, err := ledger.Agrees(*row.Bytes, text+"Gi", 2)
	require.NoError(t, err)
	require.True(t, agrees || math.Abs(off) <= row.Bound, "%s %s", id, row.Name)
	if size >= 1 { // two digits of a smaller pool say less than the bound
		require.LessOrEqual(t, math.Abs(off), row.Bound, "%s %s", id, row.Name)
	}
}
