package shell

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// realShell runs scripts whose only program is x, which prints its words.
type realShell struct{ dir, bash string }

func newRealShell(t testing.TB) *realShell {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("there is no bash to compare with")
	}
	dir := t.TempDir()
	require.NoError(t, os.Symlink(bash, filepath.Join(dir, "sh")))
	program := "#!" + bash + "\nprintf '%s\\0' $'\\2' \"$@\" $'\\1'\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "x"), []byte(program), 0o755))
	return &realShell{dir: dir, bash: bash}
}

// run returns the words of each run of x; false when the shell does not end.
func (s *realShell) run(script Script) ([][]string, bool) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	args := []string{"--noprofile", "--norc", "-c", script.Text}
	for _, arg := range script.Args {
		args = append(args, arg.Text)
	}
	cmd := exec.CommandContext(ctx, s.bash, args...)
	cmd.Dir, cmd.Env = s.dir, []string{"PATH=" + s.dir + ":/usr/bin:/bin"}
	for name, value := range script.Env {
		cmd.Env = append(cmd.Env, name+"="+value.Text)
	}
	out, _ := cmd.Output()
	if ctx.Err() != nil {
		return nil, false
	}
	var runs [][]string
	for one := range strings.SplitAfterSeq(string(out), "\x01\x00") {
		one, ended := strings.CutSuffix(one, "\x01\x00")
		if !ended {
			continue
		}
		if _, behind, says := strings.Cut(one, "\x02\x00"); says {
			one = behind // before it stands what bash itself says
		}
		words := strings.Split(one, "\x00")
		runs = append(runs, words[:len(words)-1])
	}
	return runs, true
}

// fuzzed is a generated script in surroundings of which E and Z are not known.
func fuzzed(choices []byte) (known, real Script) {
	g := generator{choices: choices}
	known = Script{
		Text: g.script(), Dialect: Bash,
		Env:  map[string]Value{"A": {Text: "--env 1"}, "Z": {Unknown: true}},
		Args: []Value{{Text: "zero"}, {Text: "--p1"}, {Text: "p 2"}},
	}
	real = known
	real.Env = map[string]Value{"A": {Text: "--env 1"}, "Z": {Text: "zz"}}
	return known, real
}

// programs are the words of the runs of x that Commands tells of; false when
// the script holds one of which it is not said whether it runs.
func programs(commands []Command) (list [][]Word, certain bool) {
	certain = true
	for _, c := range commands {
		at := -1
		for i, w := range c.Words {
			if w.Text == "x" && (i == 0 || c.Words[0].Text == "exec") {
				at = i
				break
			}
		}
		if at < 0 {
			certain = certain && !c.Words[0].Unknown && !slices.Contains([]string{"env", "bash", "sh", "exec", "eval", "read", "shift"}, c.Words[0].Text)
			continue
		}
		certain = certain && !c.Conditional
		list = append(list, c.Words[at+1:])
	}
	return list, certain
}

// aligned tells which of the real words each of ours is; false when that cannot
// be told.
func aligned(ours []Word, real []string) ([]int, bool) {
	many := -1
	for i, w := range ours {
		if w.Many {
			if many >= 0 {
				return nil, false
			}
			many = i
		}
	}
	if many < 0 && len(ours) != len(real) || len(real) < len(ours)-1 {
		return nil, false
	}
	at := make([]int, len(ours))
	for i, w := range ours {
		switch {
		case w.Many:
			at[i] = -1
		case many >= 0 && i > many:
			at[i] = len(real) - (len(ours) - i)
		default:
			at[i] = i
		}
	}
	return at, true
}

// severalUnknown tells whether a command has more than one word that may be any
// number of words, so that its words cannot be compared.
func severalUnknown(ours []Word) bool {
	n := 0
	for _, w := range ours {
		if w.Many {
			n++
		}
	}
	return n > 1
}

func seed(f *testing.F) {
	for i := range 64 {
		choices := make([]byte, 40)
		for j := range choices {
			choices[j] = byte((i*131 + j*j*17 + i*j*7) >> 1)
		}
		f.Add(choices, uint8(i))
	}
}

// FuzzWordsAreThoseOfBash compares what is read with what bash runs.
func FuzzWordsAreThoseOfBash(f *testing.F) {
	seed(f)
	bash := newRealShell(f)
	f.Fuzz(func(t *testing.T, choices []byte, _ uint8) {
		if len(choices) > 200 {
			t.Skip("too long")
		}
		script, real := fuzzed(choices)
		commands, err := script.Commands()
		if err != nil {
			t.Skip("not read")
		}
		ours, certain := programs(commands)
		if !certain {
			t.Skip("a command may run or not")
		}
		runs, ended := bash.run(real)
		if !ended {
			t.Skip("bash does not end")
		}
		if len(runs) < len(ours) && strings.Contains(script.Text, "exec") {
			t.Skip("what runs first may have ended the shell")
		}
		require.Len(t, runs, len(ours), "%s\n%s", script.Text, told(commands))
		for i := range ours {
			if severalUnknown(ours[i]) {
				continue
			}
			at, ok := aligned(ours[i], runs[i])
			require.True(t, ok, "%s\n%s\n%q", script.Text, told(commands), runs[i])
			for j, w := range ours[i] {
				if !w.Unknown {
					require.Equal(t, w.Text, runs[i][at[j]], "%s\n%s\n%q", script.Text, told(commands), runs[i])
				}
			}
		}
	})
}

// FuzzRemoveWord takes a word out and has bash run both scripts: every other
// word must be as it was.
func FuzzRemoveWord(f *testing.F) {
	seed(f)
	bash := newRealShell(f)
	f.Fuzz(func(t *testing.T, choices []byte, which uint8) {
		if len(choices) > 200 {
			t.Skip("too long")
		}
		script, real := fuzzed(choices)
		commands, err := script.Commands()
		if err != nil {
			t.Skip("not read")
		}
		ours, certain := programs(commands)
		word, ok := chosen(ours, int(which))
		if !ok {
			t.Skip("no word can go")
		}
		splices, err := script.Edit([]Span{word.Span}, nil)
		if err != nil {
			t.Skip("refused")
		}
		runs, ended := bash.run(real)
		left, ended2 := bash.run(real.apply(splices))
		if !ended || !ended2 {
			t.Skip("bash does not end")
		}
		told := script.Text + "\n---\n" + script.apply(splices).Text
		if !certain || len(runs) != len(ours) {
			if word.Unknown {
				t.Skip("its real text is not known")
			}
			require.Equal(t, without(flat(runs), word.Text), without(flat(left), word.Text), told)
			return
		}
		for i := range ours {
			at, ok := aligned(ours[i], runs[i])
			switch {
			case ok:
				runs[i] = withoutWord(ours[i], runs[i], at, word.Span)
			case slices.ContainsFunc(ours[i], func(w Word) bool { return w.Span == word.Span }):
				t.Skip("which of the real words it is cannot be told")
			}
		}
		require.Equal(t, flat(runs), flat(left), told)
	})
}

// chosen is one of the words that can go.
func chosen(ours [][]Word, which int) (Word, bool) {
	var free []Word
	for _, words := range ours {
		for _, w := range words {
			if w.Fixed == "" {
				free = append(free, w)
			}
		}
	}
	if len(free) == 0 {
		return Word{}, false
	}
	return free[which%len(free)], true
}

func flat(runs [][]string) []string {
	list := []string{}
	for _, words := range runs {
		list = append(append(list, "x"), words...)
	}
	return list
}

func without(list []string, word string) []string {
	kept := []string{}
	for _, one := range list {
		if one != word {
			kept = append(kept, one)
		}
	}
	return kept
}

func withoutWord(ours []Word, real []string, at []int, span Span) []string {
	gone := map[int]bool{}
	for j, w := range ours {
		if w.Span == span && w.Fixed == "" {
			gone[at[j]] = true
		}
	}
	kept := []string{}
	for i, one := range real {
		if !gone[i] {
			kept = append(kept, one)
		}
	}
	return kept
}

// FuzzRead reads any text: it must not panic, and what is free to be edited must
// stand where it is said to.
func FuzzRead(f *testing.F) {
	for _, script := range []string{"x --a \\\n --b # c", "A=(a b); x \"${A[@]}\"", "bash -c 'x \"$1\"' a", "x <<EOF\n$A\nEOF", "f() { f; }; f", "${A:-$(x)}", "x `y \\`z\\``"} {
		f.Add(script, true, false)
	}
	f.Fuzz(func(t *testing.T, text string, bash, kubelet bool) {
		script := Script{Text: text, Kubelet: kubelet, Env: map[string]Value{"A": {Text: "--a 'b"}, "Z": {Unknown: true}}, Args: []Value{{Text: "0"}, {Text: "1"}}}
		if bash {
			script.Dialect = Bash
		}
		commands, err := script.Commands()
		if err != nil {
			return
		}
		for _, c := range commands {
			for _, w := range c.Words {
				require.LessOrEqual(t, w.Span.From, w.Span.To)
				require.LessOrEqual(t, w.Span.To, len(script.Source(w.Span.Source)))
			}
		}
	})
}
