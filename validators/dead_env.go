package validators

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/trimtab/trimtab/internal/catalogue"
	"github.com/trimtab/trimtab/internal/finding"
	"github.com/trimtab/trimtab/internal/rule"
	"github.com/trimtab/trimtab/internal/setting"
)

// ownPrefixes are how the variables of an engine begin. SGLang reads SGL_X as
// SGLANG_X.
var ownPrefixes = map[string][]string{
	"sglang": {"SGLANG_", "SGL_"},
	"vllm":   {"VLLM_"},
}

// deadEnv finds variables with the engine's own prefix that it does not read.
func deadEnv() rule.Rule {
	meta := rule.Named("dead-env")
	return rule.Rule{
		Meta: meta,
		CheckRelease: func(r rule.Release) ([]finding.Finding, error) {
			var found []finding.Finding
			for _, about := range r.State.Settings {
				name, isVariable := strings.CutPrefix(about.Name, "env/")
				if !isVariable || about.Origin.Path == nil || !isOwn(r.Engine, name) || adds(r, about.Name) {
					continue
				}
				if f, ok := dead(r, meta, about, name); ok {
					found = append(found, f)
				}
			}
			return found, nil
		},
		CheckServer: func(s rule.Server) []finding.Finding { return serviceLinks(s, meta) },
	}
}

func isOwn(engine, name string) bool {
	for _, prefix := range ownPrefixes[engine] {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// dead judges one variable. What a script or a reference mentions is read by
// that; what the release only declares is information.
func dead(r rule.Release, meta rule.Meta, about setting.Setting, name string) (finding.Finding, bool) {
	variable, ok := r.State.Engine.Env(current(name), r.State.Release)
	if _, old := r.State.Engine.Env(name, r.State.Release); ok && variable.Read || old && name != current(name) || r.Mentions(name) {
		return finding.Finding{}, false
	}
	f := r.About(meta, about)
	f.Undo = "set it again for a release that reads it"
	f.Evidence = []finding.Evidence{{Engine: r.Engine, Versions: "==" + r.State.Release.Version, Source: "the variables that the package of each release reads (measured)"}}
	if ok {
		f.Severity = finding.Info
		f.Message = fmt.Sprintf("%s %s declares %s, and no reader of it was found", r.Engine, r.State.Release, name)
		return f, true
	}
	f.Action = finding.Remove
	f.Message = fmt.Sprintf("%s %s does not read %s", r.Engine, r.State.Release, name)
	lives := r.State.Engine.EnvEver(current(name))
	if len(lives) > 0 {
		var known string
		known, f.Evidence[0].Versions = knownText(r, lives)
		f.Message += ": " + strings.Replace(known, "known", "read", 1)
	} else if near, ok := r.State.Engine.NearestEnv(name, r.State.Release); ok {
		f.Message += ": did you mean " + near + "?"
		f.Proposed = near
	}
	if fact := r.State.Knowledge.Renaming("env/"+name, r.Mode, r.State.Release); fact != nil {
		f.Message += instead(fact)
		f.Proposed = fact.Renaming.To
	}
	return certain(r, f, lives), true
}

// current is the name under which the engine looks a variable up.
func current(name string) string {
	if rest, old := strings.CutPrefix(name, "SGL_"); old {
		return "SGLANG_" + rest
	}
	return name
}

// tpuImage holds a plugin besides the engine, with variables of its own.
var tpuImage = regexp.MustCompile(`(^|/)vllm/vllm-tpu([:@]|$)`)

// certain lowers a finding where something that is not seen here may read the
// variable: a fork, a script in front of the engine, a newer release.
func certain(r rule.Release, f finding.Finding, lives []catalogue.Life) finding.Finding {
	direct, known := r.Facts.Set["server.direct"].Value.(bool)
	switch {
	case isFork(r):
		return mayKnowMore(r, f)
	case tpuImage.MatchString(r.Image):
		f.Severity, f.Action = finding.Info, finding.None
		f.Message += " (the TPU plugin of the image may read it)"
	case !known || !direct:
		f.Severity, f.Action = finding.Info, finding.None
		f.Message += " (what is started in front of the engine may read it)"
	case r.Facts.Span.Newer && len(lives) == 0:
		f.Severity, f.Action = finding.Info, finding.None
		f.Message += fmt.Sprintf(" (%s is newer than %s, the newest release known)", r.Facts.Span.Text, r.State.Release)
	}
	return f
}
