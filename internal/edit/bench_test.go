package edit

import (
	"fmt"
	"strings"
	"testing"

	"github.com/trimtab/trimtab/internal/finding"
	"github.com/trimtab/trimtab/internal/setting"
	"github.com/trimtab/trimtab/internal/stream"
)

// BenchmarkPlan makes large plans of each size twice, so that what grows faster
// than its input shows.
func BenchmarkPlan(b *testing.B) {
	inputs := []struct {
		name string
		in   func(n int) string
	}{
		{"block list", func(n int) string { return "args:\n" + strings.Repeat("- --x\n", n) + "- y\n" }},
		{"flow list", func(n int) string { return "args: [" + strings.Repeat("--x, ", n) + "y]\n" }},
		{"whole list", func(n int) string { return "args:\n" + strings.Repeat("- --x\n", n) }},
		{"comments", func(n int) string { return "args:\n" + strings.Repeat("# c\n- --x\n", n) + "- y\n" }},
		{"dashes", func(n int) string { return "args:\n" + strings.Repeat("- - --x\n  - y\n", n) }},
	}
	for _, input := range inputs {
		for _, n := range []int{2000, 20000} {
			in := input.in(n)
			var edits []finding.Edit
			for i := range n {
				path := setting.Path{"args", i}
				if input.name == "dashes" {
					path = path.Join(0)
				}
				edits = append(edits, finding.Edit{Action: finding.Remove, Path: path})
			}
			b.Run(fmt.Sprintf("%s/%d", input.name, n), func(b *testing.B) {
				b.SetBytes(int64(len(in)))
				for b.Loop() {
					mustPlan(b, in, edits)
				}
			})
		}
	}
}

// BenchmarkCommentAbove reads and removes one long block of comment lines.
func BenchmarkCommentAbove(b *testing.B) {
	for _, n := range []int{2000, 200000} {
		in := "args:\n" + strings.Repeat("# one line of text\n", n) + "- --x\n- y\n"
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.SetBytes(int64(len(in)))
			for b.Loop() {
				item := mustPlan(b, in, []finding.Edit{remove("args", 0)})
				if len(Comments(item, []setting.Path{{"args", 0}})) != 1 {
					b.Fatal("the comment is not found")
				}
			}
		})
	}
}

func mustPlan(b *testing.B, in string, edits []finding.Edit) *stream.Item {
	b.Helper()
	source, err := stream.ParseDocuments("-", []byte(in))
	if err != nil {
		b.Fatal(err)
	}
	if _, err := Plan(source.Items[0], edits, speaks); err != nil {
		b.Fatal(err)
	}
	return source.Items[0]
}
