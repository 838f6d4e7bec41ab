package cli

import (
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/trimtab/trimtab/internal/catalogue"
)

func versionCommand(streams Streams) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version and which engine releases the catalogue knows",
		Args: func(_ *cobra.Command, words []string) error {
			if len(words) > 0 {
				return errors.New("`trimtab version` takes no words: it tells of all engines")
			}
			return nil
		},
		RunE: func(*cobra.Command, []string) error {
			fmt.Fprintln(streams.Out, "trimtab", buildVersion())
			for _, name := range catalogue.Names() {
				engine, err := catalogue.Load(name)
				if err != nil {
					return err
				}
				oldest, newest := engine.Releases[0], engine.Newest()
				fmt.Fprintf(streams.Out, "%s %s to %s, %d releases%s\n", name, oldest, newest, len(engine.Releases), dated(newest))
			}
			return nil
		},
	}
}

func dated(release catalogue.Release) string {
	if release.Date.IsZero() {
		return ""
	}
	return ", the newest of " + release.Date.Format("2006-01-02")
}

// buildVersion is the module version the binary was built from.
func buildVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(devel)"
	}
	return info.Main.Version
}
