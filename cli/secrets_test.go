package cli_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trimtab/trimtab/cli"
	"github.com/trimtab/trimtab/fn"
)

// key is a secret whose form gives nothing away: only where it stands does.
const key = "Zq7xWv93kPlm"

// pod is a server; its %s are the words and the variables of its container.
const pod = `apiVersion: v1
kind: Pod
metadata: {name: chat, namespace: ai}
spec:
  containers:
    - name: server
      image: %s
      command: %s
      args: %s
      env: %s
      resources: {limits: {nvidia.com/gpu: 1}}
`

// engineOf is how each engine is started.
var engineOf = map[string]struct{ image, command, script string }{
	"vllm":   {"vllm/vllm-openai:v0.11.0", "[vllm, serve]", "exec vllm serve Qwen/Qwen3-8B --dtype=auto --swap-space 4"},
	"sglang": {"lmsysorg/sglang:v0.5.4", "[python3, -m, sglang.launch_server]", "exec python3 -m sglang.launch_server --model-path Qwen/Qwen3-8B --pre-warm-nccl"},
}

// secretWords are ways to write the key, «», into a command line, beside what makes
// the place of it speak: twice, unknown, abbreviated, of the wrong type.
var secretWords = []string{
	`--api-key «»`, `--api-key=«»`, `--api-key «» --api-key «2»`, `--api-ke «»`, `--api-keyy «»`, `--api-key «» surplus`,
	`--admin-api-key «»`, `--admin-api-key=«» --admin-api-key=«2»`, `--hf-token «»`, `--hf-token «» --hf-token=«2»`, `--my-token «»`, `--my-token=«»`, `--password=«»`,
	`--ssl-keyfile-password «»`, `--port «» --api-key «»`, `--api-key`, `--max-num-seqs --api-key «»`,
	`--api-key ${API_KEY:=«»}`, `--api-key $(API_KEY) --api-key «»`,
	`--kv-transfer-config {"kv_connector":"X","kv_connector_extra_config":{"password":"«»"}}`,
	`--kv-transfer-config={"token":"«»","surplus":1}`,
	`--kv-transfer-config.kv_connector_extra_config.api_key «»`,
	`--model-loader-extra-config {"access_key":"«»","secret_key":"«»"}`,
	`--model s3://user:«»@bucket/model`, `--model-path s3://user:«»@bucket/model`, `--download-dir redis://:«»@host/0`,
	`--otlp-traces-endpoint https://user:«»@collector:4317 --otlp-traces-endpoint https://user:«»@collector:4317`,
	`--hf-overrides {"api_key":"«»"}`, `--json-model-override-args {"auth_token":"«»"}`,
	`--middleware «» --api-key «»`, `--bogus-flag --api-key «»`,
}

// secretVariables are ways to write it into the environment.
var secretVariables = []string{
	`{name: HF_TOKEN, value: «»}`, `{name: VLLM_API_KEY, value: «»}`, `{name: SGLANG_API_KEY, value: «»}`, `{name: VLLM_SECRET_TOKEN, value: «»}`,
	`{name: SGLANG_ADMIN_PASSWORD, value: «»}`, `{name: AWS_SECRET_ACCESS_KEY, value: «»}`, `{name: HF_TOKEN, value: «»}, {name: HF_TOKEN, value: «2»}`,
	`{name: VLLM_USE_V1, value: «»}, {name: HF_TOKEN, value: «»}`, `{name: HF_TOKEN, value: "${HF_TOKEN:=«»}"}`,
	`{name: SGLANG_HICACHE_NIXL_TOKEN, value: "true"}, {name: HUGGING_FACE_HUB_TOKEN, value: «»}`,
	`{name: S3, value: "https://user:«»@host"}`, `{name: VLLM_ADDITIONAL_ARGS, value: "--api-key «» --bogus"}`,
}

// secretLines are ways to write it into a script.
var secretLines = []string{
	"export HF_TOKEN=«»", "HF_TOKEN=«» VLLM_USE_V2=1 COMMAND", "export VLLM_API_KEY='«»' && COMMAND --bogus-flag", "COMMAND --api-key «»",
	"COMMAND \\\n  --api-key '«»' \\\n  --bogus-flag 1 \\\n  --swap-space 4", "COMMAND --api-key «» --api-key «2»",
	"huggingface-cli login --token «»\nCOMMAND", "curl -H 'Authorization: Bearer «»' http://host\nCOMMAND", "TOKEN=«»\nCOMMAND --api-key $TOKEN",
	"TOKEN=«»; COMMAND --api-key=\"$TOKEN\" --api-key \"${TOKEN}\"", "ARGS=\"--api-key «» --bogus-flag\"\nCOMMAND $ARGS",
	"set -- --api-key «»\nCOMMAND \"$@\"", "COMMAND --api-key \"${API_KEY:-«»}\"",
	"exec env HF_TOKEN=«» vllm serve m --swap-space 4 --bogus-flag",
}

// secretManifests are servers that hold the key, by what carries it.
func secretManifests() map[string]string {
	manifests := map[string]string{}
	fill := strings.NewReplacer("«2»", key+"b", "«»", key)
	for name, engine := range engineOf {
		words := func(line string) string {
			quoted := strings.Fields("Qwen/Qwen3-8B --swap-space 4 --pre-warm-nccl " + fill.Replace(line))
			for i, word := range quoted {
				quoted[i] = "'" + word + "'"
			}
			return "[" + strings.Join(quoted, ", ") + "]"
		}
		for _, line := range secretWords {
			manifests[name+" words "+line] = fmt.Sprintf(pod, engine.image, engine.command, words(line), "[]")
		}
		for _, variable := range secretVariables {
			manifests[name+" env "+variable] = fmt.Sprintf(pod, engine.image, engine.command, words(""), "["+fill.Replace(variable)+"]")
		}
		for _, line := range secretLines {
			script := strings.ReplaceAll(line, "COMMAND", engine.script)
			if !strings.Contains(line, "COMMAND") && !strings.HasPrefix(line, "exec") {
				script += "\n" + engine.script
			}
			block := "\n        - |\n          " + strings.ReplaceAll(fill.Replace(script), "\n", "\n          ")
			manifests[name+" script "+line] = fmt.Sprintf(pod, engine.image, "[sh, -c]", block, "[]")
		}
	}
	return manifests
}

// A secret stands nowhere in what trimtab says, in no format and at no verb,
// whatever else is said about the line that holds it.
func TestSecretsAreNeverSaid(t *testing.T) {
	ways := [][]string{
		{"verify"}, {"verify", "-o", "json"}, {"verify", "-o", "sarif"}, {"verify", "-o", "github"}, {"verify", "-o", "markdown"},
		{"show"}, {"show", "-o", "json"}, {"plan"}, {"plan", "-o", "json"},
		{"report"}, {"report", "-o", "json"}, {"report", "-o", "markdown"},
		{"upgrade", "-o", "json"}, {"upgrade"}, {"upgrade", "-o", "markdown"},
	}
	for name, manifest := range secretManifests() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "server.yaml")
			require.NoError(t, os.WriteFile(file, []byte(manifest), 0o600))
			for _, way := range ways {
				args := append(way[:len(way):len(way)], file)
				if way[0] == "upgrade" {
					args = append(args, "--to", "vllm=0.12.0", "--to", "sglang=0.5.6")
				}
				for _, terminal := range []bool{false, true} {
					var out, complaints bytes.Buffer
					code := cli.Run(args, cli.Streams{In: strings.NewReader(""), Out: &out, Err: &complaints, OutIsTerminal: terminal})
					require.NotEqual(t, 2, code, complaints.String())
					require.NotContains(t, out.String(), key, "%v says it:\n%s", way, manifest)
					require.NotContains(t, complaints.String(), key, "%v says it on standard error:\n%s", way, manifest)
				}
			}
			list := "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n- " + strings.ReplaceAll(strings.TrimSpace(manifest), "\n", "\n  ") + "\n"
			var results, errors bytes.Buffer
			require.NotEqual(t, fn.ExitUnable, fn.Serve(strings.NewReader(list), &results, &errors, nil), errors.String())
			_, said, _ := strings.Cut(results.String(), "\nresults:")
			require.NotContains(t, said, key, "the function says it:\n%s", manifest)
			require.NotContains(t, errors.String(), key, "the function says it:\n%s", manifest)
			// The difference is the user's own text; what is said about it is not.
			var out, complaints bytes.Buffer
			cli.Run([]string{"trim", "-o", "json", file}, cli.Streams{In: strings.NewReader(""), Out: &out, Err: &complaints})
			require.NotContains(t, complaints.String(), key, "trim says it:\n%s", manifest)
		})
	}
}
