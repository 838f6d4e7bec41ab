package validators

import (
	"fmt"
	"strings"

	"github.com/trimtab/trimtab/internal/finding"
	"github.com/trimtab/trimtab/internal/rule"
	"github.com/trimtab/trimtab/internal/server"
	"github.com/trimtab/trimtab/internal/setting"
)

// probeUnfit finds probes that give a loading server up, that a busy one fails,
// and that ask for what the engine does not serve; and Services that lead to a
// port where it does not listen.
func probeUnfit() rule.Rule {
	meta := rule.Named("probe-unfit")
	return rule.Rule{Meta: meta, CheckServer: func(s rule.Server) []finding.Finding {
		var found []finding.Finding
		address := addressOf(s)
		implied := false
		for _, probe := range s.Probes {
			faults := address.faults(s, probe)
			f := s.AboutServer(meta)
			f.Setting, f.Origin.Path = probe.Path.String(), probe.Path
			f.Message = "the " + string(probe.Kind) + " "
			switch {
			case !probe.Implied:
				faults = append(faults, patience(s, probe)...)
			case implied:
				continue // the operator writes all of them alike
			default:
				f = address.finding(s, meta, nil)
				f.Message = "each probe that the operator writes by itself "
			}
			if len(faults) == 0 {
				continue
			}
			implied = implied || probe.Implied
			f.Message += strings.Join(texts(faults), "; it ")
			for _, one := range faults {
				f.Evidence = append(f.Evidence, finding.Evidence{Engine: s.Engine, Versions: "*", Source: one.source})
			}
			found = append(found, f)
		}
		return append(found, address.misled(s, meta)...)
	}}
}

// fault is what is wrong with a probe, as a sentence without its subject, and
// where that was read.
type fault struct{ text, source string }

func texts(faults []fault) []string {
	var list []string
	for _, one := range faults {
		list = append(list, one.text)
	}
	return list
}

// These windows, in seconds, are shorter than what one long step of a busy
// engine can keep its HTTP server from answering. The kubelet's own defaults
// give 30.
const (
	shortestLiveness  = 10
	shortestReadiness = 4
)

// patience finds probes that do not wait long enough.
func patience(s rule.Server, probe server.Probe) []fault {
	var faults []fault
	window := probe.Period * probe.Failures
	const kubelet = "Kubernetes: a container is restarted, or taken from its Services, after failureThreshold failures in a row"
	switch probe.Kind {
	case server.StartupProbe:
		faults = append(faults, tooShort(s, probe)...)
	case server.LivenessProbe:
		if !hasProbe(s, server.StartupProbe) {
			faults = append(faults, tooShort(s, probe)...)
		}
		if window < shortestLiveness {
			faults = append(faults, fault{fmt.Sprintf("kills the server after %d s without an answer (%d x %d s), which a busy engine needs now and then, and the model is loaded anew: give it 30 s",
				window, probe.Failures, probe.Period), kubelet})
		}
	case server.ReadinessProbe:
		if window < shortestReadiness {
			faults = append(faults, fault{fmt.Sprintf("takes the server from its Services after %d s without an answer (%d x %d s), so that a busy one flaps: give it 15 s",
				window, probe.Failures, probe.Period), kubelet})
		}
	}
	return faults
}

// tooShort finds a budget below the time that the server needs to load.
func tooShort(s rule.Server, probe server.Probe) []fault {
	load := loadTime(s)
	if probe.Handler == server.Command || probe.Budget() >= load.seconds {
		return nil
	}
	without := ""
	if probe.Kind == server.LivenessProbe {
		without = ", as there is no startupProbe"
	}
	return []fault{{fmt.Sprintf("gives the server up %d s after its start (%s)%s, and loading takes about %d s: %s",
		probe.Budget(), budgetText(probe), without, load.seconds, load.assumes), load.source}}
}

func budgetText(probe server.Probe) string {
	text := fmt.Sprintf("%d x %d s", probe.Failures, probe.Period)
	if probe.Delay > 0 {
		text = fmt.Sprintf("%d s + %s", probe.Delay, text)
	}
	return text
}

func hasProbe(s rule.Server, kind server.ProbeKind) bool {
	for _, probe := range s.Probes {
		if probe.Kind == kind {
			return true
		}
	}
	return false
}

// misled finds the Services that lead to ports where the engine does not listen.
func (a address) misled(s rule.Server, meta rule.Meta) []finding.Finding {
	var found []finding.Finding
	byService := map[string][]server.FrontPort{}
	var order []string
	for _, front := range s.Front {
		if byService[front.Service] == nil {
			order = append(order, front.Service)
		}
		byService[front.Service] = append(byService[front.Service], front)
	}
	for _, name := range order {
		fronts := byService[name]
		var misses []string
		for _, front := range fronts {
			if why := a.misses(s, front.Target); why != "" {
				misses = append(misses, why)
			}
		}
		if len(misses) < len(fronts) {
			continue // one of its ports leads to the engine, or somewhere else
		}
		f := a.finding(s, meta, fronts[0].Path)
		f.Message = fmt.Sprintf("%s leads to %s, and the engine listens on %s (%s)", name, strings.Join(misses, ", "), a.port, a.told)
		f.Evidence = []finding.Evidence{{Engine: s.Engine, Versions: "*", Source: s.Serving.Listens.Source}}
		found = append(found, f)
	}
	return found
}

// finding stands at the field that decides a Service's port, else at the
// engine's own port.
func (a address) finding(s rule.Server, meta rule.Meta, field setting.Path) finding.Finding {
	f := s.AboutServer(meta)
	f.Setting = s.Serving.Listens.Port.Flag
	about, written := given(s, f.Setting)
	switch {
	case field != nil:
		f.Setting, f.Origin.Path = field.String(), field
	case written && about.Origin.Stands():
		f = s.About(meta, about)
		f.Places = nil
	}
	return f
}
