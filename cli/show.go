package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/trimtab/trimtab/fn"
)

func showCommand(streams Streams) *cobra.Command {
	return inputCommand(streams, "show", "Show what each setting of a server becomes, and why", func(in *fn.Input, format string) error {
		servers, err := fn.Show(*in)
		if err != nil {
			return err
		}
		if format == "json" {
			encoder := json.NewEncoder(streams.Out)
			encoder.SetIndent("", "  ")
			encoder.SetEscapeHTML(false)
			return encoder.Encode(map[string]any{"servers": servers})
		}
		for _, server := range servers {
			writeSettings(streams.Out, server)
		}
		return nil
	})
}

// writeSettings prints one server: a setting a line, with its origin and, where
// another value counts, that value and the reason.
func writeSettings(w io.Writer, server fn.ServerSettings) {
	fmt.Fprintf(w, "%s %s", server.Object.Kind, server.Object.Name)
	if server.Container != "" {
		fmt.Fprintf(w, ", container %s", server.Container)
	}
	fmt.Fprintf(w, ": %s %s", server.Engine, server.Version)
	if server.GPU != "" {
		fmt.Fprintf(w, " on %s", server.GPU)
	}
	fmt.Fprintln(w)
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
