package engine

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trimtab/trimtab/internal/catalogue"
	"github.com/trimtab/trimtab/internal/facts"
	"github.com/trimtab/trimtab/internal/setting"
)

func TestConditionIsThreeValued(t *testing.T) {
	known := map[string]any{"tp_size": int64(1), "pp_size": int64(2), "gpu.count": int64(1), "value": "0", "gpu.whole": true}
	find := func(name string) (any, bool, []string) {
		v, ok := known[name]
		return v, ok, []string{"settles " + name}
	}
	cases := []struct {
		expression string
		want       Truth
		needs      []string
	}{
		{"true", True, nil},
		{"tp_size == 1", True, nil},
		{"tp_size == 1 && pp_size == 1", False, nil},
		{"tp_size * pp_size <= gpu.count", False, nil},
		{"value == '0' && gpu.whole", True, nil},
		{"'ngram'.upperAscii() == 'NGRAM'", True, nil},
		{"[1, 2].exists(s, s == pp_size)", True, nil},
		{"[1, 2].all(s, s < ep_size)", Unknown, []string{"settles ep_size"}},
		{"ep_size == 1", Unknown, []string{"settles ep_size"}},
		{"ep_size == 1 && pp_size == 1", False, nil},
		{"ep_size == 1 || tp_size == 1", True, nil},
		{"gpu.memory > 10 && tp_size == 1", Unknown, []string{"settles gpu.memory"}},
		{"gpu.memory > 10 && gpu.count == 1 && model.dtype == 'x'", Unknown, []string{"settles gpu.memory", "settles model.dtype"}},
	}
	for _, c := range cases {
		compiled, err := compile(c.expression)
		require.NoError(t, err, c.expression)
		outcome, err := compiled.evaluate(find)
		require.NoError(t, err, c.expression)
		got, err := outcome.truth()
		require.NoError(t, err, c.expression)
		require.Equal(t, c.want, got, c.expression)
		require.Equal(t, c.needs, outcome.Needs, c.expression)
	}
}

func TestConditionGivesPlainValues(t *testing.T) {
	find := func(name string) (any, bool, []string) { return "/model", name == "model", nil }
	for expression, want := range map[string]any{
		"[model]":         []any{"/model"},
		"[1, 2] + [[3]]":  []any{int64(1), int64(2), []any{int64(3)}},
		"null":            nil,
		"model + '/part'": "/model/part",
	} {
		compiled, err := compile(expression)
		require.NoError(t, err, expression)
		outcome, err := compiled.evaluate(find)
		require.NoError(t, err, expression)
		require.True(t, outcome.Known, expression)
		require.Equal(t, want, outcome.Value, expression)
	}
}

// TestFactsAndOptionsOfOneName: vLLM has an option --model, and conditions ask
// for model.dtype, the fact.
func TestFactsAndOptionsOfOneName(t *testing.T) {
	vllm, err := catalogue.Load("vllm")
	require.NoError(t, err)
	known := facts.Set{"model.dtype": {Value: "bfloat16"}}
	given := []setting.Setting{{Name: "--model", Key: "model", Values: []string{"/model"}}}
	s := NewState(vllm, &Knowledge{}, vllm.Releases[0], given, known, "")
	value, ok, _ := s.lookup("model.dtype", setting.Setting{})
	require.True(t, ok)
	require.Equal(t, "bfloat16", value)
	_, ok, needs := s.lookup("model.moe", setting.Setting{})
	require.False(t, ok)
	require.Equal(t, []string{"model.name"}, needs)
}

func TestKeysOfAJSONOption(t *testing.T) {
	vllm, err := catalogue.Load("vllm")
	require.NoError(t, err)
	newest := vllm.Releases[len(vllm.Releases)-1]
	whole := setting.Setting{Name: "--compilation-config", Key: "compilation_config", Values: []string{`{"mode": 3, "backend": "eager"}`}}
	dotted := setting.Setting{Name: "--compilation-config.mode", Key: "compilation_config.mode", Values: []string{"3"}}
	for _, c := range []struct {
		given []setting.Setting
		want  []any
	}{
		{nil, []any{}},
		{[]setting.Setting{whole}, []any{"backend", "mode"}},
		{[]setting.Setting{dotted}, []any{"mode"}},
	} {
		s := NewState(vllm, &Knowledge{}, newest, c.given, facts.Set{}, "")
		keys, ok, _ := s.lookup("keys.compilation_config", setting.Setting{})
		require.True(t, ok)
		require.Equal(t, c.want, keys)
	}
	hidden := setting.Setting{Name: "--compilation-config", Key: "compilation_config", Unknown: true}
	s := NewState(vllm, &Knowledge{}, newest, []setting.Setting{hidden}, facts.Set{}, "")
	_, ok, needs := s.lookup("keys.compilation_config", setting.Setting{})
	require.False(t, ok)
	require.Equal(t, []string{"--compilation-config"}, needs)
}
