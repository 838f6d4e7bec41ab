package shell

import (
	"fmt"
	"regexp"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Parse reads the syntax of a script. What a plain sh cannot read is read as
// bash reads it: then sh is bash, or the script does not run at all. Text that
// is no script is an error that names the line, and one that may be nested
// deeper than the parser's stack holds is ErrIntricate.
func Parse(text string, dialect Dialect) (*syntax.File, Dialect, error) {
	if nests := nesting.FindAllStringIndex(text, mostNests+1); len(nests) > mostNests {
		return nil, dialect, ErrIntricate
	}
	variants := map[Dialect]syntax.LangVariant{POSIX: syntax.LangPOSIX, Bash: syntax.LangBash}
	var first error
	for spoken := dialect; spoken <= Bash; spoken++ {
		file, err := syntax.NewParser(syntax.KeepComments(true), syntax.Variant(variants[spoken])).Parse(strings.NewReader(text), "")
		if err == nil {
			return file, dialect, nil
		}
		if first == nil {
			first = err
		}
	}
	return nil, dialect, fmt.Errorf("the shell script does not parse, line:column %w", first)
}

// nesting is what can hold a further command, word or expression, and mostNests
// how many of them a script may have: each level of the parser takes some
// kilobytes of stack. Real scripts have some hundreds.
var nesting = regexp.MustCompile("[][({`$!<>|&^*+?~=-]|\\b(if|while|until|for|case|select|time|coproc|function|elif|eval)\\b")

const mostNests = 30_000
