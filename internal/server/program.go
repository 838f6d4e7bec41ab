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
	// direct is true when the command begins with the engine itself; nil where
	// the image decides what runs.
	direct    *bool
	arguments []setting.Word
	// knows are patterns of options that a wrapper around the engine adds.
	knows []string
}

// entryPoint is one way to start an engine, as the words behind the interpreter.
type entryPoint struct {
	words        []string
	engine, mode string
	// wrapper is true for a program with options of its own in front of the
	// engine's: one the engine does not know may be the wrapper's.
	wrapper bool
}

// entryPoints: SGLang's launch_server and the serve command of its CLI (from
// 0.5.5), vLLM's CLI and its OpenAI server module; Dynamo's workers, which read
// the engine's options beside their own (components/src/dynamo/{vllm,sglang});
// and KServe's huggingfaceserver, which ignores what neither knows
// (huggingfaceserver/__main__.py, parse_known_args).
var entryPoints = []entryPoint{
	{words: []string{"-m", "sglang.launch_server"}, engine: "sglang", mode: "launch"},
	{words: []string{"sglang", "serve"}, engine: "sglang", mode: "serve"},
	{words: []string{"-m", "vllm.entrypoints.openai.api_server"}, engine: "vllm", mode: "api"},
	{words: []string{"-m", "vllm.entrypoints.cli.main", "serve"}, engine: "vllm", mode: "serve"},
	{words: []string{"vllm", "serve"}, engine: "vllm", mode: "serve"},
	{words: []string{"-m", "dynamo.vllm"}, engine: "vllm", mode: "api", wrapper: true},
	{words: []string{"-m", "dynamo.sglang"}, engine: "sglang", mode: "launch", wrapper: true},
	{words: []string{"-m", "huggingfaceserver"}, engine: "vllm", mode: "api", wrapper: true},
}

// anyOption is the pattern of a wrapper's options: which it has depends on its
// own release, which nothing tells.
const anyOption = "--*"

// findProgram looks for an engine's entry point in a command line. A command
// that hands a script to a shell is not looked into.
func findProgram(line []setting.Word) (program, bool) {
	for start := range line {
		for _, entry := range entryPoints {
			if !matches(line[start:], entry.words) {
				continue
			}
			found := program{
				engine: entry.engine, mode: entry.mode,
				direct:    known(startsEngine(line[:start]) && !entry.wrapper),
				arguments: line[start+len(entry.words):],
			}
			if entry.wrapper {
				found.knows = []string{anyOption}
			}
			return found, true
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

// program tells which engine a container starts, or why it starts none.
func (s seat) program(image string, command, args []setting.Word) (program, string) {
	line := append(command[:len(command):len(command)], args...)
	if started, found := findProgram(line); found {
		return started, ""
	}
	if isScript(line) {
		return program{}, scriptReason(line)
	}
	if len(command) > 0 {
		return program{}, "its command starts no engine"
	}
	if s.hint.engine != "" {
		return program{
			engine: s.hint.engine, mode: s.hint.mode, direct: s.hint.direct, knows: s.hint.knows,
			arguments: append(s.hint.before[:len(s.hint.before):len(s.hint.before)], args...),
		}, ""
	}
	return s.entryPointOf(image, args)
}

// entryPointOf tells what an image makes of bare arguments. The official vLLM
// images start the API server: its module, `vllm serve` in later releases,
// which takes no more than the module does. SGLang's start nothing by
// themselves. Of another image its name and the options tell.
func (s seat) entryPointOf(image string, args []setting.Word) (program, string) {
	engine, official := catalogue.OfficialImage(image)
	switch {
	case official && engine == "vllm":
		return program{engine: engine, mode: "api", direct: known(true), arguments: args}, ""
	case official:
		return program{}, "the image starts no engine without a command"
	}
	if engine := s.engineByOptions(image, args); engine != "" {
		return program{engine: engine, mode: "api", arguments: args}, ""
	}
	return program{}, "neither command, image nor options tell of an engine"
}

func isShell(word string) bool {
	switch path.Base(word) {
	case "sh", "bash", "ash", "dash":
		return true
	}
	return false
}

// isScript tells whether a line hands a text to a shell: sh -c, bash -lc.
func isScript(line []setting.Word) bool {
	for i, word := range line {
		if !isShell(word.Text) {
			continue
		}
		for _, option := range line[i+1:] {
			if !strings.HasPrefix(option.Text, "-") && !strings.HasPrefix(option.Text, "+") {
				break
			}
			if !strings.HasPrefix(option.Text, "--") && strings.Contains(option.Text, "c") {
				return true
			}
		}
	}
	return false
}

// scriptReason says of a shell script whether it may start an engine.
func scriptReason(line []setting.Word) string {
	for _, word := range line {
		for _, entry := range entryPoints {
			if strings.Contains(word.Text, strings.Join(entry.words, " ")) {
				return "its shell script starts " + entry.engine + ", and scripts are not read yet"
			}
		}
	}
	return "its shell script starts no engine"
}
