package transformers

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/trimtab/trimtab/internal/mixin"
)

// MonitorsLabel holds the server, or the group of servers, that an object of ours
// shows, watches or scrapes, as LabelValue writes it.
const MonitorsLabel = "trimtab.dev/monitors"

// LeftOutAnnotation says, one a line, which panels or alerts are left out, and why.
const LeftOutAnnotation = "trimtab.dev/left-out"

// Monitor is what the monitoring objects of one server or group have in common.
type Monitor struct {
	// Name is that of the object, as MonitorName gives it; without a Namespace the
	// line is left out.
	Name, Namespace string
	// Monitors is the server or the group; Server names the object that it is, or
	// the first of the group.
	Monitors, Server string
	// Labels and Annotations are those that others put on the object, or the config.
	Labels, Annotations map[string]string
}

// MonitorRole is what a monitoring object of ours is for.
type MonitorRole string

// The roles; a server has one object of each at most.
const (
	DashboardRole MonitorRole = "dashboard"
	RulesRole     MonitorRole = "alerts"
	ScrapeRole    MonitorRole = "metrics"
)

// RoleOf is the role of an object of a kind; false for one that we never write.
func RoleOf(kind string) (MonitorRole, bool) {
	role, ok := map[string]MonitorRole{
		"ConfigMap": DashboardRole, "GrafanaDashboard": DashboardRole,
		"PrometheusRule": RulesRole, "PodMonitor": ScrapeRole, "ServiceMonitor": ScrapeRole,
	}[kind]
	return role, ok
}

// MonitorName is the name of an object of a server or a group, at most 52
// characters: SERVER-dashboard, SERVER-alerts, SERVER-metrics. A longer one is cut
// and tells itself apart by a hash.
func MonitorName(server string, role MonitorRole) string {
	return fittingName(server, "-"+string(role), "-"+string(role), server)
}

// metadata is that of an object of ours; more are labels that it has beside
// those of the config.
func (m Monitor) metadata(more map[string]string, annotations mapping) mapping {
	labels := maps.Clone(m.Labels)
	if labels == nil {
		labels = map[string]string{}
	}
	maps.Copy(labels, more)
	delete(labels, ManagedByLabel)
	delete(labels, MonitorsLabel)
	return mapping{
		{"name", quoted(m.Name)},
		{"namespace", text(m.Namespace)},
		{"labels", append(mapping{
			{ManagedByLabel, plain("trimtab")},
			{MonitorsLabel, quoted(LabelValue(m.Monitors))},
		}, texts(labels)...)},
		{"annotations", append(append(mapping{{ServerAnnotation, quoted(m.Server)}}, annotations...), texts(m.Annotations)...)},
	}
}

// leftOut is the annotation about what is left out.
func leftOut(left []mixin.Left) mapping {
	if len(left) == 0 {
		return nil
	}
	var lines strings.Builder
	for _, one := range left {
		fmt.Fprintf(&lines, "%s: %s\n", one.Name, oneLine(one.Why))
	}
	return mapping{{LeftOutAnnotation, literal(lines.String())}}
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// RuleGroup is the alerts about one server; a name for a group of servers, or of
// a gateway.
type RuleGroup struct {
	Name string
	// Server is put on the alerts as a label; empty: none is.
	Server string
	Alerts []mixin.Alert
}

// PrometheusRule is the alerts of a server or a group as a whole YAML document,
// the same bytes for the same alerts.
func PrometheusRule(m Monitor, groups []RuleGroup, left []mixin.Left) string {
	return document(mapping{
		{"apiVersion", plain("monitoring.coreos.com/v1")},
		{"kind", plain("PrometheusRule")},
		{"metadata", m.metadata(nil, leftOut(left))},
		{"spec", mapping{{"groups", ruleGroups(groups)}}},
	})
}

// RuleFile is the same alerts as promtool and a Prometheus without an operator
// read them.
func RuleFile(groups []RuleGroup) string { return document(mapping{{"groups", ruleGroups(groups)}}) }

func ruleGroups(groups []RuleGroup) sequence {
	var list sequence
	for _, group := range groups {
		var rules sequence
		for _, alert := range group.Alerts {
			rules = append(rules, mapping{
				{"alert", quoted(alert.Name)},
				{"expr", literal(alert.Expr + "\n")},
				{"for", plain(alert.For)},
				{"labels", mapping{{"severity", plain(alert.Severity)}, {"server", text(group.Server)}}},
				{"annotations", mapping{{"summary", quoted(alert.Summary)}, {"description", quoted(alert.Do)}}},
			})
		}
		list = append(list, mapping{{"name", quoted(group.Name)}, {"rules", rules}})
	}
	return list
}

// Target is what a Prometheus scrapes.
type Target struct {
	// Selector are labels of the pods or, for a ServiceMonitor, of the Service.
	Selector map[string]string
	// Port is the name of the port, Number its number where it has no name.
	Port   string
	Number int64
	Path   string
	// Job is the label job of the series.
	Job string
	// Interval is how often; 0: as Prometheus is configured.
	Interval time.Duration
}

// PodMonitor is the object that has Prometheus scrape the pods of a server.
func PodMonitor(m Monitor, t Target) string { return t.monitor(m, "PodMonitor", "podMetricsEndpoints") }

// ServiceMonitor is the object that has Prometheus scrape the pods of a server by
// way of its Service.
func ServiceMonitor(m Monitor, t Target) string { return t.monitor(m, "ServiceMonitor", "endpoints") }

func (t Target) monitor(m Monitor, kind, endpoints string) string {
	var interval, number plain
	if t.Interval > 0 {
		interval = plain(fmt.Sprintf("%ds", int64(t.Interval/time.Second)))
	}
	if t.Port == "" {
		number = plain(fmt.Sprint(t.Number))
	}
	return document(mapping{
		{"apiVersion", plain("monitoring.coreos.com/v1")},
		{"kind", plain(kind)},
		{"metadata", m.metadata(nil, nil)},
		{"spec", mapping{
			{"selector", mapping{{"matchLabels", texts(t.Selector)}}},
			{endpoints, sequence{mapping{
				{"port", text(t.Port)},
				{"targetPort", number},
				{"path", quoted(t.Path)},
				{"interval", interval},
				// A name that no host changes: the queries ask for it.
				{"relabelings", sequence{mapping{{"targetLabel", plain("job")}, {"replacement", quoted(t.Job)}}}},
			}}},
		}},
	})
}

// Matchers are labels as PromQL selects by them, in their order.
func Matchers(labels map[string]string) string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		list = append(list, fmt.Sprintf("%s=%q", name, labels[name]))
	}
	return strings.Join(list, ",")
}
