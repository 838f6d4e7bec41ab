package fn

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/trimtab/trimtab/internal/config"
	"github.com/trimtab/trimtab/internal/finding"
	"github.com/trimtab/trimtab/internal/rule"
	"github.com/trimtab/trimtab/transformers"
)

// monitorFields are the fields of `monitor` by the role of the object that each
// asks for.
var monitorFields = map[transformers.MonitorRole]string{
	transformers.DashboardRole: "monitor.dashboard", transformers.RulesRole: "monitor.rules", transformers.ScrapeRole: "monitor.scrape",
}

// monitorRoles are the roles in the order in which the objects are written.
var monitorRoles = []transformers.MonitorRole{transformers.ScrapeRole, transformers.RulesRole, transformers.DashboardRole}

// monitoring are the findings about the monitoring objects of a server, one for
// each role, before it is known what stands and what is wanted: settleMonitors
// gives them their messages, and takes away those that have none.
func (s *subject) monitoring(view rule.Server) []finding.Finding {
	if s.config.Spec.Monitor == nil {
		return nil
	}
	var found []finding.Finding
	for _, role := range monitorRoles {
		f := view.AboutServer(rule.Named("dead-metric"))
		f.Severity, f.Action, f.Setting, f.Monitors = finding.Info, finding.Add, monitorFields[role], string(role)
		f.Undo = "set `monitor: false` in the config"
		if s.facts.Span.Floating {
			f.Action = finding.None
			f.Message = " (not written: the image floats, pin its version)"
		}
		found = append(found, f)
	}
	return found
}

// monitored is a server of which a config asks for monitoring.
type monitored struct {
	*judged
	config *config.Monitor
	// name is what its objects are named after, copy tells servers of one name in
	// several clusters apart, copies is how many there are.
	name         string
	copy, copies int
	boards       boards
}

// watch is what one dashboard shows: a server, or a group of them.
type watch struct {
	name    string
	members []*monitored
}

// monitorObject is an object that a watch or a server wants to stand or to go.
type monitorObject struct {
	owner *monitored
	role  transformers.MonitorRole
	name  string
	// kind is what is wanted; empty: nothing, for the reason why.
	kind, why string
	// write makes the document, for metadata that it may have to keep.
	write func(transformers.Monitor) (string, error)
	// fault is true where something that was asked for cannot be.
	fault  bool
	stands *standingMonitor
	// before is the same object as it was wanted before a host renamed the server or
	// gave it a namespace: what was written then still holds.
	before []*monitorObject
}

// settleMonitors decides what becomes of the findings about monitoring: an object
// that is up to date ends the matter, one that is not wanted goes, and one that
// cannot be filled is not written, for a reason that is said.
func (j *judgements) settleMonitors() error {
	servers, err := j.monitoredServers()
	if err != nil || len(servers) == 0 {
		return err
	}
	j.generates = true
	var wanted []*monitorObject
	for _, w := range watches(servers) {
		wanted = append(wanted, w.objects()...)
	}
	standing, err := j.standingMonitors()
	if err != nil {
		return err
	}
	assignMonitors(wanted, standing)
	if err := j.asBefore(servers, wanted); err != nil {
		return err
	}
	for _, object := range wanted {
		object.settle()
	}
	for _, s := range servers {
		s.findings = slices.DeleteFunc(s.findings, func(f finding.Finding) bool { return f.Monitors != "" && f.Message == "" })
		s.undecided = append(s.undecided, s.monitorUndecided()...)
	}
	return nil
}

// monitoredServers are those of whose monitoring a config speaks, with what can be
// shown of them.
func (j *judgements) monitoredServers() ([]*monitored, error) {
	var servers []*monitored
	for i := range j.servers {
		s := &j.servers[i]
		asked := slices.ContainsFunc(s.findings, func(f finding.Finding) bool { return f.Monitors != "" })
		if m := s.config.Spec.Monitor; m != nil && asked {
			servers = append(servers, &monitored{judged: s, config: m})
		}
	}
	return servers, j.drawAll(servers)
}

// drawAll names servers apart and finds out what can be shown of each.
func (j *judgements) drawAll(servers []*monitored) error {
	id := func(s *monitored) string {
		return s.Object.Kind + "/" + s.Object.Namespace + "/" + s.Object.Name + "/" + s.Path.String()
	}
	times := map[string]int{}
	for _, s := range servers {
		s.copy = times[id(s)]
		times[id(s)]++
	}
	taken := map[string]int{}
	for _, s := range servers {
		s.copies, s.name = times[id(s)], s.nameAmong(servers)
		same := fmt.Sprint(s.Object.Namespace, "\x00", s.copy, "\x00", s.name)
		if taken[same]++; taken[same] > 1 {
			s.name += fmt.Sprintf("-%d", taken[same])
		}
	}
	return j.draw(servers)
}

// draw finds out what can be shown of each server.
func (j *judgements) draw(servers []*monitored) error {
	for _, s := range servers {
		if s.config.Off {
			continue
		}
		if err := s.draw(j, servers); err != nil {
			return err
		}
	}
	return nil
}

// nameAmong is the name of the server's object, with its kind or its container
// where another server has the same.
func (s *monitored) nameAmong(servers []*monitored) string {
	name := s.Object.Name
	for _, other := range servers {
		switch {
		case other == s || other.copy != s.copy || other.Object.Name != s.Object.Name || apart(other.Object, s.Object):
		case other.Object.Kind != s.Object.Kind:
			return s.Object.Name + "-" + strings.ToLower(s.Object.Kind)
		default:
			name = s.Object.Name + "-" + s.Container
		}
	}
	return name
}

// watches joins the servers of one group.
func watches(servers []*monitored) []*watch {
	var all []*watch
	byGroup := map[string]*watch{}
	for _, s := range servers {
		if s.config.Group == "" || s.config.Off {
			all = append(all, &watch{name: s.name, members: []*monitored{s}})
			continue
		}
		key := fmt.Sprint(s.Object.Namespace, "\x00", s.config.Group, "\x00", s.copy)
		if byGroup[key] == nil {
			byGroup[key] = &watch{name: s.config.Group}
			all = append(all, byGroup[key])
		}
		byGroup[key].members = append(byGroup[key].members, s)
	}
	for _, w := range all {
		slices.SortStableFunc(w.members, func(a, b *monitored) int { return cmp.Compare(a.name, b.name) })
	}
	return all
}

// finding is that of a server about a role; nil where the rule is off.
func (s *monitored) finding(role transformers.MonitorRole) *finding.Finding {
	for i := range s.findings {
		if f := &s.findings[i]; f.Monitors == string(role) {
			return f
		}
	}
	return nil
}

// settle compares what is wanted with what stands. A finding that is settled has
// no message.
func (o *monitorObject) settle() {
	f := o.owner.finding(o.role)
	if f == nil {
		return
	}
	told := f.Message
	f.Message = ""
	if o.kind == "" {
		o.settleUnwanted(f, told)
		return
	}
	about := o.metadata(o.name, objectName(o.owner.Object))
	text, err := o.write(about)
	if err != nil {
		f.Severity, f.Action = finding.Warning, finding.None
		f.Message = o.kind + " is not written: " + err.Error()
		return
	}
	f.Proposed = o.kind // its name is another one where a host renames the server
	switch {
	case o.stands == nil:
		f.Message = o.kind + " " + about.Name + " is not there, and the config asks for it (`" + monitorFields[o.role] + "`)" + told
	case o.stands.upToDate(text) || o.standsAsBefore():
		return
	default:
		f.Message = o.kind + " " + about.Name + " is out of date: it is not what this server fills" + told
	}
	if o.stands == nil {
		if err := unwritable(o.owner.judged, text); err != nil {
			f.Action, f.Proposed = finding.None, ""
			f.Message += " (it cannot be written: " + err.Error() + ")"
		}
	}
	if f.Action != finding.None {
		o.generate(text)
	}
}

// metadata is what the object bears, with what others put on the one that stands.
func (o *monitorObject) metadata(monitors, server string) transformers.Monitor {
	about := transformers.Monitor{
		Name: transformers.MonitorName(monitors, o.role), Namespace: o.owner.Object.Namespace, Monitors: monitors, Server: server,
	}
	if o.stands != nil {
		about.Name, about.Labels, about.Annotations = o.stands.Object.Name, monitorOthers(o.stands.Labels), monitorOthers(o.stands.Annotations)
	}
	return about
}

// settleUnwanted takes away an object that is not wanted, and says why one that
// was asked for is not written.
func (o *monitorObject) settleUnwanted(f *finding.Finding, told string) {
	if o.fault {
		f.Severity, f.Message = finding.Warning, "the "+string(o.role)+" of "+objectName(o.owner.Object)+" cannot be generated: "+o.why
	}
	if o.stands == nil {
		f.Action = finding.None
		return
	}
	gone := objectName(o.stands.Object)
	if f.Message == "" {
		f.Message = gone + " goes: " + o.why + told
	} else {
		f.Message += "; " + gone + " goes" + told
	}
	if f.Action != finding.None {
		f.Action = finding.Remove
		o.generate("")
	}
}

func (o *monitorObject) generate(text string) {
	made := generated{text: text, monitors: string(o.role)}
	if o.stands != nil {
		made.stands = o.stands.Item
	}
	o.owner.generated = append(o.owner.generated, made)
}

// monitorUndecided are the panels and alerts that lack a fact, one finding for
// each set of facts.
func (s *monitored) monitorUndecided() []finding.Finding {
	var lacking []finding.Finding
	seen := map[string]bool{}
	for _, left := range s.boards.left() {
		if key := fmt.Sprint(left.Needs); len(left.Needs) > 0 && !seen[key] {
			seen[key] = true
			f := s.view.AboutServer(rule.Named("dead-metric"))
			f.Setting, f.Needs, f.Message = monitorFields[transformers.DashboardRole], left.Needs, left.Name+" is left out: "+left.Why
			f.Severity = finding.Info
			lacking = append(lacking, f)
		}
	}
	for i := range lacking {
		s.locate(&lacking[i])
	}
	return undecidedFor(s.judged.config, lacking)
}
