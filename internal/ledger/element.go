package ledger

import (
	"fmt"
	"strings"
)

// Element is the size of an element of a KV cache: Bytes hold so many of them.
// With scales beside the elements it is no whole number of bytes.
type Element struct{ Bytes, Of int64 }

// The sizes that KV caches have. NVFP4 packs two elements into a byte and adds
// a byte of scale for 16 of them.
var (
	TwoBytes = Element{2, 1}
	OneByte  = Element{1, 1}
	NVFP4    = Element{9, 16}
)

// vector is the size of so many elements, in bytes; elements that do not fill
// whole groups are an error.
func (e Element) vector(elements int64) (int64, error) {
	if err := atLeast(1, term{"bytes of the KV dtype", e.Bytes}, term{"elements of the KV dtype", e.Of}); err != nil {
		return 0, err
	}
	if elements%e.Of != 0 {
		return 0, fmt.Errorf("a head of %d elements does not fill groups of %d: take another KV cache dtype", elements, e.Of)
	}
	return product(elements/e.Of, e.Bytes)
}

// String is the size in bytes: 2, 1, 9/16.
func (e Element) String() string {
	if e.Of == 1 {
		return fmt.Sprint(e.Bytes)
	}
	return fmt.Sprintf("%d/%d", e.Bytes, e.Of)
}

// KVElement is the size of one element of a KV cache, by the value of
// --kv-cache-dtype. `auto` is the model's own type, 2 bytes for the 16-bit types
// the engines serve in; it is 1 where the checkpoint brings FP8 KV scales
// (kv_cache_quant_algo: FP8), which the caller must know. Types with scales of a
// form of their own (mxfp8, fp4_mx_block16, *_per_token_head) are an error;
// fp8_ds_mla packs a whole token: see Latent.
//
// Source: SGLang srt/mem_cache/kv_cache_dtype.py, configure_kv_cache_dtype
// (model_runner.py before 0.5.16); vLLM vllm/utils/torch_utils.py,
// STR_DTYPE_TO_TORCH_DTYPE and nvfp4_kv_cache_full_dim.
func KVElement(dtype string) (Element, error) {
	switch strings.ToLower(dtype) {
	case "auto", "bf16", "bfloat16", "fp16", "float16", "half":
		return TwoBytes, nil
	case "fp8", "fp8_e4m3", "fp8_e5m2", "fp8_inc":
		return OneByte, nil
	case "nvfp4":
		return NVFP4, nil
	}
	return Element{}, fmt.Errorf("no size is known for KV cache dtype %q: known are auto, bf16, fp16, fp8_e4m3 with their like and nvfp4", dtype)
}
