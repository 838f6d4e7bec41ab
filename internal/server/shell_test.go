package server_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trimtab/trimtab/internal/setting"
)

func TestEnginesThatAScriptStarts(t *testing.T) {
	for name, c := range map[string]struct {
		container string
		lines     []string
	}{
		"a login shell": {"        command: [/bin/bash, -lc, 'vllm serve m --a']\n", []string{"m --a"}},
		"behind an init": {
			"        command: [tini, --, bash, -euo, pipefail, -c]\n        args: ['exec python3 -m sglang.launch_server --model-path m']\n", []string{"--model-path m"},
		},
		"behind other commands": {
			"        args: [sh, -c, 'pip install vllm && echo vllm serve no; cd /x && nohup vllm serve m --a > /log 2>&1']\n", []string{"m --a"},
		},
		"two engines": {"        command: [sh, -c, 'vllm serve a --x & vllm serve b; wait']\n", []string{"a --x", "b"}},
		"two ways": {
			"        command: [sh, -c, 'if test $R = p; then vllm serve a; else vllm serve b; fi']\n", []string{"a", "b"},
		},
		"variables of the container": {
			"        env: [{name: A, value: --a --b 3}, {name: S, valueFrom: {secretKeyRef: {name: s, key: k}}}, {name: P, value: '80'}]\n" +
				"        command: [sh, -c, 'vllm serve m $A --port=$(P) --k \"$S\" $NO']\n", []string{"m --a --b 3 --port=80 --k ?$S ?$NO"},
		},
		"arguments behind the script": {"        command: [bash, -c, 'vllm serve \"$@\"']\n        args: [zero, m, --a]\n", []string{"m --a"}},
		"a word of a template":        {"        command: [sh, -c, 'vllm serve {{.Model}} --a']\n", []string{"?{{.Model}} --a"}},
	} {
		t.Run(name, func(t *testing.T) {
			var lines []string
			for _, s := range find(t, deployment(c.container, "")) {
				lines = append(lines, line(s, nil))
				require.False(t, *s.Direct)
			}
			require.Equal(t, c.lines, lines)
		})
	}
}

func TestWhereTheWordsOfAScriptStand(t *testing.T) {
	found := find(t, deployment("        env: [{name: A, value: --a --b}]\n        command: [bash, -c, 'vllm serve m $A \"$@\" $U']\n        args: [zero, --c]\n", ""))
	require.Len(t, found, 1)
	var origins []string
	for _, word := range found[0].CommandLine(nil) {
		origins = append(origins, word.Text+" "+word.Origin.String())
	}
	const container = "spec.template.spec.containers[1]."
	require.Equal(t, []string{
		"m " + container + "command[2][11:12]",
		"--a " + container + "env[0].value[0:3]",
		"--b " + container + "env[0].value[4:7]",
		"--c " + container + "args[1][0:3]",
		"$U " + container + "command[2][21:23]",
	}, origins)
	unknown := found[0].CommandLine(nil)[4].Origin
	require.Equal(t, setting.Bound, unknown.Kind)
	require.Equal(t, "it may be any number of words", unknown.Fixed)
	require.Equal(t, []string{"A", "U"}, found[0].Reads)
}

func TestVariablesThatAScriptSets(t *testing.T) {
	found := find(t, deployment("        env: [{name: B, value: '1'}, {name: C, value: '2'}]\n        command: [sh, -c, 'export B=5; X=1; D=6 vllm serve m']\n", ""))
	require.Len(t, found, 1)
	values := map[string]string{}
	for _, v := range found[0].Env {
		values[v.Name] = v.Value
		require.Equal(t, v.Name == "C", v.Path != nil, v.Name)
	}
	require.Equal(t, map[string]string{"B": "5", "C": "2", "D": "6"}, values)
}

func TestScriptsThatAConfigMapMounts(t *testing.T) {
	const script = "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: scripts}\ndata:\n  run.sh: |\n    #!/usr/bin/env bash\n    A=(--a \"$1\")\n    exec vllm serve m \"${A[@]}\"\n"
	const mount = "        volumeMounts: [{name: s, mountPath: /s}]\n"
	const volumes = "      volumes: [{name: s, configMap: {name: scripts}}]\n"
	for name, command := range map[string]string{
		"handed to a shell": "[bash, /s/run.sh, '3']", "started by itself": "[/s/run.sh, '3']",
	} {
		t.Run(name, func(t *testing.T) {
			found := find(t, deployment("        command: "+command+"\n"+mount, volumes)+script)
			require.Len(t, found, 1)
			require.Equal(t, "m --a 3", line(found[0], nil))
			origins := map[string]string{}
			for _, word := range found[0].CommandLine(nil) {
				require.Nil(t, word.Origin.Path)
				origins[word.Text] = word.Origin.Name
			}
			const file = "ConfigMap scripts, run.sh"
			require.Equal(t, map[string]string{"m": file + ", line 3", "--a": file + ", line 2", "3": file + ", line 2"}, origins)
		})
	}
	require.Empty(t, find(t, deployment("        command: [bash, /s/other.sh]\n"+mount, volumes)+script))
}

func TestTheOperatorsArgumentsBehindAScript(t *testing.T) {
	const service = `apiVersion: inference.llmkube.dev/v1alpha1
kind: InferenceService
metadata: {name: q, namespace: ai}
spec:
  runtime: vllm
  modelRef: m
  command: [bash, -c, 'exec python3 -m vllm.entrypoints.openai.api_server --seed 1 "$@"', zero]
  vllmConfig: {maxModelLen: 8192}
  extraArgs: [--enforce-eager]
`
	found := find(t, service)
	require.Len(t, found, 1)
	origins := map[string]string{}
	for _, word := range found[0].CommandLine(nil) {
		origins[word.Text] = string(word.Origin.Kind) + " " + word.Origin.String()
	}
	require.Equal(t, "argument spec.command[2][58:59]", origins["1"])
	require.Equal(t, "field spec.vllmConfig.maxModelLen", origins["8192"])
	require.Equal(t, "argument spec.extraArgs[0][0:15]", origins["--enforce-eager"])
}
