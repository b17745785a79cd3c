//go:build unix

package shell

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

// The test binary is also the programs that the tests run:
//
//	hold FIFO    ignores what it can, writes its pid into FIFO, keeps it open
//	daemon FIFO  starts hold in a session of its own, twice removed, and ends
//	ghost FIFO   does so without environment and output, thrice removed
//	pawl FIFO    is a pawl with commands of every kind, until it is killed
func TestMain(m *testing.M) {
	if len(os.Args) == 3 {
		switch os.Args[1] {
		case "hold":
			hold(os.Args[2])
		case "daemon":
			cmd := exec.Command(os.Args[0], "hold", os.Args[2])
			cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
			cmd.Stdout = os.Stdout
			if err := cmd.Start(); err != nil {
				fmt.Println(err)
			}
			os.Exit(0)
		case "ghost":
			cmd := exec.Command(os.Args[0], "daemon", os.Args[2])
			cmd.Env = []string{}
			cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
			if err := cmd.Start(); err != nil {
				fmt.Println(err)
			}
			os.Exit(0)
		case "pawl":
			bePawl(os.Args[2])
		}
	}
	os.Exit(m.Run())
}

func hold(fifo string) {
	signal.Ignore(syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT, syscall.SIGPIPE)
	f, err := os.OpenFile(fifo, os.O_WRONLY, 0)
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Fprintln(f, os.Getpid())
	forever()
}

func forever() {
	r, w, _ := os.Pipe()
	_, _ = r.Read(make([]byte, 1))
	_ = w.Close()
}

func bePawl(fifo string) {
	s := New(Options{Root: filepath.Dir(fifo)})
	ctx := context.Background()
	for _, c := range []string{
		self("hold", fifo),
		self("daemon", fifo),
		self("hold", fifo) + " & " + self("hold", fifo) + "; true",
	} {
		if _, err := s.Start(ctx, tool.Run{Confine: process.Free, Command: c}); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
	}
	if marksSeen {
		_, _ = s.Run(ctx, tool.Run{Confine: process.Free, Command: self("ghost", fifo)})
	}
	_, _ = s.Run(ctx, tool.Run{Confine: process.Free, Command: "trap '' TERM HUP; " + self("hold", fifo)})
	os.Exit(1)
}

// self is a command line for the test binary.
func self(args ...string) string {
	line := "'" + os.Args[0] + "'"
	for _, a := range args {
		line += " '" + a + "'"
	}
	return line
}

func newShell(t *testing.T, o Options) *Shell {
	t.Helper()
	if o.Root == "" {
		o.Root = t.TempDir()
	}
	s := New(o)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func run(t *testing.T, s *Shell, command string) tool.Ran {
	t.Helper()
	r, err := s.Run(t.Context(), tool.Run{Confine: process.Free, Command: command})
	if err != nil {
		t.Fatalf("%s: %v", command, err)
	}
	return r
}

// watched is a fifo that processes hold open: its end means that all of them
// are dead, without asking anybody for pids.
type watched struct {
	t    *testing.T
	path string
	in   chan string // lines; closed when nobody holds the fifo any more
}

func watching(t *testing.T) *watched {
	t.Helper()
	w := &watched{t: t, path: filepath.Join(t.TempDir(), "fifo"), in: make(chan string, 100)}
	must.Do(t, syscall.Mkfifo(w.path, 0o600))
	go func() {
		defer close(w.in)
		f, err := os.Open(w.path) // waits for the first writer
		if err != nil {
			return
		}
		defer f.Close()
		for sc := bufio.NewScanner(f); sc.Scan(); {
			w.in <- sc.Text()
		}
	}()
	return w
}

// wait returns when n processes have said that they are there, with their pids.
func (w *watched) wait(n int) (pids []int) {
	w.t.Helper()
	for range n {
		select {
		case line, ok := <-w.in:
			if !ok {
				w.t.Fatal("the processes ended before they were all there")
			}
			pid, _ := strconv.Atoi(line)
			pids = append(pids, pid)
		case <-time.After(3 * time.Minute):
			w.t.Fatal("the processes did not start")
		}
	}
	return pids
}

// gone returns when none of them is alive.
func (w *watched) gone() {
	w.t.Helper()
	// Should none have come so far, the reader still waits for the first.
	if f, err := os.OpenFile(w.path, os.O_RDWR, 0); err == nil {
		_ = f.Close()
	}
	for {
		select {
		case _, ok := <-w.in:
			if !ok {
				return
			}
		case <-time.After(3 * time.Minute):
			w.t.Fatal("a process is still alive")
		}
	}
}

func readAll(t *testing.T, path string) string {
	t.Helper()
	f := must.Get(os.Open(path))(t)
	defer f.Close()
	b := must.Get(io.ReadAll(f))(t)
	return string(b)
}

// SPEC 19.3: of output without newlines a bounded part waits to be masked.
func TestALineIsBounded(t *testing.T) {
	j := &job{mask: func(p []byte) []byte { return p }, tape: newTape(1<<10, nil)}
	for range 100 {
		j.take(make([]byte, 8<<10))
		if len(j.line) > 128<<10 {
			t.Fatalf("%d bytes wait", len(j.line))
		}
	}
}
