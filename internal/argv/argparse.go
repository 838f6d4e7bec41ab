package argv

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/trimtab/trimtab/internal/catalogue"
)

// class is what argparse makes of a token before it gives values to options.
type class struct {
	kind     byte // 'O' option, 'A' argument, '-' for --
	known    bool
	option   *catalogue.Option
	matched  string // the spelling that was meant
	value    string
	attached bool // value was given by = or directly behind a short option
	reported bool // ambiguous
}

// help is the option every argparse parser has.
var help = &catalogue.Option{Flag: "--help", Key: "help", Names: []string{"--help", "-h"}, Action: "help", HasDefault: false}

func (p *parser) lookup(spelled string) *catalogue.Option {
	if spelled == "--help" || spelled == "-h" {
		return help
	}
	return p.options.Lookup(spelled)
}

// serveOnly are the options that vLLM's API server did not share with
// `vllm serve` at first.
var serveOnly = []string{"--headless", "--data-parallel-start-rank", "--api-server-count", "--config"}

// classify decides for each token whether it is an option; behind -- nothing is.
func (p *parser) classify() {
	p.classes = slices.Grow(p.classes, len(p.tokens))[:len(p.tokens)]
	for i, t := range p.tokens {
		if t.text == "--" && !t.unknown && t.dotted == nil {
			p.classes[i] = class{kind: '-'}
			for j := i + 1; j < len(p.tokens); j++ {
				p.classes[j] = class{kind: 'A'}
			}
			return
		}
		p.classes[i] = p.classOf(t)
	}
}

func (p *parser) classOf(t token) class {
	text := t.text
	if len(text) < 2 || text[0] != '-' {
		return class{kind: 'A'}
	}
	if option := p.lookup(text); option != nil {
		return class{kind: 'O', known: true, option: option, matched: text}
	}
	name, value, attached := strings.Cut(text, "=")
	if attached {
		if option := p.lookup(name); option != nil {
			return class{kind: 'O', known: true, option: option, matched: name, value: value, attached: true}
		}
	}
	matches := p.matches(text)
	switch {
	case len(matches) == 1:
		return matches[0]
	case len(matches) > 1 && t.unknown:
		return class{kind: 'O'}
	case len(matches) > 1:
		c := class{kind: 'O', reported: true}
		problem := Problem{Kind: Ambiguous, Flag: name, Setting: NoSetting}
		for _, match := range matches {
			problem.Candidates = append(problem.Candidates, match.matched)
		}
		problem.Message = "`" + name + "` is a prefix of several options: " + few(problem.Candidates)
		p.report(ambiguities, problem, t.words...)
		return c
	}
	if isNegativeNumber(text) || strings.Contains(text, " ") {
		return class{kind: 'A'}
	}
	return class{kind: 'O'}
}

// matches returns what a word can mean that is no exact name: a prefix of long
// names, or a one-letter option with its value attached.
func (p *parser) matches(text string) []class {
	var found []class
	add := func(spelled, value string, attached bool) {
		if option := p.lookup(spelled); option != nil {
			found = append(found, class{kind: 'O', known: true, option: option, matched: spelled, value: value, attached: attached})
		}
	}
	prefix, value, attached := text, "", false
	if strings.HasPrefix(text, "--") {
		prefix, value, attached = strings.Cut(text, "=")
	} else {
		_, size := utf8.DecodeRuneInString(text[1:])
		add(text[:1+size], text[1+size:], true)
	}
	for _, spelled := range p.options.Spellings(prefix) {
		add(spelled, value, attached)
	}
	if strings.HasPrefix("--help", prefix) {
		add("--help", value, attached)
	}
	return found
}

func isNegativeNumber(text string) bool {
	digits := strings.TrimPrefix(text, "-")
	whole, fraction, dotted := strings.Cut(digits, ".")
	if !dotted {
		return isDigits(whole) && whole != ""
	}
	return isDigits(whole) && isDigits(fraction) && fraction != ""
}

// consume gives arguments to options and the model, as argparse does: what
// stands before the next option goes to the positional, the rest is extra.
func (p *parser) consume() {
	p.model = !p.dialect.modelPositional
	i := 0
	for i < len(p.tokens) {
		next := p.nextOption(i)
		if next == len(p.tokens) {
			break
		}
		if i != next {
			if end := p.positional(i); end > i {
				i = end
				continue
			}
			for ; i < next; i++ {
				p.extras = append(p.extras, i)
			}
		}
		i = p.optional(i)
	}
	for i = p.positional(i); i < len(p.tokens); i++ {
		p.extras = append(p.extras, i)
	}
}

func (p *parser) nextOption(from int) int {
	for i := from; i < len(p.classes); i++ {
		if p.classes[i].kind == 'O' {
			return i
		}
	}
	return len(p.classes)
}

// positional fills the model from the tokens at i and returns the index behind
// them; dashes around it are eaten.
func (p *parser) positional(i int) int {
	if p.model {
		return i
	}
	end := i
	for end < len(p.classes) && p.classes[end].kind == '-' {
		end++
	}
	found := end < len(p.classes) && p.classes[end].kind == 'A'
	if !found && p.dialect.modelDemanded {
		return i
	}
	if found {
		end++
	}
	for end < len(p.classes) && p.classes[end].kind == '-' {
		end++
	}
	p.model = true
	p.takeModel(p.tokens[i:end])
	return end
}

// optional gives the option at i its values and returns the index behind them.
func (p *parser) optional(i int) int {
	c := p.classes[i]
	if !c.known {
		p.extras = append(p.extras, i)
		return i + 1
	}
	end := i + 1
	if !c.attached {
		_, most := valueCounts(c.option)
		for end < len(p.classes) && p.classes[end].kind == 'A' && end-i <= most {
			end++
		}
	}
	p.take(c, p.tokens[i], p.tokens[i+1:end])
	return end
}

// many is more values than a line has words.
const many = 1 << 30

// valueCounts returns how many values an option takes, at least and at most.
func valueCounts(o *catalogue.Option) (least, most int) {
	switch {
	case o.IsSwitch() || o.Action == "help":
		return 0, 0
	case o.NArgs == "":
		return 1, 1
	case o.NArgs == "?":
		return 0, 1
	case o.NArgs == "*":
		return 0, many
	case o.NArgs == "+":
		return 1, many
	}
	count, err := strconv.Atoi(o.NArgs)
	if err != nil {
		return 0, many // REMAINDER and the like
	}
	return count, count
}

// isRepeatable reports whether each occurrence of an option counts.
func isRepeatable(o *catalogue.Option) bool {
	return o.Action == "append" || o.Action == "ignored"
}

// few prints some of many names.
func few(names []string) string {
	const most = 12
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return strings.Join(names[:most], ", ") + ", …"
}
