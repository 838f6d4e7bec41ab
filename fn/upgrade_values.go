package fn

import (
	"fmt"
	"slices"
	"strings"

	"github.com/trimtab/trimtab/internal/catalogue"
	"github.com/trimtab/trimtab/internal/engine"
	"github.com/trimtab/trimtab/internal/finding"
	"github.com/trimtab/trimtab/internal/report"
	"github.com/trimtab/trimtab/internal/rule"
	"github.com/trimtab/trimtab/internal/setting"
)

// silentSince are the settings that come to something else than in a present
// release, written or not, and what that does to the account of the GPU.
func (j *judged) silentSince(before *judged) []report.Change {
	old, now := before.resolvedState(), j.resolvedState()
	changes := slices.Concat(
		j.writtenSince(old, now),
		j.unsetSince(old, now),
		j.variablesSince(old, now),
		j.memorySince(before),
	)
	for i := range changes {
		changes[i].From, changes[i].Action = old.Release.Version, finding.None
		changes[i].Object, changes[i].Container, changes[i].Severity = j.Object, j.Container, finding.Info
		j.locate(&changes[i].Finding)
	}
	return changes
}

// resolvedState is the state of a server at its release. What the parser refuses
// is left out: the other settings still come to something.
func (j *judged) resolvedState() *engine.State {
	reading := j.readAt(j.release())
	opaque := reading.Opaque
	if reading.Refused {
		opaque = ""
	}
	return engine.NewState(j.engine, j.known, j.release(), reading.Settings, j.facts.Set, opaque)
}

// writtenSince compares what the two releases make of each setting that is
// written.
func (j *judged) writtenSince(old, now *engine.State) []report.Change {
	var changes []report.Change
	for _, s := range now.Settings {
		at := slices.IndexFunc(old.Settings, func(o setting.Setting) bool {
			return o.Origin.String() == s.Origin.String() && (s.Origin.Path != nil || o.Name == s.Name)
		})
		if at < 0 || !s.Origin.Stands() || strings.HasPrefix(s.Name, "env/") || rule.IsSecret(s.Name, s.Value()) {
			continue
		}
		o := old.Settings[at]
		if s.Held != "" || o.Held != "" || s.Overridden || o.Overridden || s.Unknown {
			continue
		}
		if o.Name != s.Name && !sameOption(j.engine, o.Name, s.Name) {
			if o.Spelled == s.Spelled { // else an edit wrote another option in its place
				changes = append(changes, j.change(report.ValueChanged, report.Silent, s, o.Name, s.Name,
					fmt.Sprintf("%s is read as %s in %s and as %s in %s: write it out", s.Spelled, o.Name, old.Release, s.Name, now.Release)))
			}
			continue
		}
		was, is := old.Effective(o), now.Effective(s)
		if !was.Known || !is.Known || engine.Same(was.Value, is.Value) || keepsFromStarting(was) || keepsFromStarting(is) {
			continue
		}
		c := j.change(report.ValueChanged, report.Silent, s, valueText(was), valueText(is),
			fmt.Sprintf("%s is written, and comes to %s in %s and to %s in %s", s.Name, valueOrNothing(was), old.Release, valueOrNothing(is), now.Release))
		c.Message += reasons(was, is)
		changes = append(changes, c)
	}
	return changes
}

// sameOption tells whether two names are those of one option.
func sameOption(e *catalogue.Engine, a, b string) bool {
	first, _ := e.SpelledEver(a)
	second, _ := e.SpelledEver(b)
	return first != "" && first == second
}

func keepsFromStarting(e engine.Effective) bool {
	return strings.HasPrefix(e.Because, "the server does not start")
}

// reasons says why two values are what they are, where something is known.
func reasons(was, is engine.Effective) string {
	switch {
	case is.Because != "":
		return " (" + is.Because + ")"
	case was.Because != "":
		return " (before: " + was.Because + ")"
	}
	return ""
}

// valueOrNothing prints a value inside a sentence.
func valueOrNothing(e engine.Effective) string {
	if text := valueText(e); text != "" {
		return text
	}
	if _, isList := e.Value.([]any); isList {
		return "[]"
	}
	return "nothing"
}

// unsetSince compares what the two releases take for each option that neither is
// given. An option that does nothing here in both is passed over.
func (j *judged) unsetSince(old, now *engine.State) []report.Change {
	before := map[string]engine.Unset{}
	for _, option := range old.Unset() {
		before[option.Setting] = option
	}
	var changes []report.Change
	for _, is := range now.Unset() {
		was, ok := before[is.Setting]
		if !ok || was.Idle && is.Idle {
			continue
		}
		changes = append(changes, j.unset(was, is, old.Release, now.Release)...)
	}
	return changes
}

func (j *judged) unset(was, is engine.Unset, old, now catalogue.Release) []report.Change {
	absent := j.unwritten(is.Setting)
	evidence := []finding.Evidence{{Engine: j.Engine, Versions: catalogue.Between(is.Option.Since, is.Option.Until), Source: fmt.Sprintf("argument parser of %s %s (measured)", j.Engine, now)}}
	before, after := valueText(was.Effective), valueText(is.Effective)
	switch {
	case isClass(was.Option.Default) || isClass(is.Option.Default):
		return nil // an object of the engine's own: its fields are compared nowhere
	case was.Known && is.Known && engine.Same(was.Value, is.Value):
		return nil
	case was.Known && is.Known:
		c := j.change(report.DefaultChanged, report.Silent, absent, before, after,
			fmt.Sprintf("%s is not set: it is %s in %s and %s in %s", is.Setting, valueOrNothing(was.Effective), old, valueOrNothing(is.Effective), now)+reasons(was.Effective, is.Effective))
		c.Evidence = evidence
		c.Undo = keepBy(is, was.Value)
		return []report.Change{c}
	case engine.Same(was.Option.Default, is.Option.Default):
		return nil // the parser says the same, and what that comes to is not known
	case is.Option.Deprecated && is.Option.Default == nil:
		return nil // where an option goes, null means that it was not given
	}
	before, after = defaultText(was.Option), defaultText(is.Option)
	c := j.change(report.DefaultChanged, report.Harmless, absent, before, after,
		fmt.Sprintf("%s is not set: its default is %s in %s and %s in %s, and what that comes to here is not known", is.Setting, before, old, after, now))
	c.Evidence = evidence
	return []report.Change{c}
}

// isClass tells whether a parser's default is an object of a class, of which the
// catalogue holds the name alone: <CompilationConfig>.
func isClass(value any) bool {
	name, ok := value.(string)
	return ok && strings.HasPrefix(name, "<") && strings.HasSuffix(name, ">") && !strings.ContainsAny(name, " \t")
}

// unwritten is a setting that stands nowhere, shown where its server does.
func (j *judged) unwritten(name string) setting.Setting {
	return setting.Setting{Name: name, Unknown: true, Origin: setting.Origin{Kind: setting.Default, Name: string(setting.Default), Near: j.Path}}
}

// keepBy says how to keep the value that was taken before; empty where one word
// does not say it.
func keepBy(option engine.Unset, value any) string {
	switch v := value.(type) {
	case bool:
		switch {
		case option.Option.IsSwitch() && v:
			return "write " + option.Setting + " to keep what was"
		case option.Option.Action == "boolean_optional":
			return "write " + strings.Replace(option.Setting, "--", "--no-", 1) + " to keep what was"
		}
		return ""
	case int64, float64, string:
		if text := fmt.Sprint(v); text != "" && !option.Option.IsSwitch() && option.Option.NArgs == "" {
			return "write " + option.Setting + " " + text + " to keep what was"
		}
	}
	return ""
}

func defaultText(option catalogue.Option) string {
	if option.Default == nil {
		return "decided at start-up"
	}
	return valueOrNothing(engine.Effective{Value: option.Default, Known: true})
}

// variablesSince compares the defaults of the variables that are not set, and
// the values that those that are may have.
func (j *judged) variablesSince(old, now *engine.State) []report.Change {
	names, err := j.engine.EnvNames()
	if err != nil || j.EnvFrom {
		return nil // the file is embedded; what envFrom brings is not seen
	}
	slices.Sort(names)
	set := map[string]setting.Setting{}
	for _, s := range now.Settings {
		set[s.Name] = s
	}
	var changes []report.Change
	for _, name := range names {
		was, known := j.engine.Env(name, old.Release)
		is, still := j.engine.Env(name, now.Release)
		if !known || !still || !was.Read || !is.Read {
			continue
		}
		if s, isSet := set["env/"+name]; isSet {
			changes = append(changes, j.choiceGone(s, was, is, old.Release, now.Release)...)
			continue
		}
		if !literal(was.Default) || !literal(is.Default) || was.DefaultIs(is) || !serves(is) {
			continue
		}
		absent := j.unwritten("env/" + name)
		if old.Idle(absent) && now.Idle(absent) || forOtherHardware(name, j.vendor()) {
			continue
		}
		c := j.change(report.DefaultChanged, report.Harmless, absent, fmt.Sprint(was.Default), fmt.Sprint(is.Default),
			fmt.Sprintf("%s is not set: it is read as %v in %s and as %v in %s, and whether that matters here is not known", name, was.Default, old.Release, is.Default, now.Release))
		c.Evidence = []finding.Evidence{{Engine: j.Engine, Versions: catalogue.Between(is.Since, is.Until), Source: "the variables that the package of each release reads (measured)"}}
		c.Undo = fmt.Sprintf("set %s to %v to keep what was", name, was.Default)
		changes = append(changes, c)
	}
	return changes
}

// hardwareWords are the words in the name of a variable that is read for one
// kind of device alone, with the vendor of the GPUs among them.
var hardwareWords = map[string]string{
	"ROCM": "amd", "AITER": "amd", "XPU": "intel", "CPU": "", "TPU": "", "HPU": "", "NPU": "", "NEURON": "", "MUSA": "", "MLX": "",
}

// forOtherHardware tells whether a variable is read for other devices than those
// of a vendor; false where the vendor is not known.
func forOtherHardware(name, vendor string) bool {
	return vendor != "" && slices.ContainsFunc(strings.Split(name, "_"), func(word string) bool {
		made, named := hardwareWords[word]
		return named && made != vendor
	})
}

// vendor is that of the GPUs a server asks for; empty where it is not known.
func (j *judged) vendor() string {
	if named, ok := j.facts.Set["gpu.vendor"].Value.(string); ok {
		return named
	}
	return j.GPUs.Vendor
}

// literal tells whether a variable's default is a value, and not source text.
func literal(value any) bool {
	text, isText := value.(string)
	return value != nil && !(isText && (text == "" || strings.HasPrefix(text, "expr:")))
}

// serves tells whether the server reads a variable, not another program of the
// engine alone.
func serves(variable catalogue.EnvVar) bool {
	return variable.Scope == "" || slices.Contains(strings.Split(variable.Scope, "+"), "server")
}

// choiceGone is a variable whose value the release that is to come refuses.
func (j *judged) choiceGone(s setting.Setting, was, is catalogue.EnvVar, old, now catalogue.Release) []report.Change {
	value := s.Value()
	if s.Unknown || s.Overridden || is.Takes(value) || !was.Takes(value) {
		return nil
	}
	c := j.change(report.Refused, report.Breaking, s, value, "",
		fmt.Sprintf("%s does not take %q in %s, which %s did: it takes %s", strings.TrimPrefix(s.Name, "env/"), value, now, old, strings.Join(is.Choices, ", ")))
	c.Evidence = []finding.Evidence{{Engine: j.Engine, Versions: catalogue.Between(is.Since, is.Until), Source: "the variables that the package of each release declares (measured)"}}
	return []report.Change{c}
}

func (j *judged) change(kind report.Kind, impact report.Impact, about setting.Setting, before, after, message string) report.Change {
	c := report.Change{
		Kind: kind, Impact: impact, Before: before, After: after,
		Finding: finding.Finding{Setting: about.Name, Spelled: about.Spelled, Origin: about.Origin, Message: message, Places: about.Places},
	}
	if about.Origin.Stands() {
		c.Value = about.Value()
	}
	return c
}
