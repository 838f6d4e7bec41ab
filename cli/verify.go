package cli

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/trimtab/trimtab/fn"
	"github.com/trimtab/trimtab/internal/config"
	"github.com/trimtab/trimtab/internal/report"
	"github.com/trimtab/trimtab/internal/stream"
)

// verifyFormats are the values of -o for verify.
var verifyFormats = []string{"text", "json", "sarif", "github", "markdown"}

type verifyOptions struct {
	configs          []string
	format, baseline string
	overlay          string
}

func verifyCommand(streams Streams, code *int) *cobra.Command {
	var options verifyOptions
	cmd := &cobra.Command{
		Use:   "verify [-c config] [-o " + strings.Join(verifyFormats, "|") + "] [--baseline FILE] PATH…|-|-k DIR",
		Short: "Report what is wrong and change nothing",
		Long: `verify reports what is wrong and changes nothing. It exits with 1 when an error
remains, and with 2 when it could not do its work.`,
		RunE: func(_ *cobra.Command, paths []string) error {
			return verify(streams, paths, options, code)
		},
	}
	inputFlags(cmd, &options.configs, &options.format, verifyFormats)
	cmd.Flags().StringVarP(&options.overlay, "kustomize", "k", "", "build the kustomization in this `folder` and verify what it renders")
	cmd.Flags().StringVar(&options.baseline, "baseline", "", "report only what this `file`, written by -o json, does not hold")
	return cmd
}

func verify(streams Streams, paths []string, options verifyOptions, code *int) error {
	if err := outputFormat(options.format, verifyFormats); err != nil {
		return err
	}
	in, err := options.gather(streams, paths)
	if err != nil {
		return err
	}
	in.Mode, in.WantFixes = config.Verify, options.format == "sarif" && options.overlay == ""
	if options.baseline != "" {
		if in.Known, err = readBaseline(options.baseline); err != nil {
			return err
		}
	}
	out, err := fn.Process(*in)
	if err != nil {
		return err
	}
	if out.Failed {
		*code = fn.ExitFindings
	}
	_ = out.Tell(streams.Err)
	return writeReport(streams, out.Report, options.format, excerpts(in.Sources))
}

// gather reads what is named: paths, or a kustomization.
func (o verifyOptions) gather(streams Streams, paths []string) (*fn.Input, error) {
	switch {
	case o.overlay != "":
		if err := overlayFolder(o.overlay, paths); err != nil {
			return nil, err
		}
		return gatherOverlay(o.overlay, o.configs)
	case len(paths) == 0:
		return nil, errNoPath
	}
	return gather(streams, paths, o.configs)
}

// readBaseline reads the report of an earlier run.
func readBaseline(file string) (*report.Baseline, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, readable(err)
	}
	known, err := report.ReadBaseline(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return known, nil
}

// writeReport prints a report in a format of verify.
func writeReport(streams Streams, r report.Report, format string, lines report.Lines) error {
	switch format {
	case "json":
		return report.WriteJSON(streams.Out, r)
	case "sarif":
		return report.WriteSARIF(streams.Out, r, buildVersion())
	case "github":
		return report.WriteGitHub(streams.Out, r)
	case "markdown":
		return report.WriteMarkdown(streams.Out, r)
	}
	if !streams.OutIsTerminal {
		if err := report.WriteSkipped(streams.Err, r); err != nil {
			return err
		}
	}
	return report.WriteText(streams.Out, r, report.Style{Terminal: streams.OutIsTerminal, Color: streams.Color, Lines: lines})
}

// excerpts gives the lines of the sources, and of the files that what was
// rendered comes from.
func excerpts(sources []*stream.Source) report.Lines {
	texts := map[string][]byte{}
	for _, source := range sources {
		texts[source.Name] = source.Data
	}
	split := map[string][]string{}
	return func(file string, line int) string {
		if split[file] == nil {
			text, ok := texts[file]
			if !ok {
				text, _ = os.ReadFile(file) // a line that cannot be read is not shown
			}
			split[file] = strings.Split(string(text), "\n")
		}
		if line < 1 || line > len(split[file]) {
			return ""
		}
		return split[file][line-1]
	}
}

// inputCommand is a verb that reads manifests and changes nothing.
func inputCommand(streams Streams, verb, short string, formats []string, run func(in *fn.Input, format string) error) *cobra.Command {
	var configs []string
	var format string
	cmd := &cobra.Command{
		Use:   verb + " [-c config] [-o " + strings.Join(formats, "|") + "] PATH…|-",
		Short: short,
		Args:  needPath,
		RunE: func(_ *cobra.Command, paths []string) error {
			if err := outputFormat(format, formats); err != nil {
				return err
			}
			in, err := gather(streams, paths, configs)
			if err != nil {
				return err
			}
			in.Mode = config.Verify
			return run(in, format)
		},
	}
	inputFlags(cmd, &configs, &format, formats)
	return cmd
}

// needPath refuses a call without anything to look at.
func needPath(_ *cobra.Command, paths []string) error {
	if len(paths) == 0 {
		return errNoPath
	}
	return nil
}

var errNoPath = errors.New("name a file or a folder, or `-` for standard input")

func inputFlags(cmd *cobra.Command, configs *[]string, format *string, formats []string) {
	cmd.Flags().StringArrayVarP(configs, "config", "c", nil, "functionConfig `file` (Trim or Verify); may be repeated")
	cmd.Flags().StringVarP(format, "output", "o", formats[0], strings.Join(formats, ", "))
	_ = cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(formats, cobra.ShellCompDirectiveNoFileComp))
}
