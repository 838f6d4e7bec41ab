package serving_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trimtab/trimtab/internal/catalogue"
	"github.com/trimtab/trimtab/internal/config"
	"github.com/trimtab/trimtab/internal/serving"
)

// TestSettingsExist: a name that no release of an engine ever had is a typing
// error in the data.
func TestSettingsExist(t *testing.T) {
	t.Parallel()
	for _, name := range catalogue.Names() {
		engine, err := catalogue.Load(name)
		require.NoError(t, err)
		data, err := serving.Load(name)
		require.NoError(t, err)
		listens := data.Listens
		named := append([]string{listens.Port.Flag, listens.Host.Flag, listens.Socket, listens.Prefix, listens.Certificate, listens.Key.Flag}, listens.Silent...)
		named = append(named, listens.Otherwise...)
		for _, route := range listens.Routes {
			require.True(t, strings.HasPrefix(route.Path, "/"), route.Path)
			named = append(named, route.Needs)
		}
		for _, pool := range data.HostMemory {
			named = append(named, pool.Setting)
			unit, err := config.ParseQuantity(pool.Unit)
			require.NoError(t, err, pool.Setting)
			require.Positive(t, unit.Bytes)
			require.Contains(t, []string{"rank", "server"}, pool.Each, pool.Setting)
			require.Contains(t, []string{"V", "R"}, pool.Mark, pool.Setting)
			for _, other := range []*serving.Beside{pool.Beside, pool.Unless} {
				if other != nil {
					named = append(named, other.Setting)
				}
			}
		}
		for _, accord := range data.Roles {
			named = append(named, accord.Settings...)
			require.Contains(t, []serving.Pair{serving.Transfer, serving.Ranks, serving.Replicas}, accord.Pair)
			require.Contains(t, []string{"", "model", "name", "connector", "halves"}, accord.Compare)
			require.NotEmpty(t, accord.Why)
			require.NotEmpty(t, accord.Source)
			if accord.When != nil {
				named = append(named, accord.When.Setting)
			}
		}
		require.NotEmpty(t, data.Stages)
		for _, flag := range named {
			if strings.HasPrefix(flag, "--") {
				require.NotEmpty(t, engine.OptionEver(flag), "%s has no %s", name, flag)
			}
		}
		for _, standard := range []serving.Default{listens.Port, listens.Host} {
			option, ok := engine.Option(standard.Flag, engine.Newest())
			require.True(t, ok, standard.Flag)
			if option.Default != nil {
				require.EqualValues(t, standard.Value, text(option.Default), "%s %s", name, standard.Flag)
			}
		}
	}
}

func text(value any) string {
	inside, _ := serving.Inside(`{"v": `+quoted(value)+`}`, "v")
	return inside
}

func TestRoute(t *testing.T) {
	t.Parallel()
	vllm, err := serving.Load("vllm")
	require.NoError(t, err)
	for path, served := range map[string]bool{
		"/health": true, "/health/": true, "/healthz": false, "/v1/models": true, "/v1": true, "/v2/health/ready": false, "/": false, "/health_generate": false,
	} {
		_, ok := vllm.Listens.Route(path)
		require.Equal(t, served, ok, path)
	}
	require.True(t, vllm.Listens.Key.Wanted("/v1/models"))
	require.False(t, vllm.Listens.Key.Wanted("/health"))
	sglang, err := serving.Load("sglang")
	require.NoError(t, err)
	require.True(t, sglang.Listens.Key.Wanted("/get_model_info"))
	require.False(t, sglang.Listens.Key.Wanted("/health_generate"))
}

func TestInside(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		value, path, want string
		found             bool
	}{
		{`{"a": {"b": 23622320128}}`, "a.b", "23622320128", true},
		{`{"a": {"b": "c"}}`, "a.b", "c", true},
		{`{"a": {"b": "c"}}`, "a.c", "", false},
		{`{"a": []}`, "a.b", "", false},
		{`{"a": `, "a", "", false},
		{``, "a", "", false},
	} {
		got, found := serving.Inside(c.value, c.path)
		require.Equal(t, c.found, found, c.value)
		require.Equal(t, c.want, got, c.value)
	}
}

func quoted(value any) string {
	encoded, _ := json.Marshal(value)
	return string(encoded)
}
