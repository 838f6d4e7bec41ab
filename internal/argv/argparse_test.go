package argv

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trimtab/trimtab/internal/catalogue"
)

// made is an option of a generated table, as testdata/oracle.py reads it.
type made struct {
	Names    []string `json:"names"`
	Dest     string   `json:"dest"`
	Action   string   `json:"action"`
	Type     string   `json:"type"`
	NArgs    string   `json:"nargs,omitempty"`
	Choices  []string `json:"choices,omitempty"`
	Required bool     `json:"required,omitempty"`
}

// madeTable is a parser and the lines it is given.
type madeTable struct {
	Options    []made     `json:"options"`
	Positional string     `json:"positional,omitempty"` // "", "?" or "1"
	Lines      [][]string `json:"lines"`

	bySpelled map[string]*catalogue.Option
}

func (m *madeTable) Lookup(spelled string) *catalogue.Option { return m.bySpelled[spelled] }

func (m *madeTable) Spellings(prefix string) []string {
	var found []string
	for spelled := range m.bySpelled {
		if strings.HasPrefix(spelled, prefix) {
			found = append(found, spelled)
		}
	}
	slices.Sort(found)
	return found
}

// Few stems, so that names are prefixes of each other.
var stems = []string{"tp", "tp-size", "model", "model-path", "max", "max-len", "max-len-x", "pp", "pp-size", "port", "enable-a", "enable-ab", "a", "no-op", "größe", "x_y"}

func makeTable(rnd *rand.Rand, lines int) *madeTable {
	m := &madeTable{Positional: pick(rnd, "", "?", "1"), bySpelled: map[string]*catalogue.Option{}}
	free := func(name string) bool { return m.bySpelled[name] == nil }
	for range 2 + rnd.IntN(9) {
		stem := stems[rnd.IntN(len(stems))]
		o := made{
			Names: []string{"--" + stem}, Dest: fmt.Sprintf("d%d", len(m.Options)), Type: pick(rnd, "int", "float", "str", "str"),
			Action: pick(rnd, "store", "store", "store", "store", "append", "store_true", "store_false", "boolean_optional"),
		}
		if stem == "no-op" && o.Action == "boolean_optional" {
			continue // argparse takes it for its own opposite; no engine names one so
		}
		values := o.Action == "store" || o.Action == "append"
		if values {
			o.NArgs = pick(rnd, "", "", "", "", "?", "*", "+", "2", "3")
			if o.NArgs == "" && rnd.IntN(4) == 0 {
				o.Choices = map[string][]string{"int": {"1", "16"}, "str": {"auto", "fp8", ""}}[o.Type]
			}
			o.Required = rnd.IntN(12) == 0
			if rnd.IntN(3) == 0 {
				o.Names = append(o.Names, pick(rnd, "-t", "-q", "-O", "-tp", "-cc", "-é"))
			}
		} else {
			o.Type = "bool"
		}
		if rnd.IntN(4) == 0 {
			o.Names = append(o.Names, "--"+stem+"-alias")
		}
		spellings := slices.Clone(o.Names)
		if o.Action == "boolean_optional" {
			for _, name := range o.Names {
				spellings = append(spellings, "--no-"+strings.TrimPrefix(name, "--"))
			}
		}
		if slices.ContainsFunc(spellings, func(name string) bool { return !free(name) }) {
			continue
		}
		option := &catalogue.Option{Flag: o.Names[0], Key: o.Dest, Names: spellings, Action: o.Action, Type: o.Type, NArgs: o.NArgs, Choices: o.Choices, Required: o.Required}
		for _, name := range spellings {
			m.bySpelled[name] = option
		}
		m.Options = append(m.Options, o)
	}
	spelled := m.Spellings("")
	for range lines {
		m.Lines = append(m.Lines, makeLine(rnd, spelled))
	}
	return m
}

var madeValues = []string{
	"1", "16", "-1", "-.5", "-1.5", "1.0", "1e3", "-1e3", "0x10", "+8", " 8", "8\n", "08", "1_000", "_1", "８", "-٣", "nan", "-inf", ".5", "", "-", "--", "=", "auto", "fp8", "Auto",
	"a b", "-a b", "--x y", "größe", "\u00a0", "\u00a08", "\x1f8", "a=b", "-=", "--=", "x", "-q", "-q=", "-qx", "-tp2", "-é1", "-O3", "--nope", "--nope=1", "-nope", "-1x", "--tp=", "1.", "1_0.5", "١٫٥", "²", "-²", "৪",
}

func makeLine(rnd *rand.Rand, spelled []string) []string {
	line := []string{}
	for range rnd.IntN(8) {
		switch name := spelled[rnd.IntN(len(spelled))]; rnd.IntN(8) {
		case 0, 1:
			line = append(line, name)
		case 2: // a prefix
			runes := []rune(name)
			cut := string(runes[:min(len(runes), 2+rnd.IntN(len(runes)))])
			line = append(line, cut+pick(rnd, "", "", "=", "=1"))
		case 3:
			line = append(line, name+"="+madeValues[rnd.IntN(len(madeValues))])
		case 4:
			line = append(line, name, madeValues[rnd.IntN(len(madeValues))])
		case 5:
			line = append(line, name+madeValues[rnd.IntN(len(madeValues))])
		default:
			line = append(line, madeValues[rnd.IntN(len(madeValues))])
		}
	}
	return line
}

func pick(rnd *rand.Rand, from ...string) string { return from[rnd.IntN(len(from))] }

// said is what argparse says to a line.
type said struct {
	Error  string         `json:"error"`
	Values map[string]any `json:"values"`
	Extras []string       `json:"extras"`
}

// TestReadsAsArgparseDoes compares with Python's argparse on generated tables
// and lines. TRIMTAB_ARGPARSE_SEED and TRIMTAB_ARGPARSE_LINES choose others.
func TestReadsAsArgparseDoes(t *testing.T) {
	const linesOfTable = 100
	seed, lines := number(t, "TRIMTAB_ARGPARSE_SEED", 1), number(t, "TRIMTAB_ARGPARSE_LINES", 20_000)
	ask := startArgparse(t)
	rnd := rand.New(rand.NewPCG(uint64(seed), 0))
	refused := 0
	for range lines / linesOfTable {
		table := makeTable(rnd, linesOfTable)
		for i, answer := range ask(table) {
			line := table.parse(table.Lines[i])
			problem, difference := table.compare(line, answer)
			require.Empty(t, difference, "%q\n%+v\npositional %q\nPython: %+v\nhere: %s; %s", table.Lines[i], table.Options, table.Positional, answer, show(line), kinds(line))
			if problem {
				refused++
			}
		}
	}
	require.Greater(t, refused, lines/10)
	require.Less(t, refused, lines*9/10)
}

func number(t *testing.T, variable string, otherwise int) int {
	text := os.Getenv(variable)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	require.NoError(t, err, variable)
	return n
}

// startArgparse starts one Python process that answers for all tables. The
// argparse of other releases than 3.11 differs in lines that are not compared
// here, see TestReadsAsArgparseDoes.
func startArgparse(t *testing.T) func(*madeTable) []said {
	t.Helper()
	python, err := exec.LookPath("python3")
	if err != nil {
		require.Empty(t, os.Getenv("CI"), "python3 is needed to compare with argparse")
		t.Skip("python3 is not on the PATH")
	}
	version, err := exec.Command(python, "-c", "import sys; print('%d.%d' % sys.version_info[:2])").Output()
	require.NoError(t, err)
	if strings.TrimSpace(string(version)) != "3.11" {
		t.Skipf("the engines run Python 3.11; this is %s, whose argparse reports ambiguous prefixes in the order of the line and treats -- differently", version)
	}
	command := exec.Command(python, "testdata/oracle.py")
	command.Env = append(os.Environ(), "PYTHONUTF8=1", "PYTHONDONTWRITEBYTECODE=1")
	command.Stderr = os.Stderr
	in, err := command.StdinPipe()
	require.NoError(t, err)
	out, err := command.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, command.Start())
	t.Cleanup(func() {
		in.Close()
		require.NoError(t, command.Wait())
	})
	write, read := json.NewEncoder(in), json.NewDecoder(bufio.NewReader(out))
	return func(table *madeTable) []said {
		require.NoError(t, write.Encode(table))
		var answers []said
		require.NoError(t, read.Decode(&answers))
		require.Len(t, answers, len(table.Lines))
		return answers
	}
}

func (m *madeTable) parse(line []string) Line {
	g := &grammar{options: m, engine: &catalogue.Engine{Name: "made"}, dialect: dialect{modelPositional: m.Positional != "", modelDemanded: m.Positional == "1"}}
	for _, o := range m.Options {
		if o.Required {
			g.required = append(g.required, o.Names[0])
		}
	}
	return g.parse(wordsOf(line), nil)
}

// compare says how a line is read differently, and whether it is refused.
func (m *madeTable) compare(line Line, python said) (refused bool, difference string) {
	var extras []string
	var first *Problem
	for i, problem := range line.Problems {
		if problem.Kind == Unknown || problem.Kind == Stray {
			for _, word := range problem.Words {
				extras = append(extras, word.Text)
			}
		} else if first == nil {
			first = &line.Problems[i]
		}
	}
	if first != nil || python.Error != "" {
		return true, differ(first, python.Error)
	}
	if !slices.Equal(extras, python.Extras) {
		return false, fmt.Sprintf("extras %q, Python %q", extras, python.Extras)
	}
	for _, o := range m.Options {
		if got, want := m.value(o, line), python.Values[o.Dest]; o.Type != "float" && fmt.Sprintf("%#v", got) != fmt.Sprintf("%#v", want) {
			return false, fmt.Sprintf("%s is %#v, Python %#v", o.Dest, got, want)
		}
	}
	if got, want := m.model(line), python.Values["model"]; m.Positional != "" && got != want {
		return false, fmt.Sprintf("the model is %#v, Python %#v", got, want)
	}
	return false, ""
}

// differ compares the first problem with Python's message.
func differ(problem *Problem, message string) string {
	if problem == nil || message == "" {
		return "only one refuses it"
	}
	kind, flag := MissingOption, ""
	if rest, ok := strings.CutPrefix(message, "ambiguous option: "); ok {
		kind = Ambiguous
		flag, _, _ = strings.Cut(rest, " could match ")
		flag, _, _ = strings.Cut(flag, "=")
	} else if rest, ok := strings.CutPrefix(message, "argument "); ok {
		flag, rest, _ = strings.Cut(rest, ": ")
		flag, _, _ = strings.Cut(flag, "/")
		switch {
		case strings.HasPrefix(rest, "expected "):
			kind = MissingValue
		case strings.HasPrefix(rest, "invalid choice"):
			kind = BadChoice
		case strings.HasPrefix(rest, "invalid "):
			kind = BadValue
		case strings.HasPrefix(rest, "ignored explicit argument"):
			kind = UnexpectedValue
		}
	} else if rest, ok := strings.CutPrefix(message, "the following arguments are required: "); ok {
		flag, _, _ = strings.Cut(rest, ", ")
		flag, _, _ = strings.Cut(flag, "/")
		if flag == "model" {
			flag = "model_tag"
		}
	}
	if problem.Kind != kind || problem.Flag != flag {
		return fmt.Sprintf("%s %s here, %s %s in Python", problem.Kind, problem.Flag, kind, flag)
	}
	return ""
}

// value returns what an option's settings make, in Python's form.
func (m *madeTable) value(o made, line Line) any {
	var value any
	switch o.Action {
	case "store_true":
		value = false
	case "store_false":
		value = true
	}
	for _, s := range line.Settings {
		if s.Key != o.Dest {
			continue
		}
		switch o.Action {
		case "store_true":
			value = true
		case "store_false":
			value = false
		case "boolean_optional":
			value = !s.Off
		case "append":
			list, _ := value.([]any)
			value = append(list, o.stored(s.Values))
		default:
			value = o.stored(s.Values)
		}
	}
	return value
}

func (o made) stored(texts []string) any {
	values := []any{}
	for _, text := range texts {
		switch plain, ok := parseInt(text); {
		case text == "--": // only =-- brings them here, and argparse drops them
		case o.Type == "int" && ok:
			values = append(values, plain)
		default:
			values = append(values, text)
		}
	}
	switch {
	case o.NArgs == "?" && len(values) == 0:
		return nil
	case (o.NArgs == "" || o.NArgs == "?") && len(values) == 1:
		return values[0]
	}
	return values
}

func (m *madeTable) model(line Line) any {
	for _, s := range line.Settings {
		if s.Key == "model" {
			return s.Values[0]
		}
	}
	return nil
}
