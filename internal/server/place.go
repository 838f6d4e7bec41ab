package server

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"github.com/trimtab/trimtab/engines"
	"github.com/trimtab/trimtab/internal/finding"
	"github.com/trimtab/trimtab/internal/setting"
)

// places is the table engines/operators/places.yaml.
type places struct {
	Containers []containerPlace `yaml:"containers"`
	Pods       []podsPlace      `yaml:"pods"`
}

// owner is the kinds of objects an entry is about.
type owner struct {
	Group string   `yaml:"group"`
	Kinds []string `yaml:"kinds"`
}

func (o owner) owns(object finding.Object) bool {
	return strings.HasPrefix(object.APIVersion, o.Group+"/") && (len(o.Kinds) == 0 || slices.Contains(o.Kinds, object.Kind))
}

type containerPlace struct {
	owner     `yaml:",inline"`
	Container string `yaml:"container"`
	Pod       string `yaml:"pod"`
	GPUs      string `yaml:"gpus"`
	OnePod    bool   `yaml:"onePod"`
}

type podsPlace struct {
	owner `yaml:",inline"`
	Under string `yaml:"under"`
	Nodes string `yaml:"nodes"`
	Plus  int64  `yaml:"plus"`
}

var loadPlaces = sync.OnceValues(func() (*places, error) {
	table := &places{}
	return table, decodeTable("places.yaml", table)
})

// decodeTable reads a file of engines/operators; a field it does not know is an
// error.
func decodeTable(name string, into any) error {
	text, err := tableText(name)
	if err != nil {
		return err
	}
	decoder := yaml.NewDecoder(strings.NewReader(text))
	decoder.KnownFields(true)
	if err := decoder.Decode(into); err != nil {
		return fmt.Errorf("engines/operators/%s: %w", name, err)
	}
	return nil
}

func tableText(name string) (string, error) {
	data, err := engines.Files.ReadFile("operators/" + name)
	return string(data), err
}

// placed finds the containers of an object at the places of its kind.
func (p *places) placed(base seat, root *yaml.Node) []seat {
	var seats []seat
	for _, place := range p.Containers {
		if !place.owns(base.object) {
			continue
		}
		for _, path := range expand(root, place.Container) {
			container := Lookup(root, path)
			if container == nil || container.Kind != yaml.MappingNode {
				continue
			}
			podPath := bind(place.Pod, place.Container, path)
			one := base.at(path, container, Lookup(root, podPath), nil)
			one.onePod = place.OnePod
			if place.GPUs != "" {
				one.container = askingFor(one.container, Lookup(root, bind(place.GPUs, place.Container, path)))
			}
			seats = append(seats, one)
		}
	}
	return seats
}

// settlePods tells the seats how many pods form the server they are part of.
func (p *places) settlePods(seats []seat, root *yaml.Node) {
	for i := range seats {
		s := &seats[i]
		for _, place := range p.Pods {
			if !place.owns(s.object) || !under(s.path, place.Under) {
				continue
			}
			if nodes, ok := integer(Lookup(root, bind(place.Nodes, place.Under, s.path))); ok {
				s.nodes = known(nodes + place.Plus)
				s.onePod = *s.nodes == 1
			}
		}
	}
}

// expand returns the paths of an object that a pattern stands for.
func expand(root *yaml.Node, pattern string) []setting.Path {
	found := []setting.Path{nil}
	for step := range strings.SplitSeq(pattern, ".") {
		var next []setting.Path
		for _, path := range found {
			node := Lookup(root, path)
			switch {
			case step != "*":
				if at(node, step) != nil {
					next = append(next, path.Join(step))
				}
			case node == nil:
			case node.Kind == yaml.MappingNode:
				for i := 0; i+1 < len(node.Content); i += 2 {
					next = append(next, path.Join(node.Content[i].Value))
				}
			case node.Kind == yaml.SequenceNode:
				for i := range node.Content {
					next = append(next, path.Join(i))
				}
			}
		}
		found = next
	}
	return found
}

// bind gives the steps * of a pattern the values they have where another
// pattern led to a path.
func bind(pattern, other string, path setting.Path) setting.Path {
	var values []any
	for i, step := range strings.Split(other, ".") {
		if step == "*" && i < len(path) {
			values = append(values, path[i])
		}
	}
	var bound setting.Path
	for step := range strings.SplitSeq(pattern, ".") {
		if step == "*" && len(values) > 0 {
			bound, values = append(bound, values[0]), values[1:]
			continue
		}
		bound = append(bound, step)
	}
	return bound
}

// under tells whether a path lies at or below what a pattern stands for.
func under(path setting.Path, pattern string) bool {
	steps := strings.Split(pattern, ".")
	if len(path) < len(steps) {
		return false
	}
	for i, step := range steps {
		if step != "*" && path[i] != any(step) {
			return false
		}
	}
	return true
}

// askingFor is a container that asks for a number of NVIDIA devices.
func askingFor(container, count *yaml.Node) *yaml.Node {
	if text(count) == "" || at(container, "resources") != nil {
		return container
	}
	return with(container, "resources", mapping("limits", mapping("nvidia.com/gpu", count)))
}

// mapping is a node of one key, and with a copy of a mapping with one key more.
func mapping(key string, value *yaml.Node) *yaml.Node {
	return with(&yaml.Node{Kind: yaml.MappingNode}, key, value)
}

// replaced is a copy of a mapping in which a key has another value.
func replaced(node *yaml.Node, key string, value *yaml.Node) *yaml.Node {
	copied := *node
	copied.Content = nil
	for i := 0; i+1 < len(node.Content); i += 2 {
		if node.Content[i].Value != key {
			copied.Content = append(copied.Content, node.Content[i], node.Content[i+1])
		}
	}
	return with(&copied, key, value)
}

func with(node *yaml.Node, key string, value *yaml.Node) *yaml.Node {
	copied := *node
	copied.Content = append(node.Content[:len(node.Content):len(node.Content)], &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: key}, value)
	return &copied
}
