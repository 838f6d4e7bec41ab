package fn

import (
	"maps"
	"reflect"

	"github.com/trimtab/trimtab/internal/config"
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
			target := *s.boards.target
			if o.stands != nil && isPartOf(o.stands.selector(), target.Selector) {
				target.Selector = o.stands.selector() // a host added labels to the pods
			}
			if o.kind == "ServiceMonitor" {
				return transformers.ServiceMonitor(m, target), nil
			}
			return transformers.PodMonitor(m, target), nil
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
