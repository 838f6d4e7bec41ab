package server

import (
	"go.yaml.in/yaml/v3"

	"github.com/trimtab/trimtab/internal/finding"
	"github.com/trimtab/trimtab/internal/stream"
)

// VolumeClaim is a PersistentVolumeClaim of the input.
type VolumeClaim struct {
	Object finding.Object
	// Storage is what it requests, as written; StorageClass may be empty.
	Storage, StorageClass string
	// Comments are those above and beside what it requests.
	Comments []string
}

var namedVolumeClaim = stream.Register("PersistentVolumeClaim")

// VolumeClaim finds the claim of a name in the server's namespace; false where
// the input has none, or several, of which an overlay makes one.
func (s *Server) VolumeClaim(name string) (VolumeClaim, bool) {
	var found []VolumeClaim
	for _, item := range s.items {
		if !item.MentionsAny(namedVolumeClaim) || !item.Mentions(name) {
			continue
		}
		root, err := item.Root()
		if err != nil {
			continue // whoever reads this item on its own says what is wrong
		}
		object := objectOf(root)
		if object.Kind != "PersistentVolumeClaim" || object.Name != name || object.Namespace != s.Object.Namespace && object.Namespace != "" && s.Object.Namespace != "" {
			continue
		}
		found = append(found, VolumeClaim{
			Object: object, Storage: text(at(root, "spec", "resources", "requests", "storage")), StorageClass: text(at(root, "spec", "storageClassName")),
			Comments: commentsOn(root, "spec", "resources", "requests", "storage"),
		})
	}
	if len(found) != 1 || found[0].Storage == "" || decidedElsewhere(found[0].Storage) {
		return VolumeClaim{}, false
	}
	return found[0], true
}

// commentsOn are the comments on the keys of the innermost two steps of a path,
// and on its value.
func commentsOn(root *yaml.Node, path ...string) []string {
	var comments []string
	node := root
	for i, key := range path {
		node = resolve(node)
		if node == nil || node.Kind != yaml.MappingNode {
			return nil
		}
		var next *yaml.Node
		for k := 0; k+1 < len(node.Content); k += 2 {
			if node.Content[k].Value != key {
				continue
			}
			next = node.Content[k+1]
			if i >= len(path)-2 {
				for _, on := range []*yaml.Node{node.Content[k], next} {
					comments = append(comments, on.HeadComment, on.LineComment)
				}
			}
		}
		node = next
	}
	kept := comments[:0]
	for _, comment := range comments {
		if comment != "" {
			kept = append(kept, comment)
		}
	}
	return kept
}
