package shell

import (
	"slices"
	"strconv"
	"strings"
)

// group is a stretch of words that go together.
type group struct {
	site
	spans []Span
}

// neighbours joins words between which only separators stand.
func neighbours(list []located) []group {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b located) int {
		if order := strings.Compare(string(a.span.Source), string(b.span.Source)); order != 0 {
			return order
		}
		return a.span.From - b.span.From
	})
	var groups []group
	for _, one := range list {
		if n := len(groups) - 1; n >= 0 && groups[n].touches(one.site) {
			groups[n].hi = max(groups[n].hi, one.site.hi)
			groups[n].spans = append(groups[n].spans, one.span)
			continue
		}
		groups = append(groups, group{site: one.site, spans: []Span{one.span}})
	}
	return groups
}

func (g group) touches(next site) bool {
	if g.layer != next.layer || g.kind != next.kind || g.kind == argument {
		return false
	}
	return next.lo <= g.hi || g.right() >= next.lo
}

// left is where the separators in front of a site begin.
func (s site) left() int {
	list := s.layer.chars
	i := s.lo
	for i > 0 && list[i-1].run == list[s.lo].run {
		switch {
		case s.separates(list[i-1].b):
			i--
		case s.kind != inText && i > 1 && list[i-1].b == '\n' && list[i-2].b == '\\':
			i -= 2
		default:
			return i
		}
	}
	return i
}

// right is where the separators behind a site end.
func (s site) right() int {
	list := s.layer.chars
	i := s.hi
	for i < len(list) && list[i].run == list[s.lo].run {
		switch {
		case s.separates(list[i].b):
			i++
		case s.kind != inText && i+1 < len(list) && list[i].b == '\\' && list[i+1].b == '\n':
			i += 2
		default:
			return i
		}
	}
	return i
}

func (s site) separates(b byte) bool {
	return b == ' ' || b == '\t' || b == '\n' && s.kind != inCommand
}

// cuts are the ways to take the group out, the tidiest first: its own lines as a
// whole, with the blanks behind at the beginning of a line, with the separators in
// front, with those behind, and alone.
func (g group) cuts(s Script) []Span {
	span, together := g.span()
	if !together || g.kind == argument {
		return []Span{span}
	}
	list, own := g.layer.chars, g.layer.chars[g.lo].run
	left, right := g.left(), g.right()
	from, to := list[left].from, list[right-1].to
	if left > 0 && list[left-1].run == own {
		from = list[left-1].to
	}
	if right < len(list) && list[right].run == own {
		to = list[right].from
	}
	text := s.Source(span.Source)
	var cuts []Span
	add := func(from, to int) { cuts = append(cuts, Span{Source: span.Source, From: from, To: to}) }
	before, behind := strings.LastIndexByte(text[from:span.From], '\n'), strings.IndexByte(text[span.To:to], '\n')
	switch {
	case before >= 0 && behind >= 0:
		add(from+before+1, span.To+behind+1)
	case before >= 0 && to > span.To && (g.kind != inCommand || !g.commented(right)):
		add(span.From, to) // what follows takes its place in the line
	}
	if from < span.From {
		add(from, span.To)
	}
	add(span.From, to)
	add(span.From, span.To)
	return cuts
}

// commented tells whether a comment stands at an index of the layer.
func (g group) commented(at int) bool {
	return at < len(g.layer.chars) && g.layer.chars[at].b == '#'
}

func argIndex(name string) int {
	i, _ := strconv.Atoi(name)
	return i
}
