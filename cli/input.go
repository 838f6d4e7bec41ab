package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/trimtab/trimtab/fn"
	"github.com/trimtab/trimtab/internal/config"
	"github.com/trimtab/trimtab/internal/promql"
	"github.com/trimtab/trimtab/internal/rule"
	"github.com/trimtab/trimtab/internal/server"
	"github.com/trimtab/trimtab/internal/stream"
)

// stdinName is the path that means standard input.
const stdinName = "-"

// gather reads the paths and the configs of a run. Config documents found among
// the files are used as well.
func gather(streams Streams, paths, configFiles []string) (*fn.Input, error) {
	in := &fn.Input{ParseQuery: promql.Parse}
	for _, file := range configFiles {
		found, err := readConfigs(file)
		if err != nil {
			return nil, err
		}
		in.Configs = append(in.Configs, found...)
	}
	if slices.Contains(paths, stdinName) && len(paths) > 1 {
		return nil, errors.New("`-` stands alone: standard input and files are not read together")
	}
	seen := map[string]bool{}
	for _, file := range configFiles {
		seen[filepath.Clean(file)] = true
	}
	for _, path := range paths {
		sources, err := readPath(streams, path, seen)
		if err != nil {
			return nil, err
		}
		in.Sources = append(in.Sources, sources...)
	}
	for _, source := range in.Sources {
		found, err := configsIn(source)
		if err != nil {
			return nil, err
		}
		in.Configs = append(in.Configs, found...)
	}
	in.OnlySelected = len(configFiles) > 0
	reached := reachedBy(in.Sources)
	in.Held = reached.held(in.Sources)
	in.Veto = (&renderings{reached: reached, in: in, built: map[string]*judgedRendering{}}).veto
	return in, nil
}

func readConfigs(file string) ([]*config.Config, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, readable(err)
	}
	source, err := stream.ParseDocuments(file, data)
	if err != nil {
		return nil, err
	}
	var configs []*config.Config
	for _, item := range source.Items {
		root, err := item.Root()
		if err != nil {
			return nil, err
		}
		decoded, err := decodeConfig(root, file)
		if err != nil {
			return nil, err
		}
		configs = append(configs, decoded)
	}
	if len(configs) == 0 {
		return nil, fmt.Errorf("%s holds no config: write a document of kind Trim or Verify (apiVersion %s)", file, config.APIVersion)
	}
	return configs, nil
}

// decodeConfig decodes a config document and reads the config.json it points to.
func decodeConfig(root *yaml.Node, file string) (*config.Config, error) {
	decoded, err := config.Decode(root, file, rule.Names())
	if err != nil {
		return nil, err
	}
	return decoded, decoded.ReadModelConfig(func(path string) ([]byte, error) {
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, readable(err)
		}
		return data, nil
	})
}

var namedConfig = stream.Register(config.Group + "/")

// configsIn decodes the Trim and Verify documents among the manifests.
func configsIn(source *stream.Source) ([]*config.Config, error) {
	var configs []*config.Config
	for _, item := range source.Items {
		if !item.MentionsAny(namedConfig) {
			continue
		}
		object, err := server.ObjectOf(item)
		if err != nil {
			return nil, err
		}
		if !config.IsConfig(object.APIVersion, object.Kind) {
			continue
		}
		root, err := item.Root()
		if err != nil {
			return nil, err
		}
		decoded, err := decodeConfig(root, source.Name)
		if err != nil {
			return nil, err
		}
		configs = append(configs, decoded)
	}
	return configs, nil
}

func readPath(streams Streams, path string, seen map[string]bool) ([]*stream.Source, error) {
	if path == stdinName {
		source, err := readStdin(streams)
		if err != nil {
			return nil, err
		}
		return []*stream.Source{source}, nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, readable(err)
	}
	if info.IsDir() {
		return readFolder(streams, path, seen)
	}
	if seen[filepath.Clean(path)] {
		return nil, nil
	}
	seen[filepath.Clean(path)] = true
	source, err := readFile(path)
	if err != nil {
		return nil, err
	}
	return []*stream.Source{source}, nil
}

func readStdin(streams Streams) (*stream.Source, error) {
	data, err := io.ReadAll(streams.In)
	if err != nil {
		return nil, fmt.Errorf("cannot read standard input: %w", err)
	}
	source, err := stream.ParseDocuments(stdinName, data)
	if err != nil {
		return nil, err
	}
	for _, item := range source.Items {
		if !item.Mentions("ResourceList") {
			continue
		}
		object, err := server.ObjectOf(item)
		if err != nil {
			return nil, err
		}
		if object.Kind == "ResourceList" && strings.HasPrefix(object.APIVersion, "config.kubernetes.io/") {
			return nil, errors.New("standard input is a ResourceList: call `trimtab` without arguments")
		}
	}
	return source, nil
}

func readFile(path string) (*stream.Source, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, readable(err)
	}
	return stream.ParseDocuments(path, data)
}

// readFolder walks a folder. A file that does not parse is left out with one
// line on standard error: it was not named, and may be a Helm template.
func readFolder(streams Streams, folder string, seen map[string]bool) ([]*stream.Source, error) {
	var sources []*stream.Source
	leaveOut := func(path string, err error) error {
		fmt.Fprintln(streams.Err, "trimtab: left out:", strings.Join(strings.Fields(readable(err).Error()), " "))
		if entry, statErr := os.Stat(path); statErr == nil && entry.IsDir() && path != folder {
			return fs.SkipDir
		}
		return nil
	}
	err := walk(folder, func(path string) error {
		if seen[filepath.Clean(path)] {
			return nil
		}
		seen[filepath.Clean(path)] = true
		source, err := readFile(path)
		streams.progress.read()
		if err != nil {
			return leaveOut(path, err)
		}
		sources = append(sources, source)
		return nil
	}, leaveOut)
	return sources, err
}

// readable says what the user can do about a path that cannot be read.
func readable(err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		if errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s: there is no such file or folder", at.Path)
		}
		return fmt.Errorf("%s: cannot be read: %w", at.Path, at.Err)
	}
	return err
}
