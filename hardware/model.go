package hardware

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// ModelEntry is the shape of one model, as its config.json says. Counts are 0
// where no source has them; layer counts of a kind are 0 where there are none.
type ModelEntry struct {
	// ID is the name on the Hub: Qwen/Qwen3.6-27B.
	ID string `yaml:"id"`
	// Aliases are other checkpoints of the same shape.
	Aliases       []string `yaml:"aliases"`
	Architectures []string `yaml:"architectures"`
	ModelType     string   `yaml:"model_type"`
	// Task is empty for generation, else embedding and the like.
	Task string `yaml:"task"`

	// Layers are all layers; the next ones tell how many are of which kind.
	Layers              int64 `yaml:"layers"`
	LayersFullAttention int64 `yaml:"layers_full_attention"`
	LayersLinear        int64 `yaml:"layers_linear"`
	LayersSliding       int64 `yaml:"layers_sliding"`
	LayersMoEOnly       int64 `yaml:"layers_moe_only"`
	LayersMLPOnly       int64 `yaml:"layers_mlp_only"`
	// SlidingWindow and AttentionChunkSize are in tokens.
	SlidingWindow      int64 `yaml:"sliding_window"`
	AttentionChunkSize int64 `yaml:"attention_chunk_size"`

	// Heads and their dimensions in elements; the global ones are those of
	// full-attention layers where sliding layers have others.
	AttentionHeads int64 `yaml:"attention_heads"`
	KVHeads        int64 `yaml:"kv_heads"`
	HeadDim        int64 `yaml:"head_dim"`
	GlobalHeadDim  int64 `yaml:"global_head_dim"`
	GlobalKVHeads  int64 `yaml:"global_kv_heads"`
	HiddenSize     int64 `yaml:"hidden_size"`
	// KVLayout tells how keys and values are kept where it is not by token and
	// head: compressed, shared, unknown; none for an encoder. Empty elsewhere.
	KVLayout string `yaml:"kv_layout"`
	// MaxPosition is the longest context, in tokens.
	MaxPosition int64 `yaml:"max_position"`
	// Vocab is the number of rows of the embedding.
	Vocab int64 `yaml:"vocab"`

	MoE        *MoE        `yaml:"moe"`
	MLA        *MLA        `yaml:"mla"`
	DSAIndexer *DSAIndexer `yaml:"dsa_indexer"`
	// State is what a linear-attention layer keeps; nil where none does.
	State *State `yaml:"state"`

	// DType is what the config declares: bfloat16. Empty where not known.
	DType string `yaml:"dtype"`
	// Quantization is the method the config declares: fp8, awq, modelopt_fp4.
	// Empty where it declares none or is not known: the weights may be
	// quantized all the same.
	Quantization string `yaml:"quantization"`
	// AutoMap is true when the checkpoint ships Python code; nil: not known.
	AutoMap           *bool `yaml:"auto_map"`
	TieWordEmbeddings *bool `yaml:"tie_word_embeddings"`
	// Dense is true where the config says that there are no experts.
	Dense bool `yaml:"-"`
	// EncoderDecoder is what the config says; nil where it is silent.
	EncoderDecoder *bool `yaml:"-"`
	// ContextVLLM and ContextSGLang are the longest contexts, in tokens, that
	// the engines derive from the config when no length is asked for; 0: not
	// known.
	ContextVLLM   int64 `yaml:"-"`
	ContextSGLang int64 `yaml:"-"`
	// MTPLayers are the layers that predict further tokens.
	MTPLayers int64 `yaml:"mtp_layers"`
	// Parameters counts the weights; nil where a dimension is not known.
	Parameters *Parameters `yaml:"parameters"`
	// Weights tells how the checkpoint stores its linear layers; nil where it is
	// not quantized or does not say.
	Weights *Weights `yaml:"-"`
	// CheckpointBytes is the size of the published weights; 0: not known.
	CheckpointBytes int64 `yaml:"-"`

	// OwnConfig is true where the source is the config.json of this very
	// repository, not of a relative of the same shape.
	OwnConfig bool `yaml:"own_config"`
	// Verified says how the source was read, Source where it stands.
	Verified string `yaml:"verified"`
	Source   string `yaml:"source"`
	Note     string `yaml:"note"`
}

// MoE counts experts.
type MoE struct {
	Experts         int64 `yaml:"experts"`
	ExpertsPerToken int64 `yaml:"experts_per_token"`
	// FirstDenseLayers have no experts.
	FirstDenseLayers int64 `yaml:"first_dense_layers"`
}

// MLA holds the dimensions of latent attention, in elements.
type MLA struct {
	KVLoRARank    int64 `yaml:"kv_lora_rank"`
	QKRoPEHeadDim int64 `yaml:"qk_rope_head_dim"`
	QKNoPEHeadDim int64 `yaml:"qk_nope_head_dim"`
	VHeadDim      int64 `yaml:"v_head_dim"`
}

// DSAIndexer is the index of sparse attention.
type DSAIndexer struct {
	HeadDim int64 `yaml:"head_dim"`
	TopK    int64 `yaml:"topk"`
}

// State is what one linear-attention layer keeps for a request, in elements.
type State struct {
	// Kind is gdn, kda, mamba1 or mamba2. Heads are of values and keys for gdn
	// and kda, of one sort for mamba.
	Kind         string `yaml:"kind"`
	VHeads       int64  `yaml:"v_heads"`
	KHeads       int64  `yaml:"k_heads"`
	KHeadDim     int64  `yaml:"k_head_dim"`
	VHeadDim     int64  `yaml:"v_head_dim"`
	Heads        int64  `yaml:"heads"`
	HeadDim      int64  `yaml:"head_dim"`
	StateSize    int64  `yaml:"state_size"`
	NGroups      int64  `yaml:"n_groups"`
	Intermediate int64  `yaml:"intermediate"`
	ConvKernel   int64  `yaml:"conv_kernel"`
	// SSMElems and ConvElems are the sizes of the two parts, before ranks share
	// them.
	SSMElems  int64 `yaml:"ssm_elems_per_layer"`
	ConvElems int64 `yaml:"conv_elems_per_layer"`
	// ConfigSSMDType is the type the config asks for; the engines follow it
	// unless told otherwise. Empty where the config does not say.
	ConfigSSMDType string `yaml:"config_ssm_dtype"`
	// Assumed names what was assumed where the source was silent.
	Assumed string `yaml:"assumed"`
}

// modelLine is an entry as the files spell it.
type modelLine struct {
	ModelEntry `yaml:",inline"`

	CheckpointGiB  float64 `yaml:"checkpoint_gib"`
	AutoMapUnknown bool    `yaml:"auto_map_unknown"`
	Unknown        string  `yaml:"unknown"`
	CrossCheck     string  `yaml:"cross_check"`
}

// Model finds a model by its id or an alias; case, a prefix hf:// and an
// @revision do not count. An alias is another checkpoint of the same shape:
// what belongs to the id's own files (dtype, quantization, code, lengths, size,
// extra layers) is then left out as not known.
func Model(name string) (ModelEntry, bool) {
	known, err := models()
	if err != nil { // not with the embedded file: a test reads it
		return ModelEntry{}, false
	}
	word := modelWord(name)
	text, ok := known.byName[word]
	if !ok {
		return ModelEntry{}, false
	}
	entry, err := readModel(text)
	if err != nil { // likewise
		return ModelEntry{}, false
	}
	if word != modelWord(entry.ID) {
		entry.DType, entry.Quantization, entry.AutoMap, entry.TieWordEmbeddings = "", "", nil, nil
		entry.MaxPosition, entry.ContextVLLM, entry.ContextSGLang, entry.Vocab = 0, 0, 0, 0
		entry.MTPLayers, entry.CheckpointBytes, entry.OwnConfig = 0, 0, false
	}
	return entry, true
}

// ModelNames are the ids and aliases of all models, for messages that offer
// the nearest one.
func ModelNames() []string {
	known, err := models()
	if err != nil {
		return nil
	}
	return slices.Clone(known.names)
}

// GroupedQuery tells whether every layer that keeps keys and values does so for
// all tokens and for KVHeads heads of HeadDim: the case in which the bytes of a
// token are a plain product. Latent, sparse, sliding, chunked and compressed
// attention are not, nor is an entry that lacks one of the figures.
func (e ModelEntry) GroupedQuery() bool {
	plain := e.MLA == nil && e.DSAIndexer == nil && e.LayersSliding == 0 && e.SlidingWindow == 0 &&
		e.AttentionChunkSize == 0 && e.GlobalHeadDim == 0 && e.GlobalKVHeads == 0 && e.KVLayout == ""
	return plain && e.LayersFullAttention > 0 && e.KVHeads > 0 && e.HeadDim > 0
}

var models = sync.OnceValues(func() (*index[string], error) { return indexModels(modelFile) })

// indexModels finds the text of each entry, by its id and aliases, and decodes
// none of them: the whole file costs 14 ms, one entry a fraction of one. An
// entry begins with its id; its aliases stand on one line.
func indexModels(file string) (*index[string], error) {
	known := &index[string]{byName: map[string]string{}}
	_, list, ok := strings.Cut(file, "\nmodels:\n")
	if !ok {
		return nil, errors.New("`models` is missing")
	}
	const head = "- id: "
	for i, text := range strings.Split("\n"+strings.TrimSuffix(list, "\n"), "\n- ")[1:] {
		text = "- " + text + "\n"
		id, rest, _ := strings.Cut(text, "\n")
		if !strings.HasPrefix(id, head) {
			return nil, fmt.Errorf("entry %d must begin with `%s`", i+1, head)
		}
		if err := known.put(text, modelWord, strings.TrimPrefix(id, head), aliasesIn(rest)); err != nil {
			return nil, err
		}
	}
	return known, nil
}

// aliasesIn reads the aliases line of an entry: [a/b, c/d].
func aliasesIn(text string) []string {
	_, line, ok := strings.Cut("\n"+text, "\n  aliases: [")
	if !ok {
		return nil
	}
	line, _, _ = strings.Cut(line, "]")
	aliases := strings.Split(line, ",")
	for i, alias := range aliases {
		aliases[i] = strings.TrimSpace(alias)
	}
	return aliases
}

// readModel decodes the text of one entry.
func readModel(text string) (ModelEntry, error) {
	var lines []modelLine
	if err := decode([]byte(text), &lines); err != nil {
		return ModelEntry{}, err
	}
	return lines[0].entry()
}

func (l modelLine) entry() (ModelEntry, error) {
	e := l.ModelEntry
	if e.Source == "" || e.Verified == "" {
		return e, errors.New("`source` and `verified` are compulsory")
	}
	if e.OwnConfig && e.Verified != verifiedByCopy {
		return e, fmt.Errorf("`own_config` needs `verified: %s`", verifiedByCopy)
	}
	for _, count := range []int64{e.Layers, e.LayersFullAttention, e.LayersLinear, e.LayersSliding, e.KVHeads, e.HeadDim} {
		if count < 0 {
			return e, fmt.Errorf("a count must not be negative, got %d", count)
		}
	}
	if e.OwnConfig {
		e.ContextVLLM, e.ContextSGLang = e.MaxPosition, e.MaxPosition
	}
	var err error
	e.CheckpointBytes, err = gibibytes("checkpoint_gib", l.CheckpointGiB)
	return e, err
}

// modelWord reduces a name to what counts: no hf://, no @revision, lower case.
func modelWord(name string) string {
	word := strings.ToLower(strings.TrimSpace(name))
	word, _, _ = strings.Cut(strings.TrimPrefix(word, "hf://"), "@")
	return strings.Trim(word, "/")
}
