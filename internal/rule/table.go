package rule

import "github.com/trimtab/trimtab/internal/finding"

// Meta is what is fixed about a rule: its name, how bad its findings are, and
// whether Trim acts on them by itself.
type Meta struct {
	Name     string
	Severity finding.Severity
	// Trim is true when Trim acts unless a config says `report`.
	Trim    bool
	Summary string
}

// Table is every rule of the contract, in its order. Names are never reused.
var Table = []Meta{
	{"unknown-flag", finding.Error, false, "The engine at this version does not know the flag."},
	{"removed-flag", finding.Error, true, "The flag is known before or after this version only."},
	{"deprecated-flag", finding.Warning, true, "The engine still takes the flag and says that it will go."},
	{"abbreviated-flag", finding.Info, false, "The flag is a unique prefix today and breaks with the next flag of that prefix."},
	{"bad-value", finding.Error, false, "The engine's parser refuses the value."},
	{"repeated-setting", finding.Warning, true, "The setting is set twice in one place and the later one wins."},
	{"shadowed-setting", finding.Warning, true, "A later origin overrides the setting."},
	{"inert-setting", finding.Warning, true, "The engine accepts the setting and does nothing with it here."},
	{"restated-default", finding.Info, false, "The setting equals what the engine does anyway."},
	{"clamped-setting", finding.Error, true, "The setting is higher than what the engine will use."},
	{"overridden-setting", finding.Warning, false, "The engine silently replaces the setting."},
	{"load-bearing-setting", finding.Info, false, "The setting looks redundant and is not."},
	{"conflicting-settings", finding.Error, false, "The engine refuses to start with these settings."},
	{"unsupported-on-gpu", finding.Error, true, "The target GPU lacks what the setting asks for."},
	{"retargeted-setting", finding.Warning, true, "The setting was chosen for another GPU than the stated target."},
	{"gpu-mismatch", finding.Error, false, "The parallel sizes do not fit the GPUs that are asked for."},
	{"kv-overcommit", finding.Error, true, "The workload does not fit the KV pool."},
	{"oversized-pool", finding.Warning, true, "A pool has more slots than are ever used."},
	{"prefill-starvation", finding.Warning, true, "One long prompt owns the prefill path."},
	{"shm-too-small", finding.Warning, false, "Shared memory is smaller than the engine needs."},
	{"volume-too-small", finding.Warning, false, "A volume is smaller than what is written to it."},
	{"memory-request-too-small", finding.Warning, false, "The memory request is below what the settings allocate."},
	{"unversioned-cache", finding.Warning, false, "A cache directory outlives its image or its weights."},
	{"unpruned-cache", finding.Warning, true, "A growing cache tier is pruned by nobody."},
	{"slow-cache-lookup", finding.Warning, true, "A file-backed cache runs without its metadata cache."},
	{"dead-env", finding.Warning, true, "This engine version does not read the variable."},
	{"dead-metric", finding.Warning, true, "A dashboard or alert asks for a metric that this engine version does not emit, or the monitoring that the config asks for is not there or out of date."},
	{"substitution-hazard", finding.Warning, false, "Flux substitution would change the text or its type."},
	{"unexpanded-value", finding.Warning, false, "Nothing expands the variable, or a needed value is empty."},
	{"unknown-version", finding.Info, false, "No engine version can be told."},
	{"probe-unfit", finding.Warning, false, "A probe kills a loading server, flaps a busy one, or asks what is not served."},
	{"roles-disagree", finding.Warning, false, "Parts of one service differ where they must agree."},
	{"secret-in-arguments", finding.Warning, false, "A key or token stands as a literal in arguments or env."},
	{"facts-disagree", finding.Warning, false, "Two sources of one fact differ."},
	{"stale-exception", finding.Warning, false, "An exception matches nothing, or its time has come."},
	{"edit-conflict", finding.Warning, false, "Two edits are at odds, or an edit cannot be made safely."},
}

// Names are the names of all rules of the contract.
func Names() []string {
	names := make([]string, 0, len(Table))
	for _, meta := range Table {
		names = append(names, meta.Name)
	}
	return names
}

// Named returns what is fixed about a rule. It panics on a name that is not in
// the table, which only a programming error can bring about.
func Named(name string) Meta {
	for _, meta := range Table {
		if meta.Name == name {
			return meta
		}
	}
	panic("no rule named " + name)
}
