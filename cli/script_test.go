package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/require"

	"github.com/trimtab/trimtab/cli"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"trimtab": func() {
			os.Exit(cli.Run(os.Args[1:], cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}))
		},
		// As at a terminal: nobody pipes anything in, and a person reads.
		"trimtab-terminal": func() {
			os.Exit(cli.Run(os.Args[1:], cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, InIsTerminal: true, OutIsTerminal: true}))
		},
	})
}

// TestScripts runs the scenarios of testdata/script.
// `UPDATE_SCRIPTS=1 go test ./cli` writes what the program prints into them.
func TestScripts(t *testing.T) {
	repository, err := filepath.Abs("..")
	require.NoError(t, err)
	testscript.Run(t, testscript.Params{
		Setup: func(env *testscript.Env) error {
			env.Setenv("REPOSITORY", repository)
			return nil
		},
		Dir:                 "testdata/script",
		UpdateScripts:       os.Getenv("UPDATE_SCRIPTS") != "",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Cmds:                map[string]func(*testscript.TestScript, bool, []string){"sed": replaceAll},
	})
}

// replaceAll is the command `sed FILE OLD NEW`: it replaces a text that must be
// there, everywhere in the file.
func replaceAll(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: sed FILE OLD NEW")
	}
	file := ts.MkAbs(args[0])
	before := ts.ReadFile(file)
	after := strings.ReplaceAll(before, args[1], args[2])
	if after == before {
		ts.Fatalf("%s holds no %q", args[0], args[1])
	}
	ts.Check(os.WriteFile(file, []byte(after), 0o600))
}
