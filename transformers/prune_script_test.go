package transformers_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trimtab/trimtab/transformers"
)

// applets are the programs the job may call, all of busybox.
var applets = []string{"sh", "find", "head", "stat", "rm", "rmdir", "tr", "awk", "sort", "grep", "cut", "sed", "date"}

// install makes a directory that holds busybox under the names of its applets.
func install(t *testing.T) string {
	t.Helper()
	busybox, err := exec.LookPath("busybox")
	if err != nil {
		require.Empty(t, os.Getenv("CI"), "CI must have busybox")
		t.Skip("busybox is not there: apt-get install busybox")
	}
	dir := t.TempDir()
	for _, applet := range applets {
		require.NoError(t, os.Symlink(busybox, filepath.Join(dir, applet)))
	}
	return dir
}

// run runs the command; what it prints to stderr is a fault.
func run(t *testing.T, cmd *exec.Cmd) (string, int) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) {
		require.NoError(t, err)
	}
	require.Empty(t, stderr.String())
	return stdout.String(), cmd.ProcessState.ExitCode()
}

// volume is a directory that stands for the mounted volume.
type volume struct {
	t    *testing.T
	root string
}

const day = 24 * time.Hour

// put makes files (a name that ends in "/" is a directory) below the volume and
// sets the age of all of them and of their directory.
func (v volume) put(dir string, age time.Duration, names ...string) {
	v.t.Helper()
	at := filepath.Join(v.root, dir)
	require.NoError(v.t, os.MkdirAll(at, 0o755))
	for _, name := range names {
		path := filepath.Join(at, name)
		if strings.HasSuffix(name, "/") {
			require.NoError(v.t, os.MkdirAll(path, 0o755))
			continue
		}
		require.NoError(v.t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(v.t, os.WriteFile(path, []byte("page"), 0o644))
	}
	require.NoError(v.t, filepath.WalkDir(at, func(path string, _ fs.DirEntry, err error) error {
		require.NoError(v.t, err)
		v.age(path, age)
		return nil
	}))
}

// age sets the mtime; a negative age lies in the future.
func (v volume) age(path string, age time.Duration) {
	v.t.Helper()
	when := start.Add(-age)
	require.NoError(v.t, os.Chtimes(path, when, when))
}

// start is one moment for all ages of a run, so that equal ages are equal mtimes.
var start = time.Now().Truncate(time.Second)

func (v volume) link(target, name string) {
	v.t.Helper()
	require.NoError(v.t, os.Symlink(target, filepath.Join(v.root, name)))
}

// ageLink sets the mtime of a link itself.
func (v volume) ageLink(name string, age time.Duration) {
	v.t.Helper()
	when := "@" + strconv.FormatInt(start.Add(-age).Unix(), 10)
	require.NoError(v.t, exec.Command("touch", "-h", "-d", when, filepath.Join(v.root, name)).Run())
}

// tree lists all that is on the volume, links with their targets.
func (v volume) tree() []string {
	v.t.Helper()
	list := []string{}
	require.NoError(v.t, filepath.WalkDir(v.root, func(path string, entry fs.DirEntry, err error) error {
		require.NoError(v.t, err)
		name := strings.TrimPrefix(path, v.root)
		if entry.Type()&fs.ModeSymlink != 0 {
			target, err := os.Readlink(path)
			require.NoError(v.t, err)
			name += " -> " + target
		}
		list = append(list, name)
		return nil
	}))
	return list
}

// without is the tree without some directories and what lies in them.
func without(tree []string, gone ...string) []string {
	return slices.DeleteFunc(slices.Clone(tree), func(path string) bool {
		return slices.ContainsFunc(gone, func(dir string) bool {
			return path == dir || strings.HasPrefix(path, dir+"/")
		})
	})
}

// jobOn is a job about the directory `tier` of the volume.
func jobOn(v volume, keep, reserved []string) transformers.PruneJob {
	job := hicache()
	job.MountPath, job.Parent = v.root, filepath.Join(v.root, "tier")
	job.Keep, job.Reserved = keep, reserved
	return job
}

func TestPruneScript(t *testing.T) {
	bin := install(t)
	for _, c := range allPruneCases() {
		for host, reads := range hosts {
			if host != "no Flux" && !c.everyHost {
				continue
			}
			t.Run(c.name+"/"+host, func(t *testing.T) {
				t.Parallel()
				c.run(t, reads, bin)
			})
		}
	}
}

// run prunes the volume of the case, twice: the second run finds nothing.
func (c pruneCase) run(t *testing.T, reads func(*testing.T, string) string, bin string) {
	v := volume{t, t.TempDir()}
	c.lay(v)
	before := v.tree()
	job := c.job(v)
	out, code := run(t, command(t, job, reads, bin))
	require.Equal(t, c.want, printed(v, job, out))
	require.Zero(t, code)
	after := without(before, c.gone...)
	require.Equal(t, after, v.tree())
	if !job.Flat {
		generations := slices.DeleteFunc(slices.Clone(c.gone), func(path string) bool { return strings.HasSuffix(path, "/.trimtab-removes") })
		require.Len(t, generations, strings.Count("\n"+out, "\nremoved: "))
	}

	out, code = run(t, command(t, job, reads, bin))
	require.NotContains(t, "\n"+out, "\nremoved: ")
	require.Zero(t, code)
	require.Equal(t, after, v.tree())
}

func (c pruneCase) job(v volume) transformers.PruneJob {
	job := jobOn(v, c.keep, c.reserved)
	if c.parent != "" {
		job.Parent = v.root + c.parent
	}
	if c.shape != nil {
		c.shape(&job)
	}
	return job
}

// unprivileged lets the command run as a user who may not write what the test
// made, also where the test runs as root.
func unprivileged(cmd *exec.Cmd) {
	if os.Getuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
}

// open lets every user reach the volume: a test's folder is its user's alone.
func open(t *testing.T, v volume) {
	t.Helper()
	for _, dir := range []string{v.root, filepath.Dir(v.root)} {
		require.NoError(t, os.Chmod(dir, 0o755))
	}
}

func TestPruneScriptFailsWhereSomethingOldStays(t *testing.T) {
	bin := install(t)
	v := volume{t, t.TempDir()}
	open(t, v)
	v.put("tier/old", 3*day, "a.bin")
	v.put("tier/new", 2*day, "a.bin")
	require.NoError(t, os.Chmod(filepath.Join(v.root, "tier/old"), 0o555))
	t.Cleanup(func() { _ = os.Chmod(filepath.Join(v.root, "tier/old"), 0o755) })
	before := v.tree()
	cmd := command(t, jobOn(v, []string{"x"}, nil), hosts["no Flux"], bin)
	unprivileged(cmd)
	out, code := run(t, cmd)
	require.Equal(t, "failed: could not be removed: old (rm: can't remove './old/a.bin': Permission denied)\nkept: newest: new\n"+
		"done: 0 generations removed, 1 kept, 1 could not be removed\n", out)
	require.Equal(t, 1, code)
	require.Equal(t, before, v.tree())
}

func TestPruneScriptFailsWhereTheParentCannotBeRead(t *testing.T) {
	bin := install(t)
	for _, mode := range []os.FileMode{0o000, 0o111} {
		v := volume{t, t.TempDir()}
		open(t, v)
		v.put("tier/old", 3*day, "a.bin")
		parent := filepath.Join(v.root, "tier")
		require.NoError(t, os.Chmod(parent, mode))
		t.Cleanup(func() { _ = os.Chmod(parent, 0o755) })
		cmd := command(t, jobOn(v, []string{"x"}, nil), hosts["no Flux"], bin)
		unprivileged(cmd)
		out, code := run(t, cmd)
		require.Equal(t, "failed: cannot be read: "+parent+"\n", out)
		require.Equal(t, 1, code)
	}
}

// TestPruneScriptToleratesRaces puts a program in rm's or find's place that does
// what another process may do at that moment; `really` is the program itself.
func TestPruneScriptToleratesRaces(t *testing.T) {
	const lost, kept = "0 generations removed, 1 kept, 1", "0 generations removed, 2 kept, 0"
	cases := []struct{ name, program, does, line, counts, left string }{
		{"a writer comes back", "rm", `really "$@"; echo page > ./old/b.bin`, "kept: being written: old", kept, "b.bin"},
		{"another kind of file comes", "find", `case "$*" in *" rm "*) echo x > ./old/index ;; esac; really "$@"`, "kept: being written: old", kept, "index"},
		{"all vanishes", "rm", `really -rf ./old`, "removed: old", "1 generations removed, 1 kept, 0", ""},
		{"rm does nothing", "rm", `echo rm: broken >&2`, "failed: could not be removed: old (rm: broken)", lost, "a.bin"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			bin := install(t)
			v := volume{t, t.TempDir()}
			v.put("tier/old", 3*day, "a.bin")
			v.put("tier/new", 2*day, "a.bin")
			program := filepath.Join(bin, c.program)
			busybox, err := os.Readlink(program)
			require.NoError(t, err)
			require.NoError(t, os.Remove(program))
			text := "#!" + filepath.Join(bin, "sh") + "\nreally() { " + busybox + " " + c.program + " \"$@\"; }\n" + c.does + "\n"
			require.NoError(t, os.WriteFile(program, []byte(text), 0o755))
			out, code := run(t, command(t, jobOn(v, []string{"x"}, nil), hosts["no Flux"], bin))
			require.Equal(t, c.line+"\nkept: newest: new\ndone: "+c.counts+" could not be removed\n", out)
			require.Equal(t, strings.HasPrefix(c.line, "failed"), code == 1)
			left := []string{"", "/tier", "/tier/new", "/tier/new/a.bin"}
			if c.left != "" {
				left = append(left, "/tier/old", "/tier/old/"+c.left)
			}
			if c.program == "rm" && c.left == "a.bin" {
				left = slices.Insert(left, len(left)-1, "/tier/old/.trimtab-removes") // the next run goes on
			}
			require.Equal(t, left, v.tree())
		})
	}
}

func TestPruneScriptStaysOnItsFileSystem(t *testing.T) {
	bin := install(t)
	v := volume{t, t.TempDir()}
	v.put("tier/mounted", 3*day)
	v.put("tier/new", 2*day, "a.bin")
	mounted := filepath.Join(v.root, "tier/mounted")
	if err := syscall.Mount("none", mounted, "tmpfs", 0, ""); err != nil {
		t.Skipf("a second file system cannot be mounted here (%v): run as root with CAP_SYS_ADMIN", err)
	}
	t.Cleanup(func() { require.NoError(t, syscall.Unmount(mounted, 0)) })
	v.put("tier/mounted", 3*day, "a.bin")
	before := v.tree()
	out, code := run(t, command(t, jobOn(v, []string{"x"}, nil), hosts["no Flux"], bin))
	require.Equal(t, "kept: not a generation: mounted (another file system)\nkept: newest: new\n"+
		"done: 0 generations removed, 1 kept, 0 could not be removed\n", out)
	require.Zero(t, code)
	require.Equal(t, before, v.tree())
}

func TestPruneScriptNamesTwentyFilesBesideAndCountsTheRest(t *testing.T) {
	bin := install(t)
	v := volume{t, t.TempDir()}
	var beside []string
	for i := range 3000 {
		beside = append(beside, strings.Repeat("k", 60)+strconv.Itoa(i)+"_coder_0_1.bin")
	}
	v.put("tier", 3*day, beside...)
	v.put("tier/new", 2*day, "a.bin")
	v.put("tier/old", 3*day, beside...)
	before := v.tree()
	out, code := run(t, command(t, jobOn(v, []string{"x"}, nil), hosts["no Flux"], bin))
	require.Zero(t, code)
	lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	require.Len(t, lines, 20+1+3)
	require.Equal(t, "kept: 2980 more files and links", lines[0])
	for _, line := range lines[1:21] {
		require.Regexp(t, `^kept: not a generation: k{60}\d+_coder_0_1\.bin \(no directory\)$`, line)
	}
	require.Equal(t, []string{"removed: old", "kept: newest: new", "done: 1 generations removed, 1 kept, 0 could not be removed"}, lines[21:])
	require.Equal(t, without(before, "/tier/old"), v.tree())
}
