package main

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// release is what hack/catalogue/extract.py writes of one release.
type release struct {
	Engine  string   `json:"engine"`
	Version string   `json:"version"`
	Date    string   `json:"date"`
	Options []object `json:"options"`
	Env     []object `json:"env"`
	Metrics []object `json:"metrics"`
}

// of returns the entries of a catalogue file, and the field that names each.
func (r release) of(file string) (entries []object, name string) {
	return map[string][]object{"options": r.Options, "env": r.Env, "metrics": r.Metrics}[file],
		map[string]string{"options": "flag", "env": "env", "metrics": "metric"}[file]
}

// measured are the fields that the extractor tells of each life: one that is not
// there has gone. All others are carried over from the life before, where a
// release does not tell them.
var measured = map[string][]string{
	"options": {"names", "dest", "action", "type", "nargs", "choices", "default", "const", "suffixes", "required", "deprecated"},
	"env":     {"kind", "default", "default_expr", "choices", "case_sensitive", "read", "declared", "scope"},
	"metrics": {"kind", "labels", "condition", "cond", "exposed", "series", "inherits", "class"},
}

// places are the fields that say where something was read: a life goes on when it
// moves.
var places = []string{"since", "until", "where", "fn", "file"}

// Merge adds a release, which must be newer than all that are there, to the
// embedded lines of a catalogue file. A life goes on where all that was measured
// is as before; what a life has beside that is carried over.
func Merge(file string, embedded [][]byte, r release) ([][]byte, error) {
	full, err := Expand(embedded)
	if err != nil {
		return nil, err
	}
	header, entries, err := decodeAll(full)
	if err != nil {
		return nil, err
	}
	last, err := addRelease(header, r)
	if err != nil {
		return nil, err
	}
	m := merger{version: r.Version, last: last, entries: entries, measured: measured[file], sorted: sortedNames(entries)}
	found, name := r.of(file)
	if len(found) == 0 {
		return nil, fmt.Errorf("the release %s has no %s: nothing is merged", r.Version, file)
	}
	m.fields, err = fieldsOf(entries)
	if err != nil {
		return nil, err
	}
	m.match(found, name)
	for at := range m.entries {
		if err := m.goOn(at); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(m.entries, func(a, b object) int { return strings.Compare(text(a[name]), text(b[name])) })
	lines := [][]byte{write(header)}
	for _, entry := range m.entries {
		lines = append(lines, write(entry))
	}
	return Pack(file, lines)
}

// addRelease puts a release behind those of a header and returns the one before.
func addRelease(header object, r release) (last string, err error) {
	var releases []string
	if err := json.Unmarshal(header["releases"], &releases); err != nil || len(releases) == 0 {
		return "", fmt.Errorf("the header names no `releases`")
	}
	if engine := text(header["engine"]); engine != r.Engine {
		return "", fmt.Errorf("a release of %s is not merged into %s", r.Engine, engine)
	}
	if slices.Contains(releases, r.Version) {
		return "", fmt.Errorf("the release %s is there already", r.Version)
	}
	last = releases[len(releases)-1]
	header["releases"] = compact(append(releases, r.Version))
	if r.Date != "" && header["dates"] != nil {
		var dates map[string]json.RawMessage
		if err := json.Unmarshal(header["dates"], &dates); err != nil {
			return "", fmt.Errorf("`dates` of the header: %w", err)
		}
		dates[r.Version] = compact(r.Date)
		header["dates"] = write(dates, releases...)
	}
	return last, nil
}

// fieldsOf are the fields that some life of a file has: a new life has no others.
func fieldsOf(entries []object) (map[string]bool, error) {
	fields := map[string]bool{}
	for _, entry := range entries {
		lives, err := livesOf(entry)
		if err != nil {
			return nil, err
		}
		for _, life := range lives {
			for field := range life {
				fields[field] = true
			}
		}
	}
	return fields, nil
}

type merger struct {
	version, last string
	entries       []object
	measured      []string
	sorted        bool
	fields        map[string]bool
	// now is what was measured of each entry, by its index.
	now map[int]object
}

// match finds the entry that each measured one goes on with: of the same name or,
// for an option, one that shares a spelling and was there in the release before.
// The others become new entries.
func (m *merger) match(found []object, name string) {
	m.now = map[int]object{}
	byName := map[string]int{}
	bySpelling := map[string]int{}
	for i, entry := range m.entries {
		byName[text(entry[name])] = i
		lives, _ := livesOf(entry) // fieldsOf read them
		if newest := lives[len(lives)-1]; newest["until"] == nil {
			for _, spelled := range spellings(newest) {
				bySpelling[spelled] = i
			}
		}
	}
	var rest []object
	for _, entry := range found {
		if at, ok := byName[text(entry[name])]; ok {
			m.now[at] = entry
			continue
		}
		rest = append(rest, entry)
	}
	for _, entry := range rest {
		at := -1
		for _, spelled := range spellings(entry) {
			if i, ok := bySpelling[spelled]; ok && m.now[i] == nil && at < 0 {
				at = i
			}
		}
		if at < 0 {
			at = len(m.entries)
			m.entries = append(m.entries, object{name: entry[name], "lives": list(nil)})
		}
		m.entries[at][name] = entry[name] // the newest release names it
		m.now[at] = entry
	}
}

func spellings(o object) []string {
	var names []string
	_ = json.Unmarshal(o["names"], &names) // only options have them
	return names
}

// goOn ends, goes on with or begins a life of an entry.
func (m *merger) goOn(at int) error {
	entry := m.entries[at]
	lives, err := livesOf(entry)
	if err != nil {
		return err
	}
	alive := len(lives) > 0 && lives[len(lives)-1]["until"] == nil
	now := m.now[at]
	if now == nil {
		if alive {
			lives[len(lives)-1]["until"] = compact(m.last)
			entry["lives"] = written(lives)
		}
		return nil
	}
	var before, life object
	if err := json.Unmarshal(now["life"], &life); err != nil {
		return fmt.Errorf("`life` of %s: %w", write(now), err)
	}
	if len(lives) > 0 {
		before = lives[len(lives)-1]
	}
	life = m.complete(life, before)
	if alive && same(life, before) {
		return nil
	}
	if alive {
		before["until"] = compact(m.last)
	}
	life["since"] = compact(m.version)
	entry["lives"] = written(append(lives, life))
	if entry["names"] != nil || now["names"] != nil {
		entry["names"] = compact(m.joined(spellings(entry), spellings(life)))
	}
	return nil
}

// complete gives a measured life what the one before had beside that.
func (m *merger) complete(life, before object) object {
	whole := object{}
	for field, value := range life {
		if m.fields[field] {
			whole[field] = value
		}
	}
	for field, value := range before {
		switch {
		case field == "since" || field == "until":
		case lessKnown(field, whole, before), whole[field] == nil && !slices.Contains(m.measured, field):
			whole[field] = value
		}
	}
	return whole
}

// lessKnown: the life before has what no extractor tells: that the engine reads
// a text as JSON at start-up, that a plugin may add choices, or how a variable is
// read.
func lessKnown(field string, life, before object) bool {
	switch field {
	case "type":
		return text(before["type"]) == "json" && text(life["type"]) == "str"
	case "open":
		return string(before["open"]) == "true" && string(life["open"]) == "false"
	case "kind":
		return string(life["kind"]) == "null"
	}
	return false
}

// same compares two lives without their ends and places.
func same(a, b object) bool {
	values := func(o object) map[string]any {
		all := map[string]any{}
		for field, raw := range o {
			if slices.Contains(places, field) {
				continue
			}
			var value any
			_ = json.Unmarshal(raw, &value) // decoded from JSON
			all[field] = value
		}
		return all
	}
	return reflect.DeepEqual(values(a), values(b))
}

func written(lives []object) json.RawMessage {
	lines := make([][]byte, len(lives))
	for i, life := range lives {
		lines[i] = write(life)
	}
	return list(lines)
}

// joined are the spellings of an option, with those of another life behind them,
// or among them where the file has them sorted.
func (m *merger) joined(known, more []string) []string {
	all := slices.Clone(known)
	for _, name := range more {
		if !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	if m.sorted {
		slices.Sort(all)
	}
	return all
}

// sortedNames tells whether a file has the spellings of all its options sorted.
func sortedNames(entries []object) bool {
	return !slices.ContainsFunc(entries, func(entry object) bool { return !slices.IsSorted(spellings(entry)) })
}
