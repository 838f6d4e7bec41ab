package engine_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trimtab/trimtab/internal/argv"
	"github.com/trimtab/trimtab/internal/catalogue"
	"github.com/trimtab/trimtab/internal/engine"
	"github.com/trimtab/trimtab/internal/setting"
)

// TestRenamings checks each fact that names another form: the old one exists in
// some release, the new one in all of the fact's range, and the cases of a form
// that means the same are read without complaint.
func TestRenamings(t *testing.T) {
	for _, name := range catalogue.Names() {
		catalogued, err := catalogue.Load(name)
		require.NoError(t, err)
		known, err := engine.Load(name)
		require.NoError(t, err)
		all, err := known.All()
		require.NoError(t, err)
		for _, fact := range all {
			if fact.Verb != engine.Renamed {
				continue
			}
			t.Run(name+"/"+strings.Join(fact.Settings, ","), func(t *testing.T) {
				for _, old := range fact.Settings {
					if strings.HasPrefix(old, engine.MetricPrefix) {
						requireMetric(t, catalogued, fact)
						return
					}
					require.True(t, everKnown(t, old), "no release of any engine knows %s", old)
				}
				covered := 0
				for _, release := range catalogued.Releases {
					if !fact.Versions.Contains(release) {
						continue
					}
					covered++
					requireNewForm(t, catalogued, release, fact.Renaming.To)
					for _, c := range fact.Cases {
						requireCase(t, catalogued, known, release, fact, c)
					}
				}
				require.Positive(t, covered, "no release of the catalogue lies in %q", fact.VersionText)
				require.Equal(t, fact.Renaming.Same, len(fact.Cases) > 0, "a form that means the same has cases, another has none")
			})
		}
	}
}

// requireMetric: the new metric is emitted in all of the fact's range.
func requireMetric(t *testing.T, catalogued *catalogue.Engine, fact *engine.Fact) {
	for _, release := range catalogued.Releases {
		if fact.Versions.Contains(release) {
			require.True(t, emitted(t, catalogued, release, engine.MetricPrefix+fact.Renaming.To), "%s does not emit %s", release, fact.Renaming.To)
		}
	}
}

func everKnown(t *testing.T, old string) bool {
	for _, name := range catalogue.Names() {
		catalogued, err := catalogue.Load(name)
		require.NoError(t, err)
		variable, isVariable := strings.CutPrefix(old, "env/")
		if isVariable && len(catalogued.EnvEver(variable)) > 0 || !isVariable && len(catalogued.OptionEver(old)) > 0 {
			return true
		}
	}
	return false
}

func requireNewForm(t *testing.T, catalogued *catalogue.Engine, release catalogue.Release, to string) {
	if to == "" {
		return
	}
	flag, value, hasValue := strings.Cut(to, "=")
	base, _, dotted := strings.Cut(flag, ".")
	option, ok := catalogued.Option(base, release)
	require.True(t, ok, "%s does not exist in %s", flag, release)
	if hasValue && !dotted {
		require.Nil(t, argv.Check(option, []string{value}), "%s in %s", to, release)
	}
}

func requireCase(t *testing.T, catalogued *catalogue.Engine, known *engine.Knowledge, release catalogue.Release, fact *engine.Fact, c engine.Case) {
	mode := argv.Mode(fact.Renaming.Mode)
	if mode == "" {
		mode = modes[catalogued.Name]
	}
	old := strings.Fields(c.Args)
	var becomes []string
	for i := 0; i < len(old); i++ {
		spelled, _, attached := strings.Cut(old[i], "=")
		if known.Renaming(spelled, string(mode), release) != fact {
			becomes = append(becomes, old[i])
			continue
		}
		words := old[i : i+1]
		if fact.Renaming.Positional && !attached {
			words = old[i : i+2]
		}
		texts, ok := fact.Renaming.Rewrite(words)
		require.True(t, ok, c.Args)
		for _, text := range texts {
			if text != nil {
				becomes = append(becomes, *text)
			}
		}
		i += len(words) - 1
	}
	require.NotNil(t, c.Becomes, c.Args)
	require.Equal(t, *c.Becomes, strings.Join(becomes, " "))
	var words []setting.Word
	for _, text := range becomes {
		words = append(words, setting.Word{Text: text})
	}
	require.Empty(t, argv.Parse(catalogued, release, mode, words).Problems, "%s in %s", *c.Becomes, release)
}
