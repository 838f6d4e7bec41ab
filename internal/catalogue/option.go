package catalogue

import (
	"encoding/json"
	"slices"
	"strings"
	"sync"
)

// Suppressed is the default of an option that writes nothing unless given.
const Suppressed = "==SUPPRESS=="

// Option is an option as it is in one release.
type Option struct {
	// Flag is the canonical long name: --tp-size.
	Flag string
	// Key is the attribute the parser writes: tp_size. Options that are older
	// or newer names of another one share its key.
	Key string
	// Names are all spellings of the release, those that switch off included.
	Names []string
	// Action is argparse's: store, store_true, boolean_optional, store_const,
	// append, ignored (accepted without effect), or an engine's own.
	Action string
	// Type is that of one value: str, int, float, bool, json, human_int, ….
	Type string
	// NArgs is "" (one value for a storing action), "?", "*", "+" or a count.
	NArgs string
	// Choices are the values the parser knows, as texts; none: any. With Open a
	// plugin may add some; with Open and Enforced the parser still refuses
	// others.
	Choices  []string
	Open     bool
	Enforced bool
	// Default is the parser's, decoded from JSON: nil, bool, int64, float64,
	// string, []any or map[string]any; nil often means "decided at start-up".
	// HasDefault is false where the parser writes nothing unless given.
	Default    any
	HasDefault bool
	// Const is what a store_const option writes, or a "?" option without value.
	Const any
	// Suffixes is true for an int that also takes 8k, 1M, 1Ki.
	Suffixes bool
	Required bool
	// Deprecated options still work; Replacement names the successor, if the
	// engine does.
	Deprecated  bool
	Replacement string
	// Since and Until bound the releases in which the option is as described
	// here; both are included.
	Since, Until Release
}

// IsSwitch reports whether the option never takes a value.
func (o *Option) IsSwitch() bool {
	switch o.Action {
	case "store_true", "store_false", "boolean_optional", "store_const", "ignored":
		return true
	}
	return false
}

// TurnsOff reports whether a spelling of the option is its negative one:
// --no-enable-x, or --disable-x for --enable-x.
func (o *Option) TurnsOff(spelled string) bool {
	if o.Action != "boolean_optional" || spelled == o.Flag {
		return false
	}
	if rest, negative := strings.CutPrefix(spelled, "--no-"); negative && slices.Contains(o.Names, "--"+rest) {
		return true
	}
	for _, pair := range [][2]string{{"--enable-", "--disable-"}, {"--disable-", "--enable-"}} {
		if rest, ok := strings.CutPrefix(o.Flag, pair[0]); ok && spelled == pair[1]+rest {
			return true
		}
	}
	return false
}

// optionLine is an option over all releases; its lives are decoded when asked
// for.
type optionLine struct {
	flag  string
	names []string
	line  string

	once  sync.Once
	lives []Option
}

// optionLife is a life as it is written, before or after its common values.
type optionLife struct {
	Since      string   `json:"since"`
	Until      string   `json:"until"`
	Names      []string `json:"names"`
	Dest       string   `json:"dest"`
	Action     string   `json:"action"`
	Type       string   `json:"type"`
	NArgs      any      `json:"nargs"`
	Choices    []any    `json:"choices"`
	Open       bool     `json:"open"`
	Enforced   bool     `json:"enforced"`
	Default    any      `json:"default"`
	Const      any      `json:"const"`
	Suffixes   bool     `json:"suffixes"`
	Required   bool     `json:"required"`
	Deprecated any      `json:"deprecated"`
}

// keys returns every key the option ever had. Only a line with a dest of its
// own says more than the flag.
func (o *optionLine) keys() []string {
	keys := []string{keyOf(o.flag)}
	rest := o.line
	for {
		_, after, found := strings.Cut(rest, `"dest":"`)
		if !found {
			return keys
		}
		key, tail, _ := strings.Cut(after, `"`)
		if !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
		rest = tail
	}
}

func keyOf(flag string) string {
	return strings.ReplaceAll(strings.TrimLeft(flag, "-"), "-", "_")
}

// lives returns the lives of an option, oldest first.
func (e *Engine) lives(o *optionLine) []Option {
	o.once.Do(func() {
		var entry struct {
			Lives []json.RawMessage `json:"lives"`
		}
		if json.Unmarshal([]byte(o.line), &entry) != nil {
			return // the generator writes valid JSON; a test reads every line
		}
		for _, raw := range entry.Lives {
			life := e.common[""]
			if decode(raw, &life) != nil {
				return
			}
			if common, ok := e.common[life.Action]; ok {
				action := life.Action
				life = common
				life.Action = action
				_ = decode(raw, &life) // decoded a moment ago
			}
			o.lives = append(o.lives, e.option(o, life))
		}
	})
	return o.lives
}

// decode reads JSON; numbers become int64 where they are whole, else float64.
func decode(raw []byte, life *optionLife) error {
	decoder := json.NewDecoder(strings.NewReader(string(raw)))
	decoder.UseNumber()
	return decoder.Decode(life)
}

func (e *Engine) option(o *optionLine, life optionLife) Option {
	option := Option{
		Flag: o.flag, Key: life.Dest, Names: life.Names,
		Action: life.Action, Type: life.Type,
		Open: life.Open, Enforced: life.Enforced,
		Default: number(life.Default), HasDefault: life.Default != Suppressed, Const: number(life.Const),
		Suffixes: life.Suffixes, Required: life.Required,
	}
	if life.NArgs != nil {
		option.NArgs = choiceText(life.NArgs)
	}
	if option.Key == "" {
		option.Key = keyOf(o.flag)
	}
	if option.Names == nil {
		option.Names = append([]string{o.flag}, slices.DeleteFunc(slices.Clone(o.names), func(name string) bool { return name == o.flag })...)
	}
	for _, choice := range life.Choices {
		option.Choices = append(option.Choices, choiceText(choice))
	}
	if replacement, named := life.Deprecated.(string); named {
		option.Deprecated, option.Replacement = true, replacement
	} else {
		option.Deprecated = life.Deprecated == true
	}
	option.Since, option.Until = e.bounds(life.Since, life.Until)
	return option
}

func (e *Engine) bounds(since, until string) (Release, Release) {
	first, last := e.Releases[e.byVersion[since]], e.Newest()
	if until != "" {
		last = e.Releases[e.byVersion[until]]
	}
	return first, last
}

func choiceText(choice any) string {
	switch c := choice.(type) {
	case string:
		return c
	case json.Number:
		return c.String()
	}
	text, _ := json.Marshal(choice) // decoded from JSON
	return string(text)
}

// number turns the json.Numbers inside a value into int64 or float64.
func number(value any) any {
	switch v := value.(type) {
	case json.Number:
		if whole, err := v.Int64(); err == nil {
			return whole
		}
		f, _ := v.Float64()
		return f
	case []any:
		for i := range v {
			v[i] = number(v[i])
		}
	case map[string]any:
		for key := range v {
			v[key] = number(v[key])
		}
	}
	return value
}

// alive returns what an option is in a release, or nil.
func (e *Engine) alive(o *optionLine, r Release) *Option {
	lives := e.lives(o)
	for i := range lives {
		if lives[i].Since.Index <= r.Index && r.Index <= lives[i].Until.Index {
			return &lives[i]
		}
	}
	return nil
}

// Option returns the option that a release knows under exactly this spelling.
func (e *Engine) Option(spelled string, r Release) (Option, bool) {
	if option := e.Lookup(spelled, r); option != nil {
		return *option, true
	}
	return Option{}, false
}

// Lookup returns the option that a release knows under exactly this spelling,
// or nil. It is shared: releases in which an option is the same have the same
// pointer, and nobody may write to it.
func (e *Engine) Lookup(spelled string, r Release) *Option {
	for _, line := range e.bySpelled[spelled] {
		if option := e.alive(line, r); option != nil && slices.Contains(option.Names, spelled) {
			return option
		}
	}
	return nil
}

// OptionByKey returns the option of a release that writes a key. Of several,
// the one that is spelled as the key comes first, then one that is not
// deprecated.
func (e *Engine) OptionByKey(key string, r Release) (Option, bool) {
	var best Option
	found := false
	for _, line := range e.byKey[key] {
		option := e.alive(line, r)
		if option == nil || option.Key != key {
			continue
		}
		if keyOf(option.Flag) == key {
			return *option, true
		}
		if !found || best.Deprecated && !option.Deprecated {
			best, found = *option, true
		}
	}
	return best, found
}

// KnownKey reports whether any release has an option that writes a key.
func (e *Engine) KnownKey(key string) bool { return len(e.byKey[key]) > 0 }

// Options returns all options of a release, sorted by flag. It decodes the
// whole catalogue at its first call.
func (e *Engine) Options(r Release) []Option {
	var all []Option
	for _, line := range e.options {
		if option := e.alive(line, r); option != nil {
			all = append(all, *option)
		}
	}
	return all
}

// Spellings returns the spellings of a release that begin with a prefix,
// sorted.
func (e *Engine) Spellings(prefix string, r Release) []string {
	var found []string
	all := e.spellings()
	start, _ := slices.BinarySearch(all, prefix)
	for _, spelled := range all[start:] {
		if !strings.HasPrefix(spelled, prefix) {
			break
		}
		if e.Lookup(spelled, r) != nil {
			found = append(found, spelled)
		}
	}
	return found
}

// Life is an unbroken run of releases; both ends are included.
type Life struct{ Since, Until Release }

// OptionEver returns the runs of releases that know a spelling, oldest first.
func (e *Engine) OptionEver(spelled string) []Life {
	var runs []Life
	for _, line := range e.bySpelled[spelled] {
		for _, option := range e.lives(line) {
			if slices.Contains(option.Names, spelled) {
				runs = append(runs, Life{option.Since, option.Until})
			}
		}
	}
	return joined(runs)
}

// OptionLives returns what an option is, life by life, oldest first; found by
// any spelling it ever had.
func (e *Engine) OptionLives(spelled string) []Option {
	if lines := e.bySpelled[spelled]; len(lines) > 0 {
		return e.lives(lines[0])
	}
	return nil
}

// Flags returns the canonical flag of every option that any release has.
func (e *Engine) Flags() []string {
	flags := make([]string, len(e.options))
	for i, option := range e.options {
		flags[i] = option.flag
	}
	return flags
}

// SpelledEver returns the canonical flag of the option that a spelling meant:
// the one spelled so itself, else the last that took it. It is false when no
// release knows the spelling.
func (e *Engine) SpelledEver(spelled string) (string, bool) {
	flag, last := "", -1
	for _, line := range e.bySpelled[spelled] {
		if line.flag == spelled {
			return spelled, true
		}
		for _, option := range e.lives(line) {
			if slices.Contains(option.Names, spelled) && option.Until.Index > last {
				flag, last = option.Flag, option.Until.Index
			}
		}
	}
	return flag, last >= 0
}

// joined sorts runs and joins those that follow each other without a gap.
func joined(runs []Life) []Life {
	slices.SortFunc(runs, func(a, b Life) int { return a.Since.Index - b.Since.Index })
	var out []Life
	for _, run := range runs {
		if n := len(out); n > 0 && run.Since.Index <= out[n-1].Until.Index+1 {
			if run.Until.Index > out[n-1].Until.Index {
				out[n-1].Until = run.Until
			}
			continue
		}
		out = append(out, run)
	}
	return out
}
