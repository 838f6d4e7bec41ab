package server

import (
	"slices"
	"strings"
)

// unknownText stands in a word of a script for what only the running script
// knows.
const unknownText = "\x00"

// script reads the commands of a shell script in their order. It knows what is
// needed to tell where files are removed: pipes, quotes, variables that are
// given a text, and loops over words.
func (r *deletionReader) script(text string) {
	var piped []string
	for _, command := range commands(text) {
		words := command.words
		for len(words) > 0 && slices.Contains(keywords, words[0].text) {
			words = words[1:]
		}
		if len(words) > 0 && words[0].text == "for" {
			r.loop(words[1:])
			words = nil
		}
		var expanded []string
		for _, word := range words {
			expanded = append(expanded, r.expand(word)...)
		}
		printed := r.run(expanded, piped)
		piped = nil
		if command.pipes {
			piped = printed
		}
	}
}

var keywords = []string{"if", "then", "else", "elif", "fi", "do", "done", "while", "until", "{", "}", "!", "case", "esac"}

// loop: for NAME in WORDS.
func (r *deletionReader) loop(words []scriptWord) {
	if len(words) == 0 {
		return
	}
	values := []string{}
	for _, word := range words[1:] {
		if word.text != "in" {
			values = append(values, r.expand(word)...)
		}
	}
	if len(values) == 0 {
		values = []string{unknownText}
	}
	r.variables[words[0].text] = values
}

// expand puts the values of variables into a word: one word for each text that
// a loop gives.
func (r *deletionReader) expand(word scriptWord) []string {
	texts := []string{""}
	for _, piece := range word.pieces {
		values := []string{piece.text}
		if piece.variable {
			known, ok := r.variables[piece.text]
			if !ok {
				known = []string{unknownText}
			}
			values = known
		}
		var longer []string
		for _, text := range texts {
			for _, value := range values {
				longer = append(longer, text+value)
			}
		}
		const most = 100
		texts = longer[:min(len(longer), most)]
	}
	return texts
}

// scriptCommand is one simple command; pipes is true when its output goes to
// the next one.
type scriptCommand struct {
	words []scriptWord
	pipes bool
}

// scriptWord is a word as written, and in pieces: texts and names of variables.
type scriptWord struct {
	text   string
	pieces []scriptPiece
}

type scriptPiece struct {
	text     string
	variable bool
}

// commands splits a script where the shell does: at line ends, semicolons,
// pipes, ampersands and parentheses.
func commands(script string) []scriptCommand {
	s := scriptScanner{rest: script}
	for s.rest != "" {
		s.step()
	}
	s.endCommand(false)
	return s.commands
}

type scriptScanner struct {
	rest     string
	commands []scriptCommand
	words    []scriptWord
	word     *scriptWord
}

func (s *scriptScanner) step() {
	switch c := s.rest[0]; c {
	case '\\':
		if len(s.rest) > 1 && s.rest[1] != '\n' {
			s.text(s.rest[1:2])
		}
		s.rest = s.rest[min(2, len(s.rest)):]
	case '\'':
		s.rest = s.rest[1:]
		quoted, rest, _ := strings.Cut(s.rest, "'")
		s.text(quoted)
		s.rest = rest
	case '"':
		s.rest = s.rest[1:]
		s.quoted()
	case '$', '`':
		s.dollar()
	case ' ', '\t', '\r':
		s.endWord()
		s.rest = s.rest[1:]
	case '#':
		if s.word == nil {
			_, s.rest, _ = strings.Cut(s.rest, "\n")
			s.endCommand(false)
			return
		}
		s.text("#")
		s.rest = s.rest[1:]
	case '|':
		pipes := !strings.HasPrefix(s.rest, "||")
		s.endCommand(pipes)
		s.rest = strings.TrimLeft(s.rest, "|")
	case '\n', ';', '&', '(', ')':
		s.endCommand(false)
		s.rest = s.rest[1:]
	case '<', '>':
		s.redirect()
	default:
		s.text(s.rest[:1])
		s.rest = s.rest[1:]
	}
}

// redirect passes over a redirection: its file descriptor, its operator and
// what it names.
func (s *scriptScanner) redirect() {
	if s.word != nil && isNumber(s.word.text) {
		s.word = nil
	}
	s.endWord()
	s.rest = strings.TrimLeft(s.rest, "<>&")
	s.rest = strings.TrimLeft(s.rest, " ")
	end := strings.IndexAny(s.rest, " \t\n;|&()")
	if end < 0 {
		end = len(s.rest)
	}
	s.rest = s.rest[end:]
}

func (s *scriptScanner) quoted() {
	s.text("")
	for s.rest != "" {
		switch s.rest[0] {
		case '"':
			s.rest = s.rest[1:]
			return
		case '\\':
			if len(s.rest) > 1 {
				s.text(s.rest[1:2])
			}
			s.rest = s.rest[min(2, len(s.rest)):]
		case '$', '`':
			s.dollar()
		default:
			s.text(s.rest[:1])
			s.rest = s.rest[1:]
		}
	}
}

// dollar reads $NAME and ${NAME}; what the shell computes otherwise is unknown.
func (s *scriptScanner) dollar() {
	if s.rest[0] == '`' {
		_, s.rest, _ = strings.Cut(s.rest[1:], "`")
		s.piece(scriptPiece{unknownText, false})
		return
	}
	s.rest = s.rest[1:]
	switch {
	case strings.HasPrefix(s.rest, "("):
		s.rest = s.rest[closing(s.rest):]
		s.piece(scriptPiece{unknownText, false})
	case strings.HasPrefix(s.rest, "{"):
		name, rest, _ := strings.Cut(s.rest[1:], "}")
		s.rest = rest
		s.piece(scriptPiece{name, true})
	default:
		end := 0
		for end < len(s.rest) && isVariableName(s.rest[end:end+1]) {
			end++
		}
		if end == 0 && s.rest != "" && strings.ContainsAny(s.rest[:1], "@*#?$!-") {
			end = 1
		}
		s.piece(scriptPiece{s.rest[:end], true})
		s.rest = s.rest[end:]
	}
}

// closing is the length of a text up to the parenthesis that closes its first.
func closing(text string) int {
	open := 0
	for i, c := range text {
		switch c {
		case '(':
			open++
		case ')':
			if open--; open == 0 {
				return i + 1
			}
		}
	}
	return len(text)
}

func (s *scriptScanner) text(text string) {
	if s.word != nil && len(s.word.pieces) > 0 && !s.word.pieces[len(s.word.pieces)-1].variable {
		s.word.text += text
		s.word.pieces[len(s.word.pieces)-1].text += text
		return
	}
	s.piece(scriptPiece{text, false})
}

func (s *scriptScanner) piece(piece scriptPiece) {
	if s.word == nil {
		s.word = &scriptWord{}
	}
	s.word.text += piece.text
	s.word.pieces = append(s.word.pieces, piece)
}

func (s *scriptScanner) endWord() {
	if s.word != nil {
		s.words = append(s.words, *s.word)
	}
	s.word = nil
}

func (s *scriptScanner) endCommand(pipes bool) {
	s.endWord()
	if len(s.words) > 0 {
		s.commands = append(s.commands, scriptCommand{s.words, pipes})
	}
	s.words = nil
}
