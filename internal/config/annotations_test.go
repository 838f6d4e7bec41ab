package config

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDecodeAnnotations(t *testing.T) {
	o, err := DecodeAnnotations(map[string]string{
		"trimtab.dev/engine": "sglang@v0.5.16",
		"trimtab.dev/gpu":    " r9700\n",
		"trimtab.dev/model":  "example/model-7b",
		"trimtab.dev/keep": `
--pre-warm-nccl
inert-setting env/HIP_VISIBLE_DEVICES until sglang>=0.5.17: the node grows a second card

maxModelLen until vllm >= 0.28.0
`,
		"trimtab.dev/ignore":                  "oversized-pool --max-mamba-cache-size: peaks at night: ask ops",
		"kubectl.kubernetes.io/whatever":      "ignored",
		"config.kubernetes.io/origin":         "path: a.yaml",
		"not.trimtab.dev/keep":                "",
		"trimtab.devel/keep":                  "",
		"internal.config.kubernetes.io/index": "0",
	}, testRules)
	require.NoError(t, err)
	require.Equal(t, &Overrides{
		Engine: Engine{Name: "sglang", Version: "v0.5.16"},
		GPU:    "r9700",
		Model:  "example/model-7b",
		Keep: []Exception{
			{Setting: "--pre-warm-nccl", Line: "--pre-warm-nccl"},
			{
				Rule: "inert-setting", Setting: "env/HIP_VISIBLE_DEVICES", UntilEngine: "sglang", UntilVersion: "0.5.17",
				Reason: "the node grows a second card",
				Line:   "inert-setting env/HIP_VISIBLE_DEVICES until sglang>=0.5.17: the node grows a second card",
			},
			{Setting: "maxModelLen", UntilEngine: "vllm", UntilVersion: "0.28.0", Line: "maxModelLen until vllm >= 0.28.0"},
		},
		Ignore: []Exception{{
			Rule: "oversized-pool", Setting: "--max-mamba-cache-size", Reason: "peaks at night: ask ops",
			Line: "oversized-pool --max-mamba-cache-size: peaks at night: ask ops",
		}},
	}, o)

	o, err = DecodeAnnotations(nil, testRules)
	require.NoError(t, err)
	require.Equal(t, &Overrides{}, o)
}

func TestDecodeAnnotationsErrors(t *testing.T) {
	tests := []struct{ name, value, want string }{
		{"keeps", "--x", "unknown annotation `trimtab.dev/keeps`; did you mean `trimtab.dev/keep`?"},
		{"zzz", "", "unknown annotation `trimtab.dev/zzz`; known are trimtab.dev/engine, trimtab.dev/gpu, trimtab.dev/ignore, trimtab.dev/keep, trimtab.dev/model"},
		{"", "x", "unknown annotation `trimtab.dev/`; known are trimtab.dev/engine, trimtab.dev/gpu, trimtab.dev/ignore, trimtab.dev/keep, trimtab.dev/model"},
		{"gpu", " ", "annotation `trimtab.dev/gpu` must not be empty; remove it or give it a value"},
		{"engine", "sgl", "annotation `trimtab.dev/engine` names the unknown engine \"sgl\"; did you mean \"sglang\"?"},
		{"engine", "vllm@main", "annotation `trimtab.dev/engine` must end in a release such as @v0.5.16, got \"vllm@main\""},
		{"keep", "--a, --b", "annotation `trimtab.dev/keep` has one entry a line, `[RULE ]SETTING[: REASON]`: unknown rule \"--a,\"; the rules are inert-setting, oversized-pool, restated-default, slow-cache-lookup, unversioned-cache, clamped-setting"},
		{"keep", "inert-seting --a", "annotation `trimtab.dev/keep` has one entry a line, `[RULE ]SETTING[: REASON]`: unknown rule \"inert-seting\"; did you mean \"inert-setting\"?"},
		{"keep", "a b c", "annotation `trimtab.dev/keep` must be `[RULE ]SETTING[ until ENGINE>=VERSION][: REASON]` on each line, got \"a b c\""},
		{"keep", ": why", "annotation `trimtab.dev/keep` must be `[RULE ]SETTING[ until ENGINE>=VERSION][: REASON]` on each line, got \": why\""},
		{"keep", "--a until", "annotation `trimtab.dev/keep` must end an entry with `until ENGINE>=VERSION` such as until sglang>=0.5.17, got \"--a until\""},
		{"keep", "--a until sglang>0.5.17", "annotation `trimtab.dev/keep` must end an entry with `until ENGINE>=VERSION` such as until sglang>=0.5.17, got \"--a until sglang>0.5.17\""},
		{"keep", "--a until triton>=1", "annotation `trimtab.dev/keep` must end an entry with `until ENGINE>=VERSION` such as until sglang>=0.5.17, got \"--a until triton>=1\""},
		{"keep", "--a until vllm>=soon", "annotation `trimtab.dev/keep` must end an entry with `until ENGINE>=VERSION` such as until sglang>=0.5.17, got \"--a until vllm>=soon\""},
		{"ignore", "--a: why", "annotation `trimtab.dev/ignore` must be `RULE SETTING: REASON` on each line, got \"--a: why\""},
		{"ignore", "inert-setting --a", "annotation `trimtab.dev/ignore` must be `RULE SETTING: REASON` on each line, got \"inert-setting --a\""},
		{"ignore", "inert-setting --a:  ", "annotation `trimtab.dev/ignore` must be `RULE SETTING: REASON` on each line, got \"inert-setting --a:\""},
	}
	for _, test := range tests {
		t.Run(test.name+" "+test.value, func(t *testing.T) {
			_, err := DecodeAnnotations(map[string]string{"trimtab.dev/" + test.name: test.value}, testRules)
			require.EqualError(t, err, test.want)
		})
	}
}
