package fn

import (
	"cmp"
	"reflect"

	"github.com/trimtab/trimtab/internal/mixin"
	"github.com/trimtab/trimtab/transformers"
)

// dashboard is what a watch shows: the panels of each of its servers, then those
// of its gateways. Without a panel it has no section.
func (w *watch) dashboard() transformers.Dashboard {
	leader := w.members[0]
	board := transformers.Dashboard{
		Title: w.name + " (" + leader.Engine + ")", UID: transformers.DashboardUID(leader.Object.Namespace, w.name), Datasource: leader.config.Datasource,
	}
	if len(w.members) > 1 {
		board.Title = w.name
	}
	shown := 0
	for _, member := range w.members {
		section := transformers.Section{Panels: member.boards.panels.Panels, Left: member.boards.panels.Left}
		if member.boards.why != "" {
			section.Left = []mixin.Left{{Name: "all", Why: member.boards.why}}
		}
		if len(w.members) > 1 {
			section.Title = member.name
		}
		shown += len(section.Panels)
		board.Namespaces = cmp.Or(board.Namespaces, member.boards.namespaces)
		board.Sections = append(board.Sections, section)
	}
	if shown == 0 {
		board.Sections = nil
		return board
	}
	for _, gateway := range w.gateways() {
		section := transformers.Section{Panels: gateway.Panels}
		if last := len(board.Sections) - 1; len(w.members) == 1 {
			board.Sections[last].Panels = append(board.Sections[last].Panels, gateway.Panels...)
			continue
		}
		board.Sections = append(board.Sections, section)
	}
	return board
}

// ruleGroups are the alerts of a watch, and what is left out of them.
func (w *watch) ruleGroups() ([]transformers.RuleGroup, []mixin.Left) {
	var groups []transformers.RuleGroup
	var left []mixin.Left
	add := func(name, server string, board mixin.Board) {
		if len(board.Alerts) > 0 {
			groups = append(groups, transformers.RuleGroup{Name: name, Server: server, Alerts: board.Alerts})
		}
		for _, one := range board.Left {
			if !isAlert(one) {
				continue
			}
			if len(w.members) > 1 {
				one.Name = name + ", " + one.Name
			}
			left = append(left, one)
		}
	}
	for _, member := range w.members {
		add(member.name, member.name, member.boards.alerts)
	}
	if len(groups) == 0 {
		return nil, left
	}
	for _, gateway := range w.gateways() {
		add(mixin.Gateway, "", gateway)
	}
	return groups, left
}

// gateways are the boards of the gateways that the configs of the watch describe,
// one for each description.
func (w *watch) gateways() []mixin.Board {
	var list []mixin.Board
	for i, member := range w.members {
		described := member.config.Gateway
		known := described == nil
		for _, before := range w.members[:i] {
			known = known || reflect.DeepEqual(before.config.Gateway, described)
		}
		if !known {
			list = append(list, member.boards.gateway)
		}
	}
	return list
}
