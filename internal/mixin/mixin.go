// Package mixin holds the panels and alerts that can show and watch a server, as
// monitoring mixins do: declared in engines/*/monitoring, each with the metrics it
// needs. Fill keeps those that a server's releases and settings can fill, and says
// of each other one why it is left out. It knows no Grafana and no manifest.
package mixin

import (
	"bytes"
	"fmt"
	"path"

	"go.yaml.in/yaml/v3"

	"github.com/trimtab/trimtab/engines"
)

// Gateway is the owner of the panels and alerts of a gateway, where others are
// named after their engine.
const Gateway = "gateway"

// Panel is one panel of a dashboard. Texts may hold placeholders in angle
// brackets: see Values.
type Panel struct {
	// Name tells panels of one dashboard apart. Several entries may have one: the
	// first that can be filled counts.
	Name string `yaml:"panel"`
	// Row is the heading under which it stands.
	Row, Title, Description string
	// Unit is Grafana's name of a unit: short, s, percentunit, reqps.
	Unit string
	// Max bounds the axis; 0: nothing does.
	Max float64
	// Threshold is where it becomes serious, a number or a placeholder; one that is
	// not known is left out. Empty: nowhere.
	Threshold string
	Queries   []Query
	Needed    `yaml:",inline"`
}

// Query is one query of a panel.
type Query struct {
	Expr, Legend string
	// Axis is right for a query with an axis of its own, in Unit.
	Axis, Unit string
}

// Alert is one alerting rule.
type Alert struct {
	Name string `yaml:"alert"`
	Expr string
	// For is how long it must hold, a duration of Prometheus.
	For string
	// Severity is critical, warning or info.
	Severity string
	// Summary is one line, a template of Prometheus; Do is what to do about it.
	Summary, Do string
	Needed      `yaml:",inline"`
	Cases       []Case
}

// Needed is what must be there for a panel or an alert.
type Needed struct {
	// Needs are the series that its expressions ask of the engine.
	Needs []string
	// When is a condition (CEL) over settings and facts, Why what it means that it
	// does not hold.
	When, Why string
	// Gateway is true where it asks for series of a gateway.
	Gateway bool
	// Bounds are the buckets of its histogram in seconds, where it is held against
	// <ttft>: that is raised to one of them, for between two a quantile is a guess.
	Bounds []float64
}

// Case is a test of an alert: series in promtool's notation, one sample a minute,
// and whether it fires At that time.
type Case struct {
	Series map[string]string
	At     string
	Fires  bool
}

// Panels reads the panels of an engine, or those of a Gateway, in the order of
// their file. The error is one of the file.
func Panels(owner string) ([]Panel, error) { return read[Panel](owner, "panels.yaml") }

// Alerts reads the alerts of an engine, or those of a Gateway, in the order of
// their file. The error is one of the file.
func Alerts(owner string) ([]Alert, error) { return read[Alert](owner, "alerts.yaml") }

func read[T any](owner, file string) ([]T, error) {
	name := path.Join(owner, "monitoring", file)
	data, err := engines.Files.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("nothing shows %s: %w", owner, err)
	}
	var entries []T
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	decoder.KnownFields(true)
	if err := decoder.Decode(&entries); err != nil {
		return nil, fmt.Errorf("engines/%s: %w", name, err)
	}
	return entries, nil
}
