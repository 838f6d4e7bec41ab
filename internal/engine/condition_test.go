package engine

import (
	"testing"

	"github.com/stretchr/testify/require"
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
