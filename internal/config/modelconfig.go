package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"strconv"

	"go.yaml.in/yaml/v3"
)

// modelConfig reads the checkpoint's config.json: inline, or a path to it
// where there are files.
func (d decoder) modelConfig(to **ModelConfig) read {
	return func(node *yaml.Node, path string) error {
		if node.Kind == yaml.MappingNode {
			if err := checkMapping(node, path); err != nil {
				return err
			}
			inline, err := json.Marshal(jsonValue(node))
			if err != nil {
				return fmt.Errorf("`%s` cannot be read: %w", path, err)
			}
			*to = &ModelConfig{JSON: inline}
			return nil
		}
		if d.inHost {
			return wrong(path, "the checkpoint's config.json, inline (a function reads no files: put it inline)", node)
		}
		var file string
		if err := d.text(&file)(node, path); err != nil {
			return wrong(path, "the checkpoint's config.json, inline, or a path to it", node)
		}
		*to = &ModelConfig{Path: file}
		return nil
	}
}

// jsonValue is a YAML tree as JSON has it: keys are texts, numbers keep their
// digits. What JSON has no word for (.inf, .nan) is null.
func jsonValue(node *yaml.Node) any {
	node = resolve(node)
	switch node.Kind {
	case yaml.MappingNode:
		object := make(map[string]any, len(node.Content)/2)
		for i := 0; i+1 < len(node.Content); i += 2 {
			object[resolve(node.Content[i]).Value] = jsonValue(node.Content[i+1])
		}
		return object
	case yaml.SequenceNode:
		list := make([]any, 0, len(node.Content))
		for _, element := range node.Content {
			list = append(list, jsonValue(element))
		}
		return list
	}
	return jsonScalar(node)
}

func jsonScalar(node *yaml.Node) any {
	switch node.ShortTag() {
	case "!!null":
		return nil
	case "!!bool":
		var truth bool
		if node.Decode(&truth) == nil {
			return truth
		}
	case "!!int", "!!float":
		return jsonNumber(node)
	}
	return node.Value
}

// jsonNumber keeps the digits where they are JSON, else writes the value anew.
func jsonNumber(node *yaml.Node) any {
	if json.Valid([]byte(node.Value)) {
		return json.Number(node.Value)
	}
	var whole int64
	if node.ShortTag() == "!!int" && node.Decode(&whole) == nil {
		return whole
	}
	var real float64
	if node.Decode(&real) != nil || math.IsInf(real, 0) || math.IsNaN(real) {
		return nil
	}
	return json.Number(strconv.FormatFloat(real, 'g', -1, 64))
}

// ReadModelConfig reads the config.json that `spec.model.config` points to,
// with read; the path is relative to the file of the config. Nothing is read
// where it stands inline. A file that cannot be read, and one that is no JSON
// object, are errors of one line.
func (c *Config) ReadModelConfig(read func(path string) ([]byte, error)) error {
	model := c.Spec.Model.Config
	if model == nil || model.Path == "" {
		return nil
	}
	path := model.Path
	if !filepath.IsAbs(path) {
		path = filepath.Join(filepath.Dir(c.Source), path)
	}
	data, err := read(path)
	if err != nil {
		return fmt.Errorf("%s: `spec.model.config`: %w", c.Source, err)
	}
	if data = bytes.TrimSpace(data); !bytes.HasPrefix(data, []byte("{")) {
		return fmt.Errorf("%s: `spec.model.config`: %s is no JSON object; write the path of the checkpoint's config.json", c.Source, path)
	}
	model.JSON = data
	return nil
}
