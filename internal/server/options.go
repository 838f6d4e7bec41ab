package server

import (
	"path"
	"slices"
	"strings"

	"github.com/trimtab/trimtab/internal/catalogue"
	"github.com/trimtab/trimtab/internal/setting"
)

// otherRoles are words in the name of an image or container that serves no
// model itself, though an engine's name stands there too.
var otherRoles = []string{
	"router", "gateway", "proxy", "exporter", "bench", "benchmark", "client", "sim", "simulator", "controller",
	"operator", "scheduler", "sidecar", "syncer", "dashboard", "planner", "frontend", "downloader", "loader", "test", "eval", "builder",
}

// engineByOptions tells the engine of bare arguments where the image does not:
// a name nearby says it, and the options are that engine's. Two thirds of them
// must be, two at least.
func (s seat) engineByOptions(image string, args []setting.Word) string {
	imageWords := nameWords(path.Base(image))
	own := append(nameWords(text(at(s.container, "name"))), imageWords...)
	if slices.ContainsFunc(own, func(word string) bool { return slices.Contains(otherRoles, word) }) {
		return ""
	}
	near := append(own, nameWords(image)...)
	near = append(near, nameWords(s.object.Name)...)
	for _, name := range s.names {
		near = append(near, nameWords(name)...)
	}
	for _, label := range stringMap(s.podLabels) {
		near = append(near, nameWords(label)...)
	}
	for _, engine := range []string{"vllm", "sglang"} {
		if slices.Contains(near, engine) && mostAreOptionsOf(engine, args) {
			return engine
		}
	}
	return ""
}

func nameWords(name string) []string {
	return strings.FieldsFunc(strings.ToLower(name), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9')
	})
}

func mostAreOptionsOf(engine string, args []setting.Word) bool {
	if len(args) == 0 || !strings.HasPrefix(args[0].Text, "-") {
		return false
	}
	catalogued, err := catalogue.Load(engine)
	if err != nil {
		return false
	}
	total, known := 0, 0
	for _, word := range args {
		flag, _, _ := strings.Cut(word.Text, "=")
		if !strings.HasPrefix(flag, "--") {
			continue
		}
		total++
		if len(catalogued.OptionEver(strings.ReplaceAll(flag, "_", "-"))) > 0 {
			known++
		}
	}
	return known >= 2 && 3*known >= 2*total
}
