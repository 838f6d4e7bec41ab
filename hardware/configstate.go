package hardware

// readState reads what a linear-attention layer keeps, by the keys of each
// family. A family whose keys are not all there is left out.
func (c *checkpoint) readState() {
	for _, read := range [...]func() *State{c.gatedDelta, c.kimiDelta, c.mamba2, c.mamba1} {
		if state := read(); state != nil {
			state.ConfigSSMDType = c.stateDType()
			c.entry.State = state
			return
		}
	}
}

// stateDType is the type that the file asks for.
//
// Source: vLLM vllm/model_executor/layers/mamba/mamba_utils.py,
// MambaStateDtypeCalculator, and vllm/model_executor/models/config.py
// (mamba_ssm_dtype of Qwen3.5, mamba_ssm_cache_dtype of NemotronH).
func (c *checkpoint) stateDType() string {
	key, _ := c.text.first("mamba_ssm_dtype", "mamba_ssm_cache_dtype")
	return c.text.text(key)
}

// gatedDelta reads Qwen3-Next's and Qwen3.5's keys.
func (c *checkpoint) gatedDelta() *State {
	t := c.text
	s := &State{
		Kind: "gdn", VHeads: c.dimension(t, "linear_num_value_heads"), KHeads: c.dimension(t, "linear_num_key_heads"),
		KHeadDim: c.dimension(t, "linear_key_head_dim"), VHeadDim: c.dimension(t, "linear_value_head_dim"),
		ConvKernel: c.dimension(t, "linear_conv_kernel_dim"),
	}
	if !positive(s.VHeads, s.KHeads, s.KHeadDim, s.VHeadDim, s.ConvKernel) {
		return nil
	}
	s.SSMElems = s.VHeads * s.KHeadDim * s.VHeadDim
	s.ConvElems = (2*s.KHeads*s.KHeadDim + s.VHeads*s.VHeadDim) * (s.ConvKernel - 1)
	return s
}

// kimiDelta reads Kimi's keys; where the convolutions lie differs by engine.
func (c *checkpoint) kimiDelta() *State {
	t := c.text.child("linear_attn_config")
	s := &State{
		Kind: "kda", Heads: c.dimension(t, "num_heads"), HeadDim: c.dimension(t, "head_dim"),
		ConvKernel: c.dimension(t, "short_conv_kernel_size"),
	}
	if !positive(s.Heads, s.HeadDim, s.ConvKernel) {
		return nil
	}
	s.SSMElems = s.Heads * s.HeadDim * s.HeadDim
	return s
}

// mamba2 reads NemotronH's keys, and those of Granite, Bamba and Falcon-H1.
func (c *checkpoint) mamba2() *State {
	t := c.text
	s := &State{
		Kind: "mamba2", Heads: c.dimension(t, "mamba_num_heads", "mamba_n_heads"), HeadDim: c.dimension(t, "mamba_head_dim", "mamba_d_head"),
		StateSize: c.dimension(t, "ssm_state_size", "mamba_d_state"), NGroups: c.dimension(t, "n_groups", "mamba_n_groups"),
		ConvKernel: c.dimension(t, "conv_kernel", "mamba_d_conv"),
	}
	if !positive(s.Heads, s.HeadDim, s.StateSize, s.NGroups, s.ConvKernel) {
		return nil
	}
	s.SSMElems = s.Heads * s.HeadDim * s.StateSize
	s.ConvElems = (s.Heads*s.HeadDim + 2*s.NGroups*s.StateSize) * (s.ConvKernel - 1)
	return s
}

// mamba1 reads Jamba's keys.
func (c *checkpoint) mamba1() *State {
	t := c.text
	s := &State{
		Kind: "mamba1", Intermediate: c.dimension(t, "mamba_expand") * c.entry.HiddenSize,
		StateSize: c.dimension(t, "mamba_d_state"), ConvKernel: c.dimension(t, "mamba_d_conv"),
	}
	if t.has("mamba_n_heads") || !positive(s.Intermediate, s.StateSize, s.ConvKernel) || s.Intermediate > largestDimension {
		return nil
	}
	s.SSMElems = s.Intermediate * s.StateSize
	s.ConvElems = s.Intermediate * (s.ConvKernel - 1)
	return s
}

// positive tells whether all counts are known.
func positive(counts ...int64) bool {
	for _, count := range counts {
		if count <= 0 {
			return false
		}
	}
	return true
}
