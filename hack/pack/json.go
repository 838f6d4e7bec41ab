package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// object is a JSON object whose values are kept as compact text.
type object = map[string]json.RawMessage

// decodeAll reads a header and the entries behind it.
func decodeAll(lines [][]byte) (header object, entries []object, err error) {
	for i, line := range lines {
		var entry object
		var short bytes.Buffer
		if err := json.Compact(&short, line); err != nil {
			return nil, nil, fmt.Errorf("line %d: %w", i+1, err)
		}
		if err := json.Unmarshal(short.Bytes(), &entry); err != nil {
			return nil, nil, fmt.Errorf("line %d: %w", i+1, err)
		}
		if i == 0 {
			header = entry
			continue
		}
		entries = append(entries, entry)
	}
	return header, entries, nil
}

func livesOf(entry object) ([]object, error) {
	var lives []object
	if err := json.Unmarshal(entry["lives"], &lives); err != nil {
		return nil, fmt.Errorf("`lives` of %s: %w", write(entry), err)
	}
	return lives, nil
}

// text returns the value of a JSON string, and "" for anything else.
func text(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}

// compact returns the JSON of a text or a list of texts.
func compact(value any) json.RawMessage {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(value) // texts always encode
	return bytes.TrimSpace(b.Bytes())
}

// list returns a JSON list of the given JSON values.
func list(values [][]byte) json.RawMessage {
	return slices.Concat([]byte("["), bytes.Join(values, []byte(",")), []byte("]"))
}

// write returns an object with the named fields first and the others behind
// them, sorted.
func write(o object, first ...string) []byte {
	fields := slices.DeleteFunc(slices.Clone(first), func(field string) bool { return o[field] == nil })
	for _, field := range slices.Sorted(maps.Keys(o)) {
		if !slices.Contains(first, field) {
			fields = append(fields, field)
		}
	}
	b := []byte("{")
	for i, field := range fields {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(append(b, compact(field)...), ':'), o[field]...)
	}
	return append(b, '}')
}
