package validators

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/fluxcd/pkg/envsubst"
	"go.yaml.in/yaml/v3"

	"github.com/trimtab/trimtab/internal/finding"
	"github.com/trimtab/trimtab/internal/rule"
	"github.com/trimtab/trimtab/internal/server"
	"github.com/trimtab/trimtab/internal/setting"
)

// substitutionHazard finds texts that Flux's postBuild makes something else of:
// an item that turns into a number, and a variable of a script that is gone.
func substitutionHazard() rule.Rule {
	meta := rule.Named("substitution-hazard")
	return rule.Rule{Meta: meta, CheckServer: func(s rule.Server) []finding.Finding {
		if s.Marked() {
			return nil
		}
		build := s.Substituting()
		var found []finding.Finding
		for _, text := range s.Texts() {
			says, severity := turnsInto(text, build), meta.Severity
			if says != "" && text.Quoted && build == nil {
				severity = finding.Info // only Flux writes the quotes anew
			}
			if says == "" {
				says = eaten(s, text, build)
			}
			if says == "" {
				continue
			}
			f := s.AboutServer(meta)
			f.Severity = severity
			f.Setting = settingAt(s, text.Path)
			f.Spelled, f.Origin = f.Setting, setting.Origin{Kind: setting.Argument, Path: text.Path}
			f.Message = f.Setting + " " + says
			f.Evidence = []finding.Evidence{{Engine: "flux", Versions: "*", Source: "fluxcd/pkg/kustomize, SubstituteVariables (measured): the object is written as YAML, its text substituted, and read again"}}
			if !strings.Contains(text.Value, "\n") && !rule.IsSecret(f.Setting, text.Value) {
				f.Value = text.Value
			}
			found = append(found, f)
		}
		return found
	}}
}

// wholly is a text that is one variable with a default and nothing else.
var wholly = regexp.MustCompile(`^\$\{([A-Za-z_][A-Za-z0-9_]*)(:=|:-|=)([^{}]*|\{.*\})\}$`)

// turnsInto says what an item becomes that is wholly a variable, when that is no
// text any more; the value that the Flux Kustomization itself gives counts more
// than the default.
func turnsInto(text server.Text, build *server.FluxBuild) string {
	match := wholly.FindStringSubmatch(strings.TrimSpace(text.Value))
	if match == nil {
		return ""
	}
	value := match[3]
	if build != nil {
		if given, ok := build.Variables[match[1]]; ok {
			value = given
		}
	}
	var node yaml.Node
	if err := yaml.Unmarshal([]byte(value), &node); err != nil || len(node.Content) == 0 {
		return ""
	}
	kinds := map[string]string{"!!int": "a number", "!!float": "a number", "!!bool": "a boolean", "!!map": "a mapping", "!!seq": "a list"}
	kind := kinds[node.Content[0].ShortTag()]
	if kind == "" {
		return ""
	}
	return fmt.Sprintf("is wholly a variable that becomes %s, which is %s, and the field takes texts alone: write flag and value as one item, --flag=%s, or put a variable that holds a quote around it", value, kind, strings.TrimSpace(text.Value))
}

// reference is a variable as Flux reads it; $${…} is what people write to keep
// one.
var reference = regexp.MustCompile(`(^|[^$])\$\{([^}]*)\}`)

var assigned = regexp.MustCompile(`(?m)(?:^|[\s;({&|])(?:export\s+|local\s+|readonly\s+)?([A-Za-z_][A-Za-z0-9_]*)=`)

// eaten says which variables of a script Flux takes from it: those that the
// script or the container sets, and Flux's own variables do not.
func eaten(s rule.Server, text server.Text, build *server.FluxBuild) string {
	if build == nil {
		return ""
	}
	known := func(name string) (string, bool) { value := build.Variables[name]; return value, true }
	if _, err := envsubst.Eval(text.Value, known); err != nil {
		return fmt.Sprintf("holds a ${…} that the substitution of Kustomization %s cannot read (%s): write $${…} to keep it", build.Name, err)
	}
	own := map[string]bool{}
	for _, match := range assigned.FindAllStringSubmatch(text.Value, -1) {
		own[match[1]] = true
	}
	for _, v := range s.Env {
		own[v.Name] = true
	}
	var names []string
	for _, match := range reference.FindAllStringSubmatch(text.Value, -1) {
		name := match[2]
		if _, given := build.Variables[name]; own[name] && !given && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return fmt.Sprintf("loses ${%s} to the substitution of Kustomization %s, which knows no such variable: it becomes empty, and a strict build fails; write $%s, or $${%s} to keep it",
		strings.Join(names, "}, ${"), build.Name, names[0], names[0])
}

// settingAt is the setting that stands at a path, else the path.
func settingAt(s rule.Server, path setting.Path) string {
	for _, about := range s.Newest.Written() {
		for _, place := range about.Places {
			if place.String() == path.String() || place.String()+".value" == path.String() {
				return about.Name
			}
		}
	}
	return path.String()
}
