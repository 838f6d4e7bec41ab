// Package argv reads a server's command line as the engine's own parser would:
// argparse, with what vLLM and SGLang add to it, driven by the catalogue of
// one release. Words come in; settings in canonical form go out, with the words
// nobody took and what the engine would say against the line. It is lossless:
// each word belongs to exactly one setting or is a stray. It knows no YAML and
// does not know what a setting does.
package argv

import (
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
	// Owners holds, for each word given, the index of its setting, or NoSetting.
	Owners []int
	// Opaque is true when a word that is decided outside the manifest stands
	// where options could be: there may be more settings than are seen here.
	Opaque bool
}

// Parse reads the words behind the program's name. Where a release cannot read
// a word it is a stray with a problem; nothing is lost and nothing panics.
func Parse(e *catalogue.Engine, r catalogue.Release, mode Mode, words []setting.Word) Line {
	p := &parser{engine: e, release: r, mode: mode, words: words, dialect: dialectOf(e, r, mode)}
	p.line.Owners = make([]int, len(words))
	for i := range p.line.Owners {
		p.line.Owners[i] = NoSetting
	}
	p.tokens = make([]token, len(words))
	for i, word := range words {
		p.tokens[i] = token{text: word.Text, words: []int{i}, unknown: word.Unknown}
	}
	p.prepare()
	p.classify()
	p.consume()
	p.finish()
	return p.line
}

// dialect is what a release adds to argparse.
type dialect struct {
	vllm            bool
	dotted          bool // --a.b v builds JSON for --a
	dottedText      bool // … whose values are texts, and only for two dashes
	levelIsOption   bool // -O3 means --optimization-level 3
	levelIsDotted   bool // -O3 means -O.level=3
	levelTakesDots  bool // -O.x is a level, too
	modelMoved      bool // serve --model M is moved to the front
	modelFirst      bool // --served-model-name demands the model in front
	modelPositional bool // the model may stand without an option
	modelDemanded   bool // … and must
	serveOnly       bool // a few options are the serve command's alone
	unsetByText     bool // "None" and "" mean no value
	noneIsNoChoice  bool // … which no list of choices holds
	noneIsChoice    bool // … until lists hold no value itself
	expandsNumbers  bool // 80m in JSON is a number
	strictLists     bool // some JSON knows no NaN
	keyValues       bool // dictionaries may be written a=1,b=2
	namesLogLevel   bool // the log level must be one of Python's

	levelKey string // the key that -O3 sets where that is dotted
	// choicesBefore is the last release whose lists of choices hold no value
	// as the text "None".
	choicesBefore catalogue.Release
}

func dialectOf(e *catalogue.Engine, r catalogue.Release, mode Mode) dialect {
	since := func(version string) bool {
		first, ok := e.Find(version)
		return ok && r.Index >= first.Index
	}
	if e.Name != "vllm" {
		return dialect{namesLogLevel: since("0.5.11"), strictLists: true}
	}
	d := dialect{
		vllm:            true,
		dotted:          since("0.9.0"),
		dottedText:      since("0.9.0") && !since("0.9.2"),
		levelIsDotted:   since("0.9.2") && !since("0.12.0"),
		levelKey:        "level",
		levelIsOption:   since("0.12.0"),
		levelTakesDots:  since("0.13.0"),
		modelMoved:      since("0.11.1"),
		modelFirst:      since("0.17.0"),
		modelPositional: mode == Serve || since("0.10.0"),
		modelDemanded:   mode == Serve && !since("0.8.3"),
		serveOnly:       !since("0.10.0"),
		unsetByText:     since("0.9.0"),
		noneIsNoChoice:  since("0.8.5"),
		noneIsChoice:    since("0.31.0"),
		expandsNumbers:  since("0.20.0"),
		keyValues:       since("0.8.5") && !since("0.10.0"),
	}
	if since("0.11.1") {
		d.levelKey = "mode"
	}
	if first, ok := e.Find("0.31.0"); ok && first.Index > 0 {
		d.choicesBefore = e.Releases[first.Index-1]
	}
	return d
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
	engine  *catalogue.Engine
	release catalogue.Release
	mode    Mode
	dialect dialect
	words   []setting.Word

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

func (p *parser) report(s stage, problem Problem, words ...int) {
	for _, i := range words {
		problem.Words = append(problem.Words, p.words[i])
	}
	p.reports[s] = append(p.reports[s], problem)
}
