package fn_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trimtab/trimtab/hardware"
	"github.com/trimtab/trimtab/internal/config"
	"github.com/trimtab/trimtab/internal/finding"
)

// On every GPU of the catalogue a plain server of either engine is in order, or
// refused with the engine's own source.
func TestAPlainServerOnEveryGPU(t *testing.T) {
	servers := map[string]pod{
		"vllm":   {engine: "vllm", image: "vllm/vllm-openai:v0.19.1", args: []string{"Qwen/Qwen3-0.6B", "--max-model-len=4096"}},
		"sglang": {engine: "sglang", image: "lmsysorg/sglang:v0.5.12", args: []string{"--model-path=Qwen/Qwen3-0.6B", "--context-length=4096"}},
	}
	names := hardware.GPUNames()
	require.NotEmpty(t, names)
	for _, gpu := range names {
		for engine, server := range servers {
			server.spec = "{gpu: {name: " + gpu + ", count: 1}, model: {name: Qwen/Qwen3-0.6B, dtype: bfloat16}}"
			out, _ := server.process(t, config.Verify)
			for _, f := range out.Report.Findings {
				if f.Severity == finding.Info {
					continue
				}
				t.Logf("%s on %s: %s %s %s: %s", engine, gpu, f.Severity, f.Rule, f.Setting, f.Message)
				require.NotEmpty(t, f.Evidence, "%s on %s: %s", engine, gpu, f.Message)
			}
		}
	}
}
