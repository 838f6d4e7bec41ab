package transformers_test

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fluxcd/pkg/envsubst"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	"sigs.k8s.io/yaml"

	"github.com/trimtab/trimtab/transformers"
)

// hosts are what may read the manifest before kubelet does.
var hosts = map[string]func(t *testing.T, text string) string{
	"no Flux": func(_ *testing.T, text string) string { return text },
	"Flux lax": func(t *testing.T, text string) string {
		return substitute(t, text, func(string) (string, bool) { return "", true })
	},
	"Flux lax, all set": func(t *testing.T, text string) string {
		return substitute(t, text, func(string) (string, bool) { return "evil", true })
	},
	"Flux strict": func(t *testing.T, text string) string {
		return substitute(t, text, func(string) (string, bool) { return "", false })
	},
	"encoded again, Flux strict": func(t *testing.T, text string) string {
		json, err := yaml.YAMLToJSON([]byte(text))
		require.NoError(t, err)
		again, err := yaml.JSONToYAML(json)
		require.NoError(t, err)
		return substitute(t, string(again), func(string) (string, bool) { return "", false })
	},
}

func substitute(t *testing.T, text string, known func(string) (string, bool)) string {
	t.Helper()
	out, err := envsubst.Eval(text, known)
	require.NoError(t, err)
	return out
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

// command is what kubelet would start for the job, with busybox's applets for the
// image's.
func command(t *testing.T, job transformers.PruneJob, host func(*testing.T, string) string, bin string) *exec.Cmd {
	t.Helper()
	text, err := transformers.PruneCronJob(job)
	require.NoError(t, err)
	cron := &batchv1.CronJob{}
	require.NoError(t, yaml.UnmarshalStrict([]byte(host(t, text)), cron))
	container := cron.Spec.JobTemplate.Spec.Template.Spec.Containers[0]
	env := map[string]string{"KUBERNETES_PORT": "tcp://10.0.0.1:443", "PATH": bin}
	for _, v := range container.Env {
		env[v.Name] = expand(v.Value, env)
	}
	var words []string
	for _, word := range slices.Concat(container.Command, container.Args) {
		words = append(words, expand(word, env))
	}
	require.Equal(t, "/bin/sh", words[0])
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
	for _, c := range pruneCases {
		job := c.job(volume{t, "/cache"})
		plain := command(t, job, hosts["no Flux"], "/bin")
		require.Contains(t, plain.Args[2], "any() {")
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
