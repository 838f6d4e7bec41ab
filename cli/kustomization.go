package cli

import (
	"os"
	"path/filepath"
	"slices"

	"go.yaml.in/yaml/v3"

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
}

var kustomizationFiles = []string{"kustomization.yaml", "kustomization.yml", "Kustomization"}

// heldFiles tells of each source why it must not be edited: it is a patch, or a
// kustomization among the sources renders it into something else.
func heldFiles(sources []*stream.Source) map[*stream.Source]string {
	why := map[string]string{}
	seen := map[string]bool{}
	for _, source := range sources {
		if slices.Contains(kustomizationFiles, filepath.Base(source.Name)) {
			reach(filepath.Dir(source.Name), "", why, seen)
		}
	}
	held := map[*stream.Source]string{}
	for _, source := range sources {
		if reason := why[filepath.Clean(source.Name)]; reason != "" {
			held[source] = reason
		}
	}
	return held
}

// reach walks what a kustomization reaches. reason is why the kustomizations on
// the way make edits unsafe; empty when they change nothing that matters.
func reach(folder, reason string, why map[string]string, seen map[string]bool) {
	if seen[folder+"\x00"+reason] {
		return
	}
	seen[folder+"\x00"+reason] = true
	k, ok := readKustomization(folder)
	if !ok {
		return
	}
	for _, patch := range k.patchFiles() {
		why[filepath.Join(folder, patch)] = "it is a patch, and what it is applied to is not in it"
	}
	if reason == "" && k.changesServers() {
		reason = "the kustomization in " + folder + " patches what this file becomes"
	}
	for _, entry := range slices.Concat(k.Resources, k.Bases, k.Components) {
		path := filepath.Join(folder, entry)
		if info, err := os.Stat(path); err != nil {
			continue // a remote base, or a file that is not there
		} else if info.IsDir() {
			reach(path, reason, why, seen)
			continue
		}
		if reason != "" && why[path] == "" {
			why[path] = reason
		}
	}
}

func readKustomization(folder string) (kustomization, bool) {
	for _, name := range kustomizationFiles {
		data, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			continue
		}
		var k kustomization
		_ = yaml.Unmarshal(data, &k) // what does not decode is kustomize's to refuse
		return k, true
	}
	return kustomization{}, false
}

// changesServers tells whether the kustomization may change settings of what it
// reaches, or count on their places.
func (k kustomization) changesServers() bool {
	return len(k.Patches)+len(k.PatchesStrategicMerge)+len(k.PatchesJSON6902)+len(k.Replacements)+len(k.Images)+len(k.Components) > 0
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
