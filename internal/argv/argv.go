// Package argv reads a server's command line as the engine's own parser would:
// argparse, with what vLLM and SGLang add to it, driven by the catalogue of
// one release. Words come in; settings in canonical form go out, with the words
// nobody took and what the engine would say against the line. It is lossless:
// each word belongs to exactly one setting or is a stray. It knows no YAML and
// does not know what a setting does.
package argv

import (
	"slices"
	"sync"

	"github.com/trimtab/trimtab/internal/catalogue"
	"github.com/trimtab/trimtab/internal/setting"
)

// Mode is the program that reads the line.
type Mode string

// The programs. Serve is `vllm serve MODEL` or `sglang serve`; API is
// `python -m vllm.entrypoints.openai.api_server`; Launch is
// `python -m sglang.launch_server`.
const (
	Launch Mode = "launch"
	Serve  Mode = "serve"
	API    Mode = "api"
)

// Kind is what the parser says against a line.
type Kind string

// The kinds of problems.
const (
	Unknown         Kind = "unknown"          // no such option in this release
	Stray           Kind = "stray"            // a word that belongs to no option
	Ambiguous       Kind = "ambiguous"        // a prefix of several options
	MissingValue    Kind = "missing-value"    // an option without the value it needs
	UnexpectedValue Kind = "unexpected-value" // --switch=value
	BadValue        Kind = "bad-value"        // not of the option's type
	BadChoice       Kind = "bad-choice"       // not one of the option's choices
	MissingOption   Kind = "missing-option"   // a required option or the model is absent
	Refused         Kind = "refused"          // the engine's own check before or after the parser
)

// NoSetting is the owner of a word that no setting took.
const NoSetting = -1

// Problem is one thing the engine would refuse the line for.
type Problem struct {
	Kind Kind
	// Flag is the option's canonical name, or the word as the engine names it;
	// "" where the engine names none.
	Flag string
	// Value is the offending value, if one is.
	Value string
	// Candidates are the spellings an ambiguous prefix could mean, or the
	// choices of the option.
	Candidates []string
	// Message is what is wrong, in one line.
	Message string
	// Words are the words concerned.
	Words []setting.Word
	// Setting is the index in Line.Settings, or NoSetting.
	Setting int

	// unnamed is the message without the release that it ends in, if it does.
	unnamed string
}

// Line is a command line as the engine reads it.
type Line struct {
	// Settings stand in the order in which they are written. Repeated ones are
	// Overridden, all but the one that wins.
	Settings []setting.Setting
	// Stray are the words nobody took.
	Stray []setting.Word
	// Problems stand in the order in which the engine would report them; it
	// reports the first alone.
	Problems []Problem
	// Owners holds, for each word given and behind them for each word of the
	// file that --config names, the index of its setting, or NoSetting.
	Owners []int
	// Opaque is true when a word that is decided outside the manifest stands
	// where options could be, or a file holds more of them that is not known:
	// there may be more settings than are seen here.
	Opaque bool
}

// Parse reads the words behind the program's name. Where a release cannot read
// a word it is a stray with a problem; nothing is lost and nothing panics.
func Parse(e *catalogue.Engine, r catalogue.Release, mode Mode, words []setting.Word) Line {
	return grammarOf(e, r, mode).parse(words, nil)
}

func (g *grammar) parse(words []setting.Word, read ReadFile) Line {
	s := scratches.Get().(*scratch)
	p := &parser{grammar: g, words: words, took: s.took, classes: s.classes}
	p.texts = make([]string, 0, len(words))
	p.places = make([]setting.Path, 0, len(words))
	p.line.Owners = make([]int, len(words))
	p.indices = make([]int, len(words))
	s.tokens = slices.Grow(s.tokens, len(words))[:len(words)]
	p.tokens = s.tokens
	for i := range words {
		p.line.Owners[i] = NoSetting
		p.indices[i] = i
		p.tokens[i] = token{text: words[i].Text, words: p.indices[i : i+1 : i+1], unknown: words[i].Unknown}
	}
	p.prepare(read)
	p.classify()
	p.consume()
	p.finish()
	s.keep(p)
	return p.line
}

// scratch is what a reading needs only while it goes on; it serves the next one.
type scratch struct {
	tokens  []token
	took    []taken
	classes []class
}

var scratches = sync.Pool{New: func() any { return &scratch{} }}

// keep gives back what a parser used, without what it points to.
func (s *scratch) keep(p *parser) {
	clear(s.tokens)
	clear(p.took)
	clear(p.classes)
	s.tokens, s.took, s.classes = s.tokens[:0], p.took[:0], p.classes[:0]
	scratches.Put(s)
}

// stage orders problems as the engine meets them.
type stage int

const (
	beforeParser stage = iota
	ambiguities
	values
	required
	unrecognized
	afterParser
)

// parser is the state of reading one line.
type parser struct {
	*grammar
	words   []setting.Word
	indices []int // 0, 1, …: words that stand together share it
	texts   []string
	places  []setting.Path

	tokens  []token
	classes []class
	extras  []int // tokens nobody took
	model   bool  // the positional model is filled or needs no filling
	took    []taken
	reports [afterParser + 1][]Problem
	line    Line
}

// token is one text as argparse sees it: a word, a part of one, or JSON built
// from several.
type token struct {
	text    string
	words   []int // indices of the words it is made of
	unknown bool
	spelled string      // the option as written, where the text does not tell
	dotted  []dottedKey // JSON built from --a.b v
	// nameOnly is --a of --a.b v: its words are those of the JSON behind it.
	nameOnly bool
}

// dottedKey is one --a.b v.
type dottedKey struct {
	path    string // b
	spelled string // --a.b as written
	value   string
	words   []int
	unknown bool
}

// taken is a setting before it gets its place in the line.
type taken struct {
	setting    setting.Setting
	words      []int
	group      string // of dotted keys that make one JSON value
	of         string // the option of those
	json       string // the value they make
	positional bool
	repeatable bool // each occurrence counts
}

// join appends words to words; what stands together in the line is not copied.
func (p *parser) join(words, more []int) []int {
	if len(words) == 0 {
		return more
	}
	if len(more) == 0 {
		return words
	}
	first, last := words[0], more[len(more)-1]
	if words[len(words)-1] == first+len(words)-1 && more[0] == first+len(words) && last == more[0]+len(more)-1 {
		return p.indices[first : last+1 : last+1]
	}
	return append(slices.Clip(words), more...)
}

func (p *parser) report(s stage, problem Problem, words ...int) {
	for _, i := range words {
		problem.Words = append(problem.Words, p.words[i])
	}
	p.reports[s] = append(p.reports[s], problem)
}
