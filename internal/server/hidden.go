package server

import (
	"github.com/trimtab/trimtab/internal/setting"
)

// HiddenField is a field that an operator does not use because another one says
// the same: the word of a command line that it would become is never written.
type HiddenField struct {
	// Setting is the flag that the field would become, or the field's own path.
	Setting string
	Path    setting.Path
	// Value is what the field says, Used what is used, and By where that stands.
	Value, Used, By string
	// Source is where the operator decides, Versions those of the operator that
	// do; empty where it is not known that all do.
	Source, Versions string
}

// hiddenFields are the fields of which another one of the same row is written;
// source is where the operator chooses.
func (t *typed) hiddenFields(source string) []HiddenField {
	var hidden []HiddenField
	for _, r := range t.runtime.Rows {
		var by *HiddenField
		for _, name := range r.Fields {
			node, path := field(t.spec, t.path, name)
			if by != nil && text(node) != "" {
				hidden = append(hidden, HiddenField{
					Setting: r.Flag, Path: path, Value: text(node), Used: by.Value, By: by.Path.String(),
					Source: source, Versions: "*",
				})
			}
			if _, written := fieldWords(r, node, path); written && by == nil {
				by = &HiddenField{Path: path, Value: text(node)}
			}
		}
	}
	return hidden
}

// hiddenFields are those of the rows, and what the operator takes from one of
// two fields outside of the command line.
//
// Source: defilantech/LLMKube@907ac8d8, pkg/apiutil/gpu.go, GPUCount;
// internal/controller/deployment_builder.go.
func (l *llmkube) hiddenFields(modelRef string) []HiddenField {
	hidden := l.typed.hiddenFields("LLMKube internal/controller/runtime_vllm.go and runtime_sglang.go, BuildArgs: the custom type wins")
	resources := l.path.Join("resources")
	own := at(l.spec, "resources", "gpu")
	if count := text(at(l.model, "spec", "hardware", "gpu", "count")); l.gpus.Ignored != nil {
		hidden = append(hidden, HiddenField{
			Setting: resources.Join("gpu").String(), Path: resources.Join("gpu"), Value: text(own),
			Used: count, By: "spec.hardware.gpu.count of Model " + modelRef,
			Source: "LLMKube pkg/apiutil/gpu.go, GPUCount: the Model's count wins where it is above zero", Versions: "*",
		})
	}
	memory, host := text(at(l.spec, "resources", "memory")), text(at(l.spec, "resources", "hostMemory"))
	if memory != "" && host != "" {
		hidden = append(hidden, HiddenField{
			Setting: resources.Join("memory").String(), Path: resources.Join("memory"), Value: memory,
			Used: host, By: resources.Join("hostMemory").String(),
			Source: "LLMKube internal/controller/deployment_builder.go: hostMemory, else memory",
		})
	}
	return hidden
}
