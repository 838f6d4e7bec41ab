package fn_test

import (
	"bufio"
	"bytes"
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
	"go.yaml.in/yaml/v3"

	"github.com/trimtab/trimtab/fn"
	"github.com/trimtab/trimtab/internal/config"
	"github.com/trimtab/trimtab/internal/finding"
	"github.com/trimtab/trimtab/internal/rule"
	"github.com/trimtab/trimtab/internal/stream"
)

// resolvedRow is what a real engine made of a command line, and of the same
// line without one option.
type resolvedRow struct {
	Engine, Version, Device, Model, Kind string
	GPUs                                 int
	ModelCtx                             int `json:"model_ctx"`
	Argv                                 []string
	Outcome, Error                       string
	Removal                              map[string]string
	Why                                  map[string]string
	Resolved                             map[string]any
}

func (r resolvedRow) String() string {
	return fmt.Sprintf("%s %s %s x%d %s: %s", r.Engine, r.Version, r.Device, r.GPUs, r.Model, strings.Join(r.Argv, " "))
}

// resolvedRows are the committed rows and, where the folder is there, those of
// public manifests.
func resolvedRows(t *testing.T, engine string) []resolvedRow {
	t.Helper()
	rows := rowsOf(t, unpacked(t, engine+".jsonl.gz"))
	shared, err := os.ReadFile(filepath.Join("..", "..", "shared", "catalog", "resolved", engine+".jsonl"))
	if err != nil {
		t.Log("rows of public manifests are left out: ../shared is not here")
		return rows
	}
	for _, row := range rowsOf(t, shared) {
		if row.Kind == "real" {
			rows = append(rows, row)
		}
	}
	return rows
}

func unpacked(t *testing.T, name string) []byte {
	t.Helper()
	file, err := os.Open(filepath.Join("testdata", "resolved", name))
	require.NoError(t, err)
	defer file.Close()
	reader, err := gzip.NewReader(file)
	require.NoError(t, err)
	data, err := io.ReadAll(reader)
	require.NoError(t, err)
	return data
}

func rowsOf(t *testing.T, data []byte) []resolvedRow {
	t.Helper()
	var rows []resolvedRow
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var row resolvedRow
		require.NoError(t, json.Unmarshal(lines.Bytes(), &row))
		if row.Argv != nil {
			rows = append(rows, row)
		}
	}
	require.NoError(t, lines.Err())
	return rows
}

// modelConfig is the config.json of a row's model.
func modelConfig(t *testing.T, models map[string]map[string]any, row resolvedRow) map[string]any {
	t.Helper()
	require.Contains(t, models, row.Model)
	data, err := json.Marshal(models[row.Model])
	require.NoError(t, err)
	var model map[string]any
	require.NoError(t, json.Unmarshal(data, &model))
	for _, part := range []any{model, model["text_config"]} {
		if shape, ok := part.(map[string]any); ok && shape["max_position_embeddings"] != nil {
			shape["max_position_embeddings"] = row.ModelCtx
		}
	}
	return model
}

// manifest is a Deployment that runs a row's line on its device.
func manifest(t *testing.T, row resolvedRow) []byte {
	t.Helper()
	image, command := "vllm/vllm-openai:v"+row.Version, []string{"vllm", "serve", "/model"}
	if row.Engine == "sglang" {
		image = "lmsysorg/sglang:v" + row.Version
		command = []string{"python3", "-m", "sglang.launch_server", "--model-path", "/model"}
	}
	resource := "nvidia.com/gpu"
	if row.Device == "mi300x" || row.Device == "r9700" {
		resource = "amd.com/gpu"
	}
	data, err := yaml.Marshal(map[string]any{
		"apiVersion": "apps/v1", "kind": "Deployment", "metadata": map[string]any{"name": "server"},
		"spec": map[string]any{"template": map[string]any{"spec": map[string]any{"containers": []any{map[string]any{
			"name": "server", "image": image, "command": command, "args": row.Argv,
			"resources": map[string]any{"limits": map[string]any{resource: fmt.Sprint(row.GPUs)}},
		}}}}},
	})
	require.NoError(t, err)
	return data
}

// judgedRow is a row with what is found about it.
type judgedRow struct {
	resolvedRow
	found []finding.Finding
}

// rowInput is a row's manifest with what is known about its device and model.
func rowInput(t *testing.T, models map[string]map[string]any, row resolvedRow) fn.Input {
	t.Helper()
	source, err := stream.ParseDocuments("", manifest(t, row))
	require.NoError(t, err)
	written, err := yaml.Marshal(map[string]any{
		"apiVersion": "trimtab.dev/v1alpha1", "kind": "Verify",
		"spec": map[string]any{
			"gpu":   map[string]any{"name": row.Device},
			"model": map[string]any{"config": modelConfig(t, models, row)},
			"rules": map[string]any{"restated-default": "fix"},
		},
	})
	require.NoError(t, err)
	var root yaml.Node
	require.NoError(t, yaml.Unmarshal(written, &root))
	chosen, err := config.Decode(&root, "config", rule.Names())
	require.NoError(t, err)
	return fn.Input{Sources: []*stream.Source{source}, Configs: []*config.Config{chosen}, Mode: config.Verify}
}

func judgeRow(t *testing.T, models map[string]map[string]any, row resolvedRow) judgedRow {
	t.Helper()
	out, err := fn.Process(rowInput(t, models, row))
	require.NoError(t, err, row.String())
	require.Len(t, out.Report.Servers, 1, row.String())
	return judgedRow{row, out.Report.Findings}
}

// removed are the settings that Trim would take away, each on its own.
func (r judgedRow) removed() map[string]finding.Finding {
	removed := map[string]finding.Finding{}
	for _, f := range r.found {
		if f.Action == finding.Remove && f.Rule != "repeated-setting" && f.Rule != "unsupported-on-gpu" { // the rows leave out all occurrences, and are not run
			flag, _, _ := strings.Cut(f.Setting, ".")
			removed[flag] = f
		}
	}
	return removed
}

// idleRules are the rules that say that a setting has no effect.
var idleRules = []string{"inert-setting", "restated-default", "overridden-setting", "repeated-setting", "clamped-setting"}

func (r judgedRow) calledIdle(setting string) bool {
	return slices.ContainsFunc(r.found, func(f finding.Finding) bool {
		flag, _, _ := strings.Cut(f.Setting, ".")
		return flag == setting && slices.Contains(idleRules, f.Rule)
	})
}

func (r judgedRow) errors() []finding.Finding {
	return slices.DeleteFunc(slices.Clone(r.found), func(f finding.Finding) bool { return f.Severity != finding.Error || f.Rule == "clamped-setting" })
}

// namesCulprit tells whether an error is about an option without which the line
// starts, or that the engine's own text names, or about the model, which no row
// leaves out.
func (r judgedRow) namesCulprit() bool {
	alone := false
	for _, verdict := range r.Removal {
		alone = alone || verdict == "starts"
	}
	return slices.ContainsFunc(r.errors(), func(f finding.Finding) bool {
		flag, _, _ := strings.Cut(f.Setting, ".")
		if alone {
			return r.Removal[flag] == "starts"
		}
		return flag == "--model" || r.Removal[flag] != "" || strings.Contains(r.Error, strings.TrimLeft(flag, "-"))
	})
}

// tallied counts what the rows of one engine show.
type tallied struct {
	same, sameFound, refused, refusedNamed int
	ownRemoved                             int
	wrong, missed, unforetold, cried       []string
}

func (c *tallied) add(r judgedRow) {
	removed := r.removed()
	for setting, f := range removed {
		verdict, _, _ := strings.Cut(r.Removal[setting], ":")
		switch {
		case r.Outcome != "ok":
		case verdict == "changes" || verdict == "refused":
			c.wrong = append(c.wrong, fmt.Sprintf("%s (%s) is %s: %s", setting, f.Rule, r.Removal[setting], r))
		case verdict == "own" && f.Rule != "inert-setting" && f.Rule != "clamped-setting":
			c.wrong = append(c.wrong, fmt.Sprintf("%s (%s) is own: %s", setting, f.Rule, r))
		case verdict == "own":
			c.ownRemoved++
		}
	}
	for setting, verdict := range r.Removal {
		if r.Outcome != "ok" || verdict != "same" {
			continue
		}
		c.same++
		if r.calledIdle(setting) {
			c.sameFound++
			continue
		}
		c.missed = append(c.missed, fmt.Sprintf("%s %s: %s", setting, r.Why[setting], r))
	}
	switch {
	case r.Outcome == "refused":
		c.refused++
		if r.namesCulprit() {
			c.refusedNamed++
			return
		}
		c.unforetold = append(c.unforetold, fmt.Sprintf("%s: %s", r.Error, r))
	default:
		for _, f := range r.errors() {
			if f.Rule == "kv-overcommit" || f.Rule == "gpu-mismatch" || f.Rule == "unsupported-on-gpu" && slices.Contains([]string{"--dtype", "--attention-backend", "env/VLLM_ATTENTION_BACKEND"}, f.Setting) {
				continue // weights and pools that are never loaded, idle GPUs, ranks that the resolution does not count, and what a worker refuses: the rows end before one starts
			}
			c.cried = append(c.cried, fmt.Sprintf("%s %s (%s): %s", f.Rule, f.Setting, f.Message, r))
		}
	}
}

// misses prints one line for each row that is not judged as the engine did.
func (c *tallied) misses() string {
	var b strings.Builder
	for _, part := range []struct {
		title string
		lines []string
	}{{"wrong", c.wrong}, {"cried", c.cried}, {"not found", c.missed}, {"not foretold", c.unforetold}} {
		slices.Sort(part.lines)
		for _, line := range part.lines {
			fmt.Fprintf(&b, "%s: %s\n", part.title, line)
		}
	}
	return b.String()
}

// least is what the facts have reached: the shares may not fall.
var least = map[string]struct{ same, refused float64 }{
	"sglang": {0.98, 0.98},
	"vllm":   {0.953, 0.97},
}

// TestResolved holds the facts against what the real engines resolved: nothing
// may be removed that changes anything, and no line that starts is called
// refused. TRIMTAB_MISSES names a file to which what is missed is written.
func TestResolved(t *testing.T) {
	for engine, least := range least {
		t.Run(engine, func(t *testing.T) {
			var models map[string]map[string]any
			require.NoError(t, json.Unmarshal(unpacked(t, "models.json.gz"), &models))
			count := &tallied{}
			for _, row := range resolvedRows(t, engine) {
				count.add(judgeRow(t, models, row))
			}
			t.Logf("same found %d of %d, refusals named %d of %d, removals where only the own field differs %d",
				count.sameFound, count.same, count.refusedNamed, count.refused, count.ownRemoved)
			if file := os.Getenv("TRIMTAB_MISSES"); file != "" {
				require.NoError(t, os.WriteFile(file+"."+engine, []byte(count.misses()), 0o600))
			}
			require.Empty(t, count.wrong, "removals that change something")
			require.Empty(t, count.cried, "errors about lines that start")
			require.GreaterOrEqual(t, float64(count.sameFound)/float64(count.same), least.same)
			require.GreaterOrEqual(t, float64(count.refusedNamed)/float64(count.refused), least.refused)
		})
	}
}
