package stream

import "bytes"

// body reads one line of a document. It returns false when it is not certain
// what the parser makes of it.
func (s *scan) body(line []byte) bool {
	indent := skipSpaces(line, 0)
	if s.block.active {
		inside, certain := s.block.line(line, indent)
		if inside || !certain {
			return certain
		}
		s.block = blockScalar{}
	}
	if indent == len(line) || line[indent] == '#' {
		return true
	}
	if s.set.tabs && bytes.IndexByte(line, '\t') >= 0 {
		return false
	}
	s.doc.content = true
	for n := len(s.stack); n > 0 && s.stack[n-1].indent > indent; n-- {
		s.stack = s.stack[:n-1]
		s.open = false
	}
	return s.node(line, indent)
}

// line reads a line below the header of a block scalar: inside says that it
// belongs to the scalar.
func (b *blockScalar) line(line []byte, indent int) (inside, certain bool) {
	if indent == len(line) {
		b.maxBlank = max(b.maxBlank, indent)
		return true, true
	}
	if b.indent > 0 && indent >= b.indent {
		return true, true
	}
	if line[indent] == '\t' {
		return false, false
	}
	if indent <= b.parent {
		return false, true
	}
	if b.indent == 0 {
		b.indent = indent
		return true, indent >= b.maxBlank
	}
	return false, line[indent] == '#'
}

// node reads the collections and the scalar that start at line[i].
func (s *scan) node(line []byte, i int) bool {
	inline := false
	for line[i] == '-' && (i+1 == len(line) || line[i+1] == ' ') {
		if !s.dash(i) {
			return false
		}
		j := skipSpaces(line, i+1)
		if j == len(line) || line[j] == '#' {
			return true
		}
		i, inline = j, true
	}
	end, colon := s.keyEnd(line, i)
	if end < 0 {
		return false
	}
	if colon < 0 {
		// A scalar on its own line may go on below it.
		return inline && s.open && s.value(line, i)
	}
	if !s.key(line, i, end) {
		return false
	}
	j := skipSpaces(line, colon+1)
	if j == len(line) || line[j] == '#' {
		return true
	}
	return s.value(line, j)
}

// keyEnd reads a key, or the first token of a value, at line[i].
func (s *scan) keyEnd(line []byte, i int) (end, colon int) {
	switch line[i] {
	case '"', '\'':
		end = quotedEnd(line, i)
		if end < 0 || end == len(line) || line[end] != ':' {
			return end, -1
		}
		if end+1 < len(line) && line[end+1] != ' ' {
			return -1, -1
		}
		return end, end
	case '[', '{', '|', '>':
		return i, -1
	}
	if !plainStart(line, i) {
		return -1, -1
	}
	end, colon = plainEnd(line, i)
	if colon >= 0 && (line[colon-1] == ' ' || string(line[i:colon]) == "<<") {
		return -1, -1
	}
	return end, colon
}

// push opens a collection.
func (s *scan) push(f frame) bool {
	s.stack = append(s.stack, f)
	return len(s.stack) < maxScanDepth
}

// dash opens an element of a block sequence at column i.
func (s *scan) dash(i int) bool {
	n := len(s.stack)
	switch {
	case n > 0 && s.stack[n-1].indent == i && s.stack[n-1].sequence:
	case !s.open:
		return false
	case !s.push(frame{indent: i, sequence: true, indentless: n > 0 && s.stack[n-1].indent == i}):
		return false
	}
	s.open = true
	if s.inItems() && len(s.stack) == 2 {
		e := &s.doc.entries[len(s.doc.entries)-1]
		e.elements = append(e.elements, element{start: s.start, line: s.line, dash: s.start + i})
	}
	return true
}

// inItems reports whether the scan is inside the block sequence below `items`.
func (s *scan) inItems() bool {
	n := len(s.doc.entries)
	return n > 0 && len(s.stack) >= 2 && s.stack[1].sequence && s.doc.entries[n-1].key == "items"
}

// key opens a key of a block mapping at column i.
func (s *scan) key(line []byte, i, end int) bool {
	if end-i > maxKey {
		return false
	}
	if n := len(s.stack); n > 0 && s.stack[n-1].indent == i && s.stack[n-1].indentless {
		s.stack = s.stack[:n-1]
		s.open = false
	}
	n := len(s.stack)
	switch {
	case n > 0 && s.stack[n-1].indent == i:
		if s.stack[n-1].sequence {
			return false
		}
	case !s.open:
		return false
	case !s.push(frame{indent: i}):
		return false
	}
	s.open = true
	switch {
	case len(s.stack) == 1:
		return s.rootKey(line[i:end], s.start+end+1)
	case len(s.stack) == 3 && s.inItems():
		elements := s.doc.entries[len(s.doc.entries)-1].elements
		elements[len(elements)-1].mapping = true
	}
	return true
}

// rootKey notes a key of the root mapping.
func (s *scan) rootKey(text []byte, value int) bool {
	key, evident := scalarText(text)
	if !evident {
		return false
	}
	if isListKey(key) {
		if _, twice := s.doc.find(key); twice {
			return false
		}
	}
	if n := len(s.doc.entries); n > 0 {
		s.doc.entries[n-1].end = s.start
	}
	s.doc.entries = append(s.doc.entries, entry{key: key, start: s.start, line: s.line, value: value})
	return true
}

// value reads the value that starts at line[i] and ends on this line, or the
// header of a block scalar.
func (s *scan) value(line []byte, i int) bool {
	s.open = false
	end := -1
	switch line[i] {
	case '"', '\'':
		end = quotedEnd(line, i)
	case '[', '{':
		end = flowEnd(line, i, 0)
	case '|', '>':
		return s.blockHeader(line, i+1) && !s.needsText()
	default:
		colon := 0
		if !plainStart(line, i) {
			return false
		}
		if end, colon = plainEnd(line, i); colon >= 0 {
			return false
		}
	}
	if end < 0 || !restIsComment(line, end) {
		return false
	}
	if s.needsText() {
		text, evident := scalarText(line[i:end])
		s.doc.entries[len(s.doc.entries)-1].scalar = text
		return evident
	}
	return true
}

// needsText reports whether the value is one of those that tell a list.
func (s *scan) needsText() bool {
	n := len(s.doc.entries)
	return len(s.stack) == 1 && n > 0 && isListKey(s.doc.entries[n-1].key)
}

// blockHeader reads the indicators of a block scalar.
func (s *scan) blockHeader(line []byte, i int) bool {
	b := blockScalar{active: true, parent: s.stack[len(s.stack)-1].indent}
	chomped := false
	for i < len(line) && line[i] != ' ' {
		switch c := line[i]; {
		case (c == '-' || c == '+') && !chomped:
			chomped = true
		case c >= '1' && c <= '9' && b.indent == 0:
			b.indent = b.parent + int(c-'0')
		default:
			return false
		}
		i++
	}
	s.block = b
	return restIsComment(line, i)
}

// scalarText is the text of a one-line scalar, and whether it is evident.
func scalarText(text []byte) (string, bool) {
	if len(text) > maxKey {
		return "", false
	}
	if text[0] == '"' || text[0] == '\'' {
		text = text[1 : len(text)-1]
		return string(text), bytes.IndexByte(text, '\\') < 0 && bytes.IndexByte(text, '\'') < 0
	}
	return string(text), true
}
