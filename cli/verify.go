package cli

import (
	"github.com/spf13/cobra"

	"github.com/trimtab/trimtab/fn"
	"github.com/trimtab/trimtab/internal/config"
	"github.com/trimtab/trimtab/internal/report"
)

func verifyCommand(streams Streams, code *int) *cobra.Command {
	var configs []string
	var format string
	cmd := &cobra.Command{
		Use:   "verify [-c config] [-o text|json] PATH…|-",
		Short: "Report what is wrong and change nothing",
		Args:  cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, paths []string) error {
			if err := outputFormat(format); err != nil {
				return err
			}
			in, err := gather(streams, paths, configs)
			if err != nil {
				return err
			}
			in.Mode = config.Verify
			out, err := fn.Process(*in)
			if err != nil {
				return err
			}
			if out.Failed {
				*code = fn.ExitFindings
			}
			if format == "json" {
				return report.WriteJSON(streams.Out, out.Report)
			}
			return report.WriteText(streams.Out, out.Report, report.Style{Terminal: streams.OutIsTerminal, Color: streams.Color})
		},
	}
	inputFlags(cmd, &configs, &format)
	return cmd
}

func inputFlags(cmd *cobra.Command, configs *[]string, format *string) {
	cmd.Flags().StringArrayVarP(configs, "config", "c", nil, "functionConfig `file` (Trim or Verify); may be repeated")
	cmd.Flags().StringVarP(format, "output", "o", "text", "text or json")
}
