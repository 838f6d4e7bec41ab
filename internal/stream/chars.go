package stream

import (
	"bytes"
	"encoding/binary"
	"unicode/utf8"
)

var byteOrderMark = []byte("\xef\xbb\xbf")

// charset is what one look at every byte of a source tells.
type charset struct {
	// plain sources hold only characters YAML allows, and break lines with LF
	// or CR LF alone. The line scan reads no others.
	plain bool
	tabs  bool
	// invalid is the offset of the first character YAML does not allow, or -1.
	invalid int
}

// byteClasses sorts bytes: 0 needs no look, 1 needs one.
var byteClasses = func() (classes [256]uint8) {
	for b := range classes {
		if b < 0x20 && b != '\n' || b >= 0x7f {
			classes[b] = 1
		}
	}
	return classes
}()

// evident is what most sources are.
var evident = charset{plain: true, invalid: -1}

// printable tells whether eight bytes are all printable ASCII or line feeds.
func printable(eight uint64) bool {
	const each, highest = 0x0101010101010101, 0x80 * 0x0101010101010101
	if eight&highest != 0 {
		return false
	}
	// None of the sums carries into the next byte.
	notControl := eight + (0x80-' ')*each
	notDelete := (eight ^ 0x7f*each) + 0x7f*each
	notFeed := (eight ^ '\n'*each) + 0x7f*each
	return (notControl&notDelete|^notFeed)&highest == highest
}

// inspect looks at every character of data once.
func inspect(data []byte) charset {
	set := evident
	for i := 0; i < len(data); i++ {
		if i+8 <= len(data) && printable(binary.LittleEndian.Uint64(data[i:])) {
			i += 8 - 1
			continue
		}
		if byteClasses[data[i]] == 0 {
			continue
		}
		switch c := data[i]; {
		case c == '\t':
			set.tabs = true
		case c == '\r':
			if i+1 == len(data) || data[i+1] != '\n' {
				set.plain = false
			}
		default:
			r, size := utf8.DecodeRune(data[i:])
			if r == utf8.RuneError && size == 1 || !allowed(r) {
				set.plain, set.invalid = false, i
				return set
			}
			if r == 0x85 || r == 0x2028 || r == 0x2029 || r == 0xfeff {
				set.plain = false
			}
			i += size - 1
		}
	}
	return set
}

// allowed reports whether YAML allows a character that is no printable ASCII.
func allowed(r rune) bool {
	return r == 0x85 || r >= 0xa0 && r != 0xfffe && r != 0xffff
}

// breakAt returns the length of the line break at data[i], or 0. It knows the
// line breaks of YAML 1.1, by which the parser counts its lines.
func breakAt(data []byte, i int) int {
	if i >= len(data) {
		return 0
	}
	switch data[i] {
	case '\n':
		return 1
	case '\r':
		if i+1 < len(data) && data[i+1] == '\n' {
			return 2
		}
		return 1
	case 0xc2:
		if i+1 < len(data) && data[i+1] == 0x85 {
			return 2
		}
	case 0xe2:
		if i+2 < len(data) && data[i+1] == 0x80 && (data[i+2] == 0xa8 || data[i+2] == 0xa9) {
			return 3
		}
	}
	return 0
}

// lineEnd returns where the content of the line at data[i:] ends and where the
// next line starts.
func (set charset) lineEnd(data []byte, i int) (end, next int) {
	if set.plain {
		n := bytes.IndexByte(data[i:], '\n')
		if n < 0 {
			return len(data), len(data)
		}
		end, next = i+n, i+n+1
		if n > 0 && data[end-1] == '\r' {
			end--
		}
		return end, next
	}
	for ; i < len(data); i++ {
		if n := breakAt(data, i); n > 0 {
			return i, i + n
		}
	}
	return len(data), len(data)
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' }

// blankOrEnd reports whether data[i] is a blank, a line break or the end.
func blankOrEnd(data []byte, i int) bool {
	return i >= len(data) || isBlank(data[i]) || breakAt(data, i) > 0
}

// marker returns "---" or "..." when the line at data[i:] is a document marker.
func marker(data []byte, i int) string {
	if i+3 > len(data) || !blankOrEnd(data, i+3) {
		return ""
	}
	switch string(data[i : i+3]) {
	case "---":
		return "---"
	case "...":
		return "..."
	}
	return ""
}
