package catalogue

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Config is a configuration object that an option takes as JSON: which keys a
// release knows, and whether it refuses others. It is read off the engine's
// own source, up to one release; behind that nothing is said of a key that may
// have been added since.
type Config struct {
	// Name is the class: CompilationConfig.
	Name string
	// File holds the class, in the engine's source.
	File string

	strict []Life
	keys   map[string][]KeyLife
	needs  []Need
	read   Release
	tried  []string

	changes []int // the releases, by index, in which something changes
}

// KeyLife is a run of releases in which a key takes the same values.
type KeyLife struct {
	Life
	// Takes is bool, int, float, str, list, dict, one (of the texts behind the
	// colon), names (those texts, in any case), level (0 to 3), or the name of
	// another Config. A ? behind it lets null pass, >=N bounds a number. "" is
	// not known.
	Takes string
}

// Need is what the class checks once its keys are read: Key, when it is set (or
// when it is what Is says), needs the key Needs, set or as one of Among.
type Need struct {
	Life
	Key   string
	Is    any
	Needs string
	Among []string
}

// configLine is a Config as it is written.
type configLine struct {
	Config  string     `json:"config"`
	Options []string   `json:"options"`
	File    string     `json:"file"`
	Strict  []lifeLine `json:"strict"`
	Keys    []struct {
		Name  string     `json:"name"`
		Lives []lifeLine `json:"lives"`
	} `json:"keys"`
	Needs []struct {
		lifeLine
		Key   string   `json:"key"`
		Is    any      `json:"is"`
		Needs string   `json:"needs"`
		Among []string `json:"among"`
	} `json:"needs"`
}

type lifeLine struct {
	Since string `json:"since"`
	Until string `json:"until"`
	Takes string `json:"takes"`
}

// Config returns the object that an option takes; false when the option takes
// none or nothing is known of it. The name of a class finds that class.
func (e *Engine) Config(name string) (*Config, bool) {
	configs, _ := e.configs() // a test reads the file
	config, ok := configs[name]
	return config, ok
}

func (e *Engine) loadConfigs() (map[string]*Config, error) {
	first, lines, err := readLines(e.Name, "configs")
	if err != nil {
		return nil, err
	}
	var head struct {
		Read  string   `json:"read"`
		Tried []string `json:"tried"`
	}
	if err := json.Unmarshal([]byte(first), &head); err != nil {
		return nil, fmt.Errorf("engines/%s/configs.jsonl: header: %w", e.Name, err)
	}
	read, ok := e.Find(head.Read)
	if !ok {
		return nil, fmt.Errorf("engines/%s/configs.jsonl: header: `read` is no release: %q", e.Name, head.Read)
	}
	configs := make(map[string]*Config, 2*len(lines))
	for _, text := range lines {
		var line configLine
		if err := json.Unmarshal([]byte(text), &line); err != nil {
			return nil, fmt.Errorf("engines/%s/configs.jsonl: %w", e.Name, err)
		}
		config := e.config(line)
		config.read, config.tried = read, head.Tried
		for _, name := range append(line.Options, line.Config) {
			configs[name] = config
		}
	}
	findChanges(configs)
	return configs, nil
}

func (e *Engine) config(line configLine) *Config {
	c := &Config{Name: line.Config, File: line.File, keys: make(map[string][]KeyLife, len(line.Keys))}
	for _, strict := range line.Strict {
		c.strict = append(c.strict, e.life(strict))
	}
	for _, key := range line.Keys {
		for _, life := range key.Lives {
			c.keys[key.Name] = append(c.keys[key.Name], KeyLife{e.life(life), life.Takes})
		}
	}
	for _, need := range line.Needs {
		c.needs = append(c.needs, Need{e.life(need.lifeLine), need.Key, need.Is, need.Needs, need.Among})
	}
	return c
}

func (e *Engine) life(line lifeLine) Life {
	since, until := e.bounds(line.Since, line.Until)
	return Life{since, until}
}

// Contains reports whether a release lies in the run.
func (l Life) Contains(r Release) bool { return l.Since.Index <= r.Index && r.Index <= l.Until.Index }

// Known reports whether anything is known of the object in a release.
func (c *Config) Known(r Release) bool {
	in := func(life KeyLife) bool { return life.Contains(r) }
	for _, lives := range c.keys {
		if slices.ContainsFunc(lives, in) {
			return true
		}
	}
	return false
}

// Refuses reports whether a release is known to refuse a key: it takes only
// what it knows, and the key is not that. Behind the releases whose source was
// read these are keys that were dropped, keys that no class can have, and
// those that a release was given and refused.
func (c *Config) Refuses(key string, r Release) bool {
	if !c.isStrict(r) || c.knows(key, r) {
		return false
	}
	return r.Index <= c.read.Index || len(c.keys[key]) > 0 || slices.Contains(c.tried, key) || !isIdentifier(key)
}

// Drops reports whether a release is known to leave a key out of the object
// without a word: it neither knows it nor refuses what it does not know.
func (c *Config) Drops(key string, r Release) bool {
	return c.Known(r) && r.Index <= c.read.Index && !c.isStrict(r) && !c.knows(key, r)
}

func (c *Config) isStrict(r Release) bool {
	return slices.ContainsFunc(c.strict, func(life Life) bool { return life.Contains(r) })
}

func (c *Config) knows(key string, r Release) bool {
	return slices.ContainsFunc(c.keys[key], func(life KeyLife) bool { return life.Contains(r) })
}

// isIdentifier reports whether an attribute can have a name. Letters outside
// ASCII pass: they are no proof.
func isIdentifier(name string) bool {
	return name != "" && !strings.ContainsAny(name[:1], "0123456789") && !strings.ContainsFunc(name, func(r rune) bool {
		return r < 0x80 && r != '_' && !('0' <= r && r <= '9' || 'a' <= r|0x20 && r|0x20 <= 'z')
	})
}

// Keys returns the keys that a release knows, sorted.
func (c *Config) Keys(r Release) []string {
	var known []string
	for key := range c.keys {
		if c.knows(key, r) {
			known = append(known, key)
		}
	}
	slices.Sort(known)
	return known
}

// Takes returns what a key takes in a release, as in KeyLife; "" when that is
// not known. Another class is known also behind the source that was read.
func (c *Config) Takes(key string, r Release) string {
	for _, life := range c.keys[key] {
		if life.Contains(r) && (r.Index <= c.read.Index || strings.HasSuffix(strings.TrimSuffix(life.Takes, "?"), "Config")) {
			return life.Takes
		}
	}
	return ""
}

// Needs returns what the class checks once its keys are read.
func (c *Config) Needs(r Release) []Need {
	var needs []Need
	for _, need := range c.needs {
		if need.Contains(r) && r.Index <= c.read.Index {
			needs = append(needs, need)
		}
	}
	return needs
}

// Same reports whether all that is known of the object, and of those inside it,
// is the same in two releases.
func (c *Config) Same(a, b Release) bool {
	first, last := min(a.Index, b.Index), max(a.Index, b.Index)
	for _, change := range c.changes {
		if first < change && change <= last {
			return false
		}
	}
	return true
}

// findChanges notes the releases, by index, in which something about an object
// begins or has ended, for each object together with those inside it.
func findChanges(configs map[string]*Config) {
	own := map[*Config][]int{}
	for _, c := range configs {
		changes := []int{c.read.Index + 1}
		bound := func(life Life) { changes = append(changes, life.Since.Index, life.Until.Index+1) }
		for _, life := range c.strict {
			bound(life)
		}
		for _, lives := range c.keys {
			for _, life := range lives {
				bound(life.Life)
			}
		}
		for _, need := range c.needs {
			bound(need.Life)
		}
		slices.Sort(changes)
		own[c] = slices.Compact(changes)
	}
	for c := range own {
		c.changes = own[c]
		for _, inner := range c.inner(configs, nil) {
			c.changes = append(c.changes, own[inner]...)
		}
		slices.Sort(c.changes)
		c.changes = slices.Compact(c.changes)
	}
}

// inner returns the objects that keys take, at any depth, behind those found.
func (c *Config) inner(configs map[string]*Config, found []*Config) []*Config {
	for _, lives := range c.keys {
		for _, life := range lives {
			inner, ok := configs[strings.TrimSuffix(life.Takes, "?")]
			if ok && !slices.Contains(found, inner) {
				found = inner.inner(configs, append(found, inner))
			}
		}
	}
	return found
}
