package cli

import (
	"fmt"
	"io"
	"reflect"
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

// writePlan prints the account of one server: the figures of each GPU, alike
// ones once, then how each row comes about, what follows and what is missing.
func writePlan(w io.Writer, plan fn.ServerPlan) {
	fmt.Fprintf(w, "%s %s", plan.Object.Kind, plan.Object.Name)
	if plan.Container != "" {
		fmt.Fprintf(w, ", container %s", plan.Container)
	}
	fmt.Fprintln(w)
	explained := map[string]bool{}
	for first := 0; first < len(plan.GPUs); {
		last := first
		for last+1 < len(plan.GPUs) && reflect.DeepEqual(plan.GPUs[first].Rows, plan.GPUs[last+1].Rows) {
			last++
		}
		if gpu := plan.GPUs[first]; len(gpu.Rows) > 0 {
			fmt.Fprintf(w, "  %s%s\n", ranks(gpu.Rank, plan.GPUs[last].Rank), onCard(gpu.GPU))
			writeFigures(w, gpu.Rows)
			writeFormulas(w, gpu.Rows, explained)
		}
		first = last + 1
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

func ranks(first, last int) string {
	if first == last {
		return fmt.Sprintf("rank %d", first)
	}
	return fmt.Sprintf("ranks %d to %d, each", first, last)
}

func onCard(gpu string) string {
	if gpu == "" {
		return ""
	}
	return " on " + gpu
}

// writeFigures prints the rows as a table.
func writeFigures(w io.Writer, rows []ledger.Row) {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		fmt.Fprintf(table, "    %s\t%s\t%s\t%s\t%s\t%s\n", row.Name, bytesText(row.Bytes), counted(row), row.Source, boundText(row), gibibytes(row.Bytes))
	}
	_ = table.Flush()
}

// writeFormulas says how the rows come about, as far as it was not said.
func writeFormulas(w io.Writer, rows []ledger.Row, explained map[string]bool) {
	for _, row := range rows {
		text := row.Formula
		if len(row.Inputs) > 0 {
			text += "\n        " + strings.Join(row.Inputs, "; ")
		}
		if text == "" || explained[row.Name+text] {
			continue
		}
		explained[row.Name+text] = true
		fmt.Fprintf(w, "      %s: %s\n", row.Name, text)
	}
}

func bytesText(n *int64) string {
	if n == nil {
		return "?"
	}
	return ledger.Grouped(*n) + " B"
}

func gibibytes(n *int64) string {
	if n == nil {
		return ""
	}
	return fmt.Sprintf("%.2f GiB", float64(*n)/(1<<30))
}

// looseBound is the error from which on a figure says only its order.
const looseBound = 1

func boundText(row ledger.Row) string {
	switch {
	case row.Source == ledger.Unknown:
		return ""
	case row.Bound == 0:
		return "exact"
	case row.Bound > looseBound:
		return "order only"
	}
	return fmt.Sprintf("± %.1f %%", 100*row.Bound)
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
