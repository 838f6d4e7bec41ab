package argv

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trimtab/trimtab/internal/catalogue"
	"github.com/trimtab/trimtab/internal/setting"
)

// parse reads a line that is split at blanks; a word with a $ is unknown.
func parse(t testing.TB, engine, version string, mode Mode, line string) Line {
	t.Helper()
	return parseWords(t, engine, version, mode, strings.Fields(line))
}

func parseWords(t testing.TB, engine, version string, mode Mode, texts []string) Line {
	t.Helper()
	e, err := catalogue.Load(engine)
	require.NoError(t, err)
	r, ok := e.Find(version)
	require.True(t, ok, version)
	words := wordsOf(texts)
	for i := range words {
		words[i].Unknown = strings.Contains(words[i].Text, "$")
	}
	line := Parse(e, r, mode, words)
	requireLossless(t, words, line)
	return line
}

// requireOwned checks that each word belongs to one setting or is a stray, in
// the order of the line, and returns the words of each setting.
func requireOwned(t testing.TB, words []setting.Word, line Line) [][]string {
	t.Helper()
	require.Len(t, line.Owners, len(words))
	var stray []setting.Word
	owned := make([][]string, len(line.Settings))
	for i, owner := range line.Owners {
		if owner == NoSetting {
			stray = append(stray, words[i])
			continue
		}
		owned[owner] = append(owned[owner], words[i].Text)
	}
	require.Equal(t, stray, line.Stray)
	for i, s := range line.Settings {
		require.NotEmpty(t, owned[i], s.Name)
		require.Len(t, s.Places, len(owned[i]), s.Name)
	}
	for _, problem := range line.Problems {
		require.NotEmpty(t, problem.Message)
		require.NotContains(t, problem.Message, "\n")
		require.Less(t, problem.Setting, len(line.Settings))
	}
	return owned
}

// requireLossless checks besides that a setting's words are its spelling and
// its values. Lines made to confuse (-O-x, --a.b --c_d) go through rewriting
// that this does not undo.
func requireLossless(t testing.TB, words []setting.Word, line Line) {
	t.Helper()
	for i, owned := range requireOwned(t, words, line) {
		s := line.Settings[i]
		value := strings.Join(s.Values, "\x00")
		forms := []string{
			strings.Join(append([]string{s.Spelled}, s.Values...), "\x00"), // --x v, --x
			s.Spelled + "=" + value, // --x=v
			s.Spelled + value,       // -xv, and the model alone
			"--\x00" + value,        // -- model
			value + "\x00--",        // model --
		}
		require.Contains(t, forms, strings.Join(owned, "\x00"), "%s %q %q", s.Name, s.Spelled, s.Values)
	}
}

// show prints settings in short: NAME=VALUES, ! for switched off, ? for
// unknown, ~ for overridden.
func show(line Line) string {
	var parts []string
	for _, s := range line.Settings {
		text := s.Name
		if len(s.Values) > 0 {
			text += "=" + strings.Join(s.Values, ",")
		}
		for mark, set := range map[string]bool{"!": s.Off, "?": s.Unknown, "~": s.Overridden} {
			if set {
				text += mark
			}
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, " ")
}

func strays(line Line) string {
	var parts []string
	for _, word := range line.Stray {
		parts = append(parts, word.Text)
	}
	return strings.Join(parts, " ")
}

func kinds(line Line) string {
	var parts []string
	for _, problem := range line.Problems {
		parts = append(parts, strings.TrimSpace(string(problem.Kind)+" "+problem.Flag))
	}
	return strings.Join(parts, "; ")
}

func TestSettings(t *testing.T) {
	for _, c := range []struct {
		name, engine, version string
		mode                  Mode
		line, settings, stray string
		problems              string
	}{
		{"alias and abbreviation", "sglang", "0.5.16", Launch, "--model-path m --tensor-parallel-size 2 --dp 4", "--model-path=m --tp-size=2 --dp-size=4", "", ""},
		{"equals", "sglang", "0.5.16", Launch, "--model-path=m --tp-size=2", "--model-path=m --tp-size=2", "", ""},
		{"the last wins", "sglang", "0.5.16", Launch, "--model-path m --tp 2 --tp-size 4", "--model-path=m --tp-size=2~ --tp-size=4", "", ""},
		{"an old name writes the same key", "sglang", "0.5.14", Launch, "--model-path m --mamba-scheduler-strategy auto --mamba-radix-cache-strategy no_buffer", "--model-path=m --mamba-scheduler-strategy=auto~ --mamba-radix-cache-strategy=no_buffer", "", ""},
		{"several values", "sglang", "0.5.16", Launch, "--model-path m --cuda-graph-bs-decode 1 2 4 --tp 2", "--model-path=m --cuda-graph-bs-decode=1,2,4 --tp-size=2", "", ""},
		{"a negative number is a value", "sglang", "0.5.16", Launch, "--model-path m --chunked-prefill-size -1", "--model-path=m --chunked-prefill-size=-1", "", ""},
		{"underscores are unknown", "sglang", "0.5.16", Launch, "--model-path m --tp_size 2", "--model-path=m", "--tp_size 2", "unknown --tp_size"},
		{"ambiguous", "sglang", "0.5.16", Launch, "--model-path m --pp 2", "--model-path=m", "--pp 2", "ambiguous --pp"},
		{"optional boolean", "sglang", "0.5.16", Launch, "--model-path m --no-lora-strict-loading", "--model-path=m --lora-strict-loading!", "", ""},
		{"a switch takes no value", "sglang", "0.5.16", Launch, "--model-path m --trust-remote-code=true", "--model-path=m --trust-remote-code=true", "", "unexpected-value --trust-remote-code"},
		{"a word behind a switch is a stray", "sglang", "0.5.16", Launch, "--model-path m --trust-remote-code true", "--model-path=m --trust-remote-code", "true", "stray true"},
		{"missing value", "sglang", "0.5.16", Launch, "--model-path m --tp --dp 2", "--model-path=m --tp-size --dp-size=2", "", "missing-value --tp-size"},
		{"missing model", "sglang", "0.5.16", Launch, "--tp 2", "--tp-size=2", "", "missing-option --model-path"},
		{"dashes end options", "sglang", "0.5.16", Launch, "--model-path m -- --tp 2", "--model-path=m", "-- --tp 2", "stray --; stray --tp; stray 2"},
		{"unknown value", "sglang", "0.5.16", Launch, "--model-path m --tp $TP", "--model-path=m --tp-size=$TP?", "", ""},
		{"unknown attached value", "sglang", "0.5.16", Launch, "--model-path m --tp=$TP", "--model-path=m --tp-size=$TP?", "", ""},
		{"unknown word", "sglang", "0.5.16", Launch, "$MORE --model-path m", "--model-path=m", "$MORE", ""},
		{"sglang serve", "sglang", "0.5.16", Serve, "m --model-type llm --tp 2", "--model-path=m --model-type=llm --tp-size=2", "", ""},
		{"values in the order of the line", "sglang", "0.5.16", Launch, "--model-path m --tp x --dtype nope", "--model-path=m --tp-size=x --dtype=nope", "", "bad-value --tp-size; bad-choice --dtype"},

		{"the model", "vllm", "0.11.0", Serve, "m --max_model_len 8k", "--model=m --max-model-len=8k", "", ""},
		{"the model behind", "vllm", "0.11.0", Serve, "--port 80 m", "--port=80 --model=m", "", ""},
		{"an unknown option's value is the model", "vllm", "0.11.0", Serve, "--nope 3 M", "--model=3", "--nope M", "unknown --nope; stray M"},
		{"the model behind dashes", "vllm", "0.11.0", Serve, "--port 80 -- m", "--port=80 --model=m", "", ""},
		{"--model is refused", "vllm", "0.11.0", Serve, "--model m", "--model=m", "", "refused --model"},
		{"--model is moved", "vllm", "0.11.1", Serve, "--port 80 --model m", "--port=80 --model=m", "", ""},
		{"the served name wants the model first", "vllm", "0.17.0", Serve, "--served-model-name n --port 80 m", "--served-model-name=n --port=80 --model=m", "", "refused"},
		{"model names swallow the model", "vllm", "0.11.0", Serve, "--served-model-name n m", "--served-model-name=n,m", "", ""},
		{"the positional wins", "vllm", "0.11.0", API, "m --model other", "--model=m --model=other~", "", ""},
		{"the API server had no positional", "vllm", "0.9.2", API, "m --port 80", "--port=80", "m", "stray m"},
		{"off", "vllm", "0.11.0", Serve, "m --no-enable-prefix-caching", "--model=m --enable-prefix-caching!", "", ""},
		{"twins", "vllm", "0.33.0", Serve, "m --disable-log-requests", "--model=m --enable-log-requests!", "", ""},
		{"no twins before", "vllm", "0.32.0", Serve, "m --disable-log-requests", "--model=m", "--disable-log-requests", "unknown --disable-log-requests"},
		{"short options", "vllm", "0.11.0", Serve, "m -tp 2 -q=awq -qfp8", "--model=m --tensor-parallel-size=2 --quantization=awq~ --quantization=fp8", "", ""},
		{"only one letter takes its value attached", "vllm", "0.11.0", Serve, "m -tp2", "--model=m", "-tp2", "unknown -tp2"},
		{"dotted keys", "vllm", "0.11.0", Serve, "m --compilation-config.level 3 --compilation-config.pass_config.x=true", "--model=m --compilation-config.level=3 --compilation-config.pass_config.x=true", "", ""},
		{"dotted keys replace the whole", "vllm", "0.11.0", Serve, `m --compilation-config.level 3 --compilation-config {"level":2}`, `--model=m --compilation-config.level=3 --compilation-config={"level":2}~`, "", ""},
		{"two spellings are two values", "vllm", "0.12.0", Serve, "m -cc.a 1 --compilation-config.b 2", "--model=m --compilation-config.a=1~ --compilation-config.b=2", "", ""},
		{"dotted keys of an unknown option", "vllm", "0.11.0", Serve, "m --nope.a 1 --port 80", "--model=m --port=80", "--nope.a 1", "unknown --nope"},
		{"no dotted keys before 0.9.0", "vllm", "0.8.5", Serve, "m --compilation-config.level 3", "--model=m", "--compilation-config.level 3", "unknown --compilation-config.level"},
		{"a dotted key without value", "vllm", "0.11.0", Serve, "m --compilation-config.level", "--model=m", "--compilation-config.level", "refused; unknown --compilation-config.level"},
		{"lists grow", "vllm", "0.11.0", Serve, "m --compilation-config.splitting_ops+ a --compilation-config.splitting_ops+=b", "--model=m --compilation-config.splitting_ops=a --compilation-config.splitting_ops=b", "", ""},
		{"level, option", "vllm", "0.13.0", Serve, "m -O3", "--model=m --optimization-level=3", "", ""},
		{"level, dotted", "vllm", "0.11.0", Serve, "m -O 3", "--model=m --compilation-config.level=3", "", ""},
		{"level, attached", "vllm", "0.8.5", Serve, "m -O3", "--model=m --compilation-config=3", "", ""},
		{"None is no value", "vllm", "0.11.0", Serve, "m --seed None", "--model=m --seed=None", "", ""},
		{"repeatable", "vllm", "0.11.0", Serve, "m --middleware a --middleware b", "--model=m --middleware=a --middleware=b", "", ""},
		{"both ways", "vllm", "0.11.0", Serve, "m --enable-prefix-caching --no-enable-prefix-caching", "--model=m --enable-prefix-caching~ --enable-prefix-caching!", "", ""},
		{"words that may be options", "vllm", "0.11.0", Serve, "m --port 80 $MORE", "--model=m --port=80", "$MORE", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			line := parse(t, c.engine, c.version, c.mode, c.line)
			require.Equal(t, c.settings, show(line))
			require.Equal(t, c.stray, strays(line))
			require.Equal(t, c.problems, kinds(line))
			require.Equal(t, strings.Contains(c.stray, "$"), line.Opaque)
		})
	}
}

func TestSettingsKnowWhereTheyStand(t *testing.T) {
	line := parse(t, "sglang", "0.5.16", Launch, "--model-path m --tp 2 --trust-remote-code")
	tp := line.Settings[1]
	require.Equal(t, "tp_size", tp.Key)
	require.Equal(t, "--tp", tp.Spelled)
	require.Equal(t, "args[2]", tp.Origin.String())
	require.Equal(t, []setting.Path{{"args", 2}, {"args", 3}}, tp.Places)
	require.Equal(t, []int{0, 0, 1, 1, 2}, line.Owners)
	require.Equal(t, "true", line.Settings[2].Value())
}

func TestWordsOfOneNodeAreOnePlace(t *testing.T) {
	e, err := catalogue.Load("sglang")
	require.NoError(t, err)
	place := setting.Origin{Kind: setting.Argument, Path: setting.Path{"args", 0}}
	line := Parse(e, e.Newest(), Launch, []setting.Word{
		{Text: "--model-path", Origin: place}, {Text: "", Unknown: true, Needs: []string{"model.path"}, Origin: place},
	})
	require.Len(t, line.Settings, 1)
	require.True(t, line.Settings[0].Unknown)
	require.Equal(t, []string{"model.path"}, line.Settings[0].Needs)
	require.Equal(t, []setting.Path{{"args", 0}}, line.Settings[0].Places)
	require.Empty(t, line.Problems)
}

func TestUnknownOptionKeepsItsValues(t *testing.T) {
	line := parse(t, "sglang", "0.5.16", Launch, "--model-path m --omni-bs 1 2 --tp 2")
	require.Len(t, line.Problems, 1)
	require.Len(t, line.Problems[0].Words, 3)
	require.Equal(t, NoSetting, line.Problems[0].Setting)
}

func TestAmbiguousNamesItsCandidates(t *testing.T) {
	line := parse(t, "sglang", "0.5.16", Launch, "--model-path m --pp 2")
	require.Equal(t, []string{"--pp-async-batch-depth", "--pp-max-micro-batch-size", "--pp-size"}, line.Problems[0].Candidates)
}

// Every line the real parsers were given is read without losing a word.
func TestVerdictLinesAreLossless(t *testing.T) {
	for _, name := range []string{"mutated-sglang", "mutated-vllm"} {
		for _, v := range readVerdicts(t, name) {
			e, err := catalogue.Load(v.Engine)
			require.NoError(t, err)
			r, ok := e.Find(v.Version)
			require.True(t, ok)
			words := wordsOf(v.Argv)
			requireLossless(t, words, Parse(e, r, v.Mode, words))
		}
	}
}

func TestCheck(t *testing.T) {
	of := func(kind string) catalogue.Option {
		return catalogue.Option{Flag: "--x", Names: []string{"--x"}, Action: "store", Type: kind}
	}
	suffixed := of("int")
	suffixed.Suffixes = true
	chosen := of("int")
	chosen.Choices = []string{"1", "16"}
	plugin := of("str")
	plugin.Choices, plugin.Open = []string{"a"}, true
	for _, c := range []struct {
		option  catalogue.Option
		good    []string
		refused []string
	}{
		{of("int"), []string{"8", " 8", "8\n", "+8", "-8", "08", "1_000", "８"}, []string{"", "1.0", "1e3", "0x10", "1__0", "_1", "1_", "8k", "--8"}},
		{of("float"), []string{"1", ".5", "1.", "1_0.5", "nan", "-inf", "Infinity", "1e-3", " 2 "}, []string{"", ".", "1e", "e5", "0.5.5", "1_.5", "0x1"}},
		{of("json"), []string{"{}", "[1]", " null ", `{"a":NaN}`, "-Infinity", `"NaN"`}, []string{"", "{a:1}", "{'a':1}", "{} {}", "True", "{}}"}},
		{of("human_int"), []string{"8", "4k", "4K", "25.6k", "1T"}, []string{"", "4.5K", "k", "4ki", "1e3", "4kk"}},
		{of("human_int_auto"), []string{"auto", " AUTO ", "-1", "4k"}, []string{"automatic", ""}},
		{suffixed, []string{"8", "8k", "1M", "4Ki", "1.5k"}, []string{"4K", "1.5Ki", "Ki", "8kk"}},
		{of("str_or_json"), []string{"cpu", "", `{"a":1}`}, []string{"{a}"}},
		{chosen, []string{"1", "016", " 16"}, []string{"2"}},
		{plugin, []string{"a", "mine"}, nil},
		{of("str"), []string{"", "anything"}, nil},
	} {
		for _, value := range c.good {
			require.Nil(t, Check(c.option, []string{value}), "%s %q", c.option.Type, value)
		}
		for _, value := range c.refused {
			require.NotNil(t, Check(c.option, []string{value}), "%s %q", c.option.Type, value)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, line := range []string{
		"--model-path m --tp 2", "m -O3 -cc.a+ 1 --x.y", "-- m --", "--=x --model -0.5", "-.5 --port 1", "--model= -q -qx",
		"--model-type= -h=1 --enable-lora.a 1", "--served_model_name a b -- c", "--lora-modules {} =", "-O.x 1 -O=",
	} {
		for mode := range 5 {
			f.Add(strings.ReplaceAll(line, " ", "\x00"), byte(mode), byte(40))
		}
	}
	f.Fuzz(func(t *testing.T, joined string, mode, version byte) {
		words, line := fuzzed(t, joined, mode, version)
		requireOwned(t, words, line)
	})
}

// FuzzPrint takes lines that no release rewrites and prints them back.
func FuzzPrint(f *testing.F) {
	for _, line := range []string{"--model-path m --tp 2", "m -- --port=80 -qawq", "--served-model-name a b -q= --", "--trust-remote-code=x -1 $A"} {
		for mode := range 5 {
			f.Add(strings.ReplaceAll(line, " ", "\x00"), byte(mode), byte(40))
		}
	}
	f.Fuzz(func(t *testing.T, joined string, mode, version byte) {
		for text := range strings.SplitSeq(joined, "\x00") {
			name, _, _ := strings.Cut(text, "=")
			if strings.HasPrefix(text, "-O") || strings.HasPrefix(text, "-") && strings.Contains(name, ".") || strings.HasPrefix(text, "--model") || strings.HasPrefix(text, "--") && strings.Contains(name, "_") {
				t.Skip("a word that is rewritten")
			}
		}
		words, line := fuzzed(t, joined, mode, version)
		requireLossless(t, words, line)
	})
}

func fuzzed(t *testing.T, joined string, mode, version byte) ([]setting.Word, Line) {
	name, programs := "vllm", []Mode{Serve, API}
	if mode%5 > 1 {
		name, programs = "sglang", []Mode{Launch, Serve}
	}
	e, err := catalogue.Load(name)
	require.NoError(t, err)
	words := wordsOf(strings.Split(joined, "\x00"))
	for i := range words {
		words[i].Unknown = strings.Contains(words[i].Text, "$")
	}
	r := e.Releases[int(version)%len(e.Releases)]
	return words, Parse(e, r, programs[mode%2], words)
}

var benchLine = wordsOf(strings.Fields("Qwen/Qwen3-8B --host 0.0.0.0 --port 8000 --max-model-len 32k --gpu-memory-utilization 0.9 " +
	"--max-num-seqs 16 --tensor-parallel-size 2 --kv-cache-dtype fp8_e4m3 --enable-prefix-caching --enable-auto-tool-choice " +
	"--tool-call-parser hermes --reasoning-parser qwen3 --served-model-name a b --trust-remote-code --compilation-config.mode 3"))

func BenchmarkParse(b *testing.B) {
	e, err := catalogue.Load("vllm")
	require.NoError(b, err)
	r := e.Newest()
	for b.Loop() {
		Parse(e, r, Serve, benchLine)
	}
}
