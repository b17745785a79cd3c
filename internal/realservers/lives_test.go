//go:build realservers && linux

package realservers

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/adapter/lsp"
	"github.com/pawl-agent/pawl/internal/adapter/shell"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

// ask asks a server for what each can say: the symbols of a file.
func (r *realProject) ask(p project) error {
	_, err := r.Symbols(r.t.Context(), cmp.Or(p.symbols.at.Path, p.hover.at.Path), "")
	return err
}

func (r *realProject) pid() int {
	r.t.Helper()
	for _, st := range r.Status() {
		if st.PID != 0 {
			return st.PID
		}
	}
	r.t.Fatal("no server runs")
	return 0
}

// allStopped reports whether no thread of a process runs. One that started a program by
// vfork is not stopped while that program is, before its exec: it waits in state D.
func allStopped(pid int) bool {
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	return !slices.ContainsFunc(threads, func(name string) bool {
		raw, _ := os.ReadFile(name)
		_, state, _ := strings.Cut(string(raw), ") ")
		return !strings.HasPrefix(state, "T") && !strings.HasPrefix(state, "D")
	})
}

// group lists the processes of a group that are no zombies: who reaps those that
// lost their parent is not pawl.
func group(of int) []int {
	entries, _ := os.ReadDir("/proc")
	var out []int
	for _, e := range entries {
		raw, err := os.ReadFile("/proc/" + e.Name() + "/stat")
		if err != nil {
			continue
		}
		f := strings.Fields(string(raw[strings.LastIndexByte(string(raw), ')')+1:]))
		if len(f) > 2 && f[2] == strconv.Itoa(of) && f[0] != "Z" && f[0] != "X" {
			pid, _ := strconv.Atoi(e.Name())
			out = append(out, pid)
		}
	}
	return out
}

func groupGone(t *testing.T, of int) {
	t.Helper()
	for end := time.Now().Add(patient); len(group(of)) > 0; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Errorf("of the group %d there is still %v", of, group(of))
			return
		}
	}
}

// SPEC 12.3: restarts of each leave no process, descriptor or goroutine behind: what
// ten of them leave is seen. A server takes a second to start; TestFiftyLives has more
// lives of one that does not.
func TestRestarts(t *testing.T) {
	for _, p := range projects {
		t.Run(p.server, func(t *testing.T) {
			r := newRealProject(t, p)
			var pids []int
			fds, routines := 0, 0
			for i := range 8 {
				must.Do(t, r.ask(p))
				pids = append(pids, r.pid())
				if i == 2 {
					fds, routines = counts()
				}
				r.Restart(t.Context(), "")
			}
			for _, pid := range pids {
				gone(t, pid)
				groupGone(t, pid)
			}
			for end := time.Now().Add(patient); ; time.Sleep(20 * time.Millisecond) {
				f, g := counts()
				if f <= fds && g <= routines {
					break
				}
				if time.Now().After(end) {
					t.Fatalf("%d descriptors and %d goroutines became %d and %d", fds, routines, f, g)
				}
			}
		})
	}
}

// SPEC 12.3: a server that is killed is started again.
func TestCrash(t *testing.T) {
	for _, p := range projects {
		t.Run(p.server, func(t *testing.T) {
			t.Parallel()
			r := newRealProject(t, p)
			must.Do(t, r.ask(p))
			first := r.pid()
			must.Do(t, syscall.Kill(first, syscall.SIGKILL))
			// What it started goes with it: some are a script that starts the server.
			for end := time.Now().Add(patient); ; time.Sleep(20 * time.Millisecond) {
				err := r.ask(p) // the call that meets the death may fail, or be answered still
				if err == nil && r.pid() != first && len(group(first)) == 0 {
					break
				}
				if time.Now().After(end) {
					t.Fatalf("it does not come back whole: %v", err)
				}
			}
		})
	}
}

// SPEC 12.3: a server that hangs is an error in time, gone with all its
// processes, and started again.
func TestHang(t *testing.T) {
	for _, p := range projects {
		t.Run(p.server, func(t *testing.T) {
			t.Parallel()
			const hung = 8 * time.Second // a start in a busy machine is no hang
			r := newRealProject(t, p)
			table := slices.DeleteFunc(lsp.Table(nil), func(s lsp.Server) bool { return s.Name != p.server })
			r.Servers = lsp.New(lsp.Options{Root: r.dir, Table: table, Start: r.start, Confine: process.Free, Find: find, Trusted: func(string) bool { return true }, Hung: hung})
			must.Do(t, r.ask(p))
			pid := r.pid()
			must.Do(t, syscall.Kill(-pid, syscall.SIGSTOP))
			for !allStopped(pid) { // a thread that runs may still answer
				runtime.Gosched()
			}
			began := time.Now()
			if err := r.ask(p); err == nil || time.Since(began) > hung+patient {
				t.Errorf("%v after %s", err, time.Since(began))
			}
			gone(t, pid)
			groupGone(t, pid)
			if err := r.ask(p); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestThisRepository measures gopls on pawl itself.
func TestThisRepository(t *testing.T) {
	root := must.Get(filepath.Abs("../.."))(t)
	start := shell.NewStarter(shell.StarterOptions{})
	defer start.Close()
	s := lsp.New(lsp.Options{Root: root, Table: lsp.Table(nil)[:1], Start: start, Confine: process.Free, Find: find, Hung: 2 * time.Minute})
	defer s.Close()
	began := time.Now()
	must.Done(t)(s.Diagnostics(t.Context(), []string{"internal/adapter/lsp/text.go"}))
	first := time.Since(began)
	began = time.Now()
	refs, err := s.References(t.Context(), tool.CodeAt{Symbol: "tool.Result"})
	if err != nil || len(refs) < 50 {
		t.Errorf("%d uses of tool.Result, %v", len(refs), err)
	}
	t.Logf("gopls on this repository: first diagnostics after %s, %d uses of tool.Result in %s, %d MB", first.Round(time.Millisecond), len(refs), time.Since(began).Round(time.Millisecond), s.Status()[0].Memory>>20)
}
