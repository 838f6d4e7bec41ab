// Package overlay renders kustomizations in-process and tells where what was
// rendered stands in the files they are made of. A folder goes in; documents,
// the configs of trimtab that stood among the transformers, and places come out.
// It starts no plugin and asks no network.
package overlay

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"

	"go.yaml.in/yaml/v3"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/resource"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	kyaml "sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/trimtab/trimtab/internal/stream"
)

// Rendering is what one kustomization builds.
type Rendering struct {
	// Folder is the kustomization's, as it was named.
	Folder string
	// Source holds the rendered documents; its name is the folder.
	Source *stream.Source
	// Configs are the functionConfigs that stood under transformers, in the order
	// in which kustomize would run them: a base's before its overlay's.
	Configs []Config
	// built are the rendered objects with where they come from, by their index.
	built []built
	// patches are those of all kustomizations on the way.
	patches []patch
}

// Config is one document of a functionConfig and the file it stands in.
type Config struct {
	File string
	Root *yaml.Node
}

// built is where one rendered object comes from.
type built struct {
	// file is the file of the resource, or the kustomization that generates it.
	file string
	// changedIn are the kustomizations whose transformers touched it, in order.
	changedIn []string
}

// Build renders the kustomization in a folder. Errors are those of kustomize,
// and what is refused: a remote base or file, a Helm chart, a plugin that is not
// trimtab's own, and trimtab under `validators`.
func Build(folder string) (*Rendering, error) {
	disk := filesys.MakeFsOnDisk()
	scan := &scanner{disk: disk, rewritten: map[string][]byte{}, files: map[string]bool{}}
	if err := scan.folder(folder, true); err != nil {
		return nil, err
	}
	options := krusty.MakeDefaultOptions()
	options.LoadRestrictions = types.LoadRestrictionsNone
	rendered, err := krusty.MakeKustomizer(options).Run(prepared{disk, scan.rewritten}, folder)
	if err != nil {
		return nil, fmt.Errorf("%s: kustomize cannot build it: %w", folder, err)
	}
	r := &Rendering{Folder: folder, Configs: scan.configs, patches: scan.patches}
	var text bytes.Buffer
	for _, one := range rendered.Resources() {
		where, err := r.originOf(one)
		if err != nil {
			return nil, err
		}
		data, err := one.AsYAML()
		if err != nil {
			return nil, err
		}
		r.built = append(r.built, where)
		text.WriteString("---\n")
		text.Write(data)
	}
	r.Source, err = stream.ParseDocuments(folder, text.Bytes())
	if err != nil {
		return nil, err
	}
	if len(r.Source.Items) != len(r.built) {
		return nil, fmt.Errorf("%s: kustomize built %d objects, and %d documents are read", folder, len(r.built), len(r.Source.Items))
	}
	return r, nil
}

// originOf takes kustomize's own notes about where an object comes from off it.
func (r *Rendering) originOf(one *resource.Resource) (built, error) {
	var where built
	origin, err := one.GetOrigin()
	if err != nil {
		return where, err
	}
	if origin != nil {
		where.file = filepath.Join(r.Folder, orElse(origin.Path, origin.ConfiguredIn))
	}
	transformations, err := one.GetTransformations()
	if err != nil {
		return where, err
	}
	for _, t := range transformations {
		where.changedIn = append(where.changedIn, filepath.Join(r.Folder, t.ConfiguredIn))
	}
	if err := one.SetOrigin(nil); err != nil {
		return where, err
	}
	if err := one.ClearTransformations(); err != nil {
		return where, err
	}
	_, err = one.Pipe(kyaml.Lookup("metadata"), kyaml.FieldClearer{Name: "annotations", IfEmpty: true})
	return where, err
}

func resolved(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}

// prepared is the disk with kustomizations as they are built here.
type prepared struct {
	filesys.FileSystem
	rewritten map[string][]byte
}

// ReadFile gives the text of a file, or what it is here; a remote file is an error.
func (p prepared) ReadFile(path string) ([]byte, error) {
	if data, ok := p.rewritten[resolved(path)]; ok {
		return data, nil
	}
	if strings.Contains(path, "://") {
		return nil, fmt.Errorf("%s is remote", path)
	}
	return p.FileSystem.ReadFile(path)
}

func orElse(text, other string) string {
	if text == "" {
		return other
	}
	return text
}
