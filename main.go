// trimtab keeps the manifests of LLM servers true: as a KRM function without
// arguments, as a command line with a verb.
package main

import (
	"os"

	"golang.org/x/term"

	"github.com/trimtab/trimtab/cli"
)

func main() {
	_, noColor := os.LookupEnv("NO_COLOR")
	outIsTerminal := term.IsTerminal(int(os.Stdout.Fd()))
	os.Exit(cli.Run(os.Args[1:], cli.Streams{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr,
		InIsTerminal:  term.IsTerminal(int(os.Stdin.Fd())),
		OutIsTerminal: outIsTerminal,
		ErrIsTerminal: term.IsTerminal(int(os.Stderr.Fd())),
		Color:         outIsTerminal && !noColor,
	}))
}
