package fn

import (
	"fmt"
	"io"

	"github.com/trimtab/trimtab/internal/stream"
)

// Overlooked is what stands in an input and comes to nothing, which a typing
// error can bring about.
type Overlooked struct {
	// Idle are the configs whose select matches no server.
	Idle []string
	// Unread are objects that may be servers and are not looked at, with the
	// place and the reason: a key stands in them twice.
	Unread []string
}

// Tell writes a line for each; the error is that of the writer.
func (o Overlooked) Tell(to io.Writer) error {
	for _, idle := range o.Idle {
		if _, err := fmt.Fprintf(to, "trimtab: %s selects no server\n", idle); err != nil {
			return err
		}
	}
	for _, unread := range o.Unread {
		if _, err := fmt.Fprintln(to, "trimtab:", unread); err != nil {
			return err
		}
	}
	return nil
}

func (in Input) overlooked(judged *judgements) Overlooked {
	var o Overlooked
	for _, c := range in.Configs {
		if len(c.Spec.Select) > 0 && len(judged.selectedBy(c)) == 0 {
			o.Idle = append(o.Idle, c.Label())
		}
	}
	for _, left := range judged.left {
		if left.Twice {
			o.Unread = append(o.Unread, whereabouts(left.Item)+objectName(left.Object)+" is not looked at: "+left.Why)
		}
	}
	return o
}

// whereabouts is the place of an item in front of a sentence: file and line, the
// file that a host names, or nothing where nobody knows one.
func whereabouts(item *stream.Item) string {
	if item.Source.List == nil {
		file, line := standsAt(item, nil)
		return fmt.Sprintf("%s:%d: ", file, line)
	}
	if file, _ := hostFile(annotationsOf(item)); file != "" {
		return file + ": "
	}
	return ""
}
