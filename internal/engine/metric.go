package engine

import "github.com/trimtab/trimtab/internal/setting"

// Holds evaluates a condition over settings by key, facts by dotted name and
// definitions. Needs are what would settle an unknown outcome. The error tells of
// a condition that is no CEL, or that its values do not fit.
func (s *State) Holds(condition string) (Truth, []string, error) {
	out, err := s.evaluate(condition, setting.Setting{})
	if err != nil {
		return Unknown, nil, err
	}
	truth, err := out.truth()
	return truth, out.Needs, err
}

// MetricLacks are the facts by which the server does not emit a metric of its
// release (Holds is True), or by which that is not known (Unknown).
func (s *State) MetricLacks(metric string) []Judgement {
	var lacks []Judgement
	for _, about := range []string{MetricPrefix + "*", MetricPrefix + metric} {
		judgements, _ := s.Knowledge.Judge(s, setting.Setting{Name: about}, Needs) // the tests of the facts see an error
		lacks = append(lacks, judgements...)
	}
	return lacks
}
