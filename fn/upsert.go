package fn

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/trimtab/trimtab/internal/stream"
)

// upsert adds, renews and takes away the generated objects of a source, whose
// edits are made already: now is what it is after them. What goes goes from the
// end, and what is new comes last, so that the others keep their position.
func upsert(source, now *stream.Source, objects []generated) (*stream.Source, error) {
	slices.SortStableFunc(objects, func(a, b generated) int { return cmp.Compare(a.turn(source), b.turn(source)) })
	for _, object := range objects {
		splices, err := object.splices(source, now)
		if err != nil {
			return nil, fmt.Errorf("a generated object cannot be written: %w", err)
		}
		data, err := stream.Apply(now.Data, splices)
		if err != nil {
			return nil, err
		}
		if now, err = source.Again(data); err != nil {
			return nil, err
		}
	}
	return now, nil
}

// turn orders the objects of a source for upsert.
func (g generated) turn(source *stream.Source) int {
	switch {
	case g.stands == nil:
		return len(source.Items) + 1
	case g.text == "":
		return len(source.Items) - slices.Index(source.Items, g.stands)
	}
	return 0
}

func (g generated) splices(before, now *stream.Source) ([]stream.Splice, error) {
	if g.stands == nil {
		return now.AppendSplices(g.text)
	}
	at := slices.Index(before.Items, g.stands)
	if at < 0 || at >= len(now.Items) {
		return nil, fmt.Errorf("the object that stands there is in another file")
	}
	if g.text == "" {
		return now.Items[at].RemoveSplices()
	}
	return now.Items[at].ReplaceSplices(g.text)
}

// unwritable says why a new object cannot be added to the file of a server: one
// of JSON holds one object. It is nil where it can.
func unwritable(j *judged, text string) error {
	if !strings.HasSuffix(j.Item.Source.Name, ".json") {
		return nil
	}
	_, err := j.Item.Source.AppendSplices(text)
	return err
}

// beside puts an object into the server's file, behind the documents that are
// in it and those that were added, where the host tells files by annotations.
// kustomize knows no files.
func beside(text string, j *judged, added map[string]int) string {
	const path, index = "internal.config.kubernetes.io/path", "internal.config.kubernetes.io/index"
	file := j.Annotations[path]
	if _, kustomize := j.Annotations["kustomize.config.k8s.io/id"]; file == "" || kustomize || j.Item.Source.List == nil {
		return text
	}
	next := 0
	for _, item := range j.Item.Source.Items {
		annotations := annotationsOf(item)
		if n, err := strconv.Atoi(annotations[index]); annotations[path] == file && err == nil {
			next = max(next, n+1)
		}
	}
	next += added[file]
	added[file]++
	return strings.Replace(text, "  annotations:\n", fmt.Sprintf("  annotations:\n    %s: %s\n    %s: %q\n", path, strconv.Quote(file), index, strconv.Itoa(next)), 1)
}
