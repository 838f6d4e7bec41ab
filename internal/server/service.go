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
	object finding.Object
	// folder holds its file: one of another folder may be of another cluster.
	folder   string
	selector map[string]string
	targets  []string
	// addressed is true where it has an address of its own: of a headless or
	// external one Kubernetes tells containers nothing.
	addressed bool
}

// FrontPort is a port of a Service that leads to the pod of a server.
type FrontPort struct {
	// Service names the Service for people.
	Service string
	// Target is the port of the pod, a number or a name.
	Target string
	// Path leads to the field in the server's own object that decides it; nil
	// where the Service is an object of its own.
	Path setting.Path
}

// services finds the Services among the items.
func services(items []*stream.Item) ([]service, error) {
	var found []service
	for _, item := range items {
		if !item.Mentions("Service") {
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
		found = append(found, service{
			object: object, folder: Folder(item), selector: stringMap(at(root, "spec", "selector")), targets: targetPorts(at(root, "spec", "ports")),
			addressed: address != "None" && kind != "ExternalName",
		})
	}
	return found, nil
}

// targetPorts are the ports of the pods that a Service leads to: targetPort, else
// port.
func targetPorts(list *yaml.Node) []string {
	if list == nil || list.Kind != yaml.SequenceNode {
		return nil
	}
	var targets []string
	for _, element := range list.Content {
		target := text(at(element, "targetPort"))
		if target == "" {
			target = text(at(element, "port"))
		}
		if target != "" && !decidedElsewhere(target) {
			targets = append(targets, target)
		}
	}
	return targets
}

// selects tells whether the Service leads to the pods of a server that stands
// beside it.
func (s service) selects(server *Server) bool {
	for name, value := range s.selector {
		if server.Pod.Labels[name] != value {
			return false
		}
	}
	return len(s.selector) > 0 && s.object.Namespace == server.Object.Namespace && s.folder == Folder(server.Item)
}

// Folder is the folder of the file in which an item stands; all items of a host,
// or of standard input, have one.
func Folder(item *stream.Item) string { return path.Dir(item.Source.Name) }

// tell tells a server of the Services of the input.
func (s *Server) tell(all []service) {
	for _, one := range all {
		if one.addressed {
			s.Services = append(s.Services, one.object)
		}
		if !one.selects(s) {
			continue
		}
		s.ServedBy = append(s.ServedBy, one.object.Name)
		if !one.addressed {
			continue // it gives out addresses of pods, and leads to no port
		}
		for _, target := range one.targets {
			s.Front = append(s.Front, FrontPort{Service: "Service " + one.object.Name, Target: target})
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
