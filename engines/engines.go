// Package engines holds the data about the engines and the operators that run
// them: which options, variables and metrics exist in which release
// (options.jsonl, env.jsonl, metrics.jsonl: measured, written by hack/pack),
// which keys a JSON option takes (configs.jsonl: read off the source),
// what settings do (facts/*.yaml: by hand, reviewed; libraries/facts for what
// both engines run), which field of an operator becomes which flag
// (operators/*.yaml), and what shows and watches a server and the gateway before
// it (monitoring/*.yaml). It only carries the files; internal/catalogue,
// internal/engine and internal/mixin read them.
package engines

import "embed"

// Files are the data files, by paths like "sglang/options.jsonl" and
// "vllm/facts/parallel.yaml".
//
//go:embed gateway libraries operators sglang vllm
var Files embed.FS
