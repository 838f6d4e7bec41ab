package config

import (
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/trimtab/trimtab/internal/finding"
)

// Spec is what a config says. Every field is optional: an empty string, a nil
// pointer, list or map means that the config does not say.
type Spec struct {
	// Select says which servers the config is about: entries are alternatives, and
	// in one all fields must match. Absent: every server found.
	Select []Selector
	// Engine says which engine runs where the image does not tell.
	Engine Engine
	// GPU is the target: a name of the catalogue, or a description.
	GPU GPU
	// Model holds facts about the checkpoint that a manifest cannot tell.
	Model Model
	// Workload is what a server must carry, all its ranks together.
	Workload Workload
	// Measured holds figures read off the engine's log, per GPU.
	Measured Measured
	// Keep names settings that are never edited: canonical name, alias,
	// env/NAME or typed field.
	Keep []string
	// Rules changes single rules: switches one off, sets its severity, or says
	// whether Trim acts.
	Rules map[string]RuleSetting
	// Facts are the user's own facts about settings.
	Facts []*yaml.Node
	// FailOn is the severity from which a run fails; absent: error.
	FailOn FailOn
	// Stamp records on the object what its sizing rests on; a change of that is
	// reported from then on.
	Stamp *bool
	// Prune configures the CronJob that prunes a cache tier; false: none is
	// generated and ours are removed.
	Prune *Prune
	// Monitor asks for monitoring objects. Absent: none are generated, and what
	// stands is left alone; false: ours are removed.
	Monitor *Monitor
}

// Engine says which engine runs when the image does not.
type Engine struct {
	// Name is sglang or vllm.
	Name string
	// Version is a release (v0.5.16) or a PEP 440 range (>=0.5.10,<0.5.16).
	Version string
	// Knows are flags and env/NAME patterns (* stands for any text) that a fork
	// or plugin adds.
	Knows []string
}

// GPU is the target: a catalogue name, or a description.
type GPU struct {
	// Name is a name or alias of the catalogue; case, blanks, dashes, underscores
	// and the vendor in front do not count.
	Name string
	// Vendor is nvidia, amd or intel.
	Vendor string
	// Arch is the vendor's own name: sm_90, gfx1201.
	Arch string
	// ComputeCapability is NVIDIA's MAJOR.MINOR: 8.9.
	ComputeCapability string
	// Count is the number of GPUs of one replica, from 1.
	Count *int64
	// Memory is that of one GPU, in bytes.
	Memory *Quantity
	// Reserve is what neighbours on the same card need of its memory, in bytes.
	Reserve *Quantity
}

// Model holds facts about the checkpoint that a manifest cannot tell.
type Model struct {
	// Name is the id on the Hub, of the catalogue or any other.
	Name string
	// DType is the checkpoint's own: bfloat16.
	DType string
	// Quantization is the checkpoint's own method: awq, gptq, fp8.
	Quantization string
	// RemoteCode is true when the checkpoint ships Python code (auto_map).
	RemoteCode *bool
	// Config is the checkpoint's config.json.
	Config *ModelConfig
}

// ModelConfig is the checkpoint's config.json. A host hands over inline configs
// alone; a config file may point to it.
type ModelConfig struct {
	// JSON is the file's content; of an inline mapping, with sorted keys. It is
	// empty until a path is read.
	JSON []byte
	// Path is where the file lies, relative to the config's own file.
	Path string
}

// Workload is what a server must carry, all its ranks together.
type Workload struct {
	// PeakRunning is the number of requests running at once, from 1.
	PeakRunning *int64
	// PeakMambaSlots is the number of slots of recurrent state in use at once.
	PeakMambaSlots *int64
	// Prompts are the classes of requests that run at once.
	Prompts []Prompt
}

// Prompt is one class of requests: its prompt and output in tokens, and how
// many of them run at once.
type Prompt struct {
	// Tokens is the length of the prompt, in tokens.
	Tokens int64
	// Output is the length of the answer, in tokens.
	Output int64
	// Running is how many of them run at once; absent: one.
	Running int64
}

// Measured holds figures read off the engine's log, per GPU.
type Measured struct {
	// KVTokens is how many tokens the KV cache holds.
	KVTokens *int64
	// KVBytes is the size of the KV cache, as logged.
	KVBytes *Quantity
	// MambaSlots is the number of slots of recurrent state that was configured.
	MambaSlots *int64
	// MambaBytes is the size of the slots' pool, as logged.
	MambaBytes *Quantity
	// PrefillTokensPerSecond is how many tokens of prompts are computed in a second.
	PrefillTokensPerSecond *float64
}

// RuleSetting changes one rule: switches it off, sets its severity, or says
// whether Trim acts. What is nil stays as the rule has it.
type RuleSetting struct {
	Off      bool
	Severity *finding.Severity
	Trim     *bool
}

// FailOn is the severity from which a run fails.
type FailOn string

// The values of failOn.
const (
	FailOnError   FailOn = "error"
	FailOnWarning FailOn = "warning"
	FailOnNever   FailOn = "never"
)

// Fails tells whether a finding of this severity that remains makes the run
// fail.
func (f FailOn) Fails(s finding.Severity) bool {
	switch f {
	case FailOnNever:
		return false
	case FailOnWarning:
		return s.Rank() >= finding.Warning.Rank()
	}
	return s == finding.Error
}

// Prune configures the CronJob that prunes a cache tier.
type Prune struct {
	// Off is prune: false: none is generated and ours are removed.
	Off bool
	// Schedule is a cron schedule of five fields, or a macro such as @daily.
	Schedule string
	// KeepFor is how long a generation stays that no manifest names.
	KeepFor *time.Duration
	// Image is that of the job's container, with a busybox shell.
	Image string
	// PriorityClassName is the class of the job's pods.
	PriorityClassName string
}
