package realservers

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
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

// This file keeps SPEC 12.3 with real processes: this test binary is the server,
// in each of the ways that servers misbehave, and it is pawl, in each of the ways
// that pawl ends.

// Settings that make this binary something else than its tests.
const (
	asServer = "REALSERVERS_SERVER" // a language server; how it behaves
	asPawl   = "REALSERVERS_PAWL"   // a pawl with such a server; how it ends
)

func TestMain(m *testing.M) {
	switch {
	case os.Getenv(asServer) == "helper":
		time.Sleep(time.Hour)
	case os.Getenv(asServer) != "":
		serve(os.Getenv(asServer))
	case os.Getenv(asPawl) != "":
		pawl(os.Getenv(asPawl))
	default:
		os.Exit(m.Run())
	}
}

// serve is a language server that began a process of its own, in another session,
// as some do. It tells the number of that in its answers.
func serve(how string) {
	self, _ := os.Executable()
	helper := exec.Command(self)
	helper.Env = append(os.Environ(), asServer+"=helper")
	helper.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := helper.Start(); err != nil {
		os.Exit(3)
	}
	fmt.Fprintln(os.Stderr, "numbers", os.Getpid(), helper.Process.Pid)
	if how == "fat" {
		fat := make([]byte, 300<<20)
		for i := range fat {
			fat[i] = 1
		}
		defer runtime.KeepAlive(fat)
	}
	in := bufio.NewReader(os.Stdin)
	for {
		length := 0
		for {
			line, err := in.ReadString('\n')
			if err != nil {
				if how == "deaf" {
					time.Sleep(time.Hour)
				}
				os.Exit(0)
			}
			if line = strings.TrimSpace(line); line == "" {
				break
			}
			if n, ok := strings.CutPrefix(line, "Content-Length: "); ok {
				length, _ = strconv.Atoi(n)
			}
		}
		body := make([]byte, length)
		if _, err := io.ReadFull(in, body); err != nil {
			os.Exit(0)
		}
		var m struct {
			ID     json.RawMessage
			Method string
		}
		_ = json.Unmarshal(body, &m)
		var answer string
		switch {
		case m.Method == "initialize":
			answer = `{"capabilities":{"textDocumentSync":2,"hoverProvider":true}}`
		case m.Method == "textDocument/hover" && how == "hangs":
			time.Sleep(time.Hour)
		case m.Method == "textDocument/hover" && how == "crashes":
			os.Exit(7)
		case m.Method == "textDocument/hover":
			answer = fmt.Sprintf(`{"contents":"%d %d"}`, os.Getpid(), helper.Process.Pid)
		case m.Method == "shutdown" && how == "deaf", m.ID == nil:
			continue
		case m.Method == "exit":
			os.Exit(0)
		default:
			answer = "null"
		}
		body = fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, answer)
		fmt.Printf("Content-Length: %d\r\n\r\n%s", len(body), body)
	}
}

// served is the options of a workspace whose server is this binary.
func served(dir, how string) (lsp.Options, *shell.Starter) {
	self, err := os.Executable()
	if err != nil {
		panic(err)
	}
	start := shell.NewStarter(shell.StarterOptions{Env: func() []string { return append(os.Environ(), asServer+"="+how) }, Allow: []string{asServer}})
	return lsp.Options{
		Root: dir, Start: start, Confine: process.Free,
		Table: []lsp.Server{{Name: "fake", Commands: [][]string{{"fake"}}, Files: map[string]string{".x": "x"}, Anywhere: true}},
		Find:  func(string) (string, error) { return self, nil },
	}, start
}

// pids asks a server for its number and that of the process it began.
func pids(ctx context.Context, s *lsp.Servers) ([]int, error) {
	text, err := s.Hover(ctx, tool.CodeAt{Path: "a.x", Line: 1})
	if err != nil {
		return nil, err
	}
	var server, helper int
	_, err = fmt.Sscan(text, &server, &helper)
	return []int{server, helper}, err
}

// pawl is a pawl that used a server and ends in some way.
func pawl(how string) {
	o, start := served(os.Getenv("REALSERVERS_DIR"), os.Getenv("REALSERVERS_HOW"))
	s := lsp.New(o)
	ps, err := pids(context.Background(), s)
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println(ps[0], ps[1])
	_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
	switch how {
	case "closes":
		_, _ = s.Close(), start.Close()
	case "panics":
		panic("a bug")
	case "exits":
		os.Exit(2)
	}
	ps, err = pids(context.Background(), s)
	fmt.Println(ps, err)
	select {} // is killed
}

// alive reports whether a process is there, and no zombie.
func alive(pid int) bool {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	f := strings.Fields(string(raw[strings.LastIndexByte(string(raw), ')')+1:]))
	return len(f) > 0 && f[0] != "Z"
}

func gone(t *testing.T, pid int) {
	t.Helper()
	for end := time.Now().Add(patient); alive(pid); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Errorf("process %d is still there", pid)
			_ = syscall.Kill(pid, syscall.SIGKILL)
			return
		}
	}
}

func counts() (fds, goroutines int) {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0, 0
	}
	return len(entries), runtime.NumGoroutine()
}

// xProject is a folder with a file that the server knows.
func xProject(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "a.x"), []byte("text\n"), 0o644)
	}
	must.Do(t, err)
	return dir
}

// another is a pawl in a process of its own.
type another struct {
	*exec.Cmd
	in   io.WriteCloser
	out  *bufio.Reader
	pids []int
}

func begin(t *testing.T, dir, ends, server string) *another {
	t.Helper()
	self := must.Get(os.Executable())(t)
	a := &another{Cmd: exec.Command(self)}
	a.Env = append(os.Environ(), asPawl+"="+ends, "REALSERVERS_DIR="+dir, "REALSERVERS_HOW="+server)
	in, err1 := a.StdinPipe()
	out, err2 := a.StdoutPipe()
	must.Do(t, errors.Join(err1, err2, a.Start()))
	a.in, a.out, a.pids = in, bufio.NewReader(out), make([]int, 2)
	t.Cleanup(func() { _ = a.Process.Kill(); _ = a.Wait() })
	line, err := a.out.ReadString('\n')
	if _, err2 := fmt.Sscan(line, &a.pids[0], &a.pids[1]); err != nil || err2 != nil || !alive(a.pids[0]) || !alive(a.pids[1]) {
		t.Fatalf("it said %q, %v", line, err)
	}
	return a
}

// SPEC 12.3: no orphan after any exit of pawl, whatever its server does: what
// the server began in another session goes with it.
func TestNoOrphans(t *testing.T) {
	for _, c := range []struct {
		ends, server string
		signal       syscall.Signal
	}{
		{"closes", "works", 0},
		{"closes", "deaf", 0},
		{"exits", "works", 0},
		{"panics", "deaf", 0},
		{"is ended", "works", syscall.SIGTERM},
		{"is killed", "works", syscall.SIGKILL},
		{"is killed", "deaf", syscall.SIGKILL},
	} {
		t.Run(c.ends+"/"+c.server, func(t *testing.T) {
			t.Parallel()
			a := begin(t, xProject(t), c.ends, c.server)
			if c.signal != 0 {
				_ = a.Process.Signal(c.signal)
			} else {
				_, _ = io.WriteString(a.in, "end\n")
			}
			for _, pid := range a.pids {
				gone(t, pid)
			}
		})
	}
}

// SPEC 12.3: two pawls in one folder share nothing and hurt nothing: each has a
// server of its own, which lives on when the other is killed, and neither leaves
// anything in the folder.
func TestTwoPawlsInOneFolder(t *testing.T) {
	t.Parallel()
	dir := xProject(t)
	a, b := begin(t, dir, "goes on", "works"), begin(t, dir, "goes on", "works")
	if slices.Contains(b.pids, a.pids[0]) {
		t.Errorf("they share a server: %v, %v", a.pids, b.pids)
	}
	_ = a.Process.Kill()
	for _, pid := range a.pids {
		gone(t, pid)
	}
	_, _ = io.WriteString(b.in, "again\n")
	if line, err := b.out.ReadString('\n'); err != nil || strings.TrimSpace(line) != fmt.Sprint(b.pids)+" <nil>" {
		t.Errorf("the other one says %q, %v", line, err)
	}
	if es, err := os.ReadDir(dir); err != nil || len(es) != 1 {
		t.Errorf("the folder has %v, %v", es, err)
	}
}

// hygiene is a workspace of this process, whose waits are short.
func hygiene(t *testing.T, how string, change func(*lsp.Options)) *lsp.Servers {
	o, start := served(xProject(t), how)
	o.Goodbye = 20 * time.Millisecond
	o.Sleep = func(ctx context.Context, d time.Duration) error { return sleep(ctx, min(d, 20*time.Millisecond)) }
	if change != nil {
		change(&o)
	}
	s := lsp.New(o)
	t.Cleanup(func() { _, _ = s.Close(), start.Close() })
	return s
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
	return ctx.Err()
}

// stopped waits until no server runs, and returns how it stands.
func stopped(t *testing.T, s *lsp.Servers) lsp.Status {
	t.Helper()
	for end := time.Now().Add(patient); ; time.Sleep(10 * time.Millisecond) {
		if st := s.Status()[0]; st.PID == 0 && st.State != "starting" || time.Now().After(end) {
			return st
		}
	}
}

// numbers are those that the newest server and the process it began said.
func numbers(s *lsp.Servers) []int {
	for _, lines := range s.Logs() {
		for _, l := range lines {
			var a, b int
			if _, err := fmt.Sscanf(l, "numbers %d %d", &a, &b); err == nil {
				return []int{a, b}
			}
		}
	}
	return nil
}

// SPEC 12.3: a server that hangs, dies, idles or grows is gone with all that it
// began; the next need starts another, at most three times in a row where it
// failed.
func TestServersAreEnded(t *testing.T) {
	for _, c := range []struct {
		name, how string
		change    func(*lsp.Options)
		state     string
		problem   string
		refused   bool // after three more
	}{
		{"hung", "hangs", func(o *lsp.Options) { o.Hung = time.Second }, "failed", "does not answer", true},
		{"crashed", "crashes", nil, "failed", "ended", true},
		{"idle", "works", func(o *lsp.Options) { o.Idle = 100 * time.Millisecond }, "stopped", "", false},
		{"too large", "fat", func(o *lsp.Options) { o.Memory = 100 << 20 }, "failed", "over the limit of 100", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := hygiene(t, c.how, c.change)
			var all []int
			starts, err := 0, error(nil)
			for range 8 {
				ctx, cancel := context.WithTimeout(t.Context(), patient)
				_, err = pids(ctx, s)
				cancel()
				if err != nil && strings.Contains(err.Error(), "/lsp restart") {
					break
				}
				st := stopped(t, s)
				all = append(all, numbers(s)...)
				if st.State != c.state || !strings.Contains(st.Problem, c.problem) {
					t.Errorf("it is %s: %s", st.State, st.Problem)
				}
				starts = st.Starts
			}
			if c.refused != (err != nil && strings.Contains(err.Error(), "not started again")) || c.refused && starts != 4 {
				t.Errorf("%d starts, %v", starts, err)
			}
			if len(all) < 2*starts {
				t.Errorf("%d numbers of %d servers", len(all), starts)
			}
			for _, pid := range all {
				gone(t, pid)
			}
			if c.refused && s.Restart(t.Context(), "") != 1 {
				t.Error("a person cannot begin again")
			}
		})
	}
}

// SPEC 12.3: fifty lives, half of them ended by a kill, leave no process,
// descriptor or goroutine behind.
func TestFiftyLives(t *testing.T) {
	s := hygiene(t, "works", nil)
	var all []int
	fds, routines := 0, 0
	for i := range 50 {
		ps := must.Get(pids(t.Context(), s))(t)
		all = append(all, ps...)
		if i == 5 {
			fds, routines = counts()
		}
		if i%2 == 0 {
			_ = syscall.Kill(ps[0], syscall.SIGKILL)
			stopped(t, s)
		}
		s.Restart(t.Context(), "")
	}
	for _, pid := range all {
		gone(t, pid)
	}
	for end := time.Now().Add(patient); ; time.Sleep(10 * time.Millisecond) {
		f, g := counts()
		if f <= fds && g <= routines {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%d descriptors and %d goroutines became %d and %d", fds, routines, f, g)
		}
	}
}
