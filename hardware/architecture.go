package hardware

import (
	_ "embed"
	"slices"
	"strings"
)

// architectureFile is written by hack/architectures.py from vLLM's registry.
//
//go:embed architectures.txt
var architectureFile string

// Architecture is what an engine's model registry tells about the class that a
// checkpoint's config.json names.
//
// Source: vLLM main of 2026-08-17, vllm/model_executor/models/registry.py and
// the interfaces of the classes it lists.
type Architecture struct {
	// Multimodal is true where the class takes images, video or audio.
	Multimodal bool
	// Pooling is true where the class embeds, ranks or classifies and is not
	// listed as one that generates.
	Pooling bool
	// Hybrid classes mix attention with linear-attention or mamba layers;
	// AttentionFree ones have no attention.
	Hybrid        bool
	AttentionFree bool
	// EncoderDecoder classes attend across to the output of an encoder.
	EncoderDecoder bool
	// Experts is true where the class can have expert layers; whether a
	// checkpoint has them is for its config to say.
	Experts bool
}

// FindArchitecture finds a class by its exact name: Qwen3ForCausalLM.
func FindArchitecture(name string) (Architecture, bool) {
	if name == "" || strings.ContainsAny(name, " \n#") {
		return Architecture{}, false
	}
	_, rest, ok := strings.Cut(architectureFile, "\n"+name+" ")
	if !ok {
		return Architecture{}, false
	}
	line, _, _ := strings.Cut(rest, "\n")
	traits := strings.Fields(line)
	has := func(trait string) bool { return slices.Contains(traits, trait) }
	return Architecture{
		Multimodal: has("multimodal"), Pooling: has("pooling") && !has("text") && !has("multimodal"),
		Hybrid: has("hybrid"), AttentionFree: has("attention-free"),
		EncoderDecoder: has("encoder-decoder"), Experts: has("experts"),
	}, true
}
