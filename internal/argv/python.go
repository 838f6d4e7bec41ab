package argv

import (
	"encoding/json"
	"strings"
	"unicode"
)

// parseInt reads a text as Python's int() does and returns it in plain form:
// blanks around it, a sign, leading zeros, single underscores between digits
// and the digits of all scripts are taken.
func parseInt(text string) (plain string, ok bool) {
	text = trimNumber(text)
	digits := strings.TrimPrefix(text, "+")
	negative := false
	if digits == text {
		digits = strings.TrimPrefix(text, "-")
		negative = digits != text
	}
	plain, ok = plainDigits(digits)
	if !ok {
		return "", false
	}
	if plain = strings.TrimLeft(plain, "0"); plain == "" {
		return "0", true
	}
	if negative {
		plain = "-" + plain
	}
	return plain, true
}

// plainDigits turns digits of any script with underscores between them into
// ASCII digits.
func plainDigits(text string) (string, bool) {
	var b strings.Builder
	before := '_'
	for _, r := range text {
		switch {
		case r == '_' && before != '_':
		case unicode.Is(unicode.Nd, r):
			b.WriteByte('0' + digitValue(r))
		default:
			return "", false
		}
		before = r
	}
	return b.String(), before != '_'
}

// digitValue returns 0 to 9. The digits of a script stand together, in order,
// and the ranges of Nd hold whole scripts.
func digitValue(r rune) byte {
	for _, table := range unicode.Nd.R16 {
		if rune(table.Lo) <= r && r <= rune(table.Hi) {
			return byte((r - rune(table.Lo)) % 10)
		}
	}
	for _, table := range unicode.Nd.R32 {
		if rune(table.Lo) <= r && r <= rune(table.Hi) {
			return byte((r - rune(table.Lo)) % 10)
		}
	}
	return 0
}

func isDigits(text string) bool {
	for _, r := range text {
		if !unicode.Is(unicode.Nd, r) {
			return false
		}
	}
	return true
}

// trimSpace takes off what Python's str.strip() does.
func trimSpace(text string) string {
	return strings.TrimFunc(text, func(r rune) bool { return unicode.IsSpace(r) || r >= 0x1c && r <= 0x1f })
}

// trimNumber takes off what Python's int() and float() do: of a text in ASCII
// only C's blanks, else those of str.strip().
func trimNumber(text string) string {
	if strings.ContainsFunc(text, func(r rune) bool { return r >= 0x80 }) {
		return trimSpace(text)
	}
	return strings.Trim(text, " \t\n\v\f\r")
}

// isFloat reports whether Python's float() takes a text.
func isFloat(text string) bool {
	text = trimNumber(text)
	text = strings.TrimPrefix(strings.TrimPrefix(text, "+"), "-")
	switch strings.ToLower(text) {
	case "inf", "infinity", "nan":
		return true
	}
	mantissa, exponent, scientific := cutExponent(text)
	if scientific {
		unsigned := exponent
		if unsigned != "" && strings.ContainsRune("+-", rune(unsigned[0])) {
			unsigned = unsigned[1:]
		}
		if _, ok := plainDigits(unsigned); !ok {
			return false
		}
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	if whole == "" && fraction == "" {
		return false
	}
	for _, digits := range []string{whole, fraction} {
		if digits == "" {
			continue
		}
		if _, ok := plainDigits(digits); !ok {
			return false
		}
	}
	return true
}

func cutExponent(text string) (mantissa, exponent string, found bool) {
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		return text[:i], text[i+1:], true
	}
	return text, "", false
}

// isHumanInt reports whether vLLM's human_readable_int takes a text: 25.6k is
// 25600, 4K is 4096; a capital takes no fraction.
func isHumanInt(text string) bool {
	if _, ok := parseInt(text); ok {
		return true
	}
	text = trimSpace(text)
	if text == "" || !strings.ContainsRune("kKmMgGtT", rune(text[len(text)-1])) {
		return false
	}
	unit, number := text[len(text)-1], text[:len(text)-1]
	whole, fraction, dotted := strings.Cut(number, ".")
	if whole == "" || !isDigits(whole) || dotted && (fraction == "" || !isDigits(fraction)) {
		return false
	}
	return !dotted || unit >= 'a'
}

// isSuffixedInt reports whether SGLang's human_readable_int takes a text: 8k
// and 1M are decimal, 4Ki and 1Mi binary.
func isSuffixedInt(text string) bool {
	text = trimSpace(text)
	number := strings.TrimRight(text, "kKMGTi")
	switch text[len(number):] {
	case "k", "M", "G", "T":
		whole, fraction, dotted := strings.Cut(number, ".")
		return whole != "" && isDigits(whole) && (!dotted || fraction != "" && isDigits(fraction))
	case "Ki", "Mi", "Gi", "Ti":
		return number != "" && isDigits(number)
	}
	return false
}

// parseJSON reads a text as Python's json.loads does: NaN and Infinity are
// numbers.
func parseJSON(text string) (any, bool) {
	text = withoutNaN(text)
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	var value any
	if decoder.Decode(&value) != nil {
		return nil, false
	}
	return value, strings.Trim(text[decoder.InputOffset():], " \t\r\n") == ""
}

// withoutNaN puts 0 for the numbers that only Python's JSON knows.
func withoutNaN(text string) string {
	if !strings.Contains(text, "NaN") && !strings.Contains(text, "Infinity") {
		return text
	}
	var b strings.Builder
	quoted := false
	for i := 0; i < len(text); i++ {
		switch {
		case quoted && text[i] == '\\' && i+1 < len(text):
			b.WriteByte(text[i])
			i++
		case text[i] == '"':
			quoted = !quoted
		case !quoted && strings.HasPrefix(text[i:], "NaN"):
			b.WriteByte('0')
			i += len("NaN") - 1
			continue
		case !quoted && strings.HasPrefix(text[i:], "Infinity"):
			b.WriteByte('0')
			i += len("Infinity") - 1
			continue
		}
		b.WriteByte(text[i])
	}
	return b.String()
}
