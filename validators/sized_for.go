package validators

import (
	"fmt"
	"slices"
	"strings"

	"github.com/trimtab/trimtab/hardware"
	"github.com/trimtab/trimtab/internal/config"
	"github.com/trimtab/trimtab/internal/finding"
	"github.com/trimtab/trimtab/internal/rule"
	"github.com/trimtab/trimtab/internal/setting"
)

// longestAnnotation is how long the name of an annotation may be behind the slash.
const longestAnnotation = 63

// assumption is one thing that a sizing rests on.
type assumption struct{ name, value string }

// sizedOtherwise compares what the sizing of a server rests on with what is
// recorded on its object. Where the config wants it recorded, a change of it or a
// record that is missing is written.
func sizedOtherwise(s rule.Server, meta rule.Meta) []finding.Finding {
	name := config.SizedFor
	if s.Siblings > 0 {
		name += "-" + s.Container
	}
	recorded, isRecorded := s.Annotations[name]
	if len(name)-strings.Index(name, "/")-1 > longestAnnotation || !isRecorded && !(s.Facts.Stamp && isSized(s)) {
		return nil
	}
	now := assumptionsOf(s)
	f := s.AboutServer(meta)
	f.Setting, f.Spelled, f.Value = name, name, recorded
	f.Origin = setting.Origin{Kind: setting.Field, Path: setting.Path{"metadata", "annotations", name}}
	if isRecorded {
		was := assumptionsIn(recorded)
		changes := changed(was, now)
		unrecorded := s.Facts.Stamp && isSized(s) && omits(was, now)
		if len(changes) == 0 && !unrecorded {
			return nil
		}
		f.Message = "the sizing rests on what has changed since: " + strings.Join(changes, ", ") + "; measure and size again, then record it with `stamp: true`"
		f.Undo = "the old record says what was assumed"
		if len(changes) == 0 {
			f.Severity = finding.Info
			f.Message = "what the sizing rests on is more than its record holds: " + textOf(now)
		}
	} else {
		f.Severity = finding.Info
		f.Message = "what the sizing rests on is recorded: " + textOf(now)
		f.Undo = "take `stamp` out of the config and remove the annotation"
	}
	if s.Facts.Stamp {
		f.Action, f.Proposed = finding.Set, textOf(now)
		f.Edits = []finding.Edit{{Action: finding.Set, Path: f.Origin.Path, Value: f.Proposed, Create: true}}
	}
	return []finding.Finding{f}
}

// isSized tells whether the config says what sizes the server: its workload, or
// what was measured of it.
func isSized(s rule.Server) bool {
	for name := range s.Facts.Set {
		if strings.HasPrefix(name, "workload.") || strings.HasPrefix(name, "measured.") {
			return true
		}
	}
	return len(s.Facts.Prompts) > 0
}

// recordedFacts are the facts that are recorded, by the name they have there.
var recordedFacts = []assumption{
	{"gpu", "gpu.name"}, {"gpus", "gpu.count"}, {"gpuMemory", "gpu.memory"}, {"gpuReserve", "gpu.reserve"},
	{"peakRunning", "workload.peakRunning"}, {"peakMambaSlots", "workload.peakMambaSlots"},
	{"kvTokens", "measured.kvTokens"}, {"kvBytes", "measured.kvBytes"},
	{"mambaSlots", "measured.mambaSlots"}, {"mambaBytes", "measured.mambaBytes"},
	{"prefillTokensPerSecond", "measured.prefillTokensPerSecond"},
}

// assumptionsOf are what a sizing of the server rests on now, of what is known.
// A value that holds a secret is not recorded: an annotation is read by many.
func assumptionsOf(s rule.Server) []assumption {
	var known []assumption
	add := func(name, value string) {
		if value != "" && !rule.IsSecret("", value) {
			known = append(known, assumption{name, strings.Join(strings.Fields(value), "_")})
		}
	}
	if s.Facts.Span.Exact && len(s.Facts.Span.Releases) == 1 {
		add("engine", s.Engine+"@"+s.Facts.Span.Releases[0].Version)
	}
	model := writtenValue(s, "--model", "--model-path")
	if told, ok := s.Facts.Set["model.name"]; ok && model == "" {
		model = fmt.Sprint(told.Value)
	}
	add("model", model)
	add("revision", writtenValue(s, "--revision"))
	_, named := s.Facts.Set["gpu.name"]
	for _, fact := range recordedFacts {
		if told, ok := s.Facts.Set[fact.value]; ok && (fact.name != "gpuMemory" || !named) {
			add(fact.name, recordedAs(told.Value))
		}
	}
	var prompts []string
	for _, p := range s.Facts.Prompts {
		prompts = append(prompts, fmt.Sprintf("%dx%d+%d", p.Running, p.Tokens, p.Output))
	}
	add("prompts", strings.Join(prompts, ","))
	return known
}

// recordedAs writes a fact: a GPU of the catalogue under its name there, by
// whichever name it was told.
func recordedAs(value any) string {
	name, isText := value.(string)
	if !isText {
		return fmt.Sprint(value)
	}
	if gpu, ok := hardware.GPU(name); ok {
		return gpu.Name
	}
	return name
}

// writtenValue is what one of the settings is written as and counts for; empty
// where none is, or where it is decided outside the manifest.
func writtenValue(s rule.Server, names ...string) string {
	for _, about := range s.Newest.Settings {
		if slices.Contains(names, about.Name) && !about.Overridden && !about.Unknown && len(about.Values) > 0 {
			return about.Value()
		}
	}
	return ""
}

func textOf(assumptions []assumption) string {
	texts := make([]string, len(assumptions))
	for i, a := range assumptions {
		texts[i] = a.name + "=" + a.value
	}
	return strings.Join(texts, " ")
}

func assumptionsIn(text string) []assumption {
	var read []assumption
	for _, field := range strings.Fields(text) {
		name, value, _ := strings.Cut(field, "=")
		read = append(read, assumption{name, value})
	}
	return read
}

// omits tells whether the record holds nothing of a thing that is known now.
func omits(recorded, now []assumption) bool {
	return slices.ContainsFunc(now, func(a assumption) bool {
		return !slices.ContainsFunc(recorded, func(was assumption) bool { return was.name == a.name })
	})
}

// changed says what was recorded otherwise than it is now. What is not known now
// is not compared.
func changed(recorded, now []assumption) []string {
	var changes []string
	for _, was := range recorded {
		at := slices.IndexFunc(now, func(a assumption) bool { return a.name == was.name })
		if at >= 0 && now[at].value != was.value {
			changes = append(changes, fmt.Sprintf("%s was %s and is %s", was.name, was.value, now[at].value))
		}
	}
	return changes
}
