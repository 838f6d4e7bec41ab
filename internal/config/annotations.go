package config

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Overrides is what the annotations of one object say, for that object alone.
type Overrides struct {
	// Engine has no Knows. It is empty when the annotation is absent.
	Engine Engine
	// GPU and Model are names.
	GPU   string
	Model string
	// Keep stops edits, Ignore silences findings.
	Keep   []Exception
	Ignore []Exception
}

// Exception is one entry of trimtab.dev/keep or trimtab.dev/ignore.
type Exception struct {
	// Rule is empty when the entry holds for every rule.
	Rule    string
	Setting string
	// UntilEngine and UntilVersion end the exception: from that release of that
	// engine on it is stale. Both are empty when it has no end.
	UntilEngine  string
	UntilVersion string
	Reason       string
	// Line is the entry as written.
	Line string
}

const prefix = Group + "/"

// SizedFor is the annotation that records on an object what the sizing of its
// server rests on. Where an object holds several servers, each has one with its
// container's name behind a dash.
const SizedFor = prefix + "sized-for"

// DecodeAnnotations reads the trimtab.dev annotations of an object; others are
// passed over. Without any the result is empty, never nil. An error is about
// this object alone and names the annotation.
func DecodeAnnotations(annotations map[string]string, knownRules []string) (*Overrides, error) {
	o := &Overrides{}
	known := map[string]func(text string) error{
		prefix + "engine": func(text string) (err error) { o.Engine, err = parseEngine(text); return err },
		prefix + "gpu":    func(text string) error { o.GPU = text; return nil },
		prefix + "model":  func(text string) error { o.Model = text; return nil },
		prefix + "keep": func(text string) (err error) {
			o.Keep, err = parseExceptions(text, knownRules, false)
			return err
		},
		prefix + "ignore": func(text string) (err error) {
			o.Ignore, err = parseExceptions(text, knownRules, true)
			return err
		},
	}
	for _, name := range slices.Sorted(maps.Keys(annotations)) {
		if !strings.HasPrefix(name, prefix) || name == SizedFor || strings.HasPrefix(name, SizedFor+"-") {
			continue
		}
		decode, ok := known[name]
		if !ok {
			return nil, unknownAnnotation(name, slices.Sorted(maps.Keys(known)))
		}
		text := strings.TrimSpace(annotations[name])
		if text == "" {
			return nil, fmt.Errorf("annotation `%s` must not be empty; remove it or give it a value", name)
		}
		if err := decode(text); err != nil {
			return nil, fmt.Errorf("annotation `%s` %w", name, err)
		}
	}
	return o, nil
}

func unknownAnnotation(name string, known []string) error {
	var short []string
	for _, k := range known {
		short = append(short, strings.TrimPrefix(k, prefix))
	}
	if near, ok := nearest(strings.TrimPrefix(name, prefix), short); ok {
		return fmt.Errorf("unknown annotation `%s`; did you mean `%s%s`?", bare(name), prefix, near)
	}
	return fmt.Errorf("unknown annotation `%s`; known are %s", bare(name), strings.Join(known, ", "))
}

func parseExceptions(text string, knownRules []string, strict bool) ([]Exception, error) {
	var exceptions []Exception
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		e, err := parseException(line, knownRules)
		if err != nil {
			return nil, err
		}
		if strict && (e.Rule == "" || e.Reason == "") {
			return nil, fmt.Errorf("must be `RULE SETTING: REASON` on each line, got %s", quote(line))
		}
		exceptions = append(exceptions, e)
	}
	return exceptions, nil
}

var untilForm = regexp.MustCompile(`^(\S+?)\s*>=\s*(\S+)$`)

// cutReason cuts an entry at its first colon; that in the name of a metric
// (metric/vllm:x) is none.
func cutReason(line string) (head, reason string) {
	at := strings.IndexByte(line, ':')
	if at < 0 {
		return line, ""
	}
	if metricStart.MatchString(line[:at]) && at+1 < len(line) && line[at+1] != ' ' {
		head, reason := cutReason(line[at+1:])
		return line[:at+1] + head, reason
	}
	return line[:at], strings.TrimSpace(line[at+1:])
}

var metricStart = regexp.MustCompile(`(^|\s)metric/\w+$`)

// parseException reads [rule ]setting[ until ENGINE>=VERSION][: reason].
func parseException(line string, knownRules []string) (Exception, error) {
	e := Exception{Line: line}
	head, reason := cutReason(line)
	e.Reason = reason
	words := strings.Fields(head)
	if i := slices.Index(words, "until"); i >= 0 {
		form := untilForm.FindStringSubmatch(strings.Join(words[i+1:], " "))
		if form == nil || !slices.Contains(engineNames, form[1]) || !isRelease(form[2]) {
			return Exception{}, fmt.Errorf("must end an entry with `until ENGINE>=VERSION` such as until sglang>=0.5.17, got %s", quote(line))
		}
		e.UntilEngine, e.UntilVersion = form[1], form[2]
		words = words[:i]
	}
	switch len(words) {
	case 1:
		e.Setting = words[0]
	case 2:
		e.Rule, e.Setting = words[0], words[1]
		if err := checkRule(e.Rule, knownRules); err != nil {
			return Exception{}, fmt.Errorf("has one entry a line, `[RULE ]SETTING[: REASON]`: %w", err)
		}
	default:
		return Exception{}, fmt.Errorf("must be `[RULE ]SETTING[ until ENGINE>=VERSION][: REASON]` on each line, got %s", quote(line))
	}
	return e, nil
}
