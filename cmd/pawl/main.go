// Command pawl is a coding agent for the terminal. The program is in
// internal/frontend/cli; this connects it to the process.
package main

import (
	"context"
	"os"
	"os/exec"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"golang.org/x/term"

	"github.com/pawl-agent/pawl/internal/adapter/sandbox/gocache"
	"github.com/pawl-agent/pawl/internal/frontend/cli"
	"github.com/pawl-agent/pawl/internal/frontend/setup"
)

func main() {
	if a := os.Args; len(a) == 4 && a[1] == gocache.Word { // as a go command in the sandbox starts it, for each of its runs
		os.Exit(gocache.Serve(a[2], a[3], os.Stdin, os.Stdout))
	}
	if code, ok := triesSandbox(os.Args); ok {
		os.Exit(code)
	}
	if os.Getenv("GOGC") == "" {
		tuneCollector()
	}
	if v, ok := released(); ok {
		cli.Version = v
	}
	dir, err := os.Getwd()
	if err != nil {
		dir = "."
	}
	self, err := os.Executable()
	if err != nil {
		self = ""
	}
	code := cli.Main(context.Background(), &cli.App{
		Environment: setup.Environment{Err: os.Stderr, Env: os.Getenv, Dir: dir, Now: time.Now, Program: exec.LookPath, Self: self},
		In:          os.Stdin,
		Out:         os.Stdout,
		Args:        os.Args[1:],
		Terminal:    term.IsTerminal(int(os.Stdin.Fd())) && term.IsTerminal(int(os.Stdout.Fd())),
		Signals:     signals,
	})
	os.Exit(code)
}

// released is the version that `go install` built, or the one in the source with
// the commit; not ok where nothing is known, or where the linker has set it.
func released() (version string, ok bool) {
	if !strings.HasSuffix(cli.Version, "-dev") {
		return "", false
	}
	b, ok := debug.ReadBuildInfo()
	if !ok {
		return "", false
	}
	v, changed := strings.CutSuffix(b.Main.Version, "+dirty")
	if pseudo := strings.Split(v, "-"); len(pseudo) == 3 && pseudo[0] == "v0.0.0" {
		v = "v" + cli.Version + "+" + pseudo[2]
		if changed {
			v += ".changed"
		}
	}
	return strings.CutPrefix(v, "v")
}

// signals yields the names of signals that end or interrupt pawl.
func signals() <-chan string {
	names := map[os.Signal]string{os.Interrupt: "SIGINT", syscall.SIGTERM: "SIGTERM", syscall.SIGHUP: "SIGHUP"}
	in, out := make(chan os.Signal, 8), make(chan string, 8)
	signal.Notify(in, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	go func() {
		for s := range in {
			out <- names[s]
		}
	}()
	return out
}
