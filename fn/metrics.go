package fn

import (
	"maps"
	"slices"

	"github.com/trimtab/trimtab/internal/catalogue"
	"github.com/trimtab/trimtab/internal/config"
	"github.com/trimtab/trimtab/internal/engine"
	"github.com/trimtab/trimtab/internal/finding"
	"github.com/trimtab/trimtab/internal/monitoring"
	"github.com/trimtab/trimtab/internal/report"
	"github.com/trimtab/trimtab/internal/rule"
	"github.com/trimtab/trimtab/internal/server"
	"github.com/trimtab/trimtab/internal/stream"
	"github.com/trimtab/trimtab/transformers"
	"github.com/trimtab/trimtab/validators"
)

// deadMetrics finds the queries of the input, for metrics of some engines, that
// none of its servers answers.
// Without a parser of PromQL nothing is found. Errors are those of the configs
// and annotations.
func (in Input) deadMetrics(servers []*judged, engines []string) ([]finding.Finding, error) {
	if in.ParseQuery == nil {
		return nil, nil
	}
	var items []*stream.Item
	for _, source := range in.Sources {
		items = append(items, source.Items...)
	}
	queries := monitoring.Find(items, validators.MetricPrefixes(), in.ParseQuery)
	if len(queries) == 0 {
		return nil, nil
	}
	fleets, err := fleetsOf(servers, engines)
	if err != nil {
		return nil, err
	}
	byItem := map[*stream.Item][]monitoring.Query{}
	for _, q := range queries {
		byItem[q.Item] = append(byItem[q.Item], q)
	}
	dead := validators.DeadMetrics(queries, fleets)
	var decided []finding.Finding
	for _, item := range items {
		if len(byItem[item]) == 0 {
			continue
		}
		some, err := in.decideQueries(item, byItem[item], dead)
		if err != nil {
			return nil, err
		}
		decided = append(decided, some...)
	}
	return decided, nil
}

// fleetsOf are the servers by engine, at each release that they may run.
func fleetsOf(servers []*judged, engines []string) ([]*validators.Fleet, error) {
	var fleets []*validators.Fleet
	for _, name := range engines {
		catalogued, err := catalogue.Load(name)
		if err != nil {
			return nil, err
		}
		known, err := engine.Load(name)
		if err != nil {
			return nil, err
		}
		fleet := &validators.Fleet{Engine: catalogued, Known: known}
		for _, s := range servers {
			if s.Engine != name {
				continue
			}
			fleet.Unknown = fleet.Unknown || len(s.facts.Span.Releases) == 0 || s.facts.Span.Newer
			fleet.Forks = fleet.Forks || s.facts.Set["image.fork"].Value == true
			for _, release := range s.facts.Span.Releases {
				reading := s.readAt(release)
				fleet.States = append(fleet.States, engine.NewState(s.engine, s.known, release, reading.Settings, s.facts.Set, reading.Opaque))
			}
		}
		fleets = append(fleets, fleet)
	}
	return fleets, nil
}

// decideQueries applies the configs that speak of everything, and the annotations
// of the object, to the findings about the queries of an item.
func (in Input) decideQueries(item *stream.Item, queries []monitoring.Query, dead []finding.Finding) ([]finding.Finding, error) {
	object, err := server.ObjectOf(item)
	if err != nil {
		return nil, err
	}
	general := slices.DeleteFunc(slices.Clone(in.Configs), func(c *config.Config) bool { return len(c.Spec.Select) > 0 })
	chosen, err := config.Merge(general)
	if err != nil {
		return nil, err
	}
	overrides, err := config.DecodeAnnotations(spokenAnnotations(item), rule.Names())
	if err != nil {
		return nil, err
	}
	catalogued, err := catalogue.Load(catalogue.Names()[0])
	if err != nil {
		return nil, err
	}
	var here []finding.Finding
	for _, f := range dead {
		at := slices.IndexFunc(queries, func(q monitoring.Query) bool { return q.Text == f.Value && q.Path.String() == f.Origin.Path.String() })
		if at < 0 {
			continue
		}
		f.Object = object
		in.placeQuery(&f, queries[at])
		here = append(here, f)
	}
	policy := rule.Policy{
		Rules: chosen.Spec.Rules, IgnoreHere: overrides.Ignore, Engine: catalogued,
		Comments: func(finding.Finding) []string { return nil },
	}
	decided := rule.Decide(here, policy, finding.Finding{Object: object})
	return slices.DeleteFunc(decided, func(f finding.Finding) bool { return f.Rule != "dead-metric" }), nil
}

// spokenAnnotations are the annotations by which somebody speaks to trimtab:
// those of an object that it wrote itself are none.
func spokenAnnotations(item *stream.Item) map[string]string {
	spoken := annotationsOf(item)
	if labelsOf(item)[transformers.ManagedByLabel] == "trimtab" {
		delete(spoken, transformers.ServerAnnotation)
		delete(spoken, transformers.LeftOutAnnotation)
	}
	return spoken
}

// placeQuery fills in where a query stands: inside a scalar that is written line
// by line, at its own line.
func (in Input) placeQuery(f *finding.Finding, q monitoring.Query) {
	item := q.Item
	if item.Source.List != nil {
		f.File, f.FileIndex = hostFile(annotationsOf(item))
		return
	}
	f.File, f.FileIndex = item.Source.Name, item.Index
	root, err := item.Root()
	if err != nil || root == nil {
		return
	}
	node := server.Lookup(root, q.Path)
	if node == nil {
		node = root
	}
	f.Line, f.Column = item.Position(node)
	if line, column, ok := item.LineInside(node, q.Line); ok && q.Inside {
		f.Line, f.Column = line, column
	}
}

// queriesSince are the queries that find nothing any more once servers run the
// releases that are to come.
func (in Input) queriesSince(servers []*judged) ([]report.Change, error) {
	var present []*judged
	for _, s := range servers {
		present = append(present, s.crossing.present...)
	}
	engines := slices.Sorted(maps.Keys(in.To))
	before, err := in.deadMetrics(present, engines)
	if err != nil {
		return nil, err
	}
	after, err := in.deadMetrics(servers, engines)
	if err != nil {
		return nil, err
	}
	var changes []report.Change
	for _, f := range after {
		was := slices.ContainsFunc(before, func(old finding.Finding) bool {
			return old.File == f.File && old.Line == f.Line && old.Object == f.Object && old.Setting == f.Setting && old.Origin.String() == f.Origin.String() && old.Severity == f.Severity
		})
		if was {
			continue
		}
		impact := report.Silent
		if f.Severity == finding.Info {
			impact = report.Harmless
		}
		changes = append(changes, report.Change{Kind: report.MetricGone, Impact: impact, Finding: f})
	}
	report.SortChanges(changes)
	return changes, nil
}
