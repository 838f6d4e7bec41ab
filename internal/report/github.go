package report

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/trimtab/trimtab/internal/finding"
)

// githubCommands are the workflow commands that GitHub turns into annotations.
var githubCommands = map[finding.Severity]string{finding.Error: "error", finding.Warning: "warning", finding.Info: "notice"}

// WriteGitHub prints the findings as workflow commands of GitHub Actions, the
// worst first, since GitHub shows ten of each kind. It returns the error of the
// writer.
func WriteGitHub(w io.Writer, r Report) error {
	var b bytes.Buffer
	for _, f := range worstFirst(r.Findings) {
		where := "title=" + property(f.Rule)
		if f.File != "" && f.Line > 0 {
			where = fmt.Sprintf("file=%s,line=%d,col=%d,%s", property(f.File), f.Line, max(f.Column, 1), where)
		}
		says := oneLine(f.Message) + proof(f)
		if f.File == "" {
			says = source(f) + ": " + says
		}
		fmt.Fprintf(&b, "::%s %s::%s\n", githubCommands[f.Severity], where, data(says))
	}
	_, err := w.Write(b.Bytes())
	return err
}

// data is text as the runner's own toolkit escapes it.
func data(text string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(text)
}

func property(text string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C").Replace(text)
}
