package ledger_test

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trimtab/trimtab/internal/ledger"
)

// The shapes that public logs speak of most: a 27B hybrid with 16 layers of
// attention and 48 of linear attention, on one rank.
func attention(elementBytes int64) ledger.Attention {
	return ledger.Attention{Layers: 16, KVHeads: 4, KeyDim: 256, ValueDim: 256, Element: ledger.Element{Bytes: elementBytes, Of: 1}, TP: 1}
}

func state(ssmBytes int64) ledger.State {
	return ledger.State{Layers: 48, KeyHeads: 16, KeyDim: 128, ValueHeads: 48, ValueDim: 128, ConvKernel: 4, SSMElementBytes: ssmBytes, TP: 1}
}

func cellOf(t *testing.T, elementBytes int64) int64 {
	cell, err := attention(elementBytes).CellBytes()
	require.NoError(t, err)
	return cell
}

func slotOf(t *testing.T, ssmBytes int64) int64 {
	slot, err := state(ssmBytes).SlotBytes()
	require.NoError(t, err)
	return slot
}

// TestWorkedCheck is one R9700 with 60 slots that became 48: the pool was
// logged before and after.
func TestWorkedCheck(t *testing.T) {
	fp8, err := ledger.KVElement("fp8_e4m3")
	require.NoError(t, err)
	bf16, err := ledger.SSMElementBytes("bfloat16")
	require.NoError(t, err)
	require.Equal(t, ledger.OneByte, fp8)
	cell, slot := cellOf(t, 1), slotOf(t, bf16)
	require.Equal(t, int64(32_768), cell)
	require.Equal(t, int64(78_446_592), slot)

	for _, paid := range []bool{false, true} { // the padding slot cancels out
		before := ledger.Pool{Slots: 60, SlotBytes: slot, CellBytes: cell, PaddingPaid: paid}
		after := before
		after.Slots = 48
		tokens, err := ledger.Exchange(183_240, before, after, 0)
		require.NoError(t, err)
		require.Equal(t, int64(211_968), tokens)
		back, err := ledger.Exchange(tokens, after, before, 0)
		require.NoError(t, err)
		require.Equal(t, int64(183_240), back)
	}

	pool := ledger.Pool{Slots: 60, SlotBytes: slot, CellBytes: cell}
	allocated, err := pool.Allocated()
	require.NoError(t, err)
	require.Equal(t, int64(61*78_446_592), allocated)
	agrees, err := ledger.Agrees(allocated, "4.46Gi", 1)
	require.NoError(t, err)
	require.True(t, agrees)

	rate, err := pool.Rate()
	require.NoError(t, err)
	require.Equal(t, "1 mamba slot of 78,446,592 B = 2,394 KV tokens of 32,768 B", rate)
	pool.CellBytes = 100_000
	rate, err = pool.Rate()
	require.NoError(t, err)
	require.Equal(t, "1 mamba slot of 78,446,592 B = 784.4 KV tokens of 100,000 B", rate, "a whole part and a tenth, rounded down")
}

func TestPaddingSlot(t *testing.T) {
	const rest = 11 * 1000
	pool := ledger.Pool{Slots: 10, SlotBytes: 1000, CellBytes: 300}
	tokens, err := pool.Tokens(rest)
	require.NoError(t, err)
	require.Equal(t, int64(3), tokens, "1000 bytes are left, a part of a token does not count")
	budgeted, err := pool.Budgeted()
	require.NoError(t, err)
	require.Equal(t, int64(10_000), budgeted)

	pool.PaddingPaid = true
	budgeted, err = pool.Budgeted()
	require.NoError(t, err)
	require.Equal(t, int64(11_000), budgeted)
	_, err = pool.Tokens(rest)
	require.ErrorContains(t, err, "lower --max-mamba-cache-size")

	paid, unpaid := pool, pool
	unpaid.PaddingPaid = false
	moved, err := ledger.Exchange(100, unpaid, paid, 0)
	require.NoError(t, err)
	require.Equal(t, int64(96), moved, "a release that pays the padding slot: 1000 / 300 tokens fewer, rounded down")
}

func TestExchangeRoundsDown(t *testing.T) {
	for _, c := range []struct{ from, to, slot, cell, want int64 }{
		{3, 1, 100, 30, 6}, {1, 3, 100, 30, -7}, {2, 2, 100, 30, 0},
	} {
		moved, err := ledger.Exchange(50, ledger.Pool{Slots: c.from, SlotBytes: c.slot, CellBytes: c.cell},
			ledger.Pool{Slots: c.to, SlotBytes: c.slot, CellBytes: c.cell}, 0)
		require.NoError(t, err)
		require.Equal(t, 50+c.want, moved, "%+v", c)
	}
}

func TestCellBytes(t *testing.T) {
	dense := func(heads, tp int64) ledger.Attention {
		return ledger.Attention{Layers: 64, KVHeads: heads, KeyDim: 128, ValueDim: 128, Element: ledger.Element{Bytes: 2, Of: 1}, TP: tp}
	}
	for _, c := range []struct {
		name      string
		attention ledger.Attention
		want      int64
	}{
		{"one rank", dense(8, 1), 262_144},
		{"two ranks halve it", dense(8, 2), 131_072},
		{"one head per rank", dense(8, 8), 32_768},
		{"more ranks than heads replicate them", dense(8, 16), 32_768},
		{"half the layers, as one of two stages", ledger.Attention{Layers: 32, KVHeads: 8, KeyDim: 128, ValueDim: 128, Element: ledger.Element{Bytes: 2, Of: 1}, TP: 1}, 131_072},
		{"values narrower than keys", ledger.Attention{Layers: 1, KVHeads: 1, KeyDim: 192, ValueDim: 128, Element: ledger.Element{Bytes: 2, Of: 1}, TP: 1}, 640},
		{"a hybrid's 16 layers, fp8", attention(1), 32_768},
		{"the same on two ranks, bf16", ledger.Attention{Layers: 16, KVHeads: 4, KeyDim: 256, ValueDim: 256, Element: ledger.Element{Bytes: 2, Of: 1}, TP: 2}, 32_768},
	} {
		got, err := c.attention.CellBytes()
		require.NoError(t, err, c.name)
		require.Equal(t, c.want, got, c.name)
	}
}

func TestSlotBytes(t *testing.T) {
	conv, ssm, err := state(4).Parts()
	require.NoError(t, err)
	require.Equal(t, []int64{48 * 30_720 * 2, 48 * 786_432 * 4}, []int64{conv, ssm})
	require.Equal(t, int64(153_944_064), slotOf(t, 4))
	halved := state(2)
	halved.TP = 2
	got, err := halved.SlotBytes()
	require.NoError(t, err)
	require.Equal(t, int64(78_446_592/2), got)
}

// TestBadInput: what is zero, negative, uneven or too large is an error of one
// line, and no figure comes with it.
func TestBadInput(t *testing.T) {
	big := int64(math.MaxInt64)
	cell := func(change func(*ledger.Attention)) func() (int64, error) {
		a := attention(1)
		change(&a)
		return a.CellBytes
	}
	slot := func(change func(*ledger.State)) func() (int64, error) {
		s := state(2)
		change(&s)
		return s.SlotBytes
	}
	pool := func(slots, slotBytes, cellBytes int64) ledger.Pool {
		return ledger.Pool{Slots: slots, SlotBytes: slotBytes, CellBytes: cellBytes}
	}
	for name, c := range map[string]struct {
		call func() (int64, error)
		want string
	}{
		"no layers":          {cell(func(a *ledger.Attention) { a.Layers = 0 }), "full-attention layers must be from 1, got 0"},
		"no heads":           {cell(func(a *ledger.Attention) { a.KVHeads = 0 }), "KV heads must be from 1"},
		"negative key":       {cell(func(a *ledger.Attention) { a.KeyDim = -256 }), "key dim must be from 1, got -256"},
		"no value dim":       {cell(func(a *ledger.Attention) { a.ValueDim = 0 }), "value dim must be from 1"},
		"no element":         {cell(func(a *ledger.Attention) { a.Element.Bytes = 0 }), "bytes of the KV dtype"},
		"no ranks":           {cell(func(a *ledger.Attention) { a.TP = 0 }), "TP must be from 1"},
		"uneven heads":       {cell(func(a *ledger.Attention) { a.TP = 3 }), "4 KV heads cannot be shared by 3 ranks"},
		"heads, six ranks":   {cell(func(a *ledger.Attention) { a.TP = 6 }), "4 KV heads cannot be shared by 6 ranks"},
		"dims overflow":      {cell(func(a *ledger.Attention) { a.KeyDim = big }), "too large"},
		"cell overflow":      {cell(func(a *ledger.Attention) { a.Layers = big / 2 }), "too large"},
		"no linear layers":   {slot(func(s *ledger.State) { s.Layers = 0 }), "linear layers must be from 1"},
		"negative kernel":    {slot(func(s *ledger.State) { s.ConvKernel = -1 }), "conv kernel must be from 1"},
		"no ssm bytes":       {slot(func(s *ledger.State) { s.SSMElementBytes = 0 }), "bytes of the ssm dtype"},
		"uneven key heads":   {slot(func(s *ledger.State) { s.TP = 32 }), "cannot be shared by 32 ranks"},
		"uneven value heads": {slot(func(s *ledger.State) { s.TP, s.ValueHeads = 16, 40 }), "cannot be shared by 16 ranks"},
		"keys overflow":      {slot(func(s *ledger.State) { s.KeyDim = big }), "too large"},
		"values overflow":    {slot(func(s *ledger.State) { s.ValueDim = big }), "too large"},
		"ssm overflow":       {slot(func(s *ledger.State) { s.Layers = big / 1000 }), "too large"},
		"no slots":           {pool(0, 1, 1).Budgeted, "mamba slots must be from 1"},
		"slots overflow":     {pool(big, 1, 1).Allocated, "too large"},
		"pool overflow":      {pool(big, 2, 1).Budgeted, "too large"},
		"no cell":            {func() (int64, error) { return pool(1, 1, 0).Tokens(10) }, "bytes of a token must be from 1"},
		"no rest":            {func() (int64, error) { return pool(1, 1, 1).Tokens(0) }, "no room"},
		"negative rest":      {func() (int64, error) { return pool(1, 1, 1).Tokens(math.MinInt64) }, "no room"},
		"negative slots":     {func() (int64, error) { return ledger.Exchange(9, pool(1, 1, 1), pool(-48, 1, 1), 0) }, "mamba slots must be from 1, got -48"},
		"nothing measured":   {func() (int64, error) { return ledger.Exchange(0, pool(1, 1, 1), pool(1, 1, 1), 0) }, "measured KV tokens must be from 1"},
		"all for slots":      {func() (int64, error) { return ledger.Exchange(9, pool(1, 10, 1), pool(2, 10, 1), 0) }, "2 mamba slots leave no room"},
		"bad before":         {func() (int64, error) { return ledger.Exchange(9, pool(0, 1, 1), pool(1, 1, 1), 0) }, "mamba slots must be from 1"},
		"bad after":          {func() (int64, error) { return ledger.Exchange(9, pool(1, 1, 1), pool(1, 0, 1), 0) }, "bytes of a slot must be from 1"},
		"tokens overflow":    {func() (int64, error) { return ledger.Exchange(big, pool(1, 1, 2), pool(1, 1, 1), 0) }, "too large"},
		"fraction of 0":      {func() (int64, error) { return ledger.FractionBytes(1<<30, 0, 0.9) }, "got 0"},
		"fraction above 1":   {func() (int64, error) { return ledger.FractionBytes(1<<30, 0.9, 1.1) }, "got 1.1"},
		"fraction NaN":       {func() (int64, error) { return ledger.FractionBytes(1<<30, 0.9, math.NaN()) }, "got NaN"},
		"no memory":          {func() (int64, error) { return ledger.FractionBytes(0, 0.9, 0.8) }, "memory of the GPU must be from 1"},
		"too much memory":    {func() (int64, error) { return ledger.FractionBytes(big, 0.9, 0.8) }, "state it in bytes"},
		"KV dtype":           {func() (int64, error) { e, err := ledger.KVElement("mxfp8"); return e.Bytes, err }, `"mxfp8"`},
		"no KV dtype":        {func() (int64, error) { e, err := ledger.KVElement(""); return e.Bytes, err }, "known are auto"},
		"uneven groups":      {cell(func(a *ledger.Attention) { a.Element, a.KeyDim = ledger.NVFP4, 40 }), "a head of 40 elements does not fill groups of 16"},
		"ssm dtype":          {func() (int64, error) { return ledger.SSMElementBytes("fp8") }, `"fp8"`},
	} {
		got, err := c.call()
		require.ErrorContains(t, err, c.want, name)
		require.NotContains(t, err.Error(), "\n", name)
		require.Zero(t, got, name)
	}
}

func TestElementBytes(t *testing.T) {
	for dtype, want := range map[string]int64{"auto": 2, "bf16": 2, "bfloat16": 2, "FP16": 2, "float16": 2, "fp8": 1, "fp8_e4m3": 1, "fp8_e5m2": 1} {
		got, err := ledger.KVElement(dtype)
		require.NoError(t, err)
		require.Equal(t, ledger.Element{Bytes: want, Of: 1}, got, dtype)
	}
	nvfp4, err := ledger.KVElement("nvfp4")
	require.NoError(t, err)
	packed, err := ledger.Attention{Layers: 1, KVHeads: 4, KeyDim: 256, ValueDim: 256, Element: nvfp4, TP: 1}.CellBytes()
	require.NoError(t, err)
	require.Equal(t, int64(4*2*(128+16)), packed, "128 B of elements and 16 B of scales in each vector")
	for dtype, want := range map[string]int64{"float32": 4, "bfloat16": 2, "float16": 2} {
		got, err := ledger.SSMElementBytes(dtype)
		require.NoError(t, err)
		require.Equal(t, want, got, dtype)
	}
}

func TestAgrees(t *testing.T) {
	for _, c := range []struct {
		bytes   int64
		logged  string
		figures int64
		want    bool
	}{
		{6_007_585_505, "5.60Gi", 1, false}, // 5.595 GiB lies between these two
		{6_007_585_506, "5.60Gi", 1, true},
		{6_018_322_923, "5.60Gi", 1, true},
		{6_018_322_924, "5.60Gi", 1, false},
		{6_007_585_505, "5.6Gi", 1, true}, // fewer digits say less
		{183_240 * 32_768, "5.60Gi", 1, false},
		{183_240 * 32_768, "5.60Gi", 2, true}, // K 2.80 and V 2.80
		{183_240 * 32_768, "5.592 GiB", 1, true},
		{4.5 * gib, "5Gi", 1, true},
		{4.5*gib - 1, "5Gi", 1, false},
		{7_139_000_000, "7.14G", 1, true},
		{7_139_000_000, "7.14GB", 1, true},
		{7_139_000_000, "7.14Gi", 1, false},
		{4_691_494_912, "4691494912", 1, true},
		{4_691_494_913, "4691494912", 1, false},
		{0, "0.00Gi", 1, true},
		{math.MaxInt64, "99999999999999999999Ti", 1, false},
	} {
		got, err := ledger.Agrees(c.bytes, c.logged, c.figures)
		require.NoError(t, err)
		require.Equal(t, c.want, got, "%d %s", c.bytes, c.logged)
	}
	for _, logged := range []string{"", "Gi", "-5Gi", "5.60Xi", "1e9", "5.6.0Gi", "999999999999999999999Gi", "5,60Gi"} {
		_, err := ledger.Agrees(1, logged, 1)
		require.ErrorContains(t, err, "such as 5.60Gi", "%q", logged)
	}
	_, err := ledger.Agrees(-1, "5Gi", 1)
	require.ErrorContains(t, err, "bytes must be from 0")
	_, err = ledger.Agrees(1, "5Gi", 0)
	require.ErrorContains(t, err, "logged figures must be from 1")
}

func TestRowsAndPlan(t *testing.T) {
	kv, err := ledger.KVRow(183_240, attention(1), ledger.Measured)
	require.NoError(t, err)
	mamba, err := ledger.MambaRow(60, state(2), ledger.Measured)
	require.NoError(t, err)
	require.Equal(t, int64(183_240*32_768), *kv.Bytes)
	require.Equal(t, int64(61*78_446_592), *mamba.Bytes)

	plan := ledger.Plan{GPUs: []ledger.Ledger{{GPU: "r9700", Rows: []ledger.Row{kv, mamba, {Name: ledger.Weights, Source: ledger.Unknown}}}}, Tokens: kv.Tokens}
	out, err := json.Marshal(plan.Listed())
	require.NoError(t, err)
	require.JSONEq(t, `{"gpus": [{"gpu": "r9700", "rank": 0, "rows": [
		{"name": "kv", "bytes": 6004408320, "tokens": 183240, "slots": null, "bound": 0.001, "source": "measured",
		 "formula": "tokens x full-attention layers x max(1, KV heads / TP) x (key dim + value dim) x bytes(KV dtype)",
		 "inputs": ["tokens = 183,240", "bytes per token = 32,768", "full-attention layers = 16", "KV heads = 4", "TP = 1", "key dim + value dim = 256 + 256", "bytes(KV dtype) = 1"]},
		{"name": "mamba", "bytes": 4785242112, "tokens": null, "slots": 60, "bound": 0.002, "source": "measured",
		 "formula": "(slots + 1) x linear layers x (conv elements x 2 + ssm elements x bytes(ssm dtype)) / TP; conv = (2 x key heads x key dim + value heads x value dim) x (kernel - 1); ssm = value heads x key dim x value dim",
		 "inputs": ["slots = 60", "bytes per slot = 78,446,592", "linear layers = 48", "key heads x dim = 16 x 128", "value heads x dim = 48 x 128", "conv kernel = 4", "bytes(ssm dtype) = 2", "TP = 1"]},
		{"name": "weights", "bytes": null, "tokens": null, "slots": null, "formula": "", "inputs": [], "bound": 0, "source": "unknown"}]}],
		"tokens": 183240, "ceiling": {"requests": null, "because": ""}, "rates": [], "needs": []}`, string(out))
	require.Nil(t, plan.GPUs[0].Rows[2].Inputs, "the plan itself stays as it was")

	for _, tokens := range []int64{0, -1, math.MaxInt64} {
		_, err = ledger.KVRow(tokens, attention(1), ledger.Measured)
		require.Error(t, err)
		_, err = ledger.MambaRow(tokens, state(2), ledger.Computed)
		require.Error(t, err)
	}
}

func TestGrouped(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", -999: "-999", -28_728: "-28,728", 78_446_592: "78,446,592", math.MinInt64: "-9,223,372,036,854,775,808"} {
		require.Equal(t, want, ledger.Grouped(n))
	}
}
