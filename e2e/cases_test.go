package e2e

import (
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/aymanbagabas/go-udiff"
	"github.com/stretchr/testify/require"
)

// brokenCase is the one file among the cases that is no YAML.
const brokenCase = "other/broken-gke-vllm-llama3-kind-indent.yaml"

// caseFiles lists the real manifests, relative to their folder.
func caseFiles(t *testing.T) (dir string, names []string) {
	t.Helper()
	dir = publicCases(t)
	require.NoError(t, filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && filepath.Ext(path) == ".yaml" {
			name, relErr := filepath.Rel(dir, path)
			require.NoError(t, relErr)
			names = append(names, filepath.ToSlash(name))
		}
		return err
	}))
	require.Greater(t, len(names), 100)
	return dir, names
}

// Every real manifest as a file: judged or trimmed without a fault; trim
// changes only lines of the settings it names, and a second run nothing.
func TestCasesAsFiles(t *testing.T) {
	t.Parallel()
	dir, names := caseFiles(t)
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			caseAsFile(t, dir, name, "{}\n")
		})
	}
}

// The same where the config asks for the edits that are not made by default.
func TestCasesWithEveryFix(t *testing.T) {
	t.Parallel()
	dir, names := caseFiles(t)
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			caseAsFile(t, dir, name, "rules: {restated-default: fix}\n")
		})
	}
}

// caseAsFile trims a manifest twice.
func caseAsFile(t *testing.T, dir, name, spec string) {
	t.Helper()
	before := read(t, filepath.Join(dir, name))
	tmp := t.TempDir()
	write(t, tmp, map[string]string{"case.yaml": before, "config.yaml": config("Trim", spec)})
	verified := run(t, tmp, "", trimtab, "verify", "-o", "json", "-c", "config.yaml", "case.yaml")
	trim := []string{"trim", "-w", "-o", "json", "-c", "config.yaml", "case.yaml"}
	trimmed := run(t, tmp, "", trimtab, trim...)
	after := read(t, filepath.Join(tmp, "case.yaml"))
	if name == brokenCase {
		for _, got := range []ran{verified, trimmed} {
			require.Equal(t, 2, got.code)
			require.Empty(t, got.stdout)
			require.Equal(t, 1, strings.Count(got.stderr, "\n"), got.stderr)
			require.Contains(t, got.stderr, "case.yaml:17")
		}
		require.Equal(t, before, after)
		return
	}
	requireVerdict(t, verified, parseReport(t, verified.stdout))
	found := parseReport(t, trimmed.stderr)
	requireVerdict(t, trimmed, found)
	require.Empty(t, trimmed.stdout)
	requireExplained(t, before, after, found)
	requireDocumentsKept(t, before, after, found)
	if before == after {
		return
	}
	again := run(t, tmp, "", trimtab, trim...)
	require.Equal(t, trimmed.code, again.code, name)
	require.Equal(t, after, read(t, filepath.Join(tmp, "case.yaml")), "twice is once")
	require.Empty(t, fixed(parseReport(t, again.stderr)), name)
}

// requireVerdict asserts that exit code and findings agree and that every
// finding is complete.
func requireVerdict(t *testing.T, got ran, found report) {
	t.Helper()
	want := 0
	if found.Summary.Error > 0 {
		want = 1
	}
	require.Equal(t, want, got.code)
	for _, f := range found.Findings {
		require.NotEmpty(t, f.Message)
		require.NotEmpty(t, f.Setting)
		require.Contains(t, []string{"error", "warning", "info"}, f.Severity)
		require.Positive(t, f.Line, f.Setting)
		require.Positive(t, f.Column, f.Setting)
		if f.Action != "none" {
			require.NotEmpty(t, f.Evidence, f.Setting)
			require.NotEmpty(t, f.Undo, f.Setting)
		}
	}
	for _, s := range found.Skipped {
		require.NotEmpty(t, s.Needs, s.Rule)
	}
}

// requireExplained asserts that each line that went, or lost a part, holds a
// setting or value of a finding that was fixed, and each new one what it proposed.
func requireExplained(t *testing.T, before, after string, found report) {
	t.Helper()
	var names []string
	lines := strings.Split(before, "\n")
	for _, f := range found.Findings {
		if f.Fixed { // the setting may be spelled otherwise: its own line counts too
			names = append(names, strings.TrimPrefix(f.Setting, "env/"), f.Value, strings.TrimSpace(lines[f.Line-1]))
		}
	}
	removed, added := changedLines(before, after)
	for _, line := range removed {
		require.True(t, slices.ContainsFunc(names, func(name string) bool {
			return name != "" && strings.Contains(line, name)
		}), "no finding speaks of %q", line)
	}
	for _, line := range added {
		isLeft := slices.ContainsFunc(removed, func(old string) bool { return isPartOf(line, old) })
		isProposed := slices.ContainsFunc(found.Findings, func(f finding) bool {
			return f.Fixed && f.Proposed != "" && strings.Contains(line, f.Proposed)
		})
		require.True(t, isLeft || isProposed, "%q is new", line)
	}
}

// isPartOf tells whether part is what is left of whole after something was cut.
func isPartOf(part, whole string) bool {
	for _, char := range []byte(part) {
		i := strings.IndexByte(whole, char)
		if i < 0 {
			return false
		}
		whole = whole[i+1:]
	}
	return true
}

var documentMarker = regexp.MustCompile(`(?m)^---.*\n`)

// requireDocumentsKept asserts that no document is lost, and that those without
// a fixed finding are byte for byte as they were.
func requireDocumentsKept(t *testing.T, before, after string, found report) {
	t.Helper()
	were, are := documentMarker.Split(before, -1), documentMarker.Split(after, -1)
	require.Len(t, are, len(were))
	edited := map[int]bool{}
	lines := strings.SplitAfter(before, "\n")
	for _, f := range found.Findings {
		if f.Fixed {
			edited[len(documentMarker.FindAllString(strings.Join(lines[:f.Line], ""), -1))] = true
		}
	}
	for i := range were {
		if !edited[i] {
			require.Equal(t, were[i], are[i], "document %d", i)
		}
	}
}

// Every real manifest as the items of a function: no item is lost, those that
// are not edited come back byte for byte, and the second run changes nothing.
func TestCasesThroughFunction(t *testing.T) {
	t.Parallel()
	dir, names := caseFiles(t)
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before := read(t, filepath.Join(dir, name))
			if name == brokenCase {
				got := run(t, dir, list("", before), trimtab)
				require.Equal(t, 2, got.code)
				require.Empty(t, got.stdout)
				return
			}
			items := nonEmpty(t, before)
			input := list("", items...)
			got := run(t, t.TempDir(), input, trimtab)
			require.Contains(t, []int{0, 1}, got.code, got.stderr)
			after := parseList(t, got.stdout)
			require.Equal(t, identities(t, input), identities(t, got.stdout))
			require.Len(t, after.Items, len(items))

			rest, fixes := beforeResults(got.stdout), 0
			for i, item := range items {
				changed := slices.ContainsFunc(after.Results, func(r result) bool {
					o := objects(t, item)[0]
					return r.Tags["fixed"] == "true" && r.ResourceRef.Kind == o.Kind && r.ResourceRef.Name == o.Metadata.Name
				})
				if changed {
					fixes++
					continue
				}
				require.Contains(t, rest, element(item), "item %d is not as it was", i)
			}
			require.Equal(t, fixes > 0, rest != input)
			if fixes > 0 {
				again := run(t, t.TempDir(), got.stdout, trimtab)
				require.Equal(t, got.code, again.code)
				require.Equal(t, rest, beforeResults(again.stdout), "twice is once")
			}
		})
	}
}

// The same removals by file and as items: no door knows more than the other.
func TestCasesSameByFileAndFunction(t *testing.T) {
	t.Parallel()
	dir, names := caseFiles(t)
	for _, name := range names {
		if name == brokenCase || !strings.HasPrefix(name, "llmkube/") {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before := read(t, filepath.Join(dir, name))
			diff := run(t, dir, "", trimtab, "trim", name)
			filtered := run(t, dir, before, trimtab, "trim", "-")
			require.Equal(t, diff.code, filtered.code)
			path := filepath.ToSlash(name)
			require.Equal(t, udiff.Unified("a/"+path, "b/"+path, before, filtered.stdout), diff.stdout)
			function := run(t, dir, list("", nonEmpty(t, before)...), trimtab)
			require.Equal(t, removedFrom(t, before, filtered.stdout), removedFrom(t, before, function.stdout))
		})
	}
}

// nonEmpty are the documents of a file that hold something, with their last line
// ended.
func nonEmpty(t *testing.T, text string) []string {
	t.Helper()
	var held []string
	for _, document := range documentMarker.Split(text, -1) {
		if len(nodes(t, document)) > 0 {
			held = append(held, strings.TrimRight(document, "\n")+"\n")
		}
	}
	return held
}
