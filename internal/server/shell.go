package server

import (
	"fmt"
	"path"
	"regexp"
	"slices"
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

// template is an expression of a template that blanks would take apart.
var template = regexp.MustCompile(`\{\{[^}]*\s[^}]*\}\}`)

// scripted are the engines that a command line starts through a shell script.
// The reason is empty where the line hands no script to a shell.
func (s seat) scripted(line []setting.Word, variables []Variable) ([]program, string) {
	texts := make([]string, len(line))
	for i, word := range line {
		texts[i] = word.Text
	}
	invocation, found := shell.FindShell(texts)
	if !found || invocation.Script < 0 || invocation.File {
		return nil, ""
	}
	if template.MatchString(texts[invocation.Script]) {
		return nil, "its shell script is a template"
	}
	script := scriptOf(line, invocation, variables)
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

// scriptOf is the script of a command line, with the places of its texts.
func scriptOf(line []setting.Word, invocation shell.Invocation, variables []Variable) *setting.Script {
	text := line[invocation.Script]
	script := &setting.Script{
		Script: shell.Script{Text: text.Text, Dialect: invocation.Dialect, Kubelet: true, Env: map[string]shell.Value{}},
		Places: map[shell.Source]setting.Path{},
	}
	stands := func(source shell.Source, path setting.Path) {
		if path != nil {
			script.Places[source] = path
		}
	}
	stands("", text.Origin.Path)
	for i, word := range line[invocation.Script+1:] {
		script.Args = append(script.Args, shell.Value{Text: word.Text, Unknown: word.Unknown})
		stands(shell.Source(fmt.Sprintf("arg/%d", i)), word.Origin.Path)
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
	started.direct = known(false)
	started.variables = withScript(variables, script, command.Env)
	started.reads, _ = script.Reads()
	return started, true
}

// scriptWord is a word of a script with the place where it can be edited, or
// where people find it.
func scriptWord(script *setting.Script, word shell.Word) setting.Word {
	read := setting.Word{Text: word.Text, Unknown: word.Unknown || strings.Contains(word.Text, "{{")}
	place, stands := script.Places[word.Span.Source]
	if !stands {
		place = script.Places[""]
	}
	at := place.Join(setting.Part{Script: script, Span: word.Span})
	if stands && word.Fixed == "" {
		read.Origin = setting.Origin{Kind: setting.Argument, Path: at}
		return read
	}
	read.Origin = setting.BoundTo(place)
	if stands && word.Span.To > word.Span.From {
		read.Origin = setting.BoundTo(at)
		read.Origin.Near = at
	}
	read.Origin.Fixed = word.Fixed
	return read
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
		own[assign.Name] = Variable{Name: assign.Name, Value: word.Text, Unknown: word.Unknown, Bound: script.Places[""].String()}
	}
	kept := slices.DeleteFunc(slices.Clone(variables), func(v Variable) bool { _, ours := own[v.Name]; return ours })
	for _, name := range order {
		kept = append(kept, own[name])
	}
	return kept
}
