package fn

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/trimtab/trimtab/internal/engine"
	"github.com/trimtab/trimtab/internal/finding"
	"github.com/trimtab/trimtab/internal/report"
	"github.com/trimtab/trimtab/internal/rule"
	"github.com/trimtab/trimtab/internal/server"
	"github.com/trimtab/trimtab/internal/setting"
	"github.com/trimtab/trimtab/internal/stream"
)

// Shown is what the input holds: the servers, and what looks like one and is not
// taken for it.
type Shown struct {
	Servers []ServerSettings `json:"servers"`
	Left    []LeftOut        `json:"left"`
}

// ServerSettings is one server with what each of its settings becomes.
type ServerSettings struct {
	report.Server
	// File and Line are where its container stands, Origin the path there.
	File   string `json:"file"`
	Line   int    `json:"line"`
	Origin string `json:"origin"`
	Image  string `json:"image"`
	// VersionSource says where the version was read.
	VersionSource string             `json:"versionSource"`
	Facts         []ShownFact        `json:"facts"`
	Settings      []EffectiveSetting `json:"settings"`
}

// ShownFact is a fact about the target of a server, and where it was read.
type ShownFact struct {
	Fact   string `json:"fact"`
	Value  string `json:"value"`
	Source string `json:"source"`
}

// LeftOut is a container or a resource that was seen and left, and why.
type LeftOut struct {
	Object    finding.Object `json:"object"`
	Container string         `json:"container"`
	File      string         `json:"file"`
	Line      int            `json:"line"`
	Origin    string         `json:"origin"`
	Why       string         `json:"why"`
}

// EffectiveSetting is a setting as written, and what the engine makes of it.
type EffectiveSetting struct {
	Setting string `json:"setting"`
	// Value is what is written; empty for what the engine decides by itself.
	Value string `json:"value"`
	// Effective is what counts in every release that the version leaves possible;
	// empty where that is not known.
	Effective string `json:"effective"`
	// Origin is where the setting stands, or who writes it.
	Origin string `json:"origin"`
	// Because says why another value counts, or what would tell it.
	Because string `json:"because"`
}

// Show tells of every server where it was found, what is known about its target,
// which settings it has, where each stands and what it becomes; and what else was
// seen. Errors are those of Process.
func Show(in Input) (*Shown, error) {
	judged, err := judge(in, in.Sources, nil)
	if err != nil {
		return nil, err
	}
	shown := &Shown{Servers: []ServerSettings{}, Left: []LeftOut{}}
	for i := range judged.servers {
		s := &judged.servers[i]
		file, line := standsAt(s.Item, s.Path)
		shown.Servers = append(shown.Servers, ServerSettings{
			Server: s.summary(), File: file, Line: line, Origin: s.Path.String(), Image: s.Image,
			VersionSource: s.facts.SpanSource, Facts: s.shownFacts(), Settings: s.effectiveSettings(),
		})
	}
	for _, left := range judged.left {
		file, line := standsAt(left.Item, left.Path)
		shown.Left = append(shown.Left, LeftOut{
			Object: left.Object, Container: left.Container, File: file, Line: line, Origin: left.Path.String(), Why: left.Why,
		})
	}
	shown.hideSecrets(judged.secrets())
	return shown, nil
}

// standsAt is the file of an item and the line of a path in it.
func standsAt(item *stream.Item, path setting.Path) (file string, line int) {
	root, err := item.Root()
	if err != nil || root == nil {
		return item.Source.Name, 0
	}
	node := server.Lookup(root, path)
	if node == nil {
		node = root
	}
	line, _ = item.Position(node)
	return item.Source.Name, line
}

// shownFacts are the facts about GPU, model and pod, sorted by name.
func (j *judged) shownFacts() []ShownFact {
	listed := []ShownFact{}
	for _, name := range slices.Sorted(maps.Keys(j.facts.Set)) {
		fact := j.facts.Set[name]
		listed = append(listed, ShownFact{Fact: name, Value: fmt.Sprint(fact.Value), Source: fact.Source})
	}
	return listed
}

// effectiveSettings are the settings at the newest release, each with what all
// possible releases make of it.
func (j *judged) effectiveSettings() []EffectiveSetting {
	listed := []EffectiveSetting{}
	at := map[string]int{}
	releases := slices.Clone(j.facts.Span.Releases)
	slices.Reverse(releases) // the newest comes first
	for _, release := range releases {
		reading := j.readAt(release)
		state := engine.NewState(j.engine, j.known, release, reading.Settings, j.facts.Set, reading.Opaque)
		for _, one := range j.settingsOf(state, reading) {
			key := one.Setting + "\x00" + one.Origin
			known, ok := at[key]
			switch {
			case !ok && release == releases[0]:
				at[key] = len(listed)
				listed = append(listed, one)
			case ok && listed[known].Effective != one.Effective:
				listed[known].Because = fmt.Sprintf("depends on the release: %s in %s, %s in %s",
					orUnknown(listed[known].Effective), releases[0], orUnknown(one.Effective), release)
				listed[known].Effective = ""
				delete(at, key)
			}
		}
	}
	return listed
}

func orUnknown(value string) string {
	if value == "" {
		return "not known"
	}
	return value
}

// settingsOf are the written settings and those the engine decides by itself, at
// one release.
func (j *judged) settingsOf(state *engine.State, reading rule.Reading) []EffectiveSetting {
	var listed []EffectiveSetting
	for _, s := range reading.Settings {
		listed = append(listed, effectiveSetting(state, s))
	}
	for _, decided := range state.Automatic() {
		listed = append(listed, EffectiveSetting{
			Setting: decided.Setting, Effective: valueText(decided), Origin: string(setting.Default), Because: because(decided),
		})
	}
	return listed
}

func effectiveSetting(state *engine.State, s setting.Setting) EffectiveSetting {
	one := EffectiveSetting{Setting: s.Name, Value: s.Value(), Origin: s.Origin.String()}
	switch {
	case rule.IsSecret(s.Name, one.Value):
		one.Value = rule.HiddenSecret
		return one
	case s.Overridden:
		one.Because = "a later one wins"
		return one
	case s.Held != "":
		one.Because = s.Held
		return one
	}
	made := state.Effective(s)
	one.Effective, one.Because = valueText(made), because(made)
	if _, isObject := made.Value.(map[string]any); isObject && made.Because == "" {
		one.Effective = one.Value // as written, not with its keys sorted
	}
	return one
}

// valueText prints a value as a user would write it.
func valueText(e engine.Effective) string {
	if !e.Known || e.Value == nil {
		return ""
	}
	switch value := e.Value.(type) {
	case string:
		return value
	case []any:
		parts := make([]string, len(value))
		for i, part := range value {
			parts[i] = fmt.Sprint(part)
		}
		return strings.Join(parts, " ")
	case map[string]any:
		text, err := json.Marshal(value)
		if err != nil {
			return ""
		}
		return string(text)
	}
	return fmt.Sprint(e.Value)
}

func because(e engine.Effective) string {
	if e.Because == "" && !e.Known && len(e.Needs) > 0 {
		return "not known without " + strings.Join(e.Needs, ", ")
	}
	return e.Because
}
