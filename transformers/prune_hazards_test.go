package transformers_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trimtab/trimtab/transformers"
)

// manyFiles is how many pages a store held in production before it filled a disk.
const manyFiles = 600_000

// memoryLimit is that of the job's container, in bytes.
const memoryLimit = 128 << 20

// fill makes so many empty files, all of one age, in a directory of the volume.
func (v volume) fill(dir string, files int, age time.Duration) {
	v.t.Helper()
	at := filepath.Join(v.root, dir)
	require.NoError(v.t, os.MkdirAll(at, 0o755))
	const writers = 4
	var failed atomic.Value
	var all sync.WaitGroup
	when := start.Add(-age)
	for writer := range writers {
		all.Go(func() {
			for i := writer; i < files; i += writers {
				name := filepath.Join(at, fmt.Sprintf("%064x_coder_0_1.bin", i))
				err := os.WriteFile(name, nil, 0o644)
				if err == nil {
					err = os.Chtimes(name, when, when)
				}
				if err != nil {
					failed.Store(err)
					return
				}
			}
		})
	}
	all.Wait()
	require.Nil(v.t, failed.Load())
	v.age(at, age)
}

// As many files in one directory as a store held in production are counted and
// removed under the memory limit of the job, by processes that each stay far
// below it.
func TestPruneScriptHoldsNoListOfFiles(t *testing.T) {
	if testing.Short() {
		t.Skip("it makes 600,000 files")
	}
	bin := install(t)
	v := volume{t, roomFor(t, manyFiles)}
	v.put("tier/new", 2*day, "a.bin")
	v.fill("tier/old", manyFiles, 3*day)

	flat := jobOn(v, nil, nil)
	files(&flat)
	flat.Parent, flat.KeepFor = filepath.Join(v.root, "tier/old"), 9*day
	const counted = "done: 0 pages written 12960 minutes ago or earlier removed, 600000 kept, 0 KiB\n"
	out, peak := measured(t, command(t, flat, hosts["no Flux"], bin))
	require.Equal(t, counted, out)
	t.Logf("peak of the largest process that counts %d files: %d KiB", manyFiles, peak>>10)
	require.Less(t, peak, int64(memoryLimit/4))

	if _, err := pruneImage(); err == nil {
		out, code := run(t, container(t, v, flat)) // where the limit kills what takes more
		require.Equal(t, counted, out)
		require.Zero(t, code)
	}
	out, peak = measured(t, command(t, jobOn(v, []string{"x"}, nil), hosts["no Flux"], bin))
	require.Equal(t, "removed: old\nkept: newest: new\ndone: 1 generations removed, 1 kept, 0 could not be removed\n", out)
	t.Logf("peak of the largest process that removes them: %d KiB", peak>>10)
	require.Less(t, peak, int64(memoryLimit/4))
	require.Equal(t, []string{"", "/tier", "/tier/new", "/tier/new/a.bin"}, v.tree())
}

// roomFor is a folder for so many files: in memory where there is room, for a
// disk is slow with so many.
func roomFor(t *testing.T, files uint64) string {
	t.Helper()
	var disk syscall.Statfs_t
	if err := syscall.Statfs("/dev/shm", &disk); err != nil || disk.Ffree < 2*files {
		return t.TempDir()
	}
	root, err := os.MkdirTemp("/dev/shm", "trimtab")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { _ = os.RemoveAll(root) })
	return root
}

// measured runs a command to its good end and returns what it prints and the
// bytes that the largest of its processes held.
func measured(t *testing.T, cmd *exec.Cmd) (string, int64) {
	t.Helper()
	busybox, err := exec.LookPath("busybox")
	require.NoError(t, err)
	var out, usage bytes.Buffer
	timed := exec.Command(busybox, append([]string{"time", "-v", cmd.Path}, cmd.Args[1:]...)...)
	timed.Env, timed.Dir, timed.Stdout, timed.Stderr = cmd.Env, cmd.Dir, &out, &usage
	require.NoError(t, timed.Run(), usage.String())
	found := regexp.MustCompile(`Maximum resident set size \(kbytes\): (\d+)`).FindStringSubmatch(usage.String())
	require.NotNil(t, found, usage.String())
	kib, err := strconv.ParseInt(found[1], 10, 64)
	require.NoError(t, err)
	return out.String(), kib << 10
}

// A run that is killed in the middle leaves what the next one finishes, although
// the generation changed only now.
func TestPruneScriptFinishesWhatAKilledRunBegan(t *testing.T) {
	bin := install(t)
	v := volume{t, t.TempDir()}
	v.put("tier/old", 3*day, "a.bin", "b.bin", "c.bin")
	v.put("tier/new", 2*day, "a.bin")
	rm := filepath.Join(bin, "rm")
	busybox, err := os.Readlink(rm)
	require.NoError(t, err)
	require.NoError(t, os.Remove(rm))
	deadly := "#!" + filepath.Join(bin, "sh") + "\n" + busybox + " rm -f ./old/a.bin\nkill -9 0\n"
	require.NoError(t, os.WriteFile(rm, []byte(deadly), 0o755))
	job := jobOn(v, []string{"x"}, nil)
	killed := command(t, job, hosts["no Flux"], bin)
	killed.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	require.ErrorContains(t, killed.Run(), "killed")
	require.Equal(t, []string{"", "/tier", "/tier/new", "/tier/new/a.bin", "/tier/old", "/tier/old/.trimtab-removes", "/tier/old/b.bin", "/tier/old/c.bin"}, v.tree())

	out, code := run(t, command(t, job, hosts["no Flux"], install(t)))
	require.Equal(t, "removed: old\nkept: newest: new\ndone: 1 generations removed, 1 kept, 0 could not be removed\n", out)
	require.Zero(t, code)
	require.Equal(t, []string{"", "/tier", "/tier/new", "/tier/new/a.bin"}, v.tree())
}

// A server that writes all the while loses no page that it wrote.
func TestPruneScriptBesideAWriter(t *testing.T) {
	for name, shape := range map[string]func(*transformers.PruneJob){"generations": func(*transformers.PruneJob) {}, "flat": files} {
		t.Run(name, func(t *testing.T) {
			bin := install(t)
			v := volume{t, t.TempDir()}
			v.put("tier/old", 3*day, "a.bin")
			v.fill("tier/live", 5000, 3*day)
			job := jobOn(v, []string{"live"}, nil)
			shape(&job)
			job.Partial = "*.bin.tmp.*"
			if job.Flat {
				job.Parent += "/live"
			}
			stop, written := make(chan struct{}), make(chan []string)
			go func() {
				var pages []string
				for i := 0; ; i++ {
					select {
					case <-stop:
						written <- pages
						return
					default:
					}
					page := filepath.Join(v.root, "tier/live", fmt.Sprintf("page%d.bin", i))
					if os.WriteFile(page+".tmp.7.8.9", []byte("page"), 0o644) == nil && os.Rename(page+".tmp.7.8.9", page) == nil {
						pages = append(pages, page)
					}
				}
			}()
			out, code := run(t, command(t, job, hosts["no Flux"], bin))
			close(stop)
			pages := <-written
			require.Zero(t, code, out)
			require.NotEmpty(t, pages)
			for _, page := range pages {
				require.FileExists(t, page)
			}
			left := strings.Join(v.tree(), "\n")
			if job.Flat {
				require.NotContains(t, left, fmt.Sprintf("%064x_coder_0_1.bin", 1), "the old pages go")
				return
			}
			require.NotContains(t, left, "/tier/old")
			require.Contains(t, left, fmt.Sprintf("%064x_coder_0_1.bin", 1), "the generation that is named stays whole")
		})
	}
}

// A disk on which nothing more can be written is what the job is for.
func TestPruneScriptOnAFullDisk(t *testing.T) {
	bin := install(t)
	v := volume{t, t.TempDir()}
	disk := filepath.Join(v.root, "disk")
	require.NoError(t, os.Mkdir(disk, 0o755))
	if err := syscall.Mount("none", disk, "tmpfs", 0, "size=256k,nr_inodes=13"); err != nil {
		t.Skipf("a small file system cannot be mounted here (%v): run as root with CAP_SYS_ADMIN", err)
	}
	t.Cleanup(func() { require.NoError(t, syscall.Unmount(disk, 0)) })
	full := volume{t, disk}
	full.put("tier/old", 3*day, "a.bin", "b.bin")
	full.put("tier/new", 2*day, "a.bin")
	full.put("tier/"+model+"_r0/abc/de_g0", 3*day, "a.bin")
	for i := 0; ; i++ {
		if err := os.WriteFile(filepath.Join(disk, fmt.Sprintf("fill%d", i)), make([]byte, 32<<10), 0o644); err != nil {
			break
		}
	}
	require.Error(t, os.WriteFile(filepath.Join(disk, "more"), []byte("x"), 0o644), "the disk is full")
	out, code := run(t, command(t, jobOn(full, []string{"x"}, nil), hosts["no Flux"], bin))
	require.Contains(t, out, "removed: old\n")
	require.Zero(t, code, out)
	flat := jobOn(full, nil, nil)
	blocks(&flat)
	out, code = run(t, command(t, flat, hosts["no Flux"], bin))
	require.Contains(t, out, "done: 1 pages written")
	require.Zero(t, code, out)
}

// The pages that were written just now stay, whatever the bound says; a job that
// could not keep to it says so.
func TestPruneFlatSaysWhereItsBoundIsTooLow(t *testing.T) {
	bin := install(t)
	v := volume{t, t.TempDir()}
	v.put("tier/"+model+"_r0/abc/de_g0", time.Minute, "a.bin", "b.bin")
	v.put("tier/"+model+"_r0/abc/df_g0", time.Hour, "a.bin")
	job := jobOn(v, nil, nil)
	atMost(4)(&job)
	out, code := run(t, command(t, job, hosts["no Flux"], bin))
	require.Equal(t, "failed: more than it may hold: 8 KiB of 4 KiB were written within 10 minutes\n"+removed("1", "10", "2", "8"), out)
	require.Equal(t, 1, code)
}

func TestPruneFlatFailsWhereSomethingOldStays(t *testing.T) {
	bin := install(t)
	v := volume{t, t.TempDir()}
	open(t, v)
	v.put("tier/"+model+"_r0/abc/de_g0", 3*day, "a.bin")
	cmd := command(t, func() transformers.PruneJob { job := jobOn(v, nil, nil); blocks(&job); return job }(), hosts["no Flux"], bin)
	require.NoError(t, os.Chmod(filepath.Join(v.root, "tier", model+"_r0/abc/de_g0"), 0o555))
	t.Cleanup(func() { _ = os.Chmod(filepath.Join(v.root, "tier", model+"_r0/abc/de_g0"), 0o755) })
	unprivileged(cmd)
	out, code := run(t, cmd)
	require.Contains(t, out, "failed: could not be removed: rm: can't remove")
	require.Contains(t, out, "Permission denied")
	require.Equal(t, 1, code)
}
