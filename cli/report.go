package cli

import (
	"github.com/spf13/cobra"

	"github.com/trimtab/trimtab/fn"
	"github.com/trimtab/trimtab/internal/report"
)

func reportCommand(streams Streams) *cobra.Command {
	formats := []string{"text", "json", "markdown"}
	return inputCommand(streams, "report", "Show the fleet: what each server is, what it can carry, and what is dead in it", formats, func(in *fn.Input, format string) error {
		fleet, err := fn.Fleet(*in)
		if err != nil {
			return err
		}
		switch format {
		case "json":
			return report.Encode(streams.Out, map[string]any{"servers": fleet})
		case "markdown":
			return report.WriteFleetMarkdown(streams.Out, fleet)
		}
		return report.WriteFleet(streams.Out, fleet)
	})
}
