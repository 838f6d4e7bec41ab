package hardware

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

// catalogued are all entries of a models file, by id.
func catalogued(t *testing.T, file string) map[string]ModelEntry {
	t.Helper()
	known, err := indexModels(file)
	require.NoError(t, err)
	entries := map[string]ModelEntry{}
	for _, text := range known.byName {
		entry, err := readModel(text)
		require.NoError(t, err, text)
		entries[entry.ID] = entry
	}
	return entries
}

// TestEveryModelIsWhole: each entry is found by each of its names, its counts
// go together, and its state is what its own dimensions give.
func TestEveryModelIsWhole(t *testing.T) {
	entries := catalogued(t, modelFile)
	require.Greater(t, len(entries), 90)
	require.Len(t, ModelNames(), len(entries)+aliasCount(entries))
	for id, e := range entries {
		for _, name := range append([]string{id}, e.Aliases...) {
			found, ok := Model(name)
			require.True(t, ok, name)
			require.Equal(t, id, found.ID)
		}
		require.NotEmpty(t, e.Source, id)
		require.Positive(t, e.Layers+e.HiddenSize, id)
		if e.AttentionHeads > 0 && e.KVHeads > 0 {
			require.Zero(t, e.AttentionHeads%e.KVHeads, id)
		}
		if e.fromConfig() {
			require.NotEmpty(t, e.Architectures, id)
			require.Positive(t, e.MaxPosition, id)
		}
		if e.State != nil {
			require.Positive(t, e.LayersLinear, id)
			requireState(t, id, *e.State)
		}
	}
}

func aliasCount(entries map[string]ModelEntry) int {
	count := 0
	for _, e := range entries {
		count += len(e.Aliases)
	}
	return count
}

// requireState computes the elements by the formulas of the engines' state
// layouts; a count of 0 is one that no source has.
func requireState(t *testing.T, id string, s State) {
	t.Helper()
	ssm, conv := int64(0), int64(0)
	switch s.Kind {
	case "gdn":
		ssm, conv = s.VHeads*s.KHeadDim*s.VHeadDim, 2*s.KHeads*s.KHeadDim+s.VHeads*s.VHeadDim
	case "mamba2":
		ssm, conv = s.Heads*s.HeadDim*s.StateSize, s.Heads*s.HeadDim+2*s.NGroups*s.StateSize
	case "mamba1":
		ssm, conv = s.Intermediate*s.StateSize, s.Intermediate
	case "kda":
		ssm = s.Heads * s.HeadDim * s.HeadDim
	}
	require.Positive(t, ssm, id)
	require.Equal(t, ssm, s.SSMElems, id)
	if s.ConvElems != 0 {
		require.Equal(t, conv*(s.ConvKernel-1), s.ConvElems, id)
	}
}

// TestLoggedFigures: shapes of models whose pools were logged give the bytes
// that the logs agree with.
func TestLoggedFigures(t *testing.T) {
	for id, cell := range map[string]int64{"Qwen/Qwen3.6-27B": 65_536, "Qwen/Qwen3-32B": 262_144, "Qwen/Qwen3-30B-A3B": 98_304} {
		e, ok := Model(id)
		require.True(t, ok, id)
		require.True(t, e.GroupedQuery(), id)
		require.Equal(t, cell, 2*2*e.LayersFullAttention*e.KVHeads*e.HeadDim, id)
	}
	hybrid, _ := Model("Qwen/Qwen3.6-27B")
	require.Equal(t, int64(78_446_592), hybrid.LayersLinear*2*(hybrid.State.SSMElems+hybrid.State.ConvElems), "a slot of 16-bit state")
	latent, _ := Model("deepseek-ai/DeepSeek-V3")
	require.Equal(t, int64(70_272), 2*latent.Layers*(latent.MLA.KVLoRARank+latent.MLA.QKRoPEHeadDim))
	// Blocks of vLLM's hybrid pool with bfloat16 cache: 16 x ceil(state of a layer / (16 x cell of a layer)).
	for id, blocks := range map[string][2]int64{
		"Qwen/Qwen3.5-27B": {784, 400}, "Qwen/Qwen3.5-35B-A3B": {1056, 544}, "Qwen/Qwen3.5-122B-A10B": {2096, 1072},
		"nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16": {2096, 1072}, "nvidia/NVIDIA-Nemotron-3-Super-120B-A12B-FP8": {4160, 2112},
		"nvidia/NVIDIA-Nemotron-Nano-9B-v2": {1312, 672}, "ibm-granite/granite-4.0-h-tiny": {784, 400}, "ai21labs/AI21-Jamba-1.5-Mini": {144, 80},
	} {
		e, ok := Model(id)
		require.True(t, ok, id)
		page := 16 * 2 * 2 * e.KVHeads * e.HeadDim
		for i, elementBytes := range []int64{4, 2} {
			state := 2*e.State.ConvElems + elementBytes*e.State.SSMElems
			require.Equal(t, blocks[i], 16*((state+page-1)/page), id)
		}
	}
}

func TestModelNames(t *testing.T) {
	for _, name := range []string{"Qwen/Qwen3.6-27B", "qwen/qwen3.6-27b", "hf://Qwen/Qwen3.6-27B", "hf://Qwen/Qwen3.6-27B@0123abc", "Qwen/Qwen3.6-27B@main"} {
		model, ok := Model(name)
		require.True(t, ok, name)
		require.Equal(t, "Qwen/Qwen3.6-27B", model.ID)
		require.Equal(t, "bfloat16", model.DType)
		require.False(t, *model.AutoMap)
		require.Equal(t, "float32", model.State.ConfigSSMDType)
		require.Equal(t, int64(1), model.MTPLayers)
	}
	for _, name := range []string{"", "@main", "hf://", "Qwen3.6-27B", "Qwen/Qwen3.6-27B-AWQ", "Qwen/Qwen3.6-27"} {
		_, ok := Model(name)
		require.False(t, ok, name)
	}
	require.Contains(t, ModelNames(), "Qwen/Qwen3-32B")
	require.Contains(t, ModelNames(), "cyankiwi/Qwen3.6-27B-AWQ-INT4")
}

// TestAliasIsAnotherCheckpoint: the shape holds, what its own files say does not.
func TestAliasIsAnotherCheckpoint(t *testing.T) {
	own, _ := Model("Qwen/Qwen3.6-27B")
	alias, ok := Model("hf://cyankiwi/Qwen3.6-27B-AWQ-INT4@main")
	require.True(t, ok)
	require.Equal(t, own.State, alias.State)
	require.Equal(t, own.LayersFullAttention, alias.LayersFullAttention)
	require.Empty(t, alias.DType)
	require.Nil(t, alias.AutoMap)
	require.Zero(t, alias.CheckpointBytes)
	require.Zero(t, alias.MaxPosition)
	require.Positive(t, own.CheckpointBytes)
}

func TestHybrid(t *testing.T) {
	for name, want := range map[string]bool{"Qwen/Qwen3.6-27B": true, "Qwen/Qwen3-32B": false, "Qwen/Qwen3-30B-A3B": false} {
		model, ok := Model(name)
		require.True(t, ok)
		hybrid, known := model.Hybrid()
		require.True(t, known, name)
		require.Equal(t, want, hybrid, name)
	}
	_, known := ModelEntry{Layers: 32}.Hybrid()
	require.False(t, known, "no word about the kinds of layers")
	_, known = ModelEntry{}.Hybrid()
	require.False(t, known)
}

func TestTraitsOfCatalogueEntries(t *testing.T) {
	type trait func(ModelEntry) (bool, bool)
	traits := map[string]trait{
		"hybrid": ModelEntry.Hybrid, "mamba": ModelEntry.AttentionFree, "experts": ModelEntry.MixtureOfExperts,
		"multimodal": ModelEntry.Multimodal, "pooling": ModelEntry.Pooling, "mla": ModelEntry.Latent,
		"window": ModelEntry.Windowed, "encoder": ModelEntry.IsEncoderDecoder,
	}
	for id, want := range map[string]struct{ yes, open []string }{
		"Qwen/Qwen3-32B":                            {},
		"Qwen/Qwen3-30B-A3B":                        {yes: []string{"experts"}},
		"Qwen/Qwen3.6-27B":                          {yes: []string{"hybrid", "multimodal"}},
		"Qwen/Qwen3.5-9B":                           {yes: []string{"hybrid", "multimodal"}, open: []string{"window"}},
		"deepseek-ai/DeepSeek-V3":                   {yes: []string{"mla", "experts"}},
		"openai/gpt-oss-20b":                        {yes: []string{"experts", "window"}},
		"google/gemma-3-27b-it":                     {yes: []string{"multimodal", "window"}, open: []string{"experts"}},
		"meta-llama/Llama-4-Scout-17B-16E-Instruct": {yes: []string{"multimodal", "experts"}, open: []string{"window"}},
		"mistralai/Mistral-Small-4-119B-2603":       {yes: []string{"multimodal", "mla"}, open: []string{"experts", "window"}},
		"Qwen/Qwen3-Embedding-0.6B":                 {yes: []string{"pooling"}, open: []string{"window"}},
		"BAAI/bge-m3":                               {yes: []string{"pooling"}, open: []string{"hybrid", "mamba", "experts", "multimodal", "mla", "window", "encoder"}},
		"deepseek-ai/DeepSeek-V4-Flash":             {yes: []string{"experts", "window"}, open: []string{"mla"}},
	} {
		e, ok := Model(id)
		require.True(t, ok, id)
		for name, read := range traits {
			value, known := read(e)
			require.Equal(t, !slices.Contains(want.open, name), known, "%s: %s", id, name)
			if known {
				require.Equal(t, slices.Contains(want.yes, name), value, "%s: %s", id, name)
			}
		}
	}
}

func TestBadModelFiles(t *testing.T) {
	const good = "- id: a/b\n  verified: v\n  source: s\n"
	for file, want := range map[string]string{
		good:                                        "",
		good + "  colour: red\n":                    "colour",
		good + "  state: {kind: gdn, x: 1}\n":       "field x",
		"- id: a/b\n  verified: v\n":                "source",
		good + "  layers: -1\n":                     "negative",
		good + "- id: A/B\n":                        "another entry",
		good + "  aliases: [a/c, A/C]\n- id: a/c\n": "another entry",
		"- id: /\n":                                 "is no name",
		"- {id: a/b}\n":                             "must begin with `- id: `",
		good + "  checkpoint_gib: -1\n":             "checkpoint_gib",
		good + "  own_config: true\n":               "own_config",
	} {
		known, err := indexModels("version: 1\nmodels:\n" + file)
		if err == nil {
			_, err = readModel(known.byName["a/b"])
		}
		if want == "" {
			require.NoError(t, err, file)
			continue
		}
		require.ErrorContains(t, err, want, file)
	}
	_, err := indexModels("version: 1\n")
	require.ErrorContains(t, err, "models")
}

// corrected are entries that the whole catalogue has otherwise, and why.
var corrected = map[string]string{
	"deepseek-ai/DeepSeek-V4-Flash": "its config.json has a window of 128 tokens",
	"Qwen/Qwen3.5-9B":               "logged pools tell how its layers split",
	"MiniMaxAI/MiniMax-M3":          "its attention is sparse: full attention is an upper bound",
}

// TestWholeModelCatalogue: ours holds every entry of the whole catalogue with
// the same figures; and where GroupedQuery holds, the plain product is what the
// catalogue derives.
func TestWholeModelCatalogue(t *testing.T) {
	var file struct {
		Models []struct {
			ModelEntry `yaml:",inline"`
			Derived    map[string]any `yaml:"derived"`
			Unread     map[string]any `yaml:",inline"`
		} `yaml:"models"`
	}
	whole(t, "models.yaml", &file)
	ours, plain := catalogued(t, modelFile), 0
	require.GreaterOrEqual(t, len(ours), len(file.Models))
	for _, theirs := range file.Models {
		e, ok := ours[theirs.ID]
		require.True(t, ok, theirs.ID)
		if e.GroupedQuery() {
			plain++
			require.Contains(t, []any{nil, int(2 * e.LayersFullAttention * e.KVHeads * e.HeadDim * 2)}, theirs.Derived["kv_bytes_per_token_bf16"], theirs.ID)
		}
		if corrected[theirs.ID] != "" {
			continue
		}
		e.OwnConfig, e.Quantization, e.KVLayout = false, "", ""
		e.ContextVLLM, e.ContextSGLang, e.CheckpointBytes, e.Parameters = 0, 0, 0, nil
		require.Equal(t, theirs.ModelEntry, e)
	}
	require.Greater(t, plain, 40)
}

// TestIndexAgreesWithTheFile: the look-up by lines finds what the YAML holds.
func TestIndexAgreesWithTheFile(t *testing.T) {
	var file struct {
		Models []struct {
			ID      string   `yaml:"id"`
			Aliases []string `yaml:"aliases"`
		} `yaml:"models"`
	}
	require.NoError(t, yaml.Unmarshal([]byte(modelFile), &file))
	var names []string
	for _, model := range file.Models {
		names = append(append(names, model.ID), model.Aliases...)
	}
	require.Equal(t, names, ModelNames())
}

func BenchmarkModel(b *testing.B) {
	for b.Loop() {
		if _, ok := Model("Qwen/Qwen3.6-27B"); !ok {
			b.Fatal("not found")
		}
	}
}

func BenchmarkIndexModels(b *testing.B) {
	for b.Loop() {
		if _, err := indexModels(modelFile); err != nil {
			b.Fatal(err)
		}
	}
}
