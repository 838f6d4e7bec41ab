package engine

import (
	"encoding/json"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/trimtab/trimtab/internal/catalogue"
)

// Typed reads the words of an option as its parser does: int64, float64, bool,
// a text, a list of these, or decoded JSON; nil for a text that means "not
// set". It is false when the words are not of the option's type.
func Typed(option catalogue.Option, off bool, words []string) (any, bool) {
	switch {
	case option.IsSwitch() && option.Action == "store_const":
		return option.Const, true
	case option.IsSwitch():
		return off == (option.Action == "store_false"), true
	case len(words) == 0 && option.NArgs == "?":
		return option.Const, true
	case option.NArgs != "" && option.NArgs != "?":
		list := make([]any, len(words))
		for i, word := range words {
			value, ok := typedWord(option, word)
			if !ok {
				return nil, false
			}
			list[i] = value
		}
		return list, true
	case len(words) != 1:
		return nil, false
	}
	return typedWord(option, words[0])
}

// parserDefault is an option's default as its parser reads it: that of a JSON
// option may be written as text.
func parserDefault(option catalogue.Option) any {
	if text, isText := option.Default.(string); isText && option.Type == "json" {
		if value, ok := decodedJSON(text); ok {
			return value
		}
	}
	return option.Default
}

func typedWord(option catalogue.Option, word string) (any, bool) {
	if (word == "None" || word == "") && option.Default == nil && option.Type != "str" {
		return nil, true
	}
	switch option.Type {
	case "int", "human_int", "human_int_auto":
		return wholeNumber(option, word)
	case "float":
		n, err := strconv.ParseFloat(strings.ReplaceAll(strings.TrimSpace(word), "_", ""), 64)
		return n, err == nil
	case "bool":
		b, err := strconv.ParseBool(strings.ToLower(word))
		return b, err == nil
	case "json":
		return decodedJSON(word)
	case "str_or_json":
		if value, ok := decodedJSON(word); ok {
			if object, isObject := value.(map[string]any); isObject {
				return object, true
			}
		}
	}
	return word, true
}

// wholeNumber reads an int with the suffixes that the option takes: vLLM's 4k is
// 4000 and 4K 4096, SGLang's 4k is 4000, 1M is 10^6 and 4Ki 4096.
func wholeNumber(option catalogue.Option, word string) (any, bool) {
	if n, ok := WholeNumber(word); ok {
		return n, true
	}
	text := strings.ReplaceAll(strings.TrimSpace(word), "_", "")
	var factors map[string]int64
	switch {
	case strings.HasPrefix(option.Type, "human_int"):
		factors = map[string]int64{
			"k": 1e3, "m": 1e6, "g": 1e9, "t": 1e12, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40,
		}
	case option.Suffixes:
		factors = map[string]int64{
			"k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "Ki": 1 << 10, "Mi": 1 << 20, "Gi": 1 << 30, "Ti": 1 << 40,
		}
	}
	for suffix, factor := range factors {
		digits, ok := strings.CutSuffix(text, suffix)
		if !ok {
			continue
		}
		if n, err := strconv.ParseFloat(digits, 64); err == nil && math.Abs(n)*float64(factor) < 1<<53 {
			return int64(n * float64(factor)), true
		}
	}
	if option.Type == "human_int_auto" && strings.EqualFold(text, "auto") {
		return "auto", true
	}
	return nil, false
}

// WholeNumber reads a plain int as Python does: 8, +8, 1_000.
func WholeNumber(text string) (int64, bool) {
	n, err := strconv.ParseInt(strings.ReplaceAll(strings.TrimSpace(text), "_", ""), 10, 64)
	return n, err == nil
}

// decodedJSON decodes a JSON text; whole numbers become int64.
func decodedJSON(text string) (any, bool) {
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	var value any
	if decoder.Decode(&value) != nil || decoder.More() {
		return nil, false
	}
	return plainNumbers(value), true
}

func plainNumbers(value any) any {
	switch v := value.(type) {
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return n
		}
		f, _ := v.Float64() // a JSON number
		return f
	case []any:
		for i := range v {
			v[i] = plainNumbers(v[i])
		}
	case map[string]any:
		for key := range v {
			v[key] = plainNumbers(v[key])
		}
	}
	return value
}

// Same tells whether two values are one to the engine: 0.9 and 0.90, 1 and 1.0,
// lists and objects member by member.
func Same(a, b any) bool {
	if x, ok := asFloat(a); ok {
		y, ok := asFloat(b)
		return ok && x == y
	}
	switch x := a.(type) {
	case []any:
		y, ok := b.([]any)
		return ok && slices.EqualFunc(x, y, Same)
	case map[string]any:
		y, ok := b.(map[string]any)
		if !ok || len(x) != len(y) {
			return false
		}
		for key := range x {
			if other, ok := y[key]; !ok || !Same(x[key], other) {
				return false
			}
		}
		return true
	}
	return reflect.DeepEqual(a, b)
}

func asFloat(value any) (float64, bool) {
	switch v := value.(type) {
	case int64:
		return float64(v), true
	case float64:
		return v, true
	}
	return 0, false
}
