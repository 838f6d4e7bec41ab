package cli

import (
	"os"
	"path/filepath"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/trimtab/trimtab/internal/overlay"
	"github.com/trimtab/trimtab/internal/stream"
)

// kustomization is what of a kustomization decides whether a file it reaches can
// be edited by what the file alone says.
type kustomization struct {
	Resources  []string `yaml:"resources"`
	Bases      []string `yaml:"bases"`
	Components []string `yaml:"components"`

	Patches               []map[string]any `yaml:"patches"`
	PatchesStrategicMerge []string         `yaml:"patchesStrategicMerge"`
	PatchesJSON6902       []map[string]any `yaml:"patchesJson6902"`
	Replacements          []any            `yaml:"replacements"`
	Images                []any            `yaml:"images"`
	ConfigMapGenerator    []any            `yaml:"configMapGenerator"`
}

// reached is what the kustomizations among the sources make of files.
type reached struct {
	// patches are files that are laid over others.
	patches map[string]bool
	// changing are, by file, the folders of kustomizations that make something
	// else of it.
	changing map[string][]string
}

// reachedBy walks the kustomizations among the sources.
func reachedBy(sources []*stream.Source) reached {
	r := reached{patches: map[string]bool{}, changing: map[string][]string{}}
	for _, source := range sources {
		if slices.Contains(overlay.FileNames, filepath.Base(source.Name)) {
			folder := filepath.Dir(source.Name)
			r.walk(folder, folder, false, map[string]bool{})
		}
	}
	return r
}

// walk follows what the kustomization of a folder reaches for the one at the
// top. Changed is true when one on the way changes what it gets.
func (r *reached) walk(top, folder string, changed bool, seen map[string]bool) {
	k, ok := readKustomization(folder)
	if !ok || seen[folder] {
		return
	}
	seen[folder] = true
	for _, patch := range k.patchFiles() {
		r.patches[filepath.Join(folder, patch)] = true
	}
	changed = changed || k.changesServers()
	for _, entry := range slices.Concat(k.Resources, k.Bases, k.Components) {
		path := filepath.Join(folder, entry)
		info, err := os.Stat(path)
		switch {
		case err != nil: // a remote base, or a file that is not there
		case info.IsDir():
			r.walk(top, path, changed, seen)
		case changed && !slices.Contains(r.changing[path], top):
			r.changing[path] = append(r.changing[path], top)
		}
	}
}

// held tells of each source that is a patch why it must not be edited.
func (r reached) held(sources []*stream.Source) map[*stream.Source]string {
	held := map[*stream.Source]string{}
	for _, source := range sources {
		if r.patches[filepath.Clean(source.Name)] {
			held[source] = "it is a patch, and what it is applied to is not in it"
		}
	}
	return held
}

func readKustomization(folder string) (kustomization, bool) {
	file, ok := overlay.File(folder)
	if !ok {
		return kustomization{}, false
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return kustomization{}, false
	}
	var k kustomization
	_ = yaml.Unmarshal(data, &k) // what does not decode is kustomize's to refuse
	return k, true
}

// changesServers tells whether the kustomization may change settings of what it
// reaches, or count on their places.
func (k kustomization) changesServers() bool {
	return len(k.Patches)+len(k.PatchesStrategicMerge)+len(k.PatchesJSON6902)+len(k.Replacements)+len(k.Images)+len(k.Components)+len(k.ConfigMapGenerator) > 0
}

func (k kustomization) patchFiles() []string {
	files := slices.Clone(k.PatchesStrategicMerge)
	for _, patch := range slices.Concat(k.Patches, k.PatchesJSON6902) {
		if path, ok := patch["path"].(string); ok {
			files = append(files, path)
		}
	}
	return files
}
