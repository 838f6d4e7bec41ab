package report

import (
	"fmt"
	"strings"

	"github.com/trimtab/trimtab/internal/finding"
)

// Result is one entry of the results of a ResourceList, in the field order of
// the KRM functions specification.
type Result struct {
	Message     string            `yaml:"message" json:"message"`
	Severity    string            `yaml:"severity" json:"severity"`
	ResourceRef *ResourceRef      `yaml:"resourceRef,omitempty" json:"resourceRef,omitempty"`
	Field       *ResultField      `yaml:"field,omitempty" json:"field,omitempty"`
	File        *ResultFile       `yaml:"file,omitempty" json:"file,omitempty"`
	Tags        map[string]string `yaml:"tags,omitempty" json:"tags,omitempty"`
}

// ResourceRef names the object a result is about.
type ResourceRef struct {
	APIVersion string `yaml:"apiVersion" json:"apiVersion"`
	Kind       string `yaml:"kind" json:"kind"`
	Name       string `yaml:"name" json:"name"`
	Namespace  string `yaml:"namespace,omitempty" json:"namespace,omitempty"`
}

// ResultField is the field a result is about.
type ResultField struct {
	Path          string `yaml:"path" json:"path"`
	CurrentValue  string `yaml:"currentValue,omitempty" json:"currentValue,omitempty"`
	ProposedValue string `yaml:"proposedValue,omitempty" json:"proposedValue,omitempty"`
}

// ResultFile is the file the object comes from; Index is that of its document,
// from 0.
type ResultFile struct {
	Path  string `yaml:"path" json:"path"`
	Index int    `yaml:"index,omitempty" json:"index,omitempty"`
}

// Results turns the findings into results, worst first. Messages are one line;
// values of secrets are hidden. Hosts may drop what is skipped for want of
// facts, so it is not among them.
func Results(r Report) []Result {
	var results []Result
	for _, f := range worstFirst(r.Findings) {
		result := Result{
			Message:  clean(oneLine(f.Message)),
			Severity: string(f.Severity),
			Tags:     tags(f),
		}
		if result.Severity == "" {
			result.Severity = string(finding.Info)
		}
		if f.Object != (finding.Object{}) {
			result.ResourceRef = &ResourceRef{
				APIVersion: clean(f.Object.APIVersion), Kind: clean(f.Object.Kind),
				Name: clean(f.Object.Name), Namespace: clean(f.Object.Namespace),
			}
		}
		if len(f.Origin.Path) > 0 {
			result.Field = &ResultField{
				Path:          clean(f.Origin.Path.String()),
				CurrentValue:  clean(shown(f.Setting, f.Value)),
				ProposedValue: clean(shown(f.Setting, f.Proposed)),
			}
		}
		if f.File != "" && f.File != "-" {
			result.File = &ResultFile{Path: clean(f.File), Index: f.FileIndex}
		}
		results = append(results, result)
	}
	return results
}

// tags holds what the specification has no field for.
func tags(f finding.Finding) map[string]string {
	all := map[string]string{
		"rule":      f.Rule,
		"setting":   f.Setting,
		"container": f.Container,
		"action":    string(f.Action),
		"group":     f.Group,
		"evidence":  strings.Join(proofs(f), "; "),
		"undo":      oneLine(f.Undo),
	}
	if f.Fixed {
		all["fixed"] = "true"
	}
	for name, value := range all {
		if value == "" {
			delete(all, name)
			continue
		}
		all[name] = clean(value)
	}
	return all
}

// proofs prints the evidence: engine, versions, and where it was read.
func proofs(f finding.Finding) []string {
	var texts []string
	for _, e := range f.Evidence {
		texts = append(texts, oneLine(fmt.Sprintf("%s %s: %s", e.Engine, e.Versions, e.Source)))
	}
	return texts
}

// clean replaces bytes that are no UTF-8, which YAML could only hold as binary.
func clean(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }
