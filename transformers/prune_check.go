package transformers

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// check refuses what would make a job that does not start, or that prunes
// something else than was meant.
func (job *PruneJob) check() error {
	if len(job.Name) > 52 || !objectName.MatchString(job.Name) {
		return errors.New("the name must have at most 52 lower case letters, digits, `-` or `.`: use PruneName")
	}
	if job.KeepFor < time.Minute || job.KeepFor > 10*365*24*time.Hour {
		return fmt.Errorf("keepFor is %v: state at least 1m and at most 87600h, or prune: false for no job", job.KeepFor)
	}
	if job.Owner.Name == "" {
		return errors.New("no server is named: give the server a name")
	}
	if (job.Claim == "") == (job.HostPath == "") {
		return errors.New("the cache must lie on a claim or on a hostPath, one of the two")
	}
	if job.MountPath == "/" || !path.IsAbs(job.MountPath) || !path.IsAbs(job.Parent) {
		return fmt.Errorf("mount path %q and directory %q must be absolute, and the mount path not `/`", job.MountPath, job.Parent)
	}
	if job.Parent != job.MountPath && !strings.HasPrefix(job.Parent, job.MountPath+"/") {
		return fmt.Errorf("the directory %q is not on the volume mounted at %q: mount the volume at a parent of the generations", job.Parent, job.MountPath)
	}
	if err := job.checkPages(); err != nil {
		return err
	}
	for _, name := range slices.Concat(job.Keep, job.Reserved) {
		if name == "" || name == "." || name == ".." || strings.Contains(name, "/") {
			return fmt.Errorf("%q is no name of a directory in %s: name a directory that lies directly in it", name, job.Parent)
		}
	}
	return job.checkTexts()
}

// checkPages refuses patterns that the script cannot hand to find, and a tier
// of which it could not tell what must stay.
func (job *PruneJob) checkPages() error {
	if len(job.Pages) == 0 || job.Flat && len(job.Pages) > 1 {
		return fmt.Errorf("the page globs %q must be file name patterns such as *.bin, one for a flat tier", job.Pages)
	}
	globs := job.Pages
	if job.Partial != "" {
		globs = append(slices.Clone(globs), job.Partial)
	}
	for _, glob := range globs {
		if glob == "" || unfitGlob.MatchString(glob) || !job.Flat && strings.Contains(glob, "/") {
			return fmt.Errorf("the page glob %q must be a file name pattern such as *.bin", glob)
		}
		if job.Flat && strings.Count(glob, "/") != strings.Count(job.Pages[0], "/") {
			return fmt.Errorf("the page globs %q and %q must lie equally deep", job.Pages[0], glob)
		}
	}
	switch {
	case job.Flat && job.depth() == 1:
		for _, name := range job.Reserved {
			if matched, err := path.Match(job.Pages[0], name); matched || err != nil {
				return fmt.Errorf("%q in %s is used elsewhere and looks like a page: rename it", name, job.Parent)
			}
		}
	case !job.Flat && len(job.Keep) == 0:
		return errors.New("no generation is named that must stay: name the directory the server is configured with")
	}
	return nil
}

// checkTexts refuses texts that would not reach the script, or the object, as
// they are: kubelet replaces $(NAME) and halves dollars, Flux replaces ${NAME}.
func (job *PruneJob) checkTexts() error {
	data := slices.Concat([]string{job.MountPath, job.Parent}, job.Pages, job.Keep, job.Reserved)
	for _, text := range data {
		for _, form := range []string{"$(", "${", "$$"} {
			if strings.Contains(text, form) {
				return fmt.Errorf("%q holds `%s`, which kubelet or Flux replaces: write the value out, or rename the directory", text, form)
			}
		}
	}
	all := slices.Concat(data, []string{job.Namespace, job.Schedule, job.Image, job.PriorityClass, job.Claim, job.HostPath, job.SubPath, job.Owner.Kind, job.Owner.Name})
	for _, labels := range []map[string]string{job.NodeSelector, job.AffinityLabels, job.Labels, job.Annotations} {
		all = slices.Concat(all, slices.Collect(maps.Keys(labels)), slices.Collect(maps.Values(labels)))
	}
	for _, text := range all {
		if !utf8.ValidString(text) || strings.Contains(text, "\x00") {
			return fmt.Errorf("%q is no text that YAML can hold: rename it", text)
		}
	}
	return nil
}
