package stream

import (
	"bytes"
	"slices"
)

// lineStarts returns the offsets of the lines of data between start and end, as
// the parser breaks them.
func lineStarts(data []byte, start, end int) []int {
	if text := data[start:end]; breaksByLF(text) {
		starts := append(make([]int, 0, bytes.Count(text, []byte("\n"))+1), start)
		for i := start; ; {
			n := bytes.IndexByte(data[i:end], '\n')
			if n < 0 {
				return starts
			}
			i += n + 1
			starts = append(starts, i)
		}
	}
	starts := []int{start}
	for i := start; i < end; {
		n := breakAt(data[:end], i)
		if n > 0 {
			starts = append(starts, i+n)
		}
		i += max(n, 1)
	}
	return starts
}

// breaksByLF tells whether a text holds no byte that begins another line break.
func breaksByLF(text []byte) bool {
	return bytes.IndexByte(text, '\r') < 0 && bytes.IndexByte(text, 0xc2) < 0 && bytes.IndexByte(text, 0xe2) < 0
}

// lastUpTo returns the index of the last offset that is not behind i, 0 if there
// is none.
func lastUpTo(offsets []int, i int) int {
	n, found := slices.BinarySearch(offsets, i)
	if !found {
		n--
	}
	return max(n, 0)
}

// longestBreak is the most bytes a line break has.
const longestBreak = 3

// near is how many bytes around an offset are searched for a line break before
// the lines of the whole source are indexed.
const near = 512

// LineStart is the function LineStart for the source's data. A long line is looked
// up instead of searched.
func (s *Source) LineStart(i int) int {
	if around := s.Data[max(i-near, 0):i]; breaksByLF(around) {
		if n := bytes.LastIndexByte(around, '\n'); n >= 0 {
			return i - len(around) + n + 1
		}
		if i <= near {
			return 0
		}
	}
	s.indexed.Do(s.index)
	return s.lines[lastUpTo(s.lines, i)]
}

// LineEnd is the function LineEnd for the source's data. A long line is looked up
// instead of searched.
func (s *Source) LineEnd(i int) (end, next int) {
	if around := s.Data[i:min(i+near, len(s.Data))]; breaksByLF(around) {
		if n := bytes.IndexByte(around, '\n'); n >= 0 {
			return i + n, i + n + 1
		}
		if i+near >= len(s.Data) {
			return len(s.Data), len(s.Data)
		}
	}
	s.indexed.Do(s.index)
	n := lastUpTo(s.lines, i) + 1
	if n == len(s.lines) {
		return len(s.Data), len(s.Data)
	}
	next = s.lines[n]
	for length := longestBreak; length > 1; length-- {
		if end = next - length; end >= i && breakAt(s.Data, end) == length {
			return end, next
		}
	}
	return next - 1, next
}

func (s *Source) index() { s.lines = lineStarts(s.Data, 0, len(s.Data)) }

// stride is how many characters lie between two marks of a line.
const stride = 256

// marksOf returns the offset of each stride-th character of a line, from the
// first, so that no long line is walked for every node on it.
func (r *region) marksOf(line int) []int {
	if marks, known := r.marks[line]; known {
		return marks
	}
	i, end := r.lines[line-1], r.end
	if line < len(r.lines) {
		end = r.lines[line]
	}
	var marks []int
	for column := 0; i < end; column++ {
		if column%stride == 0 {
			marks = append(marks, i)
		}
		i = r.after(i)
	}
	if r.marks == nil {
		r.marks = map[int][]int{}
	}
	r.marks[line] = marks
	return marks
}

// after returns the offset behind the character at i.
func (r *region) after(i int) int {
	if r.data[i] < 0x80 {
		return i + 1
	}
	return i + runeLen(r.data[i:r.end])
}

// columnOf returns the column of an offset of the region in its line, from 0, in
// characters.
func (r *region) columnOf(i int) int {
	r.index()
	line := lastUpTo(r.lines, i)
	start, column := r.lines[line], 0
	if i-start >= stride {
		marks := r.marksOf(line + 1)
		n := lastUpTo(marks, i)
		start, column = marks[n], n*stride
	}
	for start < i {
		start = r.after(start)
		column++
	}
	return column
}
