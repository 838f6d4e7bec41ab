package validators

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/trimtab/trimtab/internal/engine"
	"github.com/trimtab/trimtab/internal/finding"
	"github.com/trimtab/trimtab/internal/rule"
	"github.com/trimtab/trimtab/internal/server"
	"github.com/trimtab/trimtab/internal/serving"
)

// rolesDisagree finds parts of one service that differ where they must agree:
// prefill and decode, leader and worker, the servers behind one Service.
func rolesDisagree() rule.Rule {
	meta := rule.Named("roles-disagree")
	return rule.Rule{Meta: meta, CheckServer: func(s rule.Server) []finding.Finding {
		var found []finding.Finding
		said := map[string]bool{} // once for each setting, whatever it differs from
		stage := stageOf(s)
		for i := range s.Earlier {
			other := &s.Earlier[i]
			if other.Engine != s.Engine {
				continue
			}
			pair := pairOf(other, &s, stage)
			if pair == "" {
				continue
			}
			for _, f := range disagreements(*other, s, pair, meta) {
				if !said[f.Setting] {
					said[f.Setting] = true
					found = append(found, f)
				}
			}
		}
		return found
	}}
}

// pairOf tells how two servers belong together, of which the second is a stage;
// empty where they do not. It is asked of every two servers of a namespace: what
// costs little comes first.
func pairOf(a, b *rule.Server, second string) serving.Pair {
	sameObject := a.Item == b.Item
	if !sameObject && second == "" && !sharesFront(a, b) {
		return "" // neither halves nor replicas
	}
	if sameObject && a.Template().String() == b.Template().String() {
		return "" // two engines in one pod
	}
	ranked := a.Part.Rank != "" && b.Part.Rank != "" && a.Part.Rank != b.Part.Rank && a.Part.Unit == b.Part.Unit
	if sameObject && ranked {
		return serving.Ranks
	}
	switch {
	case a.Part.Rank == server.Worker || b.Part.Rank == server.Worker:
		return "" // its leader speaks for it
	case !sameObject && server.Folder(a.Item) != server.Folder(b.Item):
		return "" // it may be of another cluster
	}
	first := stageOf(*a)
	halves := first != "" && second != "" && first != second
	switch {
	case halves && (sameObject || sameService(a, b)):
		return serving.Transfer
	case first == "" && second == "" && !sameObject && sharesFront(a, b):
		return serving.Replicas
	}
	return ""
}

// stageOf is which half of a pair of prefill and decode a server is: by its
// names, else by the settings that say so.
func stageOf(s rule.Server) string {
	if s.Part.Stage != "" {
		return s.Part.Stage
	}
	for _, stage := range s.Serving.Stages {
		about, ok := given(s, stage.Setting)
		if !ok || about.Unknown {
			continue
		}
		value := about.Value()
		if stage.JSON != "" {
			value, _ = serving.Inside(value, stage.JSON)
		}
		switch value {
		case "":
		case stage.Prefill:
			return server.Prefill
		case stage.Decode:
			return server.Decode
		}
	}
	return ""
}

// sharesService tells whether one Service leads to both.
func sharesService(a, b *rule.Server) bool {
	return slices.ContainsFunc(a.ServedBy, func(name string) bool { return slices.Contains(b.ServedBy, name) })
}

// sharesFront tells whether one Service with an address sends requests to both.
func sharesFront(a, b *rule.Server) bool {
	return slices.ContainsFunc(a.Front, func(one server.FrontPort) bool {
		return one.Path == nil && slices.ContainsFunc(b.Front, func(other server.FrontPort) bool { return other.Path == nil && other.Service == one.Service })
	})
}

// sameService tells whether two objects of one namespace are the halves of one
// service: a Service leads to both, or their names or the labels of their pods
// differ in nothing but the half.
func sameService(a, b *rule.Server) bool {
	if sharesService(a, b) {
		return true
	}
	if name := withoutStage(a.Object.Name); name != a.Object.Name && name == withoutStage(b.Object.Name) {
		return true
	}
	first, second := maps.Clone(a.Pod.Labels), maps.Clone(b.Pod.Labels)
	for name, value := range a.Pod.Labels {
		if withoutStage(value) != value || withoutStage(second[name]) != second[name] {
			delete(first, name)
			delete(second, name)
		}
	}
	return len(first) > 0 && len(first) < len(a.Pod.Labels) && maps.Equal(first, second)
}

func withoutStage(name string) string {
	return strings.NewReplacer("prefill", "*", "decode", "*").Replace(name)
}

// disagreements are what the later of two parts has otherwise than the earlier.
func disagreements(a, b rule.Server, pair serving.Pair, meta rule.Meta) []finding.Finding {
	var found []finding.Finding
	for _, accord := range b.Serving.Roles {
		if accord.Pair != pair || accord.When != nil && !(holdsBeside(a, accord.When) && holdsBeside(b, accord.When)) {
			continue
		}
		if slices.ContainsFunc(accord.Unless, func(name string) bool { return isOn(a, name) || isOn(b, name) }) {
			continue
		}
		for _, one := range accorded(a, b, accord) {
			f := standingAt(b, one.setting, meta)
			f.Value = one.second
			f.Message = fmt.Sprintf("%s %s, and %s %s: %s", partText(b), hasText(one.setting, one.second), partText(a), hasText(one.setting, one.first), accord.Why)
			f.Evidence = []finding.Evidence{{Engine: b.Engine, Versions: "*", Source: accord.Source}}
			found = append(found, f)
		}
	}
	if f, ok := imagesDiffer(a, b, pair, meta); ok {
		found = append(found, f)
	}
	return found
}

// difference is a setting of which two parts have different values.
type difference struct{ setting, first, second string }

// accorded compares the settings of an accord in its way.
func accorded(a, b rule.Server, accord serving.Accord) []difference {
	compared := func(name string, read func(rule.Server) (string, bool), equal func(x, y string) bool) []difference {
		first, knownFirst := read(a)
		second, knownSecond := read(b)
		if !knownFirst || !knownSecond || equal(first, second) {
			return nil
		}
		return []difference{{name, first, second}}
	}
	same := func(x, y string) bool { return x == y }
	name := accord.Settings[0]
	switch accord.Compare {
	case "model":
		return compared(name, func(s rule.Server) (string, bool) { return modelOf(s, name) }, sameModel)
	case "name":
		return compared(accord.Settings[len(accord.Settings)-1], func(s rule.Server) (string, bool) { return servedName(s, accord.Settings) }, sameNames)
	case "connector":
		return compared(name, func(s rule.Server) (string, bool) { return insideOf(s, name, accord.JSON) }, same)
	case "halves":
		return compared(name, func(s rule.Server) (string, bool) { return insideOf(s, name, accord.JSON) }, completing(b.Serving.Stages, name))
	}
	var found []difference
	for _, name := range accord.Settings {
		found = append(found, compared(name, func(s rule.Server) (string, bool) { return inForce(s, name) }, sameValue)...)
	}
	return found
}

// inForce is the value of a setting as far as it is known: the given one, else
// the parser's default. What the engine decides at start-up is not known.
func inForce(s rule.Server, name string) (string, bool) {
	if about, ok := given(s, name); ok {
		value := about.Value()
		return value, !about.Unknown && value != "auto"
	}
	option, ok := s.Catalogue.Option(name, s.NewestRelease)
	if s.Newest.Line.Opaque || !ok || !option.HasDefault || option.Default == nil {
		return "", false
	}
	value := fmt.Sprint(option.Default)
	return value, value != "auto"
}

// sameValue compares numbers as numbers, and the two names of a type as one.
func sameValue(x, y string) bool {
	first, isFirst := engine.WholeNumber(x)
	second, isSecond := engine.WholeNumber(y)
	if isFirst && isSecond {
		return first == second
	}
	return oneName(x) == oneName(y)
}

var otherNames = map[string]string{"half": "float16", "float": "float32", "fp8": "fp8_e4m3", "bf16": "bfloat16"}

func oneName(value string) string {
	if name, ok := otherNames[value]; ok {
		return name
	}
	return value
}

// modelOf is the model as the command line names it. Behind an option of a
// wrapper a word alone may be that option's value.
func modelOf(s rule.Server, flag string) (string, bool) {
	about, ok := given(s, flag)
	stray := len(s.Knows) > 0 && !strings.HasPrefix(about.Spelled, "--")
	return about.Value(), ok && !stray && !about.Unknown && about.Value() != ""
}

// sameModel compares the last parts of names: one may be a path, the other a
// name on the Hub. A folder of a common name tells nothing.
func sameModel(x, y string) bool {
	first, second := strings.ToLower(path.Base(strings.TrimRight(x, "/"))), strings.ToLower(path.Base(strings.TrimRight(y, "/")))
	plain := []string{"models", "model", "data", "weights", "main"}
	return first == second || slices.Contains(plain, first) || slices.Contains(plain, second)
}

// servedName are the names that requests may ask for: the last of the settings
// where it is given, else the first.
func servedName(s rule.Server, flags []string) (string, bool) {
	for _, flag := range slices.Backward(flags) {
		if about, ok := given(s, flag); ok {
			return about.Value(), !about.Unknown
		}
	}
	return "", false
}

// sameNames tells whether two lists of names share one.
func sameNames(x, y string) bool {
	names := strings.Fields(y)
	return slices.ContainsFunc(strings.Fields(x), func(name string) bool { return slices.Contains(names, name) })
}

// insideOf is a text in the JSON of a setting, or its value where there is no
// path.
func insideOf(s rule.Server, name, inside string) (string, bool) {
	about, ok := given(s, name)
	if !ok || about.Unknown {
		return "", false
	}
	if inside == "" {
		return about.Value(), true
	}
	return serving.Inside(about.Value(), inside)
}

// completing tells whether two values of the setting that names the half are not
// twice the same half.
func completing(stages []serving.Stage, name string) func(x, y string) bool {
	return func(x, y string) bool {
		for _, stage := range stages {
			if stage.Setting == name && x == y && (x == stage.Prefill || x == stage.Decode) {
				return false
			}
		}
		return true
	}
}

// imagesDiffer compares the images of parts that speak to each other: two
// releases may do that in two ways.
func imagesDiffer(a, b rule.Server, pair serving.Pair, meta rule.Meta) (finding.Finding, bool) {
	if pair == serving.Replicas || a.Image == "" || b.Image == "" || a.Image == b.Image || unresolved(a.Image) || unresolved(b.Image) {
		return finding.Finding{}, false
	}
	f := b.AboutServer(meta)
	f.Setting, f.Value = b.ImagePath.String(), b.Image
	f.Origin.Path = b.ImagePath
	f.Message = fmt.Sprintf("%s runs the image %s, and %s %s: parts of one service run one release of the engine", partText(b), b.Image, partText(a), a.Image)
	f.Evidence = []finding.Evidence{{Engine: b.Engine, Versions: "*", Source: "the parts speak a protocol of the engine's own, which has no promise between releases"}}
	if a.Facts.Span.Exact && b.Facts.Span.Exact && slices.Equal(a.Facts.Span.Releases, b.Facts.Span.Releases) {
		f.Severity = finding.Info // one release, built twice
	}
	return f, true
}

func unresolved(text string) bool { return strings.ContainsAny(text, "${}<>") }

// standingAt is a finding at a setting of a part, or at the part where the
// setting is not given.
func standingAt(s rule.Server, name string, meta rule.Meta) finding.Finding {
	if about, ok := given(s, name); ok && about.Origin.Stands() {
		f := s.About(meta, about)
		f.Places = nil
		return f
	}
	f := s.AboutServer(meta)
	f.Setting = name
	return f
}

// partText is how a message calls a part.
func partText(s rule.Server) string {
	switch {
	case s.Part.Label != "":
		return "the " + s.Part.Label + " of " + s.Object.Kind + " " + s.Object.Name
	case s.Part.Rank != "" && s.Part.Rank != server.Leader:
		return "the " + s.Part.Rank + " of " + s.Object.Kind + " " + s.Object.Name
	}
	return s.Object.Kind + " " + s.Object.Name
}

func hasText(name, value string) string {
	switch value {
	case "true", "True":
		return "has " + name
	case "false", "False":
		return "has no " + name
	}
	return "has " + name + " " + value
}
