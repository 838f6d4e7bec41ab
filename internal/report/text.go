package report

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/trimtab/trimtab/internal/finding"
	"github.com/trimtab/trimtab/internal/rule"
)

// Style says how text is printed.
type Style struct {
	// Terminal groups findings by file and ends with a line of counts; without
	// it there is one line a finding and nothing else.
	Terminal bool
	// Color uses ANSI colours; it needs Terminal. The caller respects NO_COLOR.
	Color bool
	// Lines gives the text of a line of an input file, to show where a finding
	// stands; nil shows none.
	Lines Lines
}

// Lines gives a line of a file, counted from 1, without its end; empty where it
// is not known.
type Lines func(file string, line int) string

// WriteText prints the findings in their order: without a terminal as
// FILE:LINE:COL: SEVERITY RULE: MESSAGE. It returns the error of the writer.
func WriteText(w io.Writer, r Report, style Style) error {
	var b bytes.Buffer
	if style.Terminal {
		writeGrouped(&b, r, style)
	} else {
		for _, f := range r.Findings {
			fmt.Fprintf(&b, "%s: %s\n", position(f), verdict(f))
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}

// WriteErrorsFirst prints what goes to standard error: errors, then warnings,
// one line each, then the number of informational findings. It returns the
// error of the writer.
func WriteErrorsFirst(w io.Writer, r Report) error {
	var b bytes.Buffer
	for _, f := range worstFirst(r.Findings) {
		if f.Severity == finding.Error || f.Severity == finding.Warning {
			fmt.Fprintf(&b, "%s: %s\n", place(f), verdict(f))
		}
	}
	if n := r.Summary().Info; n > 0 {
		fmt.Fprintf(&b, "%s\n", count(n, "informational finding"))
	}
	_, err := w.Write(b.Bytes())
	return err
}

// WriteSkipped prints which rules could not decide and what they need, one line
// for each set of needs. It returns the error of the writer.
func WriteSkipped(w io.Writer, r Report) error {
	for _, line := range skippedLines(r.Skipped) {
		if _, err := fmt.Fprintln(w, line); err != nil {
			return err
		}
	}
	return nil
}

// verdict is severity, rule and message, with the proof and the way back.
func verdict(f finding.Finding) string {
	return fmt.Sprintf("%s %s: %s%s", f.Severity, f.Rule, oneLine(f.Message), proof(f))
}

// proof says where the engine itself shows what a finding claims, and how to go
// back; empty for a finding that has neither.
func proof(f finding.Finding) string {
	parts := proofs(f)
	if f.Undo != "" {
		parts = append(parts, "way back: "+oneLine(f.Undo))
	}
	if len(parts) == 0 {
		return ""
	}
	return " [" + strings.Join(parts, "; ") + "]"
}

// position is FILE:LINE:COL, which programs rely on. A finding that stands
// nowhere has line and column 0.
func position(f finding.Finding) string {
	return fmt.Sprintf("%s:%d:%d", source(f), f.Line, f.Column)
}

// source is the file, or the object where there is no file.
func source(f finding.Finding) string {
	if f.File == "" {
		return objectName(f.Object)
	}
	return printable(f.File)
}

// place is the position as far as it is known: a function has items, no lines,
// and often no files.
func place(f finding.Finding) string {
	if f.File == "" || f.Line == 0 {
		return source(f)
	}
	return position(f)
}

// objectName is KIND/NAMESPACE/NAME, without a namespace KIND/NAME.
func objectName(o finding.Object) string {
	parts := slices.DeleteFunc([]string{o.Kind, o.Namespace, o.Name}, func(s string) bool { return s == "" })
	return printable(strings.Join(parts, "/"))
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

const (
	bold   = "1"
	red    = "31"
	yellow = "33"
	cyan   = "36"
	faint  = "2"
)

func (s Style) paint(color, text string) string {
	if !s.Color || text == "" {
		return text
	}
	return "\x1b[" + color + "m" + text + "\x1b[0m"
}

func writeGrouped(b *bytes.Buffer, r Report, style Style) {
	colors := map[finding.Severity]string{finding.Error: red, finding.Warning: yellow, finding.Info: cyan}
	heading := ""
	for i, f := range r.Findings {
		if group := source(f); i == 0 || group != heading {
			if i > 0 {
				b.WriteByte('\n')
			}
			heading = group
			fmt.Fprintln(b, style.paint(bold, heading))
		}
		where := fmt.Sprintf("%d:%d", f.Line, f.Column)
		severity := fmt.Sprintf("%-7s", f.Severity)
		fmt.Fprintf(b, "  %8s  %s  %s: %s\n", where, style.paint(colors[f.Severity], severity), style.paint(bold, f.Rule), oneLine(f.Message))
		style.excerpt(b, f, r.Secrets)
		if why := proof(f); why != "" {
			fmt.Fprintf(b, "            %s\n", style.paint(faint, strings.Trim(why, " []")))
		}
	}
	if len(r.Findings) > 0 {
		b.WriteByte('\n')
	}
	for _, line := range skippedLines(r.Skipped) {
		fmt.Fprintln(b, style.paint(faint, line))
	}
	if len(r.Findings) == 0 && len(r.Servers) == 0 {
		fmt.Fprintln(b, "no server of vLLM or SGLang is found")
		return
	}
	fmt.Fprintln(b, closing(r.Summary()))
}

// widest is how much of a line an excerpt shows, in characters.
const widest = 100

// excerpt shows the line a finding stands in, with a caret under its place. A
// line that may hold a secret is not shown.
func (s Style) excerpt(b *bytes.Buffer, f finding.Finding, secrets rule.Secrets) {
	if s.Lines == nil || f.Line == 0 {
		return
	}
	line := []rune(strings.ReplaceAll(strings.TrimRight(s.Lines(f.File, f.Line), "\r"), "\t", " "))
	at := f.Column - 1
	if at < 0 || at >= len(line) || givesAway(string(line)) || secrets.StandIn(string(line)) {
		return
	}
	from := max(0, at-widest/2)
	shown := line[from:min(len(line), from+widest)]
	fmt.Fprintf(b, "            %s\n", s.paint(faint, "| "+printable(string(shown))))
	fmt.Fprintf(b, "            %s\n", s.paint(faint, "| ")+strings.Repeat(" ", at-from)+s.paint(bold, "^"))
}

// givesAway tells whether a word of a line is, or names, a secret.
func givesAway(line string) bool {
	words := strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(" \t\"',:={}[]()", r) })
	return rule.IsSecret("", line) || slices.ContainsFunc(words, func(word string) bool { return rule.IsSecret(word, word) })
}

// skippedLines says once for each set of missing facts which rules wait for it.
func skippedLines(skipped []Skipped) []string {
	var lines []string
	waiting := map[string][]string{}
	var order []string
	for _, s := range skipped {
		needs := strings.Join(s.Needs, ", ")
		if waiting[needs] == nil {
			order = append(order, needs)
		}
		if !slices.Contains(waiting[needs], s.Rule) {
			waiting[needs] = append(waiting[needs], s.Rule)
		}
	}
	for _, needs := range order {
		lines = append(lines, fmt.Sprintf("not checked: %s (needs %s)", strings.Join(waiting[needs], ", "), needs))
	}
	return lines
}

func closing(s Summary) string {
	if s == (Summary{}) {
		return "no findings"
	}
	return fmt.Sprintf("%s, %s, %d informational", count(s.Error, "error"), count(s.Warning, "warning"), s.Info)
}
