package shell

import (
	"path"
	"slices"
	"strconv"
	"strings"
)

// Invocation is a shell among the words of a command line.
type Invocation struct {
	// Script is the index of the word that holds the script, or names its file;
	// -1 when the shell reads its input.
	Script int
	// File is true when that word is the name of a file.
	File    bool
	Dialect Dialect
}

// Arguments are the positional parameters of the script, from $0 on, among the
// words of the command line.
func (i Invocation) Arguments(words []string) []string {
	switch {
	case i.Script < 0:
		return nil
	case i.File:
		return words[i.Script:]
	}
	return words[i.Script+1:]
}

// wrappers start the program that their further words name.
var wrappers = []string{
	"exec", "command", "env", "nohup", "nice", "ionice", "chrt", "time", "timeout", "setsid", "stdbuf", "taskset", "numactl", "sudo",
	"gosu", "su-exec", "chroot", "unshare", "tini", "dumb-init", "catatonit", "busybox",
}

// shells are programs that read scripts, and what they understand.
var shells = map[string]Dialect{"sh": POSIX, "dash": POSIX, "ash": POSIX, "bash": Bash}

// FindShell finds a shell at the beginning of a command line, or behind programs
// that only start another one.
func FindShell(words []string) (Invocation, bool) {
	wrapped := false
	for at, word := range words {
		name := path.Base(word)
		if dialect, is := shells[name]; is && (at == 0 || wrapped) {
			return options(words, at+1, dialect), true
		}
		if slices.Contains(wrappers, name) {
			wrapped = true
			continue
		}
		if !wrapped || !belongsToWrapper(word) {
			return Invocation{}, false
		}
	}
	return Invocation{}, false
}

// belongsToWrapper tells whether a word can be an option of a wrapper, its value
// or a variable it sets.
func belongsToWrapper(word string) bool {
	if strings.HasPrefix(word, "-") || strings.Contains(word, "=") {
		return true
	}
	_, err := strconv.Atoi(strings.TrimRight(word, "smhd"))
	return err == nil
}

// options reads the options of a shell.
func options(words []string, at int, dialect Dialect) Invocation {
	text := false
	for ; at < len(words); at++ {
		word := words[at]
		if word == "--" || word == "-" {
			at++
			break
		}
		if long, is := strings.CutPrefix(word, "--"); is {
			if long == "rcfile" || long == "init-file" {
				at++
			}
			continue
		}
		if len(word) < 2 || word[0] != '-' && word[0] != '+' {
			break
		}
		text = text || word[0] == '-' && strings.Contains(word, "c")
		if strings.ContainsAny(word, "oO") {
			at++
		}
	}
	if at >= len(words) || !text && slices.Contains(words[:at], "-s") {
		return Invocation{Script: -1, Dialect: dialect}
	}
	return Invocation{Script: at, File: !text, Dialect: dialect}
}
