package e2e

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// twoContainers is one object with two servers; annotations are about both.
func twoContainers(annotations string) string {
	const container = `    - name: NAME
      image: lmsysorg/sglang:v0.5.16
      command: [python3, -m, sglang.launch_server]
      args:
        - --model-path=/models/pair
ARGS      resources: {limits: {nvidia.com/gpu: 1}}
`
	return "apiVersion: v1\nkind: Pod\nmetadata:\n  name: pair\n  annotations:\n" + indent(annotations, "    ") + "spec:\n  containers:\n" +
		strings.NewReplacer("NAME", "one", "ARGS", "        - --pre-warm-nccl\n        - --disable-custom-all-reduce\n").Replace(container) +
		strings.NewReplacer("NAME", "two", "ARGS", "        - --num-continuous-decode-steps=4\n").Replace(container)
}

// What an object's owner says about it, and what comments say, decides in files
// and in hosts alike.
func TestExceptions(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, annotations string
		kept              []string
		stale             []string
	}{
		{"none", "a: b\n", nil, nil},
		{"keep", "trimtab.dev/keep: \"--pre-warm-nccl: two ranks soon\"\n", []string{"--pre-warm-nccl"}, nil},
		{"keep by rule", "trimtab.dev/keep: inert-setting --disable-custom-all-reduce\n", []string{"--disable-custom-all-reduce"}, nil},
		{"ignore", "trimtab.dev/ignore: \"inert-setting --pre-warm-nccl: measured\"\n", []string{"--pre-warm-nccl"}, nil},
		{"until a release to come", "trimtab.dev/keep: \"--pre-warm-nccl until sglang>=0.6: then it goes\"\n", []string{"--pre-warm-nccl"}, nil},
		{"until a release that came", "trimtab.dev/keep: \"--pre-warm-nccl until sglang>=0.5.10: it went\"\n", nil, []string{"--pre-warm-nccl"}},
		{"keep of nothing", "trimtab.dev/keep: --no-such-flag\n", nil, []string{"--no-such-flag"}},
		{"ignore of nothing", "trimtab.dev/ignore: \"gpu-mismatch --tp-size: one\"\n", nil, []string{"--tp-size"}},
	}
	all := []string{"--pre-warm-nccl", "--disable-custom-all-reduce", "--num-continuous-decode-steps=4"}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			manifest := twoContainers(test.annotations)
			got := run(t, t.TempDir(), manifest, trimtab, "trim", "-o", "json", "-")
			require.Equal(t, 0, got.code, got.stderr)
			inFunction := run(t, t.TempDir(), list("", manifest), trimtab)
			require.Equal(t, 0, inFunction.code, inFunction.stderr)
			args := func(text string) string { _, args, _ := strings.Cut(text, "containers:"); return args }
			for _, flag := range all {
				for _, text := range []string{args(got.stdout), args(beforeResults(inFunction.stdout))} {
					if slices.Contains(test.kept, flag) {
						require.Contains(t, text, flag)
					} else {
						require.NotContains(t, text, flag)
					}
				}
			}
			var stale []string
			for _, f := range parseReport(t, got.stderr).Findings {
				if f.Rule == "stale-exception" {
					stale = append(stale, f.Setting)
				}
			}
			require.Equal(t, test.stale, stale, "an exception is stale once, where no server of the object needs it")
		})
	}
}

// An exception without what it must say is refused.
func TestExceptionsRefused(t *testing.T) {
	t.Parallel()
	for annotation, says := range map[string]string{
		"trimtab.dev/ignore: inert-setting --pre-warm-nccl\n":                    "trimtab.dev/ignore",
		"trimtab.dev/ignore: \"--pre-warm-nccl: no rule\"\n":                     "trimtab.dev/ignore",
		"trimtab.dev/keep: \"--pre-warm-nccl until soon: no release\"\n":         "trimtab.dev/keep",
		"trimtab.dev/kepe: --pre-warm-nccl\n":                                    "trimtab.dev/keep",
		"trimtab.dev/engine: slang\n":                                            "did you mean \"sglang\"?",
		"trimtab.dev/ignore: \"inert-settings --pre-warm-nccl: wrong rule\"\n":   "inert-setting",
		"trimtab.dev/engine: sglang@newest\n":                                    "trimtab.dev/engine",
		"trimtab.dev/keep: \"inert-setings --pre-warm-nccl: rule misspelled\"\n": "inert-setting",
	} {
		got := run(t, t.TempDir(), list("", twoContainers(annotation)), trimtab)
		require.Equal(t, 2, got.code, annotation)
		require.Empty(t, got.stdout)
		require.Equal(t, 1, strings.Count(got.stderr, "\n"), got.stderr)
		require.Contains(t, got.stderr, says)
	}
}

// Comments that reach us keep a setting when they say why, or say trimtab:keep.
func TestExceptionsInComments(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, comment string }{
		{"above, with a reason", "            # --pre-warm-nccl shortens our first request by far\n            - --pre-warm-nccl\n"},
		{"beside, with a reason", "            - --pre-warm-nccl # pre-warm-nccl shortens our first request\n"},
		{"above, keep", "            # trimtab:keep\n            - --pre-warm-nccl\n"},
		{"beside, keep", "            - --pre-warm-nccl # trimtab:keep\n"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			manifest := strings.Replace(deployment, "            - --pre-warm-nccl\n", test.comment, 1)
			got := run(t, t.TempDir(), manifest, trimtab, "trim", "-")
			require.Equal(t, 0, got.code, got.stderr)
			require.Contains(t, got.stdout, test.comment)
			require.NotContains(t, got.stdout, "--disable-custom-all-reduce")
			inFunction := run(t, t.TempDir(), list("", manifest), trimtab)
			require.Contains(t, beforeResults(inFunction.stdout), "--pre-warm-nccl")
		})
	}
}

// S3: results of earlier functions stay in front of ours.
func TestEarlierResults(t *testing.T) {
	t.Parallel()
	for _, earlier := range []string{
		"results:\n- message: earlier\n  severity: info\n", "results: [{message: earlier, severity: info}]\n", "results: []\n", "results: null\n",
	} {
		for _, input := range []string{list("", deployment) + earlier, strings.Replace(list("", deployment), "items:\n", earlier+"items:\n", 1)} {
			got := run(t, t.TempDir(), input, trimtab)
			require.Equal(t, 0, got.code, got.stderr)
			results := parseList(t, got.stdout).Results
			require.Equal(t, trimmed, settingsOf(ofRule(results, "inert-setting")))
			stands := slices.IndexFunc(results, func(r result) bool { return r.Message == "earlier" })
			if strings.Contains(earlier, "message") {
				require.Equal(t, 0, stands)
			} else {
				require.Equal(t, -1, stands)
			}
		}
	}
}

// C11: `kpt fn doc` prints what --help prints.
func TestHelpC11(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"--help"}, {"help"}, {"trim", "--help"}, {"version"}, {"completion", "bash"}} {
		got := run(t, t.TempDir(), "", trimtab, args...)
		require.Equal(t, 0, got.code, args)
		require.NotEmpty(t, got.stdout)
		require.Empty(t, got.stderr)
	}
	require.Contains(t, run(t, t.TempDir(), "", trimtab, "version").stdout, "sglang ")
}

// Twice is once for a finding that stays, too: its result is there already.
func TestResultsTwiceIsOnce(t *testing.T) {
	t.Parallel()
	once := run(t, t.TempDir(), list("", bystander, refused), trimtab)
	require.Equal(t, 1, once.code)
	require.Equal(t, once, run(t, t.TempDir(), once.stdout, trimtab))
}
