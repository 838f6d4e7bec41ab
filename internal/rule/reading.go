package rule

import (
	"slices"
	"strings"

	"github.com/trimtab/trimtab/internal/argv"
	"github.com/trimtab/trimtab/internal/catalogue"
	"github.com/trimtab/trimtab/internal/engine"
	"github.com/trimtab/trimtab/internal/setting"
)

// Reading is a server's settings as one release reads them.
type Reading struct {
	// Words are the command line, Line is what the release makes of it.
	Words []setting.Word
	Line  argv.Line
	// Renames are the options of the line that are written another way.
	Renames []Rename
	// Settings are those of the command line in its newest form, with all renames
	// made that mean the same, then the variables.
	Settings []setting.Setting
	// Opaque names what keeps the rest of the command line from being known;
	// empty when every word is.
	Opaque string
	// Refused is true when the line is opaque only because the parser refuses it:
	// every word of it is seen.
	Refused bool
}

// Written are the settings as they stand in the manifest: those of the command
// line under the names it has, then the variables.
func (r Reading) Written() []setting.Setting {
	isVariable := func(s setting.Setting) bool { return s.Origin.Kind == setting.Env }
	first := slices.IndexFunc(r.Settings, isVariable)
	if first < 0 {
		return r.Line.Settings
	}
	return slices.Concat(r.Line.Settings, r.Settings[first:])
}

// Reader reads the command line of a server at a release.
type Reader struct {
	engine    *catalogue.Engine
	knowledge *engine.Knowledge
	mode      argv.Mode
	words     []setting.Word
	files     argv.ReadFile
	written   *argv.Reader
	// renamed are the readers of the line with renames made, by its text.
	renamed map[string]*argv.Reader
}

// NewReader returns a reader of the words behind a program's name; files reads
// what --config names.
func NewReader(e *catalogue.Engine, k *engine.Knowledge, mode argv.Mode, words []setting.Word, files argv.ReadFile) *Reader {
	return &Reader{
		engine: e, knowledge: k, mode: mode, words: words, files: files,
		written: argv.NewReader(e, mode, words, files), renamed: map[string]*argv.Reader{},
	}
}

// Read parses the command line as a release does: as it is written, and with
// the options renamed that have another name of the same meaning. The second
// line is what a server runs whose manifest is up to date.
func (r *Reader) Read(release catalogue.Release) (written Reading, renamed argv.Line) {
	line := r.written.At(release)
	written = Reading{Words: r.words, Line: line, Renames: r.renames(release, line)}
	words := rewritten(r.words, written.Renames)
	if words == nil {
		return written, line
	}
	renamed = r.rewrittenAt(release, words)
	if readsOtherwise(line, renamed, written.Renames) {
		for i := range written.Renames {
			written.Renames[i].Texts = nil
		}
		return written, line
	}
	return written, renamed
}

func (r *Reader) rewrittenAt(release catalogue.Release, words []setting.Word) argv.Line {
	var text strings.Builder
	for _, word := range words {
		text.WriteString(word.Text + "\x00")
	}
	known := r.renamed[text.String()]
	if known == nil {
		known = argv.NewReader(r.engine, r.mode, words, r.files)
		r.renamed[text.String()] = known
	}
	return known.At(release)
}

// readsOtherwise tells whether a line with renamed options says more than that:
// the parser refuses it for another reason, or something else is overridden.
func readsOtherwise(before, after argv.Line, renames []Rename) bool {
	for _, problem := range after.Problems {
		if !slices.ContainsFunc(before.Problems, func(p argv.Problem) bool { return p.Kind == problem.Kind && p.Flag == problem.Flag }) {
			return true
		}
	}
	lost := func(line argv.Line) (n int) {
		for _, s := range line.Settings {
			if s.Overridden {
				n++
			}
		}
		return n
	}
	if lost(after) > lost(before) {
		return true
	}
	for _, rename := range renames {
		if rename.model == "" {
			continue
		}
		isModel := func(s setting.Setting) bool {
			return s.Name == "--model" && !s.Overridden && s.Value() == rename.model
		}
		if !slices.ContainsFunc(after.Settings, isModel) {
			return true
		}
	}
	return false
}
