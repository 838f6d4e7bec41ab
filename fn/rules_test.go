package fn_test

import (
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

// pod is one server and what is said about it.
type pod struct {
	engine, image string
	// command starts the engine; empty: as commands says.
	command []string
	args    []string
	env     [][2]string
	// spec is what the config says.
	spec string
	// with are further documents.
	with string
}

var commands = map[string][]string{"sglang": {"python3", "-m", "sglang.launch_server"}, "vllm": {"vllm", "serve"}}

// process runs the pipeline over a pod.
func (p pod) process(t *testing.T, mode config.Mode) (*fn.Outcome, *stream.Source) {
	t.Helper()
	in, source := p.input(t, mode)
	outcome, err := fn.Process(in)
	require.NoError(t, err)
	return outcome, source
}

// input is a pod and its config as the pipeline takes them.
func (p pod) input(t *testing.T, mode config.Mode) (fn.Input, *stream.Source) {
	t.Helper()
	var env []map[string]string
	command := p.command
	if command == nil {
		command = commands[p.engine]
	}
	for _, variable := range p.env {
		env = append(env, map[string]string{"name": variable[0], "value": variable[1]})
	}
	data, err := yaml.Marshal(map[string]any{
		"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"name": "p"},
		"spec": map[string]any{"containers": []any{map[string]any{
			"name": "server", "image": p.image, "command": command, "args": p.args, "env": env,
		}}},
	})
	require.NoError(t, err)
	source, err := stream.ParseDocuments("pod.yaml", append(data, p.with...))
	require.NoError(t, err)
	in := fn.Input{Sources: []*stream.Source{source}, Mode: mode}
	if p.spec != "" {
		var root yaml.Node
		require.NoError(t, yaml.Unmarshal([]byte("apiVersion: trimtab.dev/v1alpha1\nkind: Trim\nmetadata: {name: c}\nspec: "+p.spec), &root))
		parsed, err := config.Decode(root.Content[0], "config.yaml", rule.Names())
		require.NoError(t, err)
		in.Configs = []*config.Config{parsed}
	}
	return in, source
}

// says prints the findings of the rules of the command line: severity, rule,
// setting and action.
func says(findings []finding.Finding) []string {
	var lines []string
	for _, f := range findings {
		if slices.Contains(rulesHere, f.Rule) {
			lines = append(lines, strings.Join([]string{string(f.Severity), f.Rule, f.Setting, string(f.Action)}, " "))
		}
	}
	return lines
}

var rulesHere = append(slices.Clone(parserRules), "dead-env", "unexpanded-value", "secret-in-arguments")

const (
	sglang16 = "lmsysorg/sglang:v0.5.16"
	vllm19   = "vllm/vllm-openai:v0.19.1"
)

func TestRulesOfTheCommandLine(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		pod
		want []string
	}{
		{"nothing wrong", pod{engine: "vllm", image: vllm19, args: []string{"m", "--max-num-seqs", "8"}}, nil},
		{"never known", pod{engine: "vllm", image: vllm19, args: []string{"m", "--max-num-seq-s=8"}}, []string{"error unknown-flag --max-num-seq-s none"}},
		{"of the other engine", pod{engine: "vllm", image: vllm19, args: []string{"m", "--mem-fraction-static", "0.8"}}, []string{"error unknown-flag --mem-fraction-static none"}},
		{"underscores", pod{engine: "sglang", image: sglang16, args: []string{"--model-path=m", "--tp_size=1"}}, []string{"error unknown-flag --tp-size none"}},
		{"added by a fork", pod{engine: "vllm", image: vllm19, args: []string{"m", "--omni", "--stage-x", "1"}, spec: "{engine: {knows: [--omni, \"--stage-*\"]}}"}, nil},
		{"on a fork", pod{engine: "vllm", image: "acme/vllm:v0.19.1", args: []string{"m", "--omni"}}, []string{"info unknown-flag --omni none"}},
		{"perhaps an image model", pod{engine: "sglang", image: sglang16, command: []string{"sglang", "serve"}, args: []string{"--model-path=m", "--num-gpus=2"}}, []string{"info unknown-flag --num-gpus none"}},
		{"surely a language model", pod{engine: "sglang", image: sglang16, command: []string{"sglang", "serve"}, args: []string{"--model-path=m", "--model-type=llm", "--num-gpus=2"}}, []string{"error unknown-flag --num-gpus none"}},
		{"the image's own entry point takes the model both ways", pod{engine: "vllm", image: "vllm/vllm-openai:v0.10.2", command: []string{}, args: []string{"--model", "m", "--served-model-name=x"}}, nil},
		{"a secret behind an option nobody knows", pod{engine: "sglang", image: sglang16, args: []string{"--model-path=m", "--apikey", "s3cr3t-value"}},
			[]string{"error unknown-flag --apikey none", "warning secret-in-arguments --apikey none"}},
		{"newer than known", pod{engine: "vllm", image: "vllm/vllm-openai:v0.99.0", args: []string{"m", "--omni", "--dtype", "fp3"}},
			[]string{"warning unknown-flag --omni none", "warning bad-value --dtype none"}},
		{"older than known", pod{engine: "vllm", image: "vllm/vllm-openai:v0.6.0", args: []string{"m", "--omni", "--api-key", "s3cr3t-value"}},
			[]string{"warning secret-in-arguments --api-key none"}},
		{"removed, nothing instead", pod{engine: "vllm", image: vllm19, args: []string{"m", "--swap-space", "4"}}, []string{"error removed-flag --swap-space none"}},
		{"removed, the same by another name", pod{engine: "vllm", image: vllm19, args: []string{"m", "--disable-log-requests"}}, []string{"error removed-flag --disable-log-requests set"}},
		{"back as a twin", pod{engine: "vllm", image: "vllm/vllm-openai:v0.33.0", args: []string{"m", "--disable-log-requests"}}, nil},
		{"known later only", pod{engine: "vllm", image: "vllm/vllm-openai:v0.11.0", args: []string{"m", "--attention-backend", "FLASH_ATTN"}}, []string{"error removed-flag --attention-backend none"}},
		{"removed, an ambiguous prefix now", pod{engine: "sglang", image: "lmsysorg/sglang:v0.5.20", args: []string{"--model-path=m", "--cuda-graph-max-bs", "8"}},
			[]string{"error removed-flag --cuda-graph-max-bs set"}},
		{"removed in a part of the range", pod{engine: "vllm", image: "nvcr.io/nvidia/vllm:26.02-py3", args: []string{"m", "--swap-space", "4"}}, nil},
		{"unknown in the whole range", pod{engine: "vllm", image: "vllm/vllm-openai@sha256:f961fc274eaad4af065097e0921b88ae5a97a478baa0e384e6c5ee440c355b29", args: []string{"m", "--gpu-layers", "4"}},
			[]string{"error unknown-flag --gpu-layers none"}},
		{"deprecated, the same by another name", pod{engine: "sglang", image: sglang16, args: []string{"--model-path=m", "--cuda-graph-max-bs=8"}}, []string{"warning deprecated-flag --cuda-graph-max-bs set"}},
		{"deprecated, not the same", pod{engine: "sglang", image: sglang16, args: []string{"--model-path=m", "--disable-cuda-graph"}}, []string{"warning deprecated-flag --disable-cuda-graph none"}},
		{"deprecated, while the image floats", pod{engine: "vllm", image: "vllm/vllm-openai", args: []string{"--model", "m"}}, []string{"warning deprecated-flag --model none"}},
		{"the model as an option", pod{engine: "vllm", image: vllm19, args: []string{"--port=80", "--model=m"}}, []string{"warning deprecated-flag --model set"}},
		{"the model as an option, where the parser refuses it", pod{engine: "vllm", image: "vllm/vllm-openai:v0.10.2", args: []string{"--model", "m"}}, []string{"error deprecated-flag --model set"}},
		{"the model must come first", pod{engine: "vllm", image: vllm19, args: []string{"--port=80", "--model=m", "--served-model-name=x"}}, []string{"warning deprecated-flag --model none"}},
		{"a list would swallow the model", pod{engine: "vllm", image: vllm19, args: []string{"--lora-modules", "a=b", "--model", "m"}}, []string{"warning deprecated-flag --model none"}},
		{"abbreviated", pod{engine: "sglang", image: sglang16, args: []string{"--model-path=m", "--tp", "1"}}, []string{"info abbreviated-flag --tp-size none"}},
		{"an alias is no abbreviation", pod{engine: "sglang", image: sglang16, args: []string{"--model=m", "--tensor-parallel-size", "1"}}, nil},
		{"ambiguous", pod{engine: "sglang", image: sglang16, args: []string{"--model-path=m", "--pp", "1"}}, []string{"error bad-value --pp none"}},
		{"type", pod{engine: "vllm", image: vllm19, args: []string{"m", "--max-num-seqs", "many"}}, []string{"error bad-value --max-num-seqs none"}},
		{"choice", pod{engine: "sglang", image: sglang16, args: []string{"--model-path=m", "--hicache-write-policy=Write_Through"}}, []string{"error bad-value --hicache-write-policy none"}},
		{"choice that a fork may have", pod{engine: "sglang", image: "acme/sglang:v0.5.16", args: []string{"--model-path=m", "--attention-backend=rdna"}}, []string{"info bad-value --attention-backend none"}},
		{"missing value", pod{engine: "vllm", image: vllm19, args: []string{"m", "--max-num-seqs"}}, []string{"error bad-value --max-num-seqs none"}},
		{"value for a switch", pod{engine: "vllm", image: vllm19, args: []string{"m", "--enforce-eager=true"}}, []string{"error bad-value --enforce-eager none"}},
		{"word behind a switch", pod{engine: "vllm", image: vllm19, args: []string{"m", "--enforce-eager", "true"}}, []string{"error unknown-flag true none"}},
		{"broken JSON", pod{engine: "vllm", image: vllm19, args: []string{"m", "--limit-mm-per-prompt", "image=4"}}, []string{"error bad-value --limit-mm-per-prompt none"}},
		{"option and value in one element", pod{engine: "vllm", image: vllm19, args: []string{"m", "--dtype auto"}}, []string{"error bad-value --dtype auto none"}},
		{"option and value in one element, read as the model", pod{engine: "vllm", image: vllm19, args: []string{"--dtype auto"}}, []string{"warning bad-value --model none"}},
		{"no model path", pod{engine: "sglang", image: sglang16, args: []string{"--tp-size=1"}}, []string{"error bad-value --model-path none"}},
		{"a value decided elsewhere", pod{engine: "vllm", image: vllm19, args: []string{"m", "--max-num-seqs", "${SEQS}", "--dtype=$(DTYPE)"}}, nil},
		{"set twice", pod{engine: "vllm", image: vllm19, args: []string{"m", "--port", "1", "--port=2"}}, []string{"warning repeated-setting --port remove"}},
		{"set twice by two names", pod{engine: "sglang", image: sglang16, args: []string{"--model-path=m", "--tp-size=1", "--tensor-parallel-size=1"}}, []string{"warning repeated-setting --tp-size remove"}},
		{"set twice, one decided elsewhere", pod{engine: "vllm", image: vllm19, args: []string{"m", "--port", "1", "--port=${PORT}"}}, []string{"warning repeated-setting --port none"}},
		{"a list set twice", pod{engine: "sglang", image: sglang16, args: []string{"--model-path=m", "--lora-paths", "a", "--lora-paths", "b"}}, []string{"warning repeated-setting --lora-paths none"}},
		{"a list of several", pod{engine: "vllm", image: vllm19, args: []string{"m", "--served-model-name", "a", "b"}}, nil},
		{"dotted keys beside JSON", pod{engine: "vllm", image: vllm19, args: []string{"m", "--compilation-config", `{"mode":3}`, "--compilation-config.mode=2"}},
			[]string{"warning repeated-setting --compilation-config none"}},
		{"variable set twice", pod{engine: "vllm", image: vllm19, args: []string{"m"}, env: [][2]string{{"HF_HOME", "/a"}, {"HF_HOME", "/b"}}}, []string{"warning repeated-setting env/HF_HOME remove"}},
		{"variable no longer read", pod{engine: "vllm", image: vllm19, args: []string{"m"}, env: [][2]string{{"VLLM_ATTENTION_BACKEND", "XFORMERS"}}}, []string{"warning dead-env env/VLLM_ATTENTION_BACKEND remove"}},
		{"variable misspelled", pod{engine: "vllm", image: vllm19, args: []string{"m"}, env: [][2]string{{"VLLM_LOGING_LEVEL", "DEBUG"}}}, []string{"warning dead-env env/VLLM_LOGING_LEVEL remove"}},
		{"variable of somebody else", pod{engine: "vllm", image: vllm19, args: []string{"m"}, env: [][2]string{{"SGLANG_X", "1"}, {"MODEL_X", "1"}}}, nil},
		{"variable that is referred to", pod{engine: "vllm", image: vllm19, args: []string{"m", "--port=$(VLLM_MY_PORT)"}, env: [][2]string{{"VLLM_MY_PORT", "1"}}}, nil},
		{"variable of a fork", pod{engine: "sglang", image: "acme/sglang:v0.5.16", args: []string{"--model-path=m"}, env: [][2]string{{"SGLANG_RDNA4_X", "1"}}}, []string{"info dead-env env/SGLANG_RDNA4_X none"}},
		{"variable that the config knows", pod{engine: "sglang", image: sglang16, args: []string{"--model-path=m"}, env: [][2]string{{"SGLANG_RDNA4_X", "1"}}, spec: "{engine: {knows: [env/SGLANG_RDNA4_*]}}"}, nil},
		{"variable by its old prefix", pod{engine: "sglang", image: sglang16, args: []string{"--model-path=m"}, env: [][2]string{{"SGL_USE_MODELSCOPE", "1"}}}, nil},
		{"shell variable", pod{engine: "vllm", image: vllm19, args: []string{"/models/$MODEL"}, env: [][2]string{{"HF_TOKEN", "$HF_TOKEN"}}},
			[]string{"warning unexpanded-value --model none", "warning unexpanded-value env/HF_TOKEN none"}},
		{"placeholders", pod{engine: "vllm", image: vllm19, args: []string{"<your-model>", "--api-key=CHANGEME"}, env: [][2]string{{"HF_TOKEN", "<>"}}},
			[]string{"warning unexpanded-value --model none", "warning unexpanded-value --api-key none", "warning unexpanded-value env/HF_TOKEN none"}},
		{"no model", pod{engine: "vllm", image: vllm19, args: []string{""}}, []string{"warning unexpanded-value --model none"}},
		{"no placeholders", pod{engine: "vllm", image: vllm19, args: []string{"m", "--chat-template", "{% if x %}<think>{% endif %}", "--tokenizer=org/todo-list"}, env: [][2]string{{"PRICE", "$5"}, {"HF_TOKEN", ""}}}, nil},
		{"secrets", pod{engine: "vllm", image: vllm19, args: []string{"m", "--api-key=s3cr3t-value"}, env: [][2]string{{"HF_TOKEN", "hf_abcdefghijklmnopqrstuvwx"}, {"REDIS", "redis://:pa55word@host"}}},
			[]string{"warning secret-in-arguments --api-key none", "warning secret-in-arguments env/HF_TOKEN none", "warning secret-in-arguments env/REDIS none"}},
		{"no secrets", pod{engine: "vllm", image: vllm19, args: []string{"m", "--api-key=$(KEY)", "--max-num-batched-tokens=512"}, env: [][2]string{{"OPENAI_API_KEY", "EMPTY"}, {"HF_TOKEN", "/run/token"}, {"TOKENIZERS_PARALLELISM", "false"}}}, nil},
		{"service that hides a port", pod{engine: "vllm", image: vllm19, args: []string{"m"}, with: "---\napiVersion: v1\nkind: Service\nmetadata: {name: vllm}\nspec: {ports: [{port: 80}]}\n"}, []string{"warning dead-env env/VLLM_PORT none"}},
		{"service of that prefix", pod{engine: "vllm", image: vllm19, args: []string{"m"}, with: "---\napiVersion: v1\nkind: Service\nmetadata: {name: vllm-chat}\nspec: {ports: [{port: 80}]}\n"}, []string{"info dead-env env/VLLM_CHAT_PORT none"}},
		{"headless service", pod{engine: "vllm", image: vllm19, args: []string{"m"}, with: "---\napiVersion: v1\nkind: Service\nmetadata: {name: vllm}\nspec: {clusterIP: None}\n"}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			outcome, _ := c.process(t, config.Verify)
			require.ElementsMatch(t, c.want, says(outcome.Report.Findings))
			for _, f := range outcome.Report.Findings {
				text := f.Message + f.Value + f.Proposed + f.Undo
				for _, secret := range []string{"s3cr3t", "hf_abc", "pa55word"} {
					require.NotContains(t, text, secret)
				}
				require.NotContains(t, f.Message, "\n")
			}
		})
	}
}

func TestRulesOfTheCommandLineTrim(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		pod
		args []string
	}{
		{"removed", pod{engine: "vllm", image: vllm19, args: []string{"m", "--disable_log_requests"}}, []string{"m", "--no-enable-log-requests"}},
		{"removed, with its value", pod{engine: "sglang", image: "lmsysorg/sglang:v0.5.20", args: []string{"--model-path=m", "--cuda-graph-bs", "1", "2"}}, []string{"--model-path=m", "--cuda-graph-bs-decode", "1", "2"}},
		{"a switch becomes a value", pod{engine: "sglang", image: sglang16, args: []string{"--enable-breakable-cuda-graph", "--model-path=m"}}, []string{"--cuda-graph-backend-prefill=breakable", "--model-path=m"}},
		{"several at once", pod{engine: "vllm", image: "vllm/vllm-openai:v0.12.0", args: []string{"--port", "1", "--model", "m", "--disable-log-requests", "--num-redundant-experts=2", "--port", "2"}},
			[]string{"m", "--no-enable-log-requests", "--eplb-config.num_redundant_experts=2", "--port", "2"}},
		{"what goes is not renamed", pod{engine: "vllm", image: "vllm/vllm-openai:v0.12.0", args: []string{"m", "--disable-log-requests", "--disable-log-requests"}}, []string{"m", "--no-enable-log-requests"}},
		{"with an inert one behind", pod{engine: "sglang", image: "lmsysorg/sglang:v0.5.20", args: []string{"--model-path=m", "--stream-output", "--num-continuous-decode-steps=4"}}, []string{"--model-path=m", "--incremental-streaming-output"}},
		{"dotted keys would replace the whole JSON", pod{engine: "vllm", image: "vllm/vllm-openai:v0.12.0", args: []string{"m", "--eplb-config", `{"window_size":5}`, "--num-redundant-experts=2"}},
			[]string{"m", "--eplb-config", `{"window_size":5}`, "--num-redundant-experts=2"}},
		{"both the old and the new form", pod{engine: "sglang", image: sglang16, args: []string{"--model-path=m", "--enable-flashinfer-allreduce-fusion", "--flashinfer-allreduce-fusion-backend=trtllm"}},
			[]string{"--model-path=m", "--enable-flashinfer-allreduce-fusion", "--flashinfer-allreduce-fusion-backend=trtllm"}},
		{"another form in another release of the range", pod{engine: "sglang", image: "lmsysorg/sglang@sha256:f961fc274eaad4af065097e0921b88ae5a97a478baa0e384e6c5ee440c355b29",
			args: []string{"--model-path=m", "--nsa-prefill-cp-mode=in-seq-split"}, spec: "{engine: {name: sglang, version: \">=0.5.13,<0.5.15\"}}"},
			[]string{"--model-path=m", "--nsa-prefill-cp-mode=in-seq-split"}},
		{"as the config says", pod{engine: "vllm", image: vllm19, args: []string{"m", "--disable-log-requests"}, spec: "{keep: [--disable-log-requests]}"}, []string{"m", "--disable-log-requests"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			outcome, source := c.process(t, config.Trim)
			data, ok := outcome.Changed[source]
			if !ok {
				data = source.Data
			}
			var trimmed struct {
				Spec struct {
					Containers []struct{ Args []string }
				}
			}
			require.NoError(t, yaml.Unmarshal(data, &trimmed))
			require.Equal(t, c.args, trimmed.Spec.Containers[0].Args)
			again, err := stream.ParseDocuments("pod.yaml", data)
			require.NoError(t, err)
			second, err := fn.Process(fn.Input{Sources: []*stream.Source{again}, Mode: config.Trim})
			require.NoError(t, err)
			if c.spec == "" {
				require.Empty(t, second.Changed, "twice is once")
			}
		})
	}
}
