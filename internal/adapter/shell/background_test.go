//go:build unix

package shell

import (
	"context"
	"errors"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

// marksSeen: this system shows the environment of other processes.
const marksSeen = runtime.GOOS == "linux"

func itoa(n int) string { return strconv.Itoa(n) }

func atoi(s string) int {
	n, _ := strconv.Atoi(s)
	return n
}

func start(t *testing.T, s *Shell, command string) string {
	t.Helper()
	id := must.Get(s.Start(t.Context(), tool.Run{Confine: process.Free, Command: command}))(t)
	return id
}

func output(t *testing.T, s *Shell, id string, wait time.Duration) tool.Ran {
	t.Helper()
	r := must.Get(s.Output(t.Context(), id, wait))(t)
	return r
}

// SPEC 4.11: background commands: new output once, the exit code at the end.
func TestBackground(t *testing.T) {
	t.Parallel()
	s := newShell(t, Options{})
	go1, go2 := fifo(t), fifo(t)
	id := start(t, s, "echo one; read x < "+go1+"; echo two; read x < "+go2+"; echo three; exit 3")
	if r := output(t, s, id, time.Minute); r.Output != "one\n" || r.Exit != nil {
		t.Errorf("%+v", r)
	}
	if r := output(t, s, id, 0); r.Output != "" || r.Exit != nil {
		t.Errorf("shown twice: %+v", r)
	}
	if got := s.Running(); len(got) != 1 || got[0].ID != id {
		t.Errorf("%v", got)
	}
	open(t, go1)
	if r := output(t, s, id, time.Minute); r.Output != "two\n" || r.Exit != nil {
		t.Errorf("%+v", r)
	}
	open(t, go2)
	all := ""
	for {
		r := output(t, s, id, time.Minute)
		all += r.Output
		if r.Exit != nil {
			if *r.Exit != 3 || all != "three\n" {
				t.Errorf("%+v", r)
			}
			break
		}
	}
	if r := output(t, s, id, time.Minute); r.Output != "" || r.Exit == nil || *r.Exit != 3 {
		t.Errorf("after the end: %+v", r)
	}
	if r, err := s.Kill(t.Context(), id); err != nil || r.Exit == nil || *r.Exit != 3 {
		t.Errorf("killing the dead: %+v %v", r, err)
	}
	if got := s.Running(); len(got) != 0 {
		t.Errorf("%v", got)
	}
}

// The end of the call that started it does not end a background command; the
// end of the session does.
func TestBackgroundOutlivesItsCall(t *testing.T) {
	t.Parallel()
	s, w := newShell(t, Options{}), watching(t)
	ctx, cancel := context.WithCancel(t.Context())
	id := must.Get(s.Start(ctx, tool.Run{Confine: process.Free, Command: "echo up; " + self("hold", w.path)}))(t)
	w.wait(1)
	cancel()
	if r := output(t, s, id, time.Minute); r.Output != "up\n" || r.Exit != nil || r.Signal != "" {
		t.Errorf("%+v", r)
	}
	must.Do(t, s.Close())
	w.gone()
}

func TestBackgroundKill(t *testing.T) {
	t.Parallel()
	s, w := newShell(t, Options{}), watching(t)
	id := start(t, s, "exec 3> "+w.path+"; echo up; trap 'echo bye; exit 4' TERM; "+self("daemon", w.path)+"; echo >&3; while :; do read -t 1 <> <(:); done")
	w.wait(2)
	r, err := s.Kill(t.Context(), id)
	if err != nil || !strings.HasPrefix(r.Output, "up\n") || r.Exit == nil && r.Signal == "" {
		t.Errorf("%+v %v", r, err)
	}
	if marksSeen {
		w.gone()
	}
}

func TestBackgroundTimeout(t *testing.T) {
	t.Parallel()
	s, w := newShell(t, Options{}), watching(t)
	id := must.Get(s.Start(t.Context(), tool.Run{Confine: process.Free, Command: self("hold", w.path), Timeout: time.Millisecond}))(t)
	r := output(t, s, id, time.Minute)
	if !r.TimedOut || r.Exit != nil {
		t.Errorf("%+v", r)
	}
	w.gone()
}

func TestBackgroundFlood(t *testing.T) {
	t.Parallel()
	s := newShell(t, Options{Limit: 2000, SpillDir: t.TempDir()})
	id := start(t, s, "seq 100000")
	all, n := "", int64(0)
	for {
		r := output(t, s, id, time.Minute)
		if len(r.Output) > 2300 {
			t.Fatalf("%d bytes at once", len(r.Output))
		}
		all, n = all+r.Output, n+r.Bytes
		if r.Exit != nil {
			if n != 588895 || !strings.HasSuffix(all, "\n100000\n") || !strings.Contains(all, r.Spill) || r.Spill == "" {
				t.Errorf("%d bytes, %.300q", n, all)
			}
			if got := readAll(t, r.Spill); len(got) != 588895 {
				t.Errorf("%d bytes in the file", len(got))
			}
			break
		}
	}
}

func TestUnknownJob(t *testing.T) {
	t.Parallel()
	s := newShell(t, Options{Jobs: 1})
	if _, err := s.Output(t.Context(), "bg9", 0); !errors.Is(err, errNoJob) {
		t.Error(err)
	}
	w := watching(t)
	id := start(t, s, self("hold", w.path))
	if _, err := s.Kill(t.Context(), "nope"); !errors.Is(err, errNoJob) || !strings.Contains(err.Error(), id) {
		t.Error(err)
	}
	if _, err := s.Start(t.Context(), tool.Run{Confine: process.Free, Command: "true"}); !errors.Is(err, errTooMany) {
		t.Error(err)
	}
}

func TestWaitIsCancelled(t *testing.T) {
	t.Parallel()
	s, w := newShell(t, Options{}), watching(t)
	id := start(t, s, self("hold", w.path))
	w.wait(1)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Output(ctx, id, time.Minute); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestManyJobsAreForgotten(t *testing.T) {
	t.Parallel()
	s := newShell(t, Options{})
	var last string
	for range 80 {
		last = start(t, s, "true")
		output(t, s, last, time.Minute)
	}
	if len(s.jobs) > 65 || len(s.order) != len(s.jobs) {
		t.Errorf("%d jobs are kept", len(s.jobs))
	}
	output(t, s, last, 0)
}
