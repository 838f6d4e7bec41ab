package engine

import (
	"fmt"
	"strings"
	"sync"
)

// lazyEntry is the text of one entry of a fact file, decoded when it is asked
// for. The entries of the files are well-formed: a test decodes all.
type lazyEntry struct {
	engine, file, text string

	once       sync.Once
	fact       *Fact
	definition *definition
	err        error
}

func (e *lazyEntry) decode() error {
	e.once.Do(func() {
		facts, definitions, err := decode(e.engine, e.file, []byte(e.text))
		switch {
		case err != nil:
			e.err = fmt.Errorf("engines/%s: %w", e.file, err)
		case len(facts) == 1:
			e.fact = facts[0]
		case len(definitions) == 1:
			e.definition = definitions[0]
		}
	})
	return e.err
}

func (e *lazyEntry) asFact() *Fact {
	_ = e.decode() // see lazyEntry
	return e.fact
}

// splitEntries cuts a fact file at the list items that begin a line.
func splitEntries(text string) []string {
	var entries []string
	start := -1
	for at := 0; at < len(text); {
		end := len(text)
		if n := strings.IndexByte(text[at:], '\n'); n >= 0 {
			end = at + n + 1
		}
		if strings.HasPrefix(text[at:], "- ") {
			if start >= 0 {
				entries = append(entries, text[start:at])
			}
			start = at
		}
		at = end
	}
	if start >= 0 {
		entries = append(entries, text[start:])
	}
	return entries
}

// index files an entry under the names that it is about, without decoding it.
func (k *Knowledge) index(e *lazyEntry) {
	k.entries = append(k.entries, e)
	about, define, missing := e.head()
	for _, name := range about {
		k.bySetting[name] = append(k.bySetting[name], e)
		if flag, _, dotted := strings.Cut(name, "."); dotted {
			k.members[flag] = true
		}
	}
	if define != "" {
		k.byDefine[define] = append(k.byDefine[define], e)
	}
	if missing {
		k.missing = append(k.missing, e)
	}
}

// head reads off the text of an entry which settings it is about, which name it
// defines, and whether it tells of a setting that is missing.
func (e *lazyEntry) head() (about []string, define string, missing bool) {
	open := "" // what the names in the following lines are closed by
	for line := range strings.Lines(e.text) {
		field := strings.TrimRight(line, " \n")
		switch {
		case open == "]":
			about = append(about, namesOf(field)...)
		case open == "-" && strings.HasPrefix(field, "    - "):
			about = append(about, namesOf(field[6:])...)
			continue
		}
		if open == "]" && !strings.Contains(field, "]") {
			continue
		}
		open = ""
		if len(field) < 3 || field[0] != '-' && field[0] != ' ' || field[1] != ' ' || field[2] == ' ' {
			continue
		}
		key, value, _ := strings.Cut(field[2:], ":")
		switch value = strings.TrimSpace(value); key {
		case "setting":
			about = append(about, namesOf(value)...)
		case "settings":
			about = append(about, namesOf(value)...)
			if value == "" {
				open = "-"
			} else if !strings.Contains(value, "]") {
				open = "]"
			}
		case "define":
			define = value
		case "missing":
			missing = true
		}
	}
	return about, define, missing
}

// namesOf are the names in a list of one line, or a single one.
func namesOf(text string) []string {
	names := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune("[], ", r) })
	for i := range names {
		names[i] = strings.Trim(names[i], `"'`)
	}
	return names
}

// defined are the definitions of a derived name, in the order of the fact files.
func (k *Knowledge) defined(name string) []*definition {
	var all []*definition
	for _, entry := range k.byDefine[name] {
		if _ = entry.decode(); entry.definition != nil {
			all = append(all, entry.definition)
		}
	}
	return all
}

// absent are the facts about settings that should be there.
func (k *Knowledge) absent() []*Fact {
	var facts []*Fact
	for _, fact := range k.stated {
		if fact.Verb == Missing {
			facts = append(facts, fact)
		}
	}
	for _, entry := range k.missing {
		if fact := entry.asFact(); fact != nil && fact.Verb == Missing {
			facts = append(facts, fact)
		}
	}
	return facts
}
