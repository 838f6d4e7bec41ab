package overlay

import (
	"os"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/trimtab/trimtab/internal/finding"
	"github.com/trimtab/trimtab/internal/server"
	"github.com/trimtab/trimtab/internal/setting"
	"github.com/trimtab/trimtab/internal/stream"
)

// Place is where something that was rendered stands, by line and column from 1;
// 0 where only the file is known.
type Place struct {
	File         string
	Line, Column int
}

// Locate tells where a path of a rendered object stands in the files: in the
// resource where the value is as it was written there, else in the patch that
// wrote it, else in the kustomization whose transformers changed the object.
// False for an object that the rendering does not hold.
//
// Source is the rendering's own, or that after edits in which no object came or
// went.
func (r *Rendering) Locate(source *stream.Source, object finding.Object, path setting.Path) (Place, bool) {
	for i, item := range source.Items {
		if i >= len(r.built) {
			break
		}
		root, err := item.Root()
		if err != nil || root == nil || server.ObjectIn(root) != object {
			continue
		}
		return r.locate(r.built[i], object, root, path), true
	}
	return Place{}, false
}

func (r *Rendering) locate(from built, object finding.Object, root *yaml.Node, path setting.Path) Place {
	base, part, inside := path.Part()
	value := server.Lookup(root, base)
	item, origin := originItem(from.file, object)
	if origin != nil {
		if node := sameIn(origin, base, value); node != nil {
			place := Place{File: from.file}
			if inside {
				place.Line, place.Column = item.PositionIn(node, part.Span.From)
			} else {
				place.Line, place.Column = item.Position(node)
			}
			return place
		}
	}
	for _, kustomization := range slices.Backward(from.changedIn) {
		for _, p := range slices.Backward(r.patches) {
			if p.kustomization != kustomization || !p.about(object) {
				continue
			}
			if file, line, column := p.writes(path); file != "" {
				return Place{file, line, column}
			}
		}
	}
	if value != nil && len(from.changedIn) > 0 && origin != nil {
		return Place{File: from.changedIn[len(from.changedIn)-1]}
	}
	place := Place{File: from.file}
	if origin != nil {
		place.Line, place.Column = item.Position(nearest(origin, base))
	}
	return place
}

// sameIn is the node of a file's object at a path, or another element of the list
// there, that says what the rendered one does.
func sameIn(origin *yaml.Node, path setting.Path, value *yaml.Node) *yaml.Node {
	if node := server.Lookup(origin, path); sameValue(node, value) {
		return node
	}
	if len(path) == 0 {
		return nil
	}
	if _, isIndex := path[len(path)-1].(int); !isIndex {
		return nil
	}
	if list := server.Lookup(origin, path[:len(path)-1]); list != nil && list.Kind == yaml.SequenceNode {
		for _, element := range list.Content {
			if sameValue(element, value) {
				return element
			}
		}
	}
	return nil
}

// nearest is the last node on the way to a path.
func nearest(root *yaml.Node, path setting.Path) *yaml.Node {
	for length := len(path); length > 0; length-- {
		if node := server.Lookup(root, path[:length]); node != nil {
			return node
		}
	}
	return root
}

// originItem is the object of a file that became a rendered one: of the same
// kind and name, else the only one of its kind that the name may come from.
func originItem(file string, object finding.Object) (*stream.Item, *yaml.Node) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, nil
	}
	source, err := stream.ParseDocuments(file, data)
	if err != nil {
		return nil, nil
	}
	var item *stream.Item
	var node *yaml.Node
	for _, candidate := range source.Items {
		root, err := candidate.Root()
		if err != nil || root == nil || !Becomes(server.ObjectIn(root), object) {
			continue
		}
		exact := server.ObjectIn(root).Name == object.Name
		if node != nil && !exact {
			continue
		}
		item, node = candidate, root
		if exact {
			break
		}
	}
	return item, node
}

// Becomes tells whether an object of a file can be the rendered one: kustomize
// keeps the kind, and adds to a name in front and behind.
func Becomes(written, rendered finding.Object) bool {
	return written.Kind == rendered.Kind && written.Name != "" && strings.Contains(rendered.Name, written.Name)
}

// sameValue compares two nodes by what they say, not how.
func sameValue(a, b *yaml.Node) bool {
	if a == nil || b == nil || a.Kind != b.Kind {
		return false
	}
	if a.Kind == yaml.ScalarNode {
		return a.Value == b.Value
	}
	if len(a.Content) != len(b.Content) {
		return false
	}
	for i := range a.Content {
		if !sameValue(a.Content[i], b.Content[i]) {
			return false
		}
	}
	return true
}

// From are the rendered objects that come from a file and can be the written
// one.
func (r *Rendering) From(file string, written finding.Object) []finding.Object {
	var objects []finding.Object
	wanted := resolved(absolute(file))
	for i, item := range r.Source.Items {
		root, err := item.Root()
		if err != nil || root == nil || r.built[i].file == "" || resolved(absolute(r.built[i].file)) != wanted {
			continue
		}
		if object := server.ObjectIn(root); Becomes(written, object) {
			objects = append(objects, object)
		}
	}
	return objects
}
