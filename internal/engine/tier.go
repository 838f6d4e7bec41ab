package engine

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/trimtab/trimtab/internal/setting"
)

// Tier is a cache on disk that a setting names: what an engine, or a library it
// runs, writes there and what bounds it.
type Tier struct {
	// Name tells the tiers of a server apart: hicache. It is part of a job's name.
	Name string `yaml:"name"`
	// Directory is a CEL expression for the directory, or a list of them; empty
	// for the value of the setting.
	Directory string `yaml:"directory"`
	// Pages are globs of what the tier writes. Without a slash they name entries
	// of a directory whose siblings are its generations; the first is one that
	// every generation holds. With slashes they are paths below a directory that
	// holds nothing but pages, whichever engine wrote them.
	Pages []string `yaml:"pages"`
	// Partial is the glob of a page that is being written, or was when the engine
	// died; empty where the tier has none.
	Partial string `yaml:"partial"`
	// Trees is true where a page is a directory with all that lies in it.
	Trees bool `yaml:"trees"`
	// Bounded is a CEL condition under which the engine bounds what lies in the
	// directory itself; empty: never.
	Bounded string `yaml:"bounded"`
	// Compiled is true for compiled code, which no age makes worthless: only the
	// sets of other versions are superfluous.
	Compiled bool `yaml:"compiled"`
	// Reread is a CEL condition under which a later start reads what an earlier one
	// wrote; empty: always.
	Reread string `yaml:"reread"`
	// Lacks are what the names of the pages do not tell apart and the directory
	// must therefore: image, revision, or the key of a setting.
	Lacks []string `yaml:"lacks"`
	// Held says why nothing in the directory may be deleted while the server runs;
	// empty where a page that is gone is a miss.
	Held string `yaml:"held"`
}

func (t *Tier) complete() error {
	switch {
	case t.Name == "" || len(t.Pages) == 0:
		return errors.New("`tier` needs `name` and `pages`")
	case t.Flat() && (len(t.Pages) != 1 || t.Trees):
		return errors.New("`pages` with a slash is one path of files")
	case t.Partial != "" && t.Depth() != strings.Count(t.Partial, "/")+1:
		return errors.New("`partial` lies as deep as a page")
	}
	for _, glob := range append(slices.Clone(t.Pages), t.Partial) {
		if _, err := path.Match(glob, ""); err != nil || strings.ContainsAny(glob, " \t\n'\"\\$") {
			return fmt.Errorf("%q is no glob that find can be given", glob)
		}
	}
	return nil
}

// Flat tells whether the tier has no generations: all pages lie in one directory,
// or tree, whichever version of the engine wrote them.
func (t *Tier) Flat() bool { return strings.Contains(t.Pages[0], "/") }

// Depth is how many levels below the directory a page lies, from 1.
func (t *Tier) Depth() int { return strings.Count(t.Pages[0], "/") + 1 }

// expressions are the CEL texts of a tier; none of nil.
func (t *Tier) expressions() []string {
	if t == nil {
		return nil
	}
	return []string{t.Directory, t.Bounded, t.Reread}
}

// Directories are those that the setting names for the tier of its fact; false
// where one of them is not known, or is no text.
func (f *Fact) Directories(s *State, about setting.Setting) ([]string, bool) {
	out, err := s.evaluate(orValue(f.Tier.Directory), about)
	if err != nil || !out.Known {
		return nil, false
	}
	list, ok := out.Value.([]any)
	if !ok {
		list = []any{out.Value}
	}
	var directories []string
	for _, element := range list {
		text, ok := element.(string)
		if !ok {
			return nil, false
		}
		if text != "" && !slices.Contains(directories, text) {
			directories = append(directories, text)
		}
	}
	return directories, true
}

func orValue(expression string) string {
	if expression == "" {
		return "value"
	}
	return expression
}

// Bounded tells whether the engine bounds the tier of a fact by itself.
func (f *Fact) Bounded(s *State, about setting.Setting) Truth {
	return f.of(s, about, f.Tier.Bounded, False)
}

// Reread tells whether a later start reads what an earlier one wrote.
func (f *Fact) Reread(s *State, about setting.Setting) Truth {
	return f.of(s, about, f.Tier.Reread, True)
}

// of is the outcome of a condition about a tier; without one it is the default.
func (f *Fact) of(s *State, about setting.Setting, condition string, otherwise Truth) Truth {
	if condition == "" {
		return otherwise
	}
	out, err := s.evaluate(condition, about)
	if err != nil {
		return Unknown
	}
	truth, err := out.truth()
	if err != nil {
		return Unknown
	}
	return truth
}
