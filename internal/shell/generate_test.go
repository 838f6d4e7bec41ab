package shell

import (
	"fmt"
	"strings"
)

// generator writes a shell script from a string of choices. It uses only the
// program x, so that a real shell can run what it writes.
type generator struct {
	choices []byte
	depth   int
	names   int
}

func (g *generator) pick(n int) int {
	if len(g.choices) == 0 {
		return 0
	}
	c := int(g.choices[0])
	g.choices = g.choices[1:]
	return c % n
}

func (g *generator) of(list ...string) string { return list[g.pick(len(list))] }

func (g *generator) script() string {
	var b strings.Builder
	for len(g.choices) > 0 {
		b.WriteString(g.statement())
		b.WriteString(g.of("\n", "\n", "; ", " # a comment\n", "\n# --a line\n"))
	}
	return b.String() + "\n"
}

func (g *generator) statement() string {
	g.depth++
	defer func() { g.depth-- }()
	if g.depth > 3 {
		return g.command()
	}
	switch g.pick(22) {
	case 0:
		return g.of("A", "B", "C") + g.of("=", "=", "+=") + g.value()
	case 1:
		return "L" + g.of("=", "+=") + "(" + g.separated(g.of(" ", "\n  ", " # one\n  ", " \\\n"), g.pick(4)) + g.of("", " ", "\n") + ")"
	case 2:
		return "export " + g.of("A", "B") + "=" + g.value()
	case 3:
		return "set -- " + g.separated(" ", g.pick(4))
	case 4:
		return "f() { " + g.statement() + "; }; f " + g.separated(" ", g.pick(3))
	case 5:
		return "if " + g.of("true", "false", "x --if") + "; then " + g.statement() + "; else " + g.statement() + "; fi"
	case 6:
		return "for I in 1 2; do " + g.statement() + "; done"
	case 7:
		return "eval " + g.quote(g.statement())
	case 8:
		return g.of("bash", "sh", "exec bash", "env D=1 bash") + g.of(" -c ", " -ec ", " -c -- ") + g.quote(g.statement()) + g.of("", " zero", " zero --one two")
	case 9:
		end := fmt.Sprintf("EOF%d", g.depth)
		return "bash <<" + g.of(end, "'"+end+"'") + "\n" + g.statement() + "\n" + end + "\n"
	case 10:
		return "( " + g.statement() + " )"
	case 11:
		return g.command() + g.of(" && ", " || ", " | cat; ") + g.statement()
	case 12:
		if g.pick(4) == 0 {
			return "env A=4 " + g.command()
		}
		return g.of("A=1 ", "C='2 3' ", "A=$B D=3 ") + g.statement()
	case 13:
		return "case $A in " + g.of("1", "*") + ") " + g.statement() + ";; esac"
	case 14:
		return g.of("shift", "unset A", "read A </dev/null", "A=$(echo 5 6)", "set -f", "local=1", ":", "true && B='7 8'", "IFS=,")
	}
	return g.command()
}

func (g *generator) command() string {
	gap := g.of(" ", " ", "  ", " \\\n  ", "\t")
	return "x" + gap + g.separated(gap, 1+g.pick(5)) + g.of("", "", "", " >/dev/stdout", " 2>&1")
}

func (g *generator) separated(gap string, n int) string {
	words := make([]string, n)
	for i := range words {
		words[i] = g.word()
	}
	return strings.Join(words, gap)
}

func (g *generator) word() string {
	g.names++
	plain := fmt.Sprintf("--%c%d", 'a'+g.names%26, g.names)
	switch g.pick(30) {
	case 0:
		return "'" + plain + " q'"
	case 1:
		return `"` + plain + ` $A"`
	case 2:
		return plain + `=\"v\ w`
	case 3:
		return g.of("$A", "$B", "${C}", "$Z", "$E")
	case 4:
		return g.of(`"$A"`, `"${B}"`, `"$Z"`, `"$E"`)
	case 5:
		return g.of(`"${L[@]}"`, "${L[@]}", `"${L[*]}"`, "$L", `"${#L[@]}"`)
	case 6:
		return g.of(`"$@"`, "$@", "$1", `"$2"`, "$#", "$0", `"$*"`)
	case 7:
		return g.of("${A:-d e}", `"${Z:-48}"`, "${A:+y z}", "${Z-1}", "${A#-}", "${E:=9}", `"${A-}"`)
	case 8:
		return g.of("$(echo q r)", "`# why`", `"$(echo s)"`, "$((1+2))")
	case 9:
		return `'{"a": [1, 2]}'`
	case 10:
		return plain + "$A" + g.of("", "$B", "'q'")
	case 11:
		return g.of("''", `""`, `"a"'b'c`, "a\\\nb", "\"a \\\n b\"", `"\$A \"\\"`, `'a\b'`, "$'t'")
	case 12:
		return g.of("{a,b}", "~", "a=~", "[", "é", "3", "=", "%", "a#b", "!")
	case 13:
		return plain + " " + g.of("1", "'2 3'", "$A", `"$B"`)
	}
	return plain
}

func (g *generator) value() string {
	switch g.pick(8) {
	case 0:
		return "'" + g.bare(" ") + "'"
	case 1:
		return `"` + g.bare(" \\\n  ") + `"`
	case 2:
		return `"$A ` + g.bare("  ") + `"`
	case 3:
		return "'\n  " + g.bare("\n  ") + "\n'"
	case 4:
		return `"` + g.bare(" ") + ` $B"`
	case 5:
		return g.of("$A", "", "$Z", "\\ a", "${A:-x y}", `"$1"`, `"${L[@]}"`, `"$@"`, "`# why`")
	}
	g.names++
	return fmt.Sprintf("--v%d", g.names)
}

// bare is a list of words without quotes.
func (g *generator) bare(gap string) string {
	var words []string
	for range g.pick(4) {
		g.names++
		words = append(words, fmt.Sprintf("--w%d", g.names))
	}
	return strings.Join(words, gap)
}

// quote writes a script as one word.
func (g *generator) quote(script string) string {
	if g.pick(2) == 0 {
		return "'" + strings.ReplaceAll(script, "'", `'\''`) + "'"
	}
	return `"` + escape(script, escapable[double]) + `"`
}
