package catalogue

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func loaded(t testing.TB, name string) *Engine {
	t.Helper()
	e, err := Load(name)
	require.NoError(t, err)
	return e
}

func release(t testing.TB, e *Engine, version string) Release {
	t.Helper()
	r, ok := e.Find(version)
	require.True(t, ok, "%s %s", e.Name, version)
	return r
}

func TestLoadNamesTheKnownEngines(t *testing.T) {
	_, err := Load("tgi")
	require.EqualError(t, err, `unknown engine "tgi": known are sglang, vllm`)
}

// The lazily decoded lines are all read once here, so that a broken one cannot
// hide.
func TestEveryLineDecodes(t *testing.T) {
	for name, want := range map[string]struct{ releases, options, variables int }{
		"sglang": {62, 611, 1434}, "vllm": {50, 382, 552},
	} {
		e := loaded(t, name)
		require.GreaterOrEqual(t, len(e.Releases), want.releases)
		require.GreaterOrEqual(t, len(e.options), want.options)
		for _, line := range e.options {
			lives := e.lives(line)
			require.NotEmpty(t, lives, line.flag)
			for _, option := range lives {
				require.NotEmpty(t, option.Names, line.flag)
				require.NotEmpty(t, option.Action, line.flag)
				require.NotEmpty(t, option.Type, line.flag)
				require.Contains(t, line.keys(), option.Key, line.flag)
				require.LessOrEqual(t, option.Since.Index, option.Until.Index, line.flag)
				require.Subset(t, line.names, option.Names, line.flag)
			}
		}
		names, err := e.EnvNames()
		require.NoError(t, err)
		require.GreaterOrEqual(t, len(names), want.variables)
		for _, name := range names {
			require.NotEmpty(t, e.EnvEver(name), name)
		}
		for i, r := range e.Releases {
			version, err := r.order.parsed()
			require.NoError(t, err)
			if i > 0 {
				before, _ := e.Releases[i-1].order.parsed()
				require.True(t, before.LessThan(version), "%s before %s", e.Releases[i-1], r)
			}
			found, ok := e.Find(r.Version)
			require.True(t, ok)
			require.Equal(t, r, found)
			spelled := map[string]string{}
			for _, option := range e.Options(r) {
				for _, name := range option.Names {
					require.Empty(t, spelled[name], "%s %s: two options", r, name)
					spelled[name] = option.Flag
				}
			}
			require.NotEmpty(t, spelled)
		}
	}
}

func TestOption(t *testing.T) {
	s, v := loaded(t, "sglang"), loaded(t, "vllm")
	tp, ok := s.Option("--tensor-parallel-size", release(t, s, "0.5.16"))
	require.True(t, ok)
	require.Equal(t, "--tp-size", tp.Flag)
	require.Equal(t, "tp_size", tp.Key)
	require.Equal(t, int64(1), tp.Default)
	_, ok = s.Option("--tp", release(t, s, "0.5.16"))
	require.False(t, ok, "an abbreviation is no spelling")

	memory, ok := v.Option("--gpu-memory-utilization", v.Newest())
	require.True(t, ok)
	require.Equal(t, 0.92, memory.Default)
	require.Equal(t, "gpu_memory_utilization", memory.Key)
	require.Equal(t, "float", memory.Type)

	lora, ok := v.Option("--lora-modules", v.Newest())
	require.True(t, ok)
	require.Equal(t, "+", lora.NArgs)

	old, ok := s.Option("--mamba-scheduler-strategy", release(t, s, "0.5.14"))
	require.True(t, ok)
	require.Equal(t, "--mamba-radix-cache-strategy", old.Replacement)
	require.True(t, old.Deprecated)
	byKey, ok := s.OptionByKey("mamba_radix_cache_strategy", release(t, s, "0.5.14"))
	require.True(t, ok)
	require.Equal(t, "--mamba-radix-cache-strategy", byKey.Flag)

	renamed, ok := s.OptionByKey("fp8_gemm_runner_backend", release(t, s, "0.5.16"))
	require.True(t, ok)
	require.Equal(t, "--fp8-gemm-backend", renamed.Flag)

	require.True(t, s.KnownKey("num_continuous_decode_steps"))
	require.False(t, s.KnownKey("no_such_key"))
}

func TestTurnsOff(t *testing.T) {
	v := loaded(t, "vllm")
	r := release(t, v, "0.33.0")
	for spelled, off := range map[string]bool{
		"--enable-log-requests": false, "--no-enable-log-requests": true, "--disable-log-requests": true,
		"--disable-cascade-attn": false, "--enable-cascade-attn": true, "--no-disable-cascade-attn": true,
		"--enable-expert-parallel": false, "-ep": false, "--enforce-eager": false, "--no-enforce-eager": true,
	} {
		option, ok := v.Option(spelled, r)
		require.True(t, ok, spelled)
		require.Equal(t, off, option.TurnsOff(spelled), spelled)
	}
}

func TestOptionEver(t *testing.T) {
	v := loaded(t, "vllm")
	runs := v.OptionEver("--disable-log-requests")
	require.Len(t, runs, 2, "gone, and back as a twin")
	require.Equal(t, "0.8.0", runs[0].Since.Version)
	require.Equal(t, "0.33.0", runs[1].Since.Version)
	require.Equal(t, v.Newest(), runs[1].Until)
	require.Empty(t, v.OptionEver("--no-such-flag"))
	whole := v.OptionEver("--max-model-len")
	require.Len(t, whole, 1, "changes of type and default are no gaps")
	require.Equal(t, Life{v.Releases[0], v.Newest()}, whole[0])
}

func TestSpellings(t *testing.T) {
	s := loaded(t, "sglang")
	require.Equal(t, []string{"--tp-size"}, s.Spellings("--tp", release(t, s, "0.5.16")))
	require.Equal(t, []string{"--pp-async-batch-depth", "--pp-max-micro-batch-size", "--pp-size"}, s.Spellings("--pp", release(t, s, "0.5.16")))
	require.Empty(t, s.Spellings("--pp", release(t, s, "0.4.6")))
}

func TestEnv(t *testing.T) {
	s, v := loaded(t, "sglang"), loaded(t, "vllm")
	_, ok := v.Env("VLLM_USE_V1", release(t, v, "0.11.0"))
	require.True(t, ok)
	_, ok = v.Env("VLLM_USE_V1", release(t, v, "0.11.1"))
	require.False(t, ok)
	runs := v.EnvEver("VLLM_USE_V1")
	require.Len(t, runs, 1)
	require.Equal(t, "0.11.0", runs[0].Until.Version)
	set, ok := s.Env("AITER_FLYDSL_EP_NO_FAKE_EXPERT", s.Newest())
	require.True(t, ok)
	require.False(t, set.Read)
	_, ok = s.Env("NO_SUCH_VARIABLE", s.Newest())
	require.False(t, ok)
}

func BenchmarkLoad(b *testing.B) {
	for b.Loop() {
		if _, err := load("vllm"); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkOptionLookup(b *testing.B) {
	e := loaded(b, "vllm")
	r := e.Newest()
	for b.Loop() {
		if _, ok := e.Option("--max-model-len", r); !ok {
			b.Fatal("not found")
		}
	}
}

func BenchmarkFirstLookup(b *testing.B) {
	for b.Loop() {
		b.StopTimer()
		e, _ := load("vllm")
		b.StartTimer()
		e.Option("--kv-cache-dtype", e.Newest())
	}
}
