package cli

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/aymanbagabas/go-udiff"
	"github.com/spf13/cobra"

	"github.com/trimtab/trimtab/fn"
	"github.com/trimtab/trimtab/internal/config"
	"github.com/trimtab/trimtab/internal/report"
)

type trimOptions struct {
	configs []string
	format  string
	write   bool
	check   bool
}

func trimCommand(streams Streams, code *int) *cobra.Command {
	var options trimOptions
	cmd := &cobra.Command{
		Use:   "trim [-c config] [-w|--check] [-o text|json] PATH…|-",
		Short: "Remove what does nothing; print a diff, or write with -w",
		Long: `trim prints a unified diff of what it would change; with -w it writes the files.
For - it reads documents from standard input and writes them to standard output.
Findings go to standard error.`,
		Args: needPath,
		RunE: func(_ *cobra.Command, paths []string) error {
			return trim(streams, paths, options, code)
		},
	}
	inputFlags(cmd, &options.configs, &options.format, plainFormats)
	cmd.Flags().BoolVarP(&options.write, "write", "w", false, "write the files instead of printing a diff")
	cmd.Flags().BoolVar(&options.check, "check", false, "exit 1 if anything would change")
	return cmd
}

func trim(streams Streams, paths []string, options trimOptions, code *int) error {
	if err := outputFormat(options.format, plainFormats); err != nil {
		return err
	}
	filter := len(paths) == 1 && paths[0] == stdinName
	switch {
	case options.write && options.check:
		return errors.New("`-w` goes with files, and not with `--check`")
	case options.write && filter:
		return errors.New("`-w` goes with files; `trim -` writes to standard output")
	}
	in, err := gather(streams, paths, options.configs)
	if err != nil {
		return err
	}
	in.Mode = config.Trim
	out, err := fn.Process(*in)
	if err != nil {
		return err
	}
	if out.Failed || options.check && len(out.Changed) > 0 {
		*code = fn.ExitFindings
	}
	if err := writeChanges(streams, in, out, options, filter); err != nil {
		return err
	}
	_ = out.Tell(streams.Err)
	if options.format == "json" {
		return report.WriteJSON(streams.Err, out.Report)
	}
	return report.WriteErrorsFirst(streams.Err, out.Report)
}

// writeChanges writes the documents for a filter, the files with -w, and a diff
// otherwise.
func writeChanges(streams Streams, in *fn.Input, out *fn.Outcome, options trimOptions, filter bool) error {
	texts := map[string][]byte{}
	var order []string
	for _, source := range in.Sources {
		changed, ok := out.Changed[source]
		switch {
		case filter && !options.check:
			if !ok {
				changed = source.Data
			}
			if _, err := streams.Out.Write(changed); err != nil {
				return err
			}
		case !ok:
		case options.write:
			texts[source.Name], order = changed, append(order, source.Name)
		default:
			if _, err := fmt.Fprint(streams.Out, diff(source.Name, source.Data, changed)); err != nil {
				return err
			}
		}
	}
	return writeFiles(texts, order)
}

// diff is a unified diff that `patch -p1` and `git apply` take.
func diff(name string, before, after []byte) string {
	slashed := strings.TrimPrefix(filepath.ToSlash(name), "/")
	return udiff.Unified("a/"+slashed, "b/"+slashed, string(before), string(after))
}
