package stream

import "testing"

var seeds = []string{
	"",
	"a: 1\n",
	"---\na: 1\n---\nb: [x, 'y', \"z\"]\n---\n",
	"apiVersion: v1\nkind: List\nitems:\n- a: 1\n  b:\n  - x\n  - - y\n    - z: |\n        text\n      w: >-\n        folded\n# c\n- a: {}\n",
	"apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nfunctionConfig:\n  a: b\nitems:\n  - kind: A # x\n    spec: {a: 1, \"b\": [1, two]}\n\n  - kind: B\nresults: []\n",
	"{\"apiVersion\": \"config.kubernetes.io/v1\", \"kind\": \"ResourceList\", \"items\": [{\"kind\": \"A\"}, null]}\n",
	"a: &x 1\nb: *x\n<<: {c: d}\n",
	"\xef\xbb\xbfa: \"é\\u00e9\" # ü\r\nb: |+\r\n  x\r\n\r\nc: d\r\n",
	"a: b\n  c\nd: 'x\n  y'\n? e\n: f\n",
	"--- # c\n- |2-\n   x\n- --flag\n- -\n...\n# end\n",
}

// FuzzScan demands that the line scan is right wherever it is certain.
func FuzzScan(f *testing.F) {
	for _, seed := range seeds {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		requireParser(t, data)
		requireParity(t, data)
	})
}

// FuzzList puts the input below the head of a ResourceList, so that most of it
// is read as items.
func FuzzList(f *testing.F) {
	for _, seed := range []string{
		"- a: 1\n  b: [x, \"y\"]\n# c\n- c:\n  - d\nresults: []\n",
		"  - kind: A\n    x: |\n      text\n\n  -\n    kind: B\n",
		"- a: &x 1\n- b: *x\n- *y\n",
		"  [{a: 1}, {b: 'c\n  d'}, null] # end\nextra: {}\n",
		"- !!map {a: 1}\n- ? b\n  : c\n- <<: {d: e}\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		data = append([]byte(listHead+"items:\n"), data...)
		requireParser(t, data)
		requireParity(t, data)
	})
}
