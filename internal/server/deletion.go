package server

import (
	"path"
	"slices"
	"strconv"
	"strings"
)

// Deletion is what a container's command removes, as far as its text tells.
type Deletion struct {
	Targets []DeletionTarget
	// Unclear is the part of the command that cannot be read: a script that is
	// elsewhere, the image's own program, a path in a variable. Empty where all
	// is read.
	Unclear string
	// Broken is the part of the command that its image does not have, so that it
	// fails before it removes anything: `find -printf` of a busybox image.
	Broken string
}

// DeletionTarget is one thing a command removes, with all that lies below it.
type DeletionTarget struct {
	// Path is absolute and may hold the wildcards of a shell. A piece that only
	// the running command knows is a `*`.
	Path string
	// Name is the pattern that names must match, empty for all (find -name).
	Name string
	// Depth is how far below Path it reaches at most; -1 for all (find -maxdepth).
	Depth int
}

// Deletion reads the container's command.
func (u VolumeUser) Deletion() Deletion {
	reader := deletionReader{dir: u.WorkingDir, variables: map[string][]string{}, busybox: strings.Contains(u.Image, "busybox")}
	for _, variable := range u.Env {
		if !variable.Unknown {
			reader.variables[variable.Name] = []string{variable.Value}
		}
	}
	line := slices.Concat(u.Command, u.Args)
	if len(u.Command) == 0 {
		return Deletion{Unclear: "the image's own program"}
	}
	words := make([]string, 0, len(line))
	for _, word := range line {
		words = append(words, reader.kubelet(word))
	}
	reader.run(words, nil)
	return reader.found
}

// deletionReader walks through a script: where it is, and what its variables
// hold; several texts for the variable of a loop.
type deletionReader struct {
	dir       string
	variables map[string][]string
	// functions are the names of those that the scripts declare.
	functions []string
	found     Deletion
	depth     int
	// busybox is true where the image has its programs alone.
	busybox bool
}

func (r *deletionReader) unclear(what string) {
	if r.found.Unclear == "" {
		r.found.Unclear = what
	}
}

// kubelet puts the values of known variables for $(NAME), and a dollar for two.
func (r *deletionReader) kubelet(word string) string {
	for name, values := range r.variables {
		word = strings.ReplaceAll(word, "$("+name+")", values[0])
	}
	return strings.ReplaceAll(word, "$$", "$")
}

// prefixes are programs that start another one, with their own options before
// it.
var prefixes = []string{"exec", "command", "time", "busybox", "env", "nice", "ionice", "nohup", "timeout", "sudo", "!"}

// harmless programs remove nothing from a volume, whatever their arguments.
var harmless = strings.Fields(`: [ [[ awk basename break cat chgrp chmod chown continue cp curl cut date df dirname du echo
	exit export expr false fsync grep egrep head hostname id jq kill kubectl ln local ls md5sum mkdir printf ps pwd read
	readlink realpath return sed seq set sha256sum shift sleep sort stat sync tail tar tee test touch tr trap true type
	umask uname uniq unset wait wc whoami yes`)

// run reads one command; piped are the paths that the command before the pipe
// printed.
func (r *deletionReader) run(words []string, piped []string) (printed []string) {
	for len(words) > 0 {
		name, value, assigned := strings.Cut(words[0], "=")
		if !assigned || !isVariableName(name) {
			break
		}
		r.variables[name] = []string{value}
		words = words[1:]
	}
	for len(words) > 0 && slices.Contains(prefixes, path.Base(words[0])) {
		words = words[1:]
		for len(words) > 0 && (strings.HasPrefix(words[0], "-") || isNumber(words[0])) {
			words = words[1:]
		}
	}
	if len(words) == 0 {
		return nil
	}
	program, rest := path.Base(words[0]), words[1:]
	switch {
	case program == "cd":
		r.change(rest)
	case slices.Contains([]string{"rm", "rmdir", "unlink", "shred"}, program):
		r.remove(operands(rest))
	case program == "mv":
		if moved := operands(rest); len(moved) > 1 {
			r.remove(moved[:len(moved)-1])
		}
	case program == "find":
		return r.find(rest)
	case program == "xargs":
		r.xargs(rest, piped)
	case program == "read" && len(piped) > 0:
		for _, name := range operands(rest) {
			r.variables[name] = piped // one of them at each turn of the loop
		}
	case program == "ls" || program == "echo" || program == "printf":
		return operands(rest)
	case isShellName(program):
		r.shell(rest)
	case slices.Contains(harmless, program):
		return piped
	default:
		r.unclear("`" + words[0] + "`")
	}
	return piped
}

func isShellName(program string) bool {
	return slices.Contains([]string{"sh", "bash", "ash", "dash"}, program)
}

func isNumber(word string) bool {
	_, err := strconv.ParseFloat(strings.TrimRight(word, "smhd"), 64)
	return err == nil
}

func isVariableName(name string) bool {
	return name != "" && strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_") == ""
}

// operands are the words that are no options.
func operands(words []string) []string {
	var list []string
	for i, word := range words {
		if word == "--" {
			return append(list, words[i+1:]...)
		}
		if !strings.HasPrefix(word, "-") {
			list = append(list, word)
		}
	}
	return list
}

func (r *deletionReader) change(words []string) {
	to := operands(words)
	if len(to) != 1 {
		r.dir = ""
		return
	}
	r.dir, _ = r.absolute(to[0])
}

// absolute is a path from where the script is; false where that is not known.
func (r *deletionReader) absolute(word string) (string, bool) {
	word = strings.ReplaceAll(word, unknownText, "*")
	switch {
	case strings.HasPrefix(word, "/"):
		return path.Clean(word), true
	case r.dir == "":
		return "", false
	}
	return path.Join(r.dir, word), true
}

func (r *deletionReader) remove(words []string) {
	r.target(words, "", -1)
}

func (r *deletionReader) target(words []string, name string, depth int) {
	for _, word := range words {
		at, ok := r.absolute(word)
		if !ok {
			r.unclear("where `" + strings.ReplaceAll(word, unknownText, "$") + "` lies")
			continue
		}
		r.found.Targets = append(r.found.Targets, DeletionTarget{at, name, depth})
	}
}

// find reads where it looks and what it does there; it prints these paths.
func (r *deletionReader) find(words []string) []string {
	expression := slices.IndexFunc(words, func(word string) bool { return strings.HasPrefix(word, "-") || word == "(" || word == "!" })
	if expression < 0 {
		return words
	}
	places, rest := words[:expression], words[expression:]
	if len(places) == 0 {
		places = []string{"."}
	}
	name, depth := "", -1
	for i, word := range rest {
		if i+1 >= len(rest) {
			continue
		}
		switch word {
		case "-name", "-iname":
			name = rest[i+1]
		case "-maxdepth":
			if n, err := strconv.Atoi(rest[i+1]); err == nil {
				depth = n
			}
		}
	}
	if r.busybox && slices.Contains(rest, "-printf") {
		r.found.Broken = "`find -printf`, which busybox does not have"
		return nil
	}
	if slices.Contains(rest, "-empty") {
		return places // what is empty holds no page
	}
	if slices.Contains(rest, "-delete") {
		r.target(places, name, depth)
	}
	for i, word := range rest {
		if slices.Contains([]string{"-exec", "-execdir", "-ok"}, word) && i+1 < len(rest) {
			r.runOn(rest[i+1:], places, name, depth)
		}
	}
	return places
}

// runOn reads a command that gets the paths that another one found.
func (r *deletionReader) runOn(words, places []string, name string, depth int) {
	program := path.Base(words[0])
	switch {
	case slices.Contains([]string{"rm", "rmdir", "unlink", "shred", "mv"}, program):
		r.target(places, name, depth)
	case isShellName(program):
		r.unclear("a script that gets the names of files")
	case !slices.Contains(harmless, program):
		r.unclear("`" + words[0] + "`")
	}
}

func (r *deletionReader) xargs(words []string, piped []string) {
	for len(words) > 0 && (strings.HasPrefix(words[0], "-") || isNumber(words[0]) || words[0] == "{}") {
		words = words[1:]
	}
	if len(words) == 0 {
		return
	}
	if len(piped) == 0 {
		piped = []string{unknownText}
	}
	r.runOn(words, piped, "", -1)
}

// shell reads a script that is handed over as text.
func (r *deletionReader) shell(words []string) {
	const deepest = 5
	for i, word := range words {
		if !strings.HasPrefix(word, "-") {
			r.unclear("the script " + word)
			return
		}
		if strings.HasPrefix(word, "--") || !strings.Contains(word, "c") {
			continue
		}
		if i+1 < len(words) && r.depth < deepest {
			r.depth++
			r.script(words[i+1])
			r.depth--
		}
		return
	}
}
