// Package shell reads shell text as the shell would: which simple commands a
// script runs, with which words, and where in the text each word is written.
// It takes words out of the text, or writes them anew, and proves that every
// other word stays. It knows no YAML, no Kubernetes objects and no engines.
package shell

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Dialect is the language of a script.
type Dialect int

// POSIX is what /bin/sh takes, whichever shell that is: only what dash, busybox
// and bash understand alike is known. Bash is bash.
const (
	POSIX Dialect = iota
	Bash
)

// Script is shell text with everything outside of it that its words depend on.
type Script struct {
	Text    string
	Dialect Dialect
	// Kubelet is true where the kubelet expands $(NAME) before the shell reads
	// the text, as it does in a container's command and args.
	Kubelet bool
	// Templates is true where something fills in {{…}} before anyone reads the text.
	Templates bool
	// Env are the variables of the process; of others nothing is known.
	Env map[string]Value
	// EnvFrom is true when there are further variables, of unknown names.
	EnvFrom bool
	// Args are the words behind the text: $0, $1, and so on.
	Args []Value
}

// Value is a text from outside of the script.
type Value struct {
	Text    string
	Unknown bool
}

// Source tells in which text something is written: empty for that of the
// script, env/NAME or arg/INDEX for the texts outside.
type Source string

// Span is a place in a text, in bytes.
type Span struct {
	Source   Source
	From, To int
}

// Command is a simple command: a program or builtin with its words. Calls of
// the script's own functions, eval, and shells that are handed a literal script
// are not commands themselves; the commands inside are.
type Command struct {
	// Words begin with the name of the program, or with exec, env, nohup and the
	// like where these stand in front.
	Words []Word
	// Env are variables that the script sets for the command: those it exported
	// before, in order of their names, then those written in front of the words.
	Env []Assign
	// Conditional commands may run or not, or run several times: they stand in a
	// branch, a loop, behind || or in a function that nothing calls.
	Conditional bool
}

// Assign is a variable with its value.
type Assign struct {
	Name  string
	Value Word
}

// Word is one word as the program receives it.
type Word struct {
	// Text is what the program gets. What is not known stands as written in the
	// script: ${NAME:-48}.
	Text    string
	Unknown bool
	// Many is true for an unknown word that may be several, or none.
	Many bool
	// Needs are the variables that would make the word known.
	Needs []string
	// IfUnset is the text of an unknown word when the variables it needs are not
	// set, where the script says so by ${NAME:-default}; else nil.
	IfUnset *string
	// Span is where the word is written; empty when it has no place of its own.
	Span Span
	// Fixed says why the word cannot be edited; empty when it can.
	Fixed string

	site site
}

// ErrIntricate is returned for a script that takes too many steps to follow.
var ErrIntricate = errors.New("the shell script is too intricate to follow: write the command without nested functions and loops")

// Commands returns the simple commands of the script in the order in which they
// run. Text that is no shell script is an error that names the line.
func (s Script) Commands() ([]Command, error) {
	r, err := s.read()
	if err != nil {
		return nil, err
	}
	return r.commands, nil
}

// Reads returns the names of the variables from outside that the script looks
// up, sorted. Errors are those of Commands.
func (s Script) Reads() ([]string, error) {
	r, err := s.read()
	if err != nil {
		return nil, err
	}
	return slices.Sorted(maps.Keys(r.looked)), nil
}

func (s Script) read() (*reader, error) {
	if at := strings.IndexAny(s.Text, "\r\x00\x01"); at >= 0 {
		return nil, fmt.Errorf("the shell script holds a control character (%q) in line %d: remove it", s.Text[at], 1+strings.Count(s.Text[:at], "\n"))
	}
	r := newReader(s)
	text := literal("", s.Text)
	if s.Templates {
		text = fillings(text, s.Text)
	}
	if s.Kubelet {
		text = r.kubelet(text)
	}
	if err := r.script(newLayer(text), s.Dialect); err != nil {
		return nil, err
	}
	r.uncalled()
	if r.steps > maxSteps {
		return nil, ErrIntricate
	}
	r.refuseShared()
	return r, nil
}
