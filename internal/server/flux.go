package server

import (
	"path"
	"path/filepath"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/trimtab/trimtab/internal/setting"
	"github.com/trimtab/trimtab/internal/stream"
)

// FluxBuild is a Flux Kustomization of the input that substitutes variables in
// what it applies.
type FluxBuild struct {
	Name string
	// Variables are those written in it; From is true where it takes more from
	// ConfigMaps or Secrets.
	Variables map[string]string
	From      bool
	folder    string
}

// Text is one scalar of an object that holds a ${…}.
type Text struct {
	Path  setting.Path
	Value string
	// Quoted is false for a plain scalar.
	Quoted bool
}

const fluxGroup = "kustomize.toolkit.fluxcd.io/"

var namedFlux = stream.Register(fluxGroup)

// fluxBuilds finds the Flux Kustomizations with a postBuild.
func fluxBuilds(items []*stream.Item) ([]FluxBuild, error) {
	var found []FluxBuild
	for _, item := range items {
		if !item.MentionsAny(namedFlux) || !item.Mentions("postBuild") {
			continue
		}
		root, err := item.Root()
		if err != nil {
			return nil, err
		}
		object := objectOf(root)
		post := at(root, "spec", "postBuild")
		if object.Kind != "Kustomization" || !strings.HasPrefix(object.APIVersion, fluxGroup) || isNull(post) {
			continue
		}
		build := FluxBuild{Name: object.Name, Variables: stringMap(at(post, "substitute")), From: !isNull(at(post, "substituteFrom"))}
		build.folder = path.Clean("/" + text(at(root, "spec", "path")))
		found = append(found, build)
	}
	return found, nil
}

// Substituting is the Flux Kustomization that applies the server's file; nil
// where none of the input does, or the object is marked as not to be changed.
func (s *Server) Substituting() *FluxBuild {
	if s.Marked() {
		return nil
	}
	file := "/" + filepath.ToSlash(filepath.Clean(s.Item.Source.Name))
	for i, build := range s.flux {
		if build.folder != "/" && strings.Contains(file, build.folder+"/") {
			return &s.flux[i]
		}
	}
	return nil
}

// Marked tells whether the object says that Flux must not substitute in it.
func (s *Server) Marked() bool {
	const marker = fluxGroup + "substitute"
	return s.Labels[marker] == "disabled" || s.Annotations[marker] == "disabled"
}

// Texts are the scalars, in fields that take nothing but texts, of the server's container, and of its object's labels
// and annotations, that hold a ${…}.
func (s *Server) Texts() []Text {
	root, err := s.Item.Root()
	if err != nil || root == nil {
		return nil
	}
	var found []Text
	visit := func(node *yaml.Node, at setting.Path) {
		if node.Kind == yaml.ScalarNode && strings.Contains(node.Value, "${") {
			found = append(found, Text{Path: at, Value: node.Value, Quoted: node.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) != 0})
		}
	}
	for _, key := range []string{"labels", "annotations"} {
		each(at(root, "metadata", key), setting.Path{"metadata", key}, visit)
	}
	container := Lookup(root, s.Path)
	for _, list := range []string{"command", "args", "extraArgs"} {
		each(at(container, list), s.Path.Join(list), visit)
	}
	each(at(container, "env"), s.Path.Join("env"), func(node *yaml.Node, path setting.Path) {
		if value := at(node, "value"); value != nil {
			visit(value, path.Join("value"))
			return
		}
		visit(node, path)
	})
	return found
}

// each visits the elements of a list, or the values of a mapping.
func each(node *yaml.Node, path setting.Path, visit func(*yaml.Node, setting.Path)) {
	if node == nil {
		return
	}
	switch node.Kind {
	case yaml.SequenceNode:
		for i, element := range node.Content {
			visit(resolve(element), path.Join(i))
		}
	case yaml.MappingNode:
		for i := 0; i+1 < len(node.Content); i += 2 {
			visit(resolve(node.Content[i+1]), path.Join(node.Content[i].Value))
		}
	}
}
