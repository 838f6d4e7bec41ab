package stream

import (
	"bytes"
	"fmt"
)

// document is one document of a source: the bytes it is decoded from, and what
// the line scan learned of it.
type document struct {
	region
	// content says that something other than comments was seen.
	content bool
	// directive says that tags may mean something else here.
	directive bool
	// certain documents are valid YAML in a form the scan understands; entries
	// are then the keys of their root, if that is a mapping.
	certain bool
	entries []entry
}

// entry is one key of a document's root mapping, with absolute offsets.
type entry struct {
	key         string
	start, line int // of the line the key is on
	end         int // start of the line of the next key, or end of the document
	value       int // behind the colon
	scalar      string
	elements    []element
}

// element is one element of the block sequence below `items`, with absolute
// offsets.
type element struct {
	start, line int // of the line the dash is on
	dash        int
	mapping     bool
}

// frame is an open block collection.
type frame struct {
	indent     int
	sequence   bool
	indentless bool // the sequence stands at the indent of its key
}

// scan is the state of the line scan.
type scan struct {
	data []byte
	set  charset
	// off makes every document uncertain: the parser decides alone.
	off  bool
	docs []document

	line     int  // number of the line that starts at start, from 1
	start    int  // offset of that line
	open     bool // the last key or dash has no value yet
	stack    []frame
	block    blockScalar
	certain  bool
	preamble preamble
	inDoc    bool
	doc      document
}

// preamble is what stands before a document: where it begins, and whether it
// holds directives.
type preamble struct {
	start, line int
	directive   bool
	// first is true before the first document, which needs no marker.
	first bool
}

// blockScalar is an open block scalar.
type blockScalar struct {
	active   bool
	parent   int
	indent   int // 0 until known
	maxBlank int
}

// maxScanDepth bounds the nesting the line scan follows.
const maxScanDepth = 500

// scanDocuments cuts data into documents. What it does not know is no error:
// such a document is not certain. It returns a *SyntaxError for characters YAML
// does not allow and for what may not stand between documents.
func scanDocuments(data []byte, whole bool) ([]document, error) {
	start := 0
	if bytes.HasPrefix(data, byteOrderMark) {
		// The mark is no character to the parser, but inside it is one.
		start = len(byteOrderMark)
	}
	if len(data) < manyBytes || whole {
		return scanWith(inspect(data[start:]), data, start, whole)
	}
	// The other core looks at the characters while this one takes them for evident.
	looking := make(chan charset, 1)
	go func() { looking <- inspect(data[start:]) }()
	docs, err := scanWith(evident, data, start, whole)
	if set := <-looking; set != evident {
		return scanWith(set, data, start, whole)
	}
	return docs, err
}

// scanWith is scanDocuments for characters that are known, from a start on.
func scanWith(set charset, data []byte, start int, whole bool) ([]document, error) {
	s := &scan{data: data, set: set, start: start, line: 1}
	if i := set.invalid; i >= 0 {
		s.line += bytes.Count(data[:start+i], []byte("\n"))
		return nil, s.syntaxError(fmt.Sprintf("character %q is not allowed, save the text as UTF-8", data[start+i:][:runeLen(data[start+i:])]))
	}
	s.off = whole || !set.plain
	s.preamble = preamble{start: start, line: 1, first: true}
	for s.start < len(data) {
		end, next := s.set.lineEnd(data, s.start)
		if err := s.scanLine(data[s.start:end]); err != nil {
			return nil, err
		}
		s.start = next
		s.line++
	}
	if s.preamble.directive {
		return nil, s.syntaxError("a directive must be followed by `---`")
	}
	s.closeDocument()
	return s.docs, nil
}

func (s *scan) syntaxError(reason string) error {
	return &SyntaxError{Line: s.line, Reason: reason}
}

func (s *scan) scanLine(line []byte) error {
	if len(line) >= 3 && (line[0] == '-' || line[0] == '.') {
		if m := marker(s.data[:s.start+len(line)], s.start); m != "" {
			return s.marker(m, line)
		}
	}
	if !s.inDoc {
		started, err := s.beforeDocument(line)
		if err != nil || !started {
			return err
		}
	}
	if s.certain {
		s.certain = s.body(line)
	}
	if !s.certain && !s.doc.content {
		s.doc.content = notComment(line)
	}
	return nil
}

// beforeDocument handles a line between documents; it reports whether the line
// starts one.
func (s *scan) beforeDocument(line []byte) (bool, error) {
	if !notComment(line) {
		return false, nil
	}
	if line[0] == '%' {
		s.preamble.directive = true
		return false, nil
	}
	if !s.preamble.first {
		return false, s.syntaxError("a document behind `...` must start with `---`")
	}
	if s.preamble.directive {
		return false, s.syntaxError("a directive must be followed by `---`")
	}
	s.openDocument(s.preamble.start, s.preamble.line)
	return true, nil
}

// marker handles a line that starts with `---` or `...`.
func (s *scan) marker(m string, line []byte) error {
	inDoc := s.inDoc
	s.closeDocument()
	if m == "..." {
		if !restIsComment(line, 3) {
			return s.syntaxError("only a comment may follow `...`")
		}
		if s.preamble.directive {
			return s.syntaxError("a directive must be followed by `---`")
		}
		if s.preamble.first {
			return s.syntaxError("`...` ends no document")
		}
		// The next line is the first the preamble can hold.
		_, next := s.set.lineEnd(s.data, s.start)
		s.preamble = preamble{start: next, line: s.line + 1}
		return nil
	}
	start, number := s.start, s.line
	if !inDoc && s.preamble.directive {
		start, number = s.preamble.start, s.preamble.line
	}
	directive := s.preamble.directive
	s.openDocument(start, number)
	s.doc.directive = directive
	if start != s.start || !restIsComment(line, 3) {
		s.certain = false
		s.doc.content = notComment(line[3:])
	}
	return nil
}

func (s *scan) openDocument(start, line int) {
	s.preamble = preamble{}
	s.inDoc = true
	s.certain = !s.off
	s.open = true
	s.stack = s.stack[:0]
	s.block = blockScalar{}
	s.doc = document{region: region{data: s.data, start: start, line: line}}
}

func (s *scan) closeDocument() {
	if !s.inDoc {
		return
	}
	s.inDoc = false
	s.doc.end = s.start
	s.doc.certain = s.certain
	if n := len(s.doc.entries); n > 0 {
		s.doc.entries[n-1].end = s.start
	}
	s.docs = append(s.docs, s.doc)
}

// notComment reports whether a line holds more than spaces and a comment.
func notComment(line []byte) bool {
	i := skipSpaces(line, 0)
	return i < len(line) && line[i] != '#'
}
