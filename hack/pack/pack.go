package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// common are the values that are left out of a life, by file and, for options,
// by action ("" stands for every other action and file).
var common = map[string]map[string]map[string]string{
	"options": {
		"":                 {"action": `"store"`, "type": `"str"`, "nargs": "null", "choices": "null", "open": "false", "default": "null", "deprecated": "false", "required": "false"},
		"store_true":       {"type": `"bool"`, "nargs": "null", "choices": "null", "open": "false", "default": "false", "deprecated": "false", "required": "false"},
		"boolean_optional": {"type": `"bool"`, "nargs": "null", "choices": "null", "open": "false", "default": "false", "deprecated": "false", "required": "false"},
	},
	"env":     {"": {"kind": "null", "default": "null", "read": "true", "declared": "true", "scope": `"server"`}},
	"metrics": {"": {"labels": "[]", "inherits": "true", "condition": "null"}},
}

// fieldOrder is how a life is written; fields it does not name come behind, by
// name.
var fieldOrder = []string{"since", "until", "names", "dest", "action", "type", "kind", "nargs", "const", "choices", "open", "enforced", "default", "suffixes", "required", "deprecated"}

// derivable are the fields that follow from others (see derive).
var derivable = []string{"names", "dest", "exposed", "series"}

// shape says what the lives of a file leave out; it is written in the header.
type shape struct {
	Common  map[string]object `json:"common"`
	Derived []string          `json:"derived"`
}

// Pack packs the lines of one catalogue file, its header first.
func Pack(file string, lines [][]byte) ([][]byte, error) {
	header, entries, err := decodeAll(lines)
	if err != nil {
		return nil, err
	}
	left, err := leftOut(file, entries)
	if err != nil {
		return nil, err
	}
	if header["common"], err = json.Marshal(left.Common); err != nil {
		return nil, err
	}
	if header["derived"], err = json.Marshal(left.Derived); err != nil {
		return nil, err
	}
	packed := [][]byte{write(header, "engine", "releases", "dates", "common", "derived")}
	for _, entry := range entries {
		if err := left.packEntry(entry); err != nil {
			return nil, err
		}
		packed = append(packed, write(entry, "flag", "env", "metric", "names", "lives"))
	}
	return packed, nil
}

// Expand returns the lines that Pack was given, as compact JSON with sorted
// keys.
func Expand(lines [][]byte) ([][]byte, error) {
	header, entries, err := decodeAll(lines)
	if err != nil {
		return nil, err
	}
	var left shape
	if err := json.Unmarshal(write(header), &left); err != nil {
		return nil, fmt.Errorf("header: %w", err)
	}
	delete(header, "common")
	delete(header, "derived")
	full := [][]byte{write(header)}
	for _, entry := range entries {
		if err := left.expandEntry(entry); err != nil {
			return nil, err
		}
		full = append(full, write(entry))
	}
	return full, nil
}

// leftOut returns what the lives of a file may leave out: a field that some of
// them do not have at all is always written, so that absent means absent.
func leftOut(file string, entries []object) (shape, error) {
	left := shape{Common: map[string]object{}, Derived: slices.Clone(derivable)}
	for action, values := range common[file] {
		left.Common[action] = object{}
		for field, value := range values {
			left.Common[action][field] = json.RawMessage(value)
		}
	}
	for _, entry := range entries {
		lives, err := livesOf(entry)
		if err != nil {
			return shape{}, err
		}
		for _, life := range lives {
			values := left.commonFor(life)
			for field := range values {
				if life[field] == nil {
					delete(values, field)
				}
			}
			left.Derived = slices.DeleteFunc(left.Derived, func(field string) bool { return life[field] == nil })
		}
	}
	return left, nil
}

// commonFor returns the common values that hold for a life.
func (s shape) commonFor(life object) object {
	if values, ok := s.Common[text(life["action"])]; ok {
		return values
	}
	return s.Common[""]
}

func (s shape) packEntry(entry object) error {
	lives, err := livesOf(entry)
	if err != nil {
		return err
	}
	var written [][]byte
	for _, life := range lives {
		values := s.derive(entry, life)
		for field, value := range s.commonFor(life) {
			values[field] = value
		}
		for field, value := range values {
			if string(life[field]) == string(value) {
				delete(life, field)
			}
		}
		written = append(written, write(life, fieldOrder...))
	}
	entry["lives"] = list(written)
	if only := list([][]byte{entry["flag"]}); string(entry["names"]) == string(only) {
		delete(entry, "names")
	}
	return nil
}

func (s shape) expandEntry(entry object) error {
	lives, err := livesOf(entry)
	if err != nil {
		return err
	}
	if entry["flag"] != nil && entry["names"] == nil {
		entry["names"] = list([][]byte{entry["flag"]})
	}
	var written [][]byte
	for _, life := range lives {
		values := s.derive(entry, life)
		for field, value := range s.commonFor(life) {
			values[field] = value
		}
		for field, value := range values {
			if life[field] == nil {
				life[field] = value
			}
		}
		written = append(written, write(life))
	}
	entry["lives"] = list(written)
	return nil
}

// derive returns the values of a life that follow from the rest: an option's
// names are its flag and the entry's other names, its dest is spelled as the
// flag; a metric is exposed under its own name, its series follow from its kind.
func (s shape) derive(entry, life object) object {
	values := object{}
	if flag := text(entry["flag"]); flag != "" {
		var names []string
		_ = json.Unmarshal(entry["names"], &names) // absent or a list: checked by decodeAll
		others := slices.DeleteFunc(names, func(name string) bool { return name == flag })
		values["names"] = compact(append([]string{flag}, others...))
		values["dest"] = compact(strings.ReplaceAll(strings.TrimPrefix(flag, "--"), "-", "_"))
	}
	if metric := text(entry["metric"]); metric != "" {
		exposed := cmp.Or(text(life["exposed"]), metric)
		values["exposed"] = compact(metric)
		values["series"] = compact([]string{exposed})
		if text(life["kind"]) == "histogram" {
			values["series"] = compact([]string{exposed + "_bucket", exposed + "_sum", exposed + "_count"})
		}
	}
	for _, field := range derivable {
		if !slices.Contains(s.Derived, field) {
			delete(values, field)
		}
	}
	return values
}
