package argv

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/trimtab/trimtab/internal/catalogue"
)

// against says what a class has against the JSON value it is built from; ""
// when nothing is known to be wrong.
func (p *parser) against(config *catalogue.Config, value any) string {
	object, ok := value.(map[string]any)
	if !ok {
		return "takes a JSON object"
	}
	for _, key := range slices.Sorted(maps.Keys(object)) {
		if config.Refuses(key, p.release) {
			return fmt.Sprintf("has no key %q in %s", key, p.releaseName())
		}
		if why := p.againstValue(config.Takes(key, p.release), object[key]); why != "" {
			return fmt.Sprintf("at %q %s", key, why)
		}
	}
	for _, need := range config.Needs(p.release) {
		if why := unmet(need, object); why != "" {
			return why
		}
	}
	return ""
}

// unmet says which other key a key needs and lacks.
func unmet(need catalogue.Need, object map[string]any) string {
	set := object[need.Key]
	if set == nil || need.Is != nil && set != need.Is {
		return ""
	}
	other := object[need.Needs]
	switch text, isText := other.(string); {
	case len(need.Among) == 0 && other != nil:
		return ""
	case isText && slices.Contains(need.Among, text):
		return ""
	case len(need.Among) == 0:
		return fmt.Sprintf("needs %q where %q is set", need.Needs, need.Key)
	}
	return fmt.Sprintf("needs %q to be %s where %q is set", need.Needs, strings.Join(need.Among, " or "), need.Key)
}

// takesForm splits what a key takes: one?:a|b, int>=1, PassConfig?.
var takesForm = regexp.MustCompile(`^([A-Za-z]+)( names)?(\??)(?:>=(-?\d+)|:(.*))?$`)

// againstValue says what is wrong with the value of a key, as pydantic's lax
// mode reads JSON.
func (p *parser) againstValue(takes string, value any) string {
	form := takesForm.FindStringSubmatch(takes)
	if form == nil || value == nil && form[3] != "" {
		return ""
	}
	kind, choices := form[1], strings.Split(form[5], "|")
	if config, ok := p.engine.Config(kind); ok {
		return p.against(config, value)
	}
	if fitsKey(kind, value) || form[2] != "" && isName(choices, value) || kind == "names" && isName(choices, value) || kind == "one" && isChoice(choices, value) {
		if number, isNumber := value.(json.Number); isNumber && form[4] != "" && below(number, form[4]) {
			return "takes " + form[4] + " or more"
		}
		return ""
	}
	if form[5] != "" {
		return "takes one of " + few(choices)
	}
	return "takes " + keyTypes[kind]
}

var keyTypes = map[string]string{
	"bool": "true or false", "int": "a whole number", "float": "a number", "str": "a text",
	"list": "a list", "dict": "an object", "level": "0, 1, 2 or 3",
}

// fitsKey reports whether a JSON value passes for a type. A text passes for a
// number where Python would read it as one.
func fitsKey(kind string, value any) bool {
	switch v := value.(type) {
	case bool:
		return slices.Contains([]string{"bool", "int", "float", "level"}, kind)
	case string:
		switch kind {
		case "bool":
			return slices.Contains(booleans, strings.ToLower(v))
		case "int", "level":
			return isWhole(v) && (kind == "int" || isLevel(strings.TrimLeft(trimSpace(v), "+0")) || !strings.ContainsAny(v, "123456789"))
		case "float":
			return isFloat(v)
		}
		return kind == "str"
	case json.Number:
		return fitsNumber(kind, v.String())
	case []any:
		return kind == "list" || kind == "names"
	case map[string]any:
		return kind == "dict"
	}
	return false
}

// booleans are the texts that pydantic reads as true or false.
var booleans = []string{"0", "1", "off", "on", "f", "t", "n", "y", "no", "yes", "false", "true"}

// isWhole reports whether a text is a whole number: 8, 1_000, 8.0.
func isWhole(text string) bool {
	whole, fraction, _ := strings.Cut(trimSpace(text), ".")
	_, ok := parseInt(whole)
	return ok && strings.Trim(fraction, "0") == ""
}

func fitsNumber(kind, text string) bool {
	switch kind {
	case "float", "names":
		return true
	case "int":
		return isWhole(text) || strings.ContainsAny(text, "eE") // 1e3 is whole
	case "bool":
		return isWhole(text) && slices.Contains([]string{"0", "1", "-0"}, wholePart(text))
	case "level":
		return isWhole(text) && (isLevel(wholePart(text)) || wholePart(text) == "-0")
	}
	return false
}

func wholePart(text string) string {
	whole, _, _ := strings.Cut(text, ".")
	return whole
}

func isName(choices []string, value any) bool {
	text, ok := value.(string)
	return ok && slices.Contains(choices, strings.ToUpper(text))
}

func isChoice(choices []string, value any) bool {
	switch v := value.(type) {
	case string:
		return slices.Contains(choices, v)
	case json.Number:
		return slices.Contains(choices, v.String()) || isWhole(v.String()) && slices.Contains(choices, wholePart(v.String()))
	}
	return false
}

func below(number json.Number, bound string) bool {
	value, err := number.Float64()
	least, errBound := json.Number(bound).Float64()
	return err == nil && errBound == nil && value < least
}

// withSuffix is a bare 80m in JSON, which later releases of vLLM read as a
// number.
var withSuffix = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|\b(\d+)(?:\.\d+)?[kKmMgGtT]\b`)

func isSuffix(r rune) bool { return strings.ContainsRune("kKmMgGtT", r) }

// expanded puts plain numbers for 80m and 1K outside of texts.
func expanded(text string) string {
	if !strings.ContainsFunc(text, isSuffix) {
		return text
	}
	return withSuffix.ReplaceAllStringFunc(text, func(found string) string {
		if found[0] == '"' {
			return found
		}
		whole, _, _ := strings.Cut(found[:len(found)-1], ".")
		return whole
	})
}
