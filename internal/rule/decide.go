package rule

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/trimtab/trimtab/internal/catalogue"
	"github.com/trimtab/trimtab/internal/config"
	"github.com/trimtab/trimtab/internal/finding"
	"github.com/trimtab/trimtab/internal/setting"
)

// Policy is what the user wants done with the findings about one server.
type Policy struct {
	Rules map[string]config.RuleSetting
	// Keep are the settings of the config that are never edited.
	Keep []string
	// Exceptions come from the object's annotations.
	KeepHere   []config.Exception
	IgnoreHere []config.Exception
	Engine     *catalogue.Engine
	Span       catalogue.Span
	// Settings are all settings of the server, to tell whether an exception
	// speaks of one.
	Settings []setting.Setting
	// Comments gives the comments directly above and beside a setting.
	Comments func(finding.Finding) []string
}

// Decide applies rule settings, exceptions and comments to the findings, and
// holds groups together. Exceptions that speak of nothing, or whose time has
// come, become stale-exception findings about the object.
func Decide(found []finding.Finding, p Policy, object finding.Finding) []finding.Finding {
	var decided []finding.Finding
	ignoredBy := map[int]bool{}
	for _, f := range found {
		f, ok := p.applyRule(f)
		if !ok || p.ignored(f, ignoredBy) {
			continue
		}
		decided = append(decided, p.applyKeeps(f))
	}
	holdGroups(decided)
	holdGoing(decided)
	holdContradicted(decided)
	for _, stale := range p.stale(object, ignoredBy, found) {
		if stale, ok := p.applyRule(stale); ok {
			decided = append(decided, stale)
		}
	}
	return decided
}

// applyRule sets severity and action as the config says; false when the rule
// is off.
func (p Policy) applyRule(f finding.Finding) (finding.Finding, bool) {
	wanted := p.Rules[f.Rule]
	if wanted.Off {
		return f, false
	}
	if wanted.Severity != nil {
		f.Severity = *wanted.Severity
	}
	acts := Named(f.Rule).Trim
	if wanted.Trim != nil {
		acts = *wanted.Trim
	}
	if !acts {
		f.Action = finding.None
	}
	return f, true
}

func (p Policy) ignored(f finding.Finding, used map[int]bool) bool {
	for i, exception := range p.IgnoreHere {
		if !p.expired(exception) && exception.Rule == f.Rule && p.names(f, exception.Setting) {
			used[i] = true
			return true
		}
	}
	return false
}

// applyKeeps stops an edit that the config, an annotation or a comment forbids.
func (p Policy) applyKeeps(f finding.Finding) finding.Finding {
	if f.Action == finding.None {
		return f
	}
	if says := byHand(f.Origin); says != "" {
		return kept(f, says)
	}
	for _, name := range p.Keep {
		if p.names(f, name) {
			return kept(f, "kept by the config")
		}
	}
	for _, exception := range p.KeepHere {
		matchesRule := exception.Rule == "" || exception.Rule == f.Rule
		if matchesRule && !p.expired(exception) && p.names(f, exception.Setting) {
			return kept(f, "kept by annotation"+because(exception.Reason))
		}
	}
	for _, comment := range p.Comments(f) {
		switch {
		case AsksToKeep(comment):
			return kept(f, "kept by a comment")
		case GivesReason(comment, f):
			f.Severity = finding.Info
			return kept(f, "a comment gives its owner's reason")
		}
	}
	return f
}

// byHand says why nothing is edited where a setting stands; empty where it can be.
func byHand(o setting.Origin) string {
	switch {
	case o.Fixed != "":
		return "edit it by hand in " + o.Name + ": " + o.Fixed
	case o.Kind == setting.Bound, o.Kind == setting.ConfigFile:
		return "edit it by hand in " + o.Name
	}
	return ""
}

func because(reason string) string {
	if reason == "" {
		return ""
	}
	return ": " + reason
}

func kept(f finding.Finding, why string) finding.Finding {
	f.Action = finding.None
	f.Message += " (" + why + ")"
	return f
}

// holdGroups: findings of one group are edited together or not at all.
func holdGroups(found []finding.Finding) {
	held := map[string]bool{}
	for _, f := range found {
		if f.Group != "" && f.Action == finding.None {
			held[f.Group] = true
		}
	}
	for i := range found {
		if held[found[i].Group] && found[i].Action != finding.None {
			found[i] = kept(found[i], "kept with its group")
		}
	}
}

// holdGoing: what goes need not be rewritten first.
func holdGoing(found []finding.Finding) {
	goes := map[string]string{}
	for _, f := range found {
		if f.Action == finding.Remove && f.Origin.Path != nil {
			goes[f.Origin.String()] = f.Rule
		}
	}
	for i, f := range found {
		if rule := goes[f.Origin.String()]; rule != "" && f.Action == finding.Set {
			found[i] = kept(f, "not rewritten: it goes by "+rule)
		}
	}
}

// holdContradicted: while a manifest says two things about its GPUs, nobody
// knows which of them is meant, and nothing of this server is edited. Where the
// user states the target, it is known.
func holdContradicted(found []finding.Finding) {
	contradicted := slices.ContainsFunc(found, func(f finding.Finding) bool { return f.Rule == "gpu-mismatch" && !f.Placement })
	if !contradicted {
		return
	}
	for i := range found {
		if found[i].Action != finding.None {
			found[i] = kept(found[i], "not edited before gpu-mismatch is settled")
		}
	}
}

// expired tells whether the release an exception waits for is here: for every
// release that the server may run.
func (p Policy) expired(exception config.Exception) bool {
	if exception.UntilVersion == "" || exception.UntilEngine != p.Engine.Name || len(p.Span.Releases) == 0 {
		return false
	}
	until, err := catalogue.ParseRange(">=" + strings.TrimPrefix(exception.UntilVersion, "v"))
	if err != nil {
		return false
	}
	return !slices.ContainsFunc(p.Span.Releases, func(r catalogue.Release) bool { return !until.Contains(r) })
}

// stale lists the exceptions of the object that no longer do anything.
// A keep speaks also of what is no setting here, but of what a finding is about.
func (p Policy) stale(object finding.Finding, ignoredBy map[int]bool, about []finding.Finding) []finding.Finding {
	var found []finding.Finding
	report := func(annotation string, exception config.Exception, why string) {
		f := object
		meta := Named("stale-exception")
		f.Rule, f.Severity, f.Action = meta.Name, meta.Severity, finding.None
		f.Setting = exception.Setting
		f.Origin = setting.Origin{Kind: setting.Field, Path: setting.Path{"metadata", "annotations", annotation}}
		f.Value = exception.Line
		f.Message = fmt.Sprintf("%s: %q %s: remove the entry", annotation, exception.Line, why)
		found = append(found, f)
	}
	for i, exception := range p.IgnoreHere {
		switch {
		case p.expired(exception):
			report("trimtab.dev/ignore", exception, "has come to its end")
		case !ignoredBy[i]:
			report("trimtab.dev/ignore", exception, "matches no finding")
		}
	}
	for _, exception := range p.KeepHere {
		switch {
		case p.expired(exception):
			report("trimtab.dev/keep", exception, "has come to its end")
		case !p.SpeaksOf(exception.Setting, p.Settings) &&
			!slices.ContainsFunc(about, func(f finding.Finding) bool { return p.names(f, exception.Setting) }):
			report("trimtab.dev/keep", exception, "matches no setting")
		}
	}
	return found
}

func sortedKeys(set map[string]bool) []string { return slices.Sorted(maps.Keys(set)) }
