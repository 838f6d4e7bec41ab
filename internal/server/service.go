package server

import (
	"path"

	"go.yaml.in/yaml/v3"

	"github.com/trimtab/trimtab/internal/finding"
	"github.com/trimtab/trimtab/internal/setting"
	"github.com/trimtab/trimtab/internal/stream"
)

// service is a Service among the items.
type service struct {
	name     string
	selector map[string]string
	labels   map[string]string
	ports    []servicePort
	// addressed is true where it has an address of its own: of a headless or
	// external one Kubernetes tells containers nothing.
	addressed bool
}

// servicePort is a port of a Service: its own name, and the port of the pods.
type servicePort struct{ name, target string }

// FrontPort is a port of a Service that leads to the pod of a server.
type FrontPort struct {
	// Service names the Service for people.
	Service string
	// Name is the port's name in the Service, Labels are those of the Service; empty
	// where an operator writes it.
	Name   string
	Labels map[string]string
	// Target is the port of the pod, a number or a name.
	Target string
	// Path leads to the field in the server's own object that decides it; nil
	// where the Service is an object of its own.
	Path setting.Path
}

// serviceIndex are the Services of the input, for the servers that stand beside
// them.
type serviceIndex struct {
	// addressed are those that have an address, whatever server asks.
	addressed []finding.Object
	// beside are those that select pods, by folder and namespace.
	beside map[[2]string][]service
}

var namedService = stream.Register("Service")

// services finds the Services among the items.
func services(items []*stream.Item) (*serviceIndex, error) {
	found := &serviceIndex{beside: map[[2]string][]service{}}
	for _, item := range items {
		if !item.MentionsAny(namedService) {
			continue
		}
		root, err := item.Root()
		if err != nil {
			return nil, err
		}
		object := objectOf(root)
		if object.Kind != "Service" || object.APIVersion != "v1" {
			continue
		}
		address, kind := text(at(root, "spec", "clusterIP")), text(at(root, "spec", "type"))
		one := service{
			name: object.Name, selector: stringMap(at(root, "spec", "selector")), ports: servicePorts(at(root, "spec", "ports")),
			labels:    stringMap(at(root, "metadata", "labels")),
			addressed: address != "None" && kind != "ExternalName",
		}
		if one.addressed {
			found.addressed = append(found.addressed, object)
		}
		place := [2]string{Folder(item), object.Namespace}
		found.beside[place] = append(found.beside[place], one)
	}
	return found, nil
}

// servicePorts are the ports of a Service, each with that of the pods to which it
// leads: targetPort, else port.
func servicePorts(list *yaml.Node) []servicePort {
	if list == nil || list.Kind != yaml.SequenceNode {
		return nil
	}
	var ports []servicePort
	for _, element := range list.Content {
		target := text(at(element, "targetPort"))
		if target == "" {
			target = text(at(element, "port"))
		}
		if target != "" && !decidedElsewhere(target) {
			ports = append(ports, servicePort{name: text(at(element, "name")), target: target})
		}
	}
	return ports
}

// selects tells whether the Service leads to the pods of a server.
func (s service) selects(server *Server) bool {
	for name, value := range s.selector {
		if server.Pod.Labels[name] != value {
			return false
		}
	}
	return len(s.selector) > 0
}

// Folder is the folder of the file in which an item stands; all items of a host,
// or of standard input, have one.
func Folder(item *stream.Item) string { return path.Dir(item.Source.Name) }

// tell tells a server of the Services of the input. One of another folder than
// the server's may be of another cluster, and leads to no pod of it.
func (s *Server) tell(all *serviceIndex) {
	s.Services = all.addressed
	for _, one := range all.beside[[2]string{Folder(s.Item), s.Object.Namespace}] {
		if !one.selects(s) {
			continue
		}
		s.ServedBy = append(s.ServedBy, one.name)
		if !one.addressed {
			continue // it gives out addresses of pods, and leads to no port
		}
		for _, port := range one.ports {
			s.Front = append(s.Front, FrontPort{Service: "Service " + one.name, Name: port.name, Labels: one.labels, Target: port.target})
		}
	}
}

// boolean reads true or false; nil where the node says neither.
func boolean(node *yaml.Node) *bool {
	switch text(node) {
	case "true":
		return known(true)
	case "false":
		return known(false)
	}
	return nil
}
