package catalogue

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Metric is a metric as the releases of one life expose it: counters end in
// _total, histograms add _bucket, _sum and _count.
type Metric struct {
	// Name is the name under which the metric is exposed, Declared the one in the
	// engine's source, which may lack _total.
	Name, Declared string
	// Kind is counter, gauge, histogram, summary or gaugehistogram.
	Kind string
	// Labels are its label names; nil where they are not known.
	Labels []string
	// Condition says under which settings the metric exists, in the words of the
	// engine's source; empty: always.
	Condition    string
	Since, Until Release

	// collector adds labels of its own; nil where it adds none.
	collector *collector
	// template matches the names of a metric that the engine names as it runs.
	template *regexp.Regexp
}

// collector is a class of the engine that gives all its metrics some labels.
type collector struct {
	Labels []string `json:"labels"`
	Plus   []struct {
		Label string `json:"label"`
		Since string `json:"since"`
	} `json:"plus"`
}

type metricLine struct {
	Metric string `json:"metric"`
	Lives  []struct {
		Since     string          `json:"since"`
		Until     string          `json:"until"`
		Kind      string          `json:"kind"`
		Exposed   string          `json:"exposed"`
		Labels    json.RawMessage `json:"labels"`
		Older     []string        `json:"labels_v0"` // of the engine before vLLM's V1
		Inherits  *bool           `json:"inherits"`
		Collector string          `json:"class"`
		Condition string          `json:"condition"`
		Cond      string          `json:"cond"` // as SGLang's data names it
	} `json:"lives"`
}

// Metrics returns every life of every metric, in the order of the data. The
// error says that the data cannot be read.
func (e *Engine) Metrics() ([]Metric, error) { return e.metrics() }

func (e *Engine) loadMetrics() ([]Metric, error) {
	first, lines, err := readLines(e.Name, "metrics")
	if err != nil {
		return nil, err
	}
	var head struct {
		Collectors map[string]*collector `json:"collectors"`
	}
	if err := json.Unmarshal([]byte(first), &head); err != nil {
		return nil, fmt.Errorf("engines/%s/metrics.jsonl: header: %w", e.Name, err)
	}
	var all []Metric
	for _, line := range lines {
		var entry metricLine
		if err := json.Unmarshal([]byte(line), &entry); err != nil {
			return nil, fmt.Errorf("engines/%s/metrics.jsonl: %w", e.Name, err)
		}
		for _, life := range entry.Lives {
			metric := Metric{Name: entry.Metric, Declared: entry.Metric, Kind: life.Kind, Labels: []string{}, Condition: life.Condition + life.Cond}
			if life.Exposed != "" {
				metric.Name = life.Exposed
			}
			if life.Labels != nil && json.Unmarshal(life.Labels, &metric.Labels) != nil {
				return nil, fmt.Errorf("engines/%s/metrics.jsonl: labels of %s are no list", e.Name, entry.Metric)
			}
			if metric.Labels != nil {
				for _, label := range life.Older {
					if !slices.Contains(metric.Labels, label) {
						metric.Labels = append(metric.Labels, label)
					}
				}
			}
			if life.Inherits == nil || *life.Inherits {
				metric.collector = head.Collectors[life.Collector]
			}
			metric.template = templateOf(metric.Name)
			metric.Since, metric.Until = e.bounds(life.Since, life.Until)
			all = append(all, metric)
		}
	}
	return all, nil
}

var filledIn = regexp.MustCompile(`\\\{[^{}]*\\\}`)

// templateOf matches what a name with a part in braces may become; nil for a
// plain name.
func templateOf(name string) *regexp.Regexp {
	if !strings.Contains(name, "{") {
		return nil
	}
	return regexp.MustCompile("^" + filledIn.ReplaceAllString(regexp.QuoteMeta(name), ".+") + "$")
}

// Contains reports whether a release lies in the life of the metric.
func (m Metric) Contains(r Release) bool { return Life{m.Since, m.Until}.Contains(r) }

// Series returns the names under which samples of the metric are scraped: first
// those that queries ask for, then that of the time at which it was created.
func (m Metric) Series() []string {
	switch m.Kind {
	case "histogram":
		return []string{m.Name + "_bucket", m.Name + "_sum", m.Name + "_count", m.Name + "_created"}
	case "summary":
		return []string{m.Name + "_sum", m.Name + "_count", m.Name + "_created"}
	case "gaugehistogram":
		return []string{m.Name + "_bucket", m.Name + "_gsum", m.Name + "_gcount"}
	case "counter":
		return []string{m.Name, strings.TrimSuffix(m.Name, "_total") + "_created"}
	}
	return []string{m.Name}
}

// Emits reports whether samples of the metric are scraped under a name.
func (m Metric) Emits(series string) bool {
	if m.template != nil {
		return m.template.MatchString(series)
	}
	return slices.Contains(m.Series(), series)
}

// MayHave reports whether the metric may bear a label in a release.
func (m Metric) MayHave(label string, r Release) bool {
	bounded := m.Kind == "histogram" && label == "le" || m.Kind == "summary" && label == "quantile"
	if bounded || m.Labels == nil || slices.Contains(m.Labels, label) {
		return true
	}
	if m.collector == nil {
		return false
	}
	if slices.Contains(m.collector.Labels, label) {
		return true
	}
	for _, plus := range m.collector.Plus {
		since, err := ParseRange(">=" + plus.Since)
		if slices.Contains(strings.Split(plus.Label, ", "), label) && (plus.Since == "" || err == nil && since.Contains(r)) {
			return true
		}
	}
	return false
}

// Emitting returns the lives of the metrics that expose samples under a name, in
// any release.
func (e *Engine) Emitting(series string) []Metric {
	if known, ok := e.emitting.Load(series); ok {
		return slices.Clone(known.([]Metric))
	}
	all, _ := e.metrics() // a test reads the file
	var lives []Metric
	for _, m := range all {
		if m.Emits(series) {
			lives = append(lives, m)
		}
	}
	e.emitting.Store(series, lives)
	return slices.Clone(lives)
}

// NearestSeries returns the name of samples that a release exposes and that a
// name without samples probably means: a counter with its _total, a part of the
// histogram of that name, the new name of a misspelling; false when none is near.
func (e *Engine) NearestSeries(name string, r Release) (string, bool) {
	all, _ := e.metrics() // a test reads the file
	var candidates []string
	for _, m := range all {
		if !m.Contains(r) || m.template != nil {
			continue
		}
		if m.Declared == name || m.Name == name || m.Name == name+"_total" {
			return m.Series()[0], true
		}
		candidates = append(candidates, m.Series()...)
	}
	return nearest(name, candidatesOf(candidates), func(string) bool { return true })
}
