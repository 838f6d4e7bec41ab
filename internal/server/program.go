package server

import (
	"path"
	"strings"

	"github.com/trimtab/trimtab/internal/catalogue"
	"github.com/trimtab/trimtab/internal/setting"
)

// program is an engine's entry point inside a command.
type program struct {
	engine, mode string
	// direct is true when the command begins with the engine itself.
	direct    bool
	arguments []setting.Word
}

// entryPoints are the ways to start an engine, as the words behind the
// interpreter: SGLang launch_server and the serve command of its CLI (from
// 0.5.5), vLLM's CLI and its OpenAI server module.
var entryPoints = []struct {
	words        []string
	engine, mode string
}{
	{[]string{"-m", "sglang.launch_server"}, "sglang", "launch"},
	{[]string{"sglang", "serve"}, "sglang", "serve"},
	{[]string{"-m", "vllm.entrypoints.openai.api_server"}, "vllm", "api"},
	{[]string{"-m", "vllm.entrypoints.cli.main", "serve"}, "vllm", "serve"},
	{[]string{"vllm", "serve"}, "vllm", "serve"},
}

// findProgram looks for an engine's entry point in a command line. A command
// that hands a script to a shell is not looked into.
func findProgram(line []setting.Word) (program, bool) {
	for start := range line {
		for _, entry := range entryPoints {
			if !matches(line[start:], entry.words) {
				continue
			}
			return program{
				engine: entry.engine, mode: entry.mode,
				direct:    startsEngine(line[:start]),
				arguments: line[start+len(entry.words):],
			}, true
		}
	}
	return program{}, false
}

func matches(line []setting.Word, entry []string) bool {
	if len(line) < len(entry) {
		return false
	}
	for i, want := range entry {
		got := line[i].Text
		if i == 0 && want != "-m" {
			got = path.Base(got)
		}
		if got != want {
			return false
		}
	}
	return true
}

// startsEngine tells whether the words before an entry point are only a Python
// interpreter with its own switches.
func startsEngine(before []setting.Word) bool {
	if len(before) == 0 {
		return true
	}
	if !strings.HasPrefix(path.Base(before[0].Text), "python") {
		return false
	}
	for _, word := range before[1:] {
		if !strings.HasPrefix(word.Text, "-") {
			return false
		}
	}
	return true
}

func officialImage(image string) bool {
	_, official := catalogue.OfficialImage(image)
	return official
}
