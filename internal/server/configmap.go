package server

import (
	"path"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/trimtab/trimtab/internal/finding"
	"github.com/trimtab/trimtab/internal/stream"
)

// MountedFile is a file that a ConfigMap of the input puts into a container.
type MountedFile struct {
	// ConfigMap is the object that holds it, Key its key there.
	ConfigMap finding.Object
	Key       string
	Text      string
}

var namedConfigMap = stream.Register("ConfigMap")

// configMaps finds ConfigMaps among the items.
type configMaps struct{ items []*stream.Item }

// data are the texts of a ConfigMap. Of one that two objects describe nothing is
// known: an overlay changes one into the other.
func (c configMaps) data(wanted finding.Object) map[string]string {
	var found map[string]string
	for _, item := range c.items {
		if !item.MentionsAny(namedConfigMap) || !item.Mentions(wanted.Name) {
			continue
		}
		root, err := item.Root()
		if err != nil || objectOf(root) != wanted {
			continue // whoever reads this item on its own says what is wrong
		}
		if found != nil {
			return nil
		}
		found = stringMap(at(root, "data"))
	}
	return found
}

// File finds the text of a file that a ConfigMap of the input mounts at a path
// of the container; false for a text that something else fills in.
func (s *Server) File(name string) (MountedFile, bool) {
	file, ok := s.mountedFile(name)
	return file, ok && !decidedElsewhere(file.Text)
}

// mountedFile is File for a text as it stands.
func (s *Server) mountedFile(name string) (MountedFile, bool) {
	if !path.IsAbs(name) {
		return MountedFile{}, false
	}
	best, _ := mountOf(s.Mounts, name)
	if best.ConfigMap == "" {
		return MountedFile{}, false
	}
	inside := strings.TrimPrefix(strings.TrimPrefix(path.Clean(name), path.Clean(best.Path)), "/")
	if best.SubPath != "" {
		inside = path.Join(best.SubPath, inside)
	}
	key := inside
	if best.Keys != nil {
		key = best.Keys[inside]
	}
	object := finding.Object{APIVersion: "v1", Kind: "ConfigMap", Namespace: s.Object.Namespace, Name: best.ConfigMap}
	text, ok := s.configMaps.data(object)[key]
	return MountedFile{ConfigMap: object, Key: key, Text: text}, ok
}

// keysOf are the keys of a ConfigMap volume by the path at which each is
// mounted; nil where every key is mounted under its own name.
func keysOf(volume *yaml.Node) map[string]string {
	items := at(volume, "items")
	if items == nil || items.Kind != yaml.SequenceNode {
		return nil
	}
	keys := map[string]string{}
	for _, element := range items.Content {
		keys[path.Clean(text(at(element, "path")))] = text(at(element, "key"))
	}
	return keys
}
