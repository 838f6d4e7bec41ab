package fn

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/trimtab/trimtab/internal/engine"
	"github.com/trimtab/trimtab/internal/report"
	"github.com/trimtab/trimtab/internal/rule"
	"github.com/trimtab/trimtab/internal/setting"
)

// ServerSettings is one server with what each of its settings becomes.
type ServerSettings struct {
	report.Server
	Settings []EffectiveSetting `json:"settings"`
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

// Show tells of every server which settings it has, where each stands and what
// it becomes. Errors are those of Process.
func Show(in Input) ([]ServerSettings, error) {
	judged, err := judge(in, in.Sources, nil)
	if err != nil {
		return nil, err
	}
	shown := make([]ServerSettings, 0, len(judged.servers))
	for i := range judged.servers {
		s := &judged.servers[i]
		shown = append(shown, ServerSettings{Server: s.summary(), Settings: s.effectiveSettings()})
	}
	return shown, nil
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
		one.Value = report.Hidden
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
