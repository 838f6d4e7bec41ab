package edit

import (
	"errors"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/trimtab/trimtab/internal/finding"
	"github.com/trimtab/trimtab/internal/setting"
	"github.com/trimtab/trimtab/internal/shell"
	"github.com/trimtab/trimtab/internal/stream"
)

// scriptEdits are the edits of the words of one shell script.
type scriptEdits struct {
	script  *setting.Script
	first   setting.Path
	removed []shell.Span
	written map[shell.Span]string
}

// whole turns edits of words inside scalars into edits of the scalars. What
// changes inside of each is returned by the scalar's path.
func whole(edits []finding.Edit) ([]finding.Edit, map[string][]shell.Splice, error) {
	var rest []finding.Edit
	var scripts []*scriptEdits
	for _, e := range edits {
		_, part, inside := e.Path.Part()
		if !inside {
			rest = append(rest, e)
			continue
		}
		at := slices.IndexFunc(scripts, func(s *scriptEdits) bool { return s.script == part.Script })
		if at < 0 {
			at = len(scripts)
			scripts = append(scripts, &scriptEdits{script: part.Script, first: e.Path, written: map[shell.Span]string{}})
		}
		if err := scripts[at].add(e, part.Span); err != nil {
			return nil, nil, err
		}
	}
	pieces := map[string][]shell.Splice{}
	for _, s := range scripts {
		made, err := s.edits(pieces)
		if err != nil {
			return nil, nil, err
		}
		rest = append(rest, made...)
	}
	return rest, pieces, nil
}

// add notes the edit of one word.
func (s *scriptEdits) add(e finding.Edit, span shell.Span) error {
	text, twice := s.written[span]
	switch {
	case e.Action == finding.Remove && twice, e.Action == finding.Set && (slices.Contains(s.removed, span) || twice && text != e.Value):
		return &Conflict{First: s.first, Second: e.Path}
	case e.Action == finding.Remove:
		if !slices.Contains(s.removed, span) {
			s.removed = append(s.removed, span)
		}
	case e.Action == finding.Set:
		s.written[span] = e.Value
	default:
		return &Refused{Path: e.Path, Reason: "nothing is added to a word of a script"}
	}
	return nil
}

// edits are those of the scalars that hold the script's texts.
func (s *scriptEdits) edits(pieces map[string][]shell.Splice) ([]finding.Edit, error) {
	splices, err := s.script.Edit(s.removed, s.written)
	var refused *shell.Refused
	if errors.As(err, &refused) {
		return nil, &Refused{Path: s.first, Reason: refused.Reason}
	}
	if err != nil {
		return nil, &Refused{Path: s.first, Reason: err.Error()}
	}
	var edits []finding.Edit
	texts := map[shell.Source]string{}
	for _, splice := range slices.Backward(splices) { // the last first, so that offsets hold
		source := splice.Span.Source
		place, stands := s.script.Places[source]
		if !stands {
			return nil, &Refused{Path: s.first, Reason: "the text does not stand in this object"}
		}
		if splice.Drop {
			edits = append(edits, finding.Edit{Action: finding.Remove, Path: place})
			continue
		}
		text, begun := texts[source]
		if !begun {
			text = s.script.Source(source)
		}
		texts[source] = splice.In(text)
		pieces[place.String()] = append(pieces[place.String()], splice)
	}
	for source, text := range texts {
		edits = append(edits, finding.Edit{Action: finding.Set, Path: s.script.Places[source], Value: text})
	}
	slices.SortFunc(edits, func(a, b finding.Edit) int { return strings.Compare(a.Path.String(), b.Path.String()) })
	return edits, nil
}

// splicedText writes a scalar with changes inside of it, every other byte as it
// is; false where it is written in a way that is not understood.
func (p *plan) splicedText(n *yaml.Node, splices []shell.Splice) (string, bool) {
	if len(splices) == 0 {
		return "", false
	}
	extents, err := p.item.Written(n)
	span := p.layout[n]
	if err != nil || len(extents) == 0 {
		return "", false
	}
	text := string(p.data[span.Content:span.End])
	for _, splice := range splices { // the last first
		from, to := extents[len(extents)-1].To, extents[len(extents)-1].To
		if splice.Span.From < len(extents) {
			from, to = extents[splice.Span.From].From, extents[splice.Span.From].From
		}
		if splice.Span.To > splice.Span.From {
			to = extents[splice.Span.To-1].To
		}
		from, to = min(from, span.End)-span.Content, min(to, span.End)-span.Content
		text = text[:from] + inStyle(n, splice.Text) + text[to:]
	}
	return text, true
}

// inStyle writes a text so that it can stand inside a scalar of this style.
func inStyle(n *yaml.Node, text string) string {
	switch {
	case n.Style&yaml.DoubleQuotedStyle != 0:
		quoted := stream.Quote(text)
		return quoted[1 : len(quoted)-1]
	case n.Style&yaml.SingleQuotedStyle != 0:
		return strings.ReplaceAll(text, "'", "''")
	}
	return text
}
