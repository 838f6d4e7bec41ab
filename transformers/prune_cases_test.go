package transformers_test

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/trimtab/trimtab/transformers"
)

// pruneCase is a volume, and what a prune leaves of it and prints.
type pruneCase struct {
	name           string
	lay            func(v volume)
	parent         string // under the volume; /tier where it is left out
	keep, reserved []string
	want           string
	gone           []string
	shape          func(*transformers.PruneJob) // what is not as with pages of HiCache
	everyHost      bool                         // run it behind every host; else what kubelet starts is only compared
}

// hostile are names that a script may trip over; none may change what is kept.
var hostile = []string{"-rf", "--", " lead", "a b", "trail ", "it's", `say "hi"`, "new\nline", "end\n", "tab\t", "$HOME", "$(x y", "`id`", `back\slash`, "*", "[a-z]", "?", "~", "!", "(", "é-ü", "日本", "#x", ";ls", "&", "%s%d", strings.Repeat("n", 255)}

// keepable are the hostile names that a job can be told: the one that kubelet
// might read as a variable is refused.
func keepable() []string {
	var names []string
	for _, name := range hostile {
		if !strings.Contains(name, "$(") {
			names = append(names, name)
		}
	}
	return names
}

// hostileLines are the lines about names, as the shell lists them.
func hostileLines(what string, names []string) string {
	var out strings.Builder
	for _, name := range slices.Sorted(slices.Values(names)) {
		out.WriteString(what + strings.NewReplacer("\n", "?", "\t", "?").Replace(name) + "\n")
	}
	return out.String()
}

func hostilePaths(names []string) []string {
	var paths []string
	for _, name := range names {
		paths = append(paths, "/tier/"+name)
	}
	return paths
}

var pruneCases = []pruneCase{
	{
		name: "newest kept though not configured, configured kept though idle and old, fresh kept, old removed",
		lay: func(v volume) {
			v.put("tier/configured", 90*day, "a.bin", "b.bin")
			v.put("tier/old", 3*day, "a.bin", "b.k.bin", ".hidden.bin")
			v.put("tier/older", 30*day, "a.bin")
			v.put("tier/newest", 2*time.Hour, "a.bin")
			v.put("tier/fresh", 23*time.Hour+50*time.Minute, "a.bin")
			v.put("tier/just-old", 24*time.Hour+10*time.Minute, "a.bin")
		},
		keep: []string{"configured"},
		want: "kept: named by a manifest: configured\nremoved: just-old\nkept: written within 1440 minutes: fresh\n" +
			"removed: old\nremoved: older\nkept: newest: newest\ndone: 3 generations removed, 3 kept, 0 could not be removed\n",
		gone:      []string{"/tier/just-old", "/tier/old", "/tier/older"},
		everyHost: true,
	},
	{
		name: "the newest of old ones stays",
		lay: func(v volume) {
			v.put("tier/a", 40*day, "a.bin")
			v.put("tier/b", 20*day, "a.bin")
			v.put("tier/c", 30*day, "a.bin")
		},
		keep: []string{"not-there-yet"},
		want: "removed: a\nremoved: c\nkept: newest: b\ndone: 2 generations removed, 1 kept, 0 could not be removed\n",
		gone: []string{"/tier/a", "/tier/c"},
	},
	{
		name: "a fresh page in a directory that looks old",
		lay: func(v volume) {
			v.put("tier/rewritten", 9*day, "a.bin", "b.bin")
			v.age(filepath.Join(v.root, "tier/rewritten/b.bin"), time.Hour)
			v.put("tier/touched", 9*day, "a.bin")
			v.age(filepath.Join(v.root, "tier/touched"), time.Hour)
			v.put("tier/x", 9*day, "a.bin")
			v.put("tier/topmost", time.Minute, "a.bin")
		},
		keep: []string{"none"},
		want: "kept: written within 1440 minutes: rewritten\nkept: written within 1440 minutes: touched\nremoved: x\nkept: newest: topmost\ndone: 1 generations removed, 3 kept, 0 could not be removed\n",
		gone: []string{"/tier/x"},
	},
	{
		name: "a single generation",
		lay:  func(v volume) { v.put("tier/only", 900*day, "a.bin") },
		keep: []string{"x"},
		want: "kept: newest: only\ndone: 0 generations removed, 1 kept, 0 could not be removed\n",
	},
	{
		name: "two servers on one claim",
		lay: func(v volume) {
			v.put("tier/one", 30*day, "a.bin")
			v.put("tier/two", 40*day, "a.bin")
			v.put("tier/past", 35*day, "a.bin")
		},
		keep: []string{"two", "one"},
		want: "removed: past\nkept: named by a manifest: two\nkept: named by a manifest: one\ndone: 1 generations removed, 2 kept, 0 could not be removed\n",
		gone: []string{"/tier/past"},
	},
	{
		name: "decoys",
		lay: func(v volume) {
			v.put("tier", 9*day, "README", "beside.bin")
			v.put("tier/live", 2*day, "a.bin")
			v.put("tier/old", 8*day, "a.bin")
			v.put("tier/models", time.Hour, "w.safetensors")
			v.put("tier/lost+found", 9*day)
			v.put("tier/nested", 9*day, "a.bin", "deep/b.bin")
			v.put("tier/only-nested", 9*day, "deep/b.bin")
			v.put("tier/mixed", 9*day, "a.bin", "config.json")
			v.put("tier/mixedhidden", 9*day, "a.bin", ".lock")
			v.put("tier/directory-as-page", 9*day, "a.bin", "b.bin/")
			v.put("tier/linked-page", 9*day, "a.bin")
			v.link("../live/a.bin", "tier/linked-page/b.bin")
			v.put("tier/.hidden", 9*day, "a.bin")
			v.put("tier/..two", 9*day, "a.bin")
			v.put("tier/triton", 9*day, "0AB/kernel.hsaco")
			v.put("tier/weights", 9*day, "pytorch_model.bin")
			v.put("tier/hub/models--Qwen--Qwen3", 9*day, "blobs/0123", "refs/main", "snapshots/abc/pytorch_model.bin")
			v.put("other", 9*day, "a.bin")
		},
		keep:     []string{"live", "empty-config"},
		reserved: []string{"weights", "triton"},
		want: "kept: not a generation: README (no directory)\nkept: not a generation: beside.bin (no directory)\n" +
			"kept: not a generation: directory-as-page (not only pages in it)\n" +
			"kept: not a generation: hub (no page in it)\n" +
			"kept: not a generation: linked-page (not only pages in it)\n" +
			"kept: not a generation: lost+found (no page in it)\n" +
			"kept: not a generation: mixed (not only pages in it)\n" +
			"kept: not a generation: mixedhidden (not only pages in it)\n" +
			"kept: not a generation: models (no page in it)\n" +
			"kept: not a generation: nested (not only pages in it)\n" +
			"removed: old\n" +
			"kept: not a generation: only-nested (no page in it)\n" +
			"kept: used elsewhere: triton\nkept: used elsewhere: weights\n" +
			"kept: not a generation: .hidden (hidden)\nkept: not a generation: ..two (hidden)\n" +
			"kept: named by a manifest: live\ndone: 1 generations removed, 1 kept, 0 could not be removed\n",
		gone: []string{"/tier/old"},
	},
	{
		name: "the configured one is no generation yet",
		lay: func(v volume) {
			v.put("tier/empty", time.Hour)
			v.put("tier/a", 3*day, "a.bin")
			v.put("tier/b", 2*day, "a.bin")
		},
		keep: []string{"empty"},
		want: "removed: a\nkept: named by a manifest: empty (no page in it)\nkept: newest: b\ndone: 1 generations removed, 1 kept, 0 could not be removed\n",
		gone: []string{"/tier/a"},
	},
	{
		name: "links",
		lay: func(v volume) {
			v.put("outside", 9*day, "a.bin")
			v.put("tier/live", 2*day, "a.bin")
			v.put("tier/old", 3*day, "a.bin")
			v.link("/", "tier/root")
			v.link("../outside", "tier/away")
			v.link("live", "tier/current")
			v.link("nowhere", "tier/dangling")
			v.link("old", "tier/.previous")
		},
		keep: []string{"current"},
		want: "kept: not a generation: .previous (no directory)\nkept: not a generation: away (no directory)\nkept: not a generation: current (no directory)\n" +
			"kept: not a generation: dangling (no directory)\nkept: not a generation: root (no directory)\n" +
			"removed: old\nkept: newest: live\ndone: 1 generations removed, 1 kept, 0 could not be removed\n",
		gone: []string{"/tier/old"},
	},
	{
		name: "a parent that is a link out of the volume",
		lay: func(v volume) {
			away := v.t.TempDir()
			volume{v.t, away}.put("old", 9*day, "a.bin")
			v.link(away, "tier")
		},
		keep: []string{"x"},
		want: "nothing to do: a link leads out of the volume: VOLUME/tier\n",
	},
	{
		name: "a parent that is a link within the volume",
		lay: func(v volume) {
			v.put("data/a", 9*day, "a.bin")
			v.put("data/b", 8*day, "a.bin")
			v.link("data", "tier")
		},
		keep: []string{"x"},
		want: "removed: a\nkept: newest: b\ndone: 1 generations removed, 1 kept, 0 could not be removed\n",
		gone: []string{"/data/a"},
	},
	{
		name:   "the volume itself holds the generations",
		parent: "/.",
		lay: func(v volume) {
			v.put("a", 9*day, "a.bin")
			v.put("b", 8*day, "a.bin")
			v.put("lost+found", 8*day)
		},
		keep: []string{"x"},
		want: "removed: a\nkept: not a generation: lost+found (no page in it)\nkept: newest: b\ndone: 1 generations removed, 1 kept, 0 could not be removed\n",
		gone: []string{"/a"},
	},
	{
		name: "an empty parent",
		lay:  func(v volume) { v.put("tier", 9*day) },
		keep: []string{"x"},
		want: "done: 0 generations removed, 0 kept, 0 could not be removed\n",
	},
	{
		name: "an empty volume",
		lay:  func(volume) {},
		keep: []string{"x"},
		want: "nothing to do: no such directory: VOLUME/tier\n",
	},
	{
		name:   "a missing parent with a hostile name",
		lay:    func(volume) {},
		parent: "/a\nb/ $HOME/-x",
		keep:   []string{"x"},
		want:   "nothing to do: no such directory: VOLUME/a?b/ $HOME/-x\n",
	},
	{
		name: "a file in the parent's place",
		lay:  func(v volume) { v.put("", 9*day, "tier") },
		keep: []string{"x"},
		want: "nothing to do: no such directory: VOLUME/tier\n",
	},
	{
		name: "a parent with a hostile name",
		lay: func(v volume) {
			v.put("-t 'x' \"$HOME\"\n/a", 3*day, "a.bin")
			v.put("-t 'x' \"$HOME\"\n/b", 2*day, "a.bin")
		},
		parent: "/-t 'x' \"$HOME\"\n",
		keep:   []string{"x"},
		want:   "removed: a\nkept: newest: b\ndone: 1 generations removed, 1 kept, 0 could not be removed\n",
		gone:   []string{"/-t 'x' \"$HOME\"\n/a"},

		everyHost: true,
	},
	{
		name: "hostile names, old",
		lay: func(v volume) {
			for _, name := range hostile {
				v.put("tier/"+name, 3*day, "-a.bin", "b\nc.bin", "$x.bin", "d e.bin")
			}
			v.put("tier/ \nnewest", 2*day, "a.bin")
		},
		keep: []string{" ", "newest"},
		want: hostileLines("removed: ", hostile) + "kept: newest:  ?newest\n" +
			"done: " + strconv.Itoa(len(hostile)) + " generations removed, 1 kept, 0 could not be removed\n",
		gone: hostilePaths(hostile),
	},
	{
		name: "hostile names, configured",
		lay: func(v volume) {
			for _, name := range keepable() {
				v.put("tier/"+name, 3*day, "a.bin")
			}
			v.put("tier/ \nnewest", 2*day, "a.bin")
		},
		keep: keepable(),
		want: hostileLines("kept: named by a manifest: ", keepable()) + "kept: newest:  ?newest\n" +
			"done: 0 generations removed, " + strconv.Itoa(len(keepable())+1) + " kept, 0 could not be removed\n",
	},
	{
		name: "hostile names, reserved",
		lay: func(v volume) {
			for _, name := range keepable() {
				v.put("tier/"+name, 3*day, "a.bin")
			}
		},
		keep:     []string{"x"},
		reserved: keepable(),
		want: hostileLines("kept: used elsewhere: ", keepable()) +
			"done: 0 generations removed, 0 kept, 0 could not be removed\n",
	},
	{
		name: "a name with bytes that are no text",
		lay: func(v volume) {
			v.put("tier/\xff\xfe", 3*day, "\xff.bin")
			v.put("tier/new", 2*day, "a.bin")
		},
		keep: []string{"x"},
		want: "removed: \xff\xfe\nkept: newest: new\ndone: 1 generations removed, 1 kept, 0 could not be removed\n",
		gone: []string{"/tier/\xff\xfe"},
	},
	{
		name: "names that others are part of",
		lay: func(v volume) {
			v.put("tier/ab", 4*day, "a.bin")
			v.put("tier/b", 5*day, "a.bin")
			v.put("tier/abc", 6*day, "a.bin")
			v.put("tier/z", 1*day, "a.bin")
		},
		keep: []string{"abc", "*"}, reserved: []string{"?"},
		want: "kept: named by a manifest: abc\nremoved: b\nremoved: ab\nkept: newest: z\ndone: 2 generations removed, 2 kept, 0 could not be removed\n",
		gone: []string{"/tier/ab", "/tier/b"},
	},
	{
		name: "mtimes in the future count as new",
		lay: func(v volume) {
			v.put("tier/ahead", -3*day, "a.bin")
			v.put("tier/aheadtoo", -2*day, "a.bin")
			v.put("tier/old", 3*day, "a.bin")
		},
		keep: []string{"x"},
		want: "kept: written within 1440 minutes: aheadtoo\nremoved: old\nkept: newest: ahead\ndone: 1 generations removed, 2 kept, 0 could not be removed\n",
		gone: []string{"/tier/old"},
	},
	{
		name: "equal mtimes: the first by name is the newest",
		lay: func(v volume) {
			for _, name := range []string{"c", "a", "b"} {
				v.put("tier/"+name, 3*day, "a.bin")
			}
		},
		keep: []string{"x"},
		want: "removed: b\nremoved: c\nkept: newest: a\ndone: 2 generations removed, 1 kept, 0 could not be removed\n",
		gone: []string{"/tier/b", "/tier/c"},
	},
}
