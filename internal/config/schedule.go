package config

import (
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// scheduleMacros are the names that stand for a whole schedule.
var scheduleMacros = []string{"@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"}

// scheduleFields are the five fields of a cron schedule as the CronJob controller
// reads them: the least and the largest number, and the names of numbers.
var scheduleFields = []struct {
	least, largest int
	names          string
}{
	{0, 59, ""}, {0, 23, ""}, {1, 31, ""},
	{1, 12, "jan feb mar apr may jun jul aug sep oct nov dec"},
	{0, 6, "sun mon tue wed thu fri sat"},
}

// schedule reads a cron schedule that the API server takes.
func (d decoder) schedule(to *string) read {
	return func(node *yaml.Node, path string) error {
		s, ok := d.scalar(node, "!!str")
		if !ok || !isSchedule(s) {
			return wrong(path, `a cron schedule such as "30 4 * * *"`, node)
		}
		*to = s
		return nil
	}
}

func isSchedule(text string) bool {
	fields := strings.Fields(text)
	if len(fields) != len(scheduleFields) || strings.ContainsAny(text, "\n\r\t") {
		return slices.Contains(scheduleMacros, text)
	}
	for i, field := range fields {
		for part := range strings.SplitSeq(field, ",") {
			if !isSchedulePart(part, i) {
				return false
			}
		}
	}
	return true
}

// isSchedulePart tells whether a field takes one of its parts: *, a number, or
// a range, and the step behind a slash.
func isSchedulePart(part string, field int) bool {
	part, step, stepped := strings.Cut(part, "/")
	if n, err := strconv.ParseUint(step, 10, 16); stepped && (err != nil || n == 0) {
		return false
	}
	if part == "*" || part == "?" {
		return true
	}
	from, to, isRange := strings.Cut(part, "-")
	first, ok := scheduleNumber(from, field)
	if !isRange {
		return ok
	}
	last, known := scheduleNumber(to, field)
	return ok && known && first <= last
}

func scheduleNumber(text string, field int) (int, bool) {
	about := scheduleFields[field]
	if at := slices.Index(strings.Fields(about.names), strings.ToLower(text)); at >= 0 {
		return about.least + at, true
	}
	n, err := strconv.ParseUint(text, 10, 16)
	return int(n), err == nil && int(n) >= about.least && int(n) <= about.largest
}
