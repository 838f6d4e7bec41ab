package validators

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/trimtab/trimtab/internal/account"
	"github.com/trimtab/trimtab/internal/engine"
	"github.com/trimtab/trimtab/internal/facts"
	"github.com/trimtab/trimtab/internal/finding"
	"github.com/trimtab/trimtab/internal/ledger"
	"github.com/trimtab/trimtab/internal/rule"
	"github.com/trimtab/trimtab/internal/setting"
)

// retargetedSetting finds what was chosen for the GPUs that the manifest names,
// where a config or an annotation states others. Each change rests on what the
// engine does on both.
func retargetedSetting() rule.Rule {
	meta := rule.Named("retargeted-setting")
	return rule.Rule{Meta: meta, EditsEverywhere: true, CheckRelease: func(r rule.Release) ([]finding.Finding, error) {
		moved, ok := r.Facts.MovedFrom()
		if !ok {
			return nil, nil
		}
		m := move{Release: r, Moved: moved, meta: meta}
		return slices.Concat(m.oldDefaults(), m.ranks(), m.fraction(), m.offload()), nil
	}}
}

// move is one server at one release that is to run on other GPUs.
type move struct {
	rule.Release
	facts.Moved
	meta rule.Meta
}

// from and to name the GPUs.
func (m move) from() string { return named(m.There) }
func (m move) to() string   { return named(m.Facts) }

func named(g *facts.Gathered) string {
	if name, ok := g.Set["gpu.name"].Value.(string); ok {
		return recordedAs(name)
	}
	if vendor, ok := g.Set["gpu.vendor"].Value.(string); ok {
		return "a GPU of " + vendor
	}
	return "another GPU"
}

// without is the state of the server with a setting left out, on other facts.
func (m move) without(about *setting.Setting, known *facts.Gathered) *engine.State {
	settings := m.State.Settings
	if about != nil {
		settings = slices.DeleteFunc(slices.Clone(settings), func(s setting.Setting) bool { return s.Key == about.Key && s.Name == about.Name })
	}
	return engine.NewState(m.State.Engine, m.State.Knowledge, m.State.Release, settings, known.Set, m.State.Opaque)
}

// oldDefaults finds settings that say what the engine takes by itself on the old
// GPU, and would not on the new one: graph, batch and chunk sizes, backends.
func (m move) oldDefaults() []finding.Finding {
	var found []finding.Finding
	for i, about := range m.State.Settings {
		if about.Overridden || about.Unknown || about.Origin.Path == nil || about.Key == "" || about.Held != "" {
			continue
		}
		written, known, _ := m.State.Value(about.Key)
		if !known {
			continue
		}
		old, knownOld, _ := m.without(&m.State.Settings[i], m.There).Value(about.Key)
		now, knownNow, _ := m.without(&m.State.Settings[i], m.Facts).Value(about.Key)
		if !knownOld || !knownNow || !engine.Same(written, old) || engine.Same(old, now) {
			continue
		}
		f := m.About(m.meta, about)
		f.Action, f.Proposed = finding.Remove, ""
		f.Message = fmt.Sprintf("%s: %s is what the engine takes by itself on %s; on %s it takes %v%s", about.Name, about.Value(), m.from(), m.to(), now, m.ledger(about, ""))
		f.Evidence = m.defaultProof(about.Name)
		f.Undo = "write it again when the server moves back"
		found = append(found, f)
	}
	return found
}

// defaultProof is where the engine decides the value of a setting that is not
// given.
func (m move) defaultProof(name string) []finding.Evidence {
	for _, fact := range m.State.Knowledge.About(name) {
		if fact.Verb == engine.Equals && fact.Mark != "R" && fact.Versions.Contains(m.State.Release) {
			return []finding.Evidence{{Engine: m.Engine, Versions: fact.VersionText, Source: fact.Source}}
		}
	}
	return []finding.Evidence{{Engine: m.Engine, Versions: "==" + m.State.Release.Version, Source: "default of the engine's own parser, measured"}}
}

// ranks finds a tensor parallel size that fits the GPUs that the manifest asks
// for, and not the number that is stated.
func (m move) ranks() []finding.Finding {
	count, ok := m.Facts.Set["gpu.count"].Value.(int64)
	ranks, sizes, sure := ranksOf(m.Server)
	given := m.given(parallelFlags[m.Engine][0])
	if m.Count == 0 || !ok || !sure || given == nil || ranks != m.Count || !m.OnePod {
		return nil
	}
	size, valid := engine.WholeNumber(given.Value())
	if !valid || size < 1 || ranks/size < 1 || count%(ranks/size) != 0 {
		return nil
	}
	wanted := count / (ranks / size)
	f := m.About(m.meta, *given)
	f.Places, f.Proposed = nil, strconv.FormatInt(wanted, 10)
	was, share := "were", many(wanted, "rank")+" share"
	if ranks == 1 {
		was = "was"
	}
	if wanted == 1 {
		share = "one rank holds"
	}
	f.Message = fmt.Sprintf("%s: %s (%s) %s for the %s of the manifest, and the target has %d: %s the model there%s",
		given.Name, many(ranks, "rank"), sizes, was, many(m.Count, "GPU"), count, share, m.ledger(*given, f.Proposed))
	f.Undo = fmt.Sprintf("set it back to %s with %s", given.Value(), many(m.Count, "GPU"))
	f.Evidence = []finding.Evidence{{Engine: m.Engine, Versions: "*", Source: ranksProof[m.Engine]}}
	heads, known := m.Facts.Set["model.heads"].Value.(int64)
	switch {
	case !known:
		f.Message += "; not written while model.heads is not known: the heads must divide evenly"
	case heads%wanted != 0:
		f.Message += fmt.Sprintf("; the %d attention heads do not divide by that: choose a size by hand", heads)
	default:
		f.Action, f.Edits = finding.Set, m.Rewrite(*given, f.Proposed)
	}
	return []finding.Finding{f}
}

// given is a setting that stands in the manifest and counts.
func (m move) given(name string) *setting.Setting {
	for i, about := range m.State.Settings {
		if about.Name == name && !about.Overridden && !about.Unknown && about.Held == "" && about.Origin.Path != nil && len(about.Values) == 1 {
			return &m.State.Settings[i]
		}
	}
	return nil
}

// mostShare is the largest share of a card that is written, in hundredths: what
// is left is for the driver and the context.
const mostShare = 95

// fraction derives the share of the card anew from the stated reserve: where the
// old share leaves less than that on the new GPU, and where it was what the
// reserve leaves of the old one.
func (m move) fraction() []finding.Finding {
	given := m.given(limits[m.Engine].fraction)
	reserve, stated := m.Facts.Set["gpu.reserve"].Value.(int64)
	now, known := m.Facts.Set["gpu.memory"].Value.(int64)
	if given == nil || !stated || !known || now <= 0 {
		return nil
	}
	share, err := strconv.ParseFloat(given.Value(), 64)
	old, oldKnown := m.shareBeside(given, m.There, reserve)
	wanted, wantedKnown := m.shareBeside(given, m.Facts, reserve)
	hundredths := int64(100*share + 0.5)
	free := int64(float64(now) * (1 - share))
	if err != nil || share <= 0 || share >= 1 || !wantedKnown || wanted == hundredths {
		return nil
	}
	var why string
	switch {
	case free < reserve && wanted < hundredths:
		why = fmt.Sprintf("leaves %s B of %s, and %s B are reserved", ledger.Grouped(free), m.to(), ledger.Grouped(reserve))
	case oldKnown && old == hundredths:
		why = fmt.Sprintf("is what the reserve of %s B leaves of %s", ledger.Grouped(reserve), m.from())
	default:
		return nil
	}
	f := m.About(m.meta, *given)
	f.Proposed = fmt.Sprintf("0.%02d", wanted)
	f.Action, f.Edits = finding.Set, m.Rewrite(*given, f.Proposed)
	f.Message = fmt.Sprintf("%s: %s %s; %s leaves it on %s%s", given.Name, given.Value(), why, f.Proposed, m.to(), m.ledger(*given, f.Proposed))
	f.Undo = "set it back to " + given.Value() + " when the server moves back"
	f.Evidence = []finding.Evidence{{Engine: m.Engine, Versions: "*", Source: "the memory of the GPU, " + m.source(m.Facts) + ", and the stated reserve"}}
	return []finding.Finding{f}
}

// shareBeside is the share of a card that leaves the reserve, in hundredths: of
// the whole for vLLM, whose share holds all it takes; of what it takes by itself
// for SGLang, whose share holds weights and caches alone.
func (m move) shareBeside(given *setting.Setting, known *facts.Gathered, reserve int64) (int64, bool) {
	memory, ok := known.Set["gpu.memory"].Value.(int64)
	if !ok || memory <= 0 {
		return 0, false
	}
	base := 1.0
	if m.Engine == "sglang" {
		own, told, _ := m.without(given, known).Value(given.Key)
		if base, ok = own.(float64); !told || !ok {
			return 0, false
		}
	}
	hundredths := min(int64(100*(base-float64(reserve)/float64(memory))), mostShare)
	return hundredths, hundredths > 0
}

func (m move) source(g *facts.Gathered) string {
	return fmt.Sprintf("%v B (%s)", g.Set["gpu.memory"].Value, g.Set["gpu.memory"].Source)
}

// offload finds weights that are kept in the host's memory although the new GPU
// holds them beside one request of the full length.
func (m move) offload() []finding.Finding {
	given := m.given("--cpu-offload-gb")
	if given == nil || given.Value() == "0" {
		return nil
	}
	here, err := account.Of(m.without(given, m.unmeasured()), m.unmeasured())
	if err != nil || here.Length == nil {
		return nil
	}
	longest, ok := here.Longest(*here.Length)
	if !ok || longest.Low < *here.Length || here.Capacity == nil {
		return nil
	}
	if there, err := account.Of(m.without(given, m.There), m.There); err != nil {
		return nil
	} else if held, ok := there.Longest(*here.Length); !ok || held.High >= *here.Length {
		return nil // it was not for want of memory
	}
	f := m.About(m.meta, *given)
	f.Action = finding.Remove
	f.Message = fmt.Sprintf("%s: %s GiB of weights are kept in the host's memory, and %s holds them all, with %s tokens of KV cache beside them%s",
		given.Name, given.Value(), m.to(), ledger.Grouped(here.Capacity.Low), m.ledger(*given, ""))
	f.Undo = "write it again when the server moves back"
	f.Evidence = []finding.Evidence{{Engine: m.Engine, Versions: "*", Source: "the account of the server (`trimtab plan`) without it, on " + m.source(m.Facts)}}
	return []finding.Finding{f}
}

// unmeasured is what is known of the server without what was measured of it, as
// it is not said on which GPU that was.
func (m move) unmeasured() *facts.Gathered {
	known := *m.Facts
	known.Set = maps.Clone(m.Facts.Set)
	maps.DeleteFunc(known.Set, func(name string, _ facts.Fact) bool { return strings.HasPrefix(name, "measured.") })
	return &known
}

// ledger is the KV cache before the move, and after it with a setting written
// anew, or left out, where both are known.
func (m move) ledger(about setting.Setting, proposed string) string {
	before, errBefore := account.Of(m.without(nil, m.There), m.There)
	known := m.unmeasured()
	settings := slices.DeleteFunc(slices.Clone(m.State.Settings), func(s setting.Setting) bool { return s.Name == about.Name })
	if proposed != "" {
		about.Values = []string{proposed}
		settings = append(settings, about)
	}
	after, errAfter := account.Of(engine.NewState(m.State.Engine, m.State.Knowledge, m.State.Release, settings, known.Set, m.State.Opaque), known)
	if errBefore != nil || errAfter != nil || before.Capacity == nil || after.Capacity == nil {
		return ""
	}
	return fmt.Sprintf(" (KV cache by the account: %s tokens before, %s then)", ledger.Grouped(before.Capacity.Value), ledger.Grouped(after.Capacity.Value))
}
