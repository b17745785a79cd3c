//go:build unix

package shell

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

// SPEC 4.11: what a command prints and how it ended.
func TestRun(t *testing.T) {
	t.Parallel()
	s := newShell(t, Options{})
	for _, c := range []struct {
		command, output, signal string
		exit                    int
	}{
		{command: "echo a; echo b >&2; echo c", output: "a\nb\nc\n"},
		{command: "printf x; exit 7", output: "x", exit: 7},
		{command: "kill -9 $$", signal: "SIGKILL"},
		{command: "kill -SEGV $$; true", signal: "SIGSEGV"},
		{command: "cat; echo end", output: "end\n"}, // no input to wait for
		{command: "no_such_command_here 2>/dev/null", exit: 127},
		{command: "syntax ( error 2>/dev/null", exit: -1},
		{command: "{ echo >/dev/tty; } 2>/dev/null || echo no terminal", output: "no terminal\n"},
	} {
		r := run(t, s, c.command)
		if c.exit == -1 {
			if r.Exit == nil || *r.Exit == 0 {
				t.Errorf("%s: %+v", c.command, r)
			}
			continue
		}
		if r.Output != c.output || r.Signal != c.signal || r.TimedOut || r.Spill != "" {
			t.Errorf("%s: %+v", c.command, r)
		}
		if c.signal != "" != (r.Exit == nil) || r.Exit != nil && *r.Exit != c.exit {
			t.Errorf("%s: exit %v, signal %q", c.command, r.Exit, r.Signal)
		}
	}
}

func TestFolder(t *testing.T) {
	t.Parallel()
	root := must.Get(filepath.EvalSymlinks(t.TempDir()))(t)
	must.Do(t, os.Mkdir(filepath.Join(root, "sub"), 0o755))
	must.Do(t, os.WriteFile(filepath.Join(root, "file"), nil, 0o644))
	s := newShell(t, Options{Root: root})
	for dir, want := range map[string]string{"": root, "sub": root + "/sub", root + "/sub": root + "/sub"} {
		r, err := s.Run(t.Context(), tool.Run{Confine: process.Free, Command: "pwd; echo $PWD", Dir: dir})
		if err != nil || r.Output != want+"\n"+want+"\n" {
			t.Errorf("%q: %q %v", dir, r.Output, err)
		}
	}
	if _, err := s.Run(t.Context(), tool.Run{Confine: process.Free, Command: "pwd", Dir: "gone"}); !errors.Is(err, errNoFolder) {
		t.Errorf("a missing folder: %v", err)
	}
	if _, err := s.Run(t.Context(), tool.Run{Confine: process.Free, Command: "pwd", Dir: "file"}); err == nil || !strings.Contains(err.Error(), "not a folder") {
		t.Errorf("a file as folder: %v", err)
	}
	if _, err := s.Run(t.Context(), tool.Run{Confine: process.Free, Command: "echo a\x00b"}); err == nil || !strings.Contains(err.Error(), "NUL") {
		t.Errorf("a NUL: %v", err)
	}
	if _, err := s.Run(t.Context(), tool.Run{Confine: process.Free, Command: "echo " + strings.Repeat("x", 4<<20)}); err == nil || !strings.Contains(err.Error(), "too long") {
		t.Errorf("a long line: %.200v", err)
	}
}

// SPEC 4.11, 10.3: the whole group goes, also what ignores SIGTERM, what is
// twice removed, and what has left the group and still holds the output.
func TestCancelKillsAll(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		command func(fifo string) string
		procs   int
		linux   bool
	}{
		"ignores SIGTERM": {func(f string) string { return "trap '' TERM; " + self("hold", f) + "; true" }, 1, false},
		"children":        {func(f string) string { return self("hold", f) + " & " + self("hold", f) + " & wait" }, 2, false},
		"grandchild":      {func(f string) string { return "( ( " + self("hold", f) + " & ) & ); " + self("hold", f) }, 2, false},
		"own session": {func(f string) string {
			return self("daemon", f) + "; " + self("daemon", f) + "; " + self("hold", f)
		}, 3, true},
		"fork storm": {func(f string) string {
			return "for i in 1 2 3 4 5 6 7 8; do ( trap '' TERM; " + self("hold", f) + " & wait ) & done; wait"
		}, 8, false},
	} {
		t.Run(name, func(t *testing.T) {
			if c.linux && !marksSeen {
				t.Log("not promised on this system")
				return
			}
			t.Parallel()
			s, w := newShell(t, Options{}), watching(t)
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			why := errors.New("enough")
			type result struct {
				r   tool.Ran
				err error
			}
			got := make(chan result, 1)
			go func() {
				r, err := s.Run(ctx, tool.Run{Confine: process.Free, Command: "echo before; " + c.command(w.path)})
				got <- result{r, err}
			}()
			w.wait(c.procs)
			start := time.Now()
			cancel(why)
			g := <-got
			t.Logf("gone after %v", time.Since(start))
			if !errors.Is(g.err, why) || g.r.Output != "before\n" || g.r.Signal == "" {
				t.Errorf("%+v, %v", g.r, g.err)
			}
			w.gone()
		})
	}
}

func TestTimeout(t *testing.T) {
	t.Parallel()
	s := newShell(t, Options{MaxTimeout: time.Second})
	w := watching(t)
	r, err := s.Run(t.Context(), tool.Run{Confine: process.Free, Command: "echo start; " + self("hold", w.path), Timeout: time.Hour})
	if err != nil || !r.TimedOut || r.Exit != nil || r.Output != "start\n" {
		t.Errorf("%+v, %v", r, err)
	}
	w.gone()
	// Going by itself at SIGTERM is still a timeout.
	r, err = s.Run(t.Context(), tool.Run{Confine: process.Free, Command: "trap 'echo bye; exit 0' TERM; echo on; while :; do read -t 1 <> <(:); done"})
	if err != nil || !r.TimedOut || r.Exit != nil {
		t.Errorf("%+v, %v", r, err)
	}
}

// What a command leaves behind holds neither the reader nor the result, lives
// on, and ends with the session.
func TestLeftBehind(t *testing.T) {
	t.Parallel()
	s, w := newShell(t, Options{}), watching(t)
	r := run(t, s, self("hold", w.path)+" & echo done")
	if r.Output != "done\n" || r.Exit == nil || *r.Exit != 0 {
		t.Errorf("%+v", r)
	}
	w.wait(1) // it may come up after the result
	if r := run(t, s, "echo next"); r.Output != "next\n" {
		t.Errorf("%+v", r)
	}
	must.Do(t, s.Close())
	w.gone()
}

// All that was printed before the end is in the result, though somebody still
// holds the output open.
func TestLeftBehindLosesNothing(t *testing.T) {
	t.Parallel()
	s := newShell(t, Options{Limit: 1 << 20})
	w := watching(t)
	for range 3 {
		r := run(t, s, self("hold", w.path)+" & head -c 60000 /dev/zero | tr '\\0' x")
		if len(r.Output) != 60000 {
			t.Errorf("%d bytes", len(r.Output))
		}
	}
	w.wait(3)
}

// SPEC 12.3: no orphan after kill -9 of pawl itself.
func TestKilledPawlLeavesNothing(t *testing.T) {
	t.Parallel()
	w := watching(t)
	pawl := exec.Command(os.Args[0], "pawl", w.path)
	pawl.Stdout, pawl.Stderr = os.Stderr, os.Stderr
	must.Do(t, pawl.Start())
	n := 5
	if marksSeen {
		n++ // a ghost
	}
	w.wait(n)
	must.Do(t, pawl.Process.Kill())
	_ = pawl.Wait()
	w.gone()
}

// The same through the groups alone: what Linux adds must not hide that the
// part for other systems is broken.
func TestSupervisorKillsGroups(t *testing.T) {
	t.Parallel()
	w := watching(t)
	cmd := exec.Command("/bin/sh", "-c", self("hold", w.path)+" & "+self("hold", w.path)+"; true")
	detach(cmd)
	must.Do(t, cmd.Start())
	w.wait(2)
	s := newSupervisor(newMark())
	other := exec.Command("/bin/sh", "-c", "read x")
	in := must.Get(other.StdinPipe())(t)
	detach(other)
	must.Do(t, other.Start())
	s.add(other.Process.Pid)
	s.add(cmd.Process.Pid)
	s.remove(other.Process.Pid)
	_ = s.pipe.Close() // as the kernel does when pawl is dead
	_ = cmd.Wait()
	w.gone()
	_ = in.Close()
	if err := other.Wait(); err == nil || other.ProcessState.ExitCode() != 1 {
		t.Errorf("a group that was taken back: %v", err) // read fails at the end of input
	}
}

func TestSupervisorComesBack(t *testing.T) {
	t.Parallel()
	s := newSupervisor(newMark())
	s.add(1 << 30)
	_ = s.pipe.Close()
	s.add(1<<30 + 1)
	if s.pipe == nil || len(s.groups) != 2 {
		t.Error("it was not started again")
	}
	s.close()
	s.add(1<<30 + 2)
	if s.pipe != nil {
		t.Error("it was started after close")
	}
}

// SPEC 4.11: bounded in memory, head and tail, all of it in a file.
func TestFlood(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "spill")
	s := newShell(t, Options{SpillDir: dir, Limit: 1000, SpillMax: 1 << 20})
	r := run(t, s, "echo first; yes | head -c 20000000; echo last")
	if r.Bytes != 20000011 || len(r.Output) > 1300 {
		t.Errorf("%d bytes, %d returned", r.Bytes, len(r.Output))
	}
	if !strings.HasPrefix(r.Output, "first\ny\n") || !strings.HasSuffix(r.Output, "\nlast\n") || !strings.Contains(r.Output, "the first 1048576 bytes are in "+r.Spill) {
		t.Errorf("%q", r.Output)
	}
	st, err := os.Stat(r.Spill)
	if err != nil || st.Size() != 1<<20 || st.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", st, err)
	}
	if st, err := os.Stat(dir); err != nil || st.Mode().Perm() != 0o700 {
		t.Errorf("%v %v", st, err)
	}
}

func TestSpill(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "spill")
	s := newShell(t, Options{SpillDir: dir, Limit: 1000})
	if r := run(t, s, "head -c 1000 /dev/zero | tr '\\0' x"); r.Spill != "" || len(r.Output) != 1000 {
		t.Errorf("at the limit: %+v", r)
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Error("the folder was made for nothing")
	}
	r := run(t, s, "for i in $(seq 1000); do echo line $i; done")
	var want strings.Builder
	for i := range 1000 {
		want.WriteString("line " + itoa(i+1) + "\n")
	}
	if got := readAll(t, r.Spill); got != want.String() {
		t.Errorf("the file differs: %d bytes, want %d", len(got), want.Len())
	}
	// Every line of the result is a whole line, and the count is right.
	whole, left := 0, 0
	for line := range strings.Lines(r.Output) {
		if strings.HasPrefix(line, "[… ") {
			left = atoi(strings.Fields(line)[1])
		} else if strings.Contains(want.String(), line) {
			whole++
		} else {
			t.Errorf("a torn line: %q", line)
		}
	}
	if whole+left != 1000 {
		t.Errorf("%d lines shown and %d left out of 1000", whole, left)
	}
}

func TestSpillFails(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	must.Do(t, os.WriteFile(file, nil, 0o600))
	s := newShell(t, Options{SpillDir: filepath.Join(file, "spill"), Limit: 100})
	r := run(t, s, "seq 1000")
	if r.Spill != "" || !strings.Contains(r.Output, "none of it was kept: ") || !strings.HasSuffix(r.Output, "\n1000\n") {
		t.Errorf("%+v", r)
	}
}

// What is returned is always valid text; the file has the bytes.
func TestBinary(t *testing.T) {
	t.Parallel()
	s := newShell(t, Options{Limit: 64})
	r := run(t, s, `printf 'a\377\000b'`)
	if r.Output != "a\uFFFD\x00b" {
		t.Errorf("%q", r.Output)
	}
	// 3-byte runes over a limit that cuts them.
	for n := 30; n < 40; n++ {
		r := run(t, s, "for i in $(seq "+itoa(n)+"); do printf '\\342\\202\\254'; done")
		if !utf8.ValidString(r.Output) || strings.Contains(r.Output, "\uFFFD") {
			t.Errorf("%d: %q", n, r.Output)
		}
		if r.Spill != "" && readAll(t, r.Spill) != strings.Repeat("€", n) {
			t.Errorf("%d: the file differs", n)
		}
	}
}

// SPEC 4.11: streamed while the command runs, never inside a rune, all of it
// before Run returns.
func TestStream(t *testing.T) {
	t.Parallel()
	s := newShell(t, Options{})
	gate := fifo(t)
	var got []string
	r, err := s.Run(t.Context(), tool.Run{
		Confine: process.Free,
		Command: `printf 'x\342\202'; read go < '` + gate + `'; printf '\254y\342'; printf '\377z\342'`,
		Out: func(c string) {
			got = append(got, c)
			if len(got) == 1 {
				open(t, gate)
			}
		},
	})
	all := strings.Join(got, "")
	if err != nil || all != r.Output || all != "x€y\uFFFDz\uFFFD" {
		t.Errorf("%q %q %v", got, r.Output, err)
	}
	if len(got) == 0 || got[0] != "x" {
		t.Errorf("a rune was torn: %q", got)
	}
}

func TestEveryChunking(t *testing.T) {
	t.Parallel()
	in := []byte("a\xffé€\xe2\x82😀\xf0\x9fz\xc3")
	want := strings.ToValidUTF8(string(in), "\uFFFD")
	for i := range in {
		for j := i; j < len(in); j++ {
			var d decoder
			got := d.text(in[:i]) + d.text(in[i:j]) + d.text(in[j:]) + d.rest()
			if got != want {
				t.Errorf("cut at %d and %d: %q, want %q", i, j, got, want)
			}
		}
	}
}

// SPEC 16.7: secrets are hidden before anything sees them.
func TestMask(t *testing.T) {
	t.Parallel()
	var shown strings.Builder
	s := newShell(t, Options{Limit: 40, Mask: func(p []byte) []byte {
		return []byte(strings.ReplaceAll(string(p), "hunter2", "***"))
	}})
	r := must.Get(s.Run(t.Context(), tool.Run{
		Confine: process.Free,
		Command: "for i in $(seq 20); do printf 'is hunt'; printf 'er2\\n'; done; printf hunter2",
		Out:     func(c string) { shown.WriteString(c) },
	}))(t)
	want := strings.Repeat("is ***\n", 20) + "***"
	if shown.String() != want || readAll(t, r.Spill) != want || strings.Contains(r.Output, "hunter") {
		t.Errorf("%q %q", shown.String(), r.Output)
	}
}

// SPEC 10.3: after the end of the session nothing can be started.
func TestClosed(t *testing.T) {
	t.Parallel()
	s := newShell(t, Options{})
	run(t, s, "true")
	for range 2 {
		must.Do(t, s.Close())
	}
	if _, err := s.Run(t.Context(), tool.Run{Confine: process.Free, Command: "true"}); !errors.Is(err, errClosed) {
		t.Error(err)
	}
	if _, err := s.Start(t.Context(), tool.Run{Confine: process.Free, Command: "true"}); !errors.Is(err, errClosed) {
		t.Error(err)
	}
	fresh := New(Options{Root: t.TempDir()})
	must.Do(t, fresh.Close())
}

func TestCloseDuringStarts(t *testing.T) {
	t.Parallel()
	s, w := newShell(t, Options{}), watching(t)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() { _, _ = s.Run(t.Context(), tool.Run{Confine: process.Free, Command: self("hold", w.path)}) })
	}
	w.wait(1)
	must.Do(t, s.Close())
	wg.Wait()
	w.gone()
}

func TestCancelledBefore(t *testing.T) {
	t.Parallel()
	s := newShell(t, Options{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Run(ctx, tool.Run{Confine: process.Free, Command: "touch made"}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(s.opt.Root, "made")); err == nil {
		t.Error("the command ran")
	}
}

func BenchmarkRun(b *testing.B) {
	s := New(Options{Root: b.TempDir()})
	defer s.Close()
	for b.Loop() {
		must.Done(b)(s.Run(b.Context(), tool.Run{Confine: process.Free, Command: ":"}))
	}
}

// BenchmarkProcess is what the system itself takes.
func BenchmarkProcess(b *testing.B) {
	sh := must.Get(NewStarter(StarterOptions{}).shell())(b)
	dir := b.TempDir()
	env := environ(os.Environ(), nil)
	for b.Loop() {
		cmd := &exec.Cmd{Path: sh.path, Args: append(append([]string{"bash"}, sh.args...), "-c", ":"), Dir: dir, Env: env}
		must.Do(b, cmd.Run())
	}
}
