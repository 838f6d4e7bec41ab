package hardware

import (
	"cmp"
	"strings"
)

// vllmContextKeys are the keys of which vLLM takes the smallest.
//
// Source: vLLM vllm/transformers_utils/model_arch_config_convertor.py,
// derive_max_model_len_and_key (before 0.12: vllm/config.py,
// _get_and_verify_max_len).
var vllmContextKeys = []string{
	"max_position_embeddings", "n_positions", "max_seq_len", "seq_length", "model_max_length",
	"max_target_positions", "max_sequence_length", "max_seq_length", "seq_len",
}

// sglangContextKeys are the keys of which SGLang takes the first.
//
// Source: SGLang python/sglang/srt/utils/hf_transformers/config.py,
// CONTEXT_LENGTH_KEYS.
var sglangContextKeys = []string{"max_sequence_length", "seq_length", "max_seq_len", "model_max_length", "max_position_embeddings"}

// readContext derives the context lengths. They stay unknown without any key,
// and where the engines' releases do not agree on a factor.
func (c *checkpoint) readContext() {
	rope := c.rope()
	if rope == nil {
		return
	}
	smallest := int64(0)
	for _, key := range vllmContextKeys {
		if length := c.count(c.text, key); length > 0 && (smallest == 0 || length < smallest) {
			smallest = length
		}
	}
	if length := c.count(c.text, "model_max_length"); length > 0 {
		smallest = length
	}
	c.entry.ContextVLLM = c.vllmContext(smallest, *rope)
	c.entry.ContextSGLang = c.sglangContext(c.count(c.text, sglangContextKeys...), *rope)
}

// rope is how positions are scaled.
type rope struct {
	kind     string
	factor   float64
	original int64
}

// rope is nil where layers of different kinds scale differently.
func (c *checkpoint) rope() *rope {
	key, told := c.text.first("rope_scaling", "rope_parameters")
	written := c.text.child(key)
	if !told || len(written) == 0 {
		return &rope{factor: 1}
	}
	plain := true
	for kind := range written {
		if layer := written.child(kind); layer != nil {
			plain = false
			if layer.has("factor") {
				return nil
			}
		}
	}
	if !plain {
		return &rope{factor: 1}
	}
	kind := strings.ToLower(cmp.Or(written.text("rope_type"), written.text("type")))
	scaled := &rope{kind: kind, factor: 1, original: c.count(written, "original_max_position_embeddings")}
	if written.has("factor") {
		scaled.factor = written.number("factor")
	}
	return scaled
}

// vllmContext: yarn scales the original length, llama3 and longrope are
// scaled in the file already, gemma3 too, and any other kind scales the
// length by its factor. longrope has one length by default and allows another,
// which is left open.
//
// Source: vLLM vllm/config/model.py, _get_and_verify_max_len, 0.8.0 to 0.33.0.
func (c *checkpoint) vllmContext(length int64, r rope) int64 {
	switch {
	case length == 0, r.kind == "longrope", r.kind == "su", r.factor <= 0:
		return 0
	case r.kind == "llama3", strings.Contains(c.modelType(), "gemma3"):
		return length
	case r.kind == "yarn" && r.original == 0:
		return 0
	case r.kind == "yarn":
		length = r.original
	}
	return scaledBy(length, r.factor)
}

// sglangContext: a factor counts where the file does not name the original
// length and the kind is not llama3.
//
// Source: SGLang python/sglang/srt/utils/hf_transformers/config.py,
// get_context_length.
func (c *checkpoint) sglangContext(length int64, r rope) int64 {
	switch {
	case r.factor <= 0, strings.Contains(c.modelType(), "gemma3") && r.factor != 1:
		return 0
	case r.original > 0, r.kind == "llama3":
		return length
	}
	return scaledBy(length, r.factor)
}

func scaledBy(length int64, factor float64) int64 {
	scaled := float64(length) * factor
	if scaled > largestCount {
		return 0
	}
	return int64(scaled)
}
