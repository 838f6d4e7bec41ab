package facts

import (
	"fmt"
	"slices"
	"strings"

	"github.com/trimtab/trimtab/hardware"
	"github.com/trimtab/trimtab/internal/config"
	"github.com/trimtab/trimtab/internal/server"
)

// modelFact is one fact about a model, by the name conditions use.
type modelFact struct {
	name string
	// of reads the fact; known is false where the entry does not say.
	of func(hardware.ModelEntry) (value any, known bool)
}

// shapeFacts hold for every checkpoint of a shape, quantized or tuned:
//
//   - model.architecture: the class that config.json names first
//   - model.moe: layers have experts
//   - model.hybrid: layers of linear attention or mamba stand in it
//   - model.mamba: no layer has attention
//   - model.multimodal: it takes images, video or audio
//   - model.pooling: it embeds, ranks or classifies and generates no text
//   - model.encoderDecoder: it attends across to the output of an encoder
//   - model.mla: attention keeps a latent vector
//   - model.dsa: attention is sparse by an index (DeepSeek sparse attention)
//   - model.slidingWindow: at least one layer looks back over a window only
//   - model.layers, model.heads, model.kvHeads: counts
var shapeFacts = []modelFact{
	{"model.architecture", func(e hardware.ModelEntry) (any, bool) {
		if len(e.Architectures) == 0 {
			return nil, false
		}
		return e.Architectures[0], true
	}},
	{"model.moe", told(hardware.ModelEntry.MixtureOfExperts)},
	{"model.hybrid", told(hardware.ModelEntry.Hybrid)},
	{"model.mamba", told(hardware.ModelEntry.AttentionFree)},
	{"model.multimodal", told(hardware.ModelEntry.Multimodal)},
	{"model.pooling", told(hardware.ModelEntry.Pooling)},
	{"model.encoderDecoder", told(hardware.ModelEntry.IsEncoderDecoder)},
	{"model.mla", told(hardware.ModelEntry.Latent)},
	{"model.dsa", told(hardware.ModelEntry.SparseByIndex)},
	{"model.slidingWindow", told(hardware.ModelEntry.Windowed)},
	{"model.layers", counted(func(e hardware.ModelEntry) int64 { return e.Layers })},
	{"model.heads", counted(func(e hardware.ModelEntry) int64 { return e.AttentionHeads })},
	{"model.kvHeads", counted(func(e hardware.ModelEntry) int64 { return e.KVHeads })},
}

// checkpointFacts are told by a checkpoint's own config.json alone:
//
//   - model.dtype: the declared type of the weights
//   - model.quantization: the method it declares, as the engine calls it
//   - model.remoteCode: it ships Python code (auto_map)
//   - model.vocab: rows of the embedding
//   - model.maxLen: the context in tokens that the engine derives from it when
//     no length is asked for
func checkpointFacts(engine string) []modelFact {
	return []modelFact{
		{"model.dtype", worded(func(e hardware.ModelEntry) string { return e.DType })},
		{"model.quantization", worded(func(e hardware.ModelEntry) string { return methodName(engine, e.Quantization) })},
		{"model.remoteCode", func(e hardware.ModelEntry) (any, bool) {
			if e.AutoMap == nil {
				return nil, false
			}
			return *e.AutoMap, true
		}},
		{"model.vocab", counted(func(e hardware.ModelEntry) int64 { return e.Vocab })},
		{"model.maxLen", counted(func(e hardware.ModelEntry) int64 {
			if engine == "sglang" {
				return e.ContextSGLang
			}
			return e.ContextVLLM
		})},
	}
}

// methodName is what the engine calls a method.
//
// Source: SGLang python/sglang/srt/configs/model_config.py,
// _parse_modelopt_quant_config; vLLM keeps modelopt for FP8.
func methodName(engine, method string) string {
	if engine == "sglang" && method == "modelopt" {
		return "modelopt_fp8"
	}
	return method
}

func told(read func(hardware.ModelEntry) (bool, bool)) func(hardware.ModelEntry) (any, bool) {
	return func(e hardware.ModelEntry) (any, bool) {
		value, known := read(e)
		return value, known
	}
}

func counted(read func(hardware.ModelEntry) int64) func(hardware.ModelEntry) (any, bool) {
	return func(e hardware.ModelEntry) (any, bool) { return read(e), read(e) > 0 }
}

func worded(read func(hardware.ModelEntry) string) func(hardware.ModelEntry) (any, bool) {
	return func(e hardware.ModelEntry) (any, bool) { return read(e), read(e) != "" }
}

// modelAnnotation is the source of a model's name on the object itself.
const modelAnnotation = "annotation trimtab.dev/model"

// modelSettledBy is the field that would make a fact about the model known: a
// name for its shape, the file for what only the file says. The type, the
// method and the code of a checkpoint are fields of their own.
func modelSettledBy(fact string) (string, bool) {
	if slices.ContainsFunc(shapeFacts, func(f modelFact) bool { return f.name == fact }) {
		return "model.name", true
	}
	return "model.config", fact == "model.vocab" || fact == "model.maxLen"
}

// gatherModel tells what the user states about the checkpoint, what its
// config.json says where the user hands it over, and the shape that the
// catalogue has for a model of that name. A config.json that cannot be read is
// an error.
func (g *Gathered) gatherModel(s *server.Server, spec *config.Spec, overrides *config.Overrides) error {
	stated := func(hardware.ModelEntry) bool { return true }
	g.tellModel(overrides.Model, modelAnnotation, stated)
	g.tellModel(spec.Model.Name, "config", stated)
	aboutAnother := g.Contested("model.name") // the config is about another model than this object's
	// A manifest names a checkpoint. One that is only like a model of the
	// catalogue, quantized or tuned by somebody, may have another shape.
	g.tellModel(s.ModelSource, "manifest", func(shape hardware.ModelEntry) bool { return hubName(s.ModelSource) == shape.ID })
	catalogued := g.Shape
	if !aboutAnother {
		if err := g.tellStated(s.Engine, spec.Model); err != nil {
			return err
		}
	}
	if catalogued != nil {
		g.tellFacts(*catalogued, shapeFacts, "the catalogue's entry "+catalogued.ID)
	}
	if own, ok := ownEntry(s.ModelSource); ok {
		g.tellFacts(own, checkpointFacts(s.Engine), "the catalogue's copy of the config.json of "+own.ID)
	}
	return nil
}

// tellStated tells what the config says of the checkpoint: its own fields
// first, then the config.json.
func (g *Gathered) tellStated(engine string, model config.Model) error {
	g.tellText("model.dtype", model.DType, "config")
	g.tellText("model.quantization", model.Quantization, "config")
	if remoteCode := model.RemoteCode; remoteCode != nil {
		g.tell("model.remoteCode", *remoteCode, "config")
	}
	return g.tellConfigJSON(engine, model.Config)
}

// tellConfigJSON tells what the stated config.json says. Its shape is used
// where it tells every layer's kind, or where there is no other.
func (g *Gathered) tellConfigJSON(engine string, stated *config.ModelConfig) error {
	if stated == nil || len(stated.JSON) == 0 {
		return nil
	}
	entry, err := hardware.FromConfigJSON(stated.JSON)
	if err != nil {
		if stated.Path != "" {
			err = fmt.Errorf("%s: %w", stated.Path, err)
		}
		return fmt.Errorf("`spec.model.config`: %w", err)
	}
	g.tellFacts(entry, shapeFacts, "model.config")
	g.tellFacts(entry, checkpointFacts(engine), "model.config")
	if g.Shape == nil || entry.LayersTold() {
		g.Shape = &entry
	}
	return nil
}

func (g *Gathered) tellFacts(entry hardware.ModelEntry, facts []modelFact, source string) {
	for _, fact := range facts {
		if value, known := fact.of(entry); known {
			g.tell(fact.name, value, source)
		}
	}
}

// ownEntry is the catalogue's entry of the very repository a manifest names,
// where it was read from that repository's own config.json. Another revision
// may hold another file.
func ownEntry(source string) (hardware.ModelEntry, bool) {
	_, revision, _ := strings.Cut(source, "@")
	if source == "" || revision != "" && revision != "main" {
		return hardware.ModelEntry{}, false
	}
	entry, ok := hardware.Model(source)
	return entry, ok && entry.OwnConfig && hubName(source) == entry.ID
}

// tellModel records a model by the catalogue's name where it has one, so that
// two names of one model do not disagree.
func (g *Gathered) tellModel(name, source string, trusted func(hardware.ModelEntry) bool) {
	if name == "" {
		return
	}
	shape, ok := hardware.Model(name)
	if !ok || !trusted(shape) {
		if _, told := g.Set["model.name"]; !ok && !told {
			g.tell("model.name", hubName(name), source)
		}
		return
	}
	if _, told := g.Set["model.name"]; !told {
		g.Shape = &shape
	}
	g.tell("model.name", shape.ID, source)
}

// hubName is the name of a model on the Hub: without scheme and revision.
func hubName(source string) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(source, "hf://"), "@")
	return name
}
