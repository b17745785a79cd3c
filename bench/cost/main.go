// Command cost measures pawl's own cost, without the model and the tools:
//
//	go run ./bench/cost [-n 1000] [-sandbox off] [-line 'echo %d | tee f'] [-files 50000]
//	go run ./bench/cost -sizes 50,50000,500000 [-n 60]
//	go run ./bench/cost -n 1 -at-once 8 -line 'sleep 1; echo %d'
//
// It builds pawl as it is released, without C, runs it against a scripted model
// server on this machine that asks for n `echo` calls, one a reply, and prints:
// start to the first request, in a new home and again in that one, the time between
// the end of a reply and the next request at turn 10 and at the last ones with their
// ratio, the tool's own process measured beside it, the share of each request that
// the next begins with, peak memory, connections, bytes sent, and bytes written to
// disk. It asserts nothing.
// -sandbox is given to pawl, for pairs of runs with and without (none: to a pawl
// from before it had one); -line is the command instead of echo; -files is how
// many files the workspace has, in git; -pawl is a program that was built before,
// for pairs of runs: both are built in one way, such as `make dist
// SYSTEMS=linux/amd64` in each. -sizes makes one table: for each size, turns with a
// command that only reads, with one that overwrites a file of the workspace, and
// with a script of which nothing is known; pawl's own processor's time is without
// that of the commands.
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/pawl-agent/pawl/bench/filetree"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
)

func main() {
	n := flag.Int("n", 1000, "how many calls")
	box := flag.String("sandbox", "", "what --sandbox gives pawl: off, workspace or read-only; none: a pawl without the flag")
	line := flag.String("line", "", "the command line, with %d for a number, instead of echo")
	files := flag.Int("files", 0, "how many files the workspace has")
	built := flag.String("pawl", "", "a pawl that was built before")
	sizes := flag.String("sizes", "", "how many files the workspaces have, for one table")
	flag.IntVar(&atOnce, "at-once", 1, "how many calls each reply asks for")
	flag.Parse()
	var err error
	if *sizes != "" {
		err = table(*sizes, *n, *box, *built)
	} else {
		var r result
		if r, err = run(*n, *files, "", *box, *line, *built); err == nil {
			r.print(*n)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "cost:", err)
		os.Exit(1)
	}
}

// atOnce is how many calls a reply asks for.
var atOnce int

func first(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// meter watches the scripted model's traffic.
type meter struct {
	mu       sync.Mutex
	arrived  []time.Time // of request i
	replied  []time.Time // end of reply i
	first    int         // bytes of the first request
	sent     int64       // bytes of all requests
	last     []byte      // the request before, markers taken out
	minShare float64
	conns    map[net.Conn]bool
	peakKB   int
	pid      int
	used     []time.Duration // processor's time of pawl when request i arrived
}

// markers are what a cache marker looks like in an Anthropic request.
var markers = regexp.MustCompile(`,"cache_control":\{"type":"ephemeral"[^}]*\}`)

// took records request i.
func (s *meter) took(i int, body []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.arrived = append(s.arrived, time.Now())
	s.sent += int64(len(body))
	if i == 0 {
		s.first = len(body)
	}
	plain := markers.ReplaceAll(body, nil)
	if i > 0 {
		s.minShare = min(s.minShare, share(s.last, plain))
	}
	s.last = plain
	s.peakKB = max(s.peakKB, peak(s.pid))
	s.used = append(s.used, used(s.pid))
}

// used returns the processor's time of a process without its children's, in
// steps of 10 ms.
func used(pid int) time.Duration {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(b), ") ")
	f := strings.Fields(rest)
	if len(f) < 13 {
		return 0
	}
	user, _ := strconv.Atoi(f[11]) // numbers, by the kernel's word
	system, _ := strconv.Atoi(f[12])
	return time.Duration(user+system) * 10 * time.Millisecond
}

// share returns the fraction of a that is a common prefix with b. The end of a request
// (its closing brackets and limits) is not part of the conversation.
func share(a, b []byte) float64 {
	k := 0
	for k < len(a) && k < len(b) && a[k] == b[k] {
		k++
	}
	return float64(k) / float64(len(a))
}

// peak returns a process's largest resident size so far, in KB.
func peak(pid int) int {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(b)) {
		if v, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kb, _ := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(v), " kB")) // 0 if it is missing
			return kb
		}
	}
	return 0
}

// run runs pawl once, in a workspace that is there, or with "" in one that it makes.
func run(n, files int, work, box, line, built string) (r result, err error) {
	dir, err := os.MkdirTemp("", "pawl-cost-*")
	if err != nil {
		return r, err
	}
	defer os.RemoveAll(dir)
	bin := filepath.Join(dir, "pawl")
	if built != "" {
		bin = built
	} else if err := build(bin); err != nil {
		return r, err
	}
	if st, err := os.Stat(bin); err == nil {
		r.binary = float64(st.Size()) / 1e6
	}
	r.version = best(20, func() error { return exec.Command(bin, "--version").Run() })
	r.nothing = best(20, func() error { return exec.Command("/bin/true").Run() })

	s := &meter{conns: map[net.Conn]bool{}, minShare: 1}
	model := &llmtest.Server{
		Reply: func(i int, body []byte) llmtest.Turn {
			s.took(i, body)
			if i == n {
				return llmtest.Say("done")
			}
			var calls []string
			for k := range atOnce {
				line := strings.ReplaceAll(first(line, "echo %d"), "%d", strconv.Itoa(i*atOnce+k))
				calls = append(calls, "bash", fmt.Sprintf(`{"command":%q}`, line))
			}
			return llmtest.Use(calls...)
		},
		Done: func(int) {
			s.mu.Lock()
			s.replied = append(s.replied, time.Now())
			s.mu.Unlock()
		},
	}
	web := httptest.NewUnstartedServer(model)
	web.Config.ConnState = func(c net.Conn, st http.ConnState) {
		if st == http.StateNew {
			s.mu.Lock()
			s.conns[c] = true
			s.mu.Unlock()
		}
	}
	web.Start()
	defer web.Close()

	home := filepath.Join(dir, "home")
	if err := os.Mkdir(home, 0o700); err != nil {
		return r, err
	}
	if work == "" {
		work = filepath.Join(dir, "work")
		if err := workspace(work, files); err != nil {
			return r, err
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), 15*time.Minute)
	defer cancel()
	args := []string{"run", "-m", "anthropic/claude-bench", "--allow", "bash(echo *)", "--allow", "bash(sh ./noop.sh *)", "--output-format", "json"}
	if box != "none" {
		args = append(args, "--sandbox", first(box, "workspace"))
	}
	cmd := exec.CommandContext(ctx, bin, append(args, "echo a lot")...)
	cmd.Dir = work
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "ANTHROPIC_API_KEY=bench-key", "ANTHROPIC_BASE_URL=" + web.URL}
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	start := time.Now()
	s.mu.Lock()
	if err := cmd.Start(); err != nil {
		s.mu.Unlock()
		return r, err
	}
	s.pid = cmd.Process.Pid
	s.mu.Unlock()
	if err := cmd.Wait(); err != nil {
		return r, fmt.Errorf("pawl: %w\n%s\n%s", err, errs.String(), out.String())
	}
	r.whole = time.Since(start)
	if got := len(s.arrived); got != n+1 {
		return r, fmt.Errorf("%d requests, want %d\n%s", got, n+1, out.String())
	}

	r.tool = best(50, func() error {
		c := exec.Command("bash", "--noprofile", "--norc", "-c", "echo 1")
		c.Stdout = io.Discard
		return c.Run()
	})
	var gaps []time.Duration // between the end of reply i and request i+1
	for i := range n {
		gaps = append(gaps, s.arrived[i+1].Sub(s.replied[i]))
	}
	r.early, r.late = median(gaps[min(5, n-1):min(25, n)]), median(gaps[max(0, n-20):])
	r.start, r.share, r.first = s.arrived[0].Sub(start), s.minShare, s.first
	r.sent, r.conns, r.peakKB = s.sent, len(s.conns), s.peakKB
	from := min(5, n-1) // the first commands find all files
	r.own = (s.used[n] - s.used[from]) / time.Duration(n-from)
	err = filepath.Walk(home, func(_ string, st os.FileInfo, err error) error {
		if err == nil && st.Mode().IsRegular() {
			r.log += st.Size()
		}
		return err
	})
	if err != nil {
		return r, err
	}
	if u, ok := written(cmd); ok {
		r.written = u
	}
	r.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	r.again, err = again(cmd)
	return r, err
}

// again starts pawl as on every other day, in a home and a workspace that it knows, and
// returns the median time to the first request.
func again(cmd *exec.Cmd) (time.Duration, error) {
	came := make(chan time.Time, 1)
	web := httptest.NewServer(&llmtest.Server{Reply: func(int, []byte) llmtest.Turn {
		came <- time.Now()
		return llmtest.Say("done")
	}})
	defer web.Close()
	var all []time.Duration
	for range 20 {
		c := exec.Command(cmd.Path, cmd.Args[1:]...)
		c.Dir, c.Env = cmd.Dir, append(slices.Clone(cmd.Env), "ANTHROPIC_BASE_URL="+web.URL)
		start := time.Now()
		if err := c.Run(); err != nil {
			return 0, fmt.Errorf("pawl, started again: %w", err)
		}
		all = append(all, (<-came).Sub(start))
	}
	return median(all), nil
}

// build builds pawl as it is released (.ci/dist): without C.
func build(bin string) error {
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w -buildid=", "-o", bin, "./cmd/pawl")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build: %w\n%s", err, out)
	}
	return nil
}

// workspace makes a workspace.
func workspace(work string, files int) error {
	if err := os.Mkdir(work, 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(work, "noop.sh"), []byte("exit 0\n"), 0o644); err != nil || files == 0 {
		return err
	}
	return filetree.Make(work, files, false)
}

func best(n int, f func() error) time.Duration {
	out := time.Hour
	for range n {
		t := time.Now()
		if err := f(); err != nil {
			return 0
		}
		out = min(out, time.Since(t))
	}
	return out
}

func median(ds []time.Duration) time.Duration {
	ds = slices.Sorted(slices.Values(ds))
	return ds[len(ds)/2]
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
