package server

import (
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/trimtab/trimtab/internal/setting"
)

// ProbeKind tells what the kubelet does when a probe fails.
type ProbeKind string

// The kinds of probes: a failed start-up or liveness probe restarts the
// container, a failed readiness probe takes it from its Services.
const (
	StartupProbe   ProbeKind = "startupProbe"
	LivenessProbe  ProbeKind = "livenessProbe"
	ReadinessProbe ProbeKind = "readinessProbe"
)

// ProbeKinds are all kinds, in the order in which they begin to count.
var ProbeKinds = []ProbeKind{StartupProbe, LivenessProbe, ReadinessProbe}

// Handler is how a probe asks.
type Handler string

// The handlers of a probe. Command is one whose text tells no address.
const (
	HTTPGet   Handler = "httpGet"
	TCPSocket Handler = "tcpSocket"
	GRPC      Handler = "grpc"
	Command   Handler = "exec"
)

// Probe is a check that the kubelet makes on the container, with the values that
// Kubernetes puts where the manifest is silent.
type Probe struct {
	Kind ProbeKind
	// Path leads to the probe. Implied is true for one that an operator writes
	// where nothing stands.
	Path    setting.Path
	Implied bool
	Handler Handler
	// Route is the path of an HTTP request, without a query; Port a number or the
	// name of a port of the container, as written; empty where it is not known.
	Route, Port string
	TLS         bool
	// Inside is true where the request comes from within the container, Elsewhere
	// where it goes to another host than the pod.
	Inside, Elsewhere bool
	// Authorized is true where it carries a header Authorization.
	Authorized bool
	// Delay, Period and Timeout are in seconds. After Failures failures in a row
	// the probe has failed.
	Delay, Period, Timeout, Failures int64
}

// Budget is how many seconds after its start a container that never answers is
// given up, by this probe alone.
func (p Probe) Budget() int64 { return p.Delay + p.Period*p.Failures }

// ContainerPort is a port that a container of the pod names.
type ContainerPort struct {
	Name   string
	Number int64
	// Own is true for the server's container, false for one beside it.
	Own bool
}

// probesOf reads the probes that stand under a node by the names of their kinds.
func probesOf(node *yaml.Node, path setting.Path, nameOf func(ProbeKind) string) []Probe {
	var probes []Probe
	for _, kind := range ProbeKinds {
		written := at(node, nameOf(kind))
		if written == nil || written.Kind != yaml.MappingNode {
			continue
		}
		probe := Probe{Kind: kind, Path: path.Join(nameOf(kind))}
		for _, timing := range []struct {
			field    string
			value    *int64
			standard int64
		}{
			{"initialDelaySeconds", &probe.Delay, 0}, {"periodSeconds", &probe.Period, 10},
			{"timeoutSeconds", &probe.Timeout, 1}, {"failureThreshold", &probe.Failures, 3},
		} {
			*timing.value = timing.standard
			if seconds, ok := integer(at(written, timing.field)); ok && (seconds > 0 || timing.field == "initialDelaySeconds") {
				*timing.value = min(seconds, longestProbe)
			}
		}
		if probe.asks(written) {
			probes = append(probes, probe)
		}
	}
	return probes
}

// longestProbe bounds the figures of a probe, so that sums and products of them
// do not overflow.
const longestProbe = 1 << 24

// asks reads how a probe asks; false where it does not ask at all.
func (p *Probe) asks(probe *yaml.Node) bool {
	switch {
	case at(probe, "httpGet") != nil:
		get := at(probe, "httpGet")
		p.Handler, p.Port, p.TLS = HTTPGet, text(at(get, "port")), text(at(get, "scheme")) == "HTTPS"
		p.Route, _, _ = strings.Cut("/"+strings.TrimPrefix(text(at(get, "path")), "/"), "?")
		p.Elsewhere = text(at(get, "host")) != ""
		p.Authorized = named(lowered(at(get, "httpHeaders")), "authorization") != nil
	case at(probe, "tcpSocket") != nil:
		p.Handler, p.Port = TCPSocket, text(at(probe, "tcpSocket", "port"))
		p.Elsewhere = text(at(probe, "tcpSocket", "host")) != ""
	case at(probe, "grpc") != nil:
		p.Handler, p.Port = GRPC, text(at(probe, "grpc", "port"))
	case at(probe, "exec") != nil:
		p.Handler, p.Inside = Command, true
		p.request(strings.Join(elements(at(probe, "exec", "command")), " "))
	default:
		return false
	}
	if decidedElsewhere(p.Port) {
		p.Port = ""
	}
	if decidedElsewhere(p.Route) {
		p.Route = ""
	}
	return true
}

// lowered is a list of headers with their names in lower case.
func lowered(list *yaml.Node) *yaml.Node {
	if list == nil || list.Kind != yaml.SequenceNode {
		return nil
	}
	copied := *list
	copied.Content = nil
	for _, element := range list.Content {
		name := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: strings.ToLower(text(at(element, "name")))}
		copied.Content = append(copied.Content, mapping("name", name))
	}
	return &copied
}

var localURL = regexp.MustCompile(`https?://(?:localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1\])(?::[0-9]+)?(?:/[A-Za-z0-9._/-]*)?`)

// request reads the one request to the container itself that a command makes; a
// command that makes none, or several, stays a command.
func (p *Probe) request(command string) {
	found := localURL.FindAllStringIndex(command, -1)
	if len(found) != 1 || !strings.Contains(command, "curl") && !strings.Contains(command, "wget") {
		return
	}
	if rest := command[found[0][1]:]; strings.HasPrefix(rest, "$") || strings.HasPrefix(rest, ":$") {
		return
	}
	address, err := url.Parse(command[found[0][0]:found[0][1]])
	if err != nil {
		return
	}
	p.Handler, p.Route, p.Port, p.TLS = HTTPGet, address.Path, address.Port(), address.Scheme == "https"
	if p.Route == "" {
		p.Route = "/"
	}
	if p.Port == "" {
		p.Port = map[bool]string{false: "80", true: "443"}[p.TLS]
	}
	p.Authorized = strings.Contains(strings.ToLower(command), "authorization")
}

// portsOf are the ports that the containers of a pod name, the server's own
// first.
func portsOf(podSpec, container *yaml.Node) []ContainerPort {
	ports := containerPorts(container, true)
	for _, other := range others(podSpec, container) {
		ports = append(ports, containerPorts(other, false)...)
	}
	return ports
}

// runsAlong tells whether another container of the pod runs while the server
// does.
func runsAlong(podSpec, container *yaml.Node) bool { return len(others(podSpec, container)) > 0 }

// others are the containers of a pod that run along with one of them: those
// beside it, and the init containers that stay.
func others(podSpec, container *yaml.Node) []*yaml.Node {
	var found []*yaml.Node
	for _, list := range []string{"containers", "initContainers"} {
		containers := at(podSpec, list)
		if containers == nil || containers.Kind != yaml.SequenceNode {
			continue
		}
		for _, other := range containers.Content {
			other = resolve(other)
			stays := list == "containers" || text(at(other, "restartPolicy")) == "Always"
			if stays && text(at(other, "name")) != text(at(container, "name")) {
				found = append(found, other)
			}
		}
	}
	return found
}

func containerPorts(container *yaml.Node, own bool) []ContainerPort {
	list := at(container, "ports")
	if list == nil || list.Kind != yaml.SequenceNode {
		return nil
	}
	var ports []ContainerPort
	for _, element := range list.Content {
		if number, ok := integer(at(element, "containerPort")); ok {
			ports = append(ports, ContainerPort{Name: text(at(element, "name")), Number: number, Own: own})
		}
	}
	return ports
}

// PortNumber is the number of a port, written as such or by a name that the
// server's container gives one; false where it has no such port.
func (s *Server) PortNumber(port string) (int64, bool) {
	if number, err := strconv.ParseInt(port, 10, 64); err == nil {
		return number, true
	}
	for _, named := range s.Ports {
		if named.Own && named.Name == port {
			return named.Number, true
		}
	}
	return 0, false
}
