package fn

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/trimtab/trimtab/internal/stream"
)

// upsert adds, renews and takes away the generated objects of a source, whose
// edits are made already: data is its text after them.
func upsert(source *stream.Source, data []byte, objects []generated) ([]byte, error) {
	for _, object := range objects {
		now, err := parse(source, data)
		if err != nil {
			return nil, err
		}
		splices, err := object.splices(source, now)
		if err != nil {
			return nil, fmt.Errorf("a generated object cannot be written: %w", err)
		}
		if data, err = stream.Apply(data, splices); err != nil {
			return nil, err
		}
	}
	return data, nil
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

// parse reads new text of a source as the source itself was read.
func parse(source *stream.Source, data []byte) (*stream.Source, error) {
	if source.List != nil {
		return stream.ParseResourceList(data)
	}
	return stream.ParseDocuments(source.Name, data)
}

// beside puts an object into the server's file, behind the documents that are
// in it, where the host tells files by annotations. kustomize knows no files.
func beside(text string, j *judged) string {
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
	return strings.Replace(text, "  annotations:\n", fmt.Sprintf("  annotations:\n    %s: %s\n    %s: %q\n", path, strconv.Quote(file), index, strconv.Itoa(next)), 1)
}
