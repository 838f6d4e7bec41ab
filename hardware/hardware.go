// Package hardware holds what is true of accelerators and of models, whatever
// engine serves them: memory, formats and rates of a GPU (gpus.yaml), layers,
// heads and state of a model (models.yaml), each with its source. In comes a
// name as people and node labels write it, out comes an entry. What no source
// backs is absent in the files and not known here: nil, empty, or a zero where
// zero makes no sense.
package hardware

import (
	"bytes"
	_ "embed"
	"fmt"
	"math"
	"strings"

	"go.yaml.in/yaml/v3"
)

//go:embed gpus.yaml
var gpuFile []byte

//go:embed models.yaml
var modelFile string

// index finds entries by any of their names, reduced to what counts.
type index[E any] struct {
	names  []string // with aliases, as the file writes them, in its order
	byName map[string]E
}

// put adds an entry under its name and its aliases. Two entries of one name
// are an error: a look-up would have to guess.
func (x *index[E]) put(entry E, reduce func(string) string, name string, aliases []string) error {
	own := map[string]bool{}
	for _, word := range append([]string{name}, aliases...) {
		reduced := reduce(word)
		if reduced == "" {
			return fmt.Errorf("%q: %q is no name", name, word)
		}
		if _, taken := x.byName[reduced]; taken && !own[reduced] {
			return fmt.Errorf("%q: another entry is called %q too", name, word)
		}
		own[reduced], x.byName[reduced] = true, entry
		x.names = append(x.names, word)
	}
	return nil
}

// decode reads one YAML document strictly: an unknown field is an error.
func decode(data []byte, into any) error {
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	decoder.KnownFields(true)
	return decoder.Decode(into)
}

// proofs replaces the short words of a source table by what they stand for.
// A short word that the table does not hold, and no source at all, are errors.
func proofs(sources []string, table map[string]string) ([]string, error) {
	if len(sources) == 0 {
		return nil, fmt.Errorf("`sources` is missing")
	}
	told := make([]string, 0, len(sources))
	for _, source := range sources {
		if text, ok := table[source]; ok {
			source = text
		} else if !strings.ContainsAny(source, " /") {
			return nil, fmt.Errorf("source %q is not in the table", source)
		}
		told = append(told, source)
	}
	return told, nil
}

// gibibytes turns a figure in GiB into bytes, rounded to the nearest. A
// negative figure, and one that int64 cannot hold, are errors.
func gibibytes(field string, gib float64) (int64, error) {
	if !(gib >= 0 && gib < 1<<33) {
		return 0, fmt.Errorf("`%s` must be from 0 GiB, got %v", field, gib)
	}
	return int64(math.Round(gib * (1 << 30))), nil
}
