// Package promql reads which metrics a PromQL expression asks for. It is the one
// place that knows the parser, which is that of VictoriaMetrics: it takes all of
// PromQL and MetricsQL, and comes with four modules where that of Prometheus
// comes with two hundred. Both link net/http, so that package fn, which links
// none, is handed Parse.
package promql

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/VictoriaMetrics/metricsql"

	"github.com/trimtab/trimtab/internal/monitoring"
)

// Parse reads an expression, with the variables of Grafana in it: $__rate_interval
// and ${x} and [[x]] stand for a duration in brackets, and for a name that is not
// known elsewhere. The error is that of the parser.
func Parse(text string) (monitoring.Expr, error) {
	parsed, err := metricsql.Parse(withoutVariables(text))
	if err != nil {
		return monitoring.Expr{}, fmt.Errorf("no PromQL: %w", err)
	}
	return exprOf(parsed), nil
}

// undecided stands for a name that a variable decides.
const undecided = "decided_by_a_variable"

var (
	duration = regexp.MustCompile(`\$\{?__(?:rate_interval|interval|range)(?:_ms|_s)?(?::\w+)?\}?`)
	variable = regexp.MustCompile(`\$\{[^{}]*\}|\$\w+|\[\[[^\[\]]*\]\]`)
	offset   = regexp.MustCompile(`(?i)(\boffset\s+-?)` + undecided)
	window   = regexp.MustCompile(`\[[^\[\]]*\]`)
)

// withoutVariables replaces the variables of Grafana by what parses in their
// place.
func withoutVariables(text string) string {
	text = duration.ReplaceAllString(text, "5m")
	text = variable.ReplaceAllString(text, undecided)
	text = offset.ReplaceAllString(text, "${1}5m")
	return window.ReplaceAllStringFunc(text, func(inner string) string { return strings.ReplaceAll(inner, undecided, "5m") })
}

func exprOf(e metricsql.Expr) monitoring.Expr {
	switch e := e.(type) {
	case *metricsql.MetricExpr:
		return selectorsOf(e)
	case *metricsql.RollupExpr:
		return exprOf(e.Expr)
	case *metricsql.FuncExpr:
		return allOf(e.Args)
	case *metricsql.AggrFuncExpr:
		return allOf(e.Args)
	case *metricsql.BinaryOpExpr:
		both := []monitoring.Expr{exprOf(e.Left), exprOf(e.Right)}
		if strings.EqualFold(e.Op, "or") || strings.EqualFold(e.Op, "default") {
			return monitoring.Expr{Any: both}
		}
		return monitoring.Expr{All: both}
	}
	return monitoring.Expr{}
}

func allOf(args []metricsql.Expr) monitoring.Expr {
	if len(args) == 1 {
		return exprOf(args[0])
	}
	var all monitoring.Expr
	for _, arg := range args {
		all.All = append(all.All, exprOf(arg))
	}
	return all
}

// selectorsOf are the alternatives in one pair of braces.
func selectorsOf(e *metricsql.MetricExpr) monitoring.Expr {
	var found []monitoring.Expr
	for _, filters := range e.LabelFilterss {
		s := &monitoring.Selector{}
		for _, filter := range filters {
			switch {
			case filter.Label != "__name__":
				if demands(filter) {
					s.Labels = append(s.Labels, filter.Label)
				}
			case filter.IsNegative || strings.Contains(filter.Value, undecided):
			case filter.IsRegexp:
				s.Pattern = filter.Value
			default:
				s.Name = filter.Value
			}
		}
		slices.Sort(s.Labels)
		s.Labels = slices.Compact(s.Labels)
		found = append(found, monitoring.Expr{Selector: s})
	}
	if len(found) == 1 {
		return found[0]
	}
	return monitoring.Expr{Any: found}
}

// demands tells whether a filter lets no series pass that lacks the label.
func demands(filter metricsql.LabelFilter) bool {
	if strings.Contains(filter.Value, undecided) {
		return false // the variable may come to everything
	}
	empty := filter.Value == ""
	if filter.IsRegexp {
		pattern, err := regexp.Compile("^(?:" + filter.Value + ")$")
		if err != nil {
			return false
		}
		empty = pattern.MatchString("")
	}
	return empty == filter.IsNegative
}
