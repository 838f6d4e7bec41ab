package cli

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/trimtab/trimtab/fn"
	"github.com/trimtab/trimtab/internal/config"
	"github.com/trimtab/trimtab/internal/finding"
	"github.com/trimtab/trimtab/internal/overlay"
	"github.com/trimtab/trimtab/internal/setting"
	"github.com/trimtab/trimtab/internal/stream"
)

// renderings are what the kustomizations among the paths make of the files they
// reach. Each is built when the first edit asks for it.
type renderings struct {
	reached reached
	in      *fn.Input
	built   map[string]*judgedRendering
}

// judgedRendering is one rendering with what is said about it; err is why it
// cannot be built or judged.
type judgedRendering struct {
	*overlay.Rendering
	findings []finding.Finding
	err      error
}

// veto says why an edit of a file must not be made: in what a kustomization makes
// of the file the finding does not hold, a patch counts on the places in the list,
// or it cannot be rendered.
func (r *renderings) veto(file string, f finding.Finding) string {
	file = filepath.Clean(file)
	for _, folder := range r.reached.changing[file] {
		one := r.rendering(folder)
		if one.err != nil {
			return "what the kustomization in " + folder + " makes of this file cannot be told: " + one.err.Error()
		}
		for _, edited := range editedPaths(f) {
			if why := one.CountsOn(f.Object, edited); why != "" {
				return why
			}
		}
		for _, object := range one.From(file, f.Object) {
			if !one.says(object, f) {
				return "in what the kustomization in " + folder + " makes of this file it does not hold"
			}
		}
	}
	return ""
}

// editedPaths are those of the nodes that an edit takes out, or adds to.
func editedPaths(f finding.Finding) []setting.Path {
	paths := append([]setting.Path{}, f.Places...)
	for _, e := range f.Edits {
		if e.Action != finding.Set {
			paths = append(paths, e.Path)
		}
	}
	return paths
}

// says tells whether the same is found about a rendered object, and would be
// edited there.
func (j *judgedRendering) says(object finding.Object, wanted finding.Finding) bool {
	for _, f := range j.findings {
		if f.Object == object && f.Container == wanted.Container && f.Rule == wanted.Rule && f.Setting == wanted.Setting &&
			f.Value == wanted.Value && f.Proposed == wanted.Proposed && f.Action == wanted.Action {
			return true
		}
	}
	return false
}

func (r *renderings) rendering(folder string) *judgedRendering {
	if one, ok := r.built[folder]; ok {
		return one
	}
	one := &judgedRendering{}
	r.built[folder] = one
	if one.Rendering, one.err = overlay.Build(folder); one.err != nil {
		return one
	}
	out, err := fn.Process(fn.Input{
		Sources: []*stream.Source{one.Source}, Configs: r.in.Configs, OnlySelected: r.in.OnlySelected, Mode: config.Verify,
	})
	if err != nil {
		one.err = err
		return one
	}
	one.findings = out.Report.Findings
	return one
}

// gatherOverlay renders the kustomization in a folder, lets trimtab's own
// transformers work on it, and returns the result as the input to verify.
func gatherOverlay(folder string, configFiles []string) (*fn.Input, error) {
	rendering, err := overlay.Build(folder)
	if err != nil {
		return nil, err
	}
	in := &fn.Input{Sources: []*stream.Source{rendering.Source}, Mode: config.Verify, OnlySelected: len(configFiles) > 0}
	for _, file := range configFiles {
		found, err := readConfigs(file)
		if err != nil {
			return nil, err
		}
		in.Configs = append(in.Configs, found...)
	}
	var trims []*config.Config
	for _, own := range rendering.Configs {
		decoded, err := decodeConfig(own.Root, own.File)
		if err != nil {
			return nil, err
		}
		in.Configs = append(in.Configs, decoded)
		if decoded.Kind == config.Trim {
			trims = append(trims, decoded)
		}
	}
	in.Place = inFiles(rendering, rendering.Source)
	if len(trims) == 0 {
		return in, nil
	}
	out, err := fn.Process(fn.Input{Sources: in.Sources, Configs: trims, OnlySelected: true, Mode: config.Trim})
	if err != nil {
		return nil, err
	}
	changed, ok := out.Changed[rendering.Source]
	if !ok {
		return in, nil
	}
	trimmed, err := stream.ParseDocuments(folder, changed)
	if err != nil {
		return nil, err
	}
	in.Sources, in.Place = []*stream.Source{trimmed}, inFiles(rendering, trimmed)
	return in, nil
}

// inFiles names for findings about rendered objects the files they come from.
func inFiles(rendering *overlay.Rendering, rendered *stream.Source) func(*finding.Finding) {
	return func(f *finding.Finding) {
		path := f.Origin.Path
		if path == nil {
			path = f.Origin.Near
		}
		if place, ok := rendering.Locate(rendered, f.Object, path); ok {
			f.File, f.Line, f.Column = place.File, place.Line, place.Column
		}
	}
}

// errBoth refuses -k beside paths.
var errBoth = errors.New("`-k DIR` stands alone: name a kustomization or paths, not both")

// overlayFolder checks the folder of -k.
func overlayFolder(folder string, paths []string) error {
	if len(paths) > 0 {
		return errBoth
	}
	if strings.Contains(folder, "://") {
		return fmt.Errorf("%s is remote, and trimtab asks no network: name a folder", folder)
	}
	return nil
}
