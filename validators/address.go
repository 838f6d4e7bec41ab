package validators

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/trimtab/trimtab/internal/catalogue"
	"github.com/trimtab/trimtab/internal/rule"
	"github.com/trimtab/trimtab/internal/server"
	"github.com/trimtab/trimtab/internal/serving"
	"github.com/trimtab/trimtab/internal/setting"
)

// address is where an engine answers over HTTP; what is not known is empty.
type address struct {
	// known is false where a word that nobody knows, a wrapper around the engine
	// or a setting may change all of it.
	known bool
	// port is a number as text, told how it is known.
	port, told string
	// host is the address it binds to, loopback alone is true where only the
	// container itself reaches that.
	host     string
	loopback bool
	// silent is the setting by which it answers nothing.
	silent string
	// tls is true where it speaks TLS, key where it asks for an API key.
	tls, key bool
	prefix   string
	// official is true for the engine's own image, which serves its own routes.
	official bool
}

// addressOf tells where the server listens. An operator, or an image that
// decides what runs, may add a port: then only a written one is known.
func addressOf(s rule.Server) address {
	listens := s.Serving.Listens
	a := address{known: !s.Newest.Line.Opaque && len(s.Knows) == 0}
	_, a.official = catalogue.OfficialImage(s.Image)
	for _, name := range append([]string{listens.Socket}, listens.Otherwise...) {
		if _, set := given(s, name); set {
			a.known = false
		}
	}
	ours := s.Operator == "" && (s.Direct != nil || a.official)
	a.port, a.told = standing(s, listens.Port, ours)
	a.host, _ = standing(s, listens.Host, ours)
	if parsed, err := netip.ParseAddr(strings.Trim(a.host, "[]")); a.host == "localhost" || err == nil && parsed.IsLoopback() {
		a.loopback = true
	}
	for _, name := range listens.Silent {
		if about, set := given(s, name); set && !about.Off {
			a.silent = name
		}
	}
	_, a.tls = given(s, listens.Certificate)
	_, a.key = given(s, listens.Key.Flag)
	if variable, set := given(s, "env/"+listens.Key.Variable); set && (variable.Unknown || variable.Value() != "") {
		a.key = true
	}
	if prefix, set := given(s, listens.Prefix); set {
		a.prefix = strings.TrimSuffix(prefix.Value(), "/")
		a.known = a.known && !prefix.Unknown
	}
	return a
}

// standing is the value of a setting, and how it is known; empty where it is not.
func standing(s rule.Server, of serving.Default, ours bool) (value, told string) {
	about, set := given(s, of.Flag)
	switch {
	case set && about.Unknown:
		return "", ""
	case set:
		return about.Value(), of.Flag
	case ours:
		return of.Value, "the engine's default"
	}
	return "", ""
}

// faults are what a probe asks for in vain.
func (a address) faults(s rule.Server, probe server.Probe) []fault {
	source := s.Serving.Listens.Source
	if probe.Handler == server.Command || probe.Elsewhere {
		return nil
	}
	number, named := s.PortNumber(probe.Port)
	if !named && probe.Port != "" && s.Image != "" {
		return []fault{{fmt.Sprintf("names the port %s, which the container does not have", probe.Port), "Kubernetes: the name of a probe's port is one of the container's own"}}
	}
	if !a.known || !named {
		return nil
	}
	switch {
	case a.silent != "":
		return []fault{{"asks the engine over the network, which with " + a.silent + " answers nothing", source}}
	case a.port != "" && strconv.FormatInt(number, 10) != a.port:
		if a.elsewhere(s, number) {
			return nil
		}
		return []fault{{fmt.Sprintf("asks port %d, and the engine listens on %s (%s)", number, a.port, a.told), source}}
	case a.port == "":
		return nil // something else may listen there
	case a.loopback && !probe.Inside:
		return []fault{{fmt.Sprintf("asks the address of the pod, and the engine listens on %s alone: set %s=0.0.0.0", a.host, s.Serving.Listens.Host.Flag), source}}
	case probe.Handler == server.GRPC:
		return []fault{{"speaks gRPC, and the engine HTTP", source}}
	case probe.Handler == server.HTTPGet:
		return a.refusals(s, probe)
	}
	return nil
}

// refusals are the HTTP requests that the engine does not answer with success.
func (a address) refusals(s rule.Server, probe server.Probe) []fault {
	listens := s.Serving.Listens
	if probe.TLS != a.tls {
		spoken, asked := "HTTP", "HTTPS"
		if a.tls {
			spoken, asked = asked, spoken
		}
		return []fault{{fmt.Sprintf("asks over %s, and the engine speaks %s", asked, spoken), listens.Source}}
	}
	path := probe.Route
	if below, cut := strings.CutPrefix(path, a.prefix); cut && a.prefix != "" && (below == "" || below[0] == '/') {
		path = below
	}
	if path == "" || !a.official {
		return nil
	}
	route, served := listens.Route(path)
	switch {
	case !served:
		return []fault{{fmt.Sprintf("asks for %s, which the engine does not serve: %s is the one for probes", probe.Route, listens.Routes[0].Path), listens.Source}}
	case route.Needs != "" && !isOn(s, route.Needs):
		return []fault{{fmt.Sprintf("asks for %s, which the engine serves with %s alone: %s is the one for probes", probe.Route, route.Needs, listens.Routes[0].Path), listens.Source}}
	case a.key && !probe.Authorized && listens.Key.Wanted(path):
		return []fault{{fmt.Sprintf("asks for %s without the API key, which is refused (401): %s needs none", probe.Route, listens.Routes[0].Path), listens.Source}}
	}
	return nil
}

// isOn tells whether a switch is on, or may be.
func isOn(s rule.Server, name string) bool {
	about, set := given(s, name)
	return set && !about.Off
}

// misses says in words that a port of the pod is not the engine's; empty where
// it is, or may belong to something else: parts of one server, and halves of a
// pair, reach each other by ports of their own.
func (a address) misses(s rule.Server, target string) string {
	if !a.known || a.port == "" || a.silent != "" || spreads(s) || stageOf(s) != "" || s.Nodes != nil && *s.Nodes > 1 {
		return ""
	}
	number, own := s.PortNumber(target)
	switch {
	case !own && s.Image == "":
		return ""
	case !own:
		named := func(port server.ContainerPort) bool { return port.Name == target }
		if slices.ContainsFunc(s.Ports, named) {
			return "" // a container beside the engine
		}
		return "a port named " + target + ", which no container has"
	case strconv.FormatInt(number, 10) == a.port || a.elsewhere(s, number):
		return ""
	}
	return "port " + strconv.FormatInt(number, 10)
}

// elsewhere tells whether something else in the pod may listen on a port: a
// container beside the engine, a process that the same script starts, or another
// setting of the engine that names the port.
func (a address) elsewhere(s rule.Server, number int64) bool {
	text := strconv.FormatInt(number, 10)
	names := func(other setting.Setting) bool {
		return other.Name != s.Serving.Listens.Port.Flag && strings.Contains(other.Value(), text)
	}
	if s.Beside || slices.ContainsFunc(s.Newest.Settings, names) {
		return true
	}
	root, err := s.Item.Root()
	if err != nil {
		return true
	}
	for _, key := range []string{"command", "args"} {
		list := server.Lookup(root, s.Path.Join(key))
		if s.Direct != nil && !*s.Direct && server.AnyText(list, func(word string) bool { return strings.Contains(word, text) }) {
			return true
		}
	}
	return false
}
