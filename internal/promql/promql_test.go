package promql_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trimtab/trimtab/internal/monitoring"
	"github.com/trimtab/trimtab/internal/promql"
)

// asked prints the selectors of an expression: name or /pattern/, and the labels
// that a series must bear.
func asked(e monitoring.Expr) []string {
	asked := []string{}
	for _, s := range e.Selectors() {
		text := s.Name
		if s.Pattern != "" {
			text = "/" + s.Pattern + "/"
		}
		if len(s.Labels) > 0 {
			text += "{" + strings.Join(s.Labels, ",") + "}"
		}
		asked = append(asked, text)
	}
	return asked
}

func TestParse(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		want []string
	}{
		{`vllm:num_requests_running`, []string{"vllm:num_requests_running"}},
		{`histogram_quantile(0.95, sum by (le) (rate(vllm:ttft_bucket{model_name="$model"}[$__rate_interval])))`, []string{"vllm:ttft_bucket"}},
		{`rate(a:b{ns="${ns}"}[${window:raw}]) / rate(a:c[[[window]]])`, []string{"a:b", "a:c"}},
		{`sum(a:b{x="1",y!="2",z=~"p|q",w=~".*",v!~"",u!=""}) by ($group)`, []string{"a:b{u,v,x,z}"}},
		{`topk($k, a:b offset $shift)`, []string{"", "a:b"}},
		{`{__name__=~"vllm:(a|b)", engine="0"}`, []string{"/vllm:(a|b)/{engine}"}},
		{`vllm:${metric}_total`, []string{""}},
		{`a:b{m="[[model]]"} or vector(0)`, []string{"a:b"}},
		{`absent(a:b) unless on (pod) a:c`, []string{"a:b", "a:c"}},
		{`max_over_time((a:b > 3)[5m:1m])`, []string{"a:b"}},
		{`{a:b}`, nil},
		{`{{ .Values.metric }} > 1`, nil},
		{`{app="x"} |= "vllm:y"`, nil},
		{`sum(`, nil},
	} {
		parsed, err := promql.Parse(c.text)
		if c.want == nil {
			require.Error(t, err, c.text)
			continue
		}
		require.NoError(t, err, c.text)
		require.Equal(t, c.want, asked(parsed), c.text)
	}
}

func TestOneOperandOfOrIsEnough(t *testing.T) {
	t.Parallel()
	dead := func(s monitoring.Selector) bool { return strings.HasPrefix(s.Name, "dead") }
	for text, want := range map[string][]string{
		`dead:a or b`:                      {},
		`dead:a or dead:b`:                 {"dead:a", "dead:b"},
		`dead:a or vector(0)`:              {"dead:a"},
		`dead:a / (b or dead:c)`:           {"dead:a"},
		`sum(rate(dead:a[5m])) + count(b)`: {"dead:a"},
	} {
		parsed, err := promql.Parse(text)
		require.NoError(t, err, text)
		missing := []string{}
		for _, s := range parsed.Missing(dead) {
			missing = append(missing, s.Name)
		}
		require.Equal(t, want, missing, text)
	}
}

// Text of a manifest is whatever somebody wrote.
func FuzzParse(f *testing.F) {
	f.Add(`sum by (le) (rate(a:b_bucket{x="${y}"}[$__rate_interval])) or [[z]]`)
	f.Fuzz(func(t *testing.T, text string) {
		if parsed, err := promql.Parse(text); err == nil {
			parsed.Missing(func(monitoring.Selector) bool { return true })
		}
	})
}
