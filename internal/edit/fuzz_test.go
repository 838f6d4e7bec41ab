package edit

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/trimtab/trimtab/internal/finding"
	"github.com/trimtab/trimtab/internal/setting"
	"github.com/trimtab/trimtab/internal/stream"
)

// FuzzPlan removes, sets and adds random nodes of objects. A plan is made as
// intended or refused; comments outside of what goes stay.
func FuzzPlan(f *testing.F) {
	for _, test := range planCases {
		f.Add([]byte(test.in), uint64(1))
	}
	for _, test := range addCases {
		f.Add([]byte(test.in), uint64(5))
	}
	f.Fuzz(func(t *testing.T, data []byte, seed uint64) {
		tryEdits(t, data, rand.New(rand.NewPCG(seed, 2)))
	})
}

// TestPlanGenerated does the same on objects that are valid YAML from the
// start, and counts how often a plan does not read as intended.
func TestPlanGenerated(t *testing.T) {
	planned, refused := 0, 0
	for seed := range uint64(2500) {
		if tryEdits(t, []byte(generate(seed)), rand.New(rand.NewPCG(seed, 3))) {
			planned++
		} else {
			refused++
		}
	}
	t.Logf("%d plans, %d refused by the proof", planned+refused, refused)
	require.Greater(t, planned, 200*refused, "of %d plans, %d did not read as intended", planned+refused, refused)
}

// TestPlanShared does the same on real manifests.
func TestPlanShared(t *testing.T) {
	dir := filepath.Join("..", "..", "..", "shared", "cases", "public")
	if _, err := os.Stat(dir); err != nil {
		t.Skip("the manifests of ../shared/cases are not here")
	}
	planned, refused := 0, 0
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".yaml") {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for seed := range uint64(6) {
			if tryEdits(t, data, rand.New(rand.NewPCG(seed, 4))) {
				planned++
			} else {
				refused++
			}
		}
		return nil
	})
	require.NoError(t, err)
	require.NotZero(t, planned)
	require.Zero(t, refused, "plans that did not read as intended")
}

// tryEdits plans random edits on an item of data; it reports false
// where only the proof refused the plan.
func tryEdits(t *testing.T, data []byte, r *rand.Rand) bool {
	source, err := stream.ParseDocuments("-", data)
	if err != nil || len(source.Items) == 0 {
		return true
	}
	index := r.IntN(len(source.Items))
	item := source.Items[index]
	root, err := item.Root()
	require.NoError(t, err)
	if root == nil || root.Kind == yaml.ScalarNode {
		return true
	}
	edits := pick(root, r)
	splices, err := Plan(item, edits, nil)

	whole, wholeErr := stream.Parser{WholeParse: true}.Documents("-", data)
	require.NoError(t, wholeErr)
	wholeSplices, wholeErr := Plan(whole.Items[index], edits, nil)
	require.Equal(t, err == nil, wholeErr == nil, "%v %v", err, wholeErr)
	require.Equal(t, splices, wholeSplices)

	if err != nil {
		var conflict *Conflict
		var refused *Refused
		require.True(t, errors.As(err, &conflict) || errors.As(err, &refused), "%v", err)
		return !strings.Contains(err.Error(), "the result would")
	}
	requireAdds(t, data, edits, splices)
	out, err := stream.Apply(data, splices)
	require.NoError(t, err)
	after, err := stream.ParseDocuments("-", out)
	require.NoError(t, err, "%q\n%q\n%v", data, out, edits)
	require.Len(t, after.Items, len(source.Items))
	for i := range source.Items {
		if i == index {
			continue
		}
		require.Equal(t, source.Items[i].Text(), after.Items[i].Text())
	}
	requireComments(t, item, edits, string(out))
	return true
}

// pick chooses one to four edits of nodes below root.
func pick(root *yaml.Node, r *rand.Rand) []finding.Edit {
	var paths []setting.Path
	var scalars, lists, mappings []setting.Path
	var walk func(n *yaml.Node, path setting.Path)
	walk = func(n *yaml.Node, path setting.Path) {
		if len(path) > 0 {
			paths = append(paths, path)
		}
		if n.Kind == yaml.ScalarNode && len(path) > 0 {
			scalars = append(scalars, path)
		}
		switch {
		case n.Kind == yaml.MappingNode:
			lists, mappings = append(lists, path.Join("new list")), append(mappings, path)
		case len(path) > 0 && (n.Kind == yaml.SequenceNode || n.ShortTag() == "!!null"):
			lists = append(lists, path)
		}
		if len(path) > 20 {
			return
		}
		for i, c := range n.Content {
			switch {
			case n.Kind == yaml.SequenceNode:
				walk(c, path.Join(i))
			case i%2 == 1:
				walk(c, path.Join(n.Content[i-1].Value))
			}
		}
	}
	walk(root, nil)
	if len(paths) == 0 {
		return nil
	}
	values := []string{"", "x", "49", "0.25", "false", "a: b", "two\nlines\n", "it's \"q\"", "- x", "é"}
	var edits []finding.Edit
	for range 1 + r.IntN(4) {
		if len(lists) > 0 && r.IntN(3) == 0 {
			e := finding.Edit{Action: finding.Add, Path: lists[r.IntN(len(lists))], Value: values[r.IntN(len(values))]}
			if r.IntN(2) == 0 {
				e.Fields = []finding.FieldValue{{Name: "name", Value: "x"}, {Name: "a b", Value: e.Value}}
			}
			edits = append(edits, e)
			continue
		}
		if len(mappings) > 0 && r.IntN(6) == 0 {
			path := mappings[r.IntN(len(mappings))]
			if r.IntN(2) == 0 {
				path = path.Join("new mapping")
			}
			edits = append(edits, finding.Edit{Action: finding.Set, Path: path.Join("new key"), Value: values[r.IntN(len(values))], Create: true})
			continue
		}
		if len(scalars) > 0 && r.IntN(4) == 0 {
			path := scalars[r.IntN(len(scalars))]
			edits = append(edits, finding.Edit{Action: finding.Set, Path: path, Value: values[r.IntN(len(values))]})
			continue
		}
		edits = append(edits, finding.Edit{Action: finding.Remove, Path: paths[r.IntN(len(paths))]})
	}
	return edits
}

// requireComments demands that comment lines outside of the edited nodes are
// still there, in order.
func requireComments(t *testing.T, item *stream.Item, edits []finding.Edit, out string) {
	root, err := item.Root()
	require.NoError(t, err)
	layout, err := item.Layout()
	require.NoError(t, err)
	for n := range layout {
		if n.Style&yaml.FlowStyle != 0 || n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0 && strings.Contains(n.Value, "#") {
			return // its lines may go as one
		}
	}
	data := item.Source.Data
	touched := make([]bool, len(data)+1)
	for _, e := range edits {
		if e.Action == finding.Add || e.Create {
			continue
		}
		n := follow(root, e.Path)
		for i := layout[n].Mark; i >= 0 && i <= layout[n].End; i++ {
			touched[i] = true
		}
	}
	rest := out
	start, end := item.Bounds()
	for i := start; i < end; {
		lineEnd, next := stream.LineEnd(data, i)
		line := string(data[i:lineEnd])
		if strings.HasPrefix(strings.TrimLeft(line, " "), "#") && !touched[i] {
			_, after, found := strings.Cut(rest, line)
			require.True(t, found, "comment %q is gone from\n%s\n->\n%s\nby %v", line, data, out, edits)
			rest = after
		}
		i = max(next, i+1)
	}
}

// requireAdds demands that a plan that only adds deletes nothing but what an
// empty list or a null is written with.
func requireAdds(t *testing.T, data []byte, edits []finding.Edit, splices []stream.Splice) {
	for _, e := range edits {
		if e.Action != finding.Add && !e.Create {
			return
		}
	}
	for _, s := range splices {
		deleted := string(data[s.Offset : s.Offset+s.Delete])
		require.Contains(t, []string{"", "[]", "{}", "~", "null", "Null", "NULL"}, strings.Join(strings.Fields(strings.ReplaceAll(deleted, "[ ]", "[]")), ""), "%v", edits)
	}
}

func follow(n *yaml.Node, path setting.Path) *yaml.Node {
	for _, element := range path {
		switch e := element.(type) {
		case int:
			n = n.Content[e]
		case string:
			index, _ := lookup(n, e)
			n = n.Content[index+1]
		}
	}
	return n
}
