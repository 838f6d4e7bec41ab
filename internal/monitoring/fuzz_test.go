package monitoring_test

import (
	"testing"

	"github.com/trimtab/trimtab/internal/monitoring"
	"github.com/trimtab/trimtab/internal/promql"
	"github.com/trimtab/trimtab/internal/stream"
)

// Dashboards and rules are whatever somebody wrote, or exported: what is found
// in them stands in them.
func FuzzFind(f *testing.F) {
	for _, text := range []string{
		"kind: PrometheusRule\nspec:\n  groups:\n  - rules:\n    - {record: a:b, expr: 'rate(vllm:x[5m])'}\n    - {alert: A, expr: 'a:b > 1'}\n",
		"kind: ConfigMap\ndata:\n  d.json: |\n    {\"panels\": [{\"title\": \"t\", \"targets\": [{\"expr\": \"sglang:x{a=\\\"$b\\\"}\"}]}]}\n",
		"kind: GrafanaDashboard\nspec:\n  json: >\n    {\"panels\": [{\"panels\": [{\"targets\": [{\"expr\": \"vllm:x\"}]}]}],\n    \"templating\": {\"list\": [{\"query\": {\"query\": \"label_values(vllm:y, z)\"}}]}}\n",
		"kind: List\nitems:\n- &a {expr: 'vllm:x'}\n- *a\n- {<<: *a}\n",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		source, err := stream.ParseDocuments("dashboard.yaml", []byte(text))
		if err != nil {
			return
		}
		for _, query := range monitoring.Find(source.Items, []string{"vllm:", "sglang:"}, promql.Parse) {
			if query.Text == "" || query.Item == nil {
				t.Fatalf("a query without text or item: %+v", query)
			}
		}
	})
}
