package cli

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/trimtab/trimtab/fn"
	"github.com/trimtab/trimtab/internal/ledger"
	"github.com/trimtab/trimtab/internal/report"
)

func planCommand(streams Streams) *cobra.Command {
	return inputCommand(streams, "plan", "Show the memory and concurrency account of each GPU", plainFormats, func(in *fn.Input, format string) error {
		plans, err := fn.Plan(*in)
		if err != nil {
			return err
		}
		if format == "json" {
			return report.Encode(streams.Out, map[string]any{"servers": plans})
		}
		for _, plan := range plans {
			writePlan(streams.Out, plan)
		}
		return nil
	})
}

// writePlan prints the account of one server: a row a line with its formula, then
// what follows from it and what is missing.
func writePlan(w io.Writer, plan fn.ServerPlan) {
	fmt.Fprintf(w, "%s %s", plan.Object.Kind, plan.Object.Name)
	if plan.Container != "" {
		fmt.Fprintf(w, ", container %s", plan.Container)
	}
	fmt.Fprintln(w)
	for _, gpu := range plan.GPUs {
		if len(gpu.Rows) == 0 {
			continue
		}
		fmt.Fprintf(w, "  rank %d %s\n", gpu.Rank, gpu.GPU)
		table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		for _, row := range gpu.Rows {
			fmt.Fprintf(table, "    %s\t%s B\t%s\t%s\tto %.1f %%\t%s\n", row.Name, figure(row.Bytes), counted(row), row.Source, 100*row.Bound, row.Formula)
			fmt.Fprintf(table, "    \t\t\t\t\t%s\n", strings.Join(row.Inputs, ", "))
		}
		_ = table.Flush()
	}
	if plan.Ceiling.Requests != nil {
		fmt.Fprintf(w, "  at most %d requests at once: %s\n", *plan.Ceiling.Requests, plan.Ceiling.Because)
	}
	for _, rate := range plan.Rates {
		fmt.Fprintf(w, "  %s\n", rate)
	}
	if len(plan.Needs) > 0 {
		fmt.Fprintf(w, "  not known without: %s\n", strings.Join(plan.Needs, ", "))
	}
}

func figure(n *int64) string {
	if n == nil {
		return "?"
	}
	return ledger.Grouped(*n)
}

func counted(row ledger.Row) string {
	switch {
	case row.Tokens != nil:
		return ledger.Grouped(*row.Tokens) + " tokens"
	case row.Slots != nil:
		return strconv.FormatInt(*row.Slots, 10) + " slots"
	}
	return ""
}
