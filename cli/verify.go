package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/trimtab/trimtab/fn"
	"github.com/trimtab/trimtab/internal/config"
	"github.com/trimtab/trimtab/internal/report"
)

func verifyCommand(streams Streams, code *int) *cobra.Command {
	return inputCommand(streams, "verify", "Report what is wrong and change nothing", func(in *fn.Input, format string) error {
		out, err := fn.Process(*in)
		if err != nil {
			return err
		}
		if out.Failed {
			*code = fn.ExitFindings
		}
		sayIdle(streams, out)
		if format == "json" {
			return report.WriteJSON(streams.Out, out.Report)
		}
		if !streams.OutIsTerminal {
			if err := report.WriteSkipped(streams.Err, out.Report); err != nil {
				return err
			}
		}
		return report.WriteText(streams.Out, out.Report, report.Style{Terminal: streams.OutIsTerminal, Color: streams.Color})
	})
}

// inputCommand is a verb that reads manifests and changes nothing.
func inputCommand(streams Streams, verb, short string, run func(in *fn.Input, format string) error) *cobra.Command {
	var configs []string
	var format string
	cmd := &cobra.Command{
		Use:   verb + " [-c config] [-o text|json] PATH…|-",
		Short: short,
		Args:  needPath,
		RunE: func(_ *cobra.Command, paths []string) error {
			if err := outputFormat(format); err != nil {
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
	inputFlags(cmd, &configs, &format)
	return cmd
}

// needPath refuses a call without anything to look at.
func needPath(_ *cobra.Command, paths []string) error {
	if len(paths) == 0 {
		return errors.New("name a file or a folder, or `-` for standard input")
	}
	return nil
}

// sayIdle tells of configs that select no server, which a typing error can
// bring about.
func sayIdle(streams Streams, out *fn.Outcome) {
	for _, label := range out.Idle {
		fmt.Fprintf(streams.Err, "trimtab: %s selects no server\n", label)
	}
}

func inputFlags(cmd *cobra.Command, configs *[]string, format *string) {
	cmd.Flags().StringArrayVarP(configs, "config", "c", nil, "functionConfig `file` (Trim or Verify); may be repeated")
	cmd.Flags().StringVarP(format, "output", "o", "text", "text or json")
}
