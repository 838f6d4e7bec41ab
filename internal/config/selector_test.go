package config

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSelects(t *testing.T) {
	labels := map[string]string{"tier": "prod", "app.kubernetes.io/name": "chat"}
	tests := []struct {
		selects string
		want    bool
	}{
		{"[]", true},
		{"[{kind: InferenceService}]", true},
		{"[{kind: Deployment}]", false},
		{"[{kind: InferenceService, name: chat, namespace: ai, container: server, labels: tier=prod}]", true},
		{"[{kind: InferenceService, name: other}]", false},
		{"[{name: chat, namespace: dev}]", false},
		{"[{name: chat, container: sidecar}]", false},
		{"[{name: chat, labels: tier=dev}]", false},
		{"[{name: other}, {namespace: ai}]", true},
		{"[{name: other}, {namespace: dev}]", false},
		{"[{labels: \"app.kubernetes.io/name in (chat, code)\"}]", true},
	}
	for _, test := range tests {
		c, err := decode(t, spec("select: "+test.selects))
		require.NoError(t, err)
		require.Equal(t, test.want, c.Selects("InferenceService", "chat", "ai", labels, "server"), test.selects)
	}
	require.True(t, Default().Selects("Pod", "x", "", nil, ""))
}

func TestLabelSelector(t *testing.T) {
	labels := map[string]string{"tier": "prod", "env": "", "example.com/team": "a-b.c"}
	tests := []struct {
		selector string
		want     bool
	}{
		{"tier=prod", true}, {"tier==prod", true}, {"tier = prod", true}, {"tier=dev", false},
		{"tier!=dev", true}, {"tier!=prod", false}, {"absent!=x", true}, {"absent=x", false},
		{"tier", true}, {"!tier", false}, {"absent", false}, {"!absent", true}, {"! absent", true},
		{"env=", true}, {"env!=", false}, {"tier=", false},
		{"tier in (prod,dev)", true}, {"tier in ( prod )", true}, {"tier in (dev)", false}, {"absent in (dev)", false},
		{"tier notin (dev)", true}, {"tier notin (prod)", false}, {"absent notin (dev)", true},
		{"env in (,x)", true},
		{"example.com/team=a-b.c", true},
		{"tier=prod,env!=dev", true}, {"tier=prod, absent", false}, {"tier in (prod,dev),!absent , env", true},
	}
	for _, test := range tests {
		requirements, ok := parseLabels(test.selector)
		require.True(t, ok, test.selector)
		c := &Config{Spec: Spec{Select: []Selector{{Labels: test.selector, requirements: requirements}}}}
		require.Equal(t, test.want, c.Selects("Pod", "x", "y", labels, "c"), test.selector)
	}
	for _, bad := range []string{"", ",", "tier=prod,", "=prod", "tier=prod dev", "tier=a=b", "tier>1", "tier in prod", "tier in (a", "tier in (a b)", "-x", "a/b/c", "tier=prod;env=x", "!tier=prod"} {
		_, ok := parseLabels(bad)
		require.False(t, ok, bad)
	}
}

func FuzzParseLabels(f *testing.F) {
	for _, seed := range []string{"tier=prod,env!=dev", "a in (b,c),!d", "a notin ()", "a=,b", ",,"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		requirements, ok := parseLabels(text)
		require.Equal(t, ok, len(requirements) > 0)
		for _, r := range requirements {
			require.NotEmpty(t, r.key)
			// A term and its negation never hold together.
			other := r
			other.not = !r.not
			labels := map[string]string{r.key: "x"}
			require.NotEqual(t, r.holds(labels), other.holds(labels))
		}
	})
}
