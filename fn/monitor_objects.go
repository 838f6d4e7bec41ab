package fn

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/trimtab/trimtab/internal/config"
	"github.com/trimtab/trimtab/internal/finding"
	"github.com/trimtab/trimtab/internal/server"
	"github.com/trimtab/trimtab/internal/stream"
	"github.com/trimtab/trimtab/transformers"
)

// objects are what a watch wants: a dashboard and alerts for all its members, and
// for each of them what scrapes it.
func (w *watch) objects() []*monitorObject {
	var all []*monitorObject
	leader := w.members[0]
	shared := func(role transformers.MonitorRole) *monitorObject {
		o := &monitorObject{owner: leader, role: role, name: w.name}
		all = append(all, o)
		return o
	}
	for _, member := range w.members {
		all = append(all, member.scrapeObject())
		if member == leader {
			continue
		}
		for _, role := range []transformers.MonitorRole{transformers.DashboardRole, transformers.RulesRole} {
			all = append(all, &monitorObject{owner: member, role: role, name: member.name, why: "the group " + w.name + " has one for all its servers"})
		}
	}
	rules, dashboard := shared(transformers.RulesRole), shared(transformers.DashboardRole)
	why, fault := w.nothing()
	if why != "" {
		rules.why, dashboard.why, dashboard.fault = why, why, fault
		return all
	}
	w.rulesObject(rules)
	w.dashboardObject(dashboard)
	return all
}

// nothing says why the watch has neither dashboard nor alerts; fault is true where
// they were asked for.
func (w *watch) nothing() (why string, fault bool) {
	for _, member := range w.members {
		switch {
		case member.config.Off:
			return "the config says `monitor: false`", false
		case !sameObjects(member.config, w.members[0].config):
			return "the configs of the servers of group " + w.name + " do not agree in dashboard, rules, labels, folder and data source: make them one", true
		case member.boards.why != "":
			why = member.boards.why
		default:
			return "", false
		}
	}
	return why, true
}

// sameObjects tells whether two configs ask for the same objects of a group.
func sameObjects(a, b *config.Monitor) bool {
	shared := func(m *config.Monitor) config.Monitor {
		return config.Monitor{
			Dashboard: m.Dashboard, Rules: m.Rules, Folder: m.Folder, Datasource: m.Datasource,
			Labels: m.Labels, DashboardLabels: m.DashboardLabels, InstanceSelector: m.InstanceSelector,
		}
	}
	return reflect.DeepEqual(shared(a), shared(b))
}

func (w *watch) rulesObject(o *monitorObject) {
	wanted := w.members[0].config
	groups, left := w.ruleGroups()
	switch {
	case wanted.Rules != nil && !*wanted.Rules:
		o.why = "the config says `monitor.rules: false`"
	case len(groups) == 0:
		o.why, o.fault = "no alert can be filled", true
	default:
		o.kind = "PrometheusRule"
		o.write = func(m transformers.Monitor) (string, error) {
			m.Labels = joinedLabels(m.Labels, wanted.Labels)
			return transformers.PrometheusRule(m, groups, left), nil
		}
	}
}

func (w *watch) dashboardObject(o *monitorObject) {
	wanted := w.members[0].config
	board := w.dashboard()
	switch {
	case wanted.Dashboard == config.None:
		o.why = "the config says `monitor.dashboard: false`"
	case len(board.Sections) == 0:
		o.why, o.fault = "no panel can be filled", true
	case wanted.Dashboard == config.DashboardOperator:
		o.kind = "GrafanaDashboard"
		o.write = func(m transformers.Monitor) (string, error) {
			return transformers.GrafanaDashboard(m, board, wanted.InstanceSelector, wanted.Folder)
		}
	default:
		o.kind = "ConfigMap"
		o.write = func(m transformers.Monitor) (string, error) {
			return transformers.DashboardConfigMap(m, board, wanted.DashboardLabels, wanted.Folder)
		}
	}
}

// scrapeObject is what has Prometheus scrape a server.
func (s *monitored) scrapeObject() *monitorObject {
	o := &monitorObject{owner: s, role: transformers.ScrapeRole, name: s.name}
	switch {
	case s.config.Off:
		o.why = "the config says `monitor: false`"
	case s.boards.target == nil && s.boards.unscraped != "":
		o.why, o.fault = s.boards.unscraped, true
	case s.boards.target == nil:
		o.why = "something else scrapes the server"
	case s.boards.nothing != nil:
		o.why = s.boards.why
	default:
		o.kind = s.boards.scrapeKind
		o.write = func(m transformers.Monitor) (string, error) {
			m.Labels = joinedLabels(m.Labels, s.config.Labels)
			if o.kind == "ServiceMonitor" {
				return transformers.ServiceMonitor(m, *s.boards.target), nil
			}
			return transformers.PodMonitor(m, *s.boards.target), nil
		}
	}
	return o
}

func joinedLabels(stands, wanted map[string]string) map[string]string {
	joined := map[string]string{}
	maps.Copy(joined, stands)
	maps.Copy(joined, wanted)
	return joined
}

// standingMonitor is a monitoring object of ours in the input.
type standingMonitor struct {
	Item                *stream.Item
	Object              finding.Object
	Labels, Annotations map[string]string
	taken               bool
}

// standingMonitors are the monitoring objects of ours in the input.
func (j *judgements) standingMonitors() ([]*standingMonitor, error) {
	var standing []*standingMonitor
	for _, item := range j.items {
		if !item.Mentions(transformers.MonitorsLabel) {
			continue
		}
		object, err := server.ObjectOf(item)
		if err != nil {
			return nil, err
		}
		if _, ok := transformers.RoleOf(object.Kind); !ok {
			continue
		}
		one := &standingMonitor{Item: item, Object: object, Labels: labelsOf(item), Annotations: annotationsOf(item)}
		if one.Labels[transformers.ManagedByLabel] == "trimtab" && one.Labels[transformers.MonitorsLabel] != "" {
			standing = append(standing, one)
		}
	}
	return standing, nil
}

// labelsOf are the labels of the object an item holds.
func labelsOf(item *stream.Item) map[string]string {
	root, err := item.Root()
	if err != nil || root == nil {
		return nil
	}
	var object struct {
		Metadata struct {
			Labels map[string]string `yaml:"labels"`
		} `yaml:"metadata"`
	}
	_ = root.Decode(&object) // an object of another form has none
	return object.Metadata.Labels
}

// is tells whether an object of ours is what a server or a group wants to stand or
// to go. A host may have given both the same prefix or suffix.
func (m *standingMonitor) is(o *monitorObject) bool {
	role, _ := transformers.RoleOf(m.Object.Kind)
	if role != o.role || apart(m.Object, o.owner.Object) {
		return false
	}
	before := m.Labels[transformers.MonitorsLabel]
	if before == transformers.LabelValue(o.name) {
		return true
	}
	prefix, suffix, found := strings.Cut(o.name, before)
	return found && m.Object.Name == prefix+transformers.MonitorName(before, role)+suffix
}

// assignMonitors gives each wanted object the one of ours that stands for it: the
// nearest to its server. Another kind for the same purpose goes by itself.
func assignMonitors(wanted []*monitorObject, standing []*standingMonitor) {
	for near := 2; near >= 0; near-- {
		for _, o := range wanted {
			if near == 0 && o.owner.copies > 1 && o.owner.Item.Source.List == nil {
				continue // it may be another cluster's
			}
			at := slices.IndexFunc(standing, func(m *standingMonitor) bool {
				return !m.taken && m.is(o) && (o.kind == "" || o.kind == m.Object.Kind) && nearness(o.owner.Server, m.Item, m.Annotations) == near
			})
			if o.stands == nil && at >= 0 {
				o.stands, standing[at].taken = standing[at], true
			}
		}
	}
	for _, m := range standing {
		for _, o := range wanted {
			if !m.taken && m.is(o) && o.kind != "" && (o.owner.copies == 1 || nearness(o.owner.Server, m.Item, m.Annotations) > 0) {
				m.taken = true
				o.replaces(m)
			}
		}
	}
}

// replaces takes away an object of ours of another kind, or a second one, for
// which a wanted one stands.
func (o *monitorObject) replaces(m *standingMonitor) {
	about := o.owner.finding(o.role)
	if about == nil {
		return
	}
	f := *about
	f.Setting += " " + objectName(m.Object)
	f.Message = objectName(m.Object) + " goes: " + o.kind + " " + transformers.MonitorName(o.name, o.role) + " is what the config asks for" + f.Message
	if f.Action != finding.None {
		f.Action = finding.Remove
		o.owner.generated = append(o.owner.generated, generated{stands: m.Item})
	}
	f.Monitors += " " + m.Object.Kind
	o.owner.findings = append(o.owner.findings, f)
}

// upToDate tells whether an object is what a text says. Names, and the labels and
// annotations of others, may have been changed by a host on the way.
func (m *standingMonitor) upToDate(text string) bool {
	var wanted, stands map[string]any
	root, err := m.Item.Root()
	if err != nil || root == nil || yaml.Unmarshal([]byte(text), &wanted) != nil || root.Decode(&stands) != nil {
		return false
	}
	meta := func(object map[string]any, key string) map[string]any {
		metadata, _ := object["metadata"].(map[string]any)
		values, _ := metadata[key].(map[string]any)
		return values
	}
	for _, key := range []string{"labels", "annotations"} {
		has, wants := meta(stands, key), meta(wanted, key)
		for name, value := range wants {
			if has[name] != value {
				return false
			}
		}
		for name := range has {
			if _, ok := wants[name]; !ok && isMonitorOwn(name) {
				return false
			}
		}
	}
	delete(wanted, "metadata")
	delete(stands, "metadata")
	return reflect.DeepEqual(wanted, stands)
}

// isMonitorOwn tells whether a label or an annotation is written by us alone.
func isMonitorOwn(name string) bool {
	return strings.HasPrefix(name, "trimtab.dev/") || slices.Contains([]string{transformers.ManagedByLabel, "grafana_dashboard", "grafana_folder"}, name)
}

// monitorOthers are the labels or annotations of an object of ours that are not
// written by us: they stay.
func monitorOthers(of map[string]string) map[string]string {
	kept := withoutFlux(of)
	maps.DeleteFunc(kept, func(name, _ string) bool { return isMonitorOwn(name) })
	return kept
}
