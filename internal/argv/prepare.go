package argv

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/trimtab/trimtab/internal/setting"
)

// prepare does what the engines do to a line before argparse sees it.
func (p *parser) prepare(read ReadFile) {
	switch {
	case p.dialect.vllm && p.mode == Serve:
		p.moveModel()
	case !p.dialect.vllm && p.mode == Serve:
		p.prepareSGLangServe()
	}
	p.expandFile(read)
	if !p.dialect.vllm {
		return
	}
	p.normalize()
	if p.dialect.dotted {
		p.mergeDotted()
	}
}

// prepareSGLangServe takes --model-type out, which the command reads itself,
// and a first word without a dash, which is the model.
func (p *parser) prepareSGLangServe() {
	var rest []token
	for i := 0; i < len(p.tokens); i++ {
		t := p.tokens[i]
		value, attached := strings.CutPrefix(t.text, "--model-type=")
		switch {
		case attached:
			p.takeModelType([]string{value}, t)
		case t.text == "--model-type" && i+1 < len(p.tokens):
			i++
			p.takeModelType([]string{p.tokens[i].text}, t, p.tokens[i])
		case t.text == "--model-type":
			p.takeModelType(nil, t)
		default:
			rest = append(rest, t)
		}
	}
	p.tokens = rest
	if len(rest) > 0 && (rest[0].unknown || !strings.HasPrefix(rest[0].text, "-")) {
		p.tokens = slices.Insert(rest, 0, token{text: "--model-path"})
	}
}

func (p *parser) takeModelType(values []string, tokens ...token) {
	t := taken{setting: setting.Setting{Name: "--model-type", Key: "model_type", Spelled: "--model-type", Values: values}}
	for _, token := range tokens {
		t.words = append(t.words, token.words...)
		t.setting.Unknown = t.setting.Unknown || token.unknown
	}
	p.took = append(p.took, t)
	if t.setting.Unknown || len(values) > 0 && values[0] != "" {
		return
	}
	p.report(beforeParser, Problem{Kind: MissingValue, Flag: "--model-type", Setting: len(p.took) - 1, Message: "`--model-type` needs a value"}, t.words...)
}

// moveModel handles `vllm serve --model M`: refused up to 0.11.0, then moved in
// front of everything, as the positional.
func (p *parser) moveModel() {
	if i := slices.IndexFunc(p.tokens, isModelOption); i >= 0 {
		t := p.tokens[i]
		switch {
		case !p.dialect.modelMoved && t.text == "--model":
			p.report(beforeParser, Problem{Kind: Refused, Flag: "--model", Setting: NoSetting, Message: "`vllm serve` takes the model as its first word, not by `--model`"}, t.words...)
		case !p.dialect.modelMoved:
		case t.text == "--model" && (i+1 >= len(p.tokens) || strings.HasPrefix(p.tokens[i+1].text, "-") && !p.tokens[i+1].unknown):
			p.report(beforeParser, Problem{Kind: MissingValue, Flag: "--model", Setting: NoSetting, Message: "`--model` needs a value"}, t.words...)
		case t.text == "--model":
			model := p.tokens[i+1]
			model.spelled = "--model"
			model.words = append(slices.Clone(t.words), model.words...)
			p.tokens = slices.Insert(slices.Delete(slices.Clone(p.tokens), i, i+2), 0, model)
		default:
			model := token{text: strings.TrimPrefix(t.text, "--model="), words: t.words, unknown: t.unknown, spelled: "--model"}
			p.tokens = slices.Insert(slices.Delete(slices.Clone(p.tokens), i, i+1), 0, model)
		}
	}
	if !p.dialect.modelFirst || len(p.tokens) == 0 || p.tokens[0].unknown || !strings.HasPrefix(p.tokens[0].text, "-") {
		return
	}
	if slices.ContainsFunc(p.tokens, func(t token) bool { return isOption(t.text, "--config") }) {
		return
	}
	for _, t := range p.tokens {
		if isOption(strings.ReplaceAll(t.text, "_", "-"), "--served-model-name") {
			p.report(beforeParser, Problem{Kind: Refused, Flag: "", Setting: NoSetting, Message: "`vllm serve` with `--served-model-name` needs the model as its first word"}, t.words...)
			return
		}
	}
}

func isModelOption(t token) bool { return isOption(t.text, "--model") }

// isOption reports whether a word is an option, with or without =value.
func isOption(text, flag string) bool {
	rest, ok := strings.CutPrefix(text, flag)
	return ok && (rest == "" || len(rest) > 1 && rest[0] == '=')
}

// normalize turns underscores of long names into dashes and -O3 into what the
// release reads it as.
func (p *parser) normalize() {
	tokens := p.tokens[:0]
	for i, t := range p.tokens {
		if len(t.text) < 2 || t.text[0] != '-' {
			tokens = append(tokens, t)
			continue
		}
		name, value, attached := strings.Cut(t.text, "=")
		switch {
		case strings.HasPrefix(t.text, "--"):
			if strings.IndexByte(name, '_') >= 0 {
				t.text = p.dashed(name)
				if attached {
					t.text += "=" + value
				}
			}
		case t.text == "-O" && i+1 < len(p.tokens) && isLevel(p.tokens[i+1].text) && p.dialect.levelIsOption:
			t.text = "--optimization-level"
		case t.text == "-O" && i+1 < len(p.tokens) && isLevel(p.tokens[i+1].text) && p.dialect.levelIsDotted:
			t.text = "-O." + p.dialect.levelKey
		case strings.HasPrefix(t.text, "-O.") && p.dialect.levelIsOption && !p.dialect.levelTakesDots:
			t.text, t.spelled = "-cc."+t.text[len("-O."):], name
		case len(t.text) > 2 && strings.HasPrefix(t.text, "-O") && (t.text[2] != '.' || p.dialect.levelTakesDots):
			level := p.level(t)
			if len(level) > 1 && len(tokens) == i {
				tokens = slices.Clone(tokens) // the words behind are still to be read
			}
			tokens = append(tokens, level...)
			continue
		}
		tokens = append(tokens, t)
	}
	p.tokens = tokens
}

// dashed puts dashes for the underscores of a name, up to its first dot.
func (p *parser) dashed(name string) string {
	end := len(name)
	if dot := strings.IndexByte(name, '.'); dot >= 0 && p.dialect.dotted && !p.dialect.dottedText {
		end = dot
	}
	return strings.ReplaceAll(name[:end], "_", "-") + name[end:]
}

func isLevel(text string) bool {
	return len(text) == 1 && text[0] >= '0' && text[0] <= '3'
}

// level reads -O3, -O=3 and the like.
func (p *parser) level(t token) []token {
	level := strings.TrimPrefix(t.text[2:], "=")
	switch {
	case p.dialect.levelIsOption:
		return []token{{text: "--optimization-level", words: t.words, spelled: "-O"}, {text: level, unknown: t.unknown}}
	case p.dialect.levelIsDotted:
		t.text, t.spelled = "-O."+p.dialect.levelKey+"="+level, "-O"
	}
	return []token{t}
}

// mergeDotted turns --a.b v into JSON for --a at the end of the line, one value
// for all keys of one spelling of the option.
func (p *parser) mergeDotted() {
	if !slices.ContainsFunc(p.tokens, p.isDotted) {
		return
	}
	rest := p.tokens[:0]
	var order []string
	merged := map[string][]dottedKey{}
	for i := 0; i < len(p.tokens); i++ {
		t := p.tokens[i]
		if !p.isDotted(t) {
			rest = append(rest, t)
			continue
		}
		name, value, attached := strings.Cut(t.text, "=")
		key := dottedKey{spelled: p.spelled(t), value: value, words: t.words, unknown: t.unknown}
		if !attached {
			if i++; i == len(p.tokens) {
				p.report(beforeParser, Problem{Kind: Refused, Setting: NoSetting, Message: "a word that begins with a dash and holds a dot takes the next one as its value, and there is none"}, t.words...)
				rest = append(rest, t)
				break
			}
			next := p.tokens[i]
			key.value, key.unknown = next.text, t.unknown || next.unknown
			key.words = append(slices.Clone(key.words), next.words...)
		}
		option, path, _ := strings.Cut(name, ".")
		key.path = path
		if merged[option] == nil {
			order = append(order, option)
		}
		merged[option] = append(merged[option], key)
	}
	for _, option := range order {
		keys := merged[option]
		value := token{text: p.jsonOf(keys), dotted: keys}
		for _, key := range keys {
			value.words = append(value.words, key.words...)
			value.unknown = value.unknown || key.unknown
		}
		rest = append(rest, token{text: option, nameOnly: true}, value)
	}
	p.tokens = rest
}

// spelled returns the option of a token as it is written, without a value.
func (p *parser) spelled(t token) string {
	if t.spelled != "" || len(t.words) == 0 {
		return t.spelled
	}
	name, _, _ := strings.Cut(p.words[t.words[0]].Text, "=")
	return name
}

// isDotted reports whether a word is --a.b, with or without =value.
func (p *parser) isDotted(t token) bool {
	if !strings.HasPrefix(t.text, "-") || p.dialect.dottedText && !strings.HasPrefix(t.text, "--") {
		return false
	}
	dot := strings.IndexByte(t.text, '.')
	equals := strings.IndexByte(t.text, '=')
	return dot >= 0 && (equals < 0 || dot < equals)
}

// jsonOf builds the JSON object that dotted keys stand for; what is no JSON is
// a text, and a key that ends in + appends to a list. At first all values were
// texts.
func (p *parser) jsonOf(keys []dottedKey) string {
	root := map[string]any{}
	for _, key := range keys {
		path, appends := strings.CutSuffix(key.path, "+")
		var value any = key.value
		if p.dialect.dottedText {
			path = key.path
		} else if appends {
			var items []any
			for item := range strings.SplitSeq(key.value, ",") {
				items = append(items, item)
			}
			value = items
		} else if parsed, ok := parseJSON(key.value); ok {
			value = parsed
		} else if p.dialect.expandsNumbers && isHumanInt(key.value) {
			value = 0 // 80g
		}
		insert(root, strings.Split(path, "."), value)
	}
	text, err := json.Marshal(root)
	if err != nil {
		return "{}" // NaN and Infinity, which Python's JSON knows
	}
	return string(text)
}

func insert(into map[string]any, path []string, value any) {
	for _, key := range path[:len(path)-1] {
		inner, ok := into[key].(map[string]any)
		if !ok {
			inner = map[string]any{}
			into[key] = inner
		}
		into = inner
	}
	last := path[len(path)-1]
	if list, ok := into[last].([]any); ok {
		if more, ok := value.([]any); ok {
			value = append(list, more...)
		}
	}
	into[last] = value
}
