package hardware

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
)

// object is a JSON object with its numbers as written.
type object map[string]any

// parseObject reads one JSON object and nothing behind it.
func parseObject(data []byte) (object, error) {
	decoder := json.NewDecoder(bytes.NewReader(finite(data)))
	decoder.UseNumber()
	var o object
	if err := decoder.Decode(&o); err != nil {
		var wrongType *json.UnmarshalTypeError
		if errors.As(err, &wrongType) {
			return nil, fmt.Errorf("a config.json is a JSON object, not a %s", wrongType.Value)
		}
		return nil, fmt.Errorf("no valid JSON: %w", err)
	}
	if o == nil {
		return nil, errors.New("a config.json is a JSON object, not null")
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something stands behind the JSON object; a config.json is one object")
	}
	return o, nil
}

// finite writes null for the words NaN, Infinity and -Infinity, which Python
// writes into JSON and which are none of it. Texts stay as they are.
func finite(data []byte) []byte {
	if !bytes.Contains(data, []byte("Infinity")) && !bytes.Contains(data, []byte("NaN")) {
		return data
	}
	out := make([]byte, 0, len(data))
	for len(data) > 0 {
		length := pieceLength(data)
		piece := data[:length]
		switch string(piece) {
		case "NaN", "Infinity", "-Infinity":
			piece = []byte("null")
		}
		out, data = append(out, piece...), data[length:]
	}
	return out
}

// pieceLength is the length of the text, the word or the one other byte that
// data begins with.
func pieceLength(data []byte) int {
	if data[0] == '"' {
		for i := 1; i < len(data); i++ {
			switch data[i] {
			case '\\':
				i++
			case '"':
				return i + 1
			}
		}
		return len(data)
	}
	isWord := func(b byte) bool { return b == '-' || b >= 'A' && b <= 'Z' || b >= 'a' && b <= 'z' }
	n := 0
	for n < len(data) && isWord(data[n]) {
		n++
	}
	return max(n, 1)
}

// has tells whether a key is there and not null.
func (o object) has(key string) bool { return o[key] != nil }

// first is the first of the keys that is there and not null.
func (o object) first(keys ...string) (string, bool) {
	for _, key := range keys {
		if o.has(key) {
			return key, true
		}
	}
	return "", false
}

// child is the object under a key, or nil.
func (o object) child(key string) object {
	child, _ := o[key].(map[string]any)
	return child
}

func (o object) text(key string) string {
	text, _ := o[key].(string)
	return text
}

// truth is a boolean; told is false where there is none.
func (o object) truth(key string) (value, told bool) {
	value, told = o[key].(bool)
	return value, told
}

// texts are the elements of a list of texts; nil where it holds anything else.
func (o object) texts(key string) []string {
	list, _ := o[key].([]any)
	texts := make([]string, 0, len(list))
	for _, element := range list {
		text, ok := element.(string)
		if !ok {
			return nil
		}
		texts = append(texts, text)
	}
	return texts
}

// number is a finite number; 0 where there is none.
func (o object) number(key string) float64 {
	written, _ := o[key].(json.Number)
	value, err := strconv.ParseFloat(written.String(), 64)
	if err != nil {
		return 0
	}
	return value
}

// counter reads counts and remembers the first one that is none.
type counter struct{ err error }

// Figures beyond these are no model's, and would overflow what is computed
// from them: dimensions are multiplied by threes.
const (
	largestCount     = 1 << 40
	largestDimension = 1 << 20
)

// count is the first of the keys that is there: a whole number from 0; 0 where
// none is.
func (c *counter) count(o object, keys ...string) int64 { return c.upTo(largestCount, o, keys) }

// dimension is a count of layers, heads, experts or elements.
func (c *counter) dimension(o object, keys ...string) int64 {
	return c.upTo(largestDimension, o, keys)
}

func (c *counter) upTo(most int64, o object, keys []string) int64 {
	key, ok := o.first(keys...)
	if !ok {
		return 0
	}
	written, isNumber := o[key].(json.Number)
	value, err := strconv.ParseFloat(written.String(), 64)
	if !isNumber || err != nil || value < 0 || value > float64(most) || value != float64(int64(value)) {
		if c.err == nil {
			c.err = fmt.Errorf("`%s` must be a whole number from 0 to %d, got %.80s", key, most, printed(o[key]))
		}
		return 0
	}
	return int64(value)
}

func printed(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	return string(text)
}
