package fn

import (
	"fmt"
	"slices"
	"strings"

	"github.com/trimtab/trimtab/internal/argv"
	"github.com/trimtab/trimtab/internal/catalogue"
	"github.com/trimtab/trimtab/internal/engine"
	"github.com/trimtab/trimtab/internal/facts"
	"github.com/trimtab/trimtab/internal/rule"
	"github.com/trimtab/trimtab/internal/server"
	"github.com/trimtab/trimtab/internal/setting"
)

// readAt reads a server as a release does.
type readAt func(catalogue.Release) rule.Reading

// readByRelease reads the command line as each release would, and adds the
// variables, which are the same in all.
func readByRelease(s *server.Server, catalogued *catalogue.Engine, known *engine.Knowledge, gathered *facts.Gathered) readAt {
	var gpus *int64
	if count, ok := gathered.Set["gpu.count"].Value.(int64); ok {
		gpus = &count
	}
	words := s.CommandLine(gpus)
	variables := variablesOf(s, words)
	fork := gathered.Set["image.fork"].Value == true
	reader := rule.NewReader(catalogued, known, argv.Mode(s.Mode), words, configFiles(s))
	var last rule.Reading // most servers run one release, which is asked for again and again
	at := -1
	return func(release catalogue.Release) rule.Reading {
		if release.Index == at {
			return last
		}
		reading, line := reader.Read(release)
		for _, problem := range line.Problems {
			if problem.Setting != argv.NoSetting && problem.Setting < len(line.Settings) {
				line.Settings[problem.Setting].Held = "the parser refuses it"
			}
		}
		holdKept(line, s.Wrapper, words)
		markRead(line)
		added := func(flag string) bool { return gathered.Adds(flag) || known.States(flag) }
		reading.Settings = slices.Clip(slices.Concat(line.Settings, addedSettings(line, added), variables))
		reading.Opaque = opaque(line, gathered.Span.Exact && !fork, added)
		reading.Refused = reading.Opaque != "" && !line.Opaque
		last, at = reading, release.Index
		return reading
	}
}

// holdKept holds the options that a wrapper around the engine takes for itself.
func holdKept(line argv.Line, wrapper *server.Wrapper, words []setting.Word) {
	kept := map[string]bool{}
	for _, word := range words {
		if flag, _, _ := strings.Cut(word.Text, "="); wrapper.Keeps(flag) {
			kept[word.Origin.String()] = true
		}
	}
	for i := range line.Settings {
		if kept[line.Settings[i].Origin.String()] {
			line.Settings[i].Held = "it is an option of " + wrapper.Name
		}
	}
}

// addedSettings are the options that a fork or a plugin adds, which the parser of
// the release does not know: each with the words behind it.
func addedSettings(line argv.Line, added func(string) bool) []setting.Setting {
	var settings []setting.Setting
	for _, problem := range line.Problems {
		flag := dashed(problem.Flag)
		if problem.Kind != argv.Unknown || !added(flag) {
			continue
		}
		spelled, value, attached := strings.Cut(problem.Words[0].Text, "=")
		s := setting.Setting{Name: flag, Spelled: spelled, Origin: problem.Words[0].Origin}
		if attached {
			s.Values = []string{value}
		}
		for i, word := range problem.Words {
			if i > 0 {
				s.Values = append(s.Values, word.Text)
			}
			s.Unknown = s.Unknown || word.Unknown
			if word.Origin.Path != nil {
				s.Places = append(s.Places, word.Origin.Path)
			}
		}
		settings = append(settings, s)
	}
	return settings
}

func dashed(flag string) string { return strings.ReplaceAll(flag, "_", "-") }

// markRead takes the key from --config where its file was read: then it hides
// nothing.
func markRead(line argv.Line) {
	fromFile := func(s setting.Setting) bool { return s.Origin.Kind == setting.ConfigFile }
	if !slices.ContainsFunc(line.Settings, fromFile) {
		return
	}
	for i := range line.Settings {
		if line.Settings[i].Key == "config" {
			line.Settings[i].Key = ""
		}
	}
}

// opaque names what keeps the rest of a command line from being known: a word
// that may hold options, or one that the parser of the release refuses. On a
// fork, and where the release is not known, an unknown option may be in order.
func opaque(line argv.Line, strict bool, added func(string) bool) string {
	for _, stray := range line.Stray {
		if line.Opaque && stray.Unknown {
			return "the arguments behind " + stray.Text
		}
	}
	if line.Opaque {
		for _, given := range line.Settings {
			if given.Name == "--config" {
				return "the settings in the file of --config"
			}
		}
		return "the arguments behind a variable"
	}
	for _, problem := range line.Problems {
		if problem.Kind == argv.MissingOption || problem.Kind == argv.Unknown && added(dashed(problem.Flag)) {
			continue // it says nothing about the other words
		}
		if strict || problem.Kind == argv.Ambiguous {
			return "arguments that the parser takes (" + problem.Message + ")"
		}
	}
	return ""
}

// variablesOf turns the container's env into settings. Nothing is concluded
// about a variable that something else depends on.
func variablesOf(s *server.Server, words []setting.Word) []setting.Setting {
	times := map[string]int{}
	for _, v := range s.Env {
		times[v.Name]++
	}
	variables := make([]setting.Setting, 0, len(s.Env))
	seen := map[string]int{}
	for _, v := range s.Env {
		seen[v.Name]++
		variable := setting.Setting{
			Name: "env/" + v.Name, Spelled: v.Name, Values: []string{v.Value}, Unknown: v.Unknown,
			Origin: setting.Origin{Kind: setting.Env, Path: v.Path}, Places: []setting.Path{v.Path},
			Overridden: seen[v.Name] < times[v.Name],
		}
		if v.Bound != "" {
			variable.Origin, variable.Places = setting.Origin{Kind: setting.Env, Name: v.Bound}, nil
		}
		switch {
		case times[v.Name] > 1:
			variable.Held = "it is set more than once"
		case s.EnvFrom:
			variable.Held = "it may hide one of envFrom"
		case slices.Contains(s.Reads, v.Name):
			variable.Held = "the shell script reads it"
		case referenced(v.Name, s.Env, words):
			variable.Held = fmt.Sprintf("something refers to it as $(%s)", v.Name)
		}
		variables = append(variables, variable)
	}
	return variables
}

// referenced tells whether an argument or another variable holds $(NAME), which
// the kubelet replaces.
func referenced(name string, variables []server.Variable, words []setting.Word) bool {
	reference := "$(" + name + ")"
	return slices.ContainsFunc(words, func(w setting.Word) bool { return strings.Contains(w.Text, reference) }) ||
		slices.ContainsFunc(variables, func(v server.Variable) bool { return strings.Contains(v.Value, reference) })
}

// effective are the settings in force, by name: what must stay as it is when
// others are edited.
func effective(settings []setting.Setting) map[string]string {
	inForce := map[string]string{}
	for _, s := range settings {
		if !s.Overridden {
			inForce[s.Name] = strings.Join(append([]string{s.Value()}, s.Needs...), "\x00")
		}
	}
	return inForce
}
