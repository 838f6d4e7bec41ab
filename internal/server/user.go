package server

import (
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/trimtab/trimtab/internal/finding"
	"github.com/trimtab/trimtab/internal/setting"
	"github.com/trimtab/trimtab/internal/stream"
)

// VolumeUser is one container of any workload that mounts volumes: a server, a
// backup, a job that prunes.
type VolumeUser struct {
	Item                *stream.Item
	Object              finding.Object
	Labels, Annotations map[string]string
	// Path leads to the container, or to the spec of a custom resource.
	Path    setting.Path
	Mounts  []Mount
	Env     []Variable
	EnvFrom bool
	// Command and Args are what the container starts; without a command the
	// image decides.
	Command, Args []string
	WorkingDir    string
	Image         string
}

// Texts are all texts that the container is given: its words and the values of
// its variables.
func (u VolumeUser) Texts() []string {
	texts := slices.Concat(u.Command, u.Args)
	for _, variable := range u.Env {
		texts = append(texts, variable.Value)
	}
	return texts
}

// Is tells whether the container is the one of a server.
func (u VolumeUser) Is(s *Server) bool {
	return u.Item == s.Item && u.Path.String() == s.Path.String()
}

// MaySee tells whether a mount of the container can show a place, or a part of
// what lies below it.
func (u VolumeUser) MaySee(place Place) bool {
	return slices.ContainsFunc(u.Mounts, func(m Mount) bool {
		root, ok := m.Root()
		return ok && root.Volume == place.Volume && (m.Anywhere || root.Holds(place) || place.Holds(root))
	})
}

// Variable finds a variable; of several of one name the last counts.
func (u VolumeUser) Variable(name string) (Variable, bool) {
	for _, variable := range slices.Backward(u.Env) {
		if variable.Name == name {
			return variable, true
		}
	}
	return Variable{}, false
}

// volumeUsers finds the containers among the items that mount a volume which
// outlives them. An item that cannot be decoded is an error.
func volumeUsers(items []*stream.Item) ([]VolumeUser, error) {
	var users []VolumeUser
	for _, item := range items {
		if !item.MentionsAny(namesOfVolumes) {
			continue
		}
		root, err := item.Root()
		if err != nil {
			return nil, err
		}
		object := objectOf(root)
		add := func(path setting.Path, container, args, volumes, volumeMounts *yaml.Node) {
			user := VolumeUser{
				Item: item, Object: object, Path: path,
				Labels: stringMap(at(root, "metadata", "labels")), Annotations: stringMap(at(root, "metadata", "annotations")),
				Mounts: mounts(volumes, volumeMounts, path.Join("volumeMounts")), Env: env(at(container, "env"), path.Join("env")), EnvFrom: !isNull(at(container, "envFrom")),
				Command: texts(at(container, "command")), Args: slices.Concat(texts(args), texts(at(container, "args"))), WorkingDir: text(at(container, "workingDir")),
				Image: text(at(container, "image")),
			}
			if len(user.Mounts) > 0 {
				users = append(users, user)
			}
		}
		if spec := at(root, "spec"); at(spec, "extraVolumes") != nil {
			add(setting.Path{"spec"}, spec, at(spec, "extraArgs"), at(spec, "extraVolumes"), at(spec, "extraVolumeMounts"))
		}
		walkPodSpecs(root, nil, 0, func(podSpec *yaml.Node, path setting.Path) {
			for _, key := range []string{"initContainers", "containers"} {
				list := at(podSpec, key)
				if list == nil || list.Kind != yaml.SequenceNode {
					continue
				}
				for i, container := range list.Content {
					add(path.Join(key, i), resolve(container), nil, at(podSpec, "volumes"), at(container, "volumeMounts"))
				}
			}
		})
	}
	return users, nil
}

// texts are the scalars of a list.
func texts(node *yaml.Node) []string {
	if node == nil || node.Kind != yaml.SequenceNode {
		return nil
	}
	var list []string
	for _, element := range node.Content {
		list = append(list, text(element))
	}
	return list
}

var namesOfVolumes = stream.Register("persistentVolumeClaim", "hostPath")
