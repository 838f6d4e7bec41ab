package overlay

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/trimtab/trimtab/internal/finding"
	"github.com/trimtab/trimtab/internal/server"
	"github.com/trimtab/trimtab/internal/setting"
	"github.com/trimtab/trimtab/internal/stream"
)

// patch is one patch of a kustomization.
type patch struct {
	// kustomization is the file that lists it, line where.
	kustomization string
	line          int
	// file is the patch's own, empty for one written into the kustomization.
	file string
	// item is its document, in that file or of the inline text.
	item *stream.Item
	// operations are those of a JSON patch.
	operations []operation
	// target is what the kustomization says that it is for.
	target finding.Object
	// merge is the object of a strategic merge patch.
	merge *yaml.Node
}

// operation is one of a JSON patch (RFC 6902).
type operation struct {
	op      string
	pointer []string
	node    *yaml.Node
}

// collectPatches reads the patches of a kustomization. What cannot be read is
// kustomize's to refuse.
func (s *scanner) collectPatches(folder, file string, top *yaml.Node) {
	s.collectReplacements(folder, file, field(top, "replacements"))
	for _, key := range []string{"patches", "patchesJson6902", "patchesStrategicMerge"} {
		list := field(top, key)
		if list == nil || list.Kind != yaml.SequenceNode {
			continue
		}
		for _, entry := range list.Content {
			one := patch{kustomization: file, line: entry.Line}
			inline, path := "", ""
			switch {
			case entry.Kind == yaml.ScalarNode && strings.Contains(entry.Value, "\n"):
				inline = entry.Value
			case entry.Kind == yaml.ScalarNode:
				path = entry.Value
			default:
				one.target = targetOf(field(entry, "target"))
				if node := field(entry, "patch"); node != nil {
					inline = node.Value
				}
				if node := field(entry, "path"); node != nil {
					path = node.Value
				}
			}
			s.patches = append(s.patches, one.documents(folder, path, inline)...)
			if path != "" {
				s.files[resolved(absolute(filepath.Join(folder, path)))] = true
			}
		}
	}
}

// collectReplacements reads the places that replacements read and write, which
// may count elements of lists as a JSON patch does.
func (s *scanner) collectReplacements(folder, file string, list *yaml.Node) {
	if list == nil || list.Kind != yaml.SequenceNode {
		return
	}
	for _, entry := range list.Content {
		if node := field(entry, "path"); node != nil {
			data, err := os.ReadFile(filepath.Join(folder, node.Value))
			var root yaml.Node
			if err != nil || yaml.Unmarshal(data, &root) != nil || len(root.Content) == 0 {
				continue
			}
			if root.Content[0].Kind == yaml.SequenceNode {
				s.collectReplacements(folder, file, root.Content[0])
				continue
			}
			entry = root.Content[0]
		}
		if source := field(entry, "source"); source != nil {
			one := patch{kustomization: file, line: entry.Line, target: targetOf(source)}
			if path := field(source, "fieldPath"); path != nil {
				one.operations = []operation{{op: "test", pointer: strings.Split(path.Value, "."), node: entry}}
				s.patches = append(s.patches, one)
			}
		}
		targets := field(entry, "targets")
		if targets == nil {
			continue
		}
		for _, target := range targets.Content {
			one := patch{kustomization: file, line: entry.Line, target: targetOf(field(target, "select"))}
			for _, path := range scalars(field(target, "fieldPaths")) {
				one.operations = append(one.operations, operation{op: "replace", pointer: strings.Split(path, "."), node: entry})
			}
			s.patches = append(s.patches, one)
		}
	}
}

func targetOf(node *yaml.Node) finding.Object {
	value := func(key string) string {
		if found := field(node, key); found != nil {
			return found.Value
		}
		return ""
	}
	return finding.Object{Kind: value("kind"), Name: value("name"), Namespace: value("namespace")}
}

// documents are the patches that one entry holds.
func (p patch) documents(folder, path, inline string) []patch {
	data, name := []byte(inline), p.kustomization
	if path != "" {
		name = filepath.Join(folder, path)
		read, err := os.ReadFile(name)
		if err != nil {
			return nil
		}
		data, p.file = read, name
	}
	var root yaml.Node
	if err := yaml.Unmarshal(data, &root); err == nil && len(root.Content) == 1 && root.Content[0].Kind == yaml.SequenceNode {
		return []patch{p.withOperations(root.Content[0])}
	}
	source, err := stream.ParseDocuments(name, data)
	if err != nil {
		return nil
	}
	var all []patch
	for _, item := range source.Items {
		one := p
		if one.merge, err = item.Root(); err != nil || one.merge == nil {
			continue
		}
		one.item = item
		if one.target == (finding.Object{}) {
			one.target = server.ObjectIn(one.merge)
		}
		all = append(all, one)
	}
	return all
}

func (p patch) withOperations(list *yaml.Node) patch {
	for _, entry := range list.Content {
		var o operation
		var pointer string
		for _, read := range []struct {
			key  string
			into *string
		}{{"op", &o.op}, {"path", &pointer}} {
			if node := field(entry, read.key); node != nil {
				*read.into = node.Value
			}
		}
		for _, step := range strings.Split(strings.TrimPrefix(pointer, "/"), "/") {
			o.pointer = append(o.pointer, strings.NewReplacer("~1", "/", "~0", "~").Replace(step))
		}
		o.node = entry
		p.operations = append(p.operations, o)
	}
	return p
}

// about tells whether a patch may be for an object: what its target leaves open
// fits. Names may have got a prefix or a suffix since.
func (p patch) about(object finding.Object) bool {
	fits := func(wanted, got string) bool { return wanted == "" || wanted == got }
	return fits(p.target.Kind, object.Kind) && (p.target.Name == "" || strings.Contains(object.Name, p.target.Name) || !plainName(p.target.Name))
}

// plainName tells a name from a regular expression, which a target may be.
func plainName(name string) bool { return !strings.ContainsAny(name, `.*+?()|[]\^$`) }

// line tells where a patch writes a path; zero where it does not.
func (p patch) writes(path setting.Path) (file string, line, column int) {
	path, _, _ = path.Part()
	if p.merge != nil {
		node := mergeNode(p.merge, path)
		if node == nil {
			return "", 0, 0
		}
		if p.file == "" {
			return p.kustomization, p.line, 1
		}
		line, column := p.item.Position(node)
		return p.file, line, column
	}
	for _, o := range slices.Backward(p.operations) {
		if !covers(o, path) {
			continue
		}
		if p.file == "" {
			return p.kustomization, p.line, 1
		}
		return p.file, o.node.Line, o.node.Column
	}
	return "", 0, 0
}

// covers tells whether an operation writes a path, or something around it.
func covers(o operation, path setting.Path) bool {
	if o.op == "remove" || o.op == "test" || len(o.pointer) > len(path) {
		return false
	}
	for i, step := range o.pointer {
		if !isStep(step, path[i]) {
			return false
		}
	}
	return true
}

func isStep(step string, element any) bool {
	switch e := element.(type) {
	case string:
		return e == step
	case int:
		// A replacement finds an element by a field: [name=server].
		return step == "-" || step == "*" || strings.HasPrefix(step, "[") || step == strconv.Itoa(e)
	}
	return false
}

// mergeNode is the node that a strategic merge patch has for a path of the
// merged object, where an index of a list of named elements may differ; the
// nearest one above it, when the patch replaces a whole list.
func mergeNode(root *yaml.Node, path setting.Path) *yaml.Node {
	node := root
	for i, element := range path {
		switch step := element.(type) {
		case string:
			next := server.Lookup(node, setting.Path{step})
			if next == nil {
				return nil
			}
			node = next
		case int:
			if node.Kind != yaml.SequenceNode || len(node.Content) == 0 {
				return nil
			}
			if step < len(node.Content) && node.Content[0].Kind != yaml.MappingNode {
				node = node.Content[step] // a list of texts is replaced whole
				continue
			}
			for _, candidate := range node.Content {
				if found := mergeNode(candidate, path[i+1:]); found != nil {
					return found
				}
			}
			return nil
		}
	}
	return node
}

// CountsOn tells why an edit that adds or removes an element of a list must not
// be made in a file: a JSON patch on the way counts on the places in that list.
// It is empty where none does.
func (r *Rendering) CountsOn(object finding.Object, path setting.Path) string {
	path, _, inside := path.Part()
	if inside {
		return "" // a word inside a text moves no element
	}
	for _, p := range r.patches {
		if !p.about(object) {
			continue
		}
		for _, o := range p.operations {
			if index := o.indexed(path); index != "" {
				does := " writes "
				if o.op == "test" {
					does = " reads "
				}
				return "the patch in " + orElse(p.file, p.kustomization) + does + index + " and counts on the places in that list"
			}
		}
	}
	return ""
}

// indexed is the pointer of an operation that counts elements of a list in which
// a path stands, or which the path is.
func (o operation) indexed(path setting.Path) string {
	for i, step := range o.pointer {
		if _, err := strconv.Atoi(step); err == nil && i <= len(path) {
			if i == len(path) {
				return "/" + strings.Join(o.pointer, "/")
			}
			if _, isIndex := path[i].(int); isIndex {
				// Another element of the list goes or comes: this one moves.
				if i == len(path)-1 {
					return "/" + strings.Join(o.pointer, "/")
				}
			}
		}
		if i >= len(path) || !isStep(step, path[i]) {
			return ""
		}
	}
	return ""
}
