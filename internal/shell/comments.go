package shell

import "strings"

// Comments returns what the script says about a word in comments: on the same
// line behind it, and in the lines directly above the command or array element
// that holds it; without number signs.
func Comments(text string, word Span) []string {
	var comments []string
	behind, _, _ := strings.Cut(text[word.To:], "\n")
	if _, beside, found := strings.Cut(strings.ReplaceAll(behind, "`#", " #"), " #"); found {
		comments = append(comments, strings.Trim(beside, "# `\\\t"))
	}
	lines := strings.Split(text[:word.From], "\n")
	lines = lines[:len(lines)-1] // those above
	for len(lines) > 0 && strings.HasSuffix(lines[len(lines)-1], "\\") {
		lines = lines[:len(lines)-1]
	}
	first := len(lines)
	for first > 0 && strings.HasPrefix(strings.TrimSpace(lines[first-1]), "#") {
		first--
	}
	var above []string
	for _, line := range lines[first:] {
		above = append(above, strings.TrimLeft(strings.TrimSpace(line), "# "))
	}
	if len(above) > 0 {
		comments = append(comments, strings.Join(above, " "))
	}
	return comments
}
