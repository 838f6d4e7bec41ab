package ledger

import "fmt"

// MambaFormula is what one slot of a mamba or mamba-2 state costs on one rank,
// and of Kimi's delta attention (KDA), whose convolutions are three.
//
// Source: vLLM vllm/model_executor/layers/mamba/mamba_utils.py,
// MambaStateShapeCalculator (mamba1_state_shape, mamba2_state_shape,
// kda_state_shape). Checked against the blocks that vLLM logged for
// Nemotron-3 and Nemotron-Nano.
const MambaFormula = "linear layers x (conv width x (kernel - 1) x 2 + ssm elements x bytes(ssm dtype)) / TP"

// SSM is a mamba state as far as one rank is concerned, by its two products.
type SSM struct {
	// Layers are the mamba layers on the rank.
	Layers int64
	// Heads are what the ranks share: heads of mamba-2 and KDA, channels of
	// mamba-1.
	Heads int64
	// ConvPerHead are the conv channels that go with a head; GroupChannels those
	// that all heads share (2 x groups x state), split like the heads where the
	// groups are enough, else kept by every rank.
	ConvPerHead, Groups, GroupWidth int64
	// SSMPerHead are the elements of the ssm state of a head.
	SSMPerHead int64
	// ConvKernel is the width of the convolution, in tokens.
	ConvKernel int64
	// SSMElementBytes is 2 or 4: see SSMElementBytes.
	SSMElementBytes int64
	// SpeculativeTokens lengthen the conv state by one column each.
	SpeculativeTokens int64
	TP                int64
}

// Parts are the bytes of one slot on one rank. Heads that the ranks cannot
// share evenly are an error.
func (m SSM) Parts() (conv, ssm int64, err error) {
	if err := atLeast(1, term{"linear layers", m.Layers}, term{"heads of the state", m.Heads}, term{"conv channels of a head", m.ConvPerHead},
		term{"ssm elements of a head", m.SSMPerHead}, term{"conv kernel", m.ConvKernel}, term{"bytes of the ssm dtype", m.SSMElementBytes}, term{"TP", m.TP}); err != nil {
		return 0, 0, err
	}
	if err := atLeast(0, term{"groups", m.Groups}, term{"width of a group", m.GroupWidth}, term{"speculative tokens", m.SpeculativeTokens}); err != nil {
		return 0, 0, err
	}
	if m.Heads%m.TP != 0 {
		return 0, 0, fmt.Errorf("%d heads of the state cannot be shared by %d ranks: choose a TP that divides them", m.Heads, m.TP)
	}
	groups := m.Groups
	if groups%m.TP == 0 {
		groups /= m.TP
	} else if groups > 0 {
		groups = 1 // with fewer groups than ranks, each rank has one
	}
	shared, err := product(groups, m.GroupWidth)
	if err != nil {
		return 0, 0, err
	}
	width, err := product(m.Heads/m.TP, m.ConvPerHead)
	if err != nil {
		return 0, 0, err
	}
	if width, err = sum(width, shared); err != nil {
		return 0, 0, err
	}
	columns, err := sum(m.ConvKernel-1, m.SpeculativeTokens)
	if err != nil {
		return 0, 0, err
	}
	if conv, err = product(m.Layers, width, columns, convElementBytes); err != nil {
		return 0, 0, err
	}
	ssm, err = product(m.Layers, m.Heads/m.TP, m.SSMPerHead, m.SSMElementBytes)
	return conv, ssm, err
}

// SlotBytes is what one slot costs on one rank, in bytes, by MambaFormula.
// Errors are those of Parts.
func (m SSM) SlotBytes() (int64, error) { return bothParts(m) }

func bothParts(s Slot) (int64, error) {
	conv, ssm, err := s.Parts()
	if err != nil {
		return 0, err
	}
	return sum(conv, ssm)
}

// Formula is MambaFormula.
func (m SSM) Formula() string { return MambaFormula }

// Terms are the terms of MambaFormula with their values.
func (m SSM) Terms() []string {
	return []string{
		fmt.Sprintf("linear layers = %d", m.Layers),
		fmt.Sprintf("heads x conv channels + groups x width = %d x %d + %d x %d", m.Heads, m.ConvPerHead, m.Groups, m.GroupWidth),
		fmt.Sprintf("ssm elements = %d x %d", m.Heads, m.SSMPerHead),
		fmt.Sprintf("conv kernel = %d", m.ConvKernel),
		fmt.Sprintf("bytes(ssm dtype) = %d", m.SSMElementBytes),
		fmt.Sprintf("TP = %d", m.TP),
	}
}
