package engine_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trimtab/trimtab/internal/argv"
	"github.com/trimtab/trimtab/internal/catalogue"
	"github.com/trimtab/trimtab/internal/engine"
	"github.com/trimtab/trimtab/internal/facts"
	"github.com/trimtab/trimtab/internal/setting"
)

var modes = map[string]argv.Mode{"sglang": argv.Launch, "vllm": argv.Serve}

// TestFacts runs the cases of every fact, in every release of the fact's range
// (or in the one the case names).
func TestFacts(t *testing.T) {
	for _, name := range catalogue.Names() {
		catalogued, err := catalogue.Load(name)
		require.NoError(t, err)
		known, err := engine.Load(name)
		require.NoError(t, err)
		all, err := known.All()
		require.NoError(t, err)
		for _, fact := range all {
			if fact.Verb == engine.Renamed {
				continue // TestRenamings
			}
			label := name + "/" + strings.Join(fact.Settings, ",")
			t.Run(label, func(t *testing.T) {
				require.GreaterOrEqual(t, len(fact.Cases), 2, "a fact needs a case in which it holds and one in which it is silent or always holds")
				covered := slices.Clone(catalogued.Releases)
				covered = slices.DeleteFunc(covered, func(r catalogue.Release) bool { return !fact.Versions.Contains(r) })
				require.NotEmpty(t, covered, "no release of the catalogue lies in %q", fact.VersionText)
				checkNames(t, catalogued, known, covered, fact)
				for _, c := range fact.Cases {
					checkCase(t, catalogued, known, fact, c)
				}
			})
		}
	}
}

// checkNames: every setting and every name in a condition exists in a release of
// the range, and every release of the range has one of the settings.
func checkNames(t *testing.T, catalogued *catalogue.Engine, known *engine.Knowledge, covered []catalogue.Release, fact *engine.Fact) {
	inSome := func(exists func(catalogue.Release) bool) bool { return slices.ContainsFunc(covered, exists) }
	option := func(flag string) func(catalogue.Release) bool {
		return func(r catalogue.Release) bool {
			found, ok := catalogued.Option(flag, r)
			return ok && found.Flag == flag
		}
	}
	variable := func(r catalogue.Release, about string) bool {
		return strings.HasPrefix(about, "env/") || about == engine.MetricPrefix+"*" || emitted(t, catalogued, r, about)
	}
	for _, about := range fact.Settings {
		if strings.HasPrefix(about, engine.MetricPrefix+catalogued.Name) {
			require.True(t, inSome(func(r catalogue.Release) bool { return emitted(t, catalogued, r, about) }), "%s emits no %s", fact.VersionText, about)
		}
		if flag, _, _ := strings.Cut(about, "."); strings.HasPrefix(about, "--") {
			require.True(t, inSome(option(flag)), "%s is no canonical flag in %s", about, fact.VersionText)
		}
	}
	for _, r := range covered {
		require.True(t, slices.ContainsFunc(fact.Settings, func(about string) bool {
			flag, _, _ := strings.Cut(about, ".")
			return variable(r, about) || option(flag)(r)
		}),
			"%s has none of %v", r, fact.Settings)
	}
	require.True(t, len(fact.Read) == 0 || inSome(func(r catalogue.Release) bool { return slices.Contains(fact.Read, r.Version) }),
		"none of %v is in %s", fact.Read, fact.VersionText)
	for _, version := range fact.Read {
		_, known := catalogued.Find(version)
		require.True(t, known, "no release %s", version)
	}
	names, err := fact.Names()
	require.NoError(t, err)
	for _, name := range names {
		root, member, dotted := strings.Cut(name, ".")
		if root == "given" || root == "keys" {
			require.True(t, catalogued.KnownKey(member), "%s in the condition of %v never existed", member, fact.Settings)
			continue
		}
		if name == "value" || dotted && slices.Contains(engine.FactRoots, root) {
			continue
		}
		require.True(t, inSome(func(r catalogue.Release) bool {
			_, ok := catalogued.OptionByKey(root, r)
			return ok || !dotted && known.Defines(name, r)
		}), "%s in the condition of %v does not exist in %s", name, fact.Settings, fact.VersionText)
	}
}

// emitted tells whether a release has a metric.
func emitted(t *testing.T, catalogued *catalogue.Engine, r catalogue.Release, about string) bool {
	all, err := catalogued.Metrics()
	require.NoError(t, err)
	return slices.ContainsFunc(all, func(m catalogue.Metric) bool {
		return engine.MetricPrefix+m.Name == about && m.Contains(r)
	})
}

func checkCase(t *testing.T, catalogued *catalogue.Engine, known *engine.Knowledge, fact *engine.Fact, c engine.Case) {
	ran := 0
	for _, release := range catalogued.Releases {
		if !fact.Versions.Contains(release) || c.Version != "" && c.Version != release.Version {
			continue
		}
		state, abouts, exists := stateOf(catalogued, known, release, fact, c)
		if !exists && c.Version == "" {
			continue // one of the options came later or went before
		}
		require.NotEmpty(t, abouts, "case %q holds none of %v", c.Args, fact.Settings)
		for _, about := range abouts {
			ran++
			judgements, err := known.Judge(state, about, fact.Verb)
			if fact.Verb == engine.Missing {
				judgements, err = state.Absent()
			}
			require.NoError(t, err)
			var here engine.Judgement // False unless the fact is among them
			here.Holds = engine.False
			for _, judgement := range judgements {
				if judgement.Fact == fact {
					here = judgement
				}
			}
			message := fmt.Sprintf("%s at %s: %q %v", about.Name, release, c.Args, c.Env)
			switch want := c.Wants(fact.Verb); {
			case len(c.Needs) > 0:
				require.True(t, here.Holds == engine.Unknown, "%s: the verdict is to be open, for want of %v, and is not", message, c.Needs)
				require.Subset(t, here.Needs, c.Needs, message)
			case want == nil:
				t.Fatalf("%s: the case does not say what the verdict is", message)
			case *want:
				require.True(t, here.Holds == engine.True, "%s: the fact is to hold, and does not; not known: %v", message, here.Needs)
			default:
				require.True(t, here.Holds == engine.False, "%s: the fact is not to hold; not known: %v", message, here.Needs)
			}
			if c.Effective != nil {
				require.True(t, engine.Same(plain(c.Effective), here.Effective), "%s: %v", message, here.Effective)
			}
			if c.Removable != nil {
				require.Equal(t, *c.Removable, here.Removable, message)
			}
			checkTier(t, state, about, fact, c, message)
		}
	}
	require.Positive(t, ran, "case %q ran in no release", c.Args)
}

// checkTier compares the directories of a tier, and whether it is bounded.
func checkTier(t *testing.T, state *engine.State, about setting.Setting, fact *engine.Fact, c engine.Case, message string) {
	if c.Directories != nil {
		directories, known := fact.Directories(state, about)
		require.True(t, known, message)
		require.ElementsMatch(t, c.Directories, directories, message)
	}
	if c.Bounded != nil {
		want := engine.False
		if *c.Bounded {
			want = engine.True
		}
		require.Equal(t, want, fact.Bounded(state, about), message)
	}
}

// stateOf builds the server of a case and returns its settings the fact is
// about; false when the release does not know an option of the case.
func stateOf(catalogued *catalogue.Engine, known *engine.Knowledge, release catalogue.Release, fact *engine.Fact, c engine.Case) (*engine.State, []setting.Setting, bool) {
	var words []setting.Word
	for i, text := range strings.Fields(c.Args) {
		unknown := strings.Contains(text, "${") || strings.Contains(text, "$(")
		words = append(words, setting.Word{Text: text, Unknown: unknown, Origin: setting.Origin{Kind: setting.Argument, Path: setting.Path{"args", i}}})
	}
	line := argv.Parse(catalogued, release, modes[catalogued.Name], words)
	settings := line.Settings
	for _, name := range slices.Sorted(maps.Keys(c.Env)) {
		settings = append(settings, setting.Setting{Name: "env/" + name, Values: []string{c.Env[name]}})
	}
	set := facts.Set{}
	for name, value := range c.Facts {
		set[name] = facts.Fact{Value: plain(value), Source: "case"}
	}
	var abouts []setting.Setting
	if fact.Verb == engine.Missing {
		abouts = append(abouts, setting.Setting{Name: fact.Settings[0]})
	}
	state := engine.NewState(catalogued, known, release, settings, set, "")
	for _, name := range fact.Settings {
		if strings.HasPrefix(name, engine.MetricPrefix) {
			abouts = append(abouts, setting.Setting{Name: name})
		}
	}
	for _, s := range settings {
		for _, s := range append(state.Members(s), s) {
			if slices.Contains(fact.Settings, s.Name) {
				abouts = append(abouts, s)
			}
		}
	}
	exists := !slices.ContainsFunc(line.Problems, func(p argv.Problem) bool { return p.Kind == argv.Unknown })
	return state, abouts, exists
}

// plain turns the whole numbers of a YAML value into those of the engine.
func plain(value any) any {
	switch v := value.(type) {
	case int:
		return int64(v)
	case []any:
		for i := range v {
			v[i] = plain(v[i])
		}
	}
	return value
}

// TestDefinitions runs the cases of the derived names.
func TestDefinitions(t *testing.T) {
	ran := 0
	for _, name := range catalogue.Names() {
		catalogued, err := catalogue.Load(name)
		require.NoError(t, err)
		known, err := engine.Load(name)
		require.NoError(t, err)
		known.EachDefinition(func(defined string, versions catalogue.Range, cases []engine.Case) {
			require.NotEmpty(t, cases, "%s has no case", defined)
			for _, c := range cases {
				for _, release := range catalogued.Releases {
					if !versions.Contains(release) || c.Version != "" && c.Version != release.Version {
						continue
					}
					state, _, exists := stateOf(catalogued, known, release, &engine.Fact{}, c)
					if !exists && c.Version == "" {
						continue
					}
					ran++
					value, ok, needs := state.Derived(defined)
					message := fmt.Sprintf("%s at %s: %q", defined, release, c.Args)
					if len(c.Needs) > 0 {
						require.False(t, ok, message)
						require.Subset(t, needs, c.Needs, message)
						continue
					}
					require.True(t, ok, "%s needs %v", message, needs)
					require.Equal(t, fmt.Sprint(c.Value), fmt.Sprint(value), message)
				}
			}
		})
	}
	require.Positive(t, ran)
}
