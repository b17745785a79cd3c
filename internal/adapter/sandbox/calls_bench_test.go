//go:build linux && (amd64 || arm64)

package sandbox

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pawl-agent/pawl/internal/adapter/sandbox/kept"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/policy/confine"
)

// benchFiles is how many files a work of BenchmarkCalls is about.
const benchFiles = 1000

// works are what BenchmarkCalls measures, in a folder in which there are so many files
// before it.
var works = []struct {
	name  string
	files int
	do    func() error
}{
	{"create", 0, eachFile(func(i int) error {
		fd, err := unix.Open(numbered(i), unix.O_CREAT|unix.O_WRONLY|unix.O_CLOEXEC, 0o644)
		if err == nil {
			err = unix.Close(fd)
		}
		return err
	})},
	{"open for writing", 1, eachFile(func(int) error {
		fd, err := unix.Open(numbered(0), unix.O_WRONLY|unix.O_CLOEXEC, 0)
		if err == nil {
			err = unix.Close(fd)
		}
		return err
	})},
	{"rename", benchFiles, eachFile(func(i int) error { return unix.Rename(numbered(i), numbered(benchFiles+i)) })},
	{"chmod", 1, eachFile(func(i int) error { return unix.Chmod(numbered(0), 0o600+uint32(i%2)) })},
	{"mkdir", 0, eachFile(func(i int) error { return unix.Mkdir(numbered(i), 0o755) })},
	{"unlink", benchFiles, eachFile(func(i int) error { return unix.Unlink(numbered(i)) })},
	{"cp -r", benchFiles, running("cp", "-r", "t", "u")},
	{"rm -rf", benchFiles, running("rm", "-rf", "t")},
}

func numbered(i int) string { return "t/f" + strconv.Itoa(i) }

func eachFile(do func(i int) error) func() error {
	return func() error {
		for i := range benchFiles {
			if err := do(i); err != nil {
				return err
			}
		}
		return nil
	}
}

func running(name string, args ...string) func() error {
	return func() error {
		cmd := exec.Command(name, args...)
		cmd.Stderr = os.Stderr
		return cmd.Run()
	}
}

func init() {
	modes["work"] = func() int {
		for _, w := range works {
			if w.name != os.Args[1] {
				continue
			}
			start := time.Now()
			err := w.do()
			fmt.Println(time.Since(start).Nanoseconds())
			if err != nil {
				fmt.Fprintln(os.Stderr, err)
				return 1
			}
		}
		return 0
	}
}

// What a change of the workspace costs a confined command: in µs for each file, the least of
// all rounds; plain, confined (as by pawl sandbox), and in a session, where it is also held
// and what it ends is kept. TMPDIR chooses the file system.
func BenchmarkCalls(b *testing.B) {
	self := must.Get(os.Executable())(b)
	for _, w := range works {
		b.Run(w.name, func(b *testing.B) {
			root, round := real(b.TempDir()), 0
			box := must.Get(Open(confine.New(confine.Workspace, confine.Facts{Root: root, Reads: []string{self}})))(b)
			defer box.Close()
			store := kept.Open(filepath.Join(real(b.TempDir()), "kept"), kept.Limits{Session: 1 << 30, File: 1 << 20})
			run := func(least *float64, start func(*exec.Cmd) (wait func() error, err error)) {
				round++
				dir := filepath.Join(root, strconv.Itoa(round))
				must.Do(b, os.MkdirAll(filepath.Join(dir, "t"), 0o777))
				for i := range w.files {
					must.Do(b, os.WriteFile(filepath.Join(dir, numbered(i)), []byte("x"), 0o666))
				}
				var out bytes.Buffer
				cmd := exec.Command(self, w.name)
				cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = dir, append(os.Environ(), modeVar+"=work"), &out, os.Stderr
				wait, err := start(cmd)
				if err == nil {
					err = wait()
				}
				must.Do(b, err)
				var took float64
				must.Done(b)(fmt.Sscan(out.String(), &took))
				*least = min(*least, took/benchFiles/1000)
				must.Do(b, os.RemoveAll(dir))
			}
			plain, confined, session := math.Inf(1), math.Inf(1), math.Inf(1)
			for b.Loop() {
				run(&plain, func(cmd *exec.Cmd) (func() error, error) { return cmd.Wait, cmd.Start() })
				run(&confined, func(cmd *exec.Cmd) (func() error, error) {
					c, err := box.start(cmd, holding{})
					return c.Wait, err
				})
				run(&session, func(cmd *exec.Cmd) (func() error, error) {
					set := store.Begin()
					c, err := box.start(cmd, holding{hold: answering(no).hold, keep: set})
					return func() error {
						err := c.Wait()
						if _, finish := set.Finish(nil); err == nil {
							err = finish
						}
						return err
					}, err
				})
			}
			b.ReportMetric(plain, "plain-µs")
			b.ReportMetric(confined, "confined-µs")
			b.ReportMetric(session, "session-µs")
			b.ReportMetric(confined/plain, "confined/plain")
			b.ReportMetric(session/confined, "session/confined")
		})
	}
}
