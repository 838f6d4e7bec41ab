package server

import (
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/trimtab/trimtab/internal/setting"
)

// typed is a custom resource whose fields an operator turns into the words of a
// command line, by the rows of a table.
type typed struct {
	operator string
	runtime  *runtime
	spec     *yaml.Node
	path     setting.Path
	// extra are the words the user adds, behind those of the rows.
	extra []setting.Word
	// mode is what the object serves: chat, embedding or rerank.
	mode string
	// fill is what the operator writes for a name in braces.
	fill func(name string) setting.Word
}

// words are those of the rows, in their order, then what the user adds.
func (t *typed) words(gpuCount *int64) []setting.Word {
	var line []setting.Word
	written := false
	for _, r := range t.runtime.Rows {
		if r.Args {
			line, written = append(line, t.extra...), true
		}
		line = append(line, t.rowWords(r, gpuCount)...)
	}
	if written {
		return line
	}
	return append(line, t.extra...)
}

func (t *typed) rowWords(r row, gpuCount *int64) []setting.Word {
	if r.Unless != "" && t.extraHolds(r.Unless) || r.Mode != "" && r.Mode != t.mode {
		return nil
	}
	for _, required := range r.All {
		node, _ := field(t.spec, t.path, required)
		if v := text(node); v == "" || v == "false" {
			return nil
		}
	}
	switch {
	case r.GPUs == "above-one":
		return t.derivedFromGPUs(r, gpuCount)
	case r.GPUs == "at-least-one" && gpuCount != nil && *gpuCount == 0:
		return nil
	case r.Always != nil:
		return t.operatorWords(r)
	case r.When == "switch":
		return t.switchWords(r)
	case r.List:
		return t.listWords(r)
	}
	for _, name := range r.Fields {
		node, path := field(t.spec, t.path, name)
		if written, ok := fieldWords(r, node, path); ok {
			if r.GPUs == "at-least-one" && gpuCount == nil {
				markUnknown(written, "gpu.count")
			}
			return written
		}
	}
	return nil
}

// extraHolds is the operator's own look-up of a flag in extraArgs: as the flag
// alone or before an equals sign, spelled with dashes.
func (t *typed) extraHolds(flag string) bool {
	for _, word := range t.extra {
		if word.Text == flag || strings.HasPrefix(word.Text, flag+"=") {
			return true
		}
	}
	return false
}

// fieldWords writes a typed field as flag and value; false when the operator
// writes nothing for this value.
func fieldWords(r row, node *yaml.Node, path setting.Path) ([]setting.Word, bool) {
	origin := setting.Origin{Kind: setting.Field, Path: path}
	word := func(t string) setting.Word {
		return setting.Word{Text: t, Unknown: decidedElsewhere(t), Origin: origin}
	}
	v := text(node)
	if v == "" {
		return nil, false
	}
	switch r.When {
	case "true":
		if v != "true" {
			return nil, false
		}
		return []setting.Word{word(r.Flag)}, true
	case "not-auto":
		if v == "auto" {
			return nil, false
		}
	case "above-one", "above-zero":
		least := map[string]int64{"above-one": 2, "above-zero": 1}[r.When]
		if n, err := strconv.ParseInt(v, 10, 64); err == nil && n < least {
			return nil, false
		}
	}
	return []setting.Word{word(r.Flag), word(v)}, true
}

// listWords writes the elements of all lists behind the flag.
func (t *typed) listWords(r row) []setting.Word {
	var list []setting.Word
	for _, name := range r.Fields {
		node, path := field(t.spec, t.path, name)
		if node == nil || node.Kind != yaml.SequenceNode || len(node.Content) == 0 {
			continue
		}
		origin := setting.Origin{Kind: setting.Field, Path: path}
		if list == nil {
			list = []setting.Word{{Text: r.Flag, Origin: origin}}
		}
		for _, element := range node.Content {
			entry := resolve(element)
			written := text(entry)
			if entry.Kind == yaml.MappingNode {
				written = text(at(entry, "name")) + "=" + text(at(entry, "path"))
			}
			list = append(list, setting.Word{Text: written, Unknown: decidedElsewhere(written), Origin: origin})
		}
	}
	return list
}

// switchWords writes a switch in its one or its other form, also where no field
// is set.
func (t *typed) switchWords(r row) []setting.Word {
	off := "--no-" + strings.TrimPrefix(r.Flag, "--")
	for _, name := range r.Fields {
		node, path := field(t.spec, t.path, name)
		switch text(node) {
		case "true": // without the field the operator writes the other form
			return []setting.Word{{Text: r.Flag, Origin: setting.BoundTo(path)}}
		case "false":
			return []setting.Word{{Text: off, Origin: setting.Origin{Kind: setting.Field, Path: path}}}
		}
	}
	return []setting.Word{{Text: off, Origin: setting.Origin{Kind: setting.Operator, Name: t.operator}}}
}

// derivedFromGPUs writes the GPU count behind the flag when it is above one and
// the field that says otherwise is not set.
func (t *typed) derivedFromGPUs(r row, gpuCount *int64) []setting.Word {
	if node, _ := field(t.spec, t.path, r.UnlessField); text(node) != "" {
		return nil
	}
	origin := setting.Origin{Kind: setting.Operator, Name: t.operator}
	switch {
	case gpuCount == nil:
		return []setting.Word{
			{Text: r.Flag, Origin: origin},
			{Unknown: true, Needs: []string{"gpu.count"}, Origin: origin},
		}
	case *gpuCount > 1:
		return []setting.Word{
			{Text: r.Flag, Origin: origin},
			{Text: strconv.FormatInt(*gpuCount, 10), Origin: origin},
		}
	}
	return nil
}

// operatorWords writes what the operator adds by itself.
func (t *typed) operatorWords(r row) []setting.Word {
	var list []setting.Word
	if r.Flag != "" {
		list = append(list, setting.Word{Text: r.Flag, Origin: setting.Origin{Kind: setting.Operator, Name: t.operator}})
	}
	if *r.Always == "" {
		return list
	}
	return append(list, t.fill(*r.Always))
}

func markUnknown(list []setting.Word, need string) {
	for i := 1; i < len(list); i++ {
		list[i].Unknown, list[i].Needs = true, append(list[i].Needs, need)
	}
}
