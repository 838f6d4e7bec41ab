package fn

import (
	"fmt"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/trimtab/trimtab/internal/argv"
	"github.com/trimtab/trimtab/internal/server"
	"github.com/trimtab/trimtab/internal/setting"
)

// configFiles reads the files that --config names out of the ConfigMaps of the
// input.
func configFiles(s *server.Server) argv.ReadFile {
	return func(name string) ([]argv.Entry, bool) {
		file, ok := s.File(name)
		if !ok {
			return nil, false
		}
		var root yaml.Node
		if yaml.Unmarshal([]byte(file.Text), &root) != nil || len(root.Content) != 1 || root.Content[0].Kind != yaml.MappingNode {
			return nil, false
		}
		var entries []argv.Entry
		pairs := root.Content[0].Content
		for i := 0; i+1 < len(pairs); i += 2 {
			value, known := pythonValue(pairs[i+1])
			entries = append(entries, argv.Entry{
				Key: pairs[i].Value, Value: value, Unknown: !known,
				// The text stands in another object: it is read, and not edited.
				Origin: setting.Origin{Kind: setting.ConfigFile, Name: "ConfigMap " + file.ConfigMap.Name + ", " + file.Key + fmt.Sprintf(", line %d: %s", pairs[i].Line, pairs[i].Value)},
			})
		}
		return entries, true
	}
}

// yes11 and odd11 are plain scalars that YAML 1.1, as PyYAML reads it, takes for
// something else than YAML 1.2 does.
var (
	yes11 = map[string]bool{"yes": true, "on": true, "no": false, "off": false}
	odd11 = regexp.MustCompile(`^[-+]?(0[0-9_]+|0b[01_]+|[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?|[0-9]+_[0-9_]*)$`)
)

// pythonValue is what PyYAML makes of a node; false where that is not told here.
func pythonValue(node *yaml.Node) (any, bool) {
	if node.Kind == yaml.ScalarNode && node.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) == 0 {
		if value, ok := yes11[strings.ToLower(node.Value)]; ok {
			return value, true
		}
		if odd11.MatchString(node.Value) {
			return node.Value, false
		}
	}
	var value any
	if err := node.Decode(&value); err != nil {
		return nil, false
	}
	return wholeNumbers(value), true
}

// wholeNumbers turns the ints of decoded YAML into those of the engines.
func wholeNumbers(value any) any {
	switch v := value.(type) {
	case int:
		return int64(v)
	case []any:
		for i := range v {
			v[i] = wholeNumbers(v[i])
		}
	case map[string]any:
		for key := range v {
			v[key] = wholeNumbers(v[key])
		}
	}
	return value
}
