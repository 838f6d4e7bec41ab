package report

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/trimtab/trimtab/internal/finding"
)

// WriteMarkdown prints the findings as a comment on a pull request: what was
// looked at, errors, warnings, and the rest folded. It returns the error of the
// writer.
func WriteMarkdown(w io.Writer, r Report) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "### trimtab: %s\n\n", closing(r.Summary()))
	fmt.Fprintf(&b, "%s looked at.\n", count(len(r.Servers), "server"))
	titles := []struct {
		severity finding.Severity
		title    string
		folded   bool
	}{{finding.Error, "Errors", false}, {finding.Warning, "Warnings", false}, {finding.Info, "For information", true}}
	for _, section := range titles {
		var some []finding.Finding
		for _, f := range r.Findings {
			if f.Severity == section.severity {
				some = append(some, f)
			}
		}
		if len(some) == 0 {
			continue
		}
		var lines []string
		for _, f := range some {
			lines = append(lines, markdownItem(f))
		}
		markdownSection(&b, section.title, section.folded, lines)
	}
	if lines := skippedLines(r.Skipped); len(lines) > 0 {
		for i := range lines {
			lines[i] = "- " + escapeMarkdown(lines[i]) + "\n"
		}
		markdownSection(&b, "Not checked", true, lines)
	}
	_, err := w.Write(b.Bytes())
	return err
}

// markdownSection prints list items under a heading, or folded.
func markdownSection(b *bytes.Buffer, title string, folded bool, items []string) {
	if folded {
		fmt.Fprintf(b, "\n<details><summary>%s (%d)</summary>\n\n%s\n</details>\n", title, len(items), strings.Join(items, ""))
		return
	}
	fmt.Fprintf(b, "\n#### %s\n\n%s", title, strings.Join(items, ""))
}

func markdownItem(f finding.Finding) string {
	item := fmt.Sprintf("- **%s** %s at %s: %s\n", f.Rule, inCode(f.Setting), inCode(place(f)), escapeMarkdown(oneLine(f.Message)))
	var below []string
	switch {
	case f.Fixed:
		below = append(below, "fixed")
	case f.Action != finding.None && f.Action != "":
		below = append(below, "`trimtab trim` does it")
	}
	for _, proof := range proofs(f) {
		below = append(below, escapeMarkdown(proof))
	}
	if f.Undo != "" {
		below = append(below, "way back: "+escapeMarkdown(oneLine(f.Undo)))
	}
	below = slices.DeleteFunc(below, func(s string) bool { return s == "" })
	if len(below) > 0 {
		item += "  <br><sub>" + strings.Join(below, " · ") + "</sub>\n"
	}
	return item
}

// inCode is text between as many backquotes as it needs.
func inCode(text string) string {
	text = oneLine(text)
	fence := "`"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	if len(fence) > 1 {
		return fence + " " + text + " " + fence
	}
	return fence + text + fence
}

// escapeMarkdown keeps text from being read as markup; backquoted parts are
// meant as such.
func escapeMarkdown(text string) string {
	var b strings.Builder
	quoted, odd := false, strings.Count(text, "`")%2 == 1
	for _, r := range text {
		switch {
		case r == '`' && odd:
			b.WriteByte('\\')
		case r == '`':
			quoted = !quoted
		case !quoted && strings.ContainsRune(`\*_[]<>#|~@`, r):
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}
