package validators

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/trimtab/trimtab/internal/catalogue"
	"github.com/trimtab/trimtab/internal/engine"
	"github.com/trimtab/trimtab/internal/finding"
	"github.com/trimtab/trimtab/internal/monitoring"
	"github.com/trimtab/trimtab/internal/rule"
	"github.com/trimtab/trimtab/internal/setting"
	"github.com/trimtab/trimtab/internal/stream"
)

// Fleet is all servers of one engine in an input: whoever scrapes one of them may
// be asked.
type Fleet struct {
	Engine *catalogue.Engine
	Known  *engine.Knowledge
	// States are the servers at each release that they may run; none where the
	// input has no server of the engine.
	States []*engine.State
	// Unknown is true where a server runs a release that the catalogue does not
	// have: it may emit what no other does.
	Unknown bool
	// Forks is true where a server is no image of the engine's own.
	Forks bool
}

// MetricPrefixes begin the names of the engines' metrics.
func MetricPrefixes() []string {
	var prefixes []string
	for _, name := range catalogue.Names() {
		prefixes = append(prefixes, name+":")
	}
	return prefixes
}

// Every input is searched for metrics, with or without a server.
var _ = stream.Register(MetricPrefixes()...)

// DeadMetrics finds queries for metrics that none of the servers emits. Without
// a server of the engine it tells what no release emits.
func DeadMetrics(queries []monitoring.Query, fleets []*Fleet) []finding.Finding {
	d := deadMetrics{fleets: map[string]*Fleet{}, recorded: map[string][]monitoring.Query{}, judged: map[string]*absence{}, seen: map[string]bool{}}
	for _, fleet := range fleets {
		d.fleets[fleet.Engine.Name] = fleet
	}
	for _, q := range queries {
		if q.Records != "" {
			d.recorded[q.Records] = append(d.recorded[q.Records], q)
		}
	}
	var found []finding.Finding
	for _, q := range queries {
		found = append(found, d.query(q)...)
	}
	return found
}

type deadMetrics struct {
	fleets map[string]*Fleet
	// recorded are the recording rules of the input, by the series they make.
	recorded map[string][]monitoring.Query
	// judged remembers what is said of a selector, by its text.
	judged map[string]*absence
	// seen are the findings by place and metric: a dashboard may ask twice.
	seen map[string]bool
}

// absence is why a selector finds nothing; nil where it may find something.
type absence struct {
	fleet  *Fleet
	metric string
	says   string
	// cause is why the metric finds nothing that a recording rule leads to.
	cause    string
	proposed string
	severity finding.Severity
	evidence []finding.Evidence
}

func (d *deadMetrics) query(q monitoring.Query) []finding.Finding {
	var found []finding.Finding
	for _, selector := range q.Missing(func(s monitoring.Selector) bool { return d.absent(s) != nil }) {
		gone := d.absent(selector)
		key := q.Item.Source.Name + "\x00" + fmt.Sprint(q.Item.Index, q.Item.Element) + q.Path.String() + "\x00" + gone.metric + "\x00" + gone.says
		if d.seen[key] {
			continue
		}
		d.seen[key] = true
		meta := rule.Named("dead-metric")
		f := finding.Finding{
			Rule: meta.Name, Severity: gone.severity, Action: finding.None,
			Setting: engine.MetricPrefix + gone.metric, Spelled: gone.metric, Value: q.Text, Proposed: gone.proposed,
			Origin: setting.Origin{Kind: setting.Field, Path: q.Path}, Places: []setting.Path{q.Path},
			Message: gone.says, Evidence: gone.evidence,
		}
		if q.Title != "" {
			f.Message = fmt.Sprintf("%q asks for what is not there: %s", q.Title, gone.says)
		}
		found = append(found, f)
	}
	return found
}

// absent judges a selector.
func (d *deadMetrics) absent(s monitoring.Selector) *absence {
	name := s.Name
	if name == "" {
		return d.absentPattern(s.Pattern)
	}
	if rules := d.recorded[name]; len(rules) > 0 {
		return d.absentRecord(name, rules)
	}
	fleet := d.fleetOf(name)
	if fleet == nil || strings.Count(name, ":") > 1 {
		return nil // of another exporter, or made by a recording rule elsewhere
	}
	key := name + "\x00" + strings.Join(s.Labels, "\x00")
	if known, ok := d.judged[key]; ok {
		return known
	}
	gone := fleet.absent(name)
	if gone == nil {
		gone = fleet.unlabelled(name, s.Labels)
	}
	d.judged[key] = gone
	return gone
}

func (d *deadMetrics) fleetOf(name string) *Fleet {
	prefix, _, _ := strings.Cut(name, ":")
	return d.fleets[prefix]
}

// absentRecord is about a series that recording rules of the input make: it is
// not there where each of them finds nothing. One that leads to itself may be.
func (d *deadMetrics) absentRecord(name string, rules []monitoring.Query) *absence {
	key := "record\x00" + name
	if known, ok := d.judged[key]; ok {
		return known
	}
	d.judged[key] = nil
	var last *absence
	for _, q := range rules {
		missing := q.Missing(func(s monitoring.Selector) bool { return d.absent(s) != nil })
		if len(missing) == 0 {
			return nil
		}
		last = d.absent(missing[0])
	}
	gone := *last
	gone.metric, gone.proposed = name, ""
	gone.cause = cmp.Or(last.cause, last.says)
	gone.says = fmt.Sprintf("the recording rule %s finds nothing: %s", name, gone.cause)
	d.judged[key] = &gone
	return &gone
}

// absentPattern is about a pattern for the whole name: it finds nothing where it
// fits no metric of the servers, and one of the engine.
func (d *deadMetrics) absentPattern(pattern string) *absence {
	fits, err := regexp.Compile("^(?:" + pattern + ")$")
	if pattern == "" || err != nil {
		return nil
	}
	var gone *absence
	for _, name := range catalogue.Names() {
		fleet := d.fleets[name]
		if fleet == nil {
			continue
		}
		all, err := fleet.Engine.Metrics()
		if err != nil {
			return nil
		}
		for _, m := range all {
			for _, series := range m.Series() {
				if !fits.MatchString(series) {
					continue
				}
				if gone = fleet.absent(series); gone == nil {
					return nil
				}
			}
		}
	}
	if gone != nil {
		gone.metric, gone.proposed = pattern, ""
	}
	return gone
}

// absent says why no server emits a series; nil where one does or may.
func (f *Fleet) absent(series string) *absence {
	lives := f.Engine.Emitting(series)
	if len(lives) == 0 {
		return f.neverThere(series)
	}
	var needs *engine.Judgement
	for _, state := range f.States {
		at := slices.IndexFunc(lives, func(m catalogue.Metric) bool { return m.Contains(state.Release) })
		if at < 0 {
			continue
		}
		missing := lacks(lives[at], state)
		if missing == nil {
			return nil
		}
		needs = missing
	}
	if len(f.States) == 0 || f.Unknown {
		return nil
	}
	gone := &absence{fleet: f, metric: series, severity: f.severity(finding.Warning)}
	if needs != nil {
		gone.says = fmt.Sprintf("no server here emits %s: %s", series, needs.Why)
		gone.evidence = []finding.Evidence{proofOf(needs.Fact)}
		return gone
	}
	gone.says = fmt.Sprintf("%s emits no %s: %s", f.running(), series, f.spanOf(lives))
	gone.evidence = f.measured()
	gone.evidence[0].Versions = f.without(lives)
	gone.propose(f.renamed(lives[len(lives)-1].Name, series))
	return gone
}

// lacks is the fact by which a server does not emit a metric of its release; nil
// where it does, or where that is not known.
func lacks(m catalogue.Metric, state *engine.State) *engine.Judgement {
	lacks := state.MetricLacks(m.Name)
	if at := slices.IndexFunc(lacks, func(j engine.Judgement) bool { return j.Holds == engine.True }); at >= 0 {
		return &lacks[at]
	}
	return nil
}

// neverThere is about a series that no release of the catalogue emits. The name
// may be one that another exporter took, unless it is nearly one of the engine's.
func (f *Fleet) neverThere(series string) *absence {
	release := f.newest()
	gone := &absence{fleet: f, metric: series, severity: finding.Info, evidence: f.measured()}
	if fact := f.Known.Renaming(engine.MetricPrefix+base(series), "", release); fact != nil {
		gone.says = fmt.Sprintf("no %s that is known emits %s", f.Engine.Name, series)
		gone.severity, gone.evidence = f.severity(finding.Warning), []finding.Evidence{proofOf(fact)}
		gone.propose(fact.Renaming.To+strings.TrimPrefix(series, base(series)), fact.Why)
		return gone
	}
	gone.says = fmt.Sprintf("no %s that is known emits %s, and another exporter may", f.Engine.Name, series)
	if near, ok := f.Engine.NearestSeries(series, release); ok && !f.Unknown {
		if near != series && (strings.HasPrefix(near, series+"_") || near == series+"_total") {
			gone.says = fmt.Sprintf("%s has no samples of that name in %s", series, f.running())
			gone.severity = f.severity(finding.Warning)
		}
		gone.propose(near, "")
	}
	return gone
}

// suffixes end the names of the samples of a histogram or a summary.
var suffixes = []string{"_bucket", "_sum", "_count"}

// base is the name of a histogram or summary, of which a series is a part.
func base(series string) string {
	for _, suffix := range suffixes {
		if name, ok := strings.CutSuffix(series, suffix); ok {
			return name
		}
	}
	return series
}

// renamed is the new name of a metric's series, by a fact or by what is nearest
// in the newest release that the servers may run.
func (f *Fleet) renamed(metric, series string) (name, why string) {
	if fact := f.Known.Renaming(engine.MetricPrefix+metric, "", f.newest()); fact != nil {
		return fact.Renaming.To + strings.TrimPrefix(series, metric), fact.Why
	}
	return "", ""
}

func (a *absence) propose(name, why string) {
	switch {
	case name == "":
		return
	case why == "":
		a.says += ": did you mean " + name + "?"
	default:
		a.says += ": ask for " + name + ", " + why
	}
	a.proposed = name
}

// unlabelled says that a query demands a label which the metric had in another
// release, and has in none that the servers may run.
func (f *Fleet) unlabelled(series string, labels []string) *absence {
	if f.Unknown || len(f.States) == 0 {
		return nil
	}
	lives := f.Engine.Emitting(series)
	for _, label := range labels {
		had := ""
		for _, release := range f.Engine.Releases {
			for _, m := range lives {
				if m.Contains(release) && m.Labels != nil && m.MayHave(label, release) {
					had = release.Version
				}
			}
		}
		has := slices.ContainsFunc(f.States, func(s *engine.State) bool {
			return slices.ContainsFunc(lives, func(m catalogue.Metric) bool { return m.Contains(s.Release) && m.MayHave(label, s.Release) })
		})
		if had == "" || has {
			continue // a label that scraping may add is not the engine's
		}
		return &absence{
			fleet: f, metric: series, severity: f.severity(finding.Warning), evidence: f.measured(),
			says: fmt.Sprintf("%s has no label %s in %s, which it has in %s, so the query finds nothing", series, label, f.running(), had),
		}
	}
	return nil
}

// severity is lowered where a fork may emit more.
func (f *Fleet) severity(wanted finding.Severity) finding.Severity {
	if f.Forks || len(f.States) == 0 {
		return finding.Info
	}
	return wanted
}

func (f *Fleet) newest() catalogue.Release {
	if len(f.States) == 0 {
		return f.Engine.Newest()
	}
	return slices.MaxFunc(f.States, func(a, b *engine.State) int { return a.Release.Index - b.Release.Index }).Release
}

// running names the releases that the servers may run.
func (f *Fleet) running() string {
	var releases []catalogue.Release
	for _, state := range f.States {
		if !slices.Contains(releases, state.Release) {
			releases = append(releases, state.Release)
		}
	}
	if len(releases) == 0 {
		return f.Engine.Name
	}
	return f.Engine.Name + " " + catalogue.Runs(releases)
}

func (f *Fleet) measured() []finding.Evidence {
	return []finding.Evidence{{Engine: f.Engine.Name, Versions: "*", Source: "the metrics that the package of each release registers (measured)"}}
}

// spanOf says in which releases a metric was or will be.
func (f *Fleet) spanOf(lives []catalogue.Metric) string {
	first, last := boundsOf(lives)
	if last.Index == f.Engine.Newest().Index {
		return fmt.Sprintf("it is there from %s on", first)
	}
	return fmt.Sprintf("it is there from %s to %s", first, last)
}

// boundsOf are the first and the last release with a metric.
func boundsOf(lives []catalogue.Metric) (first, last catalogue.Release) {
	byIndex := func(a, b catalogue.Release) int { return a.Index - b.Index }
	var since, until []catalogue.Release
	for _, m := range lives {
		since, until = append(since, m.Since), append(until, m.Until)
	}
	return slices.MinFunc(since, byIndex), slices.MaxFunc(until, byIndex)
}

// without is the range of versions that do not emit a metric, as far as the
// servers may run them.
func (f *Fleet) without(lives []catalogue.Metric) string {
	first, last := boundsOf(lives)
	if f.newest().Index < first.Index {
		return "<" + first.Version
	}
	return ">" + last.Version
}
