package argv

import (
	"slices"
	"sync"

	"github.com/trimtab/trimtab/internal/catalogue"
)

// grammar is how one release reads a line for one program. It is made once and
// shared.
type grammar struct {
	options table
	engine  *catalogue.Engine
	release catalogue.Release
	mode    Mode
	dialect dialect
	// required are the options that must be given.
	required []string
	demands  []demand // those of the release
	// demanded tells lists of demands apart.
	demanded string
}

// table finds the options of a grammar.
type table interface {
	// Lookup returns the option that is spelled so, or nil.
	Lookup(spelled string) *catalogue.Option
	// Spellings returns what begins with a prefix, sorted.
	Spellings(prefix string) []string
}

// catalogued is the table of a release.
type catalogued struct {
	engine  *catalogue.Engine
	release catalogue.Release
	// without are options that the program does not share.
	without []string
}

// Lookup returns the option that the release spells so, or nil where it has none
// or the program does not share it.
func (c catalogued) Lookup(spelled string) *catalogue.Option {
	option := c.engine.Lookup(spelled, c.release)
	if option != nil && len(c.without) > 0 && slices.Contains(c.without, option.Flag) {
		return nil
	}
	return option
}

// Spellings returns the spellings of the release that begin with a prefix, sorted;
// those of options that the program does not share are among them.
func (c catalogued) Spellings(prefix string) []string {
	return c.engine.Spellings(prefix, c.release)
}

type grammarKey struct {
	engine  *catalogue.Engine
	release int
	mode    Mode
}

var grammars sync.Map // grammarKey → *grammar

func grammarOf(e *catalogue.Engine, r catalogue.Release, mode Mode) *grammar {
	key := grammarKey{e, r.Index, mode}
	if known, ok := grammars.Load(key); ok {
		return known.(*grammar)
	}
	g := &grammar{engine: e, release: r, mode: mode, dialect: dialectOf(e, r, mode)}
	options := catalogued{engine: e, release: r}
	if g.dialect.serveOnly && mode == API {
		options.without = serveOnly
	}
	g.options = options
	if g.dialect.vllm {
		g.demands = demandsAt(e, r)
		for _, d := range g.demands {
			g.demanded += d.why
		}
	} else {
		g.required = []string{"--model-path"}
	}
	known, _ := grammars.LoadOrStore(key, g)
	return known.(*grammar)
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
	pythonObjects   bool // --compilation-config is a dictionary of Python
	namesLogLevel   bool // the log level must be one of Python's

	fileLists    bool // a list in the file of --config is several words
	fileObjects  bool // … an object is JSON, where both were texts of Python
	fileOff      bool // … false is --no-x
	fileByAction bool // … true is a word where the option is no switch

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
		return dialect{
			namesLogLevel: since("0.5.11"), strictLists: true,
			fileLists: true, fileObjects: since("0.5.14"), fileByAction: since("0.5.8"),
		}
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
		pythonObjects:   !since("0.9.0"),
		noneIsNoChoice:  since("0.8.5"),
		noneIsChoice:    since("0.31.0"),
		expandsNumbers:  since("0.20.0"),
		fileLists:       since("0.10.2"),
		fileObjects:     since("0.16.0"),
		fileOff:         since("0.28.0"),
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
