package edit

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// generator writes random objects in the styles people write YAML in.
type generator struct {
	*rand.Rand
	b    strings.Builder
	keys int
}

// generate returns a random document whose root is a mapping.
func generate(seed uint64) string {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 1))}
	if g.IntN(4) == 0 {
		g.b.WriteString("---" + g.inlineComment() + "\n")
	}
	g.comment(0)
	g.mapping(0, 0, false)
	text := g.b.String()
	if g.IntN(6) == 0 {
		text = strings.TrimRight(text, "\n")
	}
	if g.IntN(5) == 0 {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	return text
}

func (g *generator) pad(indent int) { g.b.WriteString(strings.Repeat(" ", indent)) }

// comment writes comment and blank lines, or none.
func (g *generator) comment(indent int) {
	for g.IntN(5) == 0 {
		if g.IntN(3) == 0 {
			g.b.WriteString("\n")
			continue
		}
		if g.IntN(4) == 0 {
			indent = g.IntN(6)
		}
		g.pad(indent)
		fmt.Fprintf(&g.b, "# note %d\n", g.IntN(1000))
	}
}

func (g *generator) inlineComment() string {
	if g.IntN(5) == 0 {
		return fmt.Sprintf("  # c%d", g.IntN(1000))
	}
	return ""
}

func (g *generator) key() string {
	g.keys++
	switch g.IntN(6) {
	case 0:
		return fmt.Sprintf("%q", fmt.Sprintf("k %d", g.keys))
	case 1:
		return fmt.Sprintf("'k: %d'", g.keys)
	}
	return fmt.Sprintf("k%d", g.keys)
}

// mapping writes a block mapping at a column; inline when its first key follows
// a dash on the same line.
func (g *generator) mapping(indent, depth int, inline bool) {
	for i, n := 0, 1+g.IntN(4); i < n; i++ {
		if !inline || i > 0 {
			g.comment(indent)
			g.pad(indent)
		}
		g.b.WriteString(g.key() + ":")
		g.value(indent, depth+1, false)
	}
}

func (g *generator) sequence(indent, depth int, inline bool) {
	for i, n := 0, 1+g.IntN(4); i < n; i++ {
		if !inline || i > 0 {
			g.comment(indent)
			g.pad(indent)
		}
		g.b.WriteString("-")
		g.value(indent, depth+1, true)
	}
}

// value writes what follows a colon or a dash, up to the end of the line.
func (g *generator) value(indent, depth int, dash bool) {
	choice := g.IntN(9)
	if depth > 4 {
		choice = 3 + g.IntN(6)
	}
	switch {
	case choice < 3 && dash:
		blanks := 1 + g.IntN(3)
		g.pad(blanks)
		if g.IntN(3) == 0 {
			g.sequence(indent+1+blanks, depth, true)
			return
		}
		g.mapping(indent+1+blanks, depth, true)
	case choice == 0:
		g.b.WriteString(g.inlineComment() + "\n")
		g.sequence(indent+2*g.IntN(2), depth, false)
	case choice < 3:
		g.b.WriteString(g.inlineComment() + "\n")
		g.mapping(indent+1+g.IntN(4), depth, false)
	case choice == 3:
		g.block(indent)
	case choice == 4 && g.IntN(3) == 0:
		g.b.WriteString(g.inlineComment() + "\n")
	case choice == 5:
		g.b.WriteString(" " + g.flow(depth) + g.inlineComment() + "\n")
	default:
		g.b.WriteString(" " + g.scalar() + g.inlineComment() + "\n")
	}
}

func (g *generator) block(indent int) {
	g.b.WriteString([]string{" |", " >", " |-", " >-", " |+"}[g.IntN(5)] + g.inlineComment() + "\n")
	for i, n := 0, 1+g.IntN(3); i < n; i++ {
		g.pad(indent + 2)
		g.b.WriteString("text # " + g.scalar() + "\n")
		if g.IntN(4) == 0 {
			g.b.WriteString("\n")
		}
	}
}

func (g *generator) scalar() string {
	return []string{"--flag", "x", "48", "0.5", "true", "~", `"q, [d]"`, `'it''s # one'`, "a b", "http://x/y", `"\u00e9é"`, "é"}[g.IntN(12)]
}

// flow writes a flow collection, sometimes over several lines.
func (g *generator) flow(depth int) string {
	mapping := g.IntN(2) == 0
	gap := func() string {
		switch g.IntN(6) {
		case 0:
			return "\n      "
		case 1:
			return "  # in flow\n      "
		case 2:
			return ""
		}
		return " "
	}
	n := g.IntN(4)
	var parts []string
	for range n {
		part := g.scalar()
		if depth < 6 && g.IntN(4) == 0 {
			part = g.flow(depth + 1)
		}
		if mapping {
			part = g.key() + ": " + part
		}
		parts = append(parts, part)
	}
	text := strings.Builder{}
	for i, part := range parts {
		text.WriteString(gap() + part)
		if i+1 < n || g.IntN(4) == 0 {
			text.WriteString(strings.Repeat(" ", g.IntN(2)) + ",")
		}
	}
	if n > 0 {
		text.WriteString(gap())
	}
	if mapping {
		return "{" + text.String() + "}"
	}
	return "[" + text.String() + "]"
}
