package cli

import (
	"cmp"
	"context"
	"flag"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/term"

	"github.com/pawl-agent/pawl/internal/adapter/sandbox/gocache"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/frontend/setup"
)

// asPawl in the environment makes this test binary be pawl itself: tests start
// the real program without building it again.
const asPawl = "PAWL_TEST_AS_PAWL"

// withoutLandlock in the environment, set to off, has pawl find a kernel without
// Landlock.
const withoutLandlock = "PAWL_TEST_SANDBOX"

// patient is how long a test waits for what must come: far longer than it
// takes on the slowest machine.
const patient = 3 * time.Minute

// raceEnv is what pawl's processes get where the race detector is on: by default
// it lets each of them wait for a second before it ends.
func raceEnv() []string {
	if raceEnabled {
		return []string{"GORACE=atexit_sleep_ms=0"}
	}
	return nil
}

func TestMain(m *testing.M) {
	if os.Getenv(asPawl) != "" {
		asMain()
	}
	// Most of the time these tests wait: for a process, a time limit, the disk.
	// The flag that a person gives counts all the same.
	if err := flag.Set("test.parallel", strconv.Itoa(2*runtime.GOMAXPROCS(0))); err != nil {
		panic(err)
	}
	testscript.Main(m, map[string]func(){"pawl": asMain, "mcpfake": mcpServer})
}

// asMain is pawl's main function.
func asMain() {
	if a := os.Args; len(a) == 4 && a[1] == gocache.Word {
		os.Exit(gocache.Serve(a[2], a[3], os.Stdin, os.Stdout))
	}
	if os.Getenv(withoutLandlock) == "off" {
		if err := takeLandlock(); err != nil {
			panic(err)
		}
	}
	dir, err := os.Getwd()
	if err != nil {
		panic(err)
	}
	// Commands in the sandbox start it again by this name, and of the environment
	// they keep only what they need.
	self := ""
	if exe, err := os.Executable(); err == nil && filepath.Base(exe) == "pawl" {
		self = exe
	}
	os.Exit(Main(context.Background(), &App{
		Environment: setup.Environment{Err: os.Stderr, Env: os.Getenv, Dir: dir, Now: testClock(), Program: testProgram, Self: self},
		In:          os.Stdin,
		Out:         os.Stdout,
		Args:        os.Args[1:],
		Terminal:    term.IsTerminal(int(os.Stdin.Fd())) && term.IsTerminal(int(os.Stdout.Fd())),
		Signals:     testSignals,
		NATSLease:   testLease(),
	}))
}

// Variables of this test binary as pawl: the lease of workers on other machines, and
// the seed of a clock that jumps.
const (
	withLease = "PAWL_TEST_LEASE"
	withClock = "PAWL_TEST_CLOCK"
)

func testLease() time.Duration {
	d, err := time.ParseDuration(cmp.Or(os.Getenv(withLease), "0s"))
	if err != nil {
		panic(err)
	}
	return d
}

// testClock is the time of day, or one that is set anew by up to two days at each
// 20th look on average.
func testClock() func() time.Time {
	seed, err := strconv.ParseUint(os.Getenv(withClock), 10, 64)
	if err != nil {
		return time.Now
	}
	var mu sync.Mutex
	random := rand.New(rand.NewPCG(seed, 3))
	jump := func() time.Duration { return time.Duration(random.Int64N(int64(96*time.Hour))) - 48*time.Hour }
	off := jump()
	return func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		if random.IntN(20) == 0 {
			off = jump()
		}
		return time.Now().Add(off)
	}
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
	self := must.Get(os.Executable())(t)
	c := exec.Command(self, args...)
	c.Dir = dir
	c.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, asPawl + "=1"}, append(raceEnv(), env...)...)
	return c
}
