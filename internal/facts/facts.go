// Package facts tells what is true about a server's target and is no setting:
// GPU, model, workload, engine version. A server and what the user states go
// in; each fact comes out with its source, first source wins. A fact that no
// source tells stays unknown.
package facts

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/trimtab/trimtab/hardware"
	"github.com/trimtab/trimtab/internal/catalogue"
	"github.com/trimtab/trimtab/internal/config"
	"github.com/trimtab/trimtab/internal/server"
)

// Fact is a value and where it was read.
type Fact struct {
	// Value is an int64 (counts, tokens, slots, bytes), a bool or a string.
	Value  any
	Source string
}

// Set holds the facts that are known, by the names conditions use: gpu.count,
// model.dtype, server.direct.
type Set map[string]Fact

// Disagreement is one fact that two sources tell differently.
type Disagreement struct {
	Fact         string
	Used, Unused Fact
}

// String says which source won and what the other one says.
func (d Disagreement) String() string {
	return fmt.Sprintf("`%s` is %v by %s and %v by %s; %v is used", d.Fact, d.Used.Value, d.Used.Source, d.Unused.Value, d.Unused.Source, d.Used.Value)
}

// Gathered is all that is known about one server.
type Gathered struct {
	Set  Set
	Span catalogue.Span
	// SpanSource says where the engine version was read.
	SpanSource string
	// Shape is what the stated config.json says, else the model's entry in the
	// catalogue; nil when there is neither.
	Shape *hardware.ModelEntry
	// Unresolved are statements of the user's that name nothing that is known, and
	// what to write instead.
	Unresolved []string
	// Prompts are the classes of requests that the config states.
	Prompts []config.Prompt
	// Stamp is true where the config wants recorded what a sizing rests on.
	Stamp bool
	// Knows are names that a fork adds: never unknown, never dead.
	Knows         []string
	Disagreements []Disagreement
}

// Adds tells whether a fork or a plugin adds a name, by the patterns under Knows.
func (g *Gathered) Adds(name string) bool {
	return slices.ContainsFunc(g.Knows, func(pattern string) bool {
		if strings.HasPrefix(pattern, "--") {
			pattern = strings.ReplaceAll(pattern, "_", "-")
		}
		matched, err := path.Match(pattern, name)
		return err == nil && matched
	})
}

// settledBy names the field that would make a fact known, where that is not
// the fact's own name in the config.
var settledBy = map[string]string{
	"gpu.asked":     "gpu.count",
	"gpu.indexes":   "resources",
	"gpu.whole":     "resources",
	"server.direct": "command",
	"server.onePod": "kind",
	"server.shm":    "a volume at /dev/shm",
	"gpu.vendor":    "gpu.name",
	"gpu.cc":        "gpu.name",
	"gpu.arch":      "gpu.name",
	"gpu.memory":    "gpu.name",
}

// SettledBy is the field a user would state to make a fact known, where the facts
// of the set are: who has named a model of which the catalogue does not tell it
// states the model's config.
func (s Set) SettledBy(fact string) string {
	if field, ok := settledBy[fact]; ok {
		return field
	}
	field, ok := modelSettledBy(fact)
	if !ok {
		return fact
	}
	if named := s["model.name"].Source; field == "model.name" && (named == "config" || named == modelAnnotation) {
		return "model.config"
	}
	return field
}

// Gather reads the facts of one server: from its annotations, the config, the
// object with what it points to, and the image tag, in this order. An engine
// version and a config.json that cannot be read are errors.
func Gather(s *server.Server, engine *catalogue.Engine, spec *config.Spec, overrides *config.Overrides) (*Gathered, error) {
	g := &Gathered{Set: Set{}}
	g.gatherGPU(s, spec, overrides)
	if err := g.gatherModel(s, spec, overrides); err != nil {
		return nil, err
	}
	g.gatherWorkload(spec)
	g.gatherMeasured(spec)
	g.tell("server.operator", s.Operator, "kind")
	_, official := catalogue.OfficialImage(s.Image)
	g.tell("image.fork", !official && s.Image != "", "image")
	g.tell("server.onePod", s.OnePod, "kind")
	g.tellPod(s)
	if s.Direct != nil {
		g.tell("server.direct", *s.Direct, "command")
	}
	return g, g.gatherVersion(s, engine, spec, overrides)
}

// tell records a fact unless an earlier source has; a later source that says
// something else is a disagreement.
func (g *Gathered) tell(name string, value any, source string) {
	told := Fact{Value: value, Source: source}
	used, ok := g.Set[name]
	if !ok {
		g.Set[name] = told
		return
	}
	if used.Value != value {
		g.Disagreements = append(g.Disagreements, Disagreement{Fact: name, Used: used, Unused: told})
	}
}

func (g *Gathered) tellText(name, value, source string) {
	if value != "" {
		g.tell(name, value, source)
	}
}

func (g *Gathered) gatherGPU(s *server.Server, spec *config.Spec, overrides *config.Overrides) {
	g.tellText("gpu.name", overrides.GPU, "annotation trimtab.dev/gpu")
	g.tellText("gpu.name", spec.GPU.Name, "config")
	g.tellText("gpu.vendor", spec.GPU.Vendor, "config")
	if count := spec.GPU.Count; count != nil {
		g.tell("gpu.count", *count, "config")
	}
	if reserve := spec.GPU.Reserve; reserve != nil {
		g.tell("gpu.reserve", reserve.Bytes, "config")
	}
	g.tellNamedCard(s)
	g.tellCard(spec.GPU)
	g.tellText("gpu.vendor", s.GPUs.Vendor, "manifest")
	g.tellMaker(s)
	if s.GPUs.Count == nil {
		return
	}
	g.tell("gpu.count", *s.GPUs.Count, s.GPUs.Source)
	g.tell("gpu.asked", *s.GPUs.Count, s.GPUs.Source)
	if s.GPUs.Ignored != nil {
		g.tell("gpu.count", *s.GPUs.Ignored, "spec.resources.gpu, which the operator does not use")
	}
	if g.Contested("gpu.count") || choosesDevices(s) {
		return // which devices the container sees is not known then
	}
	g.tell("gpu.indexes", indexes(*s.GPUs.Count), s.GPUs.Source)
	if s.GPUs.Whole != nil {
		g.tell("gpu.whole", *s.GPUs.Whole, s.GPUs.Source)
	}
}

// Contested tells whether two sources tell a fact differently.
func (g *Gathered) Contested(name string) bool {
	return slices.ContainsFunc(g.Disagreements, func(d Disagreement) bool { return d.Fact == name })
}

// choosesDevices: with NVIDIA_VISIBLE_DEVICES the container runtime may expose
// devices that the plugin did not hand over.
func choosesDevices(s *server.Server) bool {
	return slices.ContainsFunc(s.Env, func(v server.Variable) bool { return v.Name == "NVIDIA_VISIBLE_DEVICES" })
}

// indexes lists the devices of a container in their order: 0,1,2.
func indexes(count int64) string {
	const most = 64 // no node has more; keeps a nonsense count from filling memory
	list := make([]string, 0, min(max(count, 0), most))
	for i := range min(count, most) {
		list = append(list, strconv.FormatInt(i, 10))
	}
	return strings.Join(list, ",")
}

// gatherMeasured takes the exact counts; logged bytes are rounded and stay with
// their text in the config.
func (g *Gathered) gatherMeasured(spec *config.Spec) {
	if tokens := spec.Measured.KVTokens; tokens != nil {
		g.tell("measured.kvTokens", *tokens, "config")
	}
	if slots := spec.Measured.MambaSlots; slots != nil {
		g.tell("measured.mambaSlots", *slots, "config")
	}
	if rate := spec.Measured.PrefillTokensPerSecond; rate != nil {
		g.tell("measured.prefillTokensPerSecond", *rate, "config")
	}
	if bytes := spec.Measured.KVBytes; bytes != nil {
		g.tell("measured.kvBytes", bytes.Text, "config")
	}
	if bytes := spec.Measured.MambaBytes; bytes != nil {
		g.tell("measured.mambaBytes", bytes.Text, "config")
	}
}

func (g *Gathered) gatherWorkload(spec *config.Spec) {
	if peak := spec.Workload.PeakRunning; peak != nil {
		g.tell("workload.peakRunning", *peak, "config")
	}
	g.Prompts = spec.Workload.Prompts
	g.Stamp = spec.Stamp != nil && *spec.Stamp
	if peak := spec.Workload.PeakMambaSlots; peak != nil {
		g.tell("workload.peakMambaSlots", *peak, "config")
	}
}

// gatherVersion takes the version from the annotation, the config or the image
// tag. A statement about another engine than the one the manifest starts is
// not used, and said.
func (g *Gathered) gatherVersion(s *server.Server, engine *catalogue.Engine, spec *config.Spec, overrides *config.Overrides) error {
	fromImage := engine.FromImage(s.Image)
	g.Span, g.SpanSource = fromImage, "image"
	type statement struct{ name, version, source string }
	g.Knows = slices.Concat(spec.Engine.Knows, s.Knows)
	statements := []statement{
		{overrides.Engine.Name, overrides.Engine.Version, "annotation trimtab.dev/engine"},
		{spec.Engine.Name, spec.Engine.Version, "config"},
	}
	started := Fact{Value: s.Engine, Source: "manifest"}
	stated := false
	for _, said := range statements {
		if said.name != "" && said.name != s.Engine {
			g.Disagreements = append(g.Disagreements, Disagreement{
				Fact: "engine.name", Used: started, Unused: Fact{Value: said.name, Source: said.source}})
			continue
		}
		if said.version == "" {
			continue
		}
		span, err := engine.Stated(said.version)
		if err != nil {
			return fmt.Errorf("engine version %q (%s): %w", said.version, said.source, err)
		}
		if stated {
			g.noteVersion(span, said.source)
			continue
		}
		g.Span, g.SpanSource, stated = span, said.source, true
	}
	if stated && fromImage.Exact {
		g.noteVersion(fromImage, "image tag")
	}
	return nil
}

// noteVersion records a second version statement that no release fits both.
func (g *Gathered) noteVersion(other catalogue.Span, source string) {
	for _, release := range other.Releases {
		for _, used := range g.Span.Releases {
			if release == used {
				return
			}
		}
	}
	g.Disagreements = append(g.Disagreements, Disagreement{
		Fact: "engine.version",
		Used: Fact{Value: g.Span.Text, Source: g.SpanSource}, Unused: Fact{Value: other.Text, Source: source}})
}
