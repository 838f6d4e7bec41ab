package facts_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trimtab/trimtab/internal/catalogue"
	"github.com/trimtab/trimtab/internal/config"
	"github.com/trimtab/trimtab/internal/facts"
	"github.com/trimtab/trimtab/internal/server"
)

// gather reads the facts of a vLLM server of a model source.
func gather(t *testing.T, source string, model config.Model, annotation string) *facts.Gathered {
	t.Helper()
	return gatherOn(t, "vllm", source, model, annotation)
}

func gatherOn(t *testing.T, engine, source string, model config.Model, annotation string) *facts.Gathered {
	t.Helper()
	loaded, err := catalogue.Load(engine)
	require.NoError(t, err)
	g, err := facts.Gather(&server.Server{Engine: engine, ModelSource: source}, loaded, &config.Spec{Model: model}, &config.Overrides{Model: annotation})
	require.NoError(t, err)
	return g
}

// models are the facts about the model, by name without `model.`.
func models(g *facts.Gathered) map[string]any {
	values := map[string]any{}
	for name, fact := range g.Set {
		if short, ok := strings.CutPrefix(name, "model."); ok {
			values[short] = fact.Value
		}
	}
	return values
}

var denseShape = map[string]any{
	"name": "Qwen/Qwen3-32B", "architecture": "Qwen3ForCausalLM", "moe": false, "hybrid": false, "mamba": false, "multimodal": false,
	"pooling": false, "encoderDecoder": false, "mla": false, "slidingWindow": false, "dsa": false, "layers": int64(64), "heads": int64(64), "kvHeads": int64(8),
}

// with adds facts to the shape of Qwen3-32B.
func with(more map[string]any) map[string]any {
	all := map[string]any{}
	for _, facts := range []map[string]any{denseShape, more} {
		for name, value := range facts {
			all[name] = value
		}
	}
	return all
}

// TestManifestsModel: the very repository tells what its own config.json says;
// another revision of it, and an alias, tell less.
func TestManifestsModel(t *testing.T) {
	own := with(map[string]any{"dtype": "bfloat16", "remoteCode": false, "vocab": int64(151936), "maxLen": int64(40960)})
	for source, want := range map[string]map[string]any{
		"hf://Qwen/Qwen3-32B":        own,
		"Qwen/Qwen3-32B@main":        own,
		"hf://Qwen/Qwen3-32B@0123ab": denseShape,
		"hf://qwen/qwen3-32b":        {},
		"hf://Qwen/Qwen3-32B-AWQ":    {},
		"hf://Ours/Qwen3-32B":        {"name": "Ours/Qwen3-32B"},
		"":                           {},
	} {
		g := gather(t, source, config.Model{}, "")
		require.Equal(t, want, models(g), source)
		require.Empty(t, g.Disagreements, source)
	}
	g := gather(t, "hf://Qwen/Qwen3-32B", config.Model{}, "")
	require.Equal(t, "the catalogue's copy of the config.json of Qwen/Qwen3-32B", g.Set["model.maxLen"].Source)
	require.Equal(t, "the catalogue's entry Qwen/Qwen3-32B", g.Set["model.layers"].Source)
	require.Equal(t, int64(64), g.Shape.Layers)
	quantized := gather(t, "hf://deepseek-ai/DeepSeek-V3", config.Model{}, "")
	require.Equal(t, "fp8", quantized.Set["model.quantization"].Value)
	require.Equal(t, true, quantized.Set["model.remoteCode"].Value)
	relative := gather(t, "hf://Qwen/Qwen3.6-27B", config.Model{}, "")
	require.Contains(t, models(relative), "hybrid")
	require.NotContains(t, models(relative), "dtype", "the entry was read from a relative's config.json")
}

// TestStatedNameTellsTheShape: a name the user states says which model it is,
// not which checkpoint of it.
func TestStatedNameTellsTheShape(t *testing.T) {
	require.Equal(t, denseShape, models(gather(t, "", config.Model{Name: "qwen/qwen3-32b"}, "")))
	require.Equal(t, denseShape, models(gather(t, "", config.Model{}, "Qwen/Qwen3-32B-AWQ")))
	require.Equal(t, denseShape, models(gather(t, "hf://Ours/q-w4", config.Model{Name: "Qwen/Qwen3-32B"}, "")))
	stated := gather(t, "hf://Ours/q-w4", config.Model{Name: "Qwen/Qwen3-32B", Quantization: "awq"}, "")
	require.Equal(t, with(map[string]any{"quantization": "awq"}), models(stated))
}

const denseJSON = `{"architectures": ["Qwen3ForCausalLM"], "model_type": "qwen3", "num_hidden_layers": 64, "num_attention_heads": 64,
	"num_key_value_heads": 8, "head_dim": 128, "torch_dtype": "float16", "quantization_config": {"quant_method": "awq"},
	"max_position_embeddings": 32768, "rope_scaling": {"type": "yarn", "factor": 4, "original_max_position_embeddings": 32768}}`

func TestConfigJSONTellsTheCheckpoint(t *testing.T) {
	file := &config.ModelConfig{JSON: []byte(denseJSON)}
	told := map[string]any{"dtype": "float16", "quantization": "awq", "remoteCode": false, "maxLen": int64(131072)}
	g := gather(t, "", config.Model{Name: "Qwen/Qwen3-32B", Config: file}, "")
	require.Equal(t, with(told), models(g))
	require.Empty(t, g.Disagreements)
	require.Equal(t, "model.config", g.Set["model.maxLen"].Source)

	alone := gather(t, "", config.Model{Config: file}, "")
	want := with(told)
	delete(want, "name")
	delete(want, "pooling") // a checkpoint of a generating class may be tuned to embed
	require.Equal(t, want, models(alone))
	require.Equal(t, int64(128), alone.Shape.HeadDim)

	sglang := gatherOn(t, "sglang", "", config.Model{Config: file}, "")
	require.Equal(t, int64(32768), sglang.Set["model.maxLen"].Value, "SGLang does not scale where the original length is named")
}

// TestModelFactsDisagree: what the user states wins, and is said.
func TestModelFactsDisagree(t *testing.T) {
	file := &config.ModelConfig{JSON: []byte(denseJSON)}
	no := true
	g := gather(t, "", config.Model{DType: "bfloat16", RemoteCode: &no, Config: file}, "")
	require.Equal(t, "bfloat16", g.Set["model.dtype"].Value)
	require.Equal(t, true, g.Set["model.remoteCode"].Value)
	require.Len(t, g.Disagreements, 2)
	require.Equal(t, "`model.dtype` is bfloat16 by config and float16 by model.config; bfloat16 is used", g.Disagreements[0].String())

	other := gather(t, "", config.Model{Name: "Qwen/Qwen3-8B", Config: file}, "")
	require.Equal(t, int64(64), other.Set["model.layers"].Value)
	require.Contains(t, other.Disagreements[0].String(), "`model.")
}

// TestAnnotationOfAnotherModel: a config about one model says nothing about an
// object that is annotated as another.
func TestAnnotationOfAnotherModel(t *testing.T) {
	file := &config.ModelConfig{JSON: []byte(denseJSON)}
	g := gather(t, "", config.Model{Name: "Qwen/Qwen3-32B", Quantization: "awq", Config: file}, "Qwen/Qwen3-8B")
	require.Equal(t, "Qwen/Qwen3-8B", g.Set["model.name"].Value)
	require.Equal(t, int64(36), g.Set["model.layers"].Value)
	require.NotContains(t, models(g), "dtype")
	require.NotContains(t, models(g), "quantization")
	require.Len(t, g.Disagreements, 1)
}

func TestModelOptIsNamedByTheEngine(t *testing.T) {
	file := &config.ModelConfig{JSON: []byte(`{"quantization_config": {"quant_method": "modelopt", "quant_algo": "FP8"}}`)}
	require.Equal(t, "modelopt", gatherOn(t, "vllm", "", config.Model{Config: file}, "").Set["model.quantization"].Value)
	require.Equal(t, "modelopt_fp8", gatherOn(t, "sglang", "", config.Model{Config: file}, "").Set["model.quantization"].Value)
}

func TestBadConfigJSON(t *testing.T) {
	vllm, err := catalogue.Load("vllm")
	require.NoError(t, err)
	spec := &config.Spec{Model: config.Model{Config: &config.ModelConfig{JSON: []byte(`{"num_hidden_layers": "many"}`)}}}
	_, err = facts.Gather(&server.Server{Engine: "vllm"}, vllm, spec, &config.Overrides{})
	require.EqualError(t, err, "`spec.model.config`: `num_hidden_layers` must be a whole number from 0 to 1048576, got \"many\"")
}

func TestModelFactsAreSettledBy(t *testing.T) {
	for fact, field := range map[string]string{
		"model.architecture": "model.name", "model.slidingWindow": "model.name", "model.kvHeads": "model.name",
		"model.maxLen": "model.config", "model.vocab": "model.config",
		"model.dtype": "model.dtype", "model.quantization": "model.quantization", "model.remoteCode": "model.remoteCode",
	} {
		require.Equal(t, field, facts.Set{"model.name": {Value: "a/b", Source: "manifest"}}.SettledBy(fact))
	}
	for _, source := range []string{"config", "annotation trimtab.dev/model"} { // to state the name again is of no use
		require.Equal(t, "model.config", facts.Set{"model.name": {Value: "a/b", Source: source}}.SettledBy("model.kvHeads"))
	}
}
