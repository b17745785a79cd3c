package cli

import (
	"context"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/term"
)

// asPawl in the environment makes this test binary be pawl itself: tests start
// the real program without building it again.
const asPawl = "PAWL_TEST_AS_PAWL"

func TestMain(m *testing.M) {
	if os.Getenv(asPawl) != "" {
		asMain()
	}
	testscript.Main(m, map[string]func(){"pawl": asMain, "mcpfake": mcpServer})
}

// asMain is pawl's main function.
func asMain() {
	dir, err := os.Getwd()
	if err != nil {
		panic(err)
	}
	os.Exit(Main(context.Background(), &App{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Env: os.Getenv, Dir: dir, Now: time.Now, Args: os.Args[1:],
		Terminal: term.IsTerminal(int(os.Stdin.Fd())) && term.IsTerminal(int(os.Stdout.Fd())),
		Signals:  testSignals,
		Program:  testProgram,
	}))
}

// testProgram finds language servers in PAWL_TEST_SERVERS alone: what happens to
// be installed where a test runs must not change what it sees.
func testProgram(name string) (string, error) {
	if dir := os.Getenv("PAWL_TEST_SERVERS"); dir != "" {
		return exec.LookPath(filepath.Join(dir, name))
	}
	return "", exec.ErrNotFound
}

func testSignals() <-chan string {
	in, out := make(chan os.Signal, 8), make(chan string, 8)
	signal.Notify(in, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	names := map[os.Signal]string{os.Interrupt: "SIGINT", syscall.SIGTERM: "SIGTERM", syscall.SIGHUP: "SIGHUP"}
	go func() {
		for s := range in {
			out <- names[s]
		}
	}()
	return out
}

// pawl is a command that runs pawl in dir with home as its only home, with
// what Go needs to build and test projects, and with these variables.
func pawl(t testing.TB, dir, home string, env []string, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(self, args...)
	c.Dir = dir
	c.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, asPawl + "=1"}, env...)
	return c
}
