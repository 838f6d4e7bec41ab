package account_test

import (
	"compress/gzip"
	"encoding/csv"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
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

const gib = 1 << 30

// sheet reads a sheet of logged figures; rows are maps by column.
func sheet(t *testing.T, name string) []map[string]string {
	t.Helper()
	file, err := os.Open(filepath.Join("testdata", name+".csv.gz"))
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

// server is one server of which an account is drawn up.
type server struct {
	engine, version string
	// model is a name of the catalogue, or a config.json.
	model string
	// card is a name of the catalogue; memory is what the engine sees, in GiB.
	card   string
	memory float64
	args   string
	facts  map[string]any
	// stored is how the checkpoint's config.json says that it stores weights.
	stored *hardware.Weights
}

// draw draws up its account.
func (s server) draw(t *testing.T) *account.Account {
	t.Helper()
	a, err := s.tryDraw(t)
	require.NoError(t, err)
	return a
}

// tryDraw draws it up, or says why there is none.
func (s server) tryDraw(t *testing.T) (*account.Account, error) {
	t.Helper()
	known, err := catalogue.Load(s.engine)
	require.NoError(t, err)
	release, ok := known.Find(s.version)
	require.True(t, ok, s.version)
	knowledge, err := engine.Load(s.engine)
	require.NoError(t, err)
	words := []setting.Word{{Text: "--model"}, {Text: "/m"}}
	if s.engine == "sglang" {
		words[0].Text = "--model-path"
	}
	for _, word := range strings.Fields(s.args) {
		words = append(words, setting.Word{Text: word})
	}
	line := argv.Parse(known, release, argv.Launch, words)
	require.Empty(t, line.Problems, s.args)
	set := facts.Set{}
	g := &facts.Gathered{Set: set}
	s.shape(t, g)
	if card, ok := hardware.GPU(s.card); ok {
		set["gpu.name"], set["gpu.memory"] = facts.Fact{Value: card.Name}, facts.Fact{Value: card.Memory}
		set["gpu.vendor"], set["gpu.arch"] = facts.Fact{Value: card.Vendor}, facts.Fact{Value: card.Arch}
		if major, minor, ok := strings.Cut(card.ComputeCapability, "."); ok {
			cc, err := strconv.ParseInt(major+minor, 10, 64)
			require.NoError(t, err)
			set["gpu.cc"] = facts.Fact{Value: cc}
		}
	} else if s.card != "" {
		require.Positive(t, s.memory, s.card)
		set["gpu.name"], set["gpu.vendor"] = facts.Fact{Value: s.card}, facts.Fact{Value: "nvidia"}
		set["gpu.cc"] = facts.Fact{Value: int64(86)}
	}
	if s.memory > 0 {
		set["gpu.memory"] = facts.Fact{Value: int64(s.memory * gib)}
	}
	for name, value := range s.facts {
		set[name] = facts.Fact{Value: value}
	}
	return account.Of(engine.NewState(known, knowledge, release, line.Settings, set, ""), g)
}

// shape tells the model's shape and what follows from it.
func (s server) shape(t *testing.T, g *facts.Gathered) {
	entry, ok := hardware.Model(s.model)
	if !ok && s.model != "" {
		var err error
		entry, err = hardware.FromConfigJSON([]byte(s.model))
		require.NoError(t, err)
		ok = true
	}
	if !ok {
		return
	}
	g.Shape = &entry
	if s.stored != nil {
		entry.Weights = s.stored
	}
	tell := func(name string, value any, known bool) {
		if known {
			g.Set[name] = facts.Fact{Value: value}
		}
	}
	tell("model.dtype", "bfloat16", true)
	if len(entry.Architectures) > 0 {
		tell("model.architecture", entry.Architectures[0], true)
	}
	for name, read := range map[string]func(hardware.ModelEntry) (bool, bool){
		"model.hybrid": hardware.ModelEntry.Hybrid, "model.mamba": hardware.ModelEntry.AttentionFree, "model.moe": hardware.ModelEntry.MixtureOfExperts,
		"model.multimodal": hardware.ModelEntry.Multimodal, "model.pooling": hardware.ModelEntry.Pooling, "model.mla": hardware.ModelEntry.Latent,
		"model.encoderDecoder": hardware.ModelEntry.IsEncoderDecoder, "model.dsa": hardware.ModelEntry.SparseByIndex,
	} {
		value, known := read(entry)
		tell(name, value, known)
	}
}

// row fetches the plan's row of a name on the first rank.
func rowOf(t *testing.T, a *account.Account, name string) ledger.Row {
	t.Helper()
	plan, err := a.Plan("")
	require.NoError(t, err)
	for _, row := range plan.GPUs[0].Rows {
		if row.Name == name {
			return row
		}
	}
	return ledger.Row{Name: name, Source: ledger.Unknown}
}

func figure(t *testing.T, text string) float64 {
	t.Helper()
	n, err := strconv.ParseFloat(text, 64)
	require.NoError(t, err, text)
	return n
}

// halfDigit is half of the last digit of a logged figure.
func halfDigit(text string) float64 {
	_, decimals, _ := strings.Cut(text, ".")
	return math.Pow10(-len(decimals)) / 2
}

// flags turns the columns of a row into arguments.
func flags(row map[string]string, engine string) []string {
	names := map[string][2]string{
		"tp": {"--tensor-parallel-size", "--tp-size"}, "pp": {"--pipeline-parallel-size", "--pp-size"},
		"max_model_len": {"--max-model-len", "--context-length"}, "mem_fraction": {"--gpu-memory-utilization", "--mem-fraction-static"},
		"max_num_seqs_or_running": {"--max-num-seqs", "--max-running-requests"}, "max_num_batched_or_chunked": {"--max-num-batched-tokens", "--chunked-prefill-size"},
		"kv_dtype": {"--kv-cache-dtype", "--kv-cache-dtype"},
	}
	var args []string
	for column, pair := range names {
		value, _, _ := strings.Cut(row[column], " ")
		if value == "" || value == "default" || value == "kv-cache-memory" || value == "1" && (column == "tp" || column == "pp") || column == "kv_dtype" && value == "bfloat16" {
			continue
		}
		flag := pair[0]
		if engine == "sglang" {
			flag = pair[1]
		}
		args = append(args, flag, value)
	}
	return args
}
