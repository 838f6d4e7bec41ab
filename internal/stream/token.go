package stream

import "bytes"

// The functions of this file read one token of a line. Each returns the index
// behind the token, or -1 where the line scan is not certain of it.

// maxKey bounds an implicit key: the parser gives up after 1024 characters.
const maxKey = 1000

// maxFlowDepth bounds the nesting of one-line flow collections.
const maxFlowDepth = 50

// quotedEnd returns the index behind the quoted scalar that starts at line[i].
func quotedEnd(line []byte, i int) int {
	if line[i] == '\'' {
		return singleQuotedEnd(line, i)
	}
	for j := i + 1; j < len(line); j++ {
		switch line[j] {
		case '"':
			return j + 1
		case '\\':
			if j = escapeEnd(line, j); j < 0 {
				return -1
			}
		}
	}
	return -1
}

func singleQuotedEnd(line []byte, i int) int {
	for j := i + 1; j < len(line); j++ {
		if line[j] != '\'' {
			continue
		}
		if j+1 < len(line) && line[j+1] == '\'' {
			j++
			continue
		}
		return j + 1
	}
	return -1
}

// escapeEnd returns the index of the last byte of the escape at line[i].
func escapeEnd(line []byte, i int) int {
	if i+1 >= len(line) {
		return -1
	}
	switch line[i+1] {
	case '0', 'a', 'b', 't', 'n', 'v', 'f', 'r', 'e', '"', '/', '\\':
		return i + 1
	case 'u':
		if i+5 >= len(line) {
			return -1
		}
		for _, c := range line[i+2 : i+6] {
			if !isHex(c) {
				return -1
			}
		}
		// A surrogate is an error to the parser.
		if c := line[i+2]; c == 'd' || c == 'D' {
			return -1
		}
		return i + 5
	}
	return -1
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

// plainStart reports whether a plain scalar of block style starts at line[i].
func plainStart(line []byte, i int) bool {
	switch line[i] {
	case '-':
		return i+1 < len(line) && line[i+1] != ' '
	case '?', ':', ',', '[', ']', '{', '}', '#', '&', '*', '!', '|', '>', '\'', '"', '%', '@', '`', ' ':
		return false
	}
	return true
}

// plainEnd reads a plain scalar of block style from line[i]: it returns the
// index behind its last character and, when it is a key, the index of its
// colon, else -1.
func plainEnd(line []byte, i int) (end, colon int) {
	end = len(line)
	if n := bytes.Index(line[i:], []byte(" #")); n >= 0 {
		end = i + n
	}
	for j := i; j < end; j++ {
		n := bytes.IndexByte(line[j:end], ':')
		if n < 0 {
			break
		}
		j += n
		if j+1 == len(line) || line[j+1] == ' ' {
			return j, j
		}
	}
	for end > i && line[end-1] == ' ' {
		end--
	}
	return end, -1
}

// flowEnd returns the index behind the flow collection that starts at line[i].
// It knows collections of quoted scalars and of simple plain ones.
func flowEnd(line []byte, i, depth int) int {
	if depth > maxFlowDepth {
		return -1
	}
	closing := byte(']')
	if line[i] == '{' {
		closing = '}'
	}
	i = skipSpaces(line, i+1)
	if i < len(line) && line[i] == closing {
		return i + 1
	}
	for i < len(line) {
		if closing == '}' {
			if i = flowKeyEnd(line, i); i < 0 {
				return -1
			}
		}
		if i = flowValueEnd(line, i, depth); i < 0 {
			return -1
		}
		i = skipSpaces(line, i)
		if i >= len(line) {
			return -1
		}
		if line[i] == closing {
			return i + 1
		}
		if line[i] != ',' {
			return -1
		}
		i = skipSpaces(line, i+1)
	}
	return -1
}

// flowKeyEnd returns the index of the value behind the key at line[i].
func flowKeyEnd(line []byte, i int) int {
	start := i
	if line[i] == '"' || line[i] == '\'' {
		i = quotedEnd(line, i)
	} else {
		i = flowPlainEnd(line, i)
	}
	if i < 0 || i-start > maxKey || i+1 >= len(line) || line[i] != ':' || line[i+1] != ' ' {
		return -1
	}
	if i = skipSpaces(line, i+1); i >= len(line) {
		return -1
	}
	return i
}

func flowValueEnd(line []byte, i, depth int) int {
	switch line[i] {
	case '"', '\'':
		return quotedEnd(line, i)
	case '[', '{':
		return flowEnd(line, i, depth+1)
	}
	return flowPlainEnd(line, i)
}

// flowPlainEnd accepts words of letters, digits and a few signs that mean
// nothing to YAML.
func flowPlainEnd(line []byte, i int) int {
	j := i
	for j < len(line) && (isWord(line[j]) || j > i && (line[j] == '=' || line[j] == '@' || line[j] == '%')) {
		j++
	}
	if j == i || line[i] == '-' && (i+1 == j) || j < len(line) && line[j] == '#' {
		return -1
	}
	return j
}

func isWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' ||
		c == '_' || c == '.' || c == '/' || c == '-' || c == '+' || c == '$' || c == '(' || c == ')'
}

func skipSpaces(line []byte, i int) int {
	for i < len(line) && line[i] == ' ' {
		i++
	}
	return i
}

// restIsComment reports whether only blanks, or a comment behind a blank,
// follow line[i].
func restIsComment(line []byte, i int) bool {
	j := skipSpaces(line, i)
	return j == len(line) || j > i && line[j] == '#'
}
