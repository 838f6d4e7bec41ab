package config

import (
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/trimtab/trimtab/internal/finding"
)

// Spec is what a config says. Every field is optional: an empty string, a nil
// pointer, list or map means that the config does not say.
type Spec struct {
	// Select says which servers the config is about; none: every server found.
	Select   []Selector
	Engine   Engine
	GPU      GPU
	Model    Model
	Workload Workload
	Measured Measured
	// Keep names settings that are never edited: canonical name, alias,
	// env/NAME or typed field.
	Keep  []string
	Rules map[string]RuleSetting
	// Facts are the user's own facts about settings, each a mapping; the engine
	// room decodes them.
	Facts []*yaml.Node
	// FailOn is empty when not said, which means error.
	FailOn FailOn
	Stamp  *bool
	Prune  *Prune
	// Monitor asks for monitoring objects; nil: none are generated, and what stands
	// is left alone.
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
	Name string
	// Vendor is nvidia, amd or intel.
	Vendor string
	// Arch is the vendor's own name: sm_90, gfx1201.
	Arch string
	// ComputeCapability is NVIDIA's MAJOR.MINOR: 8.9.
	ComputeCapability string
	// Count is the number of GPUs of one replica, from 1.
	Count *int64
	// Memory is that of one GPU; Reserve is what neighbours on the same card
	// need of it.
	Memory  *Quantity
	Reserve *Quantity
}

// Model holds facts about the checkpoint that a manifest cannot tell.
type Model struct {
	Name string
	// DType and Quantization are the checkpoint's own.
	DType        string
	Quantization string
	// RemoteCode is true when the checkpoint ships Python code (auto_map).
	RemoteCode *bool
	Config     *ModelConfig
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
	PeakRunning    *int64
	PeakMambaSlots *int64
	Prompts        []Prompt
}

// Prompt is one class of requests: its prompt and output in tokens, and how
// many of them run at once.
type Prompt struct {
	Tokens  int64
	Output  int64
	Running int64
}

// Measured holds figures read off the engine's log, per GPU.
type Measured struct {
	KVTokens *int64
	KVBytes  *Quantity
	// MambaSlots is the number configured.
	MambaSlots             *int64
	MambaBytes             *Quantity
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
	KeepFor  *time.Duration
	Image    string
	// PriorityClassName is the class of the job's pods.
	PriorityClassName string
}
