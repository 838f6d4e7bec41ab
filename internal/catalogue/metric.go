package catalogue

import (
	"encoding/json"
	"fmt"
)

// Metric is a metric as the releases of one life expose it: counters end in
// _total, histograms add _bucket, _sum and _count.
type Metric struct {
	Name string
	// Kind is counter, gauge or histogram.
	Kind string
	// Labels are its label names; nil where they are not known.
	Labels []string
	// Condition says under which settings the metric exists; empty: always.
	Condition    string
	Since, Until Release
}

type metricLine struct {
	Metric string `json:"metric"`
	Lives  []struct {
		Since     string   `json:"since"`
		Until     string   `json:"until"`
		Kind      string   `json:"kind"`
		Labels    []string `json:"labels"`
		Condition string   `json:"condition"`
		Cond      string   `json:"cond"` // as SGLang's data names it
	} `json:"lives"`
}

// Metrics returns every life of every metric, in the order of the data. The
// error says that the data cannot be read.
func (e *Engine) Metrics() ([]Metric, error) {
	_, lines, err := readLines(e.Name, "metrics")
	if err != nil {
		return nil, err
	}
	var all []Metric
	for _, line := range lines {
		var entry metricLine
		if err := json.Unmarshal([]byte(line), &entry); err != nil {
			return nil, fmt.Errorf("engines/%s/metrics.jsonl: %w", e.Name, err)
		}
		for _, life := range entry.Lives {
			metric := Metric{Name: entry.Metric, Kind: life.Kind, Labels: life.Labels, Condition: life.Condition + life.Cond}
			metric.Since, metric.Until = e.bounds(life.Since, life.Until)
			all = append(all, metric)
		}
	}
	return all, nil
}
