// Bench times whole programs in turn, trimtab against what it is compared with,
// and prints the median of the ratios of the pairs with their spread, beside the
// most that the ratio may be. Run it by `make bench`.
package main

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// pairs is how often two programs are run in turn.
const pairs = 7

func main() {
	if len(os.Args) > 1 {
		measure(os.Args[1:])
		return
	}
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// programs are the paths of what is timed.
type programs struct{ trimtab, identity, hello, kustomize string }

func run() error {
	dir, err := os.MkdirTemp("", "bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	built := programs{filepath.Join(dir, "trimtab"), filepath.Join(dir, "identity"), filepath.Join(dir, "hello"), filepath.Join(dir, "kustomize")}
	for path, source := range map[string]string{built.kustomize: "sigs.k8s.io/kustomize/kustomize/v5", built.trimtab: "", built.identity: "./hack/bench/identity", built.hello: "./hack/bench/hello"} {
		build := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", path, source)
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if path == built.trimtab {
			build = exec.Command("make", "--silent", "build", "BINARY="+path)
		}
		if out, err := build.CombinedOutput(); err != nil {
			return fmt.Errorf("%w\n%s", err, out)
		}
	}
	fmt.Printf("%-58s %8s %17s %6s\n", "ratio, median of 7 pairs", "", "least to most", "limit")
	for _, one := range []func(programs, string) error{cluster, bystanders, servers, growth, few, hosted, files} {
		if err := one(built, dir); err != nil {
			return err
		}
	}
	return nil
}

// sample is one run of a program.
type sample struct {
	wall time.Duration
	// peak is the most memory it held, in bytes.
	peak int64
}

// timed runs a program below a small process of our own: what Linux tells of the
// memory of a child begins with that of its parent.
func timed(stdin []byte, name string, args ...string) (sample, error) {
	self, err := os.Executable()
	if err != nil {
		return sample{}, err
	}
	cmd := exec.Command(self, append([]string{name}, args...)...)
	cmd.Stdin = bytes.NewReader(stdin)
	var figures, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &figures, &stderr
	if err := cmd.Run(); err != nil {
		return sample{}, fmt.Errorf("%s %s: %w: %s", filepath.Base(name), strings.Join(args, " "), err, stderr.String())
	}
	var one sample
	_, err = fmt.Sscan(figures.String(), (*int64)(&one.wall), &one.peak)
	return one, err
}

// measure runs a program with the standard input of this one, and prints how
// long it took in nanoseconds, and the most memory it held in bytes.
func measure(command []string) {
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stdin = os.Stdin
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	start := time.Now()
	err := cmd.Run()
	took := time.Since(start)
	if exit, ok := err.(*exec.ExitError); err != nil && !(ok && exit.ExitCode() == 1) { // findings of severity error
		fmt.Fprintf(os.Stderr, "%v\n%s", err, &stderr)
		os.Exit(1)
	}
	const kib = 1 << 10
	fmt.Println(took.Nanoseconds(), cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss*kib)
}

// compare runs two programs in turn.
func compare(first, second func() (sample, error)) (firsts, seconds []sample, err error) {
	for range pairs {
		a, err := first()
		if err != nil {
			return nil, nil, err
		}
		b, err := second()
		if err != nil {
			return nil, nil, err
		}
		firsts, seconds = append(firsts, a), append(seconds, b)
	}
	return firsts, seconds, nil
}

// say prints the ratios of the pairs.
func say(name string, ratios []float64, limit float64) {
	slices.Sort(ratios)
	median, verdict := ratios[len(ratios)/2], ""
	if median > limit {
		verdict = "  above"
	}
	fmt.Printf("%-58s %8.3f %8.3f %8.3f %6.2f%s\n", name, median, ratios[0], ratios[len(ratios)-1], limit, verdict)
}

func walls(firsts, seconds []sample) []float64 {
	var ratios []float64
	for i := range firsts {
		ratios = append(ratios, float64(firsts[i].wall)/float64(seconds[i].wall))
	}
	return ratios
}

// list is a ResourceList of n items, of which every one in `every` is a server
// (0: none).
func list(n, every int) []byte {
	var b bytes.Buffer
	b.WriteString("apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n")
	for i := range n {
		if every > 0 && i%every == 0 {
			fmt.Fprintf(&b, server, i)
			continue
		}
		fmt.Fprintf(&b, bystander, i, i%50, i, strings.Repeat("  some text that a ConfigMap holds\n      ", 40))
	}
	return b.Bytes()
}

const bystander = `- apiVersion: v1
  kind: ConfigMap
  metadata:
    name: item-%d
    namespace: team-%d
    labels: {app: "a%d"}
  data:
    text: |
      %s
`

const server = `- apiVersion: apps/v1
  kind: Deployment
  metadata:
    name: server-%d
  spec:
    template:
      spec:
        containers:
        - name: server
          image: lmsysorg/sglang:v0.5.16
          command: [python3, -m, sglang.launch_server]
          args:
          - --model-path=/models/chat
          - --pre-warm-nccl
          - --tp-size=1
          - --disable-custom-all-reduce
          resources: {limits: {nvidia.com/gpu: 1}}
`

func against(built programs, input []byte) (ours, theirs []sample, err error) {
	return compare(
		func() (sample, error) { return timed(input, built.trimtab) },
		func() (sample, error) { return timed(input, built.identity) },
	)
}

func cluster(built programs, _ string) error {
	input := list(10_000, 50)
	ours, theirs, err := against(built, input)
	if err != nil {
		return err
	}
	say("10,000 items, 2 % servers: wall / kyaml identity", walls(ours, theirs), 0.05)
	var memory []float64
	for _, one := range ours {
		memory = append(memory, float64(one.peak)/float64(len(input)))
	}
	say("the same: peak memory / input", memory, 3)
	return nil
}

func bystanders(built programs, _ string) error {
	ours, theirs, err := against(built, list(10_000, 0))
	if err == nil {
		say("10,000 items, no server: wall / kyaml identity", walls(ours, theirs), 0.02)
	}
	return err
}

func servers(built programs, _ string) error {
	ours, theirs, err := against(built, list(1_000, 1))
	if err == nil {
		say("1,000 servers, all edited: wall / kyaml identity", walls(ours, theirs), 0.9)
	}
	return err
}

func growth(built programs, _ string) error {
	small, large := list(1_000, 50), list(10_000, 50)
	ours, before, err := compare(
		func() (sample, error) { return timed(large, built.trimtab) },
		func() (sample, error) { return timed(small, built.trimtab) },
	)
	if err != nil {
		return err
	}
	ratios := walls(ours, before)
	for i := range ratios {
		ratios[i] = math.Log10(ratios[i])
	}
	say("1,000 to 10,000 items: exponent", ratios, 1.05)
	return nil
}

func few(built programs, _ string) error {
	input := list(10, 0)
	ours, theirs, err := compare(
		func() (sample, error) { return timed(input, built.trimtab) },
		func() (sample, error) { return timed(nil, built.hello) },
	)
	if err == nil {
		say("10 items, no server: wall / hello", walls(ours, theirs), 6)
	}
	return err
}

// hosted builds 100 objects by kustomize with trimtab as the function, and with
// cat in its place.
func hosted(built programs, dir string) error {
	var builds []func() (sample, error)
	for _, path := range []string{built.trimtab, "/bin/cat"} {
		base := filepath.Join(dir, "hosted-by-"+filepath.Base(path))
		if err := os.MkdirAll(base, 0o755); err != nil {
			return err
		}
		function := "apiVersion: trimtab.dev/v1alpha1\nkind: Trim\nmetadata:\n  name: trim\n  annotations:\n    config.kubernetes.io/function: |\n      exec:\n        path: " + path + "\n"
		for file, text := range map[string]string{
			"objects.yaml": documents(list(100, 50)), "trim.yaml": function,
			"kustomization.yaml": "resources: [objects.yaml]\ntransformers: [trim.yaml]\n",
		} {
			if err := os.WriteFile(filepath.Join(base, file), []byte(text), 0o644); err != nil {
				return err
			}
		}
		builds = append(builds, func() (sample, error) {
			return timed(nil, built.kustomize, "build", "--enable-alpha-plugins", "--enable-exec", base)
		})
	}
	ours, theirs, err := compare(builds[0], builds[1])
	if err == nil {
		say("kustomize build of 100 objects, 2 % servers: / cat", walls(ours, theirs), 1.04)
	}
	return err
}

// documents are the items of a list as the documents of a file.
func documents(list []byte) string {
	items := bytes.ReplaceAll(bytes.TrimPrefix(list, []byte("apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n")), []byte("\n  "), []byte("\n"))
	return strings.ReplaceAll(string(items), "- apiVersion", "---\napiVersion")
}

func files(built programs, dir string) error {
	tree := filepath.Join(dir, "tree")
	var names []string
	for i := range 1_000 {
		folder := filepath.Join(tree, fmt.Sprint(i%20))
		if err := os.MkdirAll(folder, 0o755); err != nil {
			return err
		}
		text := documents(list(10, 0))
		name := filepath.Join(folder, fmt.Sprintf("f%d.yaml", i))
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			return err
		}
		names = append(names, name)
	}
	ours, theirs, err := compare(
		func() (sample, error) { return timed(nil, built.trimtab, "verify", tree) },
		func() (sample, error) { return timed(nil, "cat", names...) },
	)
	if err == nil {
		say("10,000 documents in 1,000 files: wall / cat", walls(ours, theirs), 8)
	}
	return err
}
