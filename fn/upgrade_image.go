package fn

import (
	"fmt"
	"slices"

	"github.com/trimtab/trimtab/internal/edit"
	"github.com/trimtab/trimtab/internal/finding"
	"github.com/trimtab/trimtab/internal/report"
	"github.com/trimtab/trimtab/internal/server"
	"github.com/trimtab/trimtab/internal/setting"
	"github.com/trimtab/trimtab/internal/stream"
)

// retag is the change that gives a server's image the tag of the release that is
// to come, or a note that says why its tag is left.
func (in Input) retag(s *judged) (*report.Change, string) {
	to := s.release()
	if s.crossing.from.Exact && s.crossing.from.Releases[0] == to {
		return nil, ""
	}
	root, err := s.Item.Root()
	if err != nil {
		return nil, ""
	}
	node := server.Lookup(root, s.ImagePath)
	switch {
	case s.ImagePath == nil || node == nil || node.Value != s.Image:
		return nil, "no image tag is written: the manifest does not name the image in one place"
	case s.facts.SpanSource != "image":
		return nil, "no image tag is written: the version is stated by " + s.facts.SpanSource + ", change it there"
	case in.Held[s.Item.Source] != "":
		return nil, "no image tag is written: " + in.Held[s.Item.Source]
	}
	wanted, err := s.engine.Retag(s.Image, to)
	if err != nil {
		return nil, "no image tag is written: " + err.Error()
	}
	c := s.change(report.Retagged, report.Harmless,
		setting.Setting{Name: "image", Values: []string{s.Image}, Origin: setting.Origin{Kind: setting.Field, Path: s.ImagePath}, Places: []setting.Path{s.ImagePath}},
		s.Image, wanted, fmt.Sprintf("the image becomes %s", wanted))
	c.Object, c.Container, c.Severity, c.Action, c.Proposed = s.Object, s.Container, finding.Info, finding.Set, wanted
	c.Edits = []finding.Edit{{Action: finding.Set, Path: s.ImagePath, Value: wanted}}
	s.locate(&c.Finding)
	if in.Veto != nil {
		if why := in.Veto(s.Item.Source.Name, c.Finding); why != "" {
			return nil, "no image tag is written: " + why
		}
	}
	return &c, ""
}

// writeTags writes the tags of the changes into the sources, as they are after
// the other edits, and marks the changes as made.
func (in Input) writeTags(servers []*judged, tags []*report.Change, changed map[*stream.Source][]byte) error {
	for _, source := range in.Sources {
		data, ok := changed[source]
		if !ok {
			data = source.Data
		}
		now, err := source.Again(data)
		if err != nil {
			return fmt.Errorf("the changed text does not parse, nothing was written: %w", err)
		}
		var splices []stream.Splice
		for i, item := range source.Items {
			var edits []finding.Edit
			for k, s := range servers {
				if s.Item == item && tags[k] != nil {
					edits = append(edits, tags[k].Edits...)
					tags[k].Fixed = true
				}
			}
			if len(edits) == 0 {
				continue
			}
			planned, err := edit.Plan(now.Items[i], slices.CompactFunc(edits, sameEdit), nil)
			if err != nil {
				return fmt.Errorf("an image tag cannot be written: %w", err)
			}
			splices = append(splices, planned...)
		}
		if len(splices) == 0 {
			continue
		}
		if changed[source], err = stream.Apply(data, splices); err != nil {
			return err
		}
	}
	return nil
}

// sameEdit: two servers may run one container's image.
func sameEdit(a, b finding.Edit) bool {
	return a.Action == b.Action && a.Value == b.Value && a.Path.String() == b.Path.String()
}
