package argv

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trimtab/trimtab/internal/catalogue"
	"github.com/trimtab/trimtab/internal/setting"
)

// withFile parses a line whose file f.yaml holds entries.
func withFile(t *testing.T, engine, version string, mode Mode, line string, entries ...Entry) Line {
	t.Helper()
	e, err := catalogue.Load(engine)
	require.NoError(t, err)
	r, ok := e.Find(version)
	require.True(t, ok)
	for i := range entries {
		entries[i].Origin = setting.Origin{Kind: setting.Field, Path: setting.Path{"data", "f.yaml", entries[i].Key}}
	}
	return ParseWithFile(e, r, mode, wordsOf(strings.Fields(line)), func(path string) ([]Entry, bool) {
		return entries, path == "f.yaml"
	})
}

func entry(key string, value any) Entry { return Entry{Key: key, Value: value} }

func TestConfigFile(t *testing.T) {
	for _, c := range []struct {
		name, engine, version string
		mode                  Mode
		line                  string
		entries               []Entry
		settings, problems    string
	}{
		{"the line wins", "vllm", "0.20.0", Serve, "m --config f.yaml --port 80", []Entry{entry("port", int64(1)), entry("max-num-seqs", int64(8))},
			"--model=m --config=f.yaml --port=80 --port=1~ --max-num-seqs=8", ""},
		{"also what stands before", "vllm", "0.20.0", Serve, "m --port 80 --config f.yaml", []Entry{entry("port", int64(1))},
			"--model=m --port=80 --config=f.yaml --port=1~", ""},
		{"the model of the file", "vllm", "0.20.0", Serve, "--config f.yaml --port 80", []Entry{entry("model", "m")}, "--config=f.yaml --port=80 --model=m", ""},
		{"no model anywhere", "vllm", "0.20.0", Serve, "--config f.yaml --port 80", nil, "--config=f.yaml --port=80", "refused --config"},
		{"the model of the file, once not", "vllm", "0.8.0", Serve, "--config f.yaml", []Entry{entry("model", "m")}, "--config=f.yaml --model=m", "refused --config; missing-option model_tag"},
		{"the model is moved first", "vllm", "0.20.0", Serve, "--config f.yaml --model m", []Entry{entry("port", int64(1))}, "--config=f.yaml --model=m --port=1", ""},
		{"API server", "vllm", "0.20.0", API, "--config f.yaml --port 80", []Entry{entry("model", "m")}, "--config=f.yaml --port=80 --model=m", ""},
		{"API server, its first word split off", "vllm", "0.10.0", API, "--port 80 --config f.yaml", []Entry{entry("seed", int64(1))},
			"--port --model=80 --config=f.yaml --seed=1", "missing-value --port"},
		{"switches", "vllm", "0.20.0", Serve, "m --config f.yaml", []Entry{entry("enforce-eager", true), entry("enable-prefix-caching", false)}, "--model=m --config=f.yaml --enforce-eager", ""},
		{"off, for the API server", "vllm", "0.28.0", API, "--config f.yaml", []Entry{entry("enable-prefix-caching", false)}, "--config=f.yaml --enable-prefix-caching!", ""},
		{"lists", "vllm", "0.20.0", Serve, "m --config f.yaml", []Entry{entry("served-model-name", []any{"a", "b"}), entry("middleware", []any{})}, "--model=m --config=f.yaml --served-model-name=a,b", ""},
		{"objects", "vllm", "0.20.0", Serve, "m --config f.yaml", []Entry{entry("compilation-config", map[string]any{"nope": int64(1)})},
			`--model=m --config=f.yaml --compilation-config={"nope":1}`, "bad-value --compilation-config"},
		{"objects, once as text of Python", "vllm", "0.13.0", Serve, "m --config f.yaml", []Entry{entry("compilation-config", map[string]any{"nope": int64(1)})},
			`--model=m --config=f.yaml --compilation-config={"nope":1}?`, ""},
		{"underscores and numbers", "vllm", "0.20.0", Serve, "m --config f.yaml", []Entry{entry("gpu_memory_utilization", 0.90), entry("seed", nil)},
			"--model=m --config=f.yaml --gpu-memory-utilization=0.9 --seed=None", "bad-value --seed"},
		{"unknown key", "vllm", "0.20.0", Serve, "m --config f.yaml", []Entry{entry("nope", "x")}, "--model=m --config=f.yaml", "unknown --nope"},
		{"fused is no file", "vllm", "0.20.0", Serve, "m --config=f.yaml", []Entry{entry("port", int64(1))}, "--model=m --config=f.yaml", ""},
		{"twice", "vllm", "0.20.0", Serve, "m --config f.yaml --config f.yaml", nil, "--model=m --config=f.yaml~ --config=f.yaml", "refused --config"},
		{"no YAML", "vllm", "0.20.0", Serve, "m --config f.json", nil, "--model=m --config=f.json", "refused --config"},
		{"last", "vllm", "0.20.0", Serve, "m --config", nil, "--model=m --config", "refused --config; missing-value --config"},

		{"sglang", "sglang", "0.5.16", Launch, "--tp 2 --config f.yaml", []Entry{entry("model-path", "m"), entry("tp-size", int64(4))}, "--tp-size=2 --config=f.yaml --model-path=m --tp-size=4~", ""},
		{"sglang, switches", "sglang", "0.5.16", Launch, "--config f.yaml --model-path m", []Entry{entry("trust-remote-code", true), entry("enable-metrics", false)}, "--config=f.yaml --model-path=m --trust-remote-code", ""},
		{"sglang, underscores", "sglang", "0.5.16", Launch, "--config f.yaml --model-path m", []Entry{entry("tp_size", int64(2))}, "--config=f.yaml --model-path=m", "unknown --tp_size"},
		{"sglang, an action of its own", "sglang", "0.5.16", Launch, "--config f.yaml --model-path m", []Entry{entry("lora-paths", []any{"a"})}, "--config=f.yaml --model-path=m --lora-paths=a", "refused --lora-paths"},
		{"sglang, before there was one", "sglang", "0.5.2", Launch, "--config f.yaml --model-path m", nil, "--model-path=m", "unknown --config"},
	} {
		t.Run(c.name, func(t *testing.T) {
			line := withFile(t, c.engine, c.version, c.mode, c.line, c.entries...)
			require.Equal(t, c.settings, show(line))
			require.Equal(t, c.problems, kinds(line))
		})
	}
}

func TestUnknownConfigFileHidesSettings(t *testing.T) {
	for _, engine := range []string{"vllm", "sglang"} {
		mode, words := Serve, "m --config other.yaml"
		line := withFile(t, engine, map[string]string{"vllm": "0.20.0", "sglang": "0.5.16"}[engine], mode, words)
		require.True(t, line.Opaque)
		require.Empty(t, line.Problems)
		require.Len(t, line.Settings, 2)
	}
	require.True(t, parse(t, "sglang", "0.5.16", Launch, "--config f.yaml").Opaque, "no file, no guess: the model may stand in it")
	require.False(t, parse(t, "vllm", "0.20.0", Serve, "m --config=f.yaml").Opaque, "the engine does not read it")
}

func TestWordsOfAFileKnowWhereTheyStand(t *testing.T) {
	line := withFile(t, "vllm", "0.20.0", Serve, "m --config f.yaml --port 80", entry("max-num-seqs", int64(8)))
	require.Equal(t, []int{0, 1, 1, 2, 2, 3, 3}, line.Owners)
	require.Equal(t, `data["f.yaml"].max-num-seqs`, line.Settings[3].Origin.String())
	require.Equal(t, []setting.Path{{"data", "f.yaml", "max-num-seqs"}}, line.Settings[3].Places)
}

func TestPythonText(t *testing.T) {
	for want, value := range map[string]any{
		"None": nil, "True": true, "8": int64(8), "0.9": 0.90, "8.0": 8.0, "1e-05": 1e-5, "1e+16": 1e16, "x": "x", "-0.5": -0.5, "inf": math.Inf(1), "0.0001": 1e-4,
	} {
		text, ok := pythonText(value)
		require.True(t, ok)
		require.Equal(t, want, text)
	}
	_, ok := pythonText([]any{})
	require.False(t, ok)
}

func FuzzConfigFile(f *testing.F) {
	for _, line := range []string{"m --config f.yaml", "--config --config", "--config f.yaml --model m", "--port 1 --config f.yml -- x", "--config"} {
		for mode := range 5 {
			f.Add(strings.ReplaceAll(line, " ", "\x00"), "port", byte(mode), byte(40))
		}
	}
	f.Fuzz(func(t *testing.T, joined, key string, mode, version byte) {
		name, programs := "vllm", []Mode{Serve, API}
		if mode%5 > 1 {
			name, programs = "sglang", []Mode{Launch, Serve}
		}
		e, err := catalogue.Load(name)
		require.NoError(t, err)
		words := wordsOf(strings.Split(joined, "\x00"))
		line := ParseWithFile(e, e.Releases[int(version)%len(e.Releases)], programs[mode%2], words, func(string) ([]Entry, bool) {
			return []Entry{entry("model", "m"), entry(key, true), entry(key, []any{int64(1), "x"}), entry(key, map[string]any{})}, true
		})
		require.GreaterOrEqual(t, len(line.Owners), len(words))
		for _, owner := range line.Owners {
			require.Less(t, owner, len(line.Settings))
		}
	})
}
