package overlay

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"sigs.k8s.io/kustomize/api/konfig"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/trimtab/trimtab/internal/config"
	"github.com/trimtab/trimtab/internal/server"
	"github.com/trimtab/trimtab/internal/stream"
)

// FileNames are the names under which kustomize looks for a kustomization.
var FileNames = konfig.RecognizedKustomizationFileNames()

// scanner reads a kustomization and all it reaches before kustomize does: it
// refuses what is not done here, and takes trimtab's own entries out.
type scanner struct {
	disk      filesys.FileSystem
	rewritten map[string][]byte
	files     map[string]bool
	configs   []Config
	patches   []patch
}

// instead is what to do where a build is refused.
const instead = "pipe it instead: `kustomize build … | trimtab verify -`"

// folder reads a kustomization; errors name its file and what is refused.
func (s *scanner) folder(folder string, root bool) error {
	file, ok := File(folder)
	if !ok {
		return absent(folder)
	}
	key := resolved(absolute(file))
	if s.files[key] {
		return nil
	}
	s.files[key] = true
	data, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("%s: cannot be read: %w", file, err)
	}
	var document yaml.Node
	if err := yaml.Unmarshal(data, &document); err != nil {
		return fmt.Errorf("%s: not valid YAML: %w", file, err)
	}
	if len(document.Content) == 0 || document.Content[0].Kind != yaml.MappingNode {
		return fmt.Errorf("%s: a kustomization is a mapping, as `resources: [server.yaml]`", file)
	}
	top := document.Content[0]
	if err := s.refuse(file, top); err != nil {
		return err
	}
	if err := s.reach(folder, file, top); err != nil {
		return err
	}
	s.collectPatches(folder, file, top)
	taken, err := s.takeOwn(folder, file, top)
	if err != nil || !root && !taken {
		return err
	}
	if root {
		noteOrigins(top)
	}
	s.rewritten[key], err = yaml.Marshal(top)
	return err
}

// File is the kustomization in a folder; false where there is none.
func File(folder string) (string, bool) {
	for _, name := range FileNames {
		file := filepath.Join(folder, name)
		if info, err := os.Stat(file); err == nil && !info.IsDir() {
			return file, true
		}
	}
	return "", false
}

// absent says why no kustomization is read from a folder.
func absent(folder string) error {
	switch info, err := os.Stat(folder); {
	case err != nil:
		return fmt.Errorf("%s: there is no such folder", folder)
	case !info.IsDir():
		return fmt.Errorf("%s: is a file: name the folder that holds the kustomization", folder)
	}
	return fmt.Errorf("%s: there is no kustomization in this folder: it holds none of %s", folder, strings.Join(FileNames, ", "))
}

// refuse: charts are rendered by another program, and what is remote is not
// asked for.
func (s *scanner) refuse(file string, top *yaml.Node) error {
	for _, key := range []string{"helmCharts", "helmChartInflationGenerator"} {
		if charts := field(top, key); charts != nil && len(charts.Content) > 0 {
			return fmt.Errorf("%s: `%s` needs Helm, which trimtab does not run: %s", file, key, instead)
		}
	}
	for i := 0; i+1 < len(top.Content); i += 2 {
		if found := remote(top.Content[i].Value, top.Content[i+1]); found != "" {
			return fmt.Errorf("%s: %s is remote, and trimtab asks no network: keep a copy beside it, or %s", file, found, instead)
		}
	}
	return nil
}

// texts are keys below which a URL is a text and no place to read from.
var texts = []string{"patch", "literals", "commonAnnotations", "commonLabels", "labels", "images", "metadata", "options", "vars"}

// remote is a URL below a key that names places to read from.
func remote(key string, node *yaml.Node) string {
	if slices.Contains(texts, key) {
		return ""
	}
	switch node.Kind {
	case yaml.ScalarNode:
		if !strings.Contains(node.Value, "\n") && isURL(node.Value) {
			return node.Value
		}
	case yaml.MappingNode:
		for i := 0; i+1 < len(node.Content); i += 2 {
			if found := remote(node.Content[i].Value, node.Content[i+1]); found != "" {
				return found
			}
		}
	case yaml.SequenceNode:
		for _, element := range node.Content {
			if found := remote(key, element); found != "" {
				return found
			}
		}
	}
	return ""
}

func isURL(text string) bool {
	return strings.Contains(text, "://") || strings.HasPrefix(text, "git@") || strings.HasPrefix(text, "git::")
}

// reach follows resources, bases and components.
func (s *scanner) reach(folder, file string, top *yaml.Node) error {
	for _, key := range []string{"resources", "bases", "components"} {
		for _, entry := range scalars(field(top, key)) {
			path := filepath.Join(folder, entry)
			info, err := os.Stat(path)
			switch {
			case err != nil && (strings.Contains(entry, "?ref=") || strings.Contains(entry, "//") || strings.HasPrefix(entry, "github.com")):
				return fmt.Errorf("%s: %s is remote, and trimtab asks no network: keep a copy beside it, or %s", file, entry, instead)
			case err != nil:
				return fmt.Errorf("%s: %s: there is no such file or folder", file, entry)
			case info.IsDir():
				if err := s.folder(path, false); err != nil {
					return err
				}
			default:
				s.files[resolved(absolute(path))] = true
			}
		}
	}
	return nil
}

// takeOwn takes trimtab's functionConfigs out of the transformers; it tells
// whether there was one. Any other plugin is refused.
func (s *scanner) takeOwn(folder, file string, top *yaml.Node) (bool, error) {
	taken := false
	for _, key := range []string{"generators", "transformers", "validators"} {
		list := field(top, key)
		if list == nil || list.Kind != yaml.SequenceNode {
			continue
		}
		var left []*yaml.Node
		for _, entry := range list.Content {
			own, err := s.own(folder, file, key, entry.Value)
			switch {
			case err != nil:
				return false, err
			case len(own) == 0:
				left = append(left, entry)
			case key != "transformers":
				return false, fmt.Errorf("%s: trimtab stands under `%s`, where kustomize fails for any function: move it to `transformers`", file, key)
			}
			s.configs, taken = append(s.configs, own...), taken || len(own) > 0
		}
		list.Content = left
	}
	return taken, nil
}

// own are the documents of an entry where all are trimtab's; none where all are
// kustomize's own. Anything else is an error.
func (s *scanner) own(folder, file, key, entry string) ([]Config, error) {
	documents, err := s.documents(folder, file, entry)
	if err != nil {
		return nil, err
	}
	var own []Config
	builtin := 0
	for _, document := range documents {
		object := server.ObjectIn(document.Root)
		switch {
		case config.IsConfig(object.APIVersion, object.Kind):
			own = append(own, document)
		case object.APIVersion == "builtin" && object.Kind != "HelmChartInflationGenerator":
			builtin++
		default:
			return nil, fmt.Errorf("%s: %s %s under `%s` is a plugin, and trimtab runs none but itself: %s", file, object.Kind, object.Name, key, instead)
		}
	}
	if len(own) > 0 && builtin > 0 {
		return nil, fmt.Errorf("%s: `%s` under `%s` holds trimtab beside a transformer of kustomize: give each an entry of its own", file, entry, key)
	}
	return own, nil
}

// documents are those of an entry: a text of its own, a file, or what a folder's
// kustomization lists.
func (s *scanner) documents(folder, file, entry string) ([]Config, error) {
	if strings.Contains(entry, "\n") {
		return decode(file, []byte(entry))
	}
	path := filepath.Join(folder, entry)
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %s: there is no such file or folder", file, entry)
	}
	s.files[resolved(absolute(path))] = true
	if !info.IsDir() {
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		return decode(path, data)
	}
	nested, ok := File(path)
	if !ok {
		return nil, absent(path)
	}
	data, err := os.ReadFile(nested)
	if err != nil {
		return nil, err
	}
	var top yaml.Node
	if err := yaml.Unmarshal(data, &top); err != nil || len(top.Content) == 0 {
		return nil, fmt.Errorf("%s: not valid YAML", nested)
	}
	var all []Config
	for _, resource := range scalars(field(top.Content[0], "resources")) {
		found, err := s.documents(path, nested, resource)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}

func decode(file string, data []byte) ([]Config, error) {
	source, err := stream.ParseDocuments(file, data)
	if err != nil {
		return nil, err
	}
	var all []Config
	for _, item := range source.Items {
		root, err := item.Root()
		if err != nil {
			return nil, err
		}
		if root != nil {
			all = append(all, Config{File: file, Root: root})
		}
	}
	return all, nil
}

// noteOrigins has kustomize note on each object where it comes from.
func noteOrigins(top *yaml.Node) {
	const key = "buildMetadata"
	wanted := &yaml.Node{Kind: yaml.SequenceNode}
	for _, option := range []string{"originAnnotations", "transformerAnnotations"} {
		wanted.Content = append(wanted.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: option})
	}
	if list := field(top, key); list != nil {
		for _, option := range list.Content {
			if option.Value == "managedByLabel" {
				wanted.Content = append(wanted.Content, option)
			}
		}
		*list = *wanted
		return
	}
	top.Content = append(top.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: key}, wanted)
}

func field(node *yaml.Node, key string) *yaml.Node {
	return server.Lookup(node, []any{key})
}

func scalars(list *yaml.Node) []string {
	if list == nil || list.Kind != yaml.SequenceNode {
		return nil
	}
	var values []string
	for _, element := range list.Content {
		if element.Kind == yaml.ScalarNode {
			values = append(values, element.Value)
		}
	}
	return values
}

func absolute(path string) string {
	if full, err := filepath.Abs(path); err == nil {
		return full
	}
	return path
}
