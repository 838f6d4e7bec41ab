package cli

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/trimtab/trimtab/fn"
	"github.com/trimtab/trimtab/internal/finding"
	"github.com/trimtab/trimtab/internal/report"
)

func showCommand(streams Streams) *cobra.Command {
	return inputCommand(streams, "show", "Show what each setting of a server becomes, and why", plainFormats, func(in *fn.Input, format string) error {
		shown, err := fn.Show(*in)
		if err != nil {
			return err
		}
		if format == "json" {
			return report.Encode(streams.Out, shown)
		}
		for _, server := range shown.Servers {
			writeSettings(streams.Out, server)
		}
		for _, left := range shown.Left {
			fmt.Fprintf(streams.Out, "%s: not a server: %s\n", named(left.Object, left.Container), left.Why)
		}
		return nil
	})
}

// named is how an object and its container are called in the output.
func named(object finding.Object, container string) string {
	name := object.Kind + " " + object.Name
	if container != "" {
		name += ", container " + container
	}
	return name
}

// writeSettings prints one server: where it stands and on what, then a setting a
// line, with its origin and, where another value counts, that value and the
// reason.
func writeSettings(w io.Writer, server fn.ServerSettings) {
	fmt.Fprintf(w, "%s: %s %s", named(server.Object, server.Container), server.Engine, server.Version)
	if server.GPU != "" {
		fmt.Fprintf(w, " on %s", server.GPU)
	}
	fmt.Fprintf(w, "\n  found at %s:%d, %s; version by %s\n", server.File, server.Line, server.Origin, server.VersionSource)
	for _, fact := range server.Facts {
		if strings.HasPrefix(fact.Fact, "gpu.") {
			fmt.Fprintf(w, "  %s is %s (%s)\n", fact.Fact, fact.Value, fact.Source)
		}
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, s := range server.Settings {
		fmt.Fprintf(table, "  %s\t%s\t%s\t%s\n", s.Setting, becomes(s), s.Origin, s.Because)
	}
	_ = table.Flush()
}

func becomes(s fn.EffectiveSetting) string {
	switch {
	case s.Value == "":
		return s.Effective
	case s.Effective == "" || s.Effective == s.Value:
		return s.Value
	}
	return s.Value + " → " + s.Effective
}
