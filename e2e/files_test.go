package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A file that does not parse is exit code 2 when it was named, and left out
// with one line when a walk found it.
func TestFilesThatDoNotParse(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const template = "args:\n{{- range .Values.args }}\n  - {{ . }}\n{{- end }}\n"
	write(t, dir, map[string]string{"chart/server.yaml": template, "server.yaml": deployment})
	named := run(t, dir, "", trimtab, "trim", "-w", "server.yaml", "chart/server.yaml")
	require.Equal(t, 2, named.code)
	require.Contains(t, named.stderr, "chart/server.yaml:2")
	require.Equal(t, 1, strings.Count(named.stderr, "\n"), named.stderr)
	require.Equal(t, deployment, read(t, filepath.Join(dir, "server.yaml")), "nothing is written")

	walked := run(t, dir, "", trimtab, "trim", "-w", ".")
	require.Equal(t, 0, walked.code, walked.stderr)
	require.Contains(t, walked.stderr, "chart/server.yaml")
	requireTrimmed(t, read(t, filepath.Join(dir, "server.yaml")))
	require.Equal(t, template, read(t, filepath.Join(dir, "chart", "server.yaml")))
}

// A walk takes YAML and JSON, and leaves out what ignore files hide.
func TestFilesWalk(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"a.yaml": deployment, "b.yml": deployment, "c.txt": deployment, "sub/d.yaml": deployment,
		"hidden/e.yaml": deployment, "ignored/f.yaml": deployment,
		".krmignore": "hidden\n", ".gitignore": "/ignored/\n",
	})
	got := run(t, dir, "", trimtab, "trim", "-w", ".")
	require.Equal(t, 0, got.code, got.stderr)
	for name, trims := range map[string]bool{
		"a.yaml": true, "b.yml": true, "sub/d.yaml": true, "c.txt": false, "hidden/e.yaml": false, "ignored/f.yaml": false,
	} {
		require.Equal(t, trims, read(t, filepath.Join(dir, name)) != deployment, name)
	}
}

// What stands where a path is expected: exit code 2, one line.
func TestFilesRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, map[string]string{"server.yaml": deployment})
	tests := []struct {
		name, stdin string
		args        []string
		says        string
	}{
		{"no verb", "", []string{"server.yaml"}, "server.yaml"},
		{"no path", "", []string{"trim"}, ""},
		{"missing file", "", []string{"trim", "missing.yaml"}, "missing.yaml: there is no such file or folder"},
		{"missing config", "", []string{"trim", "-c", "missing.yaml", "server.yaml"}, "missing.yaml: there is no such file or folder"},
		{"unknown flag", "", []string{"trim", "--wirte", "server.yaml"}, "--wirte"},
		{"unknown format", "", []string{"verify", "-o", "xml", "server.yaml"}, "-o xml"},
		{"-w with --check", "", []string{"trim", "-w", "--check", "server.yaml"}, "--check"},
		{"-w with -", deployment, []string{"trim", "-w", "-"}, "-w"},
		{"- and a file", deployment, []string{"trim", "-", "server.yaml"}, "`-`"},
		{"a ResourceList for the filter", list("", deployment), []string{"trim", "-"}, "without arguments"},
		{"a ResourceList for verify", list("", deployment), []string{"verify", "-"}, "without arguments"},
		{"not YAML", "a: [\n", []string{"trim", "-"}, "not valid YAML"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got := run(t, dir, test.stdin, trimtab, test.args...)
			require.Equal(t, 2, got.code, got.stderr)
			require.Empty(t, got.stdout)
			require.Equal(t, 1, strings.Count(got.stderr, "\n"), got.stderr)
			require.Contains(t, got.stderr, test.says)
			require.Equal(t, deployment, read(t, filepath.Join(dir, "server.yaml")))
		})
	}
}

// Nothing in, nothing out: the filter takes an empty stream, as a host that
// built nothing sends it.
func TestFilterEmptyStream(t *testing.T) {
	t.Parallel()
	for _, input := range []string{"", "\n", "---\n", "# only a comment\n", "null\n"} {
		require.Equal(t, ran{stdout: input}, run(t, t.TempDir(), input, trimtab, "trim", "-"))
		require.Equal(t, ran{}, run(t, t.TempDir(), input, trimtab, "verify", "-"))
	}
}

// In files line ends, a byte order mark, a missing last line end and the
// indentation of the author all stay.
func TestFilesKeepTheirBytes(t *testing.T) {
	t.Parallel()
	all := documents(bystander, deployment)
	edited := strings.NewReplacer("            - --pre-warm-nccl\n", "", "            - --disable-custom-all-reduce\n", "",
		"            - name: CUDA_VISIBLE_DEVICES\n              value: \"0\"\n", "").Replace
	forms := map[string]func(string) string{
		"plain":           func(s string) string { return s },
		"CRLF":            func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") },
		"byte order mark": func(s string) string { return "\ufeff" + s },
		"no line at end":  func(s string) string { return strings.TrimSuffix(s, "\n") },
		"document start":  func(s string) string { return "---\n" + s },
		"document end":    func(s string) string { return s + "...\n" },
		"comments around": func(s string) string { return "# first\n" + s + "# last\n" },
	}
	for name, form := range forms {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			write(t, dir, map[string]string{"server.yaml": form(all)})
			got := run(t, dir, "", trimtab, "trim", "-w", "server.yaml")
			require.Equal(t, 0, got.code, got.stderr)
			require.Equal(t, form(edited(all)), read(t, filepath.Join(dir, "server.yaml")))
			require.Equal(t, form(edited(all)), run(t, dir, form(all), trimtab, "trim", "-").stdout)
		})
	}
	t.Run("symbolic link", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		write(t, dir, map[string]string{"real/server.yaml": all})
		require.NoError(t, os.Symlink("real/server.yaml", filepath.Join(dir, "server.yaml")))
		require.Equal(t, 0, run(t, dir, "", trimtab, "trim", "-w", "server.yaml").code)
		require.Equal(t, edited(all), read(t, filepath.Join(dir, "real", "server.yaml")))
		info, err := os.Lstat(filepath.Join(dir, "server.yaml"))
		require.NoError(t, err)
		require.NotZero(t, info.Mode()&os.ModeSymlink, "the link stays a link")
	})
}
