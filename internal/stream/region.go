package stream

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// SyntaxError is YAML that cannot be read.
type SyntaxError struct {
	// Name is the file, or "-" for standard input; Line counts from 1, 0 where
	// it is not known.
	Name   string
	Line   int
	Reason string
}

// Error prints name, line and reason.
func (e *SyntaxError) Error() string {
	switch {
	case e.Name != "" && e.Line > 0:
		return fmt.Sprintf("%s:%d: not valid YAML: %s", e.Name, e.Line, e.Reason)
	case e.Name != "":
		return fmt.Sprintf("%s: not valid YAML: %s", e.Name, e.Reason)
	case e.Line > 0:
		return fmt.Sprintf("line %d: not valid YAML: %s", e.Line, e.Reason)
	}
	return "not valid YAML: " + e.Reason
}

// region is a part of a source that is decoded alone: whole lines, or a flow
// collection. Its lines are those the parser counts.
type region struct {
	data         []byte
	start, end   int
	line, column int // of start in the source: line from 1, column from 0
	// blankFrom and blankTo bound bytes that are read as blanks: the dash or
	// the key before the node.
	blankFrom, blankTo int
	lines              []int         // offsets of line starts, once they are needed
	marks              map[int][]int // by line, see marksOf
	laidOut            *yaml.Node    // the root that layout holds the spans of
	layout             Layout
}

// bytes are what the parser reads.
func (r *region) bytes() []byte {
	return r.blanked(r.data[r.start:r.end])
}

// blanked returns text, which starts as the region does, with the bytes before
// the node as blanks.
func (r *region) blanked(text []byte) []byte {
	if r.blankFrom == r.blankTo {
		return text
	}
	masked := bytes.Clone(text)
	for i := r.blankFrom; i < r.blankTo; i++ {
		masked[i-r.start] = ' '
	}
	return masked
}

// decode returns the region's root node, nil when it holds none.
func (r *region) decode() (*yaml.Node, error) {
	root, err := decode(r.bytes())
	if err != nil {
		return nil, r.syntaxError(err)
	}
	return root, nil
}

var lineNumber = regexp.MustCompile(`^line (\d+): `)

// syntaxError turns the parser's error into one that counts lines as the
// source does.
func (r *region) syntaxError(err error) error {
	reason := strings.TrimPrefix(err.Error(), "yaml: ")
	line := 0
	if m := lineNumber.FindStringSubmatch(reason); m != nil {
		line, _ = strconv.Atoi(m[1])
		line += r.line - 1
		reason = reason[len(m[0]):]
	}
	reason = strings.ReplaceAll(reason, "\n", " ")
	if strings.Contains(reason, "incompatible YAML document") {
		reason += ": take its `%YAML` directive out, or write 1.1"
	}
	if bytes.Contains(r.data[r.start:r.end], []byte("{{")) {
		reason += "; it holds `{{`: render the template first, as in `helm template … | trimtab verify -`"
	}
	return &SyntaxError{Line: line, Reason: reason}
}

// decode parses exactly one document. The parser's own panics become errors.
func decode(data []byte) (root *yaml.Node, err error) {
	defer func() {
		if r := recover(); r != nil {
			root, err = nil, fmt.Errorf("the parser gave up: %v", r)
		}
	}()
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	var doc yaml.Node
	if err := decoder.Decode(&doc); errors.Is(err, io.EOF) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	var next yaml.Node
	if err := decoder.Decode(&next); err == nil {
		return nil, errors.New("more than one document where one is expected")
	} else if !errors.Is(err, io.EOF) {
		return nil, err
	}
	if len(doc.Content) == 0 {
		return nil, nil
	}
	return doc.Content[0], nil
}

// layoutOf is newLayout, made once for all items that share the region.
func (r *region) layoutOf(root *yaml.Node) (Layout, error) {
	if r.laidOut == root && r.layout != nil {
		return r.layout, nil
	}
	layout, err := newLayout(r, root)
	if err != nil {
		return nil, err
	}
	r.laidOut, r.layout = root, layout
	return layout, nil
}

// index finds the region's line starts.
func (r *region) index() {
	if r.lines == nil {
		r.lines = lineStarts(r.data, r.start, r.end)
	}
}

// offset returns the offset in the source of the character at a line and
// column of the parser, both from 1.
func (r *region) offset(line, column int) (int, error) {
	r.index()
	if line < 1 || line > len(r.lines) || column < 1 {
		return 0, fmt.Errorf("the YAML node at line %d, column %d is outside its document", r.line+line-1, column)
	}
	i, left := r.lines[line-1], column-1
	if left >= stride {
		if marks := r.marksOf(line); len(marks) > 0 {
			n := min(left/stride, len(marks)-1)
			i, left = marks[n], left-n*stride
		}
	}
	for ; left > 0 && i < r.end; left-- {
		i = r.after(i)
	}
	if left > 0 {
		return 0, fmt.Errorf("the YAML node at line %d, column %d is outside its document", r.line+line-1, column)
	}
	return i, nil
}
