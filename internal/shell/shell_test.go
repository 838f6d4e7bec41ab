package shell

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// told prints commands: one a line, unknown words with a ?, words that may be
// any number with a *, fixed ones with a !.
func told(commands []Command) string {
	var lines []string
	for _, c := range commands {
		var words []string
		for _, w := range c.Words {
			text := "[" + w.Text + "]"
			switch {
			case w.Many:
				text += "*"
			case w.Unknown:
				text += "?"
			case w.Fixed != "":
				text += "!"
			}
			words = append(words, text)
		}
		line := strings.Join(words, " ")
		if c.Conditional {
			line = "maybe " + line
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

func TestCommandsAreReadAsTheShellReadsThem(t *testing.T) {
	env := map[string]Value{"PORT": {Text: "8000"}, "POD": {Unknown: true}, "EXTRA": {Text: "--a --b 3"}, "EMPTY": {}}
	for _, c := range []struct{ name, script, want string }{
		{"continued lines", "vllm serve m \\\n  --a 1 \\\n  --b # why\n", "[vllm] [serve] [m] [--a] [1] [--b]"},
		{"quotes", `x 'a b' "c d" e\ f ''`, "[x] [a b] [c d] [e f] []"},
		{"several commands", "set -e; cd /x && exec y --a", "[set] [-e]\n[cd] [/x]\n[exec] [y] [--a]"},
		{"an assigned value", "N=4; x --n=$N \"$N\"", "[x] [--n=4] [4]"},
		{"an assigned list", "A='--a --b 3'; x $A", "[x] [--a] [--b] [3]"},
		{"a list assigned twice", "A=--a; A=\"$A --b\"; A+=' --c'; x $A", "[x] [--a] [--b] [--c]"},
		{"an array", "A=(--a 'b c'); A+=(--d); x \"${A[@]}\"", "[x] [--a] [b c] [--d]"},
		{"a variable of the container", "x $PORT $EXTRA $EMPTY", "[x] [8000] [--a] [--b] [3]"},
		{"an unknown variable", "x $POD \"$POD\" --a=$NONE", "[x] [$POD]* [$POD]? [--a=$NONE]*"},
		{"a default", `x "${N:-48}" ${PORT:-1}`, "[x] [${N:-48}]? [8000]"},
		{"a condition", "if x; then N=1; y; else z; fi; w $N", "[x]\nmaybe [y]\nmaybe [z]\n[w] [$N]*"},
		{"a list that a condition extends", `A="--a 1"; if y; then A="$A --b"; fi; x $A`, "[y]\n[x] [--a] [1] [$A]*"},
		{"a list that a condition extends without a blank", `A="--a 1"; y && A+=2; x $A`, "[y]\n[x] [--a] [$A]*"},
		{"an array that a condition extends", `A=(--a 1); y && A+=(--b); x "${A[@]}"`, "[y]\n[x] [--a] [1] [${A[@]}]*"},
		{"a chain", "a && N=1 && b $N; c $N", "[a]\n[b] [1]\n[c] [$N]*"},
		{"a chain of assignments", "M=1 && N=2 && b; c $N", "[b]\n[c] [2]"},
		{"an alternative", "a || b", "[a]\nmaybe [b]"},
		{"a loop", "N=0; while a $N; do N=1; done; b $N", "maybe [a] [$N]*\n[b] [$N]*"},
		{"a pipe", "N=1; a | N=2 b; c $N", "[a]\n[b]\n[c] [1]"},
		{"a function", `run() { x "$@" --z; }; run --a "b c"`, "[x] [--a] [b c] [--z]"},
		{"a function nobody calls", "f() { x; }; y", "[y]\nmaybe [x]"},
		{"eval", `eval "x --a 'b c'"`, "[x] [--a] [b c]"},
		{"eval of the unknown", `N=1; eval "$POD"; x $N`, "[$POD]*\n[x] [$N]*"},
		{"another shell", `exec bash -ec 'x --a "$0" "$@"' zero one`, "[x] [--a] [zero] [one]"},
		{"a shell sees what is exported", `A=1; export B=2; sh -c 'x $A $B'`, "[x] [$A]* [2]"},
		{"a here-document", "bash <<'EOF'\nx --a\nEOF\n", "[x]! [--a]!"},
		{"a text file", "cat > f <<EOF\nx --a\nEOF\ny", "[cat]\n[y]"},
		{"globs", `x *.py vllm[audio] [ '*' \*`, "[x] [*.py]* [vllm[audio]]* [[] [*] [*]"},
		{"braces", `x {a,b} '{a,b}'`, "[x] [{a,b}]* [{a,b}]"},
		{"tilde", `x ~/m --m=~/m "~/m"`, "[x] [~/m]? [--m=~/m] [~/m]"},
		{"substituted commands", `x "$(hostname)" --a`, "[hostname]\n[x] [$(hostname)]? [--a]"},
		{"a comment in a line", "x --a `# why` --b", "[x] [--a] [--b]"},
		{"arithmetic", `x $((1+1))`, "[x] [$((1+1))]*"},
		{"read forgets", "N=1; read N; x $N", "[read] [N]\n[x] [$N]*"},
		{"source forgets", "N=1; . /f; x $N", "[.] [/f]\n[x] [$N]*"},
		{"a virtual environment keeps", "N=1; . /v/bin/activate; x $N", "[.] [/v/bin/activate]\n[x] [1]"},
		{"another IFS", "IFS=,; A=a,b; x $A", "[x] [$A]*"},
		{"positional parameters", `set -- --a "b c"; x "$@" $2 "$1"`, "[set] [--] [--a]! [b c]!\n[x] [--a]! [b c]! [b] [c] [--a]"},
		{"xargs", "echo --a | xargs x", "[echo] [--a]\n[xargs] [x] []*"},
		{"a background command", "x --a & wait", "[x] [--a]\n[wait]"},
		{"a variable for another shell", `N=1; N=2 sh -c 'x $N'; env N=3 sh -c 'x $N'; env -i sh -c 'x $PORT'`, "[x] [2]\n[x] [3]\n[x] [$PORT]*"},
		{"a joined list", `A="${L[@]}"; L=(a b); B="${L[@]}"; x "$B"`, `[x] ["${L[@]}"]?`},
		{"behind exec", "exec x; y", "[exec] [x]"},
		{"a function that may be defined", "a && f() { x; }; f", "[a]\n[f]?\nmaybe [x]"},
		{"dollar quotes", `x $'a' $'a\n'`, `[x] [a] [$'a\n']?`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Script{Text: c.script, Dialect: Bash, Env: env}.Commands()
			require.NoError(t, err)
			require.Equal(t, c.want, told(got))
		})
	}
}

func TestHereDocumentsEndWithTheirText(t *testing.T) {
	for _, script := range []string{"bash <<EOF\nx $A --b\nEOF\ny", "bash <<'EOF'\nx $A --b\nEOF\ny", "bash <<\"E F\"\nx $A --b\nE F\ny"} {
		got, err := Script{Text: script, Dialect: Bash}.Commands()
		require.NoError(t, err)
		require.Equal(t, "[x]! [$A]* [--b]!\n[y]", told(got), script)
	}
}

func TestPlainShellsAgree(t *testing.T) {
	got, err := Script{Text: "x {a,b} $'c' ; A='--a --b'; x $A", Dialect: POSIX}.Commands()
	require.NoError(t, err)
	require.Equal(t, "[x] [{a,b}]* [$'c']*\n[x] [--a] [--b]", told(got))
}

func TestTheKubeletExpandsFirst(t *testing.T) {
	env := map[string]Value{"ARGS": {Text: "--a --b"}, "PORT": {Text: "80"}, "POD": {Unknown: true}}
	script := `x $(ARGS) --p=$(PORT) '$(POD)' $(POD) $$(PORT) "$(NONE)"`
	got, err := Script{Text: script, Dialect: Bash, Env: env, Kubelet: true}.Commands()
	require.NoError(t, err)
	require.Equal(t, "[PORT]\n[NONE]\n[x] [--a] [--b] [--p=80] [$(POD)]? [$(POD)]* [$(PORT)]* [$(NONE)]?", told(got))
	require.Equal(t, []string{"POD"}, got[2].Words[4].Needs)
}

func TestTemplatesFillInUnknownText(t *testing.T) {
	script := Script{Text: `x --a "{{ .Name }}" '{{.B}}' {{.C}} --d`, Dialect: Bash, Templates: true}
	got, err := script.Commands()
	require.NoError(t, err)
	require.Equal(t, "[x] [--a] [{{ .Name }}]? [{{.B}}]? [{{.C}}]* [--d]", told(got))
	splices, err := script.Edit([]Span{got[0].Words[1].Span, got[0].Words[2].Span}, nil)
	require.NoError(t, err)
	require.Equal(t, `x '{{.B}}' {{.C}} --d`, script.apply(splices).Text)
}

func TestADefaultIsTold(t *testing.T) {
	got, err := Script{Text: `x "${N:-48}" --n=${N:=4}8 "${M}"`, Dialect: Bash}.Commands()
	require.NoError(t, err)
	words := got[0].Words
	require.Equal(t, "48", *words[1].IfUnset)
	require.Equal(t, "--n=48", *words[2].IfUnset)
	require.Nil(t, words[3].IfUnset)
	require.Equal(t, []string{"N"}, words[1].Needs)
}

func TestWhatIsSetForTheCommand(t *testing.T) {
	got, err := Script{Text: "export A=1\nB=2\nC=3 x --a", Dialect: Bash}.Commands()
	require.NoError(t, err)
	require.Len(t, got, 1)
	require.Len(t, got[0].Env, 2)
	require.Equal(t, "A", got[0].Env[0].Name)
	require.Equal(t, "1", got[0].Env[0].Value.Text)
	require.Equal(t, "C", got[0].Env[1].Name)
	require.Equal(t, "3", got[0].Env[1].Value.Text)

	got, err = Script{Text: "exec env D=4 nohup x --e=5", Dialect: Bash}.Commands()
	require.NoError(t, err)
	require.Len(t, got[0].Env, 1)
	require.Equal(t, "4", got[0].Env[0].Value.Text)
}

func TestBadScriptsAreNamed(t *testing.T) {
	for script, want := range map[string]string{
		"x 'a\n--b": "the shell script does not parse, line:column 1:3: reached EOF without closing quote",
		"x\n\r":     `the shell script holds a control character ('\r') in line 2: remove it`,
	} {
		_, err := Script{Text: script}.Commands()
		require.ErrorContains(t, err, want)
	}
}

func TestFindShell(t *testing.T) {
	for line, want := range map[string]string{
		"sh -c S a b":                           "S a b",
		"/bin/bash -lc S":                       "S",
		"bash -exc S":                           "S",
		"bash -c -- S":                          "S",
		"bash -o pipefail -c S":                 "S",
		"bash --login -c S":                     "S",
		"tini -- bash -euo pipefail -c S":       "S",
		"/usr/bin/dumb-init -- busybox sh -c S": "S",
		"env A=b nohup sh -c S":                 "S",
		"timeout 10 sh -c S":                    "S",
		"bash /run.sh a":                        "file /run.sh a",
		"bash":                                  "input",
		"echo bash -c S":                        "none",
		"python3 -c S":                          "none",
	} {
		words := strings.Fields(line)
		got := "none"
		if found, ok := FindShell(words); ok {
			got = "input"
			if found.Script >= 0 {
				got = strings.Join(words[found.Script:], " ")
			}
			if found.File {
				got = "file " + got
			}
		}
		require.Equal(t, want, got, line)
	}
}

func TestCommentsAboutAWord(t *testing.T) {
	text := "# the first\n# and second\nx --a \\\n  --b # beside\n\ny --c `# in the line` \\\n  --d\n"
	for word, want := range map[string][]string{
		"--a": {"the first and second"},
		"--b": {"beside", "the first and second"},
		"--c": {"in the line"},
		"--d": nil,
	} {
		from := strings.Index(text, word)
		require.Equal(t, want, Comments(text, Span{From: from, To: from + len(word)}), word)
	}
}

// A script that doubles a text line by line is read in bounded memory: what
// grows beyond it is not known.
func TestDoublingTextIsBounded(t *testing.T) {
	for _, script := range []string{
		"A=x; " + strings.Repeat("A=$A$A; ", 60) + "serve --name \"$A\" --tp 2",
		"A=(x y); " + strings.Repeat("A=(\"${A[@]}\" \"${A[@]}\"); ", 60) + "serve --name \"${A[0]}\" --tp 2",
	} {
		commands, err := (&Script{Text: script, Dialect: Bash}).Commands()
		require.NoError(t, err)
		require.NotEmpty(t, commands)
		last := commands[len(commands)-1]
		require.Equal(t, "--tp", last.Words[len(last.Words)-2].Text)
	}
}

func TestParseBoundsNesting(t *testing.T) {
	t.Parallel()
	for _, open := range []string{"( ", "{ ", "$( ", "if ", "while ", "! ", "x | ", "x && ", "`\\", "\"$(", "$((-", "<("} {
		for _, dialect := range []Dialect{POSIX, Bash} {
			_, _, err := Parse(strings.Repeat(open, mostNests+1), dialect)
			require.ErrorIs(t, err, ErrIntricate, open)
			_, _, err = Parse(strings.Repeat(open, mostNests/3), dialect)
			require.Error(t, err, open) // and the stack holds it
		}
	}
}
