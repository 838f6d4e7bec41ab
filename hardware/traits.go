package hardware

import "strings"

// verifiedByCopy is ModelEntry.Verified of a catalogue entry whose source is a
// copy of a published config.json.
const verifiedByCopy = "config.json copy"

// fromConfig tells whether a whole config.json was read for the entry, so that
// what it does not mention is not there. Tables restate a part.
func (e ModelEntry) fromConfig() bool {
	return strings.HasPrefix(e.Verified, verifiedByCopy)
}

// architecture is what the registry knows of the first class named.
func (e ModelEntry) architecture() (Architecture, bool) {
	if len(e.Architectures) == 0 {
		return Architecture{}, false
	}
	return FindArchitecture(e.Architectures[0])
}

// LayersTold tells whether each layer's kind is known.
func (e ModelEntry) LayersTold() bool {
	told := e.LayersFullAttention + e.LayersSliding + e.LayersLinear + e.LayersMoEOnly + e.LayersMLPOnly
	return e.Layers > 0 && told >= e.Layers
}

// Hybrid tells whether layers of linear attention or mamba stand in the model;
// known is false where no source says.
func (e ModelEntry) Hybrid() (hybrid, known bool) {
	if e.State != nil || e.LayersLinear > 0 {
		return true, true
	}
	if e.LayersTold() {
		return false, true
	}
	class, ok := e.architecture()
	return class.Hybrid || class.AttentionFree, ok
}

// AttentionFree tells whether no layer has attention.
func (e ModelEntry) AttentionFree() (free, known bool) {
	if e.LayersFullAttention > 0 || e.LayersSliding > 0 {
		return false, true
	}
	if class, ok := e.architecture(); ok {
		return class.AttentionFree, true
	}
	return e.LayersTold(), e.LayersTold()
}

// MixtureOfExperts tells whether layers have experts.
func (e ModelEntry) MixtureOfExperts() (experts, known bool) {
	if e.MoE != nil {
		return true, true
	}
	class, ok := e.architecture()
	return false, e.Dense || e.fromConfig() || ok && !class.Experts
}

// Multimodal tells whether the model takes images, video or audio.
func (e ModelEntry) Multimodal() (multimodal, known bool) {
	class, ok := e.architecture()
	return class.Multimodal, ok
}

// Pooling tells whether the model embeds, ranks or classifies and generates no
// text. A checkpoint of a generating class may be tuned to embed, which its
// config.json does not say; the catalogue's entries do.
func (e ModelEntry) Pooling() (pooling, known bool) {
	if class, _ := e.architecture(); class.Pooling || e.Task != "" {
		return true, true
	}
	return false, e.ID != ""
}

// IsEncoderDecoder tells whether the model attends across to the output of an
// encoder. What a config says wins over what its class is known for.
func (e ModelEntry) IsEncoderDecoder() (encoderDecoder, known bool) {
	if e.EncoderDecoder != nil {
		return *e.EncoderDecoder, true
	}
	class, ok := e.architecture()
	return class.EncoderDecoder, ok
}

// Latent tells whether attention keeps a latent vector (MLA) instead of keys
// and values. A config with a kv_lora_rank whose kind is not known, and a
// table that lists no heads, leave it open.
func (e ModelEntry) Latent() (latent, known bool) {
	if e.MLA != nil {
		return true, true
	}
	return false, e.KVLayout != "unknown" && e.KVHeads > 0 && e.HeadDim > 0
}

// SparseByIndex tells whether an indexer picks the tokens that attention looks
// at (DeepSeek sparse attention).
func (e ModelEntry) SparseByIndex() (sparse, known bool) {
	if e.DSAIndexer != nil {
		return true, true
	}
	return false, e.KVLayout != "unknown" && e.KVHeads > 0 && e.HeadDim > 0
}

// Windowed tells whether any layer looks back over a sliding window only.
// Chunked attention is another thing, and leaves it open.
func (e ModelEntry) Windowed() (windowed, known bool) {
	if e.LayersSliding > 0 || e.SlidingWindow > 0 {
		return true, true
	}
	fromConfig := e.fromConfig() || e.Verified == VerifiedByConfig
	return false, fromConfig && e.LayersTold() && e.AttentionChunkSize == 0
}
