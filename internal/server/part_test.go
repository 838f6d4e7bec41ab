package server

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestStageIn(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"prefill": Prefill, "decode": Decode, "VllmPrefillWorker": Prefill, "vllm-decode-0": Decode, "decoderConfig": Decode, "TRTLLM-DecodeWorker": Decode, "PREFILL": Prefill,
		"sglang-prefiller": Prefill, "prefillDecode": "", "prefill-decode": "", "server": "", "undecoded": "", "decoding-strategy": "", "prefills": "",
	} {
		require.Equal(t, want, stageIn(name), name)
	}
}
