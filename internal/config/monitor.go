package config

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// Monitor configures the objects that show and watch a server: a Grafana
// dashboard, a PrometheusRule, and what has Prometheus scrape it.
type Monitor struct {
	// Off is monitor: false: none is generated and ours are removed.
	Off bool
	// Dashboard is sidecar (a ConfigMap), operator (a GrafanaDashboard) or false;
	// absent: sidecar.
	Dashboard string
	// Rules is false where no PrometheusRule is wanted.
	Rules *bool
	// Scrape is pod (a PodMonitor), service (a ServiceMonitor) or false; absent: a
	// PodMonitor, and none where an operator brings its own.
	Scrape string
	// Interval is how often the server is scraped, at least a second; absent: as
	// Prometheus is configured.
	Interval *time.Duration
	// Group names a dashboard and a PrometheusRule that several servers of one
	// namespace share; absent: each server has its own.
	Group string
	// Folder is the folder of the dashboard in Grafana; absent: as Grafana decides.
	Folder string
	// Datasource is the name of the Prometheus that the dashboard chooses at first;
	// absent: as Grafana decides.
	Datasource string
	// Labels are put on the PrometheusRule and on what scrapes: by them a
	// Prometheus finds both.
	Labels map[string]string
	// DashboardLabels are those by which the sidecar finds the ConfigMap; absent:
	// grafana_dashboard: "1".
	DashboardLabels map[string]string
	// InstanceSelector are the labels of the Grafana that the operator gives the
	// dashboard; absent: dashboards: grafana.
	InstanceSelector map[string]string
	// Selector are labels that select the series of the server alone; absent: those
	// that the generated PodMonitor or ServiceMonitor gives them.
	Selector map[string]string
	// TTFT is the time to the first token, p95, from which an alert fires; absent: a
	// minute.
	TTFT *time.Duration
	// Gateway describes a gateway that admits requests by what the engine reports;
	// absent: there is none.
	Gateway *Gateway
}

// The words of monitor.dashboard and monitor.scrape.
const (
	DashboardSidecar  = "sidecar"
	DashboardOperator = "operator"
	ScrapePod         = "pod"
	ScrapeService     = "service"
	None              = "false"
)

// Gateway names the series of a gateway. An empty name is that of the gateway
// whose metrics trimtab knows: see the fields.
type Gateway struct {
	// Selector are labels that select the series of the gateway; absent: its names do.
	Selector map[string]string
	// Running is what the gateway reads of running requests; absent:
	// vllm_requests_running.
	Running string
	// KVUsage is what it reads of the KV cache, 0 to 1; absent: vllm_kv_usage_perc.
	KVUsage string
	// Parked counts requests that wait for admission; absent:
	// admission_parked_total.
	Parked string
	// Rejected counts those refused, with a label reason; absent:
	// admission_rejected_total.
	Rejected string
	// Stale counts decisions on old gauges; absent: engine_state_stale_total.
	Stale string
	// Degraded is 1 while the gateway's observer of the engine fails;
	// absent: observer_degraded.
	Degraded string
	// SmallTTFT is a histogram of the time to the first token of small prompts
	// alone, in seconds, with labels where they tell sizes apart:
	// llm_ttft_seconds{size="small"}. Absent: there is none.
	SmallTTFT string
}

func (d decoder) monitor(to **Monitor) read {
	return func(node *yaml.Node, path string) error {
		m := &Monitor{}
		if node.Kind == yaml.MappingNode {
			*to = m
			return d.fields(node, path, d.monitorFields(m))
		}
		var on *bool
		if err := d.truth(&on)(node, path); err != nil {
			return wrong(path, "false, or a mapping such as {} for all defaults", node)
		}
		m.Off = !*on
		*to = m
		return nil
	}
}

func (d decoder) monitorFields(m *Monitor) fields {
	return fields{
		"dashboard":        d.orFalse(&m.Dashboard, DashboardSidecar, DashboardOperator),
		"rules":            d.truth(&m.Rules),
		"scrape":           d.orFalse(&m.Scrape, ScrapePod, ScrapeService),
		"interval":         d.seconds(&m.Interval),
		"group":            d.matching(&m.Group, groupForm, "a name of at most 40 lower case letters, digits and `-`"),
		"folder":           d.text(&m.Folder),
		"datasource":       d.text(&m.Datasource),
		"labels":           d.labels(&m.Labels),
		"dashboardLabels":  d.labels(&m.DashboardLabels),
		"instanceSelector": d.labels(&m.InstanceSelector),
		"selector":         d.seriesLabels(&m.Selector),
		"ttft":             d.seconds(&m.TTFT),
		"gateway":          d.gateway(&m.Gateway),
	}
}

func (d decoder) gateway(to **Gateway) read {
	return func(node *yaml.Node, path string) error {
		g := &Gateway{}
		*to = g
		name := func(to *string) read {
			return d.matching(to, metricForm, "the name of a metric")
		}
		return d.fields(node, path, fields{
			"selector": d.seriesLabels(&g.Selector),
			"running":  name(&g.Running), "kvUsage": name(&g.KVUsage),
			"parked": name(&g.Parked), "rejected": name(&g.Rejected), "stale": name(&g.Stale), "degraded": name(&g.Degraded),
			"smallTTFT": d.matching(&g.SmallTTFT, histogramForm, `a histogram such as llm_ttft_seconds{size="small"}`),
		})
	}
}

var (
	groupForm  = regexp.MustCompile(`^[a-z]([-a-z0-9]{0,38}[a-z0-9])?$`)
	metricForm = regexp.MustCompile(`^[A-Za-z_:][A-Za-z0-9_:]*$`)
	// histogramForm is a metric with equality matchers, if any.
	histogramForm = regexp.MustCompile(`^[A-Za-z_:][A-Za-z0-9_:]*(\{[A-Za-z_]\w*="[^"\\{}$]*"(, ?[A-Za-z_]\w*="[^"\\{}$]*")*\})?$`)
	seriesLabel   = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	objectLabel   = regexp.MustCompile(`^` + labelKey + `$`)
)

// orFalse reads one of some words, or false; true is the first of them.
func (d decoder) orFalse(to *string, words ...string) read {
	return func(node *yaml.Node, path string) error {
		if s, ok := d.scalar(node, "!!bool"); ok && strings.EqualFold(s, "true") {
			*to = words[0]
			return nil
		}
		return d.oneOf(to, append(words, None)...)(node, path)
	}
}

func (d decoder) matching(to *string, form *regexp.Regexp, want string) read {
	return func(node *yaml.Node, path string) error {
		s, ok := d.scalar(node, "!!str")
		if !ok || !form.MatchString(s) {
			return wrong(path, want, node)
		}
		*to = s
		return nil
	}
}

// seconds reads a duration of whole seconds.
func (d decoder) seconds(to **time.Duration) read {
	return func(node *yaml.Node, path string) error {
		if err := d.duration(to)(node, path); err != nil {
			return wrong(path, "a duration such as 30s", node)
		}
		if **to%time.Second != 0 || **to > 24*time.Hour {
			return wrong(path, "whole seconds, at most a day, such as 30s", node)
		}
		return nil
	}
}

// labels reads labels of a Kubernetes object.
func (d decoder) labels(to *map[string]string) read {
	return d.pairs(to, func(key, value string) string {
		switch {
		case !objectLabel.MatchString(key):
			return "is no label of Kubernetes"
		case !wholeLabelValue.MatchString(value) && !strings.Contains(value, "${"):
			return "has a value that no label may have"
		}
		return ""
	})
}

// seriesLabels reads labels of time series. A `$` would be a variable to Grafana
// or Flux, and never reach Prometheus.
func (d decoder) seriesLabels(to *map[string]string) read {
	return d.pairs(to, func(key, value string) string {
		switch {
		case !seriesLabel.MatchString(key):
			return "is no label of a time series"
		case strings.ContainsAny(value, "$\n") || value == "":
			return "has a value that selects nothing: write it out, without `$`"
		}
		return ""
	})
}

// pairs reads a mapping of texts that holds something; fault says what is wrong
// with one.
func (d decoder) pairs(to *map[string]string, fault func(key, value string) string) read {
	return func(node *yaml.Node, path string) error {
		if node.Kind != yaml.MappingNode || len(node.Content) == 0 {
			return wrong(path, "a mapping of labels to values", node)
		}
		pairs := map[string]string{}
		for i := 0; i+1 < len(node.Content); i += 2 {
			key, value := resolve(node.Content[i]), resolve(node.Content[i+1])
			field := join(path, bare(key.Value))
			if key.Kind != yaml.ScalarNode || value.Kind != yaml.ScalarNode || value.ShortTag() != "!!str" {
				return wrong(field, "text (quote it)", value)
			}
			if _, twice := pairs[key.Value]; twice {
				return fmt.Errorf("field `%s` stands twice; remove one", field)
			}
			if why := fault(key.Value, value.Value); why != "" {
				return fmt.Errorf("`%s` %s", field, why)
			}
			pairs[key.Value] = value.Value
		}
		*to = pairs
		return nil
	}
}

func (m *merger) monitor(to, from *Spec) {
	if from.Monitor == nil {
		return
	}
	var joined Monitor
	var state string
	if to.Monitor != nil {
		joined, state = *to.Monitor, to.Monitor.state()
	}
	a, b := &joined, from.Monitor
	text(m, "monitor", &state, b.state(), equal)
	a.Off = state == None
	text(m, "monitor.dashboard", &a.Dashboard, b.Dashboard, equal)
	pointer(m, "monitor.rules", &a.Rules, b.Rules, equal)
	text(m, "monitor.scrape", &a.Scrape, b.Scrape, equal)
	pointer(m, "monitor.interval", &a.Interval, b.Interval, equal)
	text(m, "monitor.group", &a.Group, b.Group, equal)
	text(m, "monitor.folder", &a.Folder, b.Folder, equal)
	text(m, "monitor.datasource", &a.Datasource, b.Datasource, equal)
	m.pairs("monitor.labels", &a.Labels, b.Labels)
	m.pairs("monitor.dashboardLabels", &a.DashboardLabels, b.DashboardLabels)
	m.pairs("monitor.instanceSelector", &a.InstanceSelector, b.InstanceSelector)
	m.pairs("monitor.selector", &a.Selector, b.Selector)
	pointer(m, "monitor.ttft", &a.TTFT, b.TTFT, equal)
	pointer(m, "monitor.gateway", &a.Gateway, b.Gateway, deepEqual)
	to.Monitor = &joined
}

func (m *merger) pairs(field string, to *map[string]string, from map[string]string) {
	var before, now *map[string]string
	if *to != nil {
		before = to
	}
	if from != nil {
		now = &from
	}
	pointer(m, field, &before, now, deepEqual)
	if before != nil {
		*to = *before
	}
}

func (m *Monitor) state() string {
	if m.Off {
		return None
	}
	return "true"
}
