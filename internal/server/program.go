package server

import (
	"path"
	"slices"
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
	// wrapper is the program around the engine that passes over what neither knows.
	wrapper *Wrapper
	// variables are those of its process, reads those that a script around it
	// reads.
	variables []Variable
	reads     []string
	// clustered is true where a script around it joins a Ray cluster.
	clustered bool
}

// entryPoint is one way to start an engine, as the words behind the interpreter.
type entryPoint struct {
	words        []string
	engine, mode string
	// wrapper is true for a program with options of its own in front of the
	// engine's: one the engine does not know may be the wrapper's.
	wrapper bool
	// ignores is that program where it passes over what neither knows.
	ignores *Wrapper
}

// Wrapper is a program that reads options of its own, hands the engine's on and
// silently drops those that neither knows.
type Wrapper struct {
	Name string
	// Options are its own, with dashes.
	Options []string
	// HandsOn are those of its own that the engine gets as well.
	HandsOn []string
	// Source is where its parser stands.
	Source string
}

// Takes tells whether an option is the wrapper's own; its parser takes dashes
// and underscores alike.
func (w *Wrapper) Takes(flag string) bool {
	return slices.Contains(w.Options, strings.ReplaceAll(flag, "_", "-"))
}

// Keeps tells whether an option of the wrapper's own is not handed on to the
// engine.
func (w *Wrapper) Keeps(flag string) bool {
	return w != nil && w.Takes(flag) && !slices.Contains(w.HandsOn, strings.ReplaceAll(flag, "_", "-"))
}

// huggingfaceServer is KServe's own server around vLLM.
//
// Source: kserve v0.20, python/huggingfaceserver/huggingfaceserver/__main__.py,
// parse_known_args; python/kserve/kserve/model_server.py for the common options.
var huggingfaceServer = &Wrapper{
	Name: "KServe's huggingfaceserver",
	Options: []string{
		"--model-dir", "--model-id", "--model-revision", "--tokenizer-revision", "--max-length", "--max-model-len",
		"--disable-lower-case", "--disable-special-tokens", "--trust-remote-code", "--tensor-input-names", "--backend",
		"--return-token-type-ids", "--return-offsets-mapping", "--return-probabilities", "--return-raw-logits",
		"--disable-log-requests", "--task", "--max-log-len", "--dtype",
		"--access-log-format", "--configure-logging", "--enable-docs-url", "--enable-grpc", "--enable-latency-logging",
		"--enable-predictor-health-check", "--event-loop", "--grpc-max-receive-message-length",
		"--grpc-max-send-message-length", "--grpc-port", "--http-port", "--log-config-file", "--max-asyncio-workers",
		"--max-threads", "--model-name", "--predictor-host", "--predictor-protocol", "--predictor-request-retries",
		"--predictor-request-timeout-seconds", "--predictor-use-ssl", "--protocol", "--timeout-keep-alive", "--workers",
	},
	HandsOn: []string{"--tokenizer-revision", "--max-model-len", "--trust-remote-code", "--dtype"},
	Source:  "kserve python/huggingfaceserver/huggingfaceserver/__main__.py, parse_known_args",
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
	{words: []string{"-m", "huggingfaceserver"}, engine: "vllm", mode: "api", wrapper: true, ignores: huggingfaceServer},
}

// anyOption is the pattern of a wrapper's options: which it has depends on its
// own release, which nothing tells.
const anyOption = "--*"

// findProgram looks for an engine's entry point in a command line.
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
				wrapper:   entry.ignores,
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

// programs tells which engines a container starts, or why it starts none.
func (s seat) programs(image string, command, args []setting.Word, variables []Variable) ([]program, string) {
	line := append(command[:len(command):len(command)], args...)
	if programs, why := s.scripted(line, variables); len(programs) > 0 || why != "" {
		return programs, why
	}
	if s.hint.evaluated && len(command) == 0 && len(args) > 0 {
		args = evaluated("eval \"x $@\"", args, variables, s.path.Join("args"))
	}
	started, why := s.program(image, line, command, args)
	if why != "" {
		return nil, why
	}
	started.variables = variables
	return []program{started}, ""
}

// program tells which engine a container starts without a script.
func (s seat) program(image string, line, command, args []setting.Word) (program, string) {
	if started, found := findProgram(line); found {
		return started, ""
	}
	if len(command) > 0 {
		return program{}, "its command starts no engine"
	}
	if s.hint.engine != "" {
		return program{
			engine: s.hint.engine, mode: s.hint.mode, direct: s.hint.direct, knows: s.hint.knows, wrapper: s.hint.wrapper,
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
