// Package catalogue answers what exists in a release of an engine: options,
// environment variables, and the releases themselves with their dates. It
// reads the measured data of package engines, one engine at a time, and
// decodes only the lines that are asked for. In come names, versions, image
// references; out go options, releases and ranges of releases. What a setting
// does is not known here.
package catalogue

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/trimtab/trimtab/engines"
)

// Engine is one engine with everything that exists in its releases. It is safe
// for use by several goroutines.
type Engine struct {
	// Name is "sglang" or "vllm".
	Name string
	// Releases are the known releases, oldest first.
	Releases []Release

	common    map[string]optionLife
	byVersion map[string]int
	options   []*optionLine
	bySpelled map[string][]*optionLine
	byKey     map[string][]*optionLine
	spellings func() []string // sorted: those with one prefix stand together
	env       func() (map[string]*envLine, error)
	// nearOptions and nearEnv are what a misspelt name is compared with.
	nearOptions, nearEnv func() []candidate
	configs              func() (map[string]*Config, error)
	metrics              func() ([]Metric, error)

	images     sync.Map // image reference → Span: a fleet repeats a few
	imageCount atomic.Int64
	// emitting remembers the lives of metrics by the name of their samples.
	emitting sync.Map
}

// Names are the engines that Load knows.
func Names() []string { return []string{"sglang", "vllm"} }

var loaders = func() map[string]func() (*Engine, error) {
	all := map[string]func() (*Engine, error){}
	for _, name := range Names() {
		all[name] = sync.OnceValues(func() (*Engine, error) { return load(name) })
	}
	return all
}()

// Load returns an engine of the catalogue; it is read at the first call. The
// error says that there is no such engine.
func Load(name string) (*Engine, error) {
	loader, ok := loaders[name]
	if !ok {
		return nil, fmt.Errorf("unknown engine %q: known are %s", name, strings.Join(Names(), ", "))
	}
	return loader()
}

// Newest returns the newest release known.
func (e *Engine) Newest() Release { return e.Releases[len(e.Releases)-1] }

// header is the first line of a data file.
type header struct {
	Releases []string              `json:"releases"`
	Dates    map[string]string     `json:"dates"`
	Common   map[string]optionLife `json:"common"`
}

func load(name string) (*Engine, error) {
	first, lines, err := readLines(name, "options")
	if err != nil {
		return nil, err
	}
	var h header
	if err := json.Unmarshal([]byte(first), &h); err != nil {
		return nil, fmt.Errorf("engines/%s/options.jsonl: header: %w", name, err)
	}
	if len(h.Releases) == 0 {
		return nil, fmt.Errorf("engines/%s/options.jsonl: the header names no `releases`", name)
	}
	e := &Engine{Name: name, common: h.Common, byVersion: make(map[string]int, len(h.Releases))}
	for i, version := range h.Releases {
		date, _ := time.Parse(time.DateOnly, h.Dates[version]) // no date: zero
		e.Releases = append(e.Releases, Release{Index: i, Version: version, Date: date, order: &order{text: version}})
		e.byVersion[version] = i
	}
	e.index(lines)
	e.env = sync.OnceValues(e.loadEnv)
	e.configs = sync.OnceValues(e.loadConfigs)
	e.metrics = sync.OnceValues(e.loadMetrics)
	return e, nil
}

// readLines returns the header and the other lines of a data file.
func readLines(engine, file string) (first string, lines []string, err error) {
	path := engine + "/" + file + ".jsonl"
	data, err := engines.Files.ReadFile(path)
	if err != nil {
		return "", nil, fmt.Errorf("engines/%s: %w", path, err)
	}
	all := strings.Split(strings.TrimSpace(string(data)), "\n")
	return all[0], all[1:], nil
}

// index finds each option by its spellings and keys without decoding it: the
// generator writes flag and names first, as texts that need no escapes.
func (e *Engine) index(lines []string) {
	e.options = make([]*optionLine, 0, len(lines))
	e.bySpelled = make(map[string][]*optionLine, 2*len(lines))
	e.byKey = make(map[string][]*optionLine, len(lines))
	for _, line := range lines {
		flag := between(line, `{"flag":"`, `"`)
		option := &optionLine{flag: flag, names: []string{flag}, line: line}
		if names := between(line, `,"names":["`, `"],"lives":`); names != "" && !strings.Contains(names, "{") {
			option.names = strings.Split(names, `","`)
		}
		e.options = append(e.options, option)
		for _, name := range option.names {
			e.bySpelled[name] = append(e.bySpelled[name], option)
		}
		for _, key := range option.keys() {
			e.byKey[key] = append(e.byKey[key], option)
		}
	}
	e.spellings = sync.OnceValue(func() []string { return slices.Sorted(maps.Keys(e.bySpelled)) })
	e.nearOptions = sync.OnceValue(func() []candidate { return candidatesOf(e.spellings()) })
	e.nearEnv = sync.OnceValue(func() []candidate {
		vars, _ := e.env() // the file is embedded beside the options that were read
		return candidatesOf(slices.Sorted(maps.Keys(vars)))
	})
}

// between returns the text from behind the first occurrence of one mark to the
// next of another, and "" when either is missing.
func between(text, from, to string) string {
	_, rest, found := strings.Cut(text, from)
	if !found {
		return ""
	}
	inner, _, found := strings.Cut(rest, to)
	if !found {
		return ""
	}
	return inner
}
