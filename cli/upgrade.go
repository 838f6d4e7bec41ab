package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/trimtab/trimtab/fn"
	"github.com/trimtab/trimtab/internal/catalogue"
	"github.com/trimtab/trimtab/internal/config"
	"github.com/trimtab/trimtab/internal/report"
)

// upgradeFormats are the values of -o for upgrade.
var upgradeFormats = []string{"text", "json", "markdown"}

type upgradeOptions struct {
	configs []string
	format  string
	to      []string
	write   bool
	image   bool
}

func upgradeCommand(streams Streams, code *int) *cobra.Command {
	var options upgradeOptions
	cmd := &cobra.Command{
		Use:   "upgrade --to ENGINE=VERSION [-w [--image]] [-c config] [-o " + strings.Join(upgradeFormats, "|") + "] PATH…|-",
		Short: "Say what another engine version breaks or changes silently",
		Long: `upgrade compares the version that each server runs with the one that --to
names, older ones too: what is refused, what is written another way, what the
engine decides differently although the manifest stays as it is, what becomes
dead or gains an effect, and which queries of dashboards and rules find nothing.
A server that uses nothing that changes is not named.

With -w it writes the fixes that mean the same. They are meant for the version
of --to; the image tag stays as it is unless --image is given. It exits with 1
when something that breaks remains.`,
		Args: needPath,
		RunE: func(_ *cobra.Command, paths []string) error {
			return upgrade(streams, paths, options, code)
		},
	}
	inputFlags(cmd, &options.configs, &options.format, upgradeFormats)
	cmd.Flags().StringArrayVar(&options.to, "to", nil, "the `ENGINE=VERSION` that servers are to run: vllm=0.27.1; may be repeated, once for each engine")
	cmd.Flags().BoolVarP(&options.write, "write", "w", false, "write the fixes that mean the same")
	cmd.Flags().BoolVar(&options.image, "image", false, "with -w, write the new version into the tags of the engines' own images as well")
	return cmd
}

func upgrade(streams Streams, paths []string, options upgradeOptions, code *int) error {
	if err := outputFormat(options.format, upgradeFormats); err != nil {
		return err
	}
	switch {
	case options.image && !options.write:
		return errors.New("`--image` writes image tags: it goes with `-w`")
	case options.write && len(paths) == 1 && paths[0] == stdinName:
		return errors.New("`-w` goes with files, and not with `-`")
	}
	to, err := releasesOf(options.to)
	if err != nil {
		return err
	}
	in, err := gather(streams, paths, options.configs)
	if err != nil {
		return err
	}
	in.Mode, in.To, in.Retag = config.Verify, to, options.image
	if options.write {
		in.Mode = config.Trim
	}
	out, err := fn.Upgrade(*in)
	if err != nil {
		return err
	}
	if out.Failed {
		*code = fn.ExitFindings
	}
	texts, order := map[string][]byte{}, []string(nil)
	for _, source := range in.Sources {
		if changed, ok := out.Changed[source]; ok {
			texts[source.Name], order = changed, append(order, source.Name)
		}
	}
	if err := writeFiles(texts, order); err != nil {
		return err
	}
	_ = out.Tell(streams.Err)
	return writeUpgrade(streams, out.Report, options.format)
}

func writeUpgrade(streams Streams, u report.Upgrade, format string) error {
	switch format {
	case "json":
		return report.WriteUpgradeJSON(streams.Out, u)
	case "markdown":
		return report.WriteUpgradeMarkdown(streams.Out, u)
	}
	return report.WriteUpgradeText(streams.Out, u)
}

// releasesOf reads the values of --to.
func releasesOf(texts []string) (map[string]catalogue.Release, error) {
	if len(texts) == 0 {
		return nil, errors.New("name the version to compare with: `--to vllm=0.27.1` or `--to sglang=0.5.23`")
	}
	to := map[string]catalogue.Release{}
	for _, text := range texts {
		name, version, found := strings.Cut(text, "=")
		if !found || version == "" {
			return nil, fmt.Errorf("`--to %s` names no engine and version: write it as `--to vllm=0.27.1`", text)
		}
		engine, err := catalogue.Load(strings.ToLower(name))
		if err != nil {
			return nil, fmt.Errorf("`--to %s`: %w", text, err)
		}
		if _, twice := to[engine.Name]; twice {
			return nil, fmt.Errorf("`--to` names %s twice: one run compares with one version of an engine", engine.Name)
		}
		release, ok := engine.Find(version)
		if !ok {
			return nil, fmt.Errorf("`--to %s`: the catalogue knows %s %s to %s, and no %s among them: see `trimtab version`", text, engine.Name, engine.Releases[0], engine.Newest(), version)
		}
		to[engine.Name] = release
	}
	return to, nil
}
