package fn_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trimtab/trimtab/fn"
	"github.com/trimtab/trimtab/internal/catalogue"
	"github.com/trimtab/trimtab/internal/config"
	"github.com/trimtab/trimtab/internal/engine"
	"github.com/trimtab/trimtab/internal/finding"
	"github.com/trimtab/trimtab/internal/report"
)

// upgrade compares a pod with another release of its engine.
func (p pod) upgrade(t *testing.T, to string, mode config.Mode) (*fn.Upgraded, string) {
	t.Helper()
	catalogued, err := catalogue.Load(p.engine)
	require.NoError(t, err)
	release, ok := catalogued.Find(to)
	require.True(t, ok, to)
	in, source := p.input(t, mode)
	in.To = map[string]catalogue.Release{p.engine: release}
	out, err := fn.Upgrade(in)
	require.NoError(t, err)
	require.Len(t, out.Report.Servers, 1)
	text := string(source.Data)
	if changed, ok := out.Changed[source]; ok {
		text = string(changed)
	}
	return out, text
}

// changed prints the changes of an upgrade: impact, kind, setting, the values of
// both versions where they are known, and what is done.
func changed(changes []report.Change) []string {
	lines := []string{}
	for _, c := range changes {
		line := fmt.Sprintf("%s %s %s", c.Impact, c.Kind, c.Setting)
		if c.Before != "" || c.After != "" {
			line += fmt.Sprintf(" %s → %s", c.Before, c.After)
		}
		if c.Action != "none" {
			line += " " + string(c.Action)
		}
		lines = append(lines, line)
	}
	return lines
}

func TestUpgradeTellsWhatChanges(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, to string
		pod
		want []string
	}{
		{"nothing that changes", "0.19.1", pod{engine: "vllm", image: "vllm/vllm-openai:v0.19.0", args: []string{"m", "--max-num-seqs", "8"}}, nil},
		{"another word for the same default", "0.5.23", pod{engine: "sglang", image: sglang16, args: []string{"--model-path=m"}}, nil},
		{"the same release", "0.19.1", pod{engine: "vllm", image: vllm19, args: []string{"m", "--swap-space", "4"}}, nil},
		{"removed", "0.18.0", pod{engine: "vllm", image: "vllm/vllm-openai:v0.17.1", args: []string{"m", "--swap-space", "4"}},
			[]string{"breaking refused --swap-space", "silent default --disable-cascade-attn false → true"}},
		{"refused before and after", "0.19.1", pod{engine: "vllm", image: "vllm/vllm-openai:v0.19.0", args: []string{"m", "--swap-space", "4"}}, nil},
		{"renamed, and the same", "0.17.0", pod{engine: "vllm", image: "vllm/vllm-openai:v0.16.0", args: []string{"m", "--disable-log-requests"}}, []string{"breaking renamed --disable-log-requests set"}},
		{"a default", "0.20.0", pod{engine: "vllm", image: vllm19, args: []string{"m"}}, []string{"silent default --gpu-memory-utilization 0.9 → 0.92"}},
		{"a default that is written out", "0.20.0", pod{engine: "vllm", image: vllm19, args: []string{"m", "--gpu-memory-utilization=0.9"}}, nil},
		{"downwards", "0.19.1", pod{engine: "vllm", image: "vllm/vllm-openai:v0.20.0", args: []string{"m"}}, []string{"silent default --gpu-memory-utilization 0.92 → 0.9"}},
		{"a variable that is not read any more", "0.15.0", pod{engine: "vllm", image: "vllm/vllm-openai:v0.14.1", args: []string{"m"}, env: [][2]string{{"VLLM_ATTENTION_BACKEND", "FLASH_ATTN"}}},
			[]string{"silent dead env/VLLM_ATTENTION_BACKEND remove"}},
		{"a variable that is not read, neither before nor after", "0.19.1", pod{engine: "vllm", image: "vllm/vllm-openai:v0.19.0", args: []string{"m"}, env: [][2]string{{"VLLM_ATTENTION_BACKEND", "FLASH_ATTN"}}}, nil},
		{"a variable that is read again", "0.14.1", pod{engine: "vllm", image: "vllm/vllm-openai:v0.15.0", args: []string{"m"}, env: [][2]string{{"VLLM_ATTENTION_BACKEND", "FLASH_ATTN"}}},
			[]string{"silent alive env/VLLM_ATTENTION_BACKEND"}},
		{"a variable whose value is refused", "0.14.0", pod{engine: "vllm", image: "vllm/vllm-openai:v0.13.0", args: []string{"m"}, env: [][2]string{{"VLLM_FLOAT32_MATMUL_PRECISION", "ieee"}}},
			[]string{"breaking refused env/VLLM_FLOAT32_MATMUL_PRECISION ieee → "}},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, _ := c.upgrade(t, c.to, config.Verify)
			told := slices.DeleteFunc(changed(out.Report.Servers[0].Changes), func(line string) bool { return strings.HasPrefix(line, "harmless default") })
			require.ElementsMatch(t, c.want, told)
			require.Equal(t, slices.ContainsFunc(c.want, func(line string) bool { return strings.HasPrefix(line, "breaking") }), out.Failed)
		})
	}
}

func TestUpgradeWritesWhatMeansTheSame(t *testing.T) {
	t.Parallel()
	p := pod{engine: "vllm", image: "vllm/vllm-openai:v0.16.0", args: []string{"m", "--disable-log-requests", "--swap-space", "4"}}
	out, text := p.upgrade(t, "0.18.0", config.Trim)
	require.Contains(t, text, "--no-enable-log-requests")
	require.NotContains(t, text, "--disable-log-requests")
	require.Contains(t, text, "v0.16.0", "the tag is written only where it is asked for")
	require.Contains(t, text, "--swap-space", "nothing means the same")
	require.True(t, out.Failed)
	require.Equal(t, 1, out.Report.Summary().Fixed)
	_, text = p.upgrade(t, "0.18.0", config.Verify)
	require.Contains(t, text, "--disable-log-requests")
}

func TestUpgradeOfAVersionThatIsNotKnown(t *testing.T) {
	t.Parallel()
	p := pod{engine: "vllm", image: "acme/server:7", args: []string{"m", "--swap-space", "4"}, spec: `{engine: {name: vllm, version: ">=0.16.0,<0.19"}}`}
	out, _ := p.upgrade(t, "0.19.1", config.Verify)
	server := out.Report.Servers[0]
	require.Contains(t, server.Note, "compared with 0.16.0 to 0.17.1", "later ones refuse the line, so the server runs none of them")
	require.Equal(t, "breaking refused --swap-space", changed(server.Changes)[0])
	require.Empty(t, server.Changes[0].From, "it holds for every release that is possible")
}

// What the engine takes by default shows in the account of the GPU, unless that
// rests on what was measured.
func TestUpgradeTellsWhatBecomesOfTheMemory(t *testing.T) {
	t.Parallel()
	p := pod{engine: "vllm", image: vllm19, args: []string{"m", "--max-num-seqs=8", "--max-model-len=8192"},
		spec: "{gpu: {name: H100-SXM, memory: 80Gi, count: 1}, model: {name: Qwen/Qwen3-8B, dtype: bfloat16}}"}
	tokens := func(p pod) []report.Change {
		out, _ := p.upgrade(t, "0.20.0", config.Verify)
		return about(out.Report.Servers[0].Changes, "kv")
	}
	found := tokens(p)
	require.Len(t, found, 1)
	require.Equal(t, report.MemoryChanged, found[0].Kind)
	require.Less(t, found[0].Before, found[0].After, "from 0.9 of the card to 0.92")
	require.Equal(t, report.Harmless, found[0].Impact, "the errors of both are larger than what lies between them")
	p.args = append(p.args, "--gpu-memory-utilization=0.92")
	kept := tokens(p)
	require.Len(t, kept, 1, "0.20.0 sets memory aside for the graphs")
	require.Greater(t, kept[0].Before, kept[0].After)
	require.Equal(t, kept[0].After, found[0].After)
}

// sample is a word that an option takes in both releases; false where none is
// known here.
func sample(a, b *catalogue.Option) ([]string, bool) {
	word := map[string]string{"int": "8", "human_int": "8", "human_int_auto": "8", "float": "0.5", "str": "x", "bool": "true", "json": "{}", "str_or_json": "x"}[a.Type]
	if len(a.Choices) > 0 {
		word = a.Choices[0]
		for _, choice := range a.Choices {
			if b != nil && slices.Contains(b.Choices, choice) {
				word = choice
			}
		}
	}
	switch {
	case a.IsSwitch():
		return nil, true
	case word == "":
		return nil, false
	}
	return []string{word}, true
}

// Over every pair of releases that follow each other, both ways: what is gone,
// new or has another default is told of a server that uses it.
func TestUpgradeTellsEveryChangeOfTheCatalogue(t *testing.T) {
	t.Parallel()
	for _, name := range catalogue.Names() {
		catalogued, err := catalogue.Load(name)
		require.NoError(t, err)
		known, err := engine.Load(name)
		require.NoError(t, err)
		for i := range catalogued.Releases[1:] {
			for _, pair := range [][2]catalogue.Release{
				{catalogued.Releases[i], catalogued.Releases[i+1]}, {catalogued.Releases[i+1], catalogued.Releases[i]},
			} {
				t.Run(fmt.Sprintf("%s %s %s", name, pair[0], pair[1]), func(t *testing.T) {
					crossing{catalogued, known, pair[0], pair[1]}.check(t)
				})
			}
		}
	}
}

type crossing struct {
	*catalogue.Engine
	known    *engine.Knowledge
	from, to catalogue.Release
}

// starts tells whether a release takes an option by itself: some are refused
// without another one, and then nothing changes.
func (c crossing) starts(t *testing.T, at catalogue.Release, flag string, words ...string) bool {
	c.from = at
	out, _ := c.pod(append([]string{flag}, words...)...).process(t, config.Verify)
	return !slices.ContainsFunc(out.Report.Findings, func(f finding.Finding) bool { return f.Severity == finding.Error })
}

func (c crossing) pod(args ...string) pod {
	model := map[string][]string{"sglang": {"--model-path=m"}, "vllm": {"m"}}[c.Name]
	image := map[string]string{"sglang": "lmsysorg/sglang:v", "vllm": "vllm/vllm-openai:v"}[c.Name]
	return pod{engine: c.Name, image: image + c.from.Version, args: append(model, args...)}
}

func (c crossing) changes(t *testing.T, args ...string) []report.Change {
	out, _ := c.pod(args...).upgrade(t, c.to.Version, config.Verify)
	return out.Report.Servers[0].Changes
}

func about(changes []report.Change, setting string) []report.Change {
	return slices.DeleteFunc(slices.Clone(changes), func(c report.Change) bool { return c.Setting != setting })
}

// tells: an option that a release does not have may be read as the beginning of
// another one.
func tells(changes []report.Change, flag string) bool {
	return slices.ContainsFunc(changes, func(c report.Change) bool { return c.Setting == flag || c.Spelled == flag })
}

func (c crossing) check(t *testing.T) {
	bare := c.changes(t)
	for _, change := range bare {
		c.justified(t, change)
	}
	gone, asBefore := samples{}, samples{}
	for _, was := range c.Options(c.from) {
		is, alive := c.Option(was.Flag, c.to)
		switch {
		case !alive:
			gone.add(was, nil)
		case was.Key == is.Key && was.Until.Index == is.Until.Index && len(asBefore.flags) < 3 && was.HasDefault:
			asBefore.add(was, &is)
		case was.HasDefault && is.HasDefault && !engine.Same(was.Default, is.Default) && c.isMain(was) && c.isMain(is):
			if len(about(bare, was.Flag)) == 0 {
				c.excused(t, was.Flag)
			}
		}
	}
	c.tellsAll(t, gone, c.from)
	for _, change := range c.changes(t, asBefore.words...) {
		if slices.Contains(asBefore.flags, change.Setting) {
			require.NotEmpty(t, change.Evidence, "it is as it was, so a fact of the engine says what changes: %s", change.Message)
		}
	}
	added := samples{}
	for _, is := range c.Options(c.to) {
		if _, before := c.Option(is.Flag, c.from); !before {
			added.add(is, nil)
		}
	}
	c.tellsAll(t, added, c.to)
}

// samples are options with values, one after the other.
type samples struct{ flags, words []string }

func (s *samples) add(o catalogue.Option, later *catalogue.Option) {
	if words, ok := sample(&o, later); ok && !o.Required && o.Action != "ignored" && o.Flag != "--config" {
		s.flags = append(s.flags, o.Flag)
		s.words = append(append(s.words, o.Flag), words...)
	}
}

// tellsAll: of a server that uses options which one of the two releases does not
// have, each is told. By itself an option may be refused where it exists, too:
// then nothing changes.
func (c crossing) tellsAll(t *testing.T, used samples, has catalogue.Release) {
	if len(used.flags) == 0 {
		return
	}
	told := c.changes(t, used.words...)
	for _, flag := range used.flags {
		if tells(told, flag) {
			continue
		}
		option, _ := c.Option(flag, has)
		words, _ := sample(&option, nil)
		require.True(t, tells(c.changes(t, append([]string{flag}, words...)...), flag) || !c.starts(t, has, flag, words...), "nothing is told of %s", flag)
	}
}

// isMain tells whether no other option writes the same key before this one.
func (c crossing) isMain(o catalogue.Option) bool {
	main, ok := c.OptionByKey(o.Key, c.to)
	return ok && main.Flag == o.Flag
}

// justified: what is told of a server that sets nothing is a default that
// differs in the catalogue, or follows from a fact about the setting.
func (c crossing) justified(t *testing.T, change report.Change) {
	require.Equal(t, report.DefaultChanged, change.Kind, change.Message)
	if name, ok := strings.CutPrefix(change.Setting, "env/"); ok {
		was, known := c.Env(name, c.from)
		is, still := c.Env(name, c.to)
		require.True(t, known && still && fmt.Sprint(was.Default) != fmt.Sprint(is.Default), change.Message)
		return
	}
	was, known := c.Option(change.Setting, c.from)
	is, still := c.Option(change.Setting, c.to)
	require.True(t, known && still, change.Message)
	facts := len(c.known.About(change.Setting)) > 0 || c.known.Defines(is.Key, c.to) || c.known.Defines(was.Key, c.from)
	require.True(t, facts || !engine.Same(was.Default, is.Default), change.Message)
}

// excused: a default that differs is not told only where the facts say that the
// engine does nothing with the option here, or takes the same all the same.
func (c crossing) excused(t *testing.T, flag string) {
	option, _ := c.Option(flag, c.to)
	goes := option.Deprecated && option.Default == nil
	require.True(t, goes || len(c.known.About(flag)) > 0 || c.known.Defines(option.Key, c.to), "the default of %s changes, and nothing is told", flag)
}
