package cli_test

import (
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

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
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		UpdateScripts:       os.Getenv("UPDATE_SCRIPTS") != "",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
	})
}
