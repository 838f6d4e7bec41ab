package hardware

import (
	"slices"
	"strings"
)

// bitKeys and groupKeys are the names of AWQ, GPTQ and AutoRound.
var (
	bitKeys   = []string{"bits", "w_bit", "num_bits"}
	groupKeys = []string{"group_size", "q_group_size"}
)

// storedBits are methods that always store the same.
var storedBits = map[string]Weights{
	"fp8":          {Bits: 8},
	"modelopt":     {Bits: 8},
	"modelopt_fp4": {Bits: 4, GroupSize: 16, ScaleBits: 8},
	"nvfp4":        {Bits: 4, GroupSize: 16, ScaleBits: 8},
	"mxfp4":        {Bits: 4, GroupSize: 32, ScaleBits: 8},
	"awq":          {Bits: 4, GroupSize: 128, ScaleBits: 16},
	"bitsandbytes": {Bits: 4, GroupSize: 64, ScaleBits: 8},
}

// StoredBy is how a method stores linear layers by its name alone; AWQ and
// bitsandbytes by the group size that almost all checkpoints have. GPTQ,
// AutoRound and compressed-tensors store several ways: only their config tells.
func StoredBy(method string) (Weights, bool) {
	switch method = strings.ToLower(method); method {
	case "modelopt_fp8", "fbgemm_fp8", "ptpc_fp8":
		method = "fp8"
	case "awq_marlin":
		method = "awq"
	}
	stored, ok := storedBits[method]
	return stored, ok
}

// readWeights reads bits and group size of a quantized checkpoint.
func (c *checkpoint) readWeights() {
	for _, o := range [...]object{c.root, c.text} {
		key, ok := o.first("quantization_config", "compression_config")
		if !ok {
			continue
		}
		declared := o.child(key)
		stored, _ := StoredBy(c.entry.Quantization)
		quiet := &counter{} // a list of bits for each layer is no fault of the file
		for _, group := range append([]object{declared}, weightGroups(declared)...) {
			if bits := quiet.dimension(group, bitKeys...); bits > 0 {
				stored.Bits, stored.GroupSize = bits, 0
			}
			if _, there := group.first(groupKeys...); there && group.number(firstOf(group)) > 0 {
				stored.GroupSize = quiet.dimension(group, groupKeys...)
			}
		}
		if stored.GroupSize > 0 && stored.ScaleBits == 0 {
			stored.ScaleBits = 16
		}
		left := append(declared.texts("modules_to_not_convert"), declared.texts("ignore")...)
		stored.Complete = !slices.ContainsFunc(left, func(name string) bool { return strings.Contains(name, "attn") || strings.Contains(name, "re:") })
		stored.ExpertsOnly = slices.ContainsFunc(left, func(name string) bool { return strings.HasSuffix(name, "self_attn") })
		if stored.Bits > 0 && stored.Bits <= 16 {
			c.entry.Weights = &stored
		}
		return
	}
}

func firstOf(group object) string {
	key, _ := group.first(groupKeys...)
	return key
}

// weightGroups are the schemes of compressed-tensors.
func weightGroups(declared object) []object {
	var groups []object
	for _, group := range declared.child("config_groups") {
		if scheme, ok := group.(map[string]any); ok {
			groups = append(groups, object(scheme).child("weights"))
		}
	}
	return groups
}
