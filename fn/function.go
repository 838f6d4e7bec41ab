package fn

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/trimtab/trimtab/internal/config"
	"github.com/trimtab/trimtab/internal/monitoring"
	"github.com/trimtab/trimtab/internal/report"
	"github.com/trimtab/trimtab/internal/rule"
	"github.com/trimtab/trimtab/internal/stream"
)

// The exit codes of the contract.
const (
	ExitClean    = 0 // nothing of severity error remains
	ExitFindings = 1 // at least one error remains, or a check would change something
	ExitUnable   = 2 // the work could not be done and nothing was written
)

// Serve is the KRM function: one ResourceList is read, one complete ResourceList
// with results is written, or one line to stderr and nothing to stdout. It
// returns the exit code. It reads no environment. parse reads the PromQL of
// dashboards and rules; nil: they are not looked at.
func Serve(stdin io.Reader, stdout, stderr io.Writer, parse monitoring.Parse) (code int) {
	defer func() {
		if fault := recover(); fault != nil {
			code = unable(stderr, fmt.Errorf("internal fault, please report the input: %v", fault))
		}
	}()
	defer debug.SetGCPercent(debug.SetGCPercent(100)) // reading decides on another
	data, err := readAll(stdin)
	if err != nil {
		return unable(stderr, fmt.Errorf("cannot read standard input: %w", err))
	}
	written, out, err := run(data, parse)
	if err != nil {
		return unable(stderr, err)
	}
	if err := stream.Write(stdout, written.data, written.results); err != nil {
		return unable(stderr, fmt.Errorf("cannot write standard output: %w", err))
	}
	_ = out.Tell(stderr)
	_ = report.WriteErrorsFirst(stderr, out.Report) // the findings are in results as well
	if out.Failed {
		return ExitFindings
	}
	return ExitClean
}

func unable(stderr io.Writer, err error) int {
	fmt.Fprintln(stderr, "trimtab:", strings.Join(strings.Fields(err.Error()), " "))
	return ExitUnable
}

// Run makes the output ResourceList, with results, from the input one. failed is
// true when a finding remains at or above failOn. An error means that the work
// could not be done. parse is that of Serve.
func Run(list []byte, parse monitoring.Parse) (written []byte, failed bool, err error) {
	made, out, err := run(list, parse)
	if err != nil {
		return nil, false, err
	}
	written, err = stream.Apply(made.data, made.results)
	return written, out.Failed, err
}

// output is the list after the edits, and the splices that add the results: no
// second copy of a large list is made for them.
type output struct {
	data    []byte
	results []stream.Splice
}

func run(data []byte, parse monitoring.Parse) (*output, *Outcome, error) {
	source, err := stream.ParseResourceList(data)
	if err != nil {
		return nil, nil, err
	}
	chosen, err := functionConfig(source)
	if err != nil {
		return nil, nil, err
	}
	out, err := Process(Input{
		Sources: []*stream.Source{source}, Configs: []*config.Config{chosen}, Mode: chosen.Kind,
		OnlySelected: true, HostEncodes: true, ParseQuery: parse,
	})
	if err != nil {
		return nil, nil, err
	}
	if changed, ok := out.rewritten[source]; ok {
		source = changed
	}
	results, err := withResults(source, out.Report)
	if err != nil {
		return nil, nil, err
	}
	if len(bytes.TrimSpace(source.Data)) == 0 {
		return nil, nil, errors.New("internal fault: the output is empty, please report the input")
	}
	return &output{source.Data, results}, out, nil
}

func functionConfig(source *stream.Source) (*config.Config, error) {
	if source.List == nil || source.List.FunctionConfig == nil {
		return config.Default(), nil
	}
	root, err := source.List.FunctionConfig.Root()
	if err != nil {
		return nil, err
	}
	return config.Decode(root, config.FunctionConfig, rule.Names())
}

// withResults adds the findings to the results of a ResourceList.
func withResults(source *stream.Source, found report.Report) ([]stream.Splice, error) {
	results := report.Results(found)
	entries := make([]any, len(results))
	for i, result := range results {
		entries[i] = result
	}
	return source.ResultsSplice(entries)
}

// annotationsOf are the annotations of the object an item holds.
func annotationsOf(item *stream.Item) map[string]string {
	root, err := item.Root()
	if err != nil || root == nil {
		return nil
	}
	var object struct {
		Metadata struct {
			Annotations map[string]string `yaml:"annotations"`
		} `yaml:"metadata"`
	}
	_ = root.Decode(&object) // an object of another form has none
	return object.Metadata.Annotations
}

// hostFile is the file and the index in it that a host's annotations give an
// object. kustomize invents a path after another function has run; there only
// its origin annotation tells the truth.
func hostFile(annotations map[string]string) (string, int) {
	if origin := annotations["config.kubernetes.io/origin"]; origin != "" {
		var from struct {
			Path string `yaml:"path"`
		}
		if yaml.Unmarshal([]byte(origin), &from) == nil && from.Path != "" {
			return from.Path, 0
		}
	}
	if _, kustomize := annotations["kustomize.config.k8s.io/id"]; kustomize {
		return "", 0
	}
	for _, prefix := range []string{"internal.config.kubernetes.io/", "config.kubernetes.io/"} {
		if file := annotations[prefix+"path"]; file != "" {
			index, _ := strconv.Atoi(annotations[prefix+"index"])
			return file, index
		}
	}
	return "", 0
}
