// Package catalogue_test runs the extractor on two made-up engines.
package catalogue_test

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
)

type entry struct {
	Flag   string         `json:"flag"`
	Env    string         `json:"env"`
	Metric string         `json:"metric"`
	Life   map[string]any `json:"life"`
}

// extract runs the extractor and indexes what it found by name.
func extract(t *testing.T, engine string) map[string]map[string]any {
	t.Helper()
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("there is no python3")
	}
	var stdout, stderr bytes.Buffer
	cmd := exec.Command("python3", "-B", "extract.py", engine, "testdata/made", "9.0.0", "2027-01-02")
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	require.NoError(t, cmd.Run(), stderr.String())
	var release struct {
		Engine, Version, Date string
		Options, Env, Metrics []entry
	}
	require.NoError(t, json.Unmarshal(stdout.Bytes(), &release))
	require.Equal(t, []string{engine, "9.0.0", "2027-01-02"}, []string{release.Engine, release.Version, release.Date})
	found := map[string]map[string]any{}
	for _, entries := range [][]entry{release.Options, release.Env, release.Metrics} {
		require.NotEmpty(t, entries)
		for _, e := range entries {
			found[e.Flag+e.Env+e.Metric] = e.Life
		}
	}
	return found
}

// requireLife compares some fields of what was found under a name.
func requireLife(t *testing.T, found map[string]map[string]any, name, fields string) {
	t.Helper()
	var want map[string]any
	require.NoError(t, json.Unmarshal([]byte(fields), &want))
	require.Contains(t, found, name)
	for field, value := range want {
		require.Equal(t, value, found[name][field], "%s of %s", field, name)
	}
}

func TestExtractVLLM(t *testing.T) {
	found := extract(t, "vllm")
	require.Len(t, found, 7+5+3)
	requireLife(t, found, "--dtype", `{"action":"store","type":"str","choices":["auto","half"],"open":false,"default":"auto","nargs":null,"deprecated":false}`)
	requireLife(t, found, "--tensor-parallel-size", `{"names":["--tensor-parallel-size","-tp"],"type":"int","default":1}`)
	requireLife(t, found, "--max-model-len", `{"type":"human_int","default":null}`)
	requireLife(t, found, "--extra-config", `{"type":"json"}`)
	requireLife(t, found, "--enable-thing", `{"action":"boolean_optional","type":"bool","names":["--enable-thing","--no-enable-thing"]}`)
	requireLife(t, found, "--old-thing", `{"action":"store_true","deprecated":"--enable-thing","default":false}`)
	requireLife(t, found, "--names", `{"nargs":"+","choices":["a","b"],"open":true}`)
	requireLife(t, found, "VLLM_FLAG", `{"kind":"bool","default":"0"}`)
	requireLife(t, found, "VLLM_LIMIT", `{"kind":"int","default":"5"}`)
	requireLife(t, found, "VLLM_MODE", `{"kind":"choice","choices":["fast","slow"],"default":"fast","case_sensitive":false}`)
	requireLife(t, found, "VLLM_ROOT", `{"kind":"path","default":null,"default_expr":"os.path.join('a', 'b')"}`)
	requireLife(t, found, "SIDE_PORT", `{"where":"scattered"}`)
	requireLife(t, found, "vllm:running", `{"kind":"gauge","labels":["model_name","engine"],"condition":null,"engines":["v1"]}`)
	requireLife(t, found, "vllm:adapters_total", `{"kind":"counter","labels":["model_name","engine","adapter"],"condition":"config.lora is not None"}`)
	requireLife(t, found, "vllm:latency_seconds", `{"kind":"histogram","condition":"not (not config.enabled)"}`)
}

func TestExtractSGLang(t *testing.T) {
	found := extract(t, "sglang")
	require.Len(t, found, 6+3+2)
	requireLife(t, found, "--model-path", `{"names":["--model-path","--model"],"required":true,"dest":"model_path"}`)
	requireLife(t, found, "--tp-size", `{"type":"int","default":1,"dest":"tp_size"}`)
	requireLife(t, found, "--max-tokens", `{"type":"int","suffixes":true}`)
	requireLife(t, found, "--gone", `{"action":"ignored","type":"bool","deprecated":true,"nargs":null}`)
	requireLife(t, found, "--level", `{"nargs":"?","const":"all","default":"none"}`)
	requireLife(t, found, "SGLANG_FAST", `{"kind":"bool","default":true,"declared":true,"read":true,"scope":"server"}`)
	requireLife(t, found, "SGLANG_FORGOTTEN", `{"declared":true,"read":false}`)
	requireLife(t, found, "SGLANG_SPEED", `{"kind":"int","default":"3","declared":false}`)
	requireLife(t, found, "sglang:running", `{"labels":[],"inherits":true,"series":["sglang:running"]}`)
	requireLife(t, found, "sglang:aborted", `{"exposed":"sglang:aborted_total","labels":["why"],"cond":"more and envs.SGLANG_FAST"}`)
}

func TestExtractSaysWhatIsMissing(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("there is no python3")
	}
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"tgi", ".", "1"}, "usage:"},
		{[]string{"vllm", "testdata", "1"}, "holds no folder vllm"},
		{[]string{"sglang", "testdata/stubbed", "1"}, "the default of --limit comes out of a stub"},
	} {
		out, err := exec.Command("python3", append([]string{"-B", "extract.py"}, c.args...)...).CombinedOutput()
		require.Error(t, err)
		require.Contains(t, string(out), c.says)
	}
}
