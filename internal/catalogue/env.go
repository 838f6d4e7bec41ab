package catalogue

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// EnvVar is an environment variable as one release reads it.
type EnvVar struct {
	Name string
	// Kind says how the text is read: bool, bool_word, int, float, str, list,
	// json, …; "" where it is not known.
	Kind string
	// Default is the value when unset, as Option.Default; a text "expr: …" is
	// source text.
	Default any
	// Choices are the values that the engine takes; with Open it takes others as
	// well, with AnyCase in any case.
	Choices       []string
	Open, AnyCase bool
	// Read is false when the release declares or sets the variable and never
	// reads it.
	Read bool
	// Replacement is the current name of a deprecated variable, if named.
	Deprecated  bool
	Replacement string
	// Scope is server, diffusion or client, joined by "+"; "" where the engine
	// has one scope.
	Scope string
	// Where is a source file that reads, declares or sets it; "scattered" when
	// it is read outside the engine's declared list.
	Where        string
	Since, Until Release
}

type envLine struct {
	line string
	once sync.Once
	all  []EnvVar
}

type envLife struct {
	Since   string   `json:"since"`
	Until   string   `json:"until"`
	Kind    string   `json:"kind"`
	Default any      `json:"default"`
	Choices []string `json:"choices"`
	Open    bool     `json:"open"`
	Case    *bool    `json:"case_sensitive"`
	Read    *bool    `json:"read"`
	AliasOf any      `json:"alias_of"`
	Scope   string   `json:"scope"`
	Where   string   `json:"where"`
}

func (e *Engine) loadEnv() (map[string]*envLine, error) {
	_, lines, err := readLines(e.Name, "env")
	if err != nil {
		return nil, err
	}
	vars := make(map[string]*envLine, len(lines))
	for _, line := range lines {
		vars[between(line, `{"env":"`, `"`)] = &envLine{line: line}
	}
	return vars, nil
}

func (e *Engine) envLives(name string) []EnvVar {
	vars, err := e.env()
	if err != nil {
		return nil // the file is embedded beside the options that were read
	}
	v, ok := vars[name]
	if !ok {
		return nil
	}
	v.once.Do(func() {
		var entry struct {
			Lives []envLife `json:"lives"`
		}
		if json.Unmarshal([]byte(v.line), &entry) != nil {
			return // the generator writes valid JSON; a test reads every line
		}
		for _, life := range entry.Lives {
			env := EnvVar{
				Name: name, Kind: life.Kind, Default: life.Default, Choices: life.Choices,
				Open: life.Open, AnyCase: life.Case != nil && !*life.Case,
				Read: life.Read == nil || *life.Read, Scope: life.Scope, Where: life.Where,
			}
			env.Replacement, env.Deprecated = life.AliasOf.(string)
			env.Deprecated = env.Deprecated || life.AliasOf == true
			env.Since, env.Until = e.bounds(life.Since, life.Until)
			v.all = append(v.all, env)
		}
	})
	return v.all
}

// Env returns an environment variable as a release knows it.
func (e *Engine) Env(name string, r Release) (EnvVar, bool) {
	for _, env := range e.envLives(name) {
		if env.Since.Index <= r.Index && r.Index <= env.Until.Index {
			return env, true
		}
	}
	return EnvVar{}, false
}

// EnvEver returns the runs of releases that know a variable, oldest first.
func (e *Engine) EnvEver(name string) []Life {
	var runs []Life
	for _, env := range e.envLives(name) {
		runs = append(runs, Life{env.Since, env.Until})
	}
	return joined(runs)
}

// EnvLives returns what a variable is, life by life, oldest first.
func (e *Engine) EnvLives(name string) []EnvVar { return e.envLives(name) }

// EnvNames returns every variable that any release knows, in no order. The
// error says that the data cannot be read.
func (e *Engine) EnvNames() ([]string, error) {
	vars, err := e.env()
	if err != nil {
		return nil, fmt.Errorf("variables of %s: %w", e.Name, err)
	}
	names := make([]string, 0, len(vars))
	for name := range vars {
		names = append(names, name)
	}
	return names, nil
}

// Takes reports whether the engine takes a value: it does where the values are
// not listed.
func (v EnvVar) Takes(value string) bool {
	return v.Kind != "choice" || v.Open || len(v.Choices) == 0 || slices.ContainsFunc(v.Choices, func(choice string) bool {
		return choice == value || v.AnyCase && strings.EqualFold(choice, value)
	})
}

// DefaultIs reports whether two lives of a variable are read as the same where
// it is not set: 1 is "1", and true for a switch.
func (v EnvVar) DefaultIs(other EnvVar) bool {
	a, b := plainDefault(v.Default), plainDefault(other.Default)
	if a == b {
		return true
	}
	first, isSwitch := truthOf[a]
	second, both := truthOf[b]
	return isSwitch && both && first == second
}

var truthOf = map[string]bool{"1": true, "true": true, "0": false, "false": false}

func plainDefault(value any) string {
	text := strings.ToLower(fmt.Sprint(value))
	if n, err := strconv.ParseFloat(text, 64); err == nil {
		return strconv.FormatFloat(n, 'g', -1, 64)
	}
	return text
}
