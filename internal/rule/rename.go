package rule

import (
	"slices"
	"strings"

	"github.com/trimtab/trimtab/internal/argv"
	"github.com/trimtab/trimtab/internal/catalogue"
	"github.com/trimtab/trimtab/internal/engine"
	"github.com/trimtab/trimtab/internal/finding"
	"github.com/trimtab/trimtab/internal/setting"
)

// Rename is an option of a command line that is written another way.
type Rename struct {
	Fact *engine.Fact
	// Word is the index of the word that names the option.
	Word int
	// Texts are the new texts of words, by index; nil where the word goes. The
	// map is empty where the new form does not mean the same.
	Texts map[int]*string
	// model is what must be the model afterwards; empty where it is no matter.
	model string
}

// Edits make the rename in the manifest; none where it cannot be made.
func (r Rename) Edits(words []setting.Word) []finding.Edit {
	var edits []finding.Edit
	for i := r.Word; i < len(words) && len(edits) < len(r.Texts); i++ {
		text, changes := r.Texts[i]
		switch {
		case !changes:
		case text == nil:
			edits = append(edits, finding.Edit{Action: finding.Remove, Path: words[i].Origin.Path})
		default:
			edits = append(edits, finding.Edit{Action: finding.Set, Path: words[i].Origin.Path, Value: *text})
		}
	}
	return edits
}

// Proposed is the new form as it will stand in the manifest.
func (r Rename) Proposed() string {
	if text := r.Texts[r.Word]; text != nil {
		return *text
	}
	if r.model != "" {
		return r.model
	}
	return r.Fact.Renaming.To
}

// renames finds the options of a line that facts name another form for: those
// the release no longer knows, and those it warns of.
func (r *Reader) renames(release catalogue.Release, line argv.Line) []Rename {
	var found []Rename
	for i, word := range r.words {
		if word.Text == "--" {
			break
		}
		if word.Unknown || !strings.HasPrefix(word.Text, "--") {
			continue
		}
		spelled, _, _ := strings.Cut(word.Text, "=")
		fact := r.knowledge.Renaming(r.plain(spelled), string(r.mode), release)
		if fact == nil {
			continue
		}
		if owner := line.Owners[i]; owner != argv.NoSetting && !r.outdated(release, line, line.Settings[owner], word, fact) {
			continue
		}
		found = append(found, r.rename(fact, line, i))
	}
	return found
}

// plain is a spelling as the engine looks it up: vLLM takes underscores for
// dashes.
func (r *Reader) plain(spelled string) string {
	if r.engine.Name == "vllm" {
		return strings.ReplaceAll(spelled, "_", "-")
	}
	return spelled
}

// outdated tells whether an option that the release still takes is to be
// written another way: it warns of it, or the parser refuses it at this place.
func (r *Reader) outdated(release catalogue.Release, line argv.Line, owner setting.Setting, word setting.Word, fact *engine.Fact) bool {
	if owner.Origin.String() != word.Origin.String() {
		return false // a value that looks like an option
	}
	option, ok := r.engine.Option(owner.Name, release)
	refused := slices.ContainsFunc(line.Problems, func(p argv.Problem) bool { return p.Kind == argv.Refused && p.Flag == owner.Name })
	return ok && option.Deprecated || fact.Renaming.Deprecated || refused
}

// rename works out the new texts of an option.
func (r *Reader) rename(fact *engine.Fact, line argv.Line, at int) Rename {
	rename := Rename{Fact: fact, Word: at}
	if !fact.Renaming.Same || !fact.Verified() {
		return rename
	}
	indexes := []int{at}
	attached := strings.Contains(r.words[at].Text, "=")
	mapsValue := len(fact.Renaming.Values) > 0 || fact.Renaming.Positional
	if mapsValue && !attached && at+1 < len(r.words) {
		indexes = append(indexes, at+1)
	}
	var words []string
	for _, i := range indexes {
		if r.words[i].Unknown || !r.ownNode(i) {
			return rename
		}
		words = append(words, r.words[i].Text)
	}
	texts, ok := fact.Renaming.Rewrite(words)
	if !ok {
		return rename
	}
	rename.Texts = map[int]*string{}
	for n, i := range indexes {
		if texts[n] == nil || *texts[n] != r.words[i].Text {
			rename.Texts[i] = texts[n]
		}
	}
	if fact.Renaming.Positional {
		rename.model = *texts[len(texts)-1]
	}
	return rename
}

// ownNode tells whether a word is an element of a list by itself, not a part of
// a text nor what an operator makes of a field.
func (r *Reader) ownNode(at int) bool {
	origin := r.words[at].Origin
	if origin.Kind != setting.Argument || origin.Path == nil {
		return false
	}
	for i, other := range r.words {
		if i != at && other.Origin.String() == origin.String() {
			return false
		}
	}
	return true
}

// rewritten is a command line with the renames made; nil when there are none.
func rewritten(words []setting.Word, renames []Rename) []setting.Word {
	texts := map[int]*string{}
	for _, rename := range renames {
		for i, text := range rename.Texts {
			texts[i] = text
		}
	}
	if len(texts) == 0 {
		return nil
	}
	line := make([]setting.Word, 0, len(words))
	for i, word := range words {
		text, changes := texts[i]
		if changes && text == nil {
			continue
		}
		if changes {
			word.Text = *text
		}
		line = append(line, word)
	}
	return line
}
