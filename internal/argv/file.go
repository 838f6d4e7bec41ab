package argv

import (
	"encoding/json"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/trimtab/trimtab/internal/catalogue"
	"github.com/trimtab/trimtab/internal/setting"
)

// Entry is one key of the file that --config names, in the order of the file.
type Entry struct {
	Key string
	// Value is what PyYAML's safe_load makes of it, in YAML 1.1 (yes is true):
	// nil, bool, int64, float64, string, []any or map[string]any.
	Value  any
	Origin setting.Origin
	// Unknown entries hold something that is decided outside the file.
	Unknown bool
}

// ReadFile returns the entries of a file that a line names; false when nothing
// is known of it.
type ReadFile func(path string) ([]Entry, bool)

// ParseWithFile is Parse where --config FILE is read: the engine puts what the
// file says in front of the line, so the line wins. Without the file the line
// is Opaque.
func ParseWithFile(e *catalogue.Engine, r catalogue.Release, mode Mode, words []setting.Word, read ReadFile) Line {
	return grammarOf(e, r, mode).parse(words, read)
}

// expandFile replaces --config FILE, as a word of its own, by what the file
// says: FlexibleArgumentParser._pull_args_from_config of vLLM,
// ConfigArgumentMerger of SGLang (from 0.5.3 on). The engines look for no other
// form: --config=FILE is parsed and has no effect.
func (p *parser) expandFile(read ReadFile) {
	isConfig := func(t token) bool { return t.text == "--config" && !t.unknown }
	at := slices.IndexFunc(p.tokens, isConfig)
	if at < 0 || !p.dialect.vllm && p.lookup("--config") == nil {
		return
	}
	if at+1 < len(p.tokens) && slices.ContainsFunc(p.tokens[at+1:], isConfig) {
		p.refuseFile(at, "`--config` may stand once only")
		return
	}
	if at == len(p.tokens)-1 {
		p.refuseFile(at, "`--config` needs a file")
		return
	}
	file := p.tokens[at+1]
	p.took = append(p.took, taken{
		setting: setting.Setting{Name: "--config", Key: "config", Spelled: "--config", Values: []string{file.text}, Unknown: file.unknown},
		words:   p.join(p.tokens[at].words, file.words),
	})
	if extension := path.Ext(file.text); !file.unknown && !p.isYAML(extension, file.text) {
		p.refuseFile(at, "`--config` takes a file that ends in .yaml or .yml")
	}
	entries, known := []Entry(nil), false
	if read != nil && !file.unknown {
		entries, known = read(file.text)
	}
	p.line.Opaque = p.line.Opaque || !known
	p.place(at, p.fileTokens(entries), known)
}

// isYAML reports whether an engine takes a file by its name.
func (p *parser) isYAML(extension, name string) bool {
	if p.dialect.vllm {
		last := name[strings.LastIndexByte(name, '.')+1:]
		return last == "yaml" || last == "yml"
	}
	return strings.EqualFold(extension, ".yaml") || strings.EqualFold(extension, ".yml")
}

func (p *parser) refuseFile(at int, message string) {
	p.report(beforeParser, Problem{Kind: Refused, Flag: "--config", Setting: NoSetting, Message: message}, p.tokens[at].words...)
}

// place puts the tokens of a file where the release does, and takes --config
// FILE, which stands at an index, out.
func (p *parser) place(at int, file []token, known bool) {
	first := 0
	switch {
	case p.dialect.vllm && p.mode == Serve && (at == 0 || p.isDashed(0)):
		if at == 0 && p.dialect.modelDemanded {
			p.refuseFile(at, "`vllm serve` with `--config` needs the model as its first word")
		} else if known && !p.dialect.modelDemanded && !slices.ContainsFunc(file, func(t token) bool { return t.text == "--model" }) {
			p.refuseFile(at, "`vllm serve` needs a model, as its first word or in the file of `--config`")
		}
		if p.dialect.modelDemanded && at > 0 {
			first = 1
		}
	case p.dialect.vllm && p.mode == Serve:
		first = 1
	case p.dialect.vllm && (!p.dialect.modelMoved || !p.isDashed(0)):
		first = 1 // the API server took its first word for a command
	}
	if first == 1 && at == 0 {
		// … even when that is --config itself, whose file is then gone
		p.tokens = slices.Concat(p.tokens[:1], file, p.tokens[2:])
		p.took = p.took[:len(p.took)-1]
		return
	}
	p.tokens = slices.Concat(p.tokens[:first], file, p.tokens[first:at], p.tokens[at+2:])
}

func (p *parser) isDashed(i int) bool {
	return i < len(p.tokens) && strings.HasPrefix(p.tokens[i].text, "-") && !p.tokens[i].unknown
}

// fileTokens turns entries into words of their own behind those of the line.
func (p *parser) fileTokens(entries []Entry) []token {
	var tokens []token
	for _, entry := range entries {
		p.checkEntry(entry)
		texts, unknown := p.fileWords(entry)
		for i, text := range texts {
			word := setting.Word{Text: text, Unknown: i > 0 && (unknown || entry.Unknown), Origin: entry.Origin}
			at := len(p.words)
			p.words = append(slices.Clip(p.words), word)
			p.line.Owners = append(p.line.Owners, NoSetting)
			tokens = append(tokens, token{text: text, words: []int{at}, unknown: word.Unknown})
		}
	}
	p.indices = make([]int, len(p.words))
	for i := range p.indices {
		p.indices[i] = i
	}
	return tokens
}

// fileWords returns what a release makes of an entry. Unknown is the value
// where that is the text of a Python object.
func (p *parser) fileWords(entry Entry) (texts []string, unknown bool) {
	flag := "--" + entry.Key
	switch v := entry.Value.(type) {
	case bool:
		return p.fileSwitch(entry.Key, v), false
	case []any:
		if !p.dialect.fileLists {
			return []string{flag, ""}, true
		}
		if len(v) == 0 {
			return nil, false
		}
		texts = []string{flag}
		for _, item := range v {
			text, ok := pythonText(item)
			texts, unknown = append(texts, text), unknown || !ok
		}
		return texts, unknown
	case map[string]any:
		text, err := json.Marshal(v)
		return []string{flag, string(text)}, !p.dialect.fileObjects || err != nil
	}
	text, ok := pythonText(entry.Value)
	return []string{flag, text}, !ok
}

// fileSwitch returns what a release makes of a true or false. The parser that
// reads the file knows the options for vLLM's API server alone: for `vllm serve`
// they are a subcommand's.
func (p *parser) fileSwitch(key string, on bool) []string {
	flag := "--" + key
	if p.dialect.vllm {
		option := p.lookup(flag)
		switch {
		case p.mode == API && option != nil && option.Action == "store_boolean" && option.Key == key:
			return []string{flag, map[bool]string{true: "True", false: "False"}[on]}
		case on:
			return []string{flag}
		case p.mode == API && p.dialect.fileOff && p.lookup("--no-"+key) != nil:
			return []string{"--no-" + key}
		}
		return nil
	}
	if !p.dialect.fileByAction {
		if on {
			return []string{flag}
		}
		return nil
	}
	option, ok := p.fileOption(key)
	switch {
	case !ok || option.Action != "store_true":
		return []string{flag, strconv.FormatBool(on)}
	case on:
		return []string{flag}
	}
	return nil
}

// fileOption returns the option that SGLang takes a key for.
func (p *parser) fileOption(key string) (catalogue.Option, bool) {
	return p.engine.OptionByKey(strings.ReplaceAll(key, "-", "_"), p.release)
}

// checkEntry reports an entry that SGLang's reader of files has no way to give
// to its option: it knows two kinds of options alone.
func (p *parser) checkEntry(entry Entry) {
	if !p.dialect.fileByAction {
		return
	}
	if option, ok := p.fileOption(entry.Key); ok && option.Action != "store_true" && option.Action != "store" && option.Flag != "--config" {
		p.report(beforeParser, Problem{
			Kind: Refused, Flag: option.Flag, Setting: NoSetting,
			Message: "`" + option.Flag + "` cannot stand in the file of `--config`",
		})
	}
}

// pythonText prints a scalar as Python's str() does; false when it is none.
func pythonText(value any) (string, bool) {
	switch v := value.(type) {
	case nil:
		return "None", true
	case bool:
		return map[bool]string{true: "True", false: "False"}[v], true
	case string:
		return v, true
	case int64:
		return strconv.FormatInt(v, 10), true
	case float64:
		return pythonFloat(v), true
	}
	return "", false
}

func pythonFloat(v float64) string {
	switch {
	case math.IsNaN(v):
		return "nan"
	case math.IsInf(v, 0):
		return strings.ToLower(strings.TrimPrefix(strconv.FormatFloat(v, 'g', -1, 64), "+"))
	case v != 0 && (math.Abs(v) < 1e-4 || math.Abs(v) >= 1e16):
		return strconv.FormatFloat(v, 'e', -1, 64)
	}
	text := strconv.FormatFloat(v, 'f', -1, 64)
	if !strings.Contains(text, ".") {
		text += ".0"
	}
	return text
}
