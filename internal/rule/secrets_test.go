package rule

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/trimtab/trimtab/internal/finding"
)

func secretsIn(t *testing.T, text string) Secrets {
	t.Helper()
	var document yaml.Node
	require.NoError(t, yaml.Unmarshal([]byte(text), &document))
	return SecretsOf([]*yaml.Node{&document}, nil)
}

func TestSecretsOf(t *testing.T) {
	const key = "Zq7xWv93kPlm"
	for _, text := range []string{
		"env: [{name: HF_TOKEN, value: " + key + "}]",
		"env: [{value: " + key + ", name: HF_TOKEN}]",
		"args: [--api-key, " + key + "]",
		"args: [--api-key=" + key + "]",
		"args: [--api-ke, " + key + "]",
		"hfToken: " + key,
		"args: ['{\"a\": {\"password\": \"" + key + "\"}}']",
		"args: ['{\"a\": \"{\\\"password\\\": \\\"" + key + "\\\"}\"}']",
		"args: ['--x.y.api_key " + key + "']",
		"run: s3://user:" + key + "@host",
		"run: \"curl -H 'Authorization: Bearer " + key + "'\"",
		"run: 'A=1 TOKEN=" + key + " serve'",
		"run: '--api-key ${KEY:-" + key + "} --api-key ${API_KEY:=" + key + "}'",
		"run: \"serve --api-key \\\\\\n  '" + key + "'\"",
	} {
		secrets := secretsIn(t, text)
		require.Equal(t, "is "+HiddenSecret+"!", secrets.Hide("is "+key+"!"), text)
		require.True(t, secrets.StandIn(key), text)
	}
	quoted := secretsIn(t, `env: [{name: PASSWORD, value: 'a"b c\d1'}]`)
	require.Equal(t, `(hidden) "(hidden)"`, quoted.Hide(`a"b c\d1 "a\"b c\\d1"`))
}

// What no one would call a secret is shown as it is, or messages become riddles.
func TestSecretsOfLeavesTheRest(t *testing.T) {
	for _, text := range []string{
		"args: [--max-num-batched-tokens, '40960000', --tokenizer, Qwen/Qwen3-8B]",
		"args: [--api-key, EMPTY, --model, Qwen/Qwen3-8B]",
		"args: [--api-key, sglang]",
		"args: [--api-key, $(API_KEY), --model, m]",
		"args: [--api-key, '${API_KEY}', --model, m]",
		"hfSecret: huggingface-credentials",
		"env: [{name: HF_TOKEN, valueFrom: {secretKeyRef: {name: huggingface, key: token-of-it}}}]",
		"args: ['{\"eos_token\": \"<|im_end|>\"}']",
		"args: [--api-key-file, /etc/keys/api-key-one]",
		"run: 'export HF_TOKEN=$(cat /run/token) SSL=/etc/key'",
		"automountServiceAccountToken: false",
		"args: [--long-prefill-token-threshold, '1024', --long-prefill-token-threshold=thousandandone]",
	} {
		require.Empty(t, secretsIn(t, text).texts, text)
	}
}

func TestSecretsHideInFinding(t *testing.T) {
	secrets := secretsIn(t, "password: Zq7xWv93kPlm")
	needs := []string{"Zq7xWv93kPlm"}
	f := finding.Finding{Message: "it is Zq7xWv93kPlm", Value: "Zq7xWv93kPlm", Needs: needs, Fix: []finding.Replacement{{Text: "a Zq7xWv93kPlm"}}}
	secrets.HideIn(&f)
	require.Equal(t, finding.Finding{Message: "it is (hidden)", Value: "(hidden)", Needs: []string{"(hidden)"}}, f)
	require.Equal(t, []string{"Zq7xWv93kPlm"}, needs)
}
