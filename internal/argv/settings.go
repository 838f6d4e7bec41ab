package argv

import (
	"fmt"
	"slices"
	"strings"

	"github.com/trimtab/trimtab/internal/setting"
)

// take makes a setting of an option and its values.
func (p *parser) take(c class, t token, args []token) {
	words := t.words
	if c.attached {
		args = []token{{text: c.value, unknown: t.unknown}}
	}
	if len(args) == 1 && args[0].dotted != nil {
		p.takeDotted(c, args[0])
		return
	}
	s := setting.Setting{Name: c.option.Flag, Key: c.option.Key, Spelled: p.spelled(t), Off: c.option.TurnsOff(c.matched)}
	if c.attached && !strings.HasPrefix(c.matched, "--") && t.spelled == "" && !strings.HasPrefix(t.text, c.matched+"=") {
		s.Spelled = c.matched // -r8
	}
	first := len(p.texts)
	for _, arg := range args {
		if arg.nameOnly {
			continue // "-" of -0.5: read as a value, but no word of its own
		}
		p.texts = append(p.texts, arg.text)
		s.Unknown = s.Unknown || arg.unknown
		words = p.join(words, arg.words)
	}
	if len(p.texts) > first {
		s.Values = slices.Clip(p.texts[first:])
	}
	if len(words) == 0 {
		return // a switch spelled with dots: its JSON goes astray and is reported
	}
	p.took = append(p.took, taken{setting: s, words: words, repeatable: isRepeatable(c.option)})
	if problem := p.refused(c, s.Spelled, args); problem != nil {
		problem.Flag, problem.Setting = c.option.Names[0], len(p.took)-1
		p.report(values, *problem, words...)
	}
}

// refused says what is wrong with the values of an option, by count, type and
// choice.
func (p *parser) refused(c class, spelled string, args []token) *Problem {
	least, most := valueCounts(c.option)
	switch {
	case c.attached && most == 0:
		return &Problem{Kind: UnexpectedValue, Value: c.value, Message: "`" + spelled + "` is a switch: it takes no value"}
	case len(args) < least && least > 1:
		return &Problem{Kind: MissingValue, Message: fmt.Sprintf("`%s` needs %d values", spelled, least)}
	case len(args) < least:
		return &Problem{Kind: MissingValue, Message: "`" + spelled + "` needs a value"}
	case c.attached && c.value == "--":
		return nil // argparse drops the dashes and looks at nothing
	}
	return p.check(c.option, args)
}

// takeDotted makes a setting of each dotted key; together they are one value.
func (p *parser) takeDotted(c class, value token) {
	first := len(p.took)
	for _, key := range value.dotted {
		if len(key.words) == 0 {
			continue // -O-q.x=1: the word is taken by -O already
		}
		p.took = append(p.took, taken{
			setting: setting.Setting{
				Name: c.option.Flag + "." + strings.TrimSuffix(key.path, "+"), Key: c.option.Key + "." + strings.TrimSuffix(key.path, "+"),
				Spelled: key.spelled, Values: []string{key.value}, Unknown: key.unknown,
			},
			words: key.words, of: c.option.Flag, json: value.text, group: c.option.Key + " " + c.matched, repeatable: strings.HasSuffix(key.path, "+"),
		})
	}
	problem := Problem{Flag: c.option.Names[0], Setting: first}
	if first == len(p.took) {
		problem.Setting = NoSetting
	}
	if bad := p.check(c.option, []token{value}); bad != nil {
		problem.Kind, problem.Value, problem.Candidates, problem.Message = bad.Kind, bad.Value, bad.Candidates, bad.Message
		p.report(values, problem, value.words...)
	}
}

// takeModel makes a setting of the positional: a model, or only the dashes that
// argparse eats around it.
func (p *parser) takeModel(tokens []token) {
	var words []int
	var model *token
	dashes := false
	for i, t := range tokens {
		if t.text == "--" && !dashes {
			dashes = true
		} else {
			model = &tokens[i]
		}
		words = append(words, t.words...)
	}
	if model == nil || model.dotted != nil || model.nameOnly || len(words) == 0 {
		return // dashes alone, or what dotted keys were made into: no model
	}
	s := setting.Setting{Name: "--model", Key: "model", Spelled: model.spelled, Values: []string{model.text}, Unknown: model.unknown}
	if model.unknown && !slices.Contains(words, 0) {
		p.line.Opaque = true // it may as well hold options
	}
	p.took = append(p.took, taken{setting: s, words: words, positional: true})
}

// finish reports what only the end shows and puts settings and problems in
// their order.
func (p *parser) finish() {
	p.reportExtras()
	p.reportMissing()
	p.reportLogLevel()
	p.reportDemands()
	order := make([]int, len(p.took))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return slices.Min(p.took[a].words) - slices.Min(p.took[b].words) })
	place := make([]int, len(p.took))
	if len(order) > 0 {
		p.line.Settings = make([]setting.Setting, 0, len(order))
	}
	for at, i := range order {
		place[i] = at
		p.line.Settings = append(p.line.Settings, p.placed(p.took[i], at))
	}
	p.markOverridden(place)
	for i, owner := range p.line.Owners {
		if owner == NoSetting {
			p.line.Stray = append(p.line.Stray, p.words[i])
		}
	}
	for _, problems := range p.reports {
		for _, problem := range problems {
			if problem.Setting != NoSetting {
				problem.Setting = place[problem.Setting]
			}
			p.line.Problems = append(p.line.Problems, problem)
		}
	}
}

// placed completes a setting by where its words stand. Words of one node stand
// together.
func (p *parser) placed(t taken, at int) setting.Setting {
	s := t.setting
	slices.Sort(t.words)
	first := len(p.places)
	for i, index := range t.words {
		word := &p.words[index]
		p.line.Owners[index] = at
		if i == 0 {
			s.Origin = word.Origin
		}
		s.Needs = append(s.Needs, word.Needs...)
		if path := word.Origin.Path; path != nil && !slices.ContainsFunc(p.places[first:], func(known setting.Path) bool { return slices.Equal(known, path) }) {
			p.places = append(p.places, path)
		}
	}
	if len(p.places) > first {
		s.Places = slices.Clip(p.places[first:])
	}
	return s
}

// markOverridden marks settings that a later one replaces: another value of the
// same key, or the whole JSON value that dotted keys build, which the parser
// reads last.
func (p *parser) markOverridden(place []int) {
	winner := make(map[string]int, len(p.took)) // by key, the last in the order of reading
	var group map[string]string
	for i := range p.took {
		t := &p.took[i]
		if t.group != "" {
			if group == nil {
				group = map[string]string{}
			}
			group[t.base()] = t.group
		}
		if w, ok := winner[t.setting.Key]; ok && p.took[w].positional {
			continue // the positional wins over --model
		}
		winner[t.setting.Key] = i
	}
	for i := range p.took {
		t := &p.took[i]
		whole, dotted := group[t.base()]
		replaced := dotted && whole != t.group
		if replaced || !t.repeatable && winner[t.setting.Key] != i {
			p.line.Settings[place[i]].Overridden = true
		}
	}
}

// base is the key of the option that a setting is of, dotted keys or not.
func (t *taken) base() string {
	if t.group == "" {
		return t.setting.Key
	}
	base, _, _ := strings.Cut(t.group, " ")
	return base
}

// reportExtras reports the words nobody took: an option the release does not
// know together with the words behind it, or words that stand alone.
func (p *parser) reportExtras() {
	for n := 0; n < len(p.extras); n++ {
		i := p.extras[n]
		t, c := p.tokens[i], p.classes[i]
		if t.unknown {
			p.line.Opaque = true
			continue
		}
		words := slices.Clone(t.words)
		problem := Problem{Kind: Stray, Flag: t.text, Setting: NoSetting}
		if strings.HasPrefix(t.text, "--") {
			problem.Flag, _, _ = strings.Cut(t.text, "=")
		}
		if c.kind == 'O' {
			problem.Kind = Unknown
			problem.Flag, _, _ = strings.Cut(t.text, "=")
			for n+1 < len(p.extras) && p.extras[n+1] == p.extras[n]+1 && p.classes[p.extras[n+1]].kind == 'A' && !p.tokens[p.extras[n+1]].unknown {
				n++
				words = append(words, p.tokens[p.extras[n]].words...)
			}
		}
		if c.reported {
			continue
		}
		problem.Message = fmt.Sprintf("%q belongs to no option", problem.Flag)
		if c.kind == 'O' {
			problem.unnamed = fmt.Sprintf("%q is no option of ", problem.Flag)
			problem.Message = problem.unnamed + p.name()
		}
		p.report(unrecognized, problem, words...)
	}
}

// reportMissing reports options and the model that must be given and are not.
func (p *parser) reportMissing() {
	if p.line.Opaque {
		return
	}
	for _, flag := range p.required {
		option := p.lookup(flag)
		if option != nil && !slices.ContainsFunc(p.took, func(t taken) bool { return t.setting.Key == option.Key }) {
			p.report(required, Problem{Kind: MissingOption, Flag: option.Names[0], Setting: NoSetting, Message: "`" + option.Flag + "` is required"})
		}
	}
	if p.dialect.modelDemanded && !p.model {
		p.report(required, Problem{Kind: MissingOption, Flag: "model_tag", Setting: NoSetting, Message: "`vllm serve` needs a model"})
	}
}

// logLevels are the names Python's logging knows.
var logLevels = []string{"critical", "fatal", "error", "warning", "warn", "info", "debug", "notset"}

// reportLogLevel reports a level at which SGLang dies right behind its parser.
func (p *parser) reportLogLevel() {
	if !p.dialect.namesLogLevel {
		return
	}
	for i := len(p.took) - 1; i >= 0; i-- {
		s := p.took[i].setting
		if s.Name != "--log-level" {
			continue
		}
		if level := s.Value(); len(s.Values) > 0 && !s.Unknown && !slices.Contains(logLevels, strings.ToLower(level)) {
			p.report(afterParser, Problem{
				Kind: BadValue, Flag: s.Name, Value: level, Candidates: logLevels, Setting: i,
				Message: "`--log-level` takes one of " + strings.Join(logLevels, ", "),
			}, p.took[i].words...)
		}
		return // the last one counts
	}
}
