package stream

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// proveItems reads the source with the splices again: in place of gone items
// from at on it must hold objects that read as the trees, all others as before.
func (s *Source) proveItems(splices []Splice, at, gone int, trees []*yaml.Node) error {
	data, err := Apply(s.Data, splices)
	if err != nil {
		return err
	}
	after, err := s.again(data)
	if err != nil {
		return fmt.Errorf("the object cannot be changed, the result would be no valid YAML: %w", err)
	}
	if len(after.Items) != len(s.Items)-gone+len(trees) {
		return errors.New("the object cannot be changed, the result would not hold the objects it should")
	}
	for i, want := range trees {
		got, err := after.Items[at+i].Root()
		if err != nil || !SameTree(want, got) {
			return errors.New("the object cannot be changed, it would not read as intended")
		}
	}
	left := slices.Delete(slices.Clone(after.Items), at, at+len(trees))
	for i, old := range slices.Delete(slices.Clone(s.Items), at, at+gone) {
		if !sameItem(old, left[i]) {
			return fmt.Errorf("the object cannot be changed, object %d would not stay as it is: end its last line with a line break", i)
		}
	}
	if s.List != nil && s.List.FunctionConfig != nil {
		if after.List.FunctionConfig == nil || !sameItem(s.List.FunctionConfig, after.List.FunctionConfig) {
			return errors.New("the object cannot be changed, the functionConfig would not stay as it is")
		}
	}
	return nil
}

// again reads other bytes as the source was read.
func (s *Source) again(data []byte) (*Source, error) {
	if s.List != nil {
		return ParseResourceList(data)
	}
	return ParseDocuments(s.Name, data)
}

// sameItem reports whether an item is as before: byte for byte, but for comment
// and blank lines behind it, which may be another's now.
func sameItem(before, after *Item) bool {
	if !slices.Equal(contentLines(before.Text()), contentLines(after.Text())) {
		return false
	}
	text := before.Text()
	if bytes.Equal(text, after.Text()) && bytes.HasSuffix(text, []byte("\n")) && !before.shared && !after.shared {
		return true
	}
	old, err := before.Root()
	if err != nil {
		return false
	}
	now, err := after.Root()
	return err == nil && SameTree(old, now)
}

// contentLines are the lines of a text up to the last that is no comment.
func contentLines(text []byte) []string {
	lines := slices.Collect(strings.Lines(string(text)))
	for len(lines) > 0 {
		last := strings.TrimSpace(lines[len(lines)-1])
		if last != "" && last[0] != '#' {
			lines[len(lines)-1] = strings.TrimRight(lines[len(lines)-1], "\r\n")
			break
		}
		lines = lines[:len(lines)-1]
	}
	return lines
}
