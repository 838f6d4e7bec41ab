package server

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/trimtab/trimtab/internal/setting"
	"github.com/trimtab/trimtab/internal/shell"
)

// speakers are programs for which the name of an engine is a text, not a program
// to start.
var speakers = []string{
	"echo", "printf", "grep", "egrep", "pgrep", "pkill", "killall", "ps", "which", "type", "[", "test", "trap", "cat", "logger",
	"pip", "pip3", "uv", "apt", "apt-get", "export", "alias", "curl", "wget", "sed", "awk",
}

// template is what a template does beyond filling in a value.
var template = regexp.MustCompile(`\{\{-|-\}\}|\{\{\s*(if|else|end|range|with|define|block|template|/\*)`)

// scripted are the engines that a command line starts through a shell script: one
// handed to a shell, or a file that a ConfigMap mounts. The reason is empty where
// the line runs no script that is known.
func (s seat) scripted(line []setting.Word, variables []Variable) ([]program, string) {
	script := s.scriptOf(line, variables)
	if script == nil {
		return nil, ""
	}
	if template.MatchString(script.Text) {
		return nil, "its shell script is a template"
	}
	commands, err := script.Commands()
	if err != nil {
		return nil, err.Error()
	}
	var programs []program
	for _, command := range commands {
		if started, ok := s.commanded(script, command, variables); ok {
			programs = append(programs, started)
		}
	}
	if len(programs) == 0 {
		return nil, "its shell script starts no engine"
	}
	return programs, ""
}

// scriptOf is the script that a command line runs, nil when it runs none that is
// known.
func (s seat) scriptOf(line []setting.Word, variables []Variable) *setting.Script {
	texts := make([]string, len(line))
	for i, word := range line {
		texts[i] = word.Text
	}
	invocation, found := shell.FindShell(texts)
	switch {
	case !found && len(line) > 0:
		return s.mountedScript(line, variables, shebang)
	case !found || invocation.Script < 0:
		return nil
	case invocation.File:
		return s.mountedScript(line[invocation.Script:], variables, func(string) (shell.Dialect, bool) { return invocation.Dialect, true })
	}
	return newScript(line[invocation.Script], line[invocation.Script+1:], invocation.Dialect, variables)
}

// mountedScript is the script of a file that a ConfigMap of the input mounts; its
// name is the first word, its arguments follow.
func (s seat) mountedScript(line []setting.Word, variables []Variable, dialect func(text string) (shell.Dialect, bool)) *setting.Script {
	mounted := Server{Object: s.object, Mounts: mounts(at(s.podSpec, "volumes"), at(s.container, "volumeMounts"), s.path.Join("volumeMounts")), configMaps: s.files}
	file, found := mounted.mountedFile(line[0].Text)
	if !found {
		return nil
	}
	spoken, ok := dialect(file.Text)
	if !ok {
		return nil
	}
	script := newScript(setting.Word{Text: file.Text}, line, spoken, variables)
	script.Kubelet, script.Name = false, "ConfigMap "+file.ConfigMap.Name+", "+file.Key
	return script
}

// shebang is the language of an executable script.
func shebang(text string) (shell.Dialect, bool) {
	first, _, _ := strings.Cut(text, "\n")
	program, is := strings.CutPrefix(first, "#!")
	words := strings.Fields(program)
	if len(words) > 1 && path.Base(words[0]) == "env" {
		words = words[1:]
	}
	if !is || len(words) == 0 {
		return shell.POSIX, false
	}
	invocation, found := shell.FindShell(words)
	return invocation.Dialect, found
}

// newScript is a script with its arguments, from $0 on, and the places of its
// texts.
func newScript(text setting.Word, arguments []setting.Word, dialect shell.Dialect, variables []Variable) *setting.Script {
	script := &setting.Script{
		Script: shell.Script{Text: text.Text, Dialect: dialect, Kubelet: true, Templates: true, Env: map[string]shell.Value{}},
		Places: map[shell.Source]setting.Path{}, Given: arguments,
	}
	stands := func(source shell.Source, path setting.Path) {
		if path != nil {
			script.Places[source] = path
		}
	}
	stands("", text.Origin.Path)
	for i, word := range arguments {
		script.Args = append(script.Args, shell.Value{Text: word.Text, Unknown: word.Unknown})
		if word.Origin.Kind == setting.Argument {
			stands(shell.Source(fmt.Sprintf("arg/%d", i)), word.Origin.Path)
		}
	}
	for _, v := range variables { // the last of a name counts
		script.Env[v.Name] = shell.Value{Text: v.Value, Unknown: v.Unknown}
		stands(shell.Source("env/"+v.Name), v.ValuePath)
	}
	return script
}

// commanded is the engine that a command of a script starts.
func (s seat) commanded(script *setting.Script, command shell.Command, variables []Variable) (program, bool) {
	if len(command.Words) == 0 || slices.Contains(speakers, path.Base(command.Words[0].Text)) {
		return program{}, false
	}
	line := make([]setting.Word, len(command.Words))
	for i, word := range command.Words {
		line[i] = scriptWord(script, word)
	}
	started, found := findProgram(line)
	if !found {
		return program{}, false
	}
	started.direct, started.clustered = known(false), joinsCluster.MatchString(script.Text)
	started.variables = withScript(variables, script, command.Env)
	started.reads, _ = script.Reads()
	return started, true
}

// scriptWord is a word of a script with the place where it can be edited, or
// where people find it.
func scriptWord(script *setting.Script, word shell.Word) setting.Word {
	if given, whole := handedOn(script, word); whole {
		return given
	}
	read := setting.Word{Text: word.Text, Unknown: word.Unknown}
	place, stands := script.Places[word.Span.Source]
	at := place.Join(setting.Part{Script: script, Span: word.Span})
	switch {
	case stands && word.Fixed == "":
		read.Origin = setting.Origin{Kind: setting.Argument, Path: at}
	case stands && word.Span.To > word.Span.From:
		read.Origin = setting.BoundTo(at)
		read.Origin.Near, read.Origin.Fixed = at, word.Fixed
	default:
		read.Origin = setting.Origin{Kind: setting.Bound, Name: nameOf(script) + lineOf(script, word.Span), Near: script.Places[""], Fixed: word.Fixed}
	}
	return read
}

// lineOf is the line, from 1, of a word in a script that stands in another
// object: people look for it there. It is empty for other words.
func lineOf(script *setting.Script, span shell.Span) string {
	if _, stands := script.Places[""]; stands || span.Source != "" || span.To <= span.From {
		return ""
	}
	return fmt.Sprintf(", line %d", 1+strings.Count(script.Text[:span.From], "\n"))
}

// handedOn is the argument that a script hands on as it is, where that is no
// element of a list but what an operator makes of a field.
func handedOn(script *setting.Script, word shell.Word) (setting.Word, bool) {
	index, is := strings.CutPrefix(string(word.Span.Source), "arg/")
	at, err := strconv.Atoi(index)
	if !is || err != nil {
		return setting.Word{}, false
	}
	given := script.Given[at]
	return given, given.Origin.Kind != setting.Argument && word.Text == given.Text && word.Span.To-word.Span.From == len(given.Text)
}

// nameOf tells people where a script stands.
func nameOf(script *setting.Script) string {
	if place, stands := script.Places[""]; stands {
		return place.String()
	}
	return script.Name
}

// withScript are the variables of the container as the script leaves them to a
// command.
func withScript(variables []Variable, script *setting.Script, set []shell.Assign) []Variable {
	if len(set) == 0 {
		return variables
	}
	own := map[string]Variable{}
	var order []string
	for _, assign := range set {
		if _, again := own[assign.Name]; !again {
			order = append(order, assign.Name)
		}
		word := scriptWord(script, assign.Value)
		own[assign.Name] = Variable{Name: assign.Name, Value: word.Text, Unknown: word.Unknown, Bound: nameOf(script)}
	}
	kept := slices.DeleteFunc(slices.Clone(variables), func(v Variable) bool { _, ours := own[v.Name]; return ours })
	for _, name := range order {
		kept = append(kept, own[name])
	}
	return kept
}
