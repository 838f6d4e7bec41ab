package argv

import (
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/trimtab/trimtab/internal/catalogue"
	"github.com/trimtab/trimtab/internal/setting"
)

// Reader reads one line at several releases. Where a release answers every
// question that an earlier reading asked of its options as that release did,
// the reading is the same and is not done again. It is safe for use by several
// goroutines.
type Reader struct {
	engine *catalogue.Engine
	mode   Mode
	words  []setting.Word
	read   ReadFile

	mu       sync.Mutex
	readings []reading
}

// reading is a line with all that it was concluded from, besides the words.
type reading struct {
	grammar *grammar
	asked   *asked
	line    Line
}

// NewReader returns a reader of the words behind a program's name. The file of
// --config is read by read, which may be nil, with the same answer at each call.
func NewReader(e *catalogue.Engine, mode Mode, words []setting.Word, read ReadFile) *Reader {
	return &Reader{engine: e, mode: mode, words: words, read: read}
}

// At returns what Parse does for a release. The caller may write to the
// settings.
func (r *Reader) At(release catalogue.Release) Line {
	r.mu.Lock()
	defer r.mu.Unlock()
	g := grammarOf(r.engine, release, r.mode)
	for i := len(r.readings) - 1; i >= 0; i-- {
		if known := &r.readings[i]; known.holdsFor(g) {
			return known.at(g)
		}
	}
	recorded := *g
	questions := &asked{table: g.options}
	recorded.options = questions
	known := reading{g, questions, recorded.parse(r.words, r.read)}
	r.readings = append(r.readings, known)
	return known.at(g)
}

// at returns the line of a reading for a release it holds for.
func (r *reading) at(g *grammar) Line {
	line := r.line
	line.Settings = slices.Clone(line.Settings)
	if r.grammar != g && slices.ContainsFunc(line.Problems, func(p Problem) bool { return p.unnamed != "" }) {
		line.Problems = slices.Clone(line.Problems)
		for i, problem := range line.Problems {
			if problem.unnamed != "" {
				line.Problems[i].Message = problem.unnamed + g.name()
			}
		}
	}
	return line
}

// holdsFor reports whether a grammar leads to the same reading: the same
// dialect, demands and JSON keys, and the same answers about options.
func (r *reading) holdsFor(g *grammar) bool {
	if r.grammar == g {
		return true
	}
	a := r.asked
	return !a.named && r.grammar.dialect == g.dialect && r.sameDemands(g) &&
		!slices.ContainsFunc(a.configs, func(c *catalogue.Config) bool { return !c.Same(r.grammar.release, g.release) }) && a.sameAs(g)
}

// sameDemands reports whether the options that are given start the same demands.
func (r *reading) sameDemands(g *grammar) bool {
	return r.grammar.demanded == g.demanded || r.started(r.grammar) == r.started(g)
}

func (r *reading) started(g *grammar) string {
	started := ""
	for _, d := range g.demands {
		for i := range r.line.Settings {
			if base, _, _ := strings.Cut(r.line.Settings[i].Name, "."); base == d.when[0].flag {
				started += d.why
				break
			}
		}
	}
	return started
}

// asked is a table that remembers what it was asked and what it said.
type asked struct {
	table
	lookups   []lookup
	spellings []spelling
	passed    []passed
	named     bool                // a message that is not its Problem's alone names the release
	refused   bool                // a message may name what an option takes
	configs   []*catalogue.Config // whose keys were looked at
}

// passed is a value that an option took.
type passed struct {
	option *catalogue.Option
	text   string
}

type lookup struct {
	spelled string
	option  *catalogue.Option
}

type spelling struct {
	prefix string
	found  []string
}

// Lookup asks the table and remembers the answer.
func (a *asked) Lookup(spelled string) *catalogue.Option {
	option := a.table.Lookup(spelled)
	a.lookups = append(a.lookups, lookup{spelled, option})
	return option
}

// Spellings asks the table and remembers the answer.
func (a *asked) Spellings(prefix string) []string {
	found := a.table.Spellings(prefix)
	a.spellings = append(a.spellings, spelling{prefix, found})
	return found
}

func (a *asked) sameAs(g *grammar) bool {
	for _, l := range a.lookups {
		option := g.options.Lookup(l.spelled)
		if option != l.option && (a.refused || !alike(option, l.option)) {
			return false
		}
	}
	for _, s := range a.spellings {
		if !slices.Equal(g.options.Spellings(s.prefix), s.found) {
			return false
		}
	}
	p := &parser{grammar: g}
	for _, v := range a.passed {
		if option := g.options.Lookup(v.option.Names[0]); option != v.option && p.checkText(option, v.text) != nil {
			return false
		}
	}
	return true
}

// alike reports whether two options are read alike, but for the values they
// take of their type.
func alike(a, b *catalogue.Option) bool {
	return a != nil && b != nil && a.Flag == b.Flag && a.Key == b.Key && a.Action == b.Action && a.Type == b.Type &&
		a.NArgs == b.NArgs && a.Suffixes == b.Suffixes && slices.Equal(a.Names, b.Names) && reflect.DeepEqual(a.Default, b.Default)
}

// note lets a reader remember something about a reading.
func (p *parser) note(remember func(*asked)) {
	if a, ok := p.options.(*asked); ok {
		remember(a)
	}
}

// releaseName returns the release for a message that holds for it alone.
func (p *parser) releaseName() string {
	p.note(func(a *asked) { a.named = true })
	return p.name()
}

// name is how messages name the release.
func (g *grammar) name() string { return g.engine.Name + " " + g.release.Version }
