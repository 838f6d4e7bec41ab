package transformers_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trimtab/trimtab/transformers"
)

// pruneImage is an image FROM scratch that holds busybox alone, and what busybox
// is linked to; the error says why there is none.
var pruneImage = sync.OnceValues(func() (string, error) {
	const name = "trimtab-prune-test"
	if err := exec.Command("docker", "info").Run(); err != nil {
		return "", err
	}
	busybox, err := exec.LookPath("busybox")
	if err != nil {
		return "", err
	}
	root, err := os.MkdirTemp("", name)
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(root) }()
	if err := copyProgram(busybox, filepath.Join(root, "bin")); err != nil {
		return "", err
	}
	linked, _ := exec.Command("ldd", busybox).Output() // an error: it is static
	for _, library := range regexp.MustCompile(`/\S+`).FindAllString(string(linked), -1) {
		if err := copyProgram(library, filepath.Join(root, filepath.Dir(library))); err != nil {
			return "", err
		}
	}
	for _, applet := range applets {
		if err := os.Symlink("busybox", filepath.Join(root, "bin", applet)); err != nil {
			return "", err
		}
	}
	if err := os.WriteFile(filepath.Join(root, "Dockerfile"), []byte("FROM scratch\nCOPY . /\n"), 0o644); err != nil {
		return "", err
	}
	return name, exec.Command("docker", "build", "--quiet", "--tag", name, root).Run()
})

func copyProgram(from, to string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(to, filepath.Base(from)), data, 0o755)
}

// container is what a runtime starts for the job: the image, the user, the limits
// and the one mount that its pod has.
func container(t *testing.T, v volume, job transformers.PruneJob, options ...string) *exec.Cmd {
	t.Helper()
	image, err := pruneImage()
	if err != nil {
		t.Skipf("the Docker engine runs no container here: %v", err)
	}
	words, env := started(t, job, hosts["Flux strict"])
	args := []string{
		"run", "--rm", "--network", "none", "--read-only", "--cap-drop", "ALL", "--security-opt", "no-new-privileges",
		"--memory", "128m", "--memory-swap", "128m", "--user", strconv.Itoa(os.Getuid()) + ":" + strconv.Itoa(os.Getgid()),
	}
	for name, value := range env {
		args = append(args, "--env", name+"="+value)
	}
	if options == nil {
		options = []string{"--volume", v.root + ":" + v.root}
	}
	args = append(append(args, options...), "--entrypoint", words[0], image)
	return exec.Command("docker", append(args, words[1:]...)...)
}

// TestPruneContainer runs the whole matrix as the cluster does: in a container
// that holds busybox and nothing else.
func TestPruneContainer(t *testing.T) {
	for _, c := range allPruneCases() {
		t.Run(c.name, func(t *testing.T) {
			v := volume{t, t.TempDir()}
			c.lay(v)
			before := v.tree()
			job := c.job(v)
			out, code := run(t, container(t, v, job))
			// What lies outside of the volume is not there at all.
			want := strings.ReplaceAll(c.want, "a link leads out of the volume", "no such directory")
			require.Equal(t, want, printed(v, job, out))
			require.Zero(t, code)
			require.Equal(t, without(before, c.gone...), v.tree())
		})
	}
}

// A volume that is mounted read-only, or full, is no reason to say that all went
// well, or to leave anything.
func TestPruneContainerOnReadOnlyVolume(t *testing.T) {
	for name, shape := range map[string]func(*transformers.PruneJob){"generations": func(*transformers.PruneJob) {}, "flat": blocks} {
		t.Run(name, func(t *testing.T) {
			v := volume{t, t.TempDir()}
			v.put("tier/old", 3*day, "a.bin")
			v.put("tier/new", 2*day, "a.bin")
			v.put("tier/"+model+"_r0/abc/de_g0", 3*day, "a.bin")
			before := v.tree()
			job := jobOn(v, []string{"x"}, nil)
			shape(&job)
			out, code := run(t, container(t, v, job, "--volume", v.root+":"+v.root+":ro"))
			require.Equal(t, 1, code)
			require.Contains(t, out, "failed: could not be removed: ")
			require.Contains(t, out, "Read-only file system")
			require.Equal(t, before, v.tree())
		})
	}
}

// The container has no other volume than the one of the tier, and none is made.
func TestPruneContainerWithoutVolume(t *testing.T) {
	job := jobOn(volume{t, "/cache"}, []string{"x"}, nil)
	out, code := run(t, container(t, volume{t, "/cache"}, job, "--label", "trimtab-test"))
	require.Equal(t, "nothing to do: no such directory: /cache/tier\n", out)
	require.Zero(t, code)
}
