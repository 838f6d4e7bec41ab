package transformers_test

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/fluxcd/pkg/kustomize"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/kustomize/api/provider"
	"sigs.k8s.io/yaml"

	"github.com/trimtab/trimtab/transformers"
)

// hosts are what may read the manifest before kubelet does.
var hosts = map[string]func(t *testing.T, text string) string{
	"no Flux":           func(_ *testing.T, text string) string { return text },
	"Flux off":          func(t *testing.T, text string) string { return flux(t, text, nil) },
	"Flux lax":          func(t *testing.T, text string) string { return flux(t, text, map[string]any{"CLUSTER": "home"}) },
	"Flux lax, all set": func(t *testing.T, text string) string { return flux(t, text, everyName(text)) },
	"Flux lax, always": func(t *testing.T, text string) string {
		return flux(t, text, nil, kustomize.SubstituteWithAlways(true))
	},
	"Flux strict": func(t *testing.T, text string) string {
		return flux(t, text, map[string]any{"CLUSTER": "home"}, kustomize.SubstituteWithStrict(true))
	},
}

// flux is what kustomize-controller applies of a manifest.
func flux(t *testing.T, text string, variables map[string]any, options ...kustomize.SubstituteOption) string {
	t.Helper()
	resource, err := provider.NewDefaultDepProvider().GetResourceFactory().FromBytes([]byte(text))
	require.NoError(t, err)
	kustomization := unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"postBuild": map[string]any{"substitute": variables}}}}
	options = append(options, kustomize.SubstituteWithDryRun(true))
	after, err := kustomize.SubstituteVariables(t.Context(), nil, kustomization, resource, options...)
	require.NoError(t, err)
	out, err := after.AsYAML()
	require.NoError(t, err)
	return string(out)
}

// everyName gives every word of a text that may be a variable a value.
func everyName(text string) map[string]any {
	names := map[string]any{}
	for _, name := range regexp.MustCompile(`[A-Za-z_][A-Za-z0-9_]*`).FindAllString(text, -1) {
		names[name] = "evil"
	}
	return names
}

// expand is kubelet's expansion (k8s.io/kubernetes third_party/forked/golang/
// expansion, Expand): $(NAME) for a variable that is set, $$ for a dollar.
func expand(text string, env map[string]string) string {
	var out strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] != '$' || i+1 == len(text) {
			out.WriteByte(text[i])
			continue
		}
		i++
		switch end := strings.IndexByte(text[i:], ')'); {
		case text[i] == '$':
			out.WriteByte('$')
		case text[i] == '(' && end > 0:
			name := text[i+1 : i+end]
			if value, ok := env[name]; ok {
				out.WriteString(value)
			} else {
				out.WriteString("$(" + name + ")")
			}
			i += end
		default:
			out.WriteString("$" + string(text[i]))
		}
	}
	return out.String()
}

// started is what kubelet starts for a job: the words and the variables of the
// container.
func started(t *testing.T, job transformers.PruneJob, host func(*testing.T, string) string) (words []string, env map[string]string) {
	t.Helper()
	text, err := transformers.PruneCronJob(job)
	require.NoError(t, err)
	cron := &batchv1.CronJob{}
	require.NoError(t, yaml.UnmarshalStrict([]byte(host(t, text)), cron))
	container := cron.Spec.JobTemplate.Spec.Template.Spec.Containers[0]
	env = map[string]string{"KUBERNETES_PORT": "tcp://10.0.0.1:443"}
	for _, v := range container.Env {
		env[v.Name] = expand(v.Value, env)
	}
	for _, word := range slices.Concat(container.Command, container.Args) {
		words = append(words, expand(word, env))
	}
	require.Equal(t, "/bin/sh", words[0])
	return words, env
}

// command is what kubelet would start for the job, with busybox's applets for the
// image's.
func command(t *testing.T, job transformers.PruneJob, host func(*testing.T, string) string, bin string) *exec.Cmd {
	t.Helper()
	words, env := started(t, job, host)
	env["PATH"] = bin
	cmd := exec.Command(filepath.Join(bin, "sh"), words[1:]...)
	cmd.Env = []string{}
	for name, value := range env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	cmd.Dir = "/"
	return cmd
}

// TestNoHostChangesTheScript compares what kubelet starts behind every host.
func TestNoHostChangesTheScript(t *testing.T) {
	for _, c := range allPruneCases() {
		job := c.job(volume{t, "/cache"})
		plain := command(t, job, hosts["no Flux"], "/bin")
		require.Contains(t, plain.Args[2], "say() {")
		for host, reads := range hosts {
			got := command(t, job, reads, "/bin")
			require.Equal(t, plain.Args, got.Args, "%s: %s", c.name, host)
			require.ElementsMatch(t, plain.Env, got.Env, "%s: %s", c.name, host)
		}
		require.Contains(t, plain.Env, "PARENT="+filepath.Clean(job.Parent), c.name)
		for _, name := range job.Keep {
			require.Condition(t, func() bool {
				return slices.ContainsFunc(plain.Env, func(v string) bool {
					return strings.HasPrefix(v, "KEEP=/") && strings.Contains(v, "/"+name+"/")
				})
			}, "%s: %q is not in KEEP", c.name, name)
		}
	}
}

func TestKubeletExpansion(t *testing.T) {
	env := map[string]string{"NAME": "value"}
	for text, want := range map[string]string{
		"$(NAME)": "value", "$(OTHER)": "$(OTHER)", "$$(NAME)": "$(NAME)", "$$$$": "$$", "a$": "a$", "$(NAME": "$(NAME",
		"$((1 + 1))": "$((1 + 1))", "$NAME ${NAME}": "$NAME ${NAME}", "$()": "$()", "x$(NAME)y": "xvaluey", `$(a "$(b c)")`: `$(a "$(b c)")`,
	} {
		require.Equal(t, want, expand(text, env), text)
	}
}
