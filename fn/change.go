package fn

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/trimtab/trimtab/internal/edit"
	"github.com/trimtab/trimtab/internal/finding"
	"github.com/trimtab/trimtab/internal/parallel"
	"github.com/trimtab/trimtab/internal/rule"
	"github.com/trimtab/trimtab/internal/setting"
	"github.com/trimtab/trimtab/internal/stream"
	"github.com/trimtab/trimtab/transformers"
)

// changes are the sources that change, read again, and the items in them that
// were edited.
type changes struct {
	sources map[*stream.Source]*stream.Source
	items   map[place]bool
	// refused are the findings, by server and identity, whose edit cannot be made
	// or is given up.
	refused map[string]bool
}

// change turns the findings of all servers into edits of their items. Findings
// whose edit cannot be made safely lose their action and say so.
func change(in Input, all *judgements) (*changes, error) {
	made := &changes{sources: map[*stream.Source]*stream.Source{}, items: map[place]bool{}, refused: map[string]bool{}}
	byItem := all.byItem()
	bySource := all.generatedBySource()
	for s, source := range in.Sources {
		objects := bySource[source]
		plans, err := made.planItems(in, source.Items, byItem)
		if err != nil {
			return nil, err
		}
		edited := false
		for i, item := range source.Items {
			servers, planned := byItem[item], plans[item]
			edited = edited || len(planned) > 0
			generates := slices.ContainsFunc(servers, func(s *judged) bool { return len(s.generated) > 0 })
			if len(planned) > 0 || generates {
				made.items[place{s, i}] = true
			}
		}
		if !edited && len(objects) == 0 {
			continue
		}
		now, err := source.Spliced(plans)
		if err == nil {
			now, err = upsert(source, now, objects)
		}
		if err != nil {
			return nil, fmt.Errorf("the changed text does not parse, nothing was written: %w", err)
		}
		made.sources[source] = now
	}
	return made, nil
}

// planItems plans the edits of items, on all cores those of items with a text of
// their own.
func (made *changes) planItems(in Input, items []*stream.Item, byItem map[*stream.Item][]*judged) (map[*stream.Item][]stream.Splice, error) {
	var groups [][]*stream.Item
	at := map[any]int{}
	for _, item := range items {
		if len(byItem[item]) == 0 {
			continue
		}
		n, ok := at[item.Together()]
		if !ok {
			n, groups = len(groups), append(groups, nil)
			at[item.Together()] = n
		}
		groups[n] = append(groups[n], item)
	}
	plans := map[*stream.Item][]stream.Splice{}
	var writing sync.Mutex
	return plans, parallel.Each(len(groups), func(i int) error {
		for _, item := range groups[i] {
			planned, refused := planItem(in, item, byItem[item])
			writing.Lock()
			plans[item] = planned
			maps.Copy(made.refused, refused)
			writing.Unlock()
		}
		return nil
	})
}

// generatedBySource are the generated objects of each source: those that stand
// somewhere stay there, new ones come into the source of their server.
func (j *judgements) generatedBySource() map[*stream.Source][]generated {
	index := map[*stream.Source][]generated{}
	added := map[string]int{}
	for i := range j.servers {
		s := &j.servers[i]
		for _, object := range s.generated {
			source := s.Item.Source
			if object.stands != nil {
				source = object.stands.Source
			} else {
				object.text = beside(object.text, s, added)
			}
			index[source] = append(index[source], object)
		}
	}
	return index
}

// addStopped adds the findings whose edits were given up to those refused.
func (made *changes) addStopped(all *judgements) {
	for i := range all.servers {
		for id := range all.servers[i].stopped {
			made.refused[all.servers[i].key()+id] = true
		}
	}
}

// byItem are the servers that each item describes.
func (j *judgements) byItem() map[*stream.Item][]*judged {
	index := map[*stream.Item][]*judged{}
	for i := range j.servers {
		item := j.servers[i].Item
		index[item] = append(index[item], &j.servers[i])
	}
	return index
}

// planItem plans all edits of one item together; when that is refused, one
// group of findings after the other, so that only those that cannot be edited
// are left out: these are refused.
func planItem(in Input, item *stream.Item, servers []*judged) (planned []stream.Splice, refused map[string]bool) {
	var acting []*finding.Finding
	owner := map[*finding.Finding]*judged{}
	var settings []setting.Setting
	for _, s := range servers {
		settings = append(settings, s.settings...)
		for i := range s.findings {
			if s.findings[i].Action != finding.None {
				acting = append(acting, &s.findings[i])
				owner[&s.findings[i]] = s
			}
		}
	}
	if len(acting) == 0 {
		return nil, nil
	}
	plan := func(chosen []*finding.Finding) ([]stream.Splice, error) {
		return in.plan(item, chosen, settings)
	}
	if planned, err := plan(acting); err == nil {
		return planned, nil
	}
	var accepted []*finding.Finding
	refused = map[string]bool{}
	for _, group := range groups(acting) {
		tried, err := plan(append(accepted[:len(accepted):len(accepted)], group...))
		if err != nil {
			for _, f := range group {
				refused[owner[f].key()+identity(*f)] = true
				f.Action = finding.None
				f.Message += " (edit it by hand: " + err.Error() + ")"
			}
			continue
		}
		accepted, planned = append(accepted, group...), tried
	}
	return planned, refused
}

// plan makes splices of what some findings of an item say; settings are those of
// all its servers. Errors are edits that cannot be made safely.
func (in Input) plan(item *stream.Item, chosen []*finding.Finding, settings []setting.Setting) ([]stream.Splice, error) {
	edits := editsOf(chosen)
	planned, err := edit.Plan(item, edits, commentGoes(chosen, settings))
	var refused *edit.Refused
	if in.HostEncodes && errors.As(err, &refused) {
		if encoded, err := edit.Encode(item, edits); err == nil {
			return []stream.Splice{encoded}, nil
		}
	}
	return planned, err
}

func editsOf(chosen []*finding.Finding) []finding.Edit {
	found := make([]finding.Finding, 0, len(chosen))
	for _, f := range chosen {
		found = append(found, *f)
	}
	return transformers.Edits(found)
}

// groups splits findings into those that must be edited together.
func groups(acting []*finding.Finding) [][]*finding.Finding {
	var split [][]*finding.Finding
	at := map[string]int{}
	for _, f := range acting {
		i, ok := at[f.Group]
		if f.Group == "" || !ok {
			at[f.Group] = len(split)
			split = append(split, []*finding.Finding{f})
			continue
		}
		split[i] = append(split[i], f)
	}
	return split
}

// commentGoes lets a comment go with a setting when it speaks of that alone.
func commentGoes(chosen []*finding.Finding, settings []setting.Setting) func(string, finding.Edit) bool {
	byPlace := map[string]*finding.Finding{}
	for _, f := range chosen {
		for _, place := range f.Places {
			byPlace[place.String()] = f
		}
	}
	return func(comment string, e finding.Edit) bool {
		f := byPlace[e.Path.String()]
		return f != nil && rule.SpeaksOnlyOf(comment, *f, settings)
	}
}
