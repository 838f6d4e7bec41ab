package e2e

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// maxImage is how big the image may be, in bytes.
const maxImage = 24_000_000

// containerImage builds the image as `make image` does, around a binary that
// `make build` makes, and returns its name.
func containerImage(t *testing.T) string {
	t.Helper()
	docker := tool(t, "docker", "install Docker, and start its engine")
	if got := run(t, "", "", docker, "version"); got.code != 0 {
		if os.Getenv("CI") != "" {
			t.Fatalf("the Docker engine does not answer: %s", got.stderr)
		}
		t.Skipf("the Docker engine does not answer: %s", got.stderr)
	}
	image := fmt.Sprintf("localhost/trimtab-e2e:%d", os.Getpid()) // kpt puts a registry before a name without one
	context := t.TempDir()
	for _, file := range []string{"Dockerfile", "hack/image/passwd"} {
		write(t, context, map[string]string{file: read(t, filepath.Join(repository, file))})
	}
	data, err := os.ReadFile(staticBinary(t, repository))
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(filepath.Join(context, "bin"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(context, "bin", "trimtab"), data, 0o755))
	built := run(t, context, "", docker, "build", "--quiet", "--tag", image, ".")
	require.Zero(t, built.code, built.stderr)
	t.Cleanup(func() { run(t, "", "", docker, "rmi", "--force", image) })
	return image
}

// staticBinary is what `make build` makes of a copy of the repository.
func staticBinary(t *testing.T, dir string) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "trimtab")
	got := run(t, dir, "", "make", "build", "BINARY="+out)
	require.Zero(t, got.code, got.stderr)
	return out
}

// The image is small, and its program has nothing but itself: no user, no
// network, no file it can write and no capability.
func TestContainerIsSmallAndNeedsNothing(t *testing.T) {
	image := containerImage(t)
	size := run(t, "", "", "docker", "image", "inspect", "--format", "{{.Size}}", image)
	bytes, err := strconv.Atoi(strings.TrimSpace(size.stdout))
	require.NoError(t, err, size.stderr)
	require.Less(t, bytes, maxImage)
	t.Logf("the image has %d bytes", bytes)

	locked := []string{"run", "--rm", "--interactive", "--network=none", "--read-only", "--cap-drop=ALL", "--security-opt=no-new-privileges", image}
	input := list(functionTrim, deployment)
	exec := run(t, "", input, trimtab)
	contained := run(t, "", input, "docker", locked...)
	require.Equal(t, exec, contained)
	require.Zero(t, contained.code, contained.stderr)
	items, _, _ := strings.Cut(contained.stdout, "functionConfig:")
	requireTrimmed(t, items)

	user := run(t, "", "", "docker", "image", "inspect", "--format", "{{.Config.User}}", image)
	require.Equal(t, "nobody", strings.TrimSpace(user.stdout))
}

// kustomize and kpt run the image as they run the program, byte for byte.
func TestContainerThroughHostsIsTheExecForm(t *testing.T) {
	image := containerImage(t)

	dir := kustomization(t, nil)
	exec := build(t, dir, ".")
	require.Zero(t, exec.code, exec.stderr)
	contained := strings.Replace(functionTrim, "exec:\n        path: ./trimtab", "container:\n        image: "+image, 1)
	require.Contains(t, contained, image)
	write(t, dir, map[string]string{"trim.yaml": contained})
	got := run(t, dir, "", kustomize, "build", ".", "--enable-alpha-plugins")
	require.Zero(t, got.code, got.stderr)
	require.Equal(t, exec.stdout, got.stdout)
	requireTrimmed(t, got.stdout)

	byExec, byImage := kptPackage(t, nil), kptPackage(t, map[string]string{
		"Kptfile": strings.Replace(kptfile("mutators", trimtab, "configPath: trim.yaml\n"), "exec: "+trimtab, "image: "+image, 1),
	})
	rendered, _ := render(t, byExec)
	require.Zero(t, rendered.code, rendered.stderr)
	rendered, results := render(t, byImage, "--image-pull-policy=never")
	require.Zero(t, rendered.code, rendered.stderr)
	require.Zero(t, results.ExitCode)
	require.Equal(t, read(t, filepath.Join(byExec, "server.yaml")), read(t, filepath.Join(byImage, "server.yaml")))
	again := files(t, byImage)
	_, _ = render(t, byImage, "--image-pull-policy=never")
	require.Equal(t, again, files(t, byImage))

	evaluated := kptPackage(t, nil)
	eval := run(t, evaluated, "", kpt(t), "fn", "eval", "--image", image, "--image-pull-policy=never", "--fn-config", "trim.yaml")
	require.Zero(t, eval.code, eval.stderr)
	require.Equal(t, read(t, filepath.Join(byExec, "server.yaml")), read(t, filepath.Join(evaluated, "server.yaml")))
}

// C8: kpt refuses an image with tag and digest, and takes one with a digest.
func TestContainerC8PinsByDigest(t *testing.T) {
	pinned := "example.com/trimtab@sha256:" + strings.Repeat("0", 64)
	for _, image := range []string{pinned, strings.Replace(pinned, "@", ":v1@", 1)} {
		dir := kptPackage(t, map[string]string{
			"Kptfile": strings.Replace(kptfile("mutators", trimtab, "configPath: trim.yaml\n"), "exec: "+trimtab, "image: "+image, 1),
		})
		got := run(t, filepath.Dir(dir), "", kpt(t), "fn", "render", dir, "--image-pull-policy=never")
		require.NotZero(t, got.code)
		require.Equal(t, image != pinned, strings.Contains(got.stderr, "is invalid"), got.stderr)
	}
}

// Two builds of the same commit in two places give the same bytes.
func TestTheBuildCanBeRepeated(t *testing.T) {
	tool(t, "git", "install git")
	var sums [2][sha256.Size]byte
	for i := range sums {
		dir := filepath.Join(t.TempDir(), "clone")
		cloned := run(t, "", "", "git", "clone", "--quiet", repository, dir)
		require.Zero(t, cloned.code, cloned.stderr)
		data, err := os.ReadFile(staticBinary(t, dir))
		require.NoError(t, err)
		sums[i] = sha256.Sum256(data)
	}
	require.Equal(t, sums[0], sums[1])
}
