package stream

import "go.yaml.in/yaml/v3"

// scalar passes the text of a scalar.
func (l *layouter) scalar(n *yaml.Node, indent int, flow bool) error {
	switch {
	case n.Style&yaml.DoubleQuotedStyle != 0:
		return l.quoted(n, '"')
	case n.Style&yaml.SingleQuotedStyle != 0:
		return l.quoted(n, '\'')
	case n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		if c := l.at(); c != '|' && c != '>' {
			return l.fail(n, "block scalar")
		}
		l.blockScalar(indent)
		return nil
	}
	start := l.pos
	l.plain(indent, flow)
	if l.pos == start {
		return l.fail(n, "scalar")
	}
	return nil
}

func (l *layouter) quoted(n *yaml.Node, quote byte) error {
	if l.at() != quote {
		return l.fail(n, "quote")
	}
	for l.pos++; l.pos < len(l.data); l.pos++ {
		switch c := l.data[l.pos]; {
		case c == '\\' && quote == '"':
			l.pos++
		case c == quote && quote == '\'' && l.pos+1 < len(l.data) && l.data[l.pos+1] == quote:
			l.pos++
		case c == quote:
			l.pos++
			return nil
		}
	}
	return l.fail(n, "closing quote")
}

// plain passes a plain scalar as the parser does.
func (l *layouter) plain(indent int, flow bool) {
	end := l.pos
	for i := l.pos; i < len(l.data); {
		if l.lineStart(i) && marker(l.data, i) != "" || l.data[i] == '#' {
			break
		}
		for i < len(l.data) && !blankOrEnd(l.data, i) && !endsPlain(l.data, i, flow) {
			i++
			end = i
		}
		if i >= len(l.data) || !blankOrEnd(l.data, i) {
			break
		}
		broken := false
		for i < len(l.data) && blankOrEnd(l.data, i) {
			n := breakAt(l.data, i)
			broken = broken || n > 0
			i += max(n, 1)
		}
		if broken && !flow && i < len(l.data) && l.region.columnOf(i) <= indent {
			break
		}
	}
	l.pos = end
}

// endsPlain reports whether the indicator at data[i] ends a plain scalar.
func endsPlain(data []byte, i int, flow bool) bool {
	switch data[i] {
	case ':':
		return blankOrEnd(data, i+1)
	case ',', '?', '[', ']', '{', '}':
		return flow
	}
	return false
}

// blockScalar passes a block scalar up to the end of its last line, without
// the line break. Blank lines that follow are its own only if it keeps them.
func (l *layouter) blockScalar(parent int) {
	indent, keep := 0, false
	for l.pos++; l.pos < len(l.data) && !blankOrEnd(l.data, l.pos) && l.data[l.pos] != '#'; l.pos++ {
		if c := l.data[l.pos]; c >= '1' && c <= '9' {
			indent = max(parent, 0) + int(c-'0')
		}
		keep = keep || l.data[l.pos] == '+'
	}
	end := l.pos
	i := lineBreak(l.data, l.pos)
	for i < len(l.data) {
		start := i + breakAt(l.data, i)
		content := start
		for content < len(l.data) && l.data[content] == ' ' {
			content++
		}
		blank := content >= len(l.data) || breakAt(l.data, content) > 0
		if !blank {
			if indent == 0 {
				indent = max(content-start, parent+1, 1)
			}
			if content-start < indent {
				break
			}
		}
		i = lineBreak(l.data, start)
		if !blank || keep && breakAt(l.data, i) > 0 {
			end = i
		}
		if i == start && breakAt(l.data, i) == 0 {
			break
		}
	}
	l.pos = end
}

// lineBreak returns the index of the line break that ends the line of i, or
// the end of data.
func lineBreak(data []byte, i int) int {
	for i < len(data) && breakAt(data, i) == 0 {
		i++
	}
	return i
}

// LineStart returns the offset of the first byte of the line that holds
// data[i], as the parser breaks lines.
func LineStart(data []byte, i int) int {
	for i > 0 {
		// A break ends directly before i, unless i splits CR LF.
		if ends := endsBreak(data, i); ends {
			return i
		}
		i--
	}
	return 0
}

// endsBreak reports whether a line break ends directly before data[i].
func endsBreak(data []byte, i int) bool {
	switch data[i-1] {
	case '\n':
		return true
	case '\r':
		return i >= len(data) || data[i] != '\n'
	case 0x85:
		return i >= 2 && data[i-2] == 0xc2
	case 0xa8, 0xa9:
		return i >= 3 && data[i-3] == 0xe2 && data[i-2] == 0x80
	}
	return false
}

// LineEnd returns where the content of the line that holds data[i] ends, and
// where the next line starts.
func LineEnd(data []byte, i int) (end, next int) {
	end = lineBreak(data, i)
	return end, end + breakAt(data, end)
}
