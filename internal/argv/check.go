package argv

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/trimtab/trimtab/internal/catalogue"
)

// Check returns what the parser says against the values of an option, and nil
// when it takes them. Only types and choices are looked at, not how many
// values there are.
func Check(o catalogue.Option, values []string) *Problem {
	for _, value := range values {
		if problem := checkOne(&o, value, o.Open && !o.Enforced); problem != nil {
			problem.Flag, problem.Setting = o.Names[0], NoSetting
			return problem
		}
	}
	return nil
}

// check looks at the values that are known, with what the dialect adds.
func (p *parser) check(o *catalogue.Option, args []token) *Problem {
	for _, arg := range args {
		if arg.unknown {
			continue
		}
		if problem := p.checkText(o, arg.text); problem != nil {
			p.note(func(a *asked) { a.refused = true })
			problem.Flag, problem.Setting = o.Names[0], NoSetting
			return problem
		}
		p.note(func(a *asked) { a.passed = append(a.passed, passed{o, arg.text}) })
	}
	return nil
}

func (p *parser) checkText(o *catalogue.Option, text string) *Problem {
	open := o.Open && !o.Enforced && p.dialect.vllm // SGLang's parser knows its plugins
	refuse := func(takes string) *Problem {
		return &Problem{Kind: BadValue, Value: text, Message: fmt.Sprintf("`%s` takes %s, not %q", o.Flag, takes, text)}
	}
	unset := text == "" || text == "None"
	switch {
	case o.Action == "lora_parser" && !isLoRAModule(text):
		return refuse("NAME=PATH or a JSON object with `name` and `path`")
	case o.Action == "lora_paths" && !isLoRAPath(text):
		return refuse("PATH, NAME=PATH or a JSON object with `lora_name` and `lora_path`")
	case !p.dialect.vllm && o.Type == "json" && slices.Contains(readLater, o.Flag):
		return nil
	case p.dialect.noneIsNoChoice && unset && len(o.Choices) > 0 && !open:
		if p.takesNone(o) {
			return nil
		}
		return checkOne(o, "None as no value", open)
	case p.dialect.unsetByText && unset && o.Default == nil && len(o.Choices) == 0 && !slices.Contains(plainNumbers, o.Flag):
		return nil
	case p.dialect.keyValues && slices.Contains(dictionaries, o.Flag):
		braced := strings.HasPrefix(text, "{") && strings.HasSuffix(strings.TrimSuffix(text, "\n"), "}")
		if !(braced && isObject(text)) && !isKeyValues(text) {
			return refuse("KEY=VALUE or a JSON object")
		}
		return nil
	case p.dialect.strictLists && slices.Contains(strictLists, o.Flag) && withoutNaN(text) != text:
		return refuse("JSON without NaN and Infinity")
	}
	if o.Type == "json" {
		config, ok := p.engine.Config(o.Flag)
		if ok {
			p.note(func(a *asked) { a.configs = append(a.configs, config) })
		}
		if ok && config.Known(p.release) {
			return p.checkConfig(o, config, text)
		}
		if p.dialect.pythonObjects && o.Flag == "--compilation-config" && strings.HasPrefix(trimSpace(text), "{") {
			if isObject(text) && namesOfJSON.MatchString(jsonText.ReplaceAllString(text, "")) {
				return refuse("a dictionary of Python, with True, False and None for true, false and null")
			}
			return nil // a dictionary that is no JSON may still be Python's
		}
		if p.dialect.vllm && slices.Contains(configs, o.Flag) && !isObject(text) && !p.isOldLevel(o, text) {
			return refuse("a JSON object")
		}
	}
	return checkOne(o, text, open)
}

// Texts of JSON, and the names that JSON has for what Python calls otherwise.
var (
	jsonText    = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)
	namesOfJSON = regexp.MustCompile(`\b(true|false|null)\b`)
)

// isOldLevel reports whether a text is the optimization level that
// --compilation-config took for an object.
func (p *parser) isOldLevel(o *catalogue.Option, text string) bool {
	return o.Flag == "--compilation-config" && isLevel(text) && !p.dialect.levelIsOption
}

// checkConfig reads a value into a configuration object.
func (p *parser) checkConfig(o *catalogue.Option, config *catalogue.Config, text string) *Problem {
	if p.isOldLevel(o, text) {
		return nil
	}
	plain := text
	if p.dialect.expandsNumbers {
		plain = expanded(text)
	}
	why := "takes JSON"
	if value, ok := parseJSON(plain); ok {
		if why = p.against(config, value); why == "" {
			return nil
		}
	}
	return &Problem{Kind: BadValue, Value: text, Message: fmt.Sprintf("`%s` %s, not %q", o.Flag, why, text)}
}

// strictLists are the options of SGLang that are read by orjson, which knows no
// NaN.
var strictLists = []string{"--forward-hooks", "--piecewise-cuda-graph-tokens", "--remote-instance-weight-loader-send-weights-group-ports"}

// takesNone reports whether an option with choices may be unset by a text. From
// 0.31.0 on vLLM's lists of choices hold no value itself, where they held the
// text "None" before, which no value is not.
func (p *parser) takesNone(o *catalogue.Option) bool {
	if !p.dialect.noneIsChoice || o.Default != nil {
		return false
	}
	before := p.engine.Lookup(o.Flag, p.dialect.choicesBefore)
	return before == nil || before.Default != nil || slices.Contains(before.Choices, "None")
}

// readLater are the options of SGLang that hold JSON and are texts to its
// parser.
var readLater = []string{
	"--hicache-storage-backend-extra-config", "--hierarchical-sparse-attention-extra-config", "--hisparse-config",
	"--json-model-override-args", "--kv-events-config", "--model-loader-extra-config", "--modelexpress-config",
}

// plainNumbers are the options of vLLM that may be unset, but not by a text:
// they are declared by hand.
var plainNumbers = []string{
	"--data-parallel-rank", "--data-parallel-start-rank", "--data-parallel-size-local", "--data-parallel-rpc-port",
}

// dictionaries are the options of vLLM that took KEY=VALUE lists and JSON.
var dictionaries = []string{
	"--limit-mm-per-prompt", "--media-io-kwargs", "--mm-processor-kwargs", "--override-generation-config",
	"--override-neuron-config", "--rope-scaling", "--tokenizer-pool-extra-config",
}

// configs are the options of vLLM that may be unset and else are read into a
// configuration object.
var configs = []string{"--compilation-config", "--ec-transfer-config", "--kv-events-config", "--kv-transfer-config"}

func isObject(text string) bool {
	parsed, ok := parseJSON(text)
	_, object := parsed.(map[string]any)
	return ok && object
}

// isKeyValues reads vLLM's old form of a dictionary: image=2,video=1.
func isKeyValues(text string) bool {
	for item := range strings.SplitSeq(text, ",") {
		parts := strings.Split(item, "=")
		if len(parts) != 2 {
			return false
		}
		if _, ok := parseInt(parts[1]); !ok {
			return false
		}
	}
	return true
}

func isLoRAModule(text string) bool {
	if text == "" || strings.Contains(text, "=") && !strings.Contains(text, ",") {
		return true
	}
	parsed, _ := parseJSON(text)
	module, _ := parsed.(map[string]any)
	return module["name"] != nil && module["path"] != nil
}

func isLoRAPath(text string) bool {
	trimmed := trimSpace(text)
	if !strings.HasPrefix(trimmed, "{") || !strings.HasSuffix(trimmed, "}") {
		return true
	}
	parsed, _ := parseJSON(trimmed)
	module, _ := parsed.(map[string]any)
	return module["lora_name"] != nil && module["lora_path"] != nil
}

func checkOne(o *catalogue.Option, value string, open bool) *Problem {
	if !fits(o, value) {
		return &Problem{Kind: BadValue, Value: value, Message: fmt.Sprintf("`%s` takes %s, not %q", o.Flag, typeName(o), value)}
	}
	if len(o.Choices) == 0 || open || slices.Contains(o.Choices, chosen(o, value)) {
		return nil
	}
	return &Problem{Kind: BadChoice, Value: value, Candidates: o.Choices, Message: fmt.Sprintf("`%s` takes one of %s, not %q", o.Flag, few(o.Choices), value)}
}

func typeName(o *catalogue.Option) string {
	if isConfig(o) {
		return "a JSON object"
	}
	return typeNames[o.Type]
}

// isConfig reports whether a value is read into a configuration object.
func isConfig(o *catalogue.Option) bool {
	text, _ := o.Default.(string)
	return o.Type == "json" && strings.HasPrefix(text, "<")
}

// typeNames say what an option takes.
var typeNames = map[string]string{
	"int": "a whole number", "float": "a number", "bool": "true or false", "json": "JSON",
	"human_int": "a whole number (4k is 4000, 4K is 4096)", "human_int_auto": "a whole number (4k is 4000, 4K is 4096) or auto",
	"str_or_json": "a text or a JSON object", "key_value": "KEY=VALUE", "list": "a list",
}

// fits reports whether a value is of the option's type.
func fits(o *catalogue.Option, value string) bool {
	switch o.Type {
	case "int":
		_, ok := parseInt(value)
		return ok || o.Suffixes && isSuffixedInt(value)
	case "float":
		return isFloat(value)
	case "json":
		parsed, ok := parseJSON(value)
		if _, isObject := parsed.(map[string]any); ok && isConfig(o) {
			return isObject
		}
		return ok
	case "human_int":
		return isHumanInt(value)
	case "human_int_auto":
		return isHumanInt(value) || strings.EqualFold(strings.TrimSpace(value), "auto")
	case "str_or_json":
		trimmed := strings.TrimSpace(value)
		if strings.HasPrefix(trimmed, "{") && strings.HasSuffix(trimmed, "}") {
			_, ok := parseJSON(value)
			return ok
		}
	case "bool":
		return o.Action != "store_boolean" || strings.EqualFold(value, "true") || strings.EqualFold(value, "false")
	}
	return true
}

// chosen returns a value as it is compared with choices.
func chosen(o *catalogue.Option, value string) string {
	if o.Type == "int" {
		if whole, ok := parseInt(value); ok {
			return whole
		}
	}
	return value
}
