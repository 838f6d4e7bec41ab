package edit

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trimtab/trimtab/internal/setting"
)

func TestComments(t *testing.T) {
	place := func(path ...any) setting.Path { return path }
	tests := []struct {
		name string
		in   string
		at   setting.Path
		want []string
	}{
		{"none", lines("args:", "- a"), place("args", 0), nil},
		{"nowhere", lines("args: # c", "- a"), place("args", 1), nil},
		{"above and beside", lines("args:", "# one", "# two", "- a # three", "- b # four"), place("args", 0), []string{"one two", "three"}},
		{"above a blank line", lines("args:", "# one", "", "# two", "- a"), place("args", 0), []string{"two"}},
		{"above with CR LF", "args:\r\n# one\r\n# two\r\n- a\r\n", place("args", 0), []string{"one two"}},
		{"beside the key", lines("args: # trimtab:keep", "- a", "- b"), place("args", 1), []string{"trimtab:keep"}},
		{"beside the key, deeper list", lines("env:   ## why", "  # of x", "  - name: x", "    value: y"), place("env", 0), []string{"of x", "why"}},
		{"beside the key, value of an element", lines("env: # why", "- name: x", "  value: y"), place("env", 0, "value"), []string{"why"}},
		{"beside the anchor of the list", lines("env: &e # why", "- a", "- b"), place("env", 1), []string{"why"}},
		{"below the key", lines("args:", "# why", "- a", "- b"), place("args", 1), nil},
		{"another key's", lines("env: # why", "- a", "args:", "- b"), place("args", 0), nil},
		{"the key above the list's", lines("p: # why", "  args:", "  - a"), place("p", "args", 0), nil},
		{"the key itself", lines("args: # why", "- a"), place("args"), nil},
		{"list of lists", lines("args: # why", "- - a"), place("args", 0, 0), []string{"why"}},
		{"flow list", lines("args: [a, '#'] # why", "z: 1"), place("args", 0), []string{"why"}},
		{"flow list in a flow mapping", lines("- {env: [a, b]} # why"), place(0, "env", 1), []string{"why"}},
		{"behind the bracket", lines("args: [ # why", "  a,", "  b # not b", "]"), place("args", 0), []string{"why"}},
		{"behind the closing bracket, on another line", lines("args: [a,", "  b", "] # why"), place("args", 0), nil},
		{"of an element beside it", lines("args: [a, # of a", "  b]"), place("args", 1), nil},
		{"sign in a value", lines("args: ['# a', b]"), place("args", 1), nil},
		{"scalar, not a list", lines("args: a # why"), place("args"), []string{"why"}},
	}
	for _, test := range tests {
		for mode, parser := range parsers {
			t.Run(test.name+"/"+mode, func(t *testing.T) {
				source, err := parser.Documents("-", []byte(test.in))
				require.NoError(t, err)
				require.Equal(t, test.want, Comments(source.Items[0], []setting.Path{test.at}))
			})
		}
	}
}
