package e2e

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	// hostileSeconds is how much of one core a hostile input may take.
	hostileSeconds = 20
	// hostileMemory is how much it may take of the memory, beside twenty times
	// its own size.
	hostileMemory = 200 << 20 // bytes
)

// laughs are lists of aliases of lists of aliases: 10^depth texts when expanded.
func laughs(depth int) string {
	var b strings.Builder
	b.WriteString("a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol, lol]\n")
	for i := 1; i < depth; i++ {
		fmt.Fprintf(&b, "a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i-1), 10), ", "))
	}
	return b.String()
}

// withWords is deployment with more words on its command line.
func withWords(words string) string {
	return strings.Replace(deployment, "            - --pre-warm-nccl\n", words, 1)
}

// withVariables is deployment with a variable that it does not read, so many
// times.
func withVariables(count int) string {
	return strings.Replace(deployment, "            - name: HF_HOME\n", strings.Repeat("            - {name: SGLANG_X, value: \"1\"}\n", count)+"            - name: HF_HOME\n", 1)
}

func numbered(line string, count int) string {
	var b strings.Builder
	for i := range count {
		fmt.Fprintf(&b, line, i)
	}
	return b.String()
}

// hostile are documents that somebody, or some generator, wrote badly. None of
// them is named by a finding of severity error.
func hostile() map[string]string {
	head := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: hostile}\n"
	tail := "---\n" + deployment
	return map[string]string{
		"billion laughs beside a server":    head + laughs(10) + tail,
		"billion laughs in a server":        deployment + laughs(10),
		"billion laughs as arguments":       laughs(9) + withWords("            - *a8\n"),
		"billion laughs in a container":     laughs(10) + strings.Replace(withVariables(1), "          env:\n", "          more: *a9\n          env:\n", 1),
		"billion laughs of merge keys":      "a: &a {x: 1}\nb: &b {<<: [*a, *a, *a, *a, *a, *a, *a, *a]}\nc: &c {<<: [*b, *b, *b, *b, *b, *b, *b, *b]}\nd: {<<: [*c, *c, *c, *c]}\n" + deployment,
		"alias to itself":                   head + "data: &a [*a]\n" + tail,
		"line of one MB":                    head + "data: {text: \"" + strings.Repeat("word ", 200_000) + "\"}\n" + tail,
		"line of one MB in a server":        withWords("            - --model-path=" + strings.Repeat("m", 1<<20) + "\n"),
		"ten thousand deep, flow":           head + "data: " + strings.Repeat("[", 9_000) + strings.Repeat("]", 9_000) + "\n" + tail,
		"ten thousand deep, flow, server":   deployment + "more: " + strings.Repeat("{a: ", 9_000) + "1" + strings.Repeat("}", 9_000) + "\n",
		"ten thousand deep, block":          head + "data:\n" + deepBlock(2_000) + tail,
		"fifty thousand deep, flow":         head + "data: " + strings.Repeat("[", 50_000) + strings.Repeat("]", 50_000) + "\n" + tail,
		"invalid UTF-8":                     head + "data: {text: \"a\xff\xfeb\"}\n" + tail,
		"NUL":                               head + "data: {text: \"a\x00b\"}\n" + tail,
		"U+2028":                            head + "data: {text: \"a\u2028b\u2029c\u0085d\"}\n" + tail,
		"U+2028 in a server":                withWords("            - \"--model-path=a\u2028b\"\n"),
		"duplicate keys":                    head + "data: {a: 1}\ndata: {a: 2}\n" + tail,
		"duplicate keys in a server":        deployment + "spec: {}\n",
		"kind over two lines":               strings.Replace(deployment, "kind: Deployment", "kind:\n  Deployment", 1),
		"kind quoted over two lines":        strings.Replace(deployment, "kind: Deployment", "kind: \"Deploy\\\n  ment\"", 1),
		"kind as a block":                   strings.Replace(deployment, "kind: Deployment", "kind: >-\n  Deployment", 1),
		"kind with a tag":                   strings.Replace(deployment, "kind: Deployment", "kind: !!str Deployment", 1),
		"kind as an alias":                  "x: &k Deployment\n" + strings.Replace(deployment, "kind: Deployment", "kind: *k", 1),
		"key as a complex mapping":          head + "? {a: b}\n: c\n" + tail,
		"unknown tag":                       head + "data: !secret {a: !vault b}\n" + tail,
		"binary tag":                        head + "data: {a: !!binary aGVsbG8=}\n" + tail,
		"merge keys in a server":            "x: &x {name: server, image: \"lmsysorg/sglang:v0.5.16\"}\n" + strings.Replace(deployment, "        - name: server\n          image: lmsysorg/sglang:v0.5.16\n", "        - <<: *x\n", 1),
		"flow style":                        `{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: {template: {spec: {containers: [{name: s, image: "lmsysorg/sglang:v0.5.16", command: [python3, -m, sglang.launch_server], args: ["--model-path=/m", --pre-warm-nccl, --pre-warm-nccl]}]}}}}` + "\n",
		"ten thousand flags":                withWords(strings.Repeat("            - --bogus-flag\n", 10_000)),
		"ten thousand variables":            withVariables(10_000),
		"five thousand kinds of variables":  strings.ReplaceAll(withVariables(1), "            - {name: SGLANG_X, value: \"1\"}\n", numbered("            - {name: SGLANG_X%d, value: \"1\"}\n", 5_000)),
		"five thousand kinds of flags":      withWords(numbered("            - --bogus-flag-%d\n", 5_000)),
		"twenty thousand containers":        strings.Replace(deployment, "      containers:\n", "      containers:\n"+strings.Repeat("        - {name: a, image: busybox}\n", 20_000), 1),
		"a thousand servers in one":         strings.Replace(deployment, "      containers:\n", "      containers:\n"+strings.Repeat("        - {name: a, image: \"lmsysorg/sglang:v0.5.16\", args: [--pre-warm-nccl]}\n", 1_000), 1),
		"a hundred thousand documents":      strings.Repeat("---\na: 1\n", 100_000) + tail,
		"a hundred thousand document marks": strings.Repeat("---\n", 100_000) + deployment,
		"a value of ten MB":                 head + "data: |\n" + strings.Repeat("  a line of text, and one more of the same kind\n", 200_000) + tail,
		"chained recording rules":           recordingRules(2_000) + tail,
		"JSON of a megabyte as option":      withWords("            - '--json-model-override-args={\"a\": [" + strings.Repeat("1,", 500_000) + "1]}'\n"),
		"JSON ten thousand deep as option":  withWords("            - '--json-model-override-args=" + strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000) + "'\n"),
		"a number of a million digits":      withWords("            - --max-running-requests=" + strings.Repeat("9", 1_000_000) + "\n"),
		"a comment of a megabyte":           "# " + strings.Repeat("vllm ", 200_000) + "\n" + deployment,
		"nothing but carriage returns":      strings.ReplaceAll(deployment, "\n", "\r"),
		"tabs everywhere":                   strings.ReplaceAll(deployment, "  ", "\t"),
		"an unclosed quote":                 head + "data: \"" + strings.Repeat("a\n", 100_000),
		"words of quotes":                   withWords("            - '''''''--a=\"\"'''\n            - \"\\x00\\u2028\\\"\"\n"),
		"ANSI escapes":                      withWords("            - \"--bogus=\\e[31mred\\e[0m\\a\"\n"),
	}
}

func deepBlock(depth int) string {
	var b strings.Builder
	for i := range depth {
		b.WriteString(strings.Repeat(" ", i+1) + "a:\n")
	}
	b.WriteString(strings.Repeat(" ", depth+1) + "b\n")
	return b.String()
}

// recordingRules each ask for what the one before records.
func recordingRules(count int) string {
	var b strings.Builder
	b.WriteString("apiVersion: monitoring.coreos.com/v1\nkind: PrometheusRule\nmetadata: {name: chain}\nspec:\n  groups:\n  - name: g\n    rules:\n")
	previous := "vllm:num_requests_running"
	for i := range count {
		record := fmt.Sprintf("chain:r%d", i)
		fmt.Fprintf(&b, "    - {record: %q, expr: %q}\n", record, "sum("+previous+")")
		previous = record
	}
	return b.String()
}

// Hostile input takes seconds and bounded memory, and is either left as it was
// but for what findings name, or refused in one line.
func TestInputHostile(t *testing.T) {
	t.Parallel()
	for name, text := range hostile() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, verb := range []string{"verify", "trim"} {
				got := bounded(t, text, len(text), verb, "-")
				if got.code == 2 {
					require.Empty(t, got.stdout)
					require.Equal(t, 1, strings.Count(got.stderr, "\n"), got.stderr)
					require.Less(t, len(got.stderr), 500)
					continue
				}
				require.Contains(t, []int{0, 1}, got.code, got.stderr)
				require.NotContains(t, got.stderr, "internal fault")
				require.NotContains(t, got.stderr, "\x1b")
				if verb != "trim" {
					require.NotContains(t, got.stdout, "\x1b")
					continue
				}
				if strings.Count(text, "\n") < 3 {
					continue // one line that may change
				}
				removed, added := changedLines(text, got.stdout)
				require.Empty(t, added)
				for _, line := range removed {
					require.Regexp(t, `--|CUDA_VISIBLE_DEVICES|value: "0"|SGLANG_X`, line)
				}
			}
		})
	}
}

// inBounds runs a program with a number of seconds of a core, and writes into a
// file how many kilobytes of memory it took at most. What is told of a process
// includes the memory of the one that started it, which is little here.
const inBounds = `
import resource, subprocess, sys
seconds = int(sys.argv[1])
resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
code = subprocess.run(sys.argv[3:]).returncode
with open(sys.argv[2], "w") as file:
    file.write(str(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss))
sys.exit(code if code >= 0 else 128 - code)
`

// bounded runs trimtab with as much of a core and of the memory as hostile input
// of a size may take.
func bounded(t *testing.T, stdin string, size int, args ...string) ran {
	t.Helper()
	usage := filepath.Join(t.TempDir(), "usage")
	python := tool(t, "python3", "apt-get install python3")
	got := run(t, t.TempDir(), stdin, python, append([]string{"-c", inBounds, strconv.Itoa(hostileSeconds), usage, trimtab}, args...)...)
	require.Less(t, got.code, 128, "killed: it takes more than %d s", hostileSeconds)
	kilobytes, err := strconv.ParseInt(read(t, usage), 10, 64)
	require.NoError(t, err)
	require.Less(t, kilobytes<<10, int64(hostileMemory+20*size), "bytes of memory for %d of input", size)
	return got
}
