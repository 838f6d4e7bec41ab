package fn_test

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trimtab/trimtab/fn"
	"github.com/trimtab/trimtab/internal/catalogue"
	"github.com/trimtab/trimtab/internal/config"
	"github.com/trimtab/trimtab/internal/finding"
	"github.com/trimtab/trimtab/internal/stream"
)

// verdict is what the real parser of a release said to a command line.
type verdict struct {
	ID, Engine, Version, Mode, Error, Text string
	Argv                                   []string
	OK                                     bool
	Flag                                   *string
}

// verdicts reads a file of them: packed in the repository, or beside it.
func verdicts(t *testing.T, name string) []verdict {
	t.Helper()
	var reader io.Reader
	file, err := os.Open(filepath.Join("..", "internal", "argv", "testdata", "verdicts", name+".jsonl.gz"))
	if err == nil {
		reader, err = gzip.NewReader(file)
		require.NoError(t, err)
	} else if file, err = os.Open(filepath.Join("..", "..", "shared", "catalog", "verdicts", name+".jsonl")); err == nil {
		reader = file
	} else {
		t.Skip("../shared/catalog/verdicts is not there")
	}
	defer file.Close()
	var all []verdict
	scanner := bufio.NewScanner(reader)
	scanner.Buffer(nil, 1<<20)
	for scanner.Scan() {
		var v verdict
		require.NoError(t, json.Unmarshal(scanner.Bytes(), &v))
		all = append(all, v)
	}
	require.NoError(t, scanner.Err())
	require.NotEmpty(t, all)
	return all
}

// programs start an engine as the verdicts' modes do.
var programs = map[string][]string{
	"sglang launch": {"python3", "-m", "sglang.launch_server"},
	"vllm serve":    {"vllm", "serve"},
	"vllm api":      {"python3", "-m", "vllm.entrypoints.openai.api_server"},
}

// judged are the findings of a pod that runs the command line of a verdict.
func judged(t *testing.T, v verdict) []finding.Finding {
	t.Helper()
	image := map[string]string{"sglang": "lmsysorg/sglang", "vllm": "vllm/vllm-openai"}[v.Engine]
	pod := map[string]any{
		"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"name": "p"},
		"spec": map[string]any{"containers": []any{map[string]any{
			"name": "server", "image": image + ":v" + v.Version,
			"command": programs[v.Engine+" "+v.Mode], "args": v.Argv,
		}}},
	}
	data, err := json.Marshal(pod)
	require.NoError(t, err)
	source, err := stream.ParseDocuments("pod.json", data)
	require.NoError(t, err)
	outcome, err := fn.Process(fn.Input{Sources: []*stream.Source{source}, Mode: config.Verify})
	require.NoError(t, err)
	require.Len(t, outcome.Report.Servers, 1, v.ID)
	return outcome.Report.Findings
}

// parserRules are the rules about what the parser refuses.
var parserRules = []string{"unknown-flag", "removed-flag", "deprecated-flag", "abbreviated-flag", "bad-value", "repeated-setting"}

// rulesOf are the rules that an error of the parser belongs to.
func rulesOf(parserError string) []string {
	if parserError == "unrecognized" {
		return []string{"unknown-flag", "removed-flag"}
	}
	return []string{"bad-value"}
}

// canonical is the flag of an option as findings name it.
func canonical(v verdict, spelled string) string {
	engine, err := catalogue.Load(v.Engine)
	if err != nil {
		return spelled
	}
	if release, ok := engine.Find(v.Version); ok {
		if option, ok := engine.Option(spelled, release); ok {
			return option.Flag
		}
	}
	spelled = dashed(spelled)
	if flag, ok := engine.SpelledEver(spelled); ok {
		return flag
	}
	return spelled
}

// dashed is a flag with dashes; other words stay as they are.
func dashed(spelled string) string {
	if strings.HasPrefix(spelled, "--") && !strings.Contains(spelled, " ") {
		return strings.ReplaceAll(spelled, "_", "-")
	}
	return spelled
}

// agreement tells how the findings differ from a verdict: empty when an error
// stands exactly where the parser refuses, and none where it takes the line.
func agreement(v verdict, findings []finding.Finding) (differs string, sameClass bool) {
	var errors []finding.Finding
	for _, f := range findings {
		if f.Severity == finding.Error && slices.Contains(parserRules, f.Rule) {
			errors = append(errors, f)
		}
	}
	if v.OK {
		if len(errors) > 0 {
			return "refused, and the engine takes it: " + errors[0].Message, false
		}
		return "", true
	}
	for _, f := range errors {
		if v.Flag == nil || f.Setting == canonical(v, *v.Flag) || f.Setting == dashed(*v.Flag) {
			return "", slices.Contains(rulesOf(v.Error), f.Rule)
		}
	}
	flag := "nothing"
	if v.Flag != nil {
		flag = *v.Flag
	}
	return fmt.Sprintf("the engine names %s (%s), and the errors are %v", flag, v.Text, settingsOf(errors)), false
}

func settingsOf(findings []finding.Finding) []string {
	var settings []string
	for _, f := range findings {
		settings = append(settings, f.Rule+" "+f.Setting)
	}
	return settings
}

// TestVerdicts: a command line that the real parser of a release refuses has an
// error about the flag it names, and one that it takes has none. The floors are
// what is reached; a change may not lower them.
func TestVerdicts(t *testing.T) {
	t.Parallel()
	for name, floor := range map[string]int{"mutated-sglang": 1024, "real-sglang": 74, "mutated-vllm": 1558, "real-vllm": 393} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			same, sameClass, refused := 0, 0, 0
			rows := verdicts(t, name)
			for _, v := range rows {
				differs, class := agreement(v, judged(t, v))
				if !v.OK {
					refused++
				}
				if differs != "" {
					t.Logf("%s %s %s %q: %.300s", v.ID, v.Version, v.Mode, v.Argv, differs)
					continue
				}
				same++
				if class && !v.OK {
					sameClass++
				}
			}
			t.Logf("%s: %d of %d agree; of %d refused ones %d are of the expected rule", name, same, len(rows), refused, sameClass)
			require.GreaterOrEqual(t, same, floor)
		})
	}
}
