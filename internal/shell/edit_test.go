package shell

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// spansOf are the places of words in the order in which they are asked for.
func spansOf(t *testing.T, s Script, words ...string) []Span {
	t.Helper()
	commands, err := s.Commands()
	require.NoError(t, err)
	var spans []Span
	for _, want := range words {
		before := len(spans)
		for _, c := range commands {
			for _, w := range c.Words {
				if w.Text == want && len(spans) == before {
					spans = append(spans, w.Span)
				}
			}
		}
		require.Len(t, spans, before+1, "no word %q", want)
	}
	return spans
}

func TestWordsAreTakenOut(t *testing.T) {
	for _, c := range []struct{ name, script, words, want string }{
		{"from one line", "x --a --b 3 --c", "--b 3", "x --a --c"},
		{"the last", "x --a --b", "--b", "x --a"},
		{"a line of its own", "x \\\n  --a  \\\n  --b 3 \\\n  --c", "--b 3", "x \\\n  --a  \\\n  --c"},
		{"the last line", "x \\\n  --a \\\n  --b 3\ny", "--b 3", "x \\\n  --a\ny"},
		{"the first of a line", "x \\\n  --a 1 \\\n  --b m \\\n  --c", "--b", "x \\\n  --a 1 \\\n  m \\\n  --c"},
		{"the last line, with a comment", "x \\\n  --a \\\n  --b # why\n", "--b", "x \\\n  --a # why\n"},
		{"in front of a comment", "x --a --b # why\n", "--b", "x --a # why\n"},
		{"behind a comment in the line", "x \\\n  --a `# why` \\\n  --b \\\n  --c", "--b", "x \\\n  --a `# why` \\\n  --c"},
		{"two apart", "x --a --b --c --d", "--a --c", "x --b --d"},
		{"in front of a redirection", "x --a --b >/log 2>&1", "--b", "x --a >/log 2>&1"},
		{"between a digit and a redirection", "x 3 --a>/log", "--a", "x 3 >/log"},
		{"from an assigned list", "A=\"--a --b 3\"; x $A", "--a", "A=\"--b 3\"; x $A"},
		{"the whole of an assigned list", "A='--a'; x $A --b", "--a", "A=''; x $A --b"},
		{"from a list over lines", "A=\"--a \\\n  --b 3 \\\n  --c\"\nx $A", "--b 3", "A=\"--a \\\n  --c\"\nx $A"},
		{"the last of a list over lines", "A=\"--a \\\n  --c\"\nx $A", "--c", "A=\"--a\"\nx $A"},
		{"from an appended list", "A=--a\nA=\"$A --b\"\nx $A", "--b", "A=--a\nA=\"$A\"\nx $A"},
		{"from an array", "A=(\n  --a # one\n  --b 3\n  --c\n)\nx \"${A[@]}\"", "--b 3", "A=(\n  --a # one\n  --c\n)\nx \"${A[@]}\""},
		{"beside a comment of an array", "A=(\n  --a\n  --b # two\n)\nx \"${A[@]}\"", "--b", "A=(\n  --a\n  # two\n)\nx \"${A[@]}\""},
		{"from another shell", "bash -c 'x --a \\\n  --b \\\n  --c'", "--b", "bash -c 'x --a \\\n  --c'"},
		{"from another shell in double quotes", "bash -c \"x --a \\\"--b\\\" --c\"", "--b", "bash -c \"x --a --c\""},
		{"from eval", "eval \"x --a --b\"", "--a", "eval \"x --b\""},
		{"from a function's words", "f() { x \"$@\"; }\nf --a --b", "--a", "f() { x \"$@\"; }\nf --b"},
		{"a JSON text", `x --j '{"a": 1}' --b`, `--j {"a":_1}`, "x --b"},
		{"an unknown value", `x --j "$J" --b`, `--j $J`, "x --b"},
	} {
		t.Run(c.name, func(t *testing.T) {
			script := Script{Text: c.script, Dialect: Bash}
			var words []string
			for word := range strings.FieldsSeq(c.words) {
				words = append(words, strings.ReplaceAll(word, "_", " "))
			}
			splices, err := script.Edit(spansOf(t, script, words...), nil)
			require.NoError(t, err)
			require.Equal(t, c.want, script.apply(splices).Text)
		})
	}
}

func TestWordsAreWrittenAnew(t *testing.T) {
	for _, c := range []struct{ script, word, text, want string }{
		{"x --n 3", "3", "4", "x --n 4"},
		{"x --n '3'", "3", "it's", `x --n 'it'\''s'`},
		{`x --n "3"`, "3", "$4", `x --n "\$4"`},
		{"x --n=3 --b", "--n=3", "--n=a b", "x '--n=a b' --b"},
		{"A='--n 3'; x $A", "3", "4", "A='--n 4'; x $A"},
		{"N=3; x --n $N --b", "--n", "--m", "N=3; x --m $N --b"},
		{"A=(--n 3); x \"${A[@]}\"", "3", "a b", "A=(--n 'a b'); x \"${A[@]}\""},
		{"bash -c 'x --n 3'", "3", "a b", `bash -c 'x --n '\''a b'\'''`},
		{`bash -c "x --n 3"`, "3", "$b", `bash -c "x --n '\$b'"`},
	} {
		script := Script{Text: c.script, Dialect: Bash}
		splices, err := script.Edit(nil, map[Span]string{spansOf(t, script, c.word)[0]: c.text})
		require.NoError(t, err, c.script)
		require.Equal(t, c.want, script.apply(splices).Text)
	}
}

func TestOneEditRemovesAndWrites(t *testing.T) {
	script := Script{Text: "x --a 1 --b 2 --c", Dialect: Bash}
	spans := spansOf(t, script, "--a", "1", "2")
	splices, err := script.Edit(spans[:2], map[Span]string{spans[2]: "3"})
	require.NoError(t, err)
	require.Equal(t, "x --b 3 --c", script.apply(splices).Text)
}

func TestTheKubeletDoesNotExpandWhatIsWritten(t *testing.T) {
	script := Script{Text: "x --n 3", Dialect: Bash, Kubelet: true, Env: map[string]Value{"N": {Text: "5"}}}
	splices, err := script.Edit(nil, map[Span]string{spansOf(t, script, "3")[0]: "$(N)"})
	require.NoError(t, err)
	require.Equal(t, "x --n '$$(N)'", script.apply(splices).Text)
}

func TestTextsOutsideAreEdited(t *testing.T) {
	script := Script{Text: `x $ARGS "$@"`, Dialect: Bash, Env: map[string]Value{"ARGS": {Text: "--a --b 3"}}, Args: []Value{{Text: "x"}, {Text: "--c"}, {Text: "--d"}}}
	splices, err := script.Edit(spansOf(t, script, "--b", "3", "--c"), nil)
	require.NoError(t, err)
	require.Equal(t, []Splice{
		{Span: Span{Source: "arg/1", To: 3}, Drop: true},
		{Span: Span{Source: "env/ARGS", From: 3, To: 9}},
	}, splices)
}

func TestAWholeArgumentThatIsEvaluatedGoesAsAnArgument(t *testing.T) {
	script := Script{Text: `eval "x $@"`, Dialect: Bash, Args: []Value{{Text: "bash"}, {Text: "--a"}, {Text: "--b '{}' --c"}, {Text: "3"}}}
	splices, err := script.Edit(spansOf(t, script, "--a", "3", "{}"), nil)
	require.NoError(t, err)
	require.Equal(t, []Splice{
		{Span: Span{Source: "arg/1", To: 3}, Drop: true},
		{Span: Span{Source: "arg/2", From: 3, To: 8}},
		{Span: Span{Source: "arg/3", To: 1}, Drop: true},
	}, splices)
}

func TestWhatIsNotSafeIsRefused(t *testing.T) {
	for _, c := range []struct{ script, word, want string }{
		{"bash <<'EOF'\nx --a\nEOF\n", "--a", "it stands in a here-document"},
		{"A='--a --b'; x $A; y $A", "--b", "several commands share it"},
		{"A='--a --b'; [[ $A == *b* ]] && x $A", "--b", "something else in the script depends on it"},
		{"A='--a --b'; x $A; echo \"$A\"", "--b", "something else in the script depends on it"},
		{"export A='--a --b'; x $A", "--b", "something else in the script depends on it"},
		{"A='--a --b'; x $A ${#A}", "--b", "something else in the script depends on it"},
		{"A='--a --b'; case $A in *b) ;; esac; x $A", "--b", "something else in the script depends on it"},
		{"x $UNKNOWN --a", "$UNKNOWN", "it may be any number of words"},
		{"A='--a --b'; x $A--c", "--b--c", "the shell computes it from several pieces"},
		{"f() { x --a; }; f; f", "--a", "several commands share it"},
		{"x --a \"$(hostname)\"", "$(hostname)", "something else in the script depends on it"},
		{"f() { x \"$@\"; y $#; }; f --a", "--a", "something else in the script depends on it"},
	} {
		script := Script{Text: c.script, Dialect: Bash}
		_, err := script.Edit(spansOf(t, script, c.word), nil)
		var refused *Refused
		require.ErrorAs(t, err, &refused, c.script)
		require.Equal(t, c.want, refused.Reason, c.script)
	}
}
