package validators

import (
	"fmt"
	"slices"
	"strings"

	"github.com/trimtab/trimtab/internal/catalogue"
	"github.com/trimtab/trimtab/internal/finding"
	"github.com/trimtab/trimtab/internal/rule"
	"github.com/trimtab/trimtab/internal/setting"
)

// serviceLinks finds Services of the input whose name makes Kubernetes put
// variables with the engine's prefix into the server's container. A variable
// that the engine reads gets the text of a URL for its value.
func serviceLinks(s rule.Server, meta rule.Meta) []finding.Finding {
	if s.ServiceLinks != nil && !*s.ServiceLinks || len(s.Facts.Span.Releases) == 0 {
		return nil
	}
	var found []finding.Finding
	for _, service := range s.Services {
		if !mayBeOwn(s.Engine, service.Name) {
			continue
		}
		prefix := strings.ReplaceAll(strings.ToUpper(service.Name), "-", "_")
		sameSpace := service.Namespace == s.Object.Namespace || service.Namespace == "" || s.Object.Namespace == ""
		if !sameSpace || !isOwn(s.Engine, prefix+"_") {
			continue
		}
		if f, ok := linked(s, meta, service.Name, prefix+"_PORT"); ok {
			found = append(found, f)
		}
	}
	return found
}

// mayBeOwn is a cheap test on the first letters of a Service's name.
func mayBeOwn(engine, service string) bool {
	const letters = 3
	for _, prefix := range ownPrefixes[engine] {
		if len(service) >= letters && len(prefix) >= letters && strings.EqualFold(service[:letters], prefix[:letters]) {
			return true
		}
	}
	return false
}

func linked(s rule.Server, meta rule.Meta, service, variable string) (finding.Finding, bool) {
	for _, v := range s.Env {
		if v.Name == variable {
			return finding.Finding{}, false // the container's own entry wins
		}
	}
	f := s.AboutServer(meta)
	f.Setting = "env/" + variable
	f.Spelled = variable
	f.Origin = setting.Origin{Kind: setting.Field, Path: s.Path}
	f.Undo = "take enableServiceLinks out again"
	if readsEverywhere(s, variable) {
		f.Message = fmt.Sprintf("Service %s makes Kubernetes set %s=tcp://… in the container, which %s reads as a port of its own: set enableServiceLinks: false, or give the Service another name", service, variable, s.Engine)
		f.Evidence = []finding.Evidence{{Engine: s.Engine, Versions: "*", Source: "the variables that the package of each release reads (measured); vLLM refuses it from 0.9.0 on (vllm/envs.py, get_vllm_port)"}}
		return f, true
	}
	f.Severity = finding.Info
	f.Message = fmt.Sprintf("Service %s makes Kubernetes set %s and its like in the container, which %s does not know: set enableServiceLinks: false", service, variable, s.Engine)
	return f, true
}

// readsEverywhere tells whether every release in question reads a variable.
func readsEverywhere(s rule.Server, name string) bool {
	engine, err := catalogue.Load(s.Engine)
	if err != nil || len(s.Facts.Span.Releases) == 0 {
		return false
	}
	return !slices.ContainsFunc(s.Facts.Span.Releases, func(release catalogue.Release) bool {
		variable, ok := engine.Env(name, release)
		return !ok || !variable.Read
	})
}
