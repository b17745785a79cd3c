//go:build realservers

package realservers

import (
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/adapter/lsp"
	"github.com/pawl-agent/pawl/internal/adapter/shell"
	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

func (r *rig) hover() error {
	_, err := r.Hover(r.t.Context(), at("main.go", 10, "Square"))
	return err
}

func (r *rig) pid() int {
	r.t.Helper()
	for _, st := range r.Status() {
		if st.PID != 0 {
			return st.PID
		}
	}
	r.t.Fatal("no server runs")
	return 0
}

// SPEC 12.3: fifty restarts leave no process, descriptor or goroutine behind.
func TestFiftyRestarts(t *testing.T) {
	r := newRig(t, projects[0])
	var pids []int
	fds, routines := 0, 0
	for i := range 50 {
		if err := r.hover(); err != nil {
			t.Fatal(err)
		}
		pids = append(pids, r.pid())
		if i == 5 {
			fds, routines = counts()
		}
		r.Restart(t.Context(), "")
	}
	for _, pid := range pids {
		gone(t, pid)
	}
	time.Sleep(200 * time.Millisecond)
	if f, g := counts(); f > fds || g > routines {
		t.Errorf("%d descriptors and %d goroutines became %d and %d", fds, routines, f, g)
	}
}

// SPEC 12.3: a server that is killed is started again.
func TestCrash(t *testing.T) {
	for _, p := range projects {
		if p.hover.want == "-" || p.server == "bash" {
			continue
		}
		t.Run(p.server, func(t *testing.T) {
			r := newRig(t, p)
			ask := func() error {
				_, err := r.Hover(t.Context(), p.hover.at)
				return err
			}
			if err := ask(); err != nil {
				t.Fatal(err)
			}
			first := r.pid()
			if err := syscall.Kill(first, syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			// What it started goes with it: some are a script that starts the server.
			for end := time.Now().Add(10 * time.Second); ; time.Sleep(20 * time.Millisecond) {
				err := ask() // the call that meets the death may fail, or be answered still
				if err == nil && r.pid() != first && syscall.Kill(-first, 0) == syscall.ESRCH {
					break
				}
				if time.Now().After(end) {
					t.Fatalf("it does not come back whole: %v", err)
				}
			}
		})
	}
}

// SPEC 12.3: a server that hangs is an error in time, and gone.
func TestHang(t *testing.T) {
	r := newRig(t, projects[0])
	r.Servers = lsp.New(lsp.Options{Root: r.dir, Table: lsp.Table(nil)[:1], Start: r.start, Confine: process.Free, Find: find, Hung: 2 * time.Second})
	if err := r.hover(); err != nil {
		t.Fatal(err)
	}
	pid := r.pid()
	if err := syscall.Kill(-pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	if err := r.hover(); err == nil || time.Since(began) > 4*time.Second {
		t.Errorf("%v after %s", err, time.Since(began))
	}
	gone(t, pid)
	if err := r.hover(); err != nil {
		t.Error(err)
	}
}

// TestThisRepository measures gopls on pawl itself.
func TestThisRepository(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	start := shell.NewStarter(shell.StarterOptions{})
	defer start.Close()
	s := lsp.New(lsp.Options{Root: root, Table: lsp.Table(nil)[:1], Start: start, Confine: process.Free, Find: find, Hung: 2 * time.Minute})
	defer s.Close()
	began := time.Now()
	if _, err := s.Diagnostics(t.Context(), []string{"internal/adapter/lsp/text.go"}); err != nil {
		t.Fatal(err)
	}
	first := time.Since(began)
	began = time.Now()
	refs, err := s.References(t.Context(), tool.CodeAt{Symbol: "tool.Result"})
	if err != nil || len(refs) < 50 {
		t.Errorf("%d uses of tool.Result, %v", len(refs), err)
	}
	t.Logf("gopls on this repository: first diagnostics after %s, %d uses of tool.Result in %s, %d MB", first.Round(time.Millisecond), len(refs), time.Since(began).Round(time.Millisecond), s.Status()[0].Memory>>20)
}
