package config

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestInlineModelConfigIsLossless: keys are texts, numbers keep their digits,
// texts that look like numbers stay texts.
func TestInlineModelConfigIsLossless(t *testing.T) {
	for inline, want := range map[string]string{
		`{a: 1e-06, b: 10000000, c: 0.25}`:             `{"a": 1e-06, "b": 10000000, "c": 0.25}`,
		`{a: 9007199254740993}`:                        `{"a": 9007199254740993}`,
		`{id2label: {0: x, 1: y}}`:                     `{"id2label": {"0": "x", "1": "y"}}`,
		`{a: null, b: ~, c: true, d: [1, [2], {}]}`:    `{"a": null, "b": null, "c": true, "d": [1, [2], {}]}`,
		`{a: "1", b: '1e6', c: "true", d: 2024-01-02}`: `{"a": "1", "b": "1e6", "c": "true", "d": "2024-01-02"}`,
		`{a: .inf, b: .nan, c: 0x10, d: +1, e: .5}`:    `{"a": null, "b": null, "c": 16, "d": 1, "e": 0.5}`,
		`{a: &x {k: 1}, b: *x}`:                        `{"a": {"k": 1}, "b": {"k": 1}}`,
		`{a: "é\"\n"}`:                                 `{"a": "é\"\n"}`,
	} {
		c, err := decode(t, spec("model: {config: "+inline+"}"))
		require.NoError(t, err, inline)
		require.JSONEq(t, want, string(c.Spec.Model.Config.JSON), inline)
		require.Empty(t, c.Spec.Model.Config.Path)
	}
	c, err := decode(t, spec("model: {config: {a: 9007199254740993}}"))
	require.NoError(t, err)
	require.Contains(t, string(c.Spec.Model.Config.JSON), "9007199254740993")
}

func TestModelConfigByPath(t *testing.T) {
	c := mustDecode(t, "cluster/trim.yaml", spec("model: {config: ./files/config.json}"))
	require.Equal(t, &ModelConfig{Path: "./files/config.json"}, c.Spec.Model.Config)
	content, failure := []byte(" {\"a\": 1}\n"), error(nil)
	read := func(path string) ([]byte, error) {
		require.Equal(t, filepath.FromSlash("cluster/files/config.json"), path)
		return content, failure
	}
	require.NoError(t, c.ReadModelConfig(read))
	require.JSONEq(t, `{"a": 1}`, string(c.Spec.Model.Config.JSON))
	content = []byte("a: 1")
	require.EqualError(t, c.ReadModelConfig(read), "cluster/trim.yaml: `spec.model.config`: cluster/files/config.json is no JSON object; write the path of the checkpoint's config.json")
	failure = errors.New("out of reach")
	require.EqualError(t, c.ReadModelConfig(read), "cluster/trim.yaml: `spec.model.config`: out of reach")

	c = mustDecode(t, "trim.yaml", spec("model: {config: /models/config.json}"))
	require.ErrorContains(t, c.ReadModelConfig(func(path string) ([]byte, error) { return nil, errors.New(path) }), ": /models/config.json")

	nothing := func(string) ([]byte, error) { t.Fatal("nothing is to be read"); return nil, nil }
	require.NoError(t, mustDecode(t, "trim.yaml", spec("model: {config: {a: 1}}")).ReadModelConfig(nothing))
	require.NoError(t, Default().ReadModelConfig(nothing))
}

// TestModelConfigsMerge: what the files say counts, not where they lie.
func TestModelConfigsMerge(t *testing.T) {
	inline := mustDecode(t, "a.yaml", spec("model: {config: {b: 1.0, a: x}}"))
	read := mustDecode(t, "b.yaml", spec("model: {config: config.json}"))
	content := []byte("{\"a\": \"x\",\n \"b\": 1.0}")
	require.NoError(t, read.ReadModelConfig(func(string) ([]byte, error) { return content, nil }))
	_, err := Merge([]*Config{inline, read})
	require.NoError(t, err)
	content = []byte(`{"a": "y"}`)
	require.NoError(t, read.ReadModelConfig(func(string) ([]byte, error) { return content, nil }))
	_, err = Merge([]*Config{inline, read})
	require.EqualError(t, err, "`spec.model.config` is not the same in a.yaml and in b.yaml; leave it in one of them, or part them with `select`")
}
