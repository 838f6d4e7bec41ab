// Package cli is the command line: flags and paths go in, calls to package fn
// are made, and findings, documents and diffs come out. The exit code is that
// of the contract.
package cli

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/trimtab/trimtab/fn"
	"github.com/trimtab/trimtab/internal/promql"
)

// Streams are what a run reads and writes. The terminal fields tell whether a
// person looks at the stream, and Color whether colours are wanted there.
type Streams struct {
	In            io.Reader
	Out, Err      io.Writer
	OutIsTerminal bool
	Color         bool
	InIsTerminal  bool
	ErrIsTerminal bool

	progress *progress
}

// Run carries out one command line (without the program's name) and returns the
// exit code. No argument at all means KRM function.
func Run(args []string, streams Streams) (code int) {
	defer func() {
		if fault := recover(); fault != nil {
			code = unable(streams, fmt.Errorf("internal fault, please report the input: %v", fault))
		}
	}()
	if len(args) == 0 && !streams.InIsTerminal {
		return fn.Serve(streams.In, streams.Out, streams.Err, promql.Parse)
	}
	code = fn.ExitClean
	watcher := io.Writer(nil)
	if streams.ErrIsTerminal {
		watcher = streams.Err
	}
	streams.progress = startProgress(watcher)
	defer streams.progress.stop()
	streams.Out, streams.Err = cleared{streams.progress, streams.Out}, cleared{streams.progress, streams.Err}
	root := command(streams, &code)
	if len(args) == 0 {
		root.SetOut(streams.Err)
		_ = root.Usage()
		return fn.ExitUnable
	}
	root.SetArgs(args)
	if err := root.Execute(); err != nil {
		return unable(streams, err)
	}
	return code
}

func unable(streams Streams, err error) int {
	fmt.Fprintln(streams.Err, "trimtab:", strings.Join(strings.Fields(err.Error()), " "))
	return fn.ExitUnable
}

func command(streams Streams, code *int) *cobra.Command {
	root := &cobra.Command{
		Use:   "trimtab",
		Short: "Keep the manifests of LLM servers true",
		Long: `trimtab reads the manifests of vLLM and SGLang servers, knows what every engine
version really does with every setting, and removes what does nothing.

Without arguments it is a KRM function: a ResourceList comes in on standard
input, configured by functionConfig alone (kustomize, kpt).`,
		SilenceUsage: true, SilenceErrors: true,
		RunE: func(_ *cobra.Command, args []string) error {
			return errors.New("say what to do: `trimtab verify PATH…` or `trimtab trim PATH…`")
		},
	}
	root.SetIn(streams.In)
	root.SetOut(streams.Out)
	root.SetErr(streams.Err)
	root.SuggestionsMinimumDistance = 3
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return fmt.Errorf("%w: see `%s --help`", err, cmd.CommandPath())
	})
	root.AddCommand(verifyCommand(streams, code), trimCommand(streams, code), upgradeCommand(streams, code), planCommand(streams), showCommand(streams), reportCommand(streams), explainCommand(streams), versionCommand(streams))
	root.SetHelpCommand(helpCommand(root))
	root.InitDefaultCompletionCmd()
	if completion, _, err := root.Find([]string{"completion"}); err == nil {
		completion.Args = nil
		completion.RunE = func(*cobra.Command, []string) error {
			return errors.New("name your shell: `trimtab completion bash`, `zsh`, `fish` or `powershell`")
		}
	}
	return root
}

// helpCommand is cobra's, but an unknown verb is an error.
func helpCommand(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:   "help [VERB]",
		Short: "Tell how trimtab, or a verb of it, is called",
		RunE: func(_ *cobra.Command, words []string) error {
			verb, rest, err := root.Find(words)
			if err == nil && len(rest) > 0 {
				err = fmt.Errorf("unknown command %q", rest[0])
			}
			if err != nil {
				return fmt.Errorf("%w: see `trimtab help`", err)
			}
			return verb.Help()
		},
	}
}

// plainFormats are the values of -o of most verbs.
var plainFormats = []string{"text", "json"}

// outputFormat checks the value of -o.
func outputFormat(format string, formats []string) error {
	if !slices.Contains(formats, format) {
		return fmt.Errorf("`-o %s` is no output format here: use one of %s", format, strings.Join(formats, ", "))
	}
	return nil
}
